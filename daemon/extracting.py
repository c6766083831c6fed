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
from ingest.deep.extraction import DeepStage, extractor_of
from recalld.errors import ModelError, RecalldError, Stopping
from recalld.models.breaker import Breaker, failed, succeeded, wait_s
from recalld.models.chat import ChatModel, ModelHealth

_log = structlog.get_logger("extract")

# A model that was fine is looked at again after so long; one that was not, when the breaker lets us.
_LOOK_EVERY_S = 60.0
_STOP_S = 1.5
_YIELD_S = 0.2
# Notes that are written without an end must not keep the model waiting for ever.
_LONGEST_YIELD_S = 30.0
# A call that takes longer hangs, or may as well.
_SLOW_S = 60.0
# Nothing comes of asking a model whose server says that it is not there.
_NOT_ASKED = ("missing",)


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
        """`give_way` says whether words or vectors wait; `on_written` is called after blocks were written."""
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
        # Whose blocks are in the queue: what others read has been put there.
        self._queued_for: str | None = None
        # Instant at which the turn at hand began, and since when it gives way.
        self._begun: float | None = None
        self._yielding_since: float | None = None
        # Wall-clock instant before which no block's turn comes, unless there are new ones.
        self._not_before = 0.0
        self._thread = threading.Thread(target=self._run, name="extract")
        self._health = ModelHealth(state="loading", hint=None, name="", digest=None)
        self.report = StageReport()

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def stop(self, deadline_s: float = _STOP_S) -> bool:
        """Cuts the call in flight and joins the thread. False when that takes longer than the deadline."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._model.close()
        if self._thread.ident is not None:
            self._thread.join(deadline_s)
        return not self._thread.is_alive()

    def wake(self) -> None:
        """There may be blocks to extract."""
        with self._changed:
            self._work, self._idle, self._not_before = True, False, 0.0
            self._changed.notify_all()

    def retry(self, *, only_parked: bool) -> int:
        """Gives parked blocks their turn again, and unless `only_parked` those that another model or prompt read.

        Returns how many blocks are queued anew; those of another model only count while this one is there.
        """
        queued = self._stage.queue_parked()
        health = self.health
        if not only_parked and health.state == "ok":
            queued += self._stage.queue_others(extractor_of(health))
        with self._changed:
            # Somebody has mended something, perhaps.
            self._breaker, self._looked_at = Breaker(), None
        self._on_written()
        self.wake()
        return queued

    @property
    def health(self) -> ModelHealth:
        """How the model is doing, as far as is known without asking it now."""
        begun = self._begun
        health = self._health
        if health.state == "ok" and begun is not None and self._clock() - begun > _SLOW_S:
            hint = f"it has been at one chunk for {self._clock() - begun:.0f} s; a smaller model is quicker"
            return ModelHealth(state="slow", hint=hint, name=health.name, digest=health.digest)
        return health

    @property
    def idle(self) -> bool:
        """Whether the model has nothing to do, or is not there to do it."""
        with self._changed:
            return self._idle or self._health.state not in ("ok", "loading")

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._stopping and (pause := self.pause_s()) > 0:
                    self._changed.wait(pause)
                if self._stopping:
                    return
            self.turn()

    def pause_s(self) -> float:
        """Seconds until the next turn, if nobody calls before; 0 = now."""
        now = self._clock()
        if (pause := wait_s(self._breaker, now)) > 0:
            return pause
        if not self._work:
            return max(0.0, (self._looked_at or now) + _LOOK_EVERY_S - now)
        if (pause := self._not_before - self._wall_clock()) > 0:
            return min(pause, _LOOK_EVERY_S)
        if not self._give_way():
            self._yielding_since = None
            return 0.0
        # Nobody calls when the way is free.
        self._yielding_since = self._yielding_since or now
        if now - self._yielding_since < _LONGEST_YIELD_S:
            return _YIELD_S
        self._yielding_since = None
        return 0.0

    def turn(self) -> None:
        """Looks after the model where that is due, then asks it for one chunk."""
        if not self._healthy():
            return
        with self._changed:
            # What is queued from here on is seen by a turn of its own.
            self._work, self._begun, self._not_before = False, self._clock(), 0.0
        try:
            more = self._extract()
        except Stopping:
            return
        except RecalldError as error:
            self._failed(error, error.message, error.hint)
        except Exception as error:  # noqa: BLE001 - the job loop: a fault in one block must not end the daemon
            _log.exception("extract.failed")
            self._failed(error, str(error), None)
        else:
            self._breaker = succeeded(self._breaker)
            self._settle(more)
        finally:
            self._begun = None

    def _settle(self, more: bool) -> None:
        """After a turn: on at once, or when the pause of a block that failed is over, or done."""
        next_try = None if more else self._stage.next_try_ms()
        with self._changed:
            if next_try is not None and not self._work:
                self._not_before = next_try / 1000
            if more or next_try is not None:
                self._work = True
            elif not self._work:
                self._idle = True

    def _healthy(self) -> bool:
        now = self._clock()
        is_known = self._looked_at is not None and now - self._looked_at < _LOOK_EVERY_S
        if self._health.state == "ok" and is_known:
            return True
        before = self._health.state
        health = self._model.health()
        # What the last call met stands until one succeeds, so one is made, as small as can be.
        if health.state not in ("ok", *_NOT_ASKED) and self._stage.answers():
            health = self._model.health()
        if self._stopping:
            return False
        self._health, self._looked_at = health, now
        if health.state != before:
            _log.info("model.looked_at", model=health.name, state=health.state, hint=health.hint)
            self._on_written()
        if health.state != "ok":
            self._breaker = failed(self._breaker, self._clock())
            return False
        self._breaker = succeeded(self._breaker)
        return True

    def _extract(self) -> bool:
        """One chunk. Whether there may be more."""
        extractor = extractor_of(self._health)
        if self._queued_for != extractor:
            if self._stage.queue_others(extractor):
                self._on_written()
            self._queued_for = extractor
        done = self._stage.step(extractor)
        if done.outcome == "nothing":
            return False
        if done.outcome == "failed":
            self.report.failed += 1
            self.report.reason = done.reason
            _log.warning("chunk.refused", count=done.blocks, reason=done.reason)
        else:
            self.report.last_ok = self._wall_clock()
            _log.debug("chunk.extracted", count=done.blocks, facts=done.facts, refused=done.refused)
        self._on_written()
        return True

    def _failed(self, error: Exception, reason: str, hint: str | None) -> None:
        """An outage, or a fault of our own: nothing was used up, it is tried again after a pause."""
        if self._stopping:
            return
        self._breaker = failed(self._breaker, self._clock())
        health = self._model.health()
        if isinstance(error, ModelError) and health.state == "ok":
            health = ModelHealth(
                state=error.state or "down", hint=hint or reason, name=health.name, digest=None
            )
        with self._changed:
            self._work = True
            self._health, self._looked_at = health, None
        self.report.failed += 1
        self.report.reason = reason
        _log.warning("model.unreachable", reason=reason, hint=hint, kind=type(error).__name__)
        self._on_written()
