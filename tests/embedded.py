"""The embedded models where there are any, and texts that try them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest

from recalld.errors import PermanentModelError

T = TypeVar("T")

TEXTS = (
    "De server viel uit doordat de schijf vol was.",
    "Mijn zus bakt graag appeltaart.",
    "数据库因为磁盘已满而崩溃。",
    "x",
    "word " * 150,
    "👩‍👩‍👧",
)


def loaded(model: Callable[..., T]) -> T:
    """A model on one thread; the test is skipped where this machine has none."""
    try:
        return model(threads=1)
    except PermanentModelError as error:
        pytest.skip(f"no embedded model on this machine: {error}")
