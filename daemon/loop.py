"""The frame of a thread that works off a queue in the store, a turn at a time.

It is woken when there may be work, steps aside for what is more urgent, and pauses longer and longer while turns
fail. It must not know what is worked off: each thread says what a turn of its own is.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from recalld.errors import ModelError, RecalldError, Stopping
from recalld.models.breaker import Breaker, failed, succeeded, wait_s


@dataclass(slots=True)
class StageReport:
    """When a stage last succeeded (seconds since 1970), how often it failed, and why last."""

    last_ok: float | None = None
    failed: int = 0
    reason: str | None = None

    def count_failure(self, reason: str) -> None:
        """One more failure, and why."""
        self.failed += 1
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a turn came to."""

    # Whether there may be more to do at once.
    more: bool
    # Nothing could be done: the work is left, and the pauses grow.
    is_outage: bool = False
    # Instant (seconds since 1970) before which there is nothing to do, unless somebody wakes the thread.
    not_before: float | None = None
    # Seconds until the next turn, whoever wakes the thread.
    rest_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pauses:
    """How long a thread waits, in seconds."""

    # After a failed turn, doubled with each further one up to the longest.
    first_s: float = 1.0
    longest_s: float = 60.0
    # Between two looks whether the way is free; nobody calls when it is.
    yield_s: float = 0.05
    # What is more urgent and never ends is given way to for so long; None: for ever.
    longest_yield_s: float | None = None
    # A turn is taken so often even where nobody wakes the thread; None: never.
    idle_s: float | None = None


class Loop(ABC):
    """One thread. Everything public may be called from any thread; `turn` and `pause_s` are what it does by itself."""

    def __init__(
        self,
        name: str,
        *,
        give_way: Callable[[], bool],
        pauses: Pauses,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """`name` is the thread's and the log's; `give_way` says whether something more urgent is going on."""
        self._name = name
        self._log = structlog.get_logger(name)
        self._give_way = give_way
        self._pauses = pauses
        self._clock = clock
        self._wall_clock = wall_clock
        self._changed = threading.Condition()
        self._stopping = False
        self._work = True
        self._idle = False
        self._breaker = Breaker(first_s=pauses.first_s, longest_s=pauses.longest_s)
        # Instant at which the turn at hand began; None between two.
        self._begun: float | None = None
        self._ended = clock()
        self._rest_until = self._ended
        self._not_before: float | None = None
        self._yielding_since: float | None = None
        self._thread = threading.Thread(target=self._run, name=name)
        self.report = StageReport()

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def stop(self, deadline_s: float | None = None) -> bool:
        """Finishes the turn at hand and joins the thread.

        False when that takes longer than the deadline: the thread ends when its turn does, whose result is dropped.
        """
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._cut()
        if self._thread.ident is None:
            return True
        self._thread.join(deadline_s)
        if self._thread.is_alive():
            self._log.warning("turn.stuck", reason="what was asked did not answer in time")
        return not self._thread.is_alive()

    def wake(self) -> None:
        """There may be something to do."""
        with self._changed:
            self._work, self._idle, self._not_before = True, False, None
            self._changed.notify_all()

    def hurry(self) -> None:
        """Somebody has mended something, perhaps: ends the pause after failures, and wakes the thread."""
        with self._changed:
            self._breaker = succeeded(self._breaker)
            self.wake()

    @property
    def idle(self) -> bool:
        """Whether nothing is left to do."""
        with self._changed:
            return self._idle

    @property
    def step_age_s(self) -> float:
        """Seconds since the turn at hand began; 0 between two. A model that hangs shows here."""
        with self._changed:
            return 0.0 if self._begun is None else self._clock() - self._begun

    def pause_s(self) -> float | None:
        """Seconds until the next turn, if nobody calls before; 0 = now, None = until somebody calls."""
        now = self._clock()
        if (pause := max(wait_s(self._breaker, now), self._rest_until - now)) > 0:
            return pause
        if not self._work:
            idle_s = self._pauses.idle_s
            return None if idle_s is None else max(0.0, self._ended + idle_s - now)
        if self._not_before is not None and (pause := self._not_before - self._wall_clock()) > 0:
            return min(pause, self._pauses.idle_s or pause)
        return self._yield_s(now)

    def _yield_s(self, now: float) -> float:
        longest = self._pauses.longest_yield_s
        if self._give_way():
            self._yielding_since = now if self._yielding_since is None else self._yielding_since
            if longest is None or now - self._yielding_since < longest:
                return self._pauses.yield_s
        self._yielding_since = None
        return 0.0

    def turn(self) -> None:
        """Takes one turn; what fails is told and tried again after a pause."""
        with self._changed:
            # What comes from here on is seen by a turn of its own.
            self._work, self._not_before, self._begun = False, None, self._clock()
        try:
            turn = self._turn()
        except Stopping:
            turn = Turn(more=False)
        except RecalldError as error:
            turn = self._failed(error, error.message, error.hint)
        except Exception as error:  # noqa: BLE001 - the job loop: a fault in one turn must not end the daemon
            self._log.exception("turn.failed")
            turn = self._failed(error, str(error), None)
        with self._changed:
            self._settle(turn)
            self._changed.notify_all()

    @abstractmethod
    def _turn(self) -> Turn:
        """One turn, on the loop's thread; its errors are told by `turn`."""

    def _on_failure(self, error: Exception, reason: str, hint: str | None) -> None:  # noqa: B027 - may be left so
        """What a thread of its own kind notes of a failed turn."""

    def _cut(self) -> None:  # noqa: B027 - may be left so
        """Called when the thread is to stop, before it is waited for: cuts what it may be waiting for."""

    def _failed(self, error: Exception, reason: str, hint: str | None) -> Turn:
        if self._stopping:
            return Turn(more=False)
        if isinstance(error, RecalldError):
            event = "model.unreachable" if isinstance(error, ModelError) else "turn.failed"
            self._log.warning(event, reason=reason, hint=hint)
        self.report.count_failure(reason)
        self._on_failure(error, reason, hint)
        return Turn(more=True, is_outage=True)

    def _settle(self, turn: Turn) -> None:
        """What follows from a turn; the caller holds the lock."""
        self._begun, self._ended = None, self._clock()
        if turn.is_outage:
            # A look in the middle of a pause puts off nothing: the pause must end some time.
            if wait_s(self._breaker, self._ended) == 0:
                self._breaker = failed(self._breaker, self._ended)
        else:
            self._breaker = succeeded(self._breaker)
        self._rest_until = self._ended + turn.rest_s
        if not self._work:
            self._not_before = None if turn.more else turn.not_before
        self._work = self._work or turn.more or turn.not_before is not None
        self._idle = not self._work

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._stopping and (pause := self.pause_s()) != 0:
                    self._changed.wait(pause)
                if self._stopping:
                    return
            self.turn()
