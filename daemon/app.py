"""The composition root: builds every part, hands each what it needs, starts them in order and stops them in reverse."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import structlog

from daemon.agreeing import AgreeLoop
from daemon.counting import RecallCounts
from daemon.embedding import EmbedLoop
from daemon.ingesting import IngestLoop
from daemon.jobs import scheduled_jobs
from daemon.loop import StageReport
from daemon.measuring import MeasureLoop, MeasuringStage
from daemon.methods import Methods
from daemon.models import extract_loop, load_embedder, load_reranker, reopen_embedder
from daemon.recalling import meaning_of, open_recall, recall_defaults
from daemon.roots import Roots
from daemon.schedule import Schedule
from daemon.server import ServerLimits, SocketServer
from daemon.settle import Settle
from daemon.spaces import VectorSpaces
from daemon.status import Change, EmbeddingModel, StatusReport
from daemon.taking import Running, take
from daemon.waking import Waking
from daemon.watching import Watches
from daemon.writer import WriterThread
from ingest.agreement.stage import AgreeingStage
from recalld.errors import Stopping
from recalld.models.embedder import Embedder
from recalld.models.opening import open_chat_model
from recalld.models.turns import SharedChat
from recalld.paths import DATABASE_NAME
from recalld.settings.tables import Settings
from recalld.sockets import socket_path
from recalld.store.connection import Database
from recalld.store.reading import newest_titles
from retrieval.answer.service import Answers
from retrieval.reranking.service import Reranking

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
    reopen: Callable[[Settings, str], Embedder | None] = reopen_embedder,
) -> App:
    """The application for these settings; nothing runs before `start`."""
    return App(settings, inherited=inherited, load=load, reopen=reopen)


class App:
    """The running daemon. The caller holds the data folder's lock."""

    def __init__(
        self,
        settings: Settings,
        *,
        inherited: socket.socket | None,
        load: Callable[[Settings], tuple[Embedder | None, EmbeddingModel]],
        reopen: Callable[[Settings, str], Embedder | None],
    ) -> None:
        self._settings = settings
        self._inherited = inherited
        self._load = load
        self._reopen = reopen
        self._stack = ExitStack()
        self._methods: Methods | None = None
        self._database: Database | None = None
        self._status: StatusReport | None = None
        self._waking = Waking()
        self._running: Running | None = None

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
        self._database = database = Database(settings.data_dir / DATABASE_NAME)
        self._stack.callback(database.close)
        writer = WriterThread(database)
        self._stack.callback(writer.stop)
        vector_spaces = self._vector_spaces(database, writer)
        roots = Roots(settings, database, writer)
        ingest = IngestLoop(
            roots.keepers(), make_settle=self._make_settle, on_written=self._waking.notes
        )
        embed = self._embed_loop(vector_spaces, ingest)
        chat = SharedChat(open_chat_model(settings.llm, os.environ))
        reranking = Reranking(load_reranker(settings, chat), depth=settings.rerank.depth)
        extract = extract_loop(
            settings.llm,
            model=chat,
            database=database,
            writes=writer,
            give_way=lambda: _is_busy(ingest, embed),
            on_written=self._waking.deep_facts,
            has_embedder=embed is not None,
        )
        agreeing = AgreeingStage(
            database=database, writes=writer, policy=settings.ingest.on_conflict
        )
        agreeing.adopt()
        agree = AgreeLoop(
            agreeing,
            give_way=lambda: ingest.waiting().dirty > _WORDS_FIRST,
            on_written=self._waking.links,
        )
        watches = Watches(ingest)
        stages = {"scan": ingest.scan, "words": ingest.take}
        if embed is not None:
            stages |= {"vectors": embed.report, "categories": embed.refine}
        if extract is not None:
            stages |= {"facts": extract.report, "verdicts": extract.verdicts}
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
            embedding=vector_spaces,
            evidence=lambda: recall.meaning.calibration,
            measuring=lambda: measure is not None and not measure.idle,
            reranker=reranking.health,
            generation=self._waking.generation,
            stages=stages,
        )
        recall = open_recall(
            database,
            vector_spaces.embedder,
            settings.recall,
            degraded=status.degraded,
            reranking=reranking,
        )
        self._stack.callback(recall.close)
        vector_spaces.tell_changes(lambda model: recall.go_by(meaning_of(database, model)))
        counts = RecallCounts(writer)
        counts.start()
        self._stack.callback(counts.stop)
        self._methods = Methods(
            recall=recall,
            answers=Answers(recall=recall, model=chat, within_s=settings.llm.timeout_s),
            database=database,
            writes=writer,
            counts=counts,
            ingest=ingest,
            extract=extract,
            agreeing=agreeing,
            reembed=lambda: self._reembed(vector_spaces),
            on_resolved=self._waking.marks,
            status=status,
            defaults=recall_defaults(settings.recall),
        )
        measure = None
        if embed is not None:
            measure = MeasureLoop(
                MeasuringStage(
                    database=database,
                    writes=writer,
                    recall=recall,
                    embedder=lambda: vector_spaces.embedder,
                ),
                give_way=lambda: _is_busy(ingest, embed),
            )
            stages["evidence"] = measure.report
        self._waking.know(embed=embed, extract=extract, agree=agree, measure=measure)
        self._serve()
        # Closed before requests in flight are waited for: an answer whose model hangs becomes a list.
        self._stack.callback(chat.close)
        self._stack.callback(reranking.close)
        self._stack.callback(ingest.stop)
        if embed is not None:
            self._stack.callback(embed.stop, settings.daemon.stop_timeout_s * _STOP_SHARE)
            embed.start()
        if measure is not None:
            self._stack.callback(measure.stop)
            measure.start()
        # Called before the threads above are waited for: a call that hangs is cut.
        self._stack.callback(vector_spaces.close)
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
        self._running = Running(
            writer=writer,
            recall=recall,
            reranking=reranking,
            chat=chat,
            methods=self._methods,
            roots=roots,
            ingest=ingest,
            watches=watches,
            schedule=schedule,
            maintenance=maintenance,
            waking=self._waking,
        )
        _log.info("recall.ready", roots=len(settings.roots), model=vector_spaces.model.state)

    def settled(self) -> bool:
        """Whether everything on disk is in the index."""
        return self._status is not None and self._status.settled()

    def refined(self) -> bool:
        """Whether it has settled, and the language model has nothing left to do, or is not there to do it."""
        return self._status is not None and self._status.refined()

    def status(self) -> dict[str, object]:
        """The result of `status`."""
        return self._asked().status({})

    def recall(self, params: dict[str, object]) -> dict[str, object]:
        """The result of `recall`."""
        return self._asked().recall(params)

    def titles(self, limit: int) -> list[str]:
        """Titles of the notes that changed last."""
        if self._database is None:
            raise Stopping("the daemon has not started")
        with self._database.reader() as connection:
            return newest_titles(connection, limit)

    def _asked(self) -> Methods:
        if self._methods is None:
            raise Stopping("the daemon has not started")
        return self._methods

    def reload(self, settings: Settings) -> None:
        """Takes other settings: roots, recall, rerank, schedule and log at once, the rest is told to need a restart.

        Raises:
            Stopping: it has not started, or is on its way out.
            RecalldError: a root can't be taken; the others are.
        """
        running = self._running
        if running is None:
            raise Stopping("the daemon does not run")
        self._settings = take(running, self._settings, settings)

    def stop(self) -> None:
        """Stops everything in reverse order; a second call does nothing."""
        self._running = None
        if self._status is not None:
            self._status.stopping = True
        self._stack.close()

    def _make_settle(self) -> Settle:
        return Settle(
            quiet=timedelta(milliseconds=self._settings.ingest.quiet_ms),
            longest_wait=timedelta(milliseconds=self._settings.ingest.longest_wait_ms),
        )

    def _vector_spaces(self, database: Database, writer: WriterThread) -> VectorSpaces:
        settings = self._settings
        return VectorSpaces(
            database=database,
            writes=writer,
            batch=settings.embedding.batch,
            load=lambda: self._load(settings),
            reopen=lambda identity: self._reopen(settings, identity),
        )

    def _embed_loop(self, vector_spaces: VectorSpaces, ingest: IngestLoop) -> EmbedLoop | None:
        if vector_spaces.model.state == "off":
            return None
        return EmbedLoop(
            embedding=vector_spaces,
            refining=vector_spaces.refining,
            give_way=lambda: ingest.waiting().dirty > _WORDS_FIRST,
            on_written=self._waking.marks,
        )

    def _reembed(self, vector_spaces: VectorSpaces) -> Change | None:
        try:
            return vector_spaces.reembed()
        finally:
            self._waking.vectors()

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


def _is_busy(ingest: IngestLoop, embed: EmbedLoop | None) -> bool:
    """Whether words or vectors are still being made; vectors that nobody makes are not waited for."""
    if ingest.waiting().dirty:
        return True
    return embed is not None and not embed.idle and embed.problem is None
