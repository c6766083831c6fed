"""Vectors: how they are kept, and the search over those of the space in use.

Each statement has one int8 vector with a scale of its own, which cosine does not see, and one bit a dimension. The
search reads the bits of every statement (72 bytes each, .1 µs), takes the nearest two thousand, of those the nearest
few hundred by exact cosine, and computes exact cosines for all statements of their passages. Below `EXACT_BELOW`
statements it computes all of them exactly.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from recalld.records import PassageId, StatementId
from recalld.store.connection import Connection, execute
from recalld.store.spaces import IN_USE, SpaceId, space_in_use

Vector = NDArray[np.float32]

EXACT_BELOW = 3000
# Statements taken by bits, and of those by exact cosine, before whole passages decide. Bits alone are coarse: 400 of
# them hold 77 of the best 100 passages among 6,000 statements, 2,000 then 600 hold 98.
_BY_BITS = 2000
_BY_COSINE = 600


def is_usable(vector: Vector) -> bool:
    """Whether a vector points anywhere: finite and not zero."""
    if not vector.size:
        return False
    # A NaN is both the least and the greatest.
    low, high = float(vector.min()), float(vector.max())
    return math.isfinite(low) and math.isfinite(high) and (low != 0.0 or high != 0.0)


def quantise(vector: Vector) -> tuple[bytes, bytes]:
    """The stored form of a vector: (signs, int8). The vector is finite and not zero.

    Raises:
        ValueError: it is zero or not finite. SQLite would rank such a vector before real matches.
    """
    if not is_usable(vector):
        raise ValueError("a vector must be finite and not zero")
    # In double precision, where the smallest and largest floats can be scaled without overflow.
    wide = vector.astype(np.float64)
    scaled = np.round(wide / np.max(np.abs(wide)) * 127.0).astype(np.int8)
    return np.packbits(vector > 0).tobytes(), scaled.tobytes()


class PassageSimilarity(NamedTuple):
    """How near a passage is to the query, by the exact cosines of its statements."""

    passage_id: PassageId
    # Half the best statement, half the normalised mean of all.
    blended: float


class Products(NamedTuple):
    """Scalar products of statements' unit vectors with some vectors."""

    statements: list[StatementId]
    # (statements, vectors)
    values: NDArray[np.float32]


class VectorSearch(Protocol):
    """Finds passages by their statements' vectors. An in-memory index can stand behind the same contract."""

    def nearest(
        self,
        connection: Connection,
        query: Vector,
        limit: int,
        allowed: tuple[str, dict[str, object]] | None,
    ) -> list[PassageSimilarity]:
        """The nearest passages, best first; none for a query that is zero or not finite.

        `allowed` is a sub-select of passage ids with its bindings.
        """
        ...

    def similarities(
        self, connection: Connection, query: Vector, passages: Sequence[PassageId]
    ) -> list[PassageSimilarity]:
        """The same for given passages; those without a vector are left out."""
        ...

    def products(
        self,
        connection: Connection,
        query: Vector,
        standing: Sequence[Vector],
        passages: Sequence[PassageId],
    ) -> Products:
        """Of every statement of these passages that has a vector, with the query and each of the standing vectors.

        Standing are those that every query comes with, so that what they give may be remembered. Any length will do;
        none are found for a query that is zero or not finite.
        """
        ...


