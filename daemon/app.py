"""The composition root: builds every part, hands each what it needs, starts them in order and stops them in reverse."""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import structlog

from daemon.agreeing import AgreeLoop
from daemon.embedding import EmbedLoop
from daemon.extracting import ExtractLoop
from daemon.ingesting import IngestLoop
from daemon.jobs import scheduled_jobs
from daemon.logging import configure_logging
from daemon.loop import StageReport
from daemon.methods import Methods
from daemon.models import extract_loop, load_embedder
from daemon.recalling import open_recall, recall_defaults, recall_options
from daemon.reloading import difference
from daemon.schedule import Schedule
from daemon.server import ServerLimits, SocketServer
from daemon.settle import Settle
from daemon.status import EmbeddingModel, StatusReport
from daemon.watching import Watches
from daemon.writer import WriterThread
from ingest.agreement.stage import AgreeingStage
from ingest.embedding import EmbeddingStage
from ingest.keeper import KeeperOptions, RootKeeper
from ingest.refining import RefiningStage
from recalld.errors import Stopping
from recalld.models.embedder import Embedder
from recalld.models.opening import open_chat_model
from recalld.models.server_embedder import ServerEmbedder
from recalld.models.turns import SharedChat
from recalld.paths import DATABASE_NAME
from recalld.settings import RootSettings, Settings
from recalld.sockets import socket_path
from recalld.store.connection import Database
from retrieval.answer.service import Answers
from retrieval.recall import Recall

_log = structlog.get_logger("app")

# Notes that may wait for their words while vectors are computed.
_WORDS_FIRST = 8
# What of the time for stopping is waited for requests in flight, and as much for the batch at hand.
_STOP_SHARE = 0.3


def build(
    settings: Settings,
    *,
    inherited: socket.socket | None,
    load: Callable[[Settings], tuple[Embedder | None, EmbeddingModel]] = load_embedder,
) -> App:
    """The application for these settings; nothing runs before `start`."""
    return App(settings, inherited=inherited, load=load)


