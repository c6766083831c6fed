"""Which facts recalls returned: gathered, and written together.

After a write every reader of the file drops what it held of it, so that a recall that comes right after one takes a
tenth longer. It knows nothing of what a recall is.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from functools import partial

from recalld.records import FactId
from recalld.store.writers import Writers, Writes

_EVERY_S = 1.0


class RecallCounts:
    """Counts what is recalled. `add` may be called from any thread."""

    def __init__(self, writes: Writes, *, every_s: float = _EVERY_S) -> None:
        """`every_s` is how long the first of what is gathered waits for others."""
        self._writes = writes
        self._every_s = every_s
        self._lock = threading.Lock()
        self._waiting: list[tuple[tuple[FactId, ...], int]] = []
        self._has_some = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="recall-counts")

    def start(self) -> None:
        """Starts the thread; `stop` joins it."""
        self._thread.start()

    def add(self, facts: Sequence[FactId]) -> None:
        """A recall returned these facts, now."""
        if facts:
            with self._lock:
                self._waiting.append((tuple(facts), int(time.time() * 1000)))
                self._has_some.set()

    def stop(self) -> None:
        """Hands over what waits, then joins the thread. The writer must still take work."""
        self._stopping.set()
        self._has_some.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._has_some.wait()
            self._stopping.wait(self._every_s)
            with self._lock:
                gathered, self._waiting = self._waiting, []
                self._has_some.clear()
            if gathered:
                self._writes.post(partial(_write, gathered))


def _write(gathered: Sequence[tuple[tuple[FactId, ...], int]], writers: Writers) -> None:
    for facts, now_ms in gathered:
        writers.usage.recalled(facts, now_ms)
