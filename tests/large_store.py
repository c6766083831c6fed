"""A store of many passages of every kind, and what each of its statements costs SQLite."""

from __future__ import annotations

import random
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import apsw

from recalld.records import Category
from recalld.store.changes import NewVector
from recalld.store.connection import Connection, Database, execute
from recalld.store.vectors import quantise
from tests.fakes import WordEmbedder
from tests.recalld.store.building import Shelf, block, change, fact, model

PASSAGES_A_NOTE = 4
_WORDS = [f"part{number}" for number in range(400)]
_FIRST_DAY = date(2025, 1, 1)


class WatchedDatabase(Database):
    """A database that knows what its readers asked of it."""

    def __init__(self, path: Path) -> None:
        # Each statement with the bindings of its first time.
        self.asked: dict[str, Any] = {}
        self._steps: list[int] = []
        super().__init__(path)

    def steps(self) -> float:
        """Steps of SQLite's machine until now: work that a busy computer does not make more."""
        return float(sum(self._steps))

    def _open_reader(self) -> Connection:
        connection = super()._open_reader()
        connection.exec_trace = self._remember
        connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, self._count)
        return connection

    def _remember(self, _: object, sql: str, bindings: Any) -> bool:
        self.asked.setdefault(sql, bindings)
        return True

    def _count(self, event: dict[str, Any]) -> None:
        # Those of the full-text search within it are counted from its first use, not from this one.
        if "'main'." not in event["sql"]:
            self._steps.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])


def large_store(path: Path, notes: int, embedder: WordEmbedder) -> WatchedDatabase:
    """So many notes in two roots, with tags, links, dates, categories, vectors, successors and contradictions.

    Some names and tags are everywhere, others stand in one note alone.
    """
    shelf = Shelf(path, WatchedDatabase)
    database = shelf.database
    assert isinstance(database, WatchedDatabase)
    execute(database.writer, "PRAGMA synchronous = OFF")
    shelf.writers.spaces.use(model(embedder.space.identity, embedder.space.dimension))
    other = shelf.writers.notes.put_root("other", Path("/other"), 1, 3)
    chance = random.Random(5)
    for number in range(notes):
        shelf.writers.notes.apply(
            change(
                shelf.root if number % 4 else other,
                f"{'abc'[number % 3]}/n{number}.md",
                *(_block(number, at, chance) for at in range(PASSAGES_A_NOTE)),
                tags=[f"topic/t{number % 10}", "all"],
                links=[f"n{chance.randrange(notes)}"],
                dated=_FIRST_DAY + timedelta(days=number % 500),
            )
        )
    _embed(shelf, embedder)
    _relate(database.writer)
    return database


def _block(number: int, at: int, chance: random.Random) -> Any:
    words = chance.sample(_WORDS, 5)
    text = f"The pump {number} {' '.join(words)} leaks oil in Lyon."
    day = _FIRST_DAY + timedelta(days=chance.randrange(500))
    said = fact(
        text,
        category=chance.choice(list(Category)),
        entities=("Lyon", f"pump {number}", *words[:2]),
        relations=((f"pump {number}", "in", words[0]),),
        happened=(day, day) if number % 2 else None,
    )
    statements = [text, f"{words[0]} is {words[1]}."]
    return block(f"n{number}", text, said, ordinal=at, statements=statements)


def _embed(shelf: Shelf, embedder: WordEmbedder) -> None:
    rows = execute(shelf.database.writer, "SELECT id, text, embed_hash FROM statement")
    vectors = map(quantise, embedder.embed_statements([row[1] for row in rows]))
    shelf.writers.vectors.put(
        NewVector(statement_id=row[0], embed_hash=row[2], signs=signs, embedding=embedding)
        for row, (signs, embedding) in zip(rows, vectors, strict=True)
    )


def _relate(writer: Connection) -> None:
    last = "(SELECT max(id) FROM fact)"
    execute(
        writer,
        f"UPDATE fact SET superseded_by = id + 1 WHERE id % 10 = 0 AND id < {last};"
        "INSERT INTO fact_link SELECT superseded_by, id, 'supersedes', 1, 'rule', 'value'"
        " FROM fact WHERE superseded_by IS NOT NULL;"
        "INSERT INTO fact_link SELECT id, id + 2, 'contradicts', 1, 'rule', 'value'"
        f" FROM fact WHERE id % 11 = 0 AND id + 2 <= {last};"
        "INSERT INTO fact_link SELECT id, id + 3, 'similar', 1, 'rule', 'duplicate'"
        f" FROM fact WHERE id % 7 = 0 AND id + 3 <= {last}",
    )
