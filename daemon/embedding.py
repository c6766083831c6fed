"""The thread of the second and third speed: vectors for new statements, then categories by prototype."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from daemon.loop import Loop, Pauses, StageReport, Turn
from ingest.embedding import Embedded
from ingest.refining import Refined
from recalld.errors import ModelError

# A batch takes about a second; a model that takes longer is not waited for.
_STOP_S = 1.5


class Embeds(Protocol):
    """Makes vectors batch by batch."""

    def step(self) -> Embedded:
        """Does a batch; nothing asked and nothing tidied when nothing waits."""
        ...


class Refines(Protocol):
    """Settles categories batch by batch."""

    def step(self) -> Refined:
        """Does a batch; nothing settled when nothing waits."""
        ...


class EmbedLoop(Loop):
    """Works off what waits for vectors, then what waits for a category."""

    def __init__(
        self,
        *,
        embedding: Embeds,
        refining: Refines,
        give_way: Callable[[], bool],
        on_written: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
        pauses: Pauses = Pauses(),  # noqa: B008 - frozen
    ) -> None:
        """`give_way` as Loop; `on_written` is called after vectors or categories were written."""
        super().__init__(
            "embed", give_way=give_way, pauses=pauses, clock=clock, wall_clock=wall_clock
        )
        self._embedding = embedding
        self._refining = refining
        self._on_written = on_written
        self.refine = StageReport()
        self.problem: ModelError | None = None

    def stop(self, deadline_s: float | None = _STOP_S) -> bool:
        """See Loop."""
        return super().stop(deadline_s)

    def _turn(self) -> Turn:
        """One batch."""
        done = self._embedding.step()
        if done.asked:
            self.report.last_ok = self._wall_clock()
            self.report.failed += done.refused
        settled = 0 if done.asked else self._refining.step().settled
        if settled:
            self.refine.last_ok = self._wall_clock()
        is_busy = bool(done.asked or done.tidied or settled)
        if is_busy:
            self._on_written()
        self.problem = None
        return Turn(more=is_busy)

    def _on_failure(self, error: Exception, reason: str, hint: str | None) -> None:  # noqa: ARG002 - as Loop has it
        if isinstance(error, ModelError):
            self.problem = error
