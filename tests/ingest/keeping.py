"""A vault with a keeper over a real store, its writer in this thread, its clock in the test's hands."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable
from pathlib import Path
from types import CellType, TracebackType
from typing import Any, Self, TypeVar

from ingest.intake import Looked
from ingest.keeper import KeeperOptions, RootKeeper
from recalld.store.connection import Database, execute
from recalld.store.writers import Writers

T = TypeVar("T")


class DirectWrites:
    """Writes at once, in the calling thread."""

    def __init__(self, database: Database) -> None:
        self._writers = Writers.over(database.writer)
        # Raised instead of writing, once it is set.
        self.failure: Exception | None = None
        # Work on a note with this word fails, as a fault of ours would.
        self.poison: str | None = None
        # How often something was written.
        self.count = 0

    def call(self, work: Callable[[Writers], T]) -> T:
        if self.failure:
            raise self.failure
        if self.poison and any(self.poison in str(cell.cell_contents) for cell in _closure(work)):
            raise ZeroDivisionError
        self.count += 1
        return work(self._writers)

    def post(self, work: Callable[[Writers], object]) -> None:
        self.call(work)


def _closure(work: Callable[..., object]) -> tuple[CellType, ...]:
    return getattr(work, "__closure__", None) or ()


class Vault:
    """Notes on disk, and the index that is to be equal to them."""

    def __init__(self, base: Path, **options: float) -> None:
        self.path = base / "vault"
        self.path.mkdir(parents=True, exist_ok=True)
        self.database = Database(base / "data" / "memory.db")
        self.writes = DirectWrites(self.database)
        self.now = 1_800_000_000.0
        self._uids = itertools.count(1)
        given = {
            "max_note_bytes": 1_000_000,
            "empty_grace_s": 5.0,
            "mass_deletion_count": 10,
            "mass_deletion_share": 0.5,
            "deletion_grace_s": 3600.0,
            **options,
        }
        self.keeper = RootKeeper(
            name="vault",
            path=self.path,
            database=self.database,
            writes=self.writes,
            options=KeeperOptions(own_paths=(base / "data",), **given),  # type: ignore[arg-type] # numbers all
            now=lambda: self.now,
            new_uid=lambda: hashlib.md5(b"%d" % next(self._uids)).hexdigest(),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.database.close()

    def write(self, path: str, text: str) -> Path:
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
        return target

    def look(self, *paths: str, full: bool = False) -> list[Looked]:
        """A look at these paths, or at everything."""
        return list(self.keeper.look(frozenset(paths) or None, full=full))

    def rows(self, sql: str, *bindings: object) -> list[tuple[Any, ...]]:
        with self.database.reader() as connection:
            return execute(connection, sql, bindings)

    def facts(self) -> set[str]:
        return {row[0] for row in self.rows("SELECT text FROM fact")}

    def content(self) -> list[tuple[Any, ...]]:
        """Everything that follows from the notes, without the ids that depend on history."""
        return self.rows(
            "SELECT note.path, note.title, block.ordinal, kind, heading_path, lead_in,"
            " block.line_from, block.line_to, block.text, position, passage.text, statement.text,"
            " statement.words, embed_prefix, hex(embed_hash), fact.uid, fact.text, stated_on"
            " FROM note LEFT JOIN block ON block.note_id = note.id"
            " LEFT JOIN passage ON block_id = block.id"
            " LEFT JOIN statement ON statement.passage_id = passage.id"
            " LEFT JOIN fact_source ON statement_id = statement.id"
            " LEFT JOIN fact ON fact.id = fact_id"
            " ORDER BY path, block.ordinal, position, statement.ordinal, fact.uid"
        )


def outcomes(looked: Iterable[Looked]) -> dict[str, str]:
    """What became of each path in the end."""
    return {one.path: one.outcome for one in looked}
