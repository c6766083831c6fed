"""Work that pauses now and then, where others may have their turn: a generator whose return value is what it made."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")


def advance(steps: Generator[None, None, T]) -> T | None:
    """Takes one step; the result when that was the last, else None. A result is never None."""
    try:
        next(steps)
    except StopIteration as done:
        result: T = done.value
        return result
    return None


def finish(steps: Generator[None, None, T]) -> T:
    """Takes every step that is left; the result."""
    while (result := advance(steps)) is None:
        pass
    return result
