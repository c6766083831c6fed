"""The writing side as one: what the writer's thread works with, and how others hand it work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from recalld.store.agreement import AgreementWriter
from recalld.store.connection import Connection, execute, transaction
from recalld.store.deep import DeepWriter
from recalld.store.embedding import VectorWriter
from recalld.store.notes import NoteWriter
from recalld.store.regraph import GraphWriter
from recalld.store.spaces import SpaceWriter
from recalld.store.usage import UsageWriter
from recalld.store.verdicts import VerdictWriter

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Writers:
    """What may be written. Only the writer's thread holds it."""

    connection: Connection
    notes: NoteWriter
    vectors: VectorWriter
    spaces: SpaceWriter
    usage: UsageWriter
    deep: DeepWriter
    graph: GraphWriter
    agreement: AgreementWriter
    verdicts: VerdictWriter

    @classmethod
    def over(cls, connection: Connection) -> Writers:
        """The writers on the database's only writing connection."""
        return cls(
            connection=connection,
            notes=NoteWriter(connection),
            vectors=VectorWriter(connection),
            spaces=SpaceWriter(connection),
            usage=UsageWriter(connection),
            deep=DeepWriter(connection),
            graph=GraphWriter(connection),
            agreement=AgreementWriter(connection),
            verdicts=VerdictWriter(connection),
        )

    def put_meta(self, key: str, value: str) -> None:
        """Keeps a value that the database says about itself."""
        with transaction(self.connection):
            execute(self.connection, "INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def merge_words(self) -> None:
        """Merges the full-text index, which many small transactions leave in pieces."""
        execute(self.connection, "INSERT INTO passage_fts (passage_fts) VALUES ('optimize')")

    def maintain(self) -> None:
        """Merges the full-text index, gives free pages back and folds the log into the file."""
        self.merge_words()
        execute(self.connection, "PRAGMA incremental_vacuum")
        execute(self.connection, "PRAGMA wal_checkpoint(TRUNCATE)")


class Writes(Protocol):
    """Hands work to the one thread that writes."""

    def call(self, work: Callable[[Writers], T]) -> T:
        """Runs `work` there and gives what it returns, or raises what it raised."""
        ...

    def post(self, work: Callable[[Writers], object]) -> None:
        """Queues `work` and returns at once; its failure is logged, not raised."""
        ...
