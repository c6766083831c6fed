"""Waiting on sockets in a way that a stop ends at once, for every thread alike.

It does not know what is read or written.
"""

from __future__ import annotations

import math
import os
import select
import socket
import threading
import time


class StopSignal:
    """Set once; every thread that waits on a socket waits on this beside it, and wakes at once."""

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()
        self._lock = threading.Lock()
        self._at = math.inf

    @property
    def at(self) -> float:
        """Monotonic time of the stop; infinity before it."""
        return self._at

    @property
    def is_set(self) -> bool:
        """Whether the server is on its way out."""
        return self._at < math.inf

    def set(self) -> None:
        """Wake all that wait; setting it again changes nothing."""
        with self._lock:
            if not self.is_set:
                self._at = time.monotonic()
                os.close(self._writing)  # the end of the pipe is what wakes, for all and for good

    def close(self) -> None:
        """Free the pipe, once no thread can wait on it any more."""
        self.set()
        os.close(self._reading)

    def wait_for(self, other: socket.socket, event: int, deadline: float) -> bool:
        """Whether `other` had `event` (of `select.poll`) before `deadline` and before the stop."""
        if self.is_set:
            return ready(other, event, 0.0)
        poll = select.poll()
        poll.register(other, event)
        poll.register(self._reading, select.POLLIN)
        events = poll.poll(_milliseconds(deadline))
        return any(descriptor != self._reading for descriptor, _ in events)

    def wait(self, deadline: float) -> None:
        """Return at `deadline`, or at the stop."""
        poll = select.poll()
        poll.register(self._reading, select.POLLIN)
        poll.poll(_milliseconds(deadline))


def ready(waited: socket.socket, event: int, timeout_s: float) -> bool:
    """Whether `waited` had `event` (of `select.poll`), or hung up, within `timeout_s`."""
    poll = select.poll()
    poll.register(waited, event)
    return bool(poll.poll(math.ceil(timeout_s * 1000)))


def _milliseconds(deadline: float) -> int | None:
    if deadline == math.inf:
        return None
    return max(math.ceil((deadline - time.monotonic()) * 1000), 0)
