"""One language model for two kinds of callers: work that can wait, and a person who does.

Extraction asks for hours; an answer is waited for. Whoever comes first in line gets the model at once: the call of
patient work is cut, and made again by itself when the way is free. It must not know what is asked, or any server.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from recalld.errors import TransientModelError
from recalld.models.chat import ChatModel, ChatReply, ChatRequest, ModelHealth

# A patient call that was cut so often is left to end: work that never ends would be done for nothing.
MOST_CUTS = 3
# A cut may meet a call before it has a connection, so it is repeated until the call has ended.
_CUT_EVERY_S = 0.05


class SharedChat:
    """A model with a line before it. As a ChatModel it is patient; `complete_first` goes to the front."""

    def __init__(self, model: ChatModel) -> None:
        """Owns `model`: nobody else may call it."""
        self._model = model
        self._changed = threading.Condition()
        self._held = False
        # Of the patient call that holds the model: whether it may be cut, was cut, and how it ended.
        self._yields = False
        self._was_cut = False
        self._first_waiting = 0
        self._closed = False

    @property
    def prompt_budget_chars(self) -> int:
        """See ChatModel."""
        return self._model.prompt_budget_chars

    def complete(self, request: ChatRequest) -> ChatReply:
        """See ChatModel; it waits for those in front, and is made again when it was cut for one of them."""
        cuts = 0
        while True:
            self._wait_patiently(yields=cuts < MOST_CUTS)
            try:
                return self._model.complete(request)
            except TransientModelError:
                if not self._was_cut or self._closed:
                    raise
                cuts += 1
            finally:
                self._leave()

    def complete_first(self, request: ChatRequest, *, within_s: float) -> ChatReply:
        """The answer to a request that somebody waits for; before all patient work.

        Args:
            within_s: Seconds until the call is given up, the wait for the model included.

        Raises:
            PromptCut, TransientModelError, PermanentModelError: As `complete`; `busy` when the model was not
                free in time, `slow` when it had not answered in time.
        """
        end = time.monotonic() + within_s
        self._push_in(end)
        try:
            with self._cut_at(end) as late:
                try:
                    return self._model.complete(request)
                except TransientModelError as error:
                    if not late.is_set() or self._closed:
                        raise
                    raise TransientModelError(
                        f"the model had not answered after {within_s:.0f} s",
                        hint="`ollama ps` shows what runs; take a smaller model",
                        state="slow",
                    ) from error
        finally:
            self._leave()

    def health(self) -> ModelHealth:
        """See ChatModel."""
        return self._model.health()

    def cancel(self) -> None:
        """See ChatModel; the call that is cut is not made again."""
        with self._changed:
            self._was_cut = False
            self._model.cancel()

    def close(self) -> None:
        """See ChatModel; who waits in line is refused as well."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._model.close()

    def _wait_patiently(self, *, yields: bool) -> None:
        with self._changed:
            while (self._held or self._first_waiting) and not self._closed:
                self._changed.wait()
            self._hold(yields=yields)

    def _push_in(self, end: float) -> None:
        """Takes the model; cuts the patient call that has it."""
        with self._changed:
            self._first_waiting += 1
            try:
                while self._held and not self._closed:
                    left = end - time.monotonic()
                    if left <= 0:
                        raise TransientModelError(
                            "the model was not free in time",
                            hint="it answers one question at a time; ask again",
                            state="busy",
                        )
                    if self._yields:
                        # Under the lock, so that it meets this call and no later one.
                        self._was_cut = True
                        self._model.cancel()
                        left = min(left, _CUT_EVERY_S)
                    self._changed.wait(left)
                self._hold(yields=False)
            finally:
                self._first_waiting -= 1
                self._changed.notify_all()

    def _hold(self, *, yields: bool) -> None:
        if self._closed:
            raise TransientModelError("the model is closed", state="off")
        self._held, self._yields, self._was_cut = True, yields, False

    def _leave(self) -> None:
        with self._changed:
            self._held = self._yields = False
            self._changed.notify_all()

    @contextmanager
    def _cut_at(self, end: float) -> Iterator[threading.Event]:
        """Cuts the call within at `end`; the event tells whether it had to."""
        done, late = threading.Event(), threading.Event()

        def watch() -> None:
            if done.wait(max(end - time.monotonic(), 0)):
                return
            late.set()
            while not done.is_set():
                self._model.cancel()
                done.wait(_CUT_EVERY_S)

        watcher = threading.Thread(target=watch, name="answer-limit")
        watcher.start()
        try:
            yield late
        finally:
            done.set()
            # Joined before the model changes hands: a cut that comes late must not meet another's call.
            watcher.join()
