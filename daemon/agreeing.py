"""The thread that has facts compared with what is known, whenever facts were written.

It gives way while many notes wait for their words, and waits for no model. What fails is tried again, later and later.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol

import structlog

from daemon.ingesting import StageReport
from recalld.errors import RecalldError, Stopping

_log = structlog.get_logger("agree")

_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0
# Between two looks whether the way is free.
_LOOK_S = 0.05
# A rest after each batch as long as the batch, at most so long: what is asked meanwhile comes first.
_LONGEST_REST_S = 0.2


class Stage(Protocol):
    """What is done batch by batch."""

    def step(self) -> int:
        """Does a batch; 0 when nothing waits."""
        ...


class AgreeLoop:
    """One thread that works off the facts that wait to be compared."""

    def __init__(
        self,
        stage: Stage,
        *,
        give_way: Callable[[], bool],
        on_written: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
        first_pause_s: float = _FIRST_PAUSE_S,
    ) -> None:
        """`give_way` says whether something more urgent is going on; `on_written` is called after a batch."""
        self._stage = stage
        self._give_way = give_way
        self._on_written = on_written
        self._clock = clock
        self._wall_clock = wall_clock
        self._first_pause_s = first_pause_s
        self._pause_s = first_pause_s
        self._changed = threading.Condition()
        self._work = True
        self._idle = False
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="agree")
        self.report = StageReport()

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Finishes the batch at hand and joins the thread."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread.ident is not None:
            self._thread.join()

    def wake(self) -> None:
        """There may be something to compare."""
        with self._changed:
            self._work, self._idle = True, False
            self._changed.notify_all()

    @property
    def idle(self) -> bool:
        """Whether nothing waits to be compared."""
        with self._changed:
            return self._idle

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._stopping and (not self._work or self._give_way()):
                    # While it gives way nobody calls when the way is free again.
                    self._changed.wait(_LOOK_S if self._work else None)
                if self._stopping:
                    return
                self._work = False
            begun = self._clock()
            done = self._step()
            rest_s = self._rest_s(done, self._clock() - begun)
            with self._changed:
                self._work = self._work or done != 0
                self._idle = not self._work
                if rest_s:
                    self._changed.wait_for(lambda: self._stopping, rest_s)

    def _rest_s(self, done: int | None, took_s: float) -> float:
        if done is None:
            pause_s, self._pause_s = self._pause_s, min(self._pause_s * 2, _LONGEST_PAUSE_S)
            return pause_s
        self._pause_s = self._first_pause_s
        return min(took_s, _LONGEST_REST_S) if done else 0.0

    def _step(self) -> int | None:
        """One batch: how many facts, or None when it failed."""
        try:
            done = self._stage.step()
        except Stopping:
            return 0
        except RecalldError as error:
            _log.warning("agree.failed", reason=error.message, hint=error.hint)
            self._failed(error)
            return None
        except Exception as error:  # noqa: BLE001 - the job loop: a fault in one batch must not end the daemon
            _log.exception("agree.failed")
            self._failed(error)
            return None
        if done:
            self.report.last_ok = self._wall_clock()
            self._on_written()
        return done

    def _failed(self, error: Exception) -> None:
        self.report.failed += 1
        self.report.reason = str(error)
