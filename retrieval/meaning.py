"""What recall goes by for meaning: one space of vectors, with the model and the threshold that belong to it."""

from __future__ import annotations

from dataclasses import dataclass

from recalld.store.vectors import VectorSearch
from retrieval.evidence import Calibration
from retrieval.query_vectors import QueryVectors


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """Exchanged as a whole, so that no query of one space meets vectors or a threshold of another."""

    vectors: VectorSearch
    queries: QueryVectors
    calibration: Calibration
    # The identity of the space; None without a model.
    space: str | None = None
