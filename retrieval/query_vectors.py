"""The vector of a query: remembered by text, and never waited for longer than an answer may take.

It knows the embedding model and nothing of the store. A model that fails, hangs or gives nonsense leaves the vector
leg out; keywords answer.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor, wait

import numpy as np
from numpy.typing import NDArray

from recalld.errors import ModelError
from recalld.models.embedder import Embedder

QueryVector = NDArray[np.float32]

_CACHED = 512
# A model's work grows with the square of a text's length, and models were trained on some hundred words.
_LONGEST = 1000
# A query takes some 10 ms, and longer while a batch of statements is under way.
_PATIENCE_S = 2.0
_THREADS = 2
_CLOSE_S = 0.5


class QueryVectors:
    """Query vectors, remembered by text. Calls are safe from several threads."""

    def __init__(self, embedder: Embedder | None, *, patience_s: float = _PATIENCE_S) -> None:
        """Without an embedder there are no vectors; `patience_s` is how long a call waits for the model."""
        self._embedder = embedder
        self._patience_s = patience_s
        self._known: OrderedDict[str, QueryVector] = OrderedDict()
        self._pending: dict[str, Future[QueryVector | None]] = {}
        self._overdue: set[str] = set()
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="query-vector")

    def vector(self, text: str) -> QueryVector | None:
        """The unit vector of a query's first 1,000 characters; None when there is no usable one in time."""
        text = text[:_LONGEST]
        if self._embedder is None or not text.strip():
            return None
        with self._lock:
            known = self._known.get(text)
            if known is not None:
                self._known.move_to_end(text)
                return known
            if text in self._overdue or len(self._overdue) >= _THREADS:
                return None
            future = self._pending.get(text) or self._ask(self._embedder, text)
        if future is None:
            return None
        _, late = wait([future], self._patience_s)
        if not late:
            return None if future.cancelled() else future.result()
        with self._lock:
            if text in self._pending:
                self._overdue.add(text)
        return None

    def _ask(self, embedder: Embedder, text: str) -> Future[QueryVector | None] | None:
        """Has the model asked on another thread; the caller holds the lock."""
        try:
            future = self._pool.submit(self._embed, embedder, text)
        except RuntimeError:  # closed
            return None
        self._pending[text] = future
        return future

    def _embed(self, embedder: Embedder, text: str) -> QueryVector | None:
        made: QueryVector | None = None
        try:
            made = embedder.embed_query(text)
        except ModelError:
            return None
        finally:
            usable = (
                made is not None
                and np.shape(made) == (embedder.space.dimension,)
                and bool(np.isfinite(made).all() and made.any())
            )
            with self._lock:
                self._pending.pop(text, None)
                self._overdue.discard(text)
                if usable and made is not None:
                    self._known[text] = made
                    while len(self._known) > _CACHED:
                        self._known.popitem(last=False)
        return made if usable else None

    def close(self, deadline_s: float = _CLOSE_S) -> bool:
        """Ends the threads. False when the model does not answer in time: they end when it does."""
        with self._lock:
            pending = list(self._pending.values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        _, late = wait(pending, deadline_s)
        if not late:
            self._pool.shutdown(wait=True)
        return not late
