"""The thread of the deep tier: asks the language model for facts while it can, and waits, longer and longer, while not.

When no block waits, it asks the model about pairs of facts of which rules can't tell how they stand to each other. An
outage stops nothing else and loses nothing: the queues are in the store. The loop tells what the model is doing, in
the words of `status`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from daemon.loop import Loop, Pauses, StageReport, Turn
from ingest.agreement.judging import JudgingStage, judge_of
from ingest.deep.extraction import DeepStage, extractor_of
from recalld.errors import ModelError
from recalld.models.breaker import wait_s
from recalld.models.chat import ChatModel, ModelHealth

# A model that was fine is looked at again after so long; one that was not, when the pause after it is over.
_LOOK_EVERY_S = 60.0
_STOP_S = 1.5
# Notes that are written without an end must not keep the model waiting for ever.
_PAUSES = Pauses(longest_s=300.0, yield_s=0.2, longest_yield_s=30.0, idle_s=_LOOK_EVERY_S)
# A call that takes longer hangs, or may as well.
_SLOW_S = 60.0
# Nothing comes of asking a model whose server says that it is not there.
_NOT_ASKED = ("missing",)
# Of a server on this machine that was not there it is asked so often whether it has been started.
PROBE_EVERY_S = 30.0
_ABSENT = ("off", "down", "missing")
# Whoever asks for the status waits so long for a new look, and no look is newer than one of so long ago.
_STATUS_WAITS_S = 0.3
_FRESH_S = 2.0


class ExtractLoop(Loop):
    """Works off the blocks that wait for a model."""

    def __init__(
        self,
        *,
        stage: DeepStage,
        model: ChatModel,
        give_way: Callable[[], bool],
        on_written: Callable[[], None],
        judging: JudgingStage | None = None,
        probe_every_s: float | None = PROBE_EVERY_S,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """`give_way` as Loop; `on_written` is called after blocks or answers were written.

        A model that is not there is looked for every `probe_every_s` however long it has been away; None: ever less
        often, as a server elsewhere is spared.
        """
        super().__init__(
            "extract", give_way=give_way, pauses=_PAUSES, clock=clock, wall_clock=wall_clock
        )
        self._stage = stage
        self._judging = judging
        self._model = model
        self._on_written = on_written
        self.verdicts = StageReport()
        self._looked_at: float | None = None
        self._probe_every_s = probe_every_s
        # Somebody wants to know how it is now.
        self._is_wanted = False
        # Whose blocks are in the queue: what others read has been put there.
        self._queued_for: str | None = None
        self._health = ModelHealth(state="loading", hint=None, name="", digest=None)

    def stop(self, deadline_s: float | None = _STOP_S) -> bool:
        """See Loop; the call in flight is cut."""
        return super().stop(deadline_s)

    def retry(self, *, only_parked: bool) -> int:
        """Gives parked blocks their turn again, and unless `only_parked` those that another model or prompt read.

        Returns how many blocks are queued anew; those of another model only count while this one is there.
        """
        queued = self._stage.queue_parked()
        if self._judging is not None:
            self._judging.queue_failed()
        health = self.health
        if not only_parked and health.state == "ok":
            queued += self._stage.queue_others(extractor_of(health))
        with self._changed:
            self._looked_at = None
        self._on_written()
        self.hurry()
        return queued

    def pause_s(self) -> float | None:
        """See Loop; a model that is not there is looked for in the middle of a pause."""
        pause = super().pause_s()
        if not self._may_probe() or self._looked_at is None:
            return pause
        due = 0.0 if self._is_wanted else self._looked_at + (self._probe_every_s or 0.0)
        wait = max(0.0, due - self._clock())
        return wait if pause is None else min(pause, wait)

    def look_now(self) -> None:
        """Has a model that was not there looked for again, and waits a moment for what comes of it."""
        with self._changed:
            before = self._looked_at
            is_fresh = before is None or self._clock() - before < _FRESH_S
            if is_fresh or self._begun is not None or not self._may_probe():
                return
            self._is_wanted = True
            self._changed.notify_all()
            self._changed.wait_for(
                lambda: self._looked_at != before or self._stopping, _STATUS_WAITS_S
            )

    def _may_probe(self) -> bool:
        return self._probe_every_s is not None and self._health.state in _ABSENT

    @property
    def health(self) -> ModelHealth:
        """How the model is doing, as far as is known without asking it now."""
        health, age_s = self._health, self.step_age_s
        if health.state == "ok" and age_s > _SLOW_S:
            hint = f"it has been at one chunk for {age_s:.0f} s; a smaller model is quicker"
            return ModelHealth(state="slow", hint=hint, name=health.name, digest=health.digest)
        return health

    @property
    def idle(self) -> bool:
        """Whether the model has nothing to do, or is not there to do it."""
        with self._changed:
            return self._idle or self._health.state not in ("ok", "loading")

    def _turn(self) -> Turn:
        """Looks after the model where that is due, then asks it for one chunk."""
        if not self._healthy():
            return Turn(more=True, is_outage=True)
        if self._extract() or self._judge():
            return Turn(more=True)
        # On again when the pause of a block that failed is over.
        next_try = self._stage.next_try_ms()
        return Turn(more=False, not_before=None if next_try is None else next_try / 1000)

    def _healthy(self) -> bool:
        now = self._clock()
        is_known = self._looked_at is not None and now - self._looked_at < _LOOK_EVERY_S
        if self._health.state == "ok" and is_known:
            return True
        before, is_probe = self._health.state, wait_s(self._breaker, now) > 0
        health = self._model.health()
        # What the last call met stands until one succeeds, so one is made, as small as can be, when its pause is over.
        if health.state not in ("ok", *_NOT_ASKED) and not is_probe and self._stage.answers():
            health = self._model.health()
        if health.state == "ok" and self._stage.trial.is_in_doubt:
            # A look in the middle of a pause asks it nothing.
            health = self._health if is_probe else self._tried(health)
        if self._stopping:
            return False
        with self._changed:
            self._health, self._looked_at, self._is_wanted = health, now, False
            self._changed.notify_all()
        if health.state != before:
            self._log.info(
                "model.looked_at", model=health.name, state=health.state, hint=health.hint
            )
            self._on_written()
        return health.state == "ok"

    def _tried(self, health: ModelHealth) -> ModelHealth:
        """How a model is doing whose answers were of no use: it is tried out."""
        try:
            self._stage.trial.hold()
        except ModelError as error:
            return replace(
                health, state=error.state or "down", hint=error.hint or error.message, digest=None
            )
        return health

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
            self.report.count_failure(done.reason or "")
            self._log.warning("chunk.refused", count=done.blocks, reason=done.reason)
            if done.said:
                self._log.debug("server.quoted", said=done.said)
        else:
            self.report.last_ok = self._wall_clock()
            self._log.debug(
                "chunk.extracted", count=done.blocks, facts=done.facts, refused=done.refused
            )
        self._on_written()
        return True

    def _judge(self) -> bool:
        """A question about one fact. Whether there may be more."""
        if self._judging is None:
            return False
        done = self._judging.step(judge_of(self._health))
        if done.outcome == "nothing":
            return False
        if done.failed:
            self.verdicts.count_failure(f"no usable answer about {done.failed} of {done.pairs}")
            self._log.warning("pairs.refused", count=done.failed, reason="no usable answer")
        elif done.outcome == "asked":
            self.verdicts.last_ok = self._wall_clock()
            self._log.debug("pairs.judged", count=done.pairs, refused=done.refused)
        self._on_written()
        return True

    def _on_failure(self, error: Exception, reason: str, hint: str | None) -> None:
        """An outage, or a fault of our own: nothing was used up."""
        health = self._model.health()
        if isinstance(error, ModelError) and health.state == "ok":
            health = ModelHealth(
                state=error.state or "down", hint=hint or reason, name=health.name, digest=None
            )
        with self._changed:
            self._health, self._looked_at = health, None
        self._on_written()

    def _cut(self) -> None:
        self._model.close()
