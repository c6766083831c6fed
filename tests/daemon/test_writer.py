from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from daemon.writer import WriterThread
from recalld.errors import Stopping, StoreUnusable
from recalld.store.connection import Database
from recalld.store.reading import meta
from tests.waiting import DEADLINE_S


@pytest.fixture
def database(tmp_path) -> Iterator[Database]:
    made = Database(tmp_path / "memory.db")
    yield made
    made.close()


@pytest.fixture
def writer(database) -> Iterator[WriterThread]:
    made = WriterThread(database)
    yield made
    made.stop()


def test_work_runs_in_order_on_one_thread(writer):
    done: list[int] = []
    threads = set()

    def work(number: int) -> None:
        done.append(number)
        threads.add(threading.current_thread().name)

    for number in range(50):
        writer.post(lambda _, number=number: work(number))
    assert writer.call(lambda _: len(done)) == 50
    assert done == list(range(50))
    assert len(threads) == 1
    assert threads.pop().startswith("writer")


def test_call_gives_what_the_work_gives_and_raises_what_it_raises(writer, database):
    assert writer.call(lambda writers: writers.put_meta("colour", "blauw")) is None
    with database.reader() as connection:
        assert meta(connection, "colour") == "blauw"

    def fail(_):
        raise StoreUnusable("the disk is full")

    with pytest.raises(StoreUnusable, match="the disk is full"):
        writer.call(fail)
    assert writer.call(lambda _: 1) == 1


def test_post_that_fails_ends_nothing(writer):
    def fail(_):
        raise ZeroDivisionError

    writer.post(fail)
    assert writer.call(lambda _: 1) == 1


def test_stop_finishes_what_is_queued(database):
    writer = WriterThread(database)
    held, done = threading.Event(), []
    writer.post(lambda _: held.wait(DEADLINE_S))
    for number in range(10):
        writer.post(lambda _, number=number: done.append(number))
    threading.Timer(0.02, held.set).start()
    writer.stop()
    assert done == list(range(10))
    assert not any(one.name.startswith("writer") for one in threading.enumerate())


def test_after_the_stop_calls_are_refused_and_posts_dropped(database):
    writer = WriterThread(database)
    writer.stop()
    with pytest.raises(Stopping):
        writer.call(lambda _: 1)
    writer.post(lambda _: pytest.fail("it was to be dropped"))
    writer.stop()
