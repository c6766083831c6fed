"""The thread that has facts compared with what is known, whenever facts were written. It waits for no model."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from daemon.loop import Loop, Pauses, Turn

# A rest after each batch as long as the batch, at most so long: what is asked meanwhile comes first.
_LONGEST_REST_S = 0.2


class Stage(Protocol):
    """What is done batch by batch."""

    def step(self) -> int:
        """Does a batch; 0 when nothing waits."""
        ...


class AgreeLoop(Loop):
    """Works off the facts that wait to be compared."""

    def __init__(
        self,
        stage: Stage,
        *,
        give_way: Callable[[], bool],
        on_written: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
        pauses: Pauses = Pauses(),  # noqa: B008 - frozen
    ) -> None:
        """`give_way` as Loop; `on_written` is called after a batch."""
        super().__init__(
            "agree", give_way=give_way, pauses=pauses, clock=clock, wall_clock=wall_clock
        )
        self._stage = stage
        self._on_written = on_written

    def _turn(self) -> Turn:
        begun = self._clock()
        done = self._stage.step()
        if not done:
            return Turn(more=False)
        self.report.last_ok = self._wall_clock()
        self._on_written()
        return Turn(more=True, rest_s=min(self._clock() - begun, _LONGEST_REST_S))
