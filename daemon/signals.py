"""Signals as messages that the main thread waits for.

It must not know what is done about them.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Self


class SignalInbox:
    """SIGTERM, SIGINT and SIGHUP as messages to the main thread; a second order to stop ends at once.

    SIGHUP asks for new settings, except when the terminal that we were started on has gone away:
    then it is an order to stop. Where it is ignored, as under nohup, it stays so.
    """

    def __init__(self) -> None:
        # Its `put` may interrupt its `get` in the same thread; an Event's `set` may not.
        self._queue: SimpleQueue[int] = SimpleQueue()
        self._before: dict[int, Callable[[int, FrameType | None], object] | int | None] = {}
        self._on_terminal = _has_terminal()
        self.stopping = False

    def __enter__(self) -> Self:
        numbers = [signal.SIGTERM, signal.SIGINT]
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
            numbers.append(signal.SIGHUP)
        for number in numbers:
            self._before[number] = signal.signal(number, self._take)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def wait(self, timeout_s: float | None) -> int | None:
        """The next signal, or None when none comes in time; without a time-out it waits for one."""
        try:
            return self._queue.get(timeout=timeout_s)
        except Empty:
            return None

    def _take(self, number: int, _frame: FrameType | None) -> None:
        if number != signal.SIGHUP or (self._on_terminal and not _has_terminal()):
            if self.stopping:
                os._exit(128 + number)
            self.stopping = True
        self._queue.put(number)


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return False
    return True
