"""Stand-ins that several tests share: an embedding model that knows words, a language model that follows a script."""

from __future__ import annotations

import hashlib
import threading
from collections import deque
from collections.abc import Sequence

import numpy as np

from daemon.status import EmbeddingModel
from recalld.errors import ModelError, ModelState, TransientModelError
from recalld.models.chat import ChatReply, ChatRequest, ModelHealth
from recalld.models.embedder import EmbeddingSpace, Matrix, Vector
from recalld.settings.tables import Settings
from retrieval.text.words import tokens

DIMENSION = 128


class WordEmbedder:
    """A text's vector is the normalised sum of one fixed direction a word: ranking can be predicted.

    Words listed together in `synonyms` share a direction, so that meaning without common words can be tested.
    """

    def __init__(
        self,
        *,
        identity: str = "words@1",
        name: str = "words",
        dimension: int = DIMENSION,
        synonyms: Sequence[frozenset[str]] = (),
    ) -> None:
        self.space = EmbeddingSpace(
            identity=identity, name=name, dimension=dimension, tau=0.4, slope=12.0
        )
        self._meanings = {word: min(group) for group in synonyms for word in group}
        self._lock = threading.Lock()
        # Every statement that was embedded, in order; and every query.
        self.statements: list[str] = []
        self.queries: list[str] = []
        # What to raise instead of answering; tests set and clear it.
        self.failure: TransientModelError | None = None

    def embed_query(self, text: str) -> Vector:
        if self.failure:
            raise self.failure
        with self._lock:
            self.queries.append(text)
        return self._vector(text)

    def embed_statements(self, texts: Sequence[str], starts: Sequence[int] = ()) -> Matrix:
        if self.failure:
            raise self.failure
        with self._lock:
            self.statements.extend(texts)
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> Vector:
        words = [self._meanings.get(token, token) for token in tokens(text)] or [""]
        total = np.sum([_direction(word, self.space.dimension) for word in words], axis=0)
        return (total / np.linalg.norm(total)).astype(np.float32)


def _direction(word: str, dimension: int) -> Vector:
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "big")
    return np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)


class Loader:
    """What `daemon.app.build` takes to come by a model, and by the one before it where that is still there."""

    def __init__(self, embedder: WordEmbedder | None, former: WordEmbedder | None = None) -> None:
        self._embedder = embedder
        self._former = former

    def reopen(self, settings: Settings, identity: str) -> WordEmbedder | None:
        is_same = self._former is not None and self._former.space.identity == identity
        return self._former if is_same else None

    def __call__(self, settings: Settings) -> tuple[WordEmbedder | None, EmbeddingModel]:
        if self._embedder is None:
            return None, EmbeddingModel(space=None, state="off", hint="off in this test")
        return self._embedder, EmbeddingModel(space=self._embedder.space, state="ok", hint=None)


class ScriptedChat:
    """A language model that answers in order from `replies`: a text, an error to raise, or `hang` until cut.

    A call waits for its reply, so a test decides when it comes. See ChatModel.
    """

    prompt_budget_chars = 8000

    def __init__(self, *replies: str | ModelError) -> None:
        self.replies: deque[str | ModelError] = deque(replies)
        self.asked: list[ChatRequest] = []
        self.state: ModelState = "ok"
        # Whether a call hangs now.
        self.hangs = False
        self._woken = threading.Condition()
        self._cut = False
        self._closed = False
        self._let_go = False

    def complete(self, request: ChatRequest) -> ChatReply:
        with self._woken:
            assert not self.hangs, "two calls at a time"
            self.asked.append(request)
            self._cut = False
            reply = self._next()
            if reply == "hang":
                self.hangs = True
                while not (self._cut or self._closed or self._let_go):
                    self._woken.wait(0.01)
                self.hangs = False
                reply = self._next()
        if isinstance(reply, ModelError):
            raise reply
        return ChatReply(
            text=reply, prompt_tokens=None, finished="stop", model="scripted", digest="d"
        )

    def _next(self) -> str | ModelError:
        while not (self.replies or self._cut or self._closed):
            self._woken.wait(0.01)
        if self._cut or self._closed:
            return TransientModelError("the call was cut", state="off")
        self._let_go = False
        return self.replies.popleft()

    def release(self, reply: str) -> None:
        """Ends a call that hangs, with a reply."""
        with self._woken:
            self.replies.appendleft(reply)
            self._let_go = True
            self._woken.notify_all()

    def health(self) -> ModelHealth:
        return ModelHealth(state=self.state, hint=None, name="scripted", digest="d")

    def cancel(self) -> None:
        with self._woken:
            self._cut = True
            self._woken.notify_all()

    def close(self) -> None:
        with self._woken:
            self._closed = True
            self._woken.notify_all()
