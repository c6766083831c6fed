"""Stand-ins that several tests share: an embedding model whose vectors follow from the words of a text."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence

import numpy as np

from daemon.status import EmbeddingModel
from recalld.errors import TransientModelError
from recalld.models.embedder import EmbeddingSpace, Matrix, Vector
from recalld.settings import Settings
from retrieval.words import tokens

DIMENSION = 128


class WordEmbedder:
    """A text's vector is the normalised sum of one fixed direction a word: ranking can be predicted.

    Words listed together in `synonyms` share a direction, so that meaning without common words can be tested.
    """

    def __init__(
        self, *, identity: str = "words@1", synonyms: Sequence[frozenset[str]] = ()
    ) -> None:
        self.space = EmbeddingSpace(
            identity=identity, name="words", dimension=DIMENSION, tau=0.4, slope=12.0
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

    def embed_statements(self, texts: Sequence[str]) -> Matrix:
        if self.failure:
            raise self.failure
        with self._lock:
            self.statements.extend(texts)
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> Vector:
        words = [self._meanings.get(token, token) for token in tokens(text)] or [""]
        total = np.sum([_direction(word) for word in words], axis=0)
        return (total / np.linalg.norm(total)).astype(np.float32)


def _direction(word: str) -> Vector:
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "big")
    return np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)


class Loader:
    """What `daemon.app.build` takes to come by a model."""

    def __init__(self, embedder: WordEmbedder | None) -> None:
        self._embedder = embedder

    def __call__(self, settings: Settings) -> tuple[WordEmbedder | None, EmbeddingModel]:
        if self._embedder is None:
            return None, EmbeddingModel(space=None, state="off", hint="off in this test")
        return self._embedder, EmbeddingModel(space=self._embedder.space, state="ok", hint=None)
