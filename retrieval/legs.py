"""The legs of the search: passages by keyword, by vector and by the graph, each inside the filter.

They read the store through borrowed connections and run side by side; a leg that cannot run says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from recalld.errors import StoreError
from recalld.records import PassageId, RecallFilter
from recalld.store.connection import Connection, Readers
from recalld.store.filtering import Allowed, allowed_passages, any_passage, newest_passages
from recalld.store.rows import passage_rows
from recalld.store.searching import (
    WordCounts,
    different_passages,
    keyword_scores,
    keyword_search,
    more_different_texts,
    passage_places,
    word_counts,
)
from recalld.store.vectors import PassageSimilarity, VectorSearch
from retrieval.cues import has_number, has_time_word
from retrieval.graph.leg import GraphFound, graph_leg
from retrieval.priors import WRITTEN_LATER
from retrieval.query import Query, match_expression
from retrieval.records import Candidate

_T = TypeVar("_T")

# Passages that each leg brings up: the union of both is fused.
DEPTH = 100
# And from the days that the query names.
IN_TIME = 30
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


@dataclass(slots=True)
class _Keyword:
    scores: dict[PassageId, float] = field(default_factory=dict)
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
    # One thread beside this one, for what needs little of Python: a third would wait for the others.
    matching = executor.submit(_two_legs, database, vectors, match, query_vector, limits)
    with database.reader() as connection:
        counts = word_counts(connection, query.tokens)
        graph = _graph_leg(connection, query, limits, counts) if by_graph else GraphFound()
        keyword, nearest = matching.result()
        in_time = _time_leg(connection, vectors, query, query_vector, limits)
        similar = {one.passage_id: one for one in nearest}
        scores = dict(keyword.scores)
        if match:
            missing = _missing((*similar, *graph.reached, *in_time), scores)
            scores |= keyword_scores(connection, match, missing)
        if query_vector is not None:
            missing = _missing((*keyword.scores, *graph.reached, *in_time), similar)
            for one in vectors.similarities(connection, query_vector, missing):
                similar[one.passage_id] = one
    return Found(
        keyword=scores,
        similar=similar,
        keyword_order=tuple(keyword.scores),
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


def _two_legs(
    database: Readers,
    vectors: VectorSearch,
    match: str | None,
    query_vector: NDArray[np.float32] | None,
    limits: RecallFilter,
) -> tuple[_Keyword, list[PassageSimilarity]]:
    with database.reader() as connection:
        allowed = allowed_passages(connection, limits)
        return (
            _keyword_leg(connection, match, allowed),
            _vector_leg(connection, vectors, query_vector, allowed),
        )


def _keyword_leg(connection: Connection, match: str | None, allowed: Allowed | None) -> _Keyword:
    if not match:
        return _Keyword(anything=any_passage(connection, allowed))

    def best(depth: int) -> dict[PassageId, float]:
        return keyword_search(connection, match, depth, allowed)

    scores = _without_copies(connection, best, best(DEPTH))
    return _Keyword(scores=scores, anything=bool(scores) or any_passage(connection, allowed))


def _vector_leg(
    connection: Connection,
    vectors: VectorSearch,
    query_vector: NDArray[np.float32] | None,
    allowed: Allowed | None,
) -> list[PassageSimilarity]:
    if query_vector is None:
        return []
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


def candidates(connection: Connection, found: Found, query: Query) -> list[Candidate]:
    """The union as candidates, with what the query's priors ask of their texts."""
    texts = (
        {one.passage_id: one.text for one in passage_rows(connection, found.union).values()}
        if query.asks_when or query.asks_quantity
        else {}
    )
    keyword, similar = found.keyword.get, found.similar if found.vector_scores else {}
    blended = {passage_id: one.blended for passage_id, one in similar.items()}.get
    return [
        Candidate(
            passage_id,
            note_id,
            position,
            length,
            keyword(passage_id),
            blended(passage_id),
            query.asks_quantity and has_number(texts.get(passage_id, "")),
            query.asks_when and has_time_word(texts.get(passage_id, "")),
        )
        for passage_id, note_id, position, length in passage_places(connection, found.union)
    ]
