"""How the cost of work grows with its size, measured side by side in one run.

A slow or busy machine slows the small and the large alike, so only their ratio is looked at, and
the first attempt that is within bounds decides: noise can make an attempt dear, but it can't make
quadratic work cheap.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")

ATTEMPTS = 6
# Work is done again until it took this long, and its quickest turn counts: an interruption of the
# smaller work would hide growth, and memory that is fetched the first time would feign it.
_ENOUGH_S = 0.02
_TURNS = 20


def assert_grows_with_size(
    work: Callable[[_T], object],
    make: Callable[[int], _T],
    *,
    small: int,
    times: int = 8,
    at_most: float = 24.0,
) -> None:
    """Input `times` as large may cost `at_most` as much: more than n log n, less than the square.

    Args:
        make: Gives the input of a size; its own time does not count.
        small: The smaller size; work on it should take a millisecond or so.
    """
    little, much = make(small), make(small * times)
    work(little)
    assert_costs_at_most(at_most, lambda: work(much), than=lambda: work(little))


def assert_costs_at_most(
    times: float,
    work: Callable[[], object],
    *,
    than: Callable[[], object],
    clock: Callable[[], float] = time.thread_time,
) -> None:
    """Work costs at most so many times what other work costs, in one attempt of several.

    Args:
        clock: Seconds of this thread's processor; `time.process_time` where others do the work.
    """
    ratios: list[float] = []
    for _ in range(ATTEMPTS):
        base = _quickest(than, clock)
        ratios.append(_quickest(work, clock) / base)
        if ratios[-1] <= times:
            return
    raise AssertionError(f"it costs {min(ratios):.1f} times as much, where {times} are allowed")


def assert_idle(window_s: float, at_most: float = 0.1) -> None:
    """This process is busy for no more than a share of some window of several: nothing spins."""
    shares: list[float] = []
    for _ in range(ATTEMPTS):
        began, spent = time.monotonic(), time.process_time()
        threading.Event().wait(window_s)
        shares.append((time.process_time() - spent) / (time.monotonic() - began))
        if shares[-1] <= at_most:
            return
    raise AssertionError(f"busy for {min(shares):.0%} of the time, where {at_most:.0%} is allowed")


def _quickest(work: Callable[[], object], clock: Callable[[], float]) -> float:
    costs = [_cost(work, clock)]
    while sum(costs) < _ENOUGH_S and len(costs) < _TURNS:
        costs.append(_cost(work, clock))
    return min(costs)


def _cost(work: Callable[[], object], clock: Callable[[], float]) -> float:
    # What the collector does depends on all that other tests left.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        begun = clock()
        work()
        return max(clock() - begun, 1e-6)
    finally:
        if was_enabled:
            gc.enable()
