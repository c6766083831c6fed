"""The thread that has facts compared, by itself, with a stage that does as it is told."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator

import pytest

from daemon.agreeing import AgreeLoop
from daemon.loop import Pauses
from recalld.errors import Stopping, StoreUnusable
from tests.waiting import DEADLINE_S, soon


class Scripted:
    """A stage whose steps are given: counts, errors, or an event to wait for; then nothing is left."""

    def __init__(self, *steps: object) -> None:
        self._steps = deque(steps)
        self.asked = 0

    def step(self) -> int:
        step = self._steps.popleft() if self._steps else 0
        self.asked += 1
        if isinstance(step, threading.Event):
            assert step.wait(DEADLINE_S)
            return 1
        if isinstance(step, BaseException):
            raise step
        assert isinstance(step, int)
        return step

    def more(self, *steps: object) -> None:
        self._steps.extend(steps)


class Loops:
    """Makes loops, and stops them however the test ends."""

    def __init__(self) -> None:
        self._made: list[AgreeLoop] = []
        self.written = 0
        self.busy = False

    def start(self, *steps: object) -> tuple[AgreeLoop, Scripted]:
        def count() -> None:
            self.written += 1

        stage = Scripted(*steps)
        loop = AgreeLoop(
            stage, give_way=lambda: self.busy, on_written=count, pauses=Pauses(first_s=0.001)
        )
        self._made.append(loop)
        loop.start()
        return loop, stage

    def stop(self) -> None:
        for loop in self._made:
            loop.stop()


@pytest.fixture
def loops() -> Iterator[Loops]:
    made = Loops()
    yield made
    made.stop()


def test_works_off_what_waits_tells_of_each_batch_and_is_idle(loops):
    loop, stage = loops.start(50, 7)
    soon(lambda: loop.idle)
    assert (stage.asked, loops.written, loop.report.failed) == (3, 2, 0)
    assert loop.report.last_ok


def test_wakes_when_something_was_written(loops):
    loop, stage = loops.start()
    soon(lambda: loop.idle)
    stage.more(3)
    loop.wake()
    soon(lambda: loops.written == 1 and loop.idle)


def test_gives_way_until_the_way_is_free(loops):
    loops.busy = True
    loop, stage = loops.start(5)
    loop.wake()
    assert (stage.asked, loop.idle) == (0, False)
    loops.busy = False
    soon(lambda: loop.idle)
    assert loops.written == 1


@pytest.mark.parametrize("error", [StoreUnusable("the disk is full"), ValueError("a fault")])
def test_what_fails_is_told_and_tried_again(loops, error):
    loop, _ = loops.start(error, error, 4)
    soon(lambda: loop.idle)
    assert (loop.report.failed, loop.report.reason, loops.written) == (2, str(error), 1)


def test_daemon_on_its_way_out_is_no_failure(loops):
    loop, _ = loops.start(Stopping("on its way out"))
    soon(lambda: loop.idle)
    assert loop.report.failed == 0


def test_stop_waits_for_the_batch_at_hand(loops):
    held = threading.Event()
    loop, stage = loops.start(held)
    soon(lambda: stage.asked == 1)
    held.set()
    loop.stop()
    assert stage.asked <= 2


def test_loop_that_never_started_stops_at_once():
    AgreeLoop(Scripted(), give_way=lambda: False, on_written=lambda: None).stop()
