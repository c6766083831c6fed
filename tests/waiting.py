"""How tests wait for what is sure to come: with one limit that no machine is too slow for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# A test that passes never waits this long; what never comes fails the test instead of hanging it.
DEADLINE_S = 60.0

_PAUSE_S = 0.005


def soon(condition: Callable[[], object], deadline_s: float = DEADLINE_S) -> None:
    """Waits for what other threads or processes are about to do; fails at the deadline."""
    assert holds(condition, deadline_s), "not in time"


def holds(condition: Callable[[], object], within_s: float = DEADLINE_S) -> bool:
    """Whether the condition comes to hold in time."""
    end = time.monotonic() + within_s
    pause = threading.Event()
    while not condition():
        if time.monotonic() >= end:
            return False
        pause.wait(_PAUSE_S)
    return True


@contextmanager
def not_held_up() -> Iterator[None]:
    """Fails if what is inside waits for something that takes minutes or never comes."""
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < DEADLINE_S, "it was held up"
