"""The calls of one language model, one at a time, and how it is doing by what they met.

A server may list a model and still not answer: what the last call met stands until one succeeds. It must not know
any server; each client says how the server is asked.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from recalld.errors import ModelError, ModelState
from recalld.models.chat import ModelHealth

# What a failed call says of the model itself, and not of the text that was sent.
_STANDING: tuple[ModelState | None, ...] = ("slow", "busy", "down", "loading")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a server says of a model that it has."""

    # Of the weights; None when the server doesn't tell.
    digest: str | None
    # How to see that it is loaded, while it is not and a call waits for that.
    loading: str | None = None


class Calls:
    """One call at a time; a second one waits for the first. Safe from several threads."""

    def __init__(self, model: str) -> None:
        """`model` is the name in the settings."""
        self._model = model
        self._one_at_a_time = threading.Lock()
        self._last_error: ModelError | None = None
        self._under_way = False

    @property
    def under_way(self) -> bool:
        """Whether a call waits for its answer."""
        return self._under_way

    @contextmanager
    def one(self) -> Iterator[None]:
        """Holds the model for the call inside, and keeps what it met."""
        with self._one_at_a_time:
            self._under_way = True
            try:
                yield
            except ModelError as error:
                self._last_error = error
                raise
            finally:
                self._under_way = False
            self._last_error = None

    def health(self, look: Callable[[], Seen]) -> ModelHealth:
        """How the model is doing; `look` asks the server, and raises what it meets. Never raises."""
        try:
            seen = look()
        except ModelError as error:
            return self._health(error.state or "down", error.hint or error.message, None)
        last = self._last_error
        if seen.loading:
            return self._health("loading", seen.loading, seen.digest)
        if last is not None and last.state is not None and last.state in _STANDING:
            return self._health(last.state, last.hint or last.message, seen.digest)
        return self._health("ok", None, seen.digest)

    def _health(self, state: ModelState, hint: str | None, digest: str | None) -> ModelHealth:
        return ModelHealth(state=state, hint=hint, name=self._model, digest=digest)
