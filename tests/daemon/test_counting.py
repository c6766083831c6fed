"""What recalls returned is gathered, written together, and not lost on stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest

from daemon.counting import RecallCounts
from recalld.records import FactId
from recalld.store.connection import Database
from recalld.store.writers import Writers
from tests.recalld.store.building import Shelf, block, fact
from tests.waiting import soon

T = TypeVar("T")


class Counting:
    """Writes at once, and counts how often it was asked to."""

    def __init__(self, database: Database) -> None:
        self._writers = Writers.over(database.writer)
        self.posted = 0

    def call(self, work: Callable[[Writers], T]) -> T:
        return work(self._writers)

    def post(self, work: Callable[[Writers], object]) -> None:
        work(self._writers)
        self.posted += 1


@pytest.fixture
def shelf(tmp_path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path / "memory.db")
    shelf.put("a.md", block("a", "Alpha is up.", fact("Alpha is up.")))
    shelf.put("b.md", block("b", "Beta is up.", fact("Beta is up.")))
    yield shelf
    shelf.database.close()


def counted(shelf: Shelf) -> list[int]:
    return [row[0] for row in shelf.rows("SELECT recall_count FROM fact ORDER BY id")]


def ids(shelf: Shelf) -> list[FactId]:
    return [FactId(row[0]) for row in shelf.rows("SELECT id FROM fact ORDER BY id")]


def test_recalls_that_come_together_are_one_write_and_stop_does_not_wait_for_it(shelf):
    writes = Counting(shelf.database)
    counts = RecallCounts(writes, every_s=3600)
    counts.start()
    alpha, beta = ids(shelf)
    counts.add([alpha, beta])
    counts.add([beta])
    counts.add([])
    counts.stop()
    assert counted(shelf) == [1, 2]
    assert writes.posted == 1


def test_they_are_written_while_it_runs(shelf):
    writes = Counting(shelf.database)
    counts = RecallCounts(writes, every_s=0)
    counts.start()
    try:
        counts.add(ids(shelf))
        soon(lambda: writes.posted == 1)
        counts.add(ids(shelf))
        soon(lambda: writes.posted == 2)
    finally:
        counts.stop()
    assert counted(shelf) == [2, 2]


def test_nothing_recalled_is_nothing_written(shelf):
    writes = Counting(shelf.database)
    counts = RecallCounts(writes, every_s=0)
    counts.start()
    counts.stop()
    assert writes.posted == 0
