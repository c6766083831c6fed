"""The measure of growth itself: it must fail for the square of the size, and for nothing less."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from tests.growth import ATTEMPTS, assert_costs_at_most, assert_grows_with_size, assert_idle


def pairs(items: range) -> None:
    for _ in items:
        for _ in items:
            pass


def pieces(text: str) -> None:
    """A quadratic that C does: each turn copies the rest."""
    while text:
        text = text[64:]


@pytest.mark.slow
def test_the_square_of_the_size_is_caught():
    with pytest.raises(AssertionError, match="times as much"):
        assert_grows_with_size(pairs, range, small=100)
    with pytest.raises(AssertionError, match="times as much"):
        assert_grows_with_size(pieces, lambda size: "x" * size, small=20_000)


@pytest.mark.parametrize("work", [sum, lambda items: sorted(items, key=lambda n: n * 7919 % 10007)])
def test_growth_with_the_size_passes(work: Callable[[range], object]):
    assert_grows_with_size(work, range, small=5_000)


class Clock:
    """Time that passes only by work."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_one_attempt_within_bounds_is_enough():
    clock = Clock()
    costs = [100.0, 100.0, 2.0]

    def one() -> None:
        clock.now += 1

    def noisy() -> None:
        clock.now += costs.pop(0)

    assert_costs_at_most(3, noisy, than=one, clock=clock)
    assert costs == []


def test_work_that_is_dear_each_time_is_told_with_its_best_ratio():
    clock = Clock()
    costs = [9.0 - n for n in range(ATTEMPTS)]

    def one() -> None:
        clock.now += 1

    def dear() -> None:
        clock.now += costs.pop(0)

    with pytest.raises(AssertionError, match=r"^it costs 4\.0 times as much, where 3 are allowed$"):
        assert_costs_at_most(3, dear, than=one, clock=clock)


def test_an_interruption_of_the_small_work_does_not_hide_growth():
    clock = Clock()
    small = [0.01] + [0.001] * 1000

    def one() -> None:
        clock.now += small.pop(0)

    def dear() -> None:
        clock.now += 0.01

    with pytest.raises(AssertionError, match=r"10\.0 times"):
        assert_costs_at_most(5, dear, than=one, clock=clock)


@pytest.mark.slow
def test_a_thread_that_spins_is_not_idle():
    stopped = threading.Event()

    def spin() -> None:
        while not stopped.is_set():
            sum(range(1000))

    assert_idle(0.02)
    spinning = threading.Thread(target=spin)
    spinning.start()
    try:
        with pytest.raises(AssertionError, match="busy for"):
            assert_idle(0.1, at_most=0.001)
    finally:
        stopped.set()
        spinning.join()
