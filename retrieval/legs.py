"""The legs of the search: passages by keyword, by vector and by the graph, each inside the filter.

They read the store through borrowed connections and run side by side; a leg that cannot run says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from recalld.errors import StoreError
from recalld.records import PassageId, RecallFilter
from recalld.store.connection import Connection, Readers
from recalld.store.filtering import allowed_passages, any_passage, newest_passages
from recalld.store.searching import (
    WordCounts,
    different_passages,
    every_match,
    keyword_scores,
    keyword_search,
    more_different_texts,
    passage_places,
    word_counts,
)
from recalld.store.vectors import PassageSimilarity, VectorSearch
from retrieval.graph.leg import GraphFound, graph_leg
from retrieval.priors import WRITTEN_LATER
from retrieval.query import Query, match_expression
from retrieval.records import Pool

_T = TypeVar("_T")

# Passages that each leg brings up: the union of both is fused.
DEPTH = 100
# And from the days that the query names.
IN_TIME = 30
# Matches of which all scores are read: up to here that costs less than cutting them in SQLite, where those that the
# other legs bring up would have to be scored afterwards.
FEW_MATCHES = 4000
# How far a leg looks when copies of one passage, as of a template's line, fill it.
_DEEPEST = 6400


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the legs brought up, with every candidate's score in each of them."""

    keyword: dict[PassageId, float]
    similar: dict[PassageId, PassageSimilarity]
    # Ranks of each leg's own best, before the union: for `explain`.
    keyword_order: tuple[PassageId, ...]
    vector_order: tuple[PassageId, ...]
    # Whether the filter lets anything through at all.
    anything: bool
    graph: GraphFound = field(default_factory=GraphFound)
    # Of the query's words.
    counts: WordCounts = field(default_factory=WordCounts)
    # The best from the days that the query names, whatever came up from other days.
    in_time: tuple[PassageId, ...] = ()
    # Whether similarity scores candidates; where it does not, its cosines are still evidence.
    vector_scores: bool = True

    @property
    def union(self) -> list[PassageId]:
        """Every candidate once."""
        return list(
            dict.fromkeys(
                (*self.keyword_order, *self.vector_order, *self.graph.reached, *self.in_time)
            )
        )


@dataclass(slots=True, kw_only=True)
class _Keyword:
    order: tuple[PassageId, ...] = ()
    scores: dict[PassageId, float] = field(default_factory=dict)
    # Whether the scores are of all that match, and not only of the best.
    is_whole: bool = False
    anything: bool = True


def search(
    *,
    database: Readers,
    vectors: VectorSearch,
    executor: Executor,
    query: Query,
    query_vector: NDArray[np.float32] | None,
    limits: RecallFilter,
    by_graph: bool = True,
) -> Found:
    """Runs the legs and completes keywords and vectors with the others' candidates.

    Args:
        query_vector: Unit vector of the query; None leaves the vector leg out.
        by_graph: Whether the graph takes part.
    """
    match = match_expression(query)
    # Beside this thread, for most of it is spent in products that need no Python. Rows, of which the others read many,
    # are handed over by whoever has the interpreter: two threads that read rows wait for one another.
    near = executor.submit(_vector_leg, database, vectors, query_vector, limits)
    with database.reader() as connection:
        counts = word_counts(connection, query.tokens)
        keyword = _keyword_leg(connection, match, _are_few(query, counts), limits)
        graph = _graph_leg(connection, query, limits, counts) if by_graph else GraphFound()
        nearest = near.result()
        in_time = _time_leg(connection, vectors, query, query_vector, limits)
        similar = {one.passage_id: one for one in nearest}
        scores = dict(keyword.scores)
        if match and not keyword.is_whole:
            missing = _missing((*similar, *graph.reached, *in_time), scores)
            scores |= keyword_scores(connection, match, missing)
        if query_vector is not None:
            missing = _missing((*keyword.order, *graph.reached, *in_time), similar)
            for one in vectors.similarities(connection, query_vector, missing):
                similar[one.passage_id] = one
    return Found(
        keyword=scores,
        similar=similar,
        keyword_order=keyword.order,
        vector_order=tuple(one.passage_id for one in nearest),
        anything=keyword.anything,
        graph=graph,
        counts=counts,
        in_time=in_time,
    )


def _graph_leg(
    connection: Connection, query: Query, limits: RecallFilter, counts: WordCounts
) -> GraphFound:
    try:
        return graph_leg(connection, query, limits, counts)
    except StoreError:
        # The other legs read the same file: what they can answer, they should.
        return GraphFound(ran=False)


def _are_few(query: Query, counts: WordCounts) -> bool:
    """Whether little matches a query. Words that name a time are not counted, and a year may stand anywhere."""
    return not query.time_terms and sum(counts.passages_with.values()) <= FEW_MATCHES


