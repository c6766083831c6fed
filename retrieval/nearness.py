"""How near the statements of some passages are to a query, as evidence goes by it.

Order and evidence look at the same vectors from two places: see `recalld.models.embedder.Shift`. It reads no text.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recalld.models.embedder import Shift, Vector
from recalld.records import PassageId, StatementId
from recalld.store.connection import Connection
from recalld.store.vectors import VectorSearch


def nearness_to(
    vectors: VectorSearch,
    query: Vector | None,
    shift: Shift | None,
    connection: Connection,
    passages: Sequence[PassageId],
) -> dict[StatementId, float]:
    """The cosine, -1..1, of every statement of these passages that has a vector; empty without a query's vector.

    With a shift, both vectors are looked at from there: unit(u - shift) of each.
    """
    if query is None:
        return {}
    if shift is None:
        return _cosines(connection, vectors, query, passages)
    asked = _unit(query - shift.query)
    with_query = _cosines(connection, vectors, asked, passages)
    length = float(np.linalg.norm(shift.statement))
    if not length:
        return with_query
    # (u - s) . q / |u - s|, for unit u, from products of u alone: u . q and u . s.
    with_shift = _cosines(connection, vectors, _unit(shift.statement), passages)
    own = float(shift.statement @ asked)
    return {
        key: (product - own) / max(1.0 - 2.0 * length * with_shift[key] + length**2, 1e-9) ** 0.5
        for key, product in with_query.items()
    }


def _cosines(
    connection: Connection, vectors: VectorSearch, query: Vector, passages: Sequence[PassageId]
) -> dict[StatementId, float]:
    found: dict[StatementId, float] = {}
    for one in vectors.similarities(connection, query, passages):
        found |= one.cosines
    return found


def _unit(vector: Vector) -> Vector:
    scaled: Vector = vector / np.float32(max(float(np.linalg.norm(vector)), 1e-9))
    return scaled