class App:
    """The running daemon. The caller holds the data folder's lock."""

    def __init__(
        self,
        settings: Settings,
        *,
        inherited: socket.socket | None,
        load: Callable[[Settings], tuple[Embedder | None, EmbeddingModel]],
    ) -> None:
        self._settings = settings
        self._inherited = inherited
        self._load = load
        self._stack = ExitStack()
        self._methods: Methods | None = None
        self._embed: EmbedLoop | None = None
        self._extract: ExtractLoop | None = None
        self._agree: AgreeLoop | None = None
        self._status: StatusReport | None = None
        self._generation = _Counter()
        self._running: _Running | None = None

    def start(self) -> None:
        """Builds and starts everything; returns when recall works.

        Raises:
            RecalldError: something can't be opened or bound; what was started is stopped.
        """
        try:
            self._start()
        except BaseException:
            self._stack.close()
            raise

    def _start(self) -> None:
        settings = self._settings
        database = Database(settings.data_dir / DATABASE_NAME)
        self._stack.callback(database.close)
        writer = WriterThread(database)
        self._stack.callback(writer.stop)
        embedder, model = self._load(settings)
        keepers = self._keepers(database, writer)
        ingest = IngestLoop(keepers, make_settle=self._make_settle, on_written=self._wrote)
        embed = self._embed_loop(database, writer, embedder, ingest)
        chat = SharedChat(open_chat_model(settings.llm, os.environ))
        extract = extract_loop(
            settings.llm,
            model=chat,
            database=database,
            writes=writer,
            give_way=lambda: _is_busy(ingest, embed),
            on_written=self._deepened,
        )
        agreeing = AgreeingStage(
            database=database, writes=writer, policy=settings.ingest.on_conflict
        )
        agreeing.adopt()
        agree = AgreeLoop(
            agreeing,
            give_way=lambda: ingest.waiting().dirty > _WORDS_FIRST,
            on_written=self._generation.count,
        )
        watches = Watches(ingest)
        stages = {"scan": ingest.scan, "words": ingest.take}
        if embed is not None:
            stages |= {"vectors": embed.report, "categories": embed.refine}
        if extract is not None:
            stages["facts"] = extract.report
        stages["agreement"] = agree.report
        maintenance = StageReport()
        stages["maintenance"] = maintenance
        status = StatusReport(
            database=database,
            ingest=ingest,
            embed=embed,
            extract=extract,
            agree=agree,
            watches=watches,
            model=model,
            generation=self._generation.value,
            stages=stages,
        )
        recall = open_recall(database, embedder, settings.recall, degraded=status.degraded)
        self._stack.callback(recall.close)
        self._methods = Methods(
            recall=recall,
            answers=Answers(recall=recall, model=chat, within_s=settings.llm.timeout_s),
            database=database,
            writes=writer,
            ingest=ingest,
            extract=extract,
            agreeing=agreeing,
            on_resolved=self._reopened,
            status=status,
            defaults=recall_defaults(settings.recall),
        )
        self._embed, self._extract, self._agree = embed, extract, agree
        self._serve()
        # Closed before requests in flight are waited for: an answer whose model hangs becomes a list.
        self._stack.callback(chat.close)
        self._stack.callback(ingest.stop)
        if embed is not None:
            self._stack.callback(embed.stop, settings.daemon.stop_timeout_s * _STOP_SHARE)
            embed.start()
        if isinstance(embedder, ServerEmbedder):
            # Called before the thread above is waited for: a call that hangs is cut.
            self._stack.callback(embedder.close)
        if extract is not None:
            self._stack.callback(extract.stop)
            extract.start()
        self._stack.callback(agree.stop)
        agree.start()
        watches.start()
        self._stack.callback(watches.stop)
        ingest.start()
        schedule = Schedule(scheduled_jobs(settings.schedule, writer, ingest, watches, maintenance))
        schedule.start()
        self._stack.callback(schedule.stop)
        self._status = status
        self._running = _Running(
            database=database,
            writer=writer,
            recall=recall,
            ingest=ingest,
            watches=watches,
            schedule=schedule,
            maintenance=maintenance,
        )
        _log.info("recall.ready", roots=len(settings.roots), model=model.state)

    def settled(self) -> bool:
        """Whether everything on disk is in the index."""
        return self._status is not None and self._status.settled()

    def status(self) -> dict[str, object]:
        """The result of `status`."""
        return self._asked().status({})

    def recall(self, params: dict[str, object]) -> dict[str, object]:
        """The result of `recall`."""
        return self._asked().recall(params)

    def _asked(self) -> Methods:
        if self._methods is None:
            raise Stopping("the daemon has not started")
        return self._methods

    def reload(self, settings: Settings) -> None:
        """Takes other settings: roots, recall, schedule and log at once, the rest is told to need a restart.

        Raises:
            Stopping: it has not started, or is on its way out.
            RecalldError: a root can't be taken; the others are.
        """
        running = self._running
        if running is None:
            raise Stopping("the daemon does not run")
        changed = difference(self._settings, settings)
        if changed.restart:
            _log.warning("settings.kept", keys=changed.restart, hint="restart recalld for these")
        kept = {key.partition(".")[0] for key in changed.restart}
        old = self._settings
        self._settings = settings.model_copy(update={name: getattr(old, name) for name in kept})
        if "log" in changed.taken:
            configure_logging(level=settings.log.level, log_format=settings.log.format)
        if "recall" in changed.taken:
            running.recall.use(recall_options(settings.recall))
            self._asked().use_defaults(recall_defaults(settings.recall))
        if "schedule" in changed.taken:
            jobs = scheduled_jobs(
                settings.schedule,
                running.writer,
                running.ingest,
                running.watches,
                running.maintenance,
            )
            running.schedule.use_intervals(jobs)
        if changed.gone or changed.come:
            self._exchange_roots(running, changed.gone, changed.come)

    def _exchange_roots(
        self, running: _Running, gone: tuple[RootSettings, ...], come: tuple[RootSettings, ...]
    ) -> None:
        for root in gone:
            running.watches.remove(root.name)
            running.ingest.remove_root(root.name)
            _log.info("root.dropped", root=root.name)
        self._drop_other_roots(running.writer)
        try:
            for root in come:
                running.ingest.add_root(self._keeper(root, running.database, running.writer))
                running.watches.add(root.name)
                running.ingest.ask_scan(root.name)
                _log.info("root.added", root=root.name)
        finally:
            self._wrote()

    def stop(self) -> None:
        """Stops everything in reverse order; a second call does nothing."""
        self._running = None
        if self._status is not None:
            self._status.stopping = True
        self._stack.close()

    def _wrote(self) -> None:
        self._generation.count()
        if self._embed is not None:
            self._embed.wake()
        if self._extract is not None:
            self._extract.wake()
        if self._agree is not None:
            self._agree.wake()

    def _deepened(self) -> None:
        """The wordings of a model's facts want vectors, and are compared with what is known."""
        self._generation.count()
        if self._embed is not None:
            self._embed.wake()
        if self._agree is not None:
            self._agree.wake()

    def _reopened(self) -> None:
        """A fact that is an error after all, or that a user spoke of, is compared again."""
        self._generation.count()
        if self._agree is not None:
            self._agree.wake()

    def _drop_other_roots(self, writer: WriterThread) -> None:
        """Forgets the notes of roots that are not in the settings."""
        now_ms = int(time.time() * 1000)
        names = [root.name for root in self._settings.roots]
        writer.call(lambda writers: writers.notes.drop_roots_except(names, now_ms))

    def _keepers(self, database: Database, writer: WriterThread) -> list[RootKeeper]:
        self._drop_other_roots(writer)
        return [self._keeper(root, database, writer) for root in self._settings.roots]

    def _keeper(self, root: RootSettings, database: Database, writer: WriterThread) -> RootKeeper:
        settings = self._settings
        return RootKeeper(
            name=root.name,
            path=root.path,
            database=database,
            writes=writer,
            options=KeeperOptions(
                max_note_bytes=settings.ingest.max_note_bytes,
                empty_grace_s=settings.ingest.empty_grace_s,
                mass_deletion_count=settings.ingest.mass_deletion_count,
                mass_deletion_share=settings.ingest.mass_deletion_share,
                deletion_grace_s=settings.ingest.deletion_grace_h * 3600,
                own_paths=(settings.data_dir,),
            ),
            now=time.time,
            new_uid=lambda: uuid.uuid4().hex,
        )

    def _make_settle(self) -> Settle:
        return Settle(
            quiet=timedelta(milliseconds=self._settings.ingest.quiet_ms),
            longest_wait=timedelta(milliseconds=self._settings.ingest.longest_wait_ms),
        )

    def _embed_loop(
        self,
        database: Database,
        writer: WriterThread,
        embedder: Embedder | None,
        ingest: IngestLoop,
    ) -> EmbedLoop | None:
        if embedder is None:
            return None
        stage = EmbeddingStage(
            database=database,
            writes=writer,
            embedder=embedder,
            batch=self._settings.embedding.batch,
        )
        stage.adopt()
        return EmbedLoop(
            embedding=stage,
            refining=RefiningStage(database=database, writes=writer, embedder=embedder),
            give_way=lambda: ingest.waiting().dirty > _WORDS_FIRST,
            on_written=self._reopened,
        )

    def _serve(self) -> None:
        limits = self._settings.daemon
        server = SocketServer(
            None if self._inherited else self.socket_path(),
            self._inherited,
            self._asked().table(),
            ServerLimits(
                max_line_bytes=limits.max_line_bytes,
                max_connections=limits.max_connections,
                half_line_timeout_s=limits.half_line_timeout_s,
                idle_timeout_s=limits.idle_timeout_s,
            ),
            structlog.get_logger("socket"),
        )
        server.start()
        self._stack.callback(server.stop, limits.stop_timeout_s * _STOP_SHARE)

    def socket_path(self) -> Path:
        """Where clients find it when no socket was handed over."""
        given = self._settings.daemon.socket
        return socket_path(
            flag=str(given) if given else None, env=os.environ, setting=None, home=Path.home()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Running:
    """The parts that other settings reach while the daemon runs."""

    database: Database
    writer: WriterThread
    recall: Recall
    ingest: IngestLoop
    watches: Watches
    schedule: Schedule
    maintenance: StageReport


class _Counter:
    """Counts writes; threads may count and look at once."""

    def __init__(self) -> None:
        self._value = 0
        self._lock = threading.Lock()

    def count(self) -> None:
        with self._lock:
            self._value += 1

    def value(self) -> int:
        with self._lock:
            return self._value


def _is_busy(ingest: IngestLoop, embed: EmbedLoop | None) -> bool:
    """Whether words or vectors are still being made; vectors that nobody makes are not waited for."""
    if ingest.waiting().dirty:
        return True
    return embed is not None and not embed.idle and embed.problem is None