def _keyword_leg(
    connection: Connection, match: str | None, are_few: bool, limits: RecallFilter
) -> _Keyword:
    allowed = allowed_passages(connection, limits)
    if not match:
        return _Keyword(anything=any_passage(connection, allowed))

    every = every_match(connection, match, allowed) if are_few else None

    def best(depth: int) -> dict[PassageId, float]:
        if every is None:
            return keyword_search(connection, match, depth, allowed)
        return dict(islice(every.items(), depth))

    chosen = _without_copies(connection, best, best(DEPTH))
    return _Keyword(
        order=tuple(chosen),
        scores=chosen if every is None else every,
        is_whole=every is not None,
        anything=bool(chosen) or any_passage(connection, allowed),
    )


def _vector_leg(
    database: Readers,
    vectors: VectorSearch,
    query_vector: NDArray[np.float32] | None,
    limits: RecallFilter,
) -> list[PassageSimilarity]:
    if query_vector is None:
        return []
    with database.reader() as connection:
        allowed = allowed_passages(connection, limits)
        within = (allowed.sql, allowed.bindings) if allowed else None

        def best(depth: int) -> dict[PassageId, PassageSimilarity]:
            found = vectors.nearest(connection, query_vector, depth, within)
            return {one.passage_id: one for one in found}

        return list(_without_copies(connection, best, best(DEPTH)).values())


def _time_leg(
    connection: Connection,
    vectors: VectorSearch,
    query: Query,
    query_vector: NDArray[np.float32] | None,
    limits: RecallFilter,
) -> tuple[PassageId, ...]:
    """The best passages from the days that a query names, which better matches from other days may keep out.

    When a time is all that it names, any from those days.
    """
    if query.asked is None:
        return ()
    hull, match = query.asked.hull, match_expression(query)
    later = timedelta(0) if query.is_of_time_alone else min(WRITTEN_LATER, date.max - hull.last)
    narrowed = replace(
        limits,
        since=max(filter(None, (limits.since, hull.first))),
        until=min(filter(None, (limits.until, hull.last + later))),
    )
    allowed = allowed_passages(connection, narrowed)
    found: list[PassageId] = []
    if allowed is None:
        return ()
    if match:
        found += keyword_search(connection, match, IN_TIME, allowed)
    if query_vector is not None:
        within = (allowed.sql, allowed.bindings)
        found += [
            one.passage_id for one in vectors.nearest(connection, query_vector, IN_TIME, within)
        ]
    if query.is_of_time_alone:
        found += newest_passages(connection, allowed, IN_TIME)
    return tuple(dict.fromkeys(found))


def _without_copies(
    connection: Connection, best: Callable[[int], dict[PassageId, _T]], found: dict[PassageId, _T]
) -> dict[PassageId, _T]:
    """What a leg found, best first; looked for deeper, and without the copies, when these are most of it."""
    if len(found) < DEPTH or more_different_texts(connection, found, DEPTH // 2):
        return found
    depth = DEPTH
    while len(found) == depth < _DEEPEST and len(different_passages(connection, found)) < DEPTH:
        depth *= 4
        found = best(depth)
    return {one: found[one] for one in different_passages(connection, found)[:DEPTH]}


def without(
    found: Found,
    *,
    keyword: bool = False,
    vector: bool = False,
    graph: bool = False,
    in_time: bool = False,
) -> Found:
    """The same search as if the channels named had brought up and scored nothing.

    The cosines stay: they are evidence for what the other channels bring up.
    """
    if vector:
        found = replace(found, vector_order=(), vector_scores=False)
    if keyword:
        found = replace(found, keyword={}, keyword_order=())
    if in_time:
        found = replace(found, in_time=())
    return replace(found, graph=GraphFound(ran=found.graph.ran)) if graph else found


def only(found: Found, passages: Iterable[PassageId]) -> Found:
    """The same search with the scores of these passages alone: what is kept of it takes less room."""
    kept = list(passages)
    return replace(
        found,
        keyword={one: found.keyword[one] for one in kept if one in found.keyword},
        similar={one: found.similar[one] for one in kept if one in found.similar},
    )


def _missing(wanted: Iterable[PassageId], known: Mapping[PassageId, object]) -> list[PassageId]:
    return [one for one in dict.fromkeys(wanted) if one not in known]


def pool_of(connection: Connection, found: Found) -> Pool:
    """The union as a pool, without passages that are gone meanwhile."""
    rows = passage_places(connection, found.union)
    passages = [row[0] for row in rows]
    notes, positions, lengths = np.array([row[1:] for row in rows], np.int64).reshape(-1, 3).T
    keyword = [found.keyword.get(one, np.nan) for one in passages]
    similar = found.similar if found.vector_scores else {}
    vector = [similar[one].blended if one in similar else np.nan for one in passages]
    return Pool(
        passages, notes, positions, lengths, np.array(keyword, float), np.array(vector, float)
    )
