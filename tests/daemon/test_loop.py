"""The frame of the working threads, turn by turn with a clock in the test's hands, and as a thread."""

from __future__ import annotations

import threading
from collections import deque

import pytest

from daemon.loop import Loop, Pauses, Turn
from recalld.errors import Stopping, StoreUnusable, TransientModelError
from tests.waiting import DEADLINE_S, soon

NOTHING = Turn(more=False)
SOME = Turn(more=True)


class Scripted(Loop):
    """Turns that are given: results, errors, or an event to wait for; then nothing is left."""

    def __init__(self, *turns: object, pauses: Pauses | None = None, clock=None) -> None:
        self.now = 1000.0
        self.busy = False
        given = {"clock": lambda: self.now, "wall_clock": lambda: self.now} if clock is None else {}
        super().__init__("scripted", give_way=lambda: self.busy, pauses=pauses or Pauses(), **given)
        self.turns = deque(turns)
        self.taken = 0
        self.failures: list[str] = []
        self.was_cut = threading.Event()

    def _turn(self) -> Turn:
        self.taken += 1
        turn = self.turns.popleft() if self.turns else NOTHING
        if isinstance(turn, threading.Event):
            assert turn.wait(DEADLINE_S)
            return NOTHING
        if isinstance(turn, BaseException):
            raise turn
        if callable(turn):
            return turn()
        assert isinstance(turn, Turn)
        return turn

    def _on_failure(self, error: Exception, reason: str, hint: str | None) -> None:
        self.failures.append(f"{type(error).__name__}: {reason} ({hint})")

    def _cut(self) -> None:
        self.was_cut.set()

    def for_s(self, seconds: float) -> int:
        """Lets time pass as the thread would; how many turns that were."""
        taken, end = self.taken, self.now + seconds
        while (pause := self.pause_s()) is not None and self.now + pause <= end:
            self.now += pause
            if pause == 0:
                self.turn()
        self.now = end
        return self.taken - taken


def test_goes_on_while_there_is_more_and_then_sleeps_until_it_is_woken():
    loop = Scripted(SOME, SOME)
    assert not loop.idle
    assert loop.for_s(1) == 3
    assert loop.idle
    assert loop.pause_s() is None
    loop.wake()
    assert not loop.idle
    assert loop.for_s(0) == 1


def test_wake_during_a_turn_is_not_lost():
    loop = Scripted()
    loop.turns.append(lambda: loop.wake() or NOTHING)
    assert loop.for_s(1) == 2
    assert loop.idle


@pytest.mark.parametrize(
    "failure",
    [
        TransientModelError("no answer", hint="start it"),
        StoreUnusable("the disk is full"),
        ZeroDivisionError("a fault"),
    ],
)
def test_what_fails_is_told_left_and_tried_again(failure):
    loop = Scripted(failure, SOME)
    loop.for_s(0)
    assert not loop.idle
    assert loop.report.failed == 1
    assert loop.report.reason == str(failure)
    assert len(loop.failures) == 1
    loop.wake()
    assert loop.for_s(0.9) == 0, "a wake does not end the pause"
    assert loop.for_s(0.2) == 2
    assert loop.idle


def test_pauses_double_up_to_the_longest_and_begin_anew_after_a_success():
    outage = Turn(more=True, is_outage=True)
    loop = Scripted(*[outage] * 6, SOME, outage, pauses=Pauses(first_s=1, longest_s=8))
    pauses = []
    for _ in range(8):
        loop.turn()
        pauses.append(loop.pause_s())
        loop.now += pauses[-1] or 0
    assert pauses == [1, 2, 4, 8, 8, 8, 0, 1]
    assert loop.report.failed == 0, "an outage that a turn tells of is no failure"


def test_who_has_mended_something_need_not_wait():
    loop = Scripted(*[TransientModelError("down")] * 8)
    loop.for_s(20)
    assert loop.pause_s() > 1
    loop.hurry()
    assert loop.pause_s() == 0


def test_rest_is_taken_whoever_calls():
    loop = Scripted(Turn(more=True, rest_s=5))
    loop.for_s(0)
    loop.wake()
    assert loop.pause_s() == 5
    assert loop.for_s(5) == 1


def test_what_is_due_later_is_waited_for_and_something_new_is_not():
    loop = Scripted()
    later = Turn(more=False, not_before=loop.now + 100)
    loop.turns.extend([later, later])
    assert loop.for_s(50) == 1
    assert not loop.idle
    loop.wake()
    assert loop.for_s(0) == 1
    assert loop.for_s(51) == 1
    assert loop.idle


def test_a_turn_is_taken_now_and_then_though_nobody_calls():
    loop = Scripted(pauses=Pauses(idle_s=60))
    loop.for_s(0)
    assert loop.for_s(600) == 10
    assert loop.idle


def test_gives_way_for_ever_or_as_long_as_it_is_told():
    patient = Scripted(SOME)
    patient.busy = True
    assert patient.for_s(10) == 0
    patient.busy = False
    assert patient.for_s(1) == 2
    bounded = Scripted(SOME, SOME, pauses=Pauses(longest_yield_s=30, yield_s=0.5))
    bounded.busy = True
    assert bounded.for_s(29) == 0
    assert bounded.for_s(2) == 1
    assert bounded.for_s(25) == 0, "each turn has its own patience"


def test_a_store_that_is_closing_is_no_failure():
    loop = Scripted(Stopping("the daemon is stopping"))
    loop.for_s(1)
    assert (loop.report.failed, loop.idle) == (0, True)


def test_age_of_a_turn_is_told():
    loop = Scripted()
    seen = []

    def turn() -> Turn:
        loop.now += 70
        seen.append(loop.step_age_s)
        return NOTHING

    loop.turns.append(turn)
    loop.turn()
    assert (seen, loop.step_age_s) == ([70.0], 0.0)


# ---------------------------------------------------------------- the thread


def test_thread_is_woken_works_and_ends():
    loop = Scripted(clock="real")
    loop.start()
    soon(lambda: loop.idle)
    loop.turns.extend([SOME, SOME])
    loop.wake()
    soon(lambda: loop.taken == 4 and loop.idle)
    assert loop.stop()
    assert "scripted" not in {thread.name for thread in threading.enumerate()}


def test_stop_ends_a_pause():
    loop = Scripted(
        TransientModelError("down"), pauses=Pauses(first_s=3600, longest_s=3600), clock="real"
    )
    loop.start()
    soon(lambda: loop.failures)
    assert loop.stop(DEADLINE_S)


def test_turn_that_hangs_is_left_and_what_it_ends_in_is_no_failure():
    entered, held = threading.Event(), threading.Event()

    def hangs() -> Turn:
        entered.set()
        assert held.wait(DEADLINE_S)
        raise TransientModelError("the call was cut")

    loop = Scripted(hangs, clock="real")
    loop.start()
    assert entered.wait(DEADLINE_S)
    assert not loop.stop(0.01)
    assert loop.was_cut.is_set()
    held.set()
    assert loop.stop(DEADLINE_S)
    assert loop.report.failed == 0


def test_stop_before_the_start_cuts_and_does_nothing_else():
    loop = Scripted()
    assert loop.stop()
    assert loop.was_cut.is_set()
