"""The one thread that writes. It owns the only writing connection; everybody else hands it work."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import structlog

from recalld.errors import RecalldError, Stopping
from recalld.store.connection import Database
from recalld.store.writers import Writers

T = TypeVar("T")

_log = structlog.get_logger("writer")


class WriterThread:
    """Runs work on the writing connection, one piece after the other, in order."""

    def __init__(self, database: Database) -> None:
        """Starts the thread; `stop` joins it."""
        self._writers = Writers.over(database.writer)
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="writer")
        self._stopping = threading.Event()

    def call(self, work: Callable[[Writers], T]) -> T:
        """Runs `work` on the writer's thread and waits for it.

        Raises:
            Stopping: the daemon is on its way out.
        """
        return self._submit(work).result()

    def post(self, work: Callable[[Writers], object]) -> None:
        """Queues `work` without waiting. When the daemon is stopping it is dropped."""
        try:
            self._submit(work).add_done_callback(_log_failure)
        except Stopping:
            _log.debug("write.dropped", reason="stopping")

    def _submit(self, work: Callable[[Writers], T]) -> Future[T]:
        if self._stopping.is_set():
            raise Stopping("the daemon is stopping")
        try:
            return self._pool.submit(work, self._writers)
        except RuntimeError as error:
            raise Stopping("the daemon is stopping") from error

    def stop(self) -> None:
        """Finishes what is queued, then joins the thread."""
        self._stopping.set()
        self._pool.shutdown(wait=True)


def _log_failure(future: Future[object]) -> None:
    error = future.exception()
    if isinstance(error, RecalldError):
        _log.warning("write.failed", reason=error.message, hint=error.hint)
    elif error is not None:
        _log.error("write.failed", exc_info=error)
