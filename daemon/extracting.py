"""The thread of the deep tier: asks the language model for facts while it can, and waits, longer and longer, while not.

An outage stops nothing else and loses nothing: the queue is in the store. The loop tells what the model is doing, in
the words of `status`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import structlog

from daemon.ingesting import StageReport
from ingest.deep import DeepStage, extractor_of
from recalld.errors import ModelError, RecalldError, Stopping
from recalld.models.breaker import Breaker, asked, failed, succeeded, wait_s
from recalld.models.chat import ChatModel, ModelHealth

_log = structlog.get_logger("extract")

# A model that was fine is looked at again after so long; one that is not, when the breaker lets us.
_LOOK_EVERY_S = 60.0
_STOP_S = 1.5
_YIELD_S = 0.2


class ExtractLoop:
    """One thread that works off the blocks that wait for a model."""

    def __init__(
        self,
        *,
        stage: DeepStage,
        model: ChatModel,
        give_way: Callable[[], bool],
        on_written: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """`give_way` says whether words or vectors wait; `on_written` is called after facts were written."""
        self._stage = stage
        self._model = model
        self._give_way = give_way
        self._on_written = on_written
        self._clock = clock
        self._wall_clock = wall_clock
        self._changed = threading.Condition()
        self._stopping = False
        self._work = True
        self._idle = False
        self._breaker = Breaker()
        self._looked_at: float | None = None
        self._queued_for: str | None = None
        self._retry_parked = False
        self._thread = threading.Thread(target=self._run, name="extract")
        self.health = ModelHealth(state="loading", hint=None, name="", digest=None)
        self.report = StageReport()

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Cuts the call in flight and joins the thread."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._model.close()
        if self._thread.ident is not None:
            self._thread.join(_STOP_S)

    def wake(self) -> None:
        """There may be blocks to extract."""
        with self._changed:
            self._work, self._idle = True, False
            self._queued_for = None
            self._changed.notify_all()

    def retry_parked(self) -> None:
        """Gives parked blocks, and those of another model, their turn again."""
        with self._changed:
            self._retry_parked = True
        self.wake()

    @property
    def idle(self) -> bool:
        """Whether the model has nothing to do, or is not there to do it."""
        with self._changed:
            return self._idle or self.health.state not in ("ok", "loading")

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._stopping and self._must_wait():
                    # Nobody calls when a pause is over or the way is free.
                    self._changed.wait(self._pause() if self._work else None)
                if self._stopping:
                    return
            self._turn()

    def _must_wait(self) -> bool:
        return not self._work or self._give_way() or wait_s(self._breaker, self._clock()) > 0

    def _pause(self) -> float:
        return max(wait_s(self._breaker, self._clock()), _YIELD_S)

    def _turn(self) -> None:
        """Looks after the model where that is due, then asks it once."""
        may, self._breaker = asked(self._breaker, self._clock())
        if not may or not self._healthy():
            return
        try:
            more = self._extract()
        except Stopping:
            return
        except ModelError as error:
            self._failed(error, error.message, error.hint)
        except RecalldError as error:
            self._failed(error, error.message, error.hint)
        except Exception as error:  # noqa: BLE001 - the job loop: a fault in one block must not end the daemon
            _log.exception("extract.failed")
            self._failed(error, str(error), None)
        else:
            self._breaker = succeeded(self._breaker)
            with self._changed:
                if not more:
                    self._work, self._idle = False, True

    def _healthy(self) -> bool:
        now = self._clock()
        is_known = self._looked_at is not None and now - self._looked_at < _LOOK_EVERY_S
        if self.health.state == "ok" and is_known:
            return True
        before = self.health.state
        self.health = self._model.health()
        self._looked_at = now
        if self.health.state != before:
            _log.info("model.looked_at", model=self.health.name, state=self.health.state)
        if self.health.state != "ok":
            self._breaker = failed(self._breaker, now)
            return False
        return True

    def _extract(self) -> bool:
        """One chunk. Whether there may be more."""
        extractor = extractor_of(self.health)
        if self._queued_for != extractor or self._retry_parked:
            with self._changed:
                self._queued_for, self._retry_parked = extractor, False
            self._stage.queue(extractor)
        done = self._stage.step(extractor)
        if done.outcome in ("accepted", "cached"):
            self.report.last_ok = self._wall_clock()
            self._on_written()
        elif done.outcome == "failed":
            self.report.failed += 1
            self.report.reason = done.reason
        return done.outcome != "nothing"

    def _failed(self, error: Exception, reason: str, hint: str | None) -> None:
        self._breaker = failed(self._breaker, self._clock())
        self._looked_at = None
        self.report.failed += 1
        self.report.reason = reason
        _log.warning("model.unreachable", reason=reason, hint=hint, kind=type(error).__name__)
