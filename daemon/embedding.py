"""The thread of the second and third speed: vectors for new statements, then categories by prototype.

It sleeps until notes were written; it steps aside while many notes wait for their words. What fails is tried again,
later and later, whatever else wakes it meanwhile.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import structlog

from daemon.ingesting import StageReport
from ingest.embedding import EmbeddingStage
from ingest.refining import RefiningStage
from recalld.errors import ModelError, RecalldError, Stopping

_log = structlog.get_logger("embed")

_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0
# A batch takes about a second; a model that takes longer is not waited for.
_STOP_S = 1.5


class EmbedLoop:
    """One thread that works off what waits for vectors."""

    def __init__(
        self,
        *,
        embedding: EmbeddingStage,
        refining: RefiningStage,
        give_way: Callable[[], bool],
        on_written: Callable[[], None],
        wall_clock: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
        first_pause_s: float = _FIRST_PAUSE_S,
    ) -> None:
        """`give_way` says whether something more urgent is going on.

        `on_written` is called after vectors or categories were written.
        """
        self._embedding = embedding
        self._refining = refining
        self._give_way = give_way
        self._on_written = on_written
        self._wall_clock = wall_clock
        self._clock = clock
        self._changed = threading.Condition()
        self._work = True
        self._idle = False
        self._stopping = False
        self._first_pause_s = first_pause_s
        self._pause_s = first_pause_s
        # Whether the last step failed; it says nothing of what is left to do.
        self._failing = False
        # Instant at which the step at hand began; None between two.
        self._begun: float | None = None
        self._thread = threading.Thread(target=self._run, name="embed")
        self.embed = StageReport()
        self.refine = StageReport()
        self.problem: ModelError | None = None

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def stop(self, deadline_s: float = _STOP_S) -> bool:
        """Finishes the batch at hand and joins the thread.

        False when the model did not answer before the deadline: the thread ends when it does, its result is dropped.
        """
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread.ident is None:
            return True
        self._thread.join(deadline_s)
        if self._thread.is_alive():
            _log.warning("embed.stuck", reason="the embedding model did not answer")
        return not self._thread.is_alive()

    def wake(self) -> None:
        """There may be something to embed."""
        with self._changed:
            self._work, self._idle = True, False
            self._changed.notify_all()

    @property
    def idle(self) -> bool:
        """Whether nothing waits for a vector or a category."""
        with self._changed:
            return self._idle

    @property
    def step_age_s(self) -> float:
        """Seconds since the step at hand began; 0 between two. A model that hangs shows here."""
        with self._changed:
            return 0.0 if self._begun is None else self._clock() - self._begun

    def wait_until_idle(self, timeout_s: float) -> bool:
        """Waits until nothing waits. False when it takes longer."""
        with self._changed:
            return self._changed.wait_for(lambda: self._idle or self._stopping, timeout_s)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._stopping and (not self._work or self._give_way()):
                    # While it gives way nobody calls when the way is free again.
                    self._changed.wait(0.05 if self._work else None)
                if self._stopping:
                    return
                self._work = False
                self._begun = self._clock()
            more = self._step()
            with self._changed:
                self._begun = None
                self._work = self._work or more or self._failing
                if self._failing:
                    # A wake does not end the pause: notes are written all the time, the model stays broken.
                    self._changed.wait_for(lambda: self._stopping, self._pause_s)
                    self._pause_s = min(self._pause_s * 2, _LONGEST_PAUSE_S)
                elif not self._work:
                    self._idle = True
                    self._changed.notify_all()

    def _step(self) -> bool:
        """One batch. Whether there may be more."""
        try:
            done = self._embedding.step()
            if done.asked:
                self.embed.last_ok = self._wall_clock()
                self.embed.failed += done.refused
            settled = 0 if done.asked else self._refining.step().settled
            if done.asked or settled:
                self._on_written()
            if settled:
                self.refine.last_ok = self._wall_clock()
        except Stopping:
            return False
        except ModelError as error:
            _log.warning("model.unreachable", reason=error.message, hint=error.hint)
            self.problem = error
            self._failed(error)
            return False
        except RecalldError as error:
            _log.warning("embed.failed", reason=error.message, hint=error.hint)
            self._failed(error)
            return False
        except Exception as error:  # noqa: BLE001 - the job loop: a fault in one batch must not end the daemon
            _log.exception("embed.failed")
            self._failed(error)
            return False
        self.problem, self._failing, self._pause_s = None, False, self._first_pause_s
        return bool(done.asked or settled)

    def _failed(self, error: Exception) -> None:
        self._failing = True
        self.embed.failed += 1
        self.embed.reason = str(error)
