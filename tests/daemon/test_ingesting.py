"""The loop that looks at all roots."""

from __future__ import annotations

from pathlib import Path

from daemon.ingesting import IngestLoop
from daemon.settle import Settle
from daemon.writer import WriterThread
from ingest.keeper import KeeperOptions, RootKeeper
from recalld.store.connection import Database


def test_nothing_counts_as_settled_before_the_first_scan(tmp_path: Path) -> None:
    database = Database(tmp_path / "memory.db")
    writer = WriterThread(database)
    try:
        keeper = RootKeeper(
            name="vault",
            path=tmp_path,
            database=database,
            writes=writer,
            options=KeeperOptions(
                max_note_bytes=1_000_000,
                empty_grace_s=5,
                mass_deletion_count=10,
                mass_deletion_share=0.5,
                deletion_grace_s=3600,
                own_paths=(),
            ),
            now=lambda: 0.0,
            new_uid=lambda: "0" * 32,
        )
        loop = IngestLoop([keeper], make_settle=Settle, on_written=lambda: None)
        waiting = loop.waiting()
        assert waiting.scanning
        assert waiting.dirty == 1
    finally:
        writer.stop()
        database.close()
