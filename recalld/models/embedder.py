"""What recalld asks of an embedding model, and what it knows about each: identity, mean, calibration.

A vector space is its model, version, prefixes and mean. Vectors of two spaces are never compared, and a threshold
found in one says nothing in another: they travel together here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Shift:
    """What is taken away from unit vectors before a cosine of theirs is judged as evidence.

    The mean that is best for ordering is that of notes. Against the mean of texts about anything else, all that
    notes have in common with each other stands out, and a question about none of it stays low.
    """

    statement: Vector
    query: Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSpace:
    """Which vectors these are."""

    # Changes whenever vectors would: package, weights, prefix rules, mean.
    identity: str
    name: str
    dimension: int
    # Where relevance is .5, in cosine + half the coverage, and how steeply it rises there.
    tau: float
    slope: float
    # None: cosines are judged as they are.
    shift: Shift | None = None


class Embedder(Protocol):
    """Turns texts into unit vectors. Calls are safe from several threads."""

    @property
    def space(self) -> EmbeddingSpace:
        """The space of its vectors."""
        ...

    def embed_query(self, text: str) -> Vector:
        """The unit vector of a question, shape (dimension,).

        Raises:
            TransientModelError, PermanentModelError: see each.
        """
        ...

    def embed_statements(self, texts: Sequence[str], starts: Sequence[int] = ()) -> Matrix:
        """Unit vectors of statements, shape (len(texts), dimension), in order.

        `starts` says where each statement's own words begin, after the titles it is embedded with; without, at 0.
        A row that the model could not make is all NaN; the caller refuses it.

        Raises:
            TransientModelError, PermanentModelError: see each.
        """
        ...


def encodable(text: str) -> str:
    """The text with question marks for lone surrogates, which no model's library takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def centred(vectors: Matrix, mean: Vector) -> Matrix:
    """Rows with the mean taken away and brought to length one; a row without direction becomes NaN."""
    moved = vectors - mean
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        unit = np.where(lengths > 1e-6, moved / lengths, np.nan)
    return unit.astype(np.float32)
