"""How near the statements of some passages are to a query, as evidence goes by it.

Order and evidence look at the same vectors from two places: see `recalld.models.embedder.Shift`. It reads no text.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

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
    standing = [] if shift is None else [shift.query, shift.statement]
    near = vectors.products(connection, query, standing, passages)
    cosines = near.values[:, 0] if shift is None else _shifted(near.values, query, shift)
    return dict(zip(near.statements, cosines.tolist(), strict=True))


def _shifted(products: NDArray[np.float32], query: Vector, shift: Shift) -> NDArray[np.float64]:
    """(u - s) . (q - t) / |u - s| |q - t| for unit vectors u, from u . q, u . t and u . s."""
    with_query, with_query_shift, with_shift = products.astype(np.float64).T
    asked = query - shift.query
    length = max(float(np.linalg.norm(asked)), 1e-9)
    own = float(shift.statement @ asked)
    lengths = 1.0 - 2.0 * with_shift + float(shift.statement @ shift.statement)
    shifted: NDArray[np.float64] = (with_query - with_query_shift - own) / (
        length * np.sqrt(np.maximum(lengths, 1e-9))
    )
    return shifted