class SqliteVectors:
    """Vector search inside SQLite, by sqlite-vec's distance functions."""

    def __init__(self, identity: str | None = None) -> None:
        """Finds nothing once the space in use is not the one with this `identity`; None: whichever is in use."""
        self._identity = identity

    def nearest(
        self,
        connection: Connection,
        query: Vector,
        limit: int,
        allowed: tuple[str, dict[str, object]] | None,
    ) -> list[PassageSimilarity]:
        """See VectorSearch."""
        space = space_in_use(connection, self._identity) if is_usable(query) else None
        if space is None:
            return []
        passages = self._near_passages(connection, query, space, allowed)
        found = self.similarities(connection, query, passages)
        return sorted(found, key=lambda one: (-one.blended, one.passage_id))[:limit]

    def _near_passages(
        self,
        connection: Connection,
        query: Vector,
        space: SpaceId,
        allowed: tuple[str, dict[str, object]] | None,
    ) -> list[PassageId]:
        within, bindings = allowed or ("", {})
        bindings = {**bindings, "space": space}
        joined = (
            f"SELECT statement.id FROM statement WHERE passage_id IN ({within})" if allowed else ""
        )
        limited = "WHERE space = :space" + (f" AND statement_id IN ({joined})" if joined else "")
        few = execute(
            connection,
            f"SELECT count(*) FROM (SELECT 1 FROM vector {limited} LIMIT {EXACT_BELOW})",
            bindings,
        )[0][0]
        if few < EXACT_BELOW:
            nearest = f"SELECT statement_id FROM vector {limited}"
        else:
            nearest = "SELECT value FROM json_each(:nearest)"
            bindings = {
                **bindings,
                "nearest": json.dumps(self._near_statements(connection, query, limited, bindings)),
            }
        rows = execute(
            connection,
            f"SELECT DISTINCT passage_id FROM statement WHERE id IN ({nearest})",
            bindings,
        )
        return [row[0] for row in rows]

    def _near_statements(
        self, connection: Connection, query: Vector, limited: str, bindings: dict[str, object]
    ) -> list[int]:
        """The nearest by exact cosine of the nearest by bits."""
        rows = execute(
            connection,
            "SELECT statement_id, embedding FROM vector WHERE space = :space AND statement_id IN"
            f" (SELECT statement_id FROM vector INDEXED BY vector_signs {limited}"
            f" ORDER BY vec_distance_hamming(vec_bit(signs), vec_bit(:signs)) LIMIT {_BY_BITS})",
            {**bindings, "signs": np.packbits(query > 0).tobytes()},
        )
        cosines = unit_rows([row[1] for row in rows]) @ query
        return [rows[row][0] for row in np.argsort(-cosines, kind="stable")[:_BY_COSINE]]

    def similarities(
        self, connection: Connection, query: Vector, passages: Sequence[PassageId]
    ) -> list[PassageSimilarity]:
        """See VectorSearch."""
        space = space_in_use(connection, self._identity) if is_usable(query) else None
        if space is None:
            return []
        return blend(query, _stored(connection, space, passages))

    def products(
        self,
        connection: Connection,
        query: Vector,
        standing: Sequence[Vector],
        passages: Sequence[PassageId],
    ) -> Products:
        """See VectorSearch."""
        space = space_in_use(connection, self._identity) if is_usable(query) else None
        rows = _stored(connection, space, passages) if space is not None else []
        if not rows:
            return no_products(1 + len(standing))
        values = unit_rows([row[2] for row in rows]) @ np.column_stack([query, *standing])
        return Products([StatementId(row[1]) for row in rows], values)


def no_products(vectors: int) -> Products:
    """Of no statement, with so many vectors."""
    return Products([], np.empty((0, vectors), np.float32))


def _stored(
    connection: Connection, space: SpaceId, passages: Sequence[PassageId]
) -> list[tuple[int, int, bytes]]:
    """(passage id, statement id, int8 vector) of the passages' statements, sorted by passage."""
    return execute(
        connection,
        "SELECT passage_id, statement_id, embedding FROM json_each(:ids)"
        # In this order: otherwise every vector of the space is read for each statement.
        " CROSS JOIN statement ON passage_id = value"
        " CROSS JOIN vector ON statement_id = statement.id AND space = :space"
        " ORDER BY passage_id",
        {"ids": json.dumps(list(passages)), "space": space},
    )


def blend(query: Vector, rows: Sequence[tuple[int, int, bytes]]) -> list[PassageSimilarity]:
    """Passage similarities from (passage id, statement id, int8 vector) rows sorted by passage.

    `query` is a unit vector. A passage's similarity is half its best statement's cosine and half the cosine of the
    mean of its statements' unit vectors.
    """
    if not rows:
        return []
    unit = unit_rows([row[2] for row in rows])
    cosines = unit @ query
    ids = np.array([row[0] for row in rows])
    starts = np.flatnonzero(np.r_[True, ids[1:] != ids[:-1]])
    best = np.maximum.reduceat(cosines, starts)
    sums = np.add.reduceat(unit, starts, axis=0)
    means = (sums @ query) / np.maximum(np.linalg.norm(sums, axis=1), 1e-9)
    blended = (0.5 * best + 0.5 * means).tolist()
    return [
        PassageSimilarity(PassageId(rows[start][0]), near)
        for start, near in zip(starts.tolist(), blended, strict=True)
    ]


def unit_rows(embeddings: Sequence[bytes]) -> Vector:
    """Stored int8 vectors, one at least, as the rows of a matrix of unit vectors."""
    matrix = np.frombuffer(b"".join(embeddings), np.int8).reshape(len(embeddings), -1)
    unit = matrix.astype(np.float32)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    return unit


def unit_vectors(
    connection: Connection, statements: Sequence[StatementId]
) -> dict[StatementId, Vector]:
    """The unit vectors, in the space in use, of those statements that have one."""
    rows = execute(
        connection,
        "SELECT statement_id, embedding FROM json_each(?) CROSS JOIN vector"
        f" ON statement_id = value AND space = {IN_USE}",
        (json.dumps(list(statements)),),
    )
    return {StatementId(row[0]): dequantised(row[1]) for row in rows}


def dequantised(embedding: bytes) -> Vector:
    """A stored int8 vector as a unit vector."""
    vector = np.frombuffer(embedding, np.int8).astype(np.float32)
    unit: Vector = vector / np.linalg.norm(vector)
    return unit
