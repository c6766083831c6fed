"""Vectors: how they are kept, which statements wait for one, and the search over them.

Each statement has one int8 vector with a scale of its own, which cosine does not see, and one bit a dimension. The
search reads the bits of every statement (48 bytes each, .1 µs), takes the nearest two thousand, of those the nearest
few hundred by exact cosine, and computes exact cosines for all statements of their passages. Below `EXACT_BELOW`
statements it computes all of them exactly.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from recalld.records import PassageId, StatementId
from recalld.store.changes import NewVector, ToEmbed
from recalld.store.connection import Connection, execute, transaction

Vector = NDArray[np.float32]

EXACT_BELOW = 3000
# Statements taken by bits, and of those by exact cosine, before whole passages decide. Bits alone are coarse: 400 of
# them hold 77 of the best 100 passages among 6,000 statements, 2,000 then 600 hold 98.
_BY_BITS = 2000
_BY_COSINE = 600
_MAX_ATTEMPTS = 5


def is_usable(vector: Vector) -> bool:
    """Whether a vector points anywhere: finite and not zero."""
    return bool(np.isfinite(vector).all() and vector.any())


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


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageSimilarity:
    """How near a passage is to the query: its statements' cosines, exact."""

    passage_id: PassageId
    # Half the best statement, half the normalised mean of all.
    blended: float
    cosines: dict[StatementId, float]


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


