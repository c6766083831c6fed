"""Vector search over a copy of the vectors in memory: exact, and a few times faster than inside SQLite.

The database stays the truth. New vectors are learnt by their number, one look an answer; vectors that are gone show
when their passages are no longer found, and are dropped then. Small filtered searches, and stores over the capacity,
go to SQLite, behind the same contract.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from recalld.records import PassageId, StatementId
from recalld.store.connection import Connection, execute
from recalld.store.spaces import SpaceId, space_in_use
from recalld.store.vectors import (
    EXACT_BELOW,
    PassageSimilarity,
    Products,
    SqliteVectors,
    Vector,
    is_usable,
    no_products,
    unit_rows,
)

# Statements kept in memory at most: 2.3 KB each with the embedded model.
CAPACITY = 100_000
# Passages beyond the limit that are taken as well, as some of the best may be gone.
_SPARE = 50
# Vectors whose products with every row are remembered: those that each query comes with, and a query that is asked
# again, of given passages. 400 KB each at most.
_REMEMBERED = 8


@dataclass(slots=True)
class _Copy:
    """The vectors by row, and the rows by passage. Rows are only ever added; dead ones count no more."""

    space: SpaceId
    # Columns lie together in memory: so a product with a query takes half as long.
    matrix: NDArray[np.float32]
    rows: int = 0
    last_number: int = 0
    statements: list[StatementId] = field(default_factory=list)
    # Dense number of each row's passage; of a dead row -1.
    places: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    passages: list[int] = field(default_factory=list)
    place_of: dict[int, int] = field(default_factory=dict)
    # Tuples of numbers, which the garbage collector passes over; a list a passage costs it 10 ms.
    rows_of: dict[int, tuple[int, ...]] = field(default_factory=dict)
    row_of: dict[StatementId, int] = field(default_factory=dict)
    # Length of the sum of the unit vectors of each passage, by its dense number.
    norms: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    dead: int = 0
    # By a vector's bytes, its product with each row, the one asked for last at the end.
    products: OrderedDict[bytes, NDArray[np.float32]] = field(default_factory=OrderedDict)


class MemoryVectors:
    """VectorSearch over a copy in memory, with SQLite for what it does better."""

    def __init__(self, identity: str | None = None, *, capacity: int = CAPACITY) -> None:
        """Nothing is read before the first search. `identity` as for SqliteVectors."""
        self._identity = identity
        self._capacity = capacity
        self._sqlite = SqliteVectors(identity)
        self._lock = threading.Lock()
        self._copy: _Copy | None = None

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
        within = _allowed_ids(connection, allowed)
        if within is not None:
            # What the filter lets through is known now, and need not be found out again.
            allowed = (
                "SELECT value FROM json_each(:within)",
                {"within": json.dumps(within.tolist())},
            )
            if len(within) < EXACT_BELOW:
                return self._sqlite.nearest(connection, query, limit, allowed)
        with self._lock:
            copy = self._current(connection, len(query))
            if copy is None:
                return self._sqlite.nearest(connection, query, limit, allowed)
            return self._search(connection, copy, query, limit, within)

    def similarities(
        self, connection: Connection, query: Vector, passages: Sequence[PassageId]
    ) -> list[PassageSimilarity]:
        """See VectorSearch."""
        if not is_usable(query):
            return []
        with self._lock:
            copy = self._current(connection, len(query))
            known = [one for one in passages if one in copy.rows_of] if copy else []
            found = _similarities(copy, query, known) if copy and known else []
        others = set(passages).difference(known)
        if not others:
            return found
        return found + self._sqlite.similarities(connection, query, sorted(others))

    def products(
        self,
        connection: Connection,
        query: Vector,
        standing: Sequence[Vector],
        passages: Sequence[PassageId],
    ) -> Products:
        """See VectorSearch."""
        if not is_usable(query):
            return no_products(1 + len(standing))
        with self._lock:
            copy = self._current(connection, len(query))
            known = [one for one in passages if one in copy.rows_of] if copy else []
            found = _products(copy, query, standing, known) if copy and known else None
        others = sorted(set(passages).difference(known))
        if found is not None and not others:
            return found
        rest = self._sqlite.products(connection, query, standing, others)
        if found is None:
            return rest
        return Products(
            found.statements + rest.statements, np.concatenate([found.values, rest.values])
        )

    def _current(self, connection: Connection, dimension: int) -> _Copy | None:
        """The copy as of this snapshot; None when the store is too large for it, or the snapshot older."""
        copy = self._copy
        newest = _newest(connection)
        space = space_in_use(connection, self._identity)
        if space is None or (copy is not None and newest < copy.last_number):
            return None
        if copy is None or copy.space != space or copy.dead * 3 > copy.rows:
            counted = "SELECT count(*) FROM vector WHERE space = ?"
            count = execute(connection, counted, (space,))[0][0]
            copy = _Copy(space=space, matrix=_room(max(64, count), dimension))
        if copy.last_number < newest:
            _learn(copy, connection)
            copy.last_number = newest
        self._copy = copy if copy.rows <= self._capacity else None
        return self._copy

    def _search(
        self,
        connection: Connection,
        copy: _Copy,
        query: Vector,
        limit: int,
        within: NDArray[np.int64] | None,
    ) -> list[PassageSimilarity]:
        if not copy.passages:
            return []
        cosines, places = _with_every_row(copy, query), copy.places[: copy.rows]
        if copy.dead:
            alive = places >= 0
            cosines, places = cosines[alive], places[alive]
        best = np.full(len(copy.passages), -2.0, np.float32)
        np.maximum.at(best, places, cosines)
        sums = np.bincount(places, cosines, len(copy.passages))
        blended = 0.5 * best + 0.5 * sums / np.maximum(copy.norms, 1e-9)
        blended[best < -1.5] = -np.inf
        if within is not None:
            blended[~np.isin(np.array(copy.passages), within)] = -np.inf
        largest = _largest(blended, limit + _SPARE)
        chosen = [copy.passages[place] for place in largest]
        here = _still_there(connection, chosen[:limit])
        if len(here) < min(limit, len(chosen)):
            here |= _still_there(connection, chosen[limit:])
            for passage_id in set(chosen) - here:
                _bury(copy, passage_id)
        found = [
            PassageSimilarity(PassageId(passage_id), near)
            for passage_id, near in zip(chosen, blended[largest].tolist(), strict=True)
            if passage_id in here
        ]
        return found[:limit]


def _newest(connection: Connection) -> int:
    """The number of the newest vector there ever was; it never falls, whatever is deleted."""
    rows = execute(connection, "SELECT seq FROM sqlite_sequence WHERE name = 'vector'")
    return int(rows[0][0]) if rows else 0


def _similarities(
    copy: _Copy, query: Vector, passages: Sequence[PassageId]
) -> list[PassageSimilarity]:
    """Of passages in the copy."""
    if not passages:
        return []
    groups = [copy.rows_of[passage_id] for passage_id in passages]
    cosines = _with_rows(copy, query, [row for rows in groups for row in rows])
    starts = [0, *accumulate(map(len, groups[:-1]))]
    norms = copy.norms[[copy.place_of[passage_id] for passage_id in passages]]
    sums = np.add.reduceat(cosines.astype(np.float64), starts)
    blended = 0.5 * np.maximum.reduceat(cosines, starts) + 0.5 * sums / np.maximum(norms, 1e-9)
    return [*map(PassageSimilarity, passages, blended.tolist())]


def _products(
    copy: _Copy, query: Vector, standing: Sequence[Vector], passages: Sequence[PassageId]
) -> Products:
    """Of passages in the copy."""
    rows = [row for passage_id in passages for row in copy.rows_of[passage_id]]
    columns = [_with_every_row(copy, vector)[rows] for vector in standing]
    values = np.column_stack([_with_rows(copy, query, rows), *columns])
    return Products([copy.statements[row] for row in rows], values)


def _with_rows(copy: _Copy, vector: Vector, rows: Sequence[int]) -> NDArray[np.float32]:
    """Its products with some rows, from those with all where they are remembered."""
    known = copy.products.get(vector.tobytes())
    products: NDArray[np.float32] = copy.matrix[rows] @ vector if known is None else known[rows]
    return products


def _with_every_row(copy: _Copy, vector: Vector) -> NDArray[np.float32]:
    """Its products with all rows, remembered."""
    key = vector.tobytes()
    found = copy.products.get(key)
    if found is None:
        found = copy.products[key] = copy.matrix[: copy.rows] @ vector
        if len(copy.products) > _REMEMBERED:
            copy.products.popitem(last=False)
    copy.products.move_to_end(key)
    return found


def _allowed_ids(
    connection: Connection, allowed: tuple[str, dict[str, object]] | None
) -> NDArray[np.int64] | None:
    if allowed is None:
        return None
    return np.array([row[0] for row in execute(connection, allowed[0], allowed[1])], np.int64)


def _largest(values: NDArray[np.float64], count: int) -> list[int]:
    """Places of the largest values, best first, equal ones by place; those at minus infinity left out."""
    count = min(count, len(values))
    among = np.argpartition(-values, count - 1)[:count]
    ordered = among[np.lexsort((among, -values[among]))]
    return [int(place) for place in ordered[np.isfinite(values[ordered])]]


def _still_there(connection: Connection, passages: Sequence[int]) -> set[int]:
    rows = execute(
        connection,
        "SELECT passage.id FROM json_each(?) JOIN passage ON passage.id = value",
        (json.dumps(list(passages)),),
    )
    return {row[0] for row in rows}


def _room(rows: int, dimension: int) -> NDArray[np.float32]:
    return np.empty((rows, dimension), np.float32, order="F")


def _learn(copy: _Copy, connection: Connection) -> None:
    """Takes in the vectors that came since the last look."""
    rows = execute(
        connection,
        # By number, not by space: what is new is few.
        "SELECT statement_id, passage_id, embedding FROM vector CROSS JOIN statement"
        " ON statement.id = statement_id WHERE number > ? AND +space = ? ORDER BY number",
        (copy.last_number, copy.space),
    )
    if not rows:
        return
    vectors = unit_rows([row[2] for row in rows])
    needed = copy.rows + len(rows)
    if needed > len(copy.matrix):
        grown = _room(max(needed, 2 * len(copy.matrix)), copy.matrix.shape[1])
        grown[: copy.rows] = copy.matrix[: copy.rows]
        copy.matrix = grown
    copy.matrix[copy.rows : needed] = vectors
    for key, products in copy.products.items():
        more = vectors @ np.frombuffer(key, np.float32)
        copy.products[key] = np.concatenate([products, more])
    places = np.empty(needed, np.int64)
    places[: copy.rows] = copy.places[: copy.rows]
    copy.places = places
    touched = set()
    for statement_id, passage_id, _ in rows:
        if statement_id in copy.row_of:
            _drop_row(copy, copy.row_of[statement_id])
        place = copy.place_of.setdefault(passage_id, len(copy.passages))
        if place == len(copy.passages):
            copy.passages.append(passage_id)
        copy.places[copy.rows] = place
        copy.statements.append(statement_id)
        copy.row_of[statement_id] = copy.rows
        copy.rows_of[passage_id] = (*copy.rows_of.get(passage_id, ()), copy.rows)
        copy.rows += 1
        touched.add(passage_id)
    norms = np.zeros(len(copy.passages))
    norms[: len(copy.norms)] = copy.norms
    copy.norms = norms
    for passage_id in touched & copy.rows_of.keys():
        total = copy.matrix[list(copy.rows_of[passage_id])].sum(axis=0)
        copy.norms[copy.place_of[passage_id]] = float(np.linalg.norm(total))


def _drop_row(copy: _Copy, row: int) -> None:
    """A vector that another one of the same statement replaces."""
    passage_id = copy.passages[copy.places[row]]
    left = tuple(one for one in copy.rows_of.pop(passage_id) if one != row)
    if left:
        copy.rows_of[passage_id] = left
    copy.places[row] = -1
    copy.dead += 1


def _bury(copy: _Copy, passage_id: int) -> None:
    """A passage that is gone: its rows never count again."""
    for row in copy.rows_of.pop(passage_id, ()):
        copy.row_of.pop(copy.statements[row], None)
        copy.places[row] = -1
        copy.dead += 1
