"""The thread of the second and third speed: vectors for new statements, then categories by prototype.

It sleeps until notes were written; it steps aside while many notes wait for their words.
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


class EmbedLoop:
    """One thread that works off what waits for vectors."""

    def __init__(
        self,
        *,
        embedding: EmbeddingStage,
        refining: RefiningStage,
        give_way: Callable[[], bool],
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """`give_way` says whether something more urgent is going on."""
        self._embedding = embedding
        self._refining = refining
        self._give_way = give_way
        self._wall_clock = wall_clock
        self._changed = threading.Condition()
        self._work = True
        self._idle = False
        self._stopping = False
        self._pause_s = _FIRST_PAUSE_S
        self._thread = threading.Thread(target=self._run, name="embed")
        self.embed = StageReport()
        self.refine = StageReport()
        self.problem: ModelError | None = None

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
        """There may be something to embed."""
        with self._changed:
            self._work, self._idle = True, False
            self._changed.notify_all()

    @property
    def idle(self) -> bool:
        """Whether nothing waits for a vector or a category."""
        with self._changed:
            return self._idle

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
            if self._step():
                with self._changed:
                    self._work = True
            else:
                self._rest()

    def _rest(self) -> None:
        """Nothing was left: idle, unless something came meanwhile or the model failed."""
        with self._changed:
            if self.problem is None:
                self._idle = not self._work
                self._changed.notify_all()
                return
            self._changed.wait(self._pause_s)
            self._pause_s = min(self._pause_s * 2, _LONGEST_PAUSE_S)
            self._work = True

    def _step(self) -> bool:
        """One batch. Whether there may be more."""
        try:
            done = self._embedding.step()
            if done.asked:
                self.embed.last_ok = self._wall_clock()
                self.embed.failed += done.refused
            settled = 0 if done.asked else self._refining.step().settled
            if settled:
                self.refine.last_ok = self._wall_clock()
        except Stopping:
            return False
        except ModelError as error:
            _log.warning("model.unreachable", reason=error.message, hint=error.hint)
            self._failed(error)
            self.problem = error
            return False
        except RecalldError as error:
            _log.warning("embed.failed", reason=error.message, hint=error.hint)
            self._failed(error)
            return False
        except Exception as error:  # noqa: BLE001 - the job loop: a fault in one batch must not end the daemon
            _log.exception("embed.failed")
            self._failed(error)
            return False
        self.problem, self._pause_s = None, _FIRST_PAUSE_S
        return bool(done.asked or settled)

    def _failed(self, error: Exception) -> None:
        self.embed.failed += 1
        self.embed.reason = str(error)