class SqliteVectors:
    """Vector search inside SQLite, by sqlite-vec's distance functions."""

    def nearest(
        self,
        connection: Connection,
        query: Vector,
        limit: int,
        allowed: tuple[str, dict[str, object]] | None,
    ) -> list[PassageSimilarity]:
        """See VectorSearch."""
        if not is_usable(query):
            return []
        passages = self._near_passages(connection, query, allowed)
        found = self.similarities(connection, query, passages)
        return sorted(found, key=lambda one: (-one.blended, one.passage_id))[:limit]

    def _near_passages(
        self, connection: Connection, query: Vector, allowed: tuple[str, dict[str, object]] | None
    ) -> list[PassageId]:
        within, bindings = allowed or ("", {})
        joined = (
            f"SELECT statement.id FROM statement WHERE passage_id IN ({within})" if allowed else ""
        )
        limited = f"WHERE statement_id IN ({joined})" if joined else ""
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
            "SELECT statement_id, embedding FROM vector WHERE statement_id IN"
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
        if not is_usable(query):
            return []
        rows = execute(
            connection,
            "SELECT passage_id, statement_id, embedding FROM json_each(:ids)"
            " JOIN statement ON passage_id = value JOIN vector ON statement_id = statement.id"
            " ORDER BY passage_id",
            {"ids": json.dumps(list(passages))},
        )
        return blend(query, rows)


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
    ends = [*starts[1:].tolist(), len(rows)]
    by_statement = list(zip([StatementId(row[1]) for row in rows], cosines.tolist(), strict=True))
    return [
        PassageSimilarity(
            passage_id=PassageId(rows[start][0]),
            blended=blended[index],
            cosines=dict(by_statement[start : ends[index]]),
        )
        for index, start in enumerate(starts.tolist())
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
    """The unit vectors of those statements that have one."""
    rows = execute(
        connection,
        "SELECT statement_id, embedding FROM json_each(?) JOIN vector ON statement_id = value",
        (json.dumps(list(statements)),),
    )
    return {StatementId(row[0]): dequantised(row[1]) for row in rows}


def dequantised(embedding: bytes) -> Vector:
    """A stored int8 vector as a unit vector."""
    vector = np.frombuffer(embedding, np.int8).astype(np.float32)
    unit: Vector = vector / np.linalg.norm(vector)
    return unit


class VectorWriter:
    """The writing side for vectors; runs on the writer's thread."""

    def __init__(self, connection: Connection) -> None:
        """`connection` is the database's only writing one."""
        self._connection = connection

    def adopt_model(self, identity: str) -> bool:
        """Makes `identity` the model of all vectors. Vectors of another one go, to be computed anew.

        Returns whether anything was dropped. Vectors of two models are never compared.
        """
        with transaction(self._connection):
            stored = execute(
                self._connection, "SELECT value FROM meta WHERE key = 'embedding_model'"
            )
            if stored != [(identity,)]:
                execute(self._connection, "DELETE FROM vector")
                execute(self._connection, "DELETE FROM embedding_cache")
                execute(
                    self._connection, "UPDATE statement SET embed_state = 'pending', attempts = 0"
                )
                execute(
                    self._connection,
                    "INSERT OR REPLACE INTO meta VALUES ('embedding_model', ?)",
                    (identity,),
                )
        return bool(stored) and stored != [(identity,)]

    def put(self, vectors: Iterable[NewVector]) -> int:
        """Stores vectors of statements that are still there with the same text. Returns how many."""
        stored = 0
        with transaction(self._connection):
            for vector in vectors:
                rows = execute(
                    self._connection,
                    "UPDATE statement SET embed_state = 'done' WHERE id = ? AND embed_hash = ?"
                    " RETURNING id",
                    (vector.statement_id, vector.embed_hash),
                )
                if rows:
                    execute(
                        self._connection,
                        "INSERT OR REPLACE INTO vector (statement_id, signs, embedding)"
                        " VALUES (?, ?, ?)",
                        (vector.statement_id, vector.signs, vector.embedding),
                    )
                    stored += 1
        return stored

    def refuse(self, statements: Sequence[StatementId]) -> None:
        """Records that the model gave no usable vector; after some attempts the statement is left to keywords."""
        with transaction(self._connection):
            execute(
                self._connection,
                "UPDATE statement SET attempts = attempts + 1, embed_state = CASE WHEN"
                f" attempts + 1 >= {_MAX_ATTEMPTS} THEN 'failed' ELSE 'pending' END"
                " WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(statements)),),
            )

    def retry_refused(self) -> None:
        """Gives refused statements another chance; called when the model or its state changed."""
        with transaction(self._connection):
            execute(
                self._connection,
                "UPDATE statement SET embed_state = 'pending', attempts = 0 WHERE embed_state = 'failed'",
            )

    def prune_cache(self, older_than_ms: int, keep: int) -> int:
        """Drops cached vectors last used before, and all beyond the newest `keep`. Returns how many."""
        with transaction(self._connection):
            rows = execute(
                self._connection,
                "DELETE FROM embedding_cache WHERE used_at < :old OR embed_hash NOT IN"
                " (SELECT embed_hash FROM embedding_cache ORDER BY used_at DESC LIMIT :keep)"
                " RETURNING 1",
                {"old": older_than_ms, "keep": keep},
            )
        return len(rows)


def to_embed(connection: Connection, limit: int) -> list[ToEmbed]:
    """Statements that wait for a vector, those of the most recently changed notes first."""
    # `<> 'done'` is said as the partial index says it, or SQLite would read every statement.
    rows = execute(
        connection,
        "SELECT statement.id, embed_prefix || statement.text, embed_hash FROM statement"
        " JOIN passage ON passage.id = passage_id JOIN note ON note.id = note_id"
        " WHERE embed_state <> 'done' AND embed_state = 'pending'"
        " ORDER BY attempts, changed_at DESC, statement.id LIMIT ?",
        (limit,),
    )
    return [
        ToEmbed(statement_id=StatementId(row[0]), text=row[1], embed_hash=row[2]) for row in rows
    ]


def count_to_embed(connection: Connection) -> tuple[int, int]:
    """How many statements wait for a vector, and how many were given up."""
    rows: dict[str, int] = dict(
        execute(
            connection,
            "SELECT embed_state, count(*) FROM statement WHERE embed_state <> 'done' GROUP BY 1",
        )
    )
    return int(rows.get("pending", 0)), int(rows.get("failed", 0))
