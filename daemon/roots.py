"""The roots of the settings: a keeper for each, and their exchange while the daemon runs."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable

import structlog

from daemon.ingesting import IngestLoop
from daemon.watching import Watches
from daemon.writer import WriterThread
from ingest.keeper import KeeperOptions, RootKeeper
from recalld.settings.tables import RootSettings, Settings
from recalld.store.connection import Database

_log = structlog.get_logger("app")


class Roots:
    """Makes keepers. Notes of roots that are not in the settings are forgotten."""

    def __init__(self, settings: Settings, database: Database, writer: WriterThread) -> None:
        """The ingest settings are those of the start; the roots may be exchanged."""
        self._settings = settings
        self._database = database
        self._writer = writer

    def keepers(self) -> list[RootKeeper]:
        """A keeper for each root of the settings."""
        self._drop_others(self._settings.roots)
        return [self._keeper(root) for root in self._settings.roots]

    def exchange(
        self,
        ingest: IngestLoop,
        watches: Watches,
        *,
        gone: Iterable[RootSettings],
        come: Iterable[RootSettings],
        all_now: Iterable[RootSettings],
    ) -> None:
        """Keeps other roots from now on.

        Raises:
            RecalldError: a root can't be taken; those before it are.
        """
        for root in gone:
            watches.remove(root.name)
            ingest.remove_root(root.name)
            _log.info("root.dropped", root=root.name)
        self._drop_others(all_now)
        for root in come:
            ingest.add_root(self._keeper(root))
            watches.add(root.name)
            ingest.ask_scan(root.name)
            _log.info("root.added", root=root.name)

    def _drop_others(self, roots: Iterable[RootSettings]) -> None:
        now_ms = int(time.time() * 1000)
        names = [root.name for root in roots]
        self._writer.call(lambda writers: writers.notes.drop_roots_except(names, now_ms))

    def _keeper(self, root: RootSettings) -> RootKeeper:
        settings = self._settings
        return RootKeeper(
            name=root.name,
            path=root.path,
            database=self._database,
            writes=self._writer,
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
