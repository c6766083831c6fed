from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from datetime import timedelta

import pytest

from daemon.schedule import Job, Schedule
from recalld.errors import Stopping, StoreUnusable
from tests.waiting import DEADLINE_S, soon

OFTEN = timedelta(milliseconds=20)
NEVER = timedelta(hours=1)


class Counting:
    def __init__(self, error: BaseException | None = None) -> None:
        self.runs = 0
        self._error = error
        self._changed = threading.Condition()

    def __call__(self) -> None:
        with self._changed:
            self.runs += 1
            self._changed.notify_all()
        if self._error:
            raise self._error

    def wait_for(self, runs: int) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self.runs >= runs, DEADLINE_S)


@contextmanager
def running(*jobs: Job):
    schedule = Schedule(jobs)
    schedule.start()
    try:
        yield schedule
    finally:
        schedule.stop()


def job(name: str, work: Callable[[], None], every: timedelta = OFTEN) -> Job:
    return Job(name=name, every=every, work=work)


def test_job_runs_every_so_often():
    counting = Counting()
    with running(job("one", counting)):
        assert counting.wait_for(3)


def test_first_run_comes_after_the_interval():
    counting, other = Counting(), Counting()
    with running(job("one", counting, NEVER), job("other", other)):
        assert other.wait_for(2)
        assert counting.runs == 0


@pytest.mark.parametrize(
    "error", [StoreUnusable("the disk is full"), Stopping("stopping"), ZeroDivisionError()]
)
def test_job_that_fails_runs_again_and_others_too(error):
    failing, other = Counting(error), Counting()
    with running(job("failing", failing), job("other", other)):
        assert failing.wait_for(2)
        assert other.wait_for(2)


def test_missed_runs_count_as_one():
    held, runs = threading.Event(), []

    def work() -> None:
        runs.append(time.monotonic())
        held.wait(DEADLINE_S)

    with running(job("slow", work)):
        soon(lambda: runs)
        # Some ten runs are missed meanwhile.
        assert not held.wait(10 * OFTEN.total_seconds())
        released = time.monotonic()
        held.set()
        soon(lambda: len(runs) >= 5)
    # The first, the one for all that were missed, and then one an interval.
    after = [at for at in runs if at >= released]
    assert len(after) <= 2 + (after[-1] - released) / OFTEN.total_seconds()


def test_stop_waits_for_the_running_job_and_joins_its_threads():
    before = set(threading.enumerate())
    entered, held, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        entered.set()
        held.wait(DEADLINE_S)
        ended.set()

    schedule = Schedule((job("slow", work),))
    schedule.start()
    assert entered.wait(DEADLINE_S)
    threading.Timer(0.02, held.set).start()
    schedule.stop()
    assert ended.is_set()
    left = set(threading.enumerate()) - before
    assert not [one for one in left if not isinstance(one, threading.Timer)]


def test_stop_before_the_start_does_nothing():
    Schedule((job("one", Counting()),)).stop()


def test_intervals_change_while_it_runs():
    counting = Counting()
    with running(job("one", counting, NEVER)) as schedule:
        schedule.use_intervals((job("one", counting, OFTEN),))
        assert counting.wait_for(2)
