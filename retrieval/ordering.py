"""The last steps of ranking: newer numbers above the older ones they replace, successors above what they supersede."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from recalld.records import PassageId, StatementId
from recalld.store.conflicts import successors_of
from recalld.store.connection import Connection
from recalld.store.vectors import unit_vectors
from retrieval.cues import (
    asks_for_current,
    asks_for_earlier,
    asks_for_past,
    has_number,
    is_question,
)
from retrieval.query import Query
from retrieval.ranked import Ranked, fact_view
from retrieval.records import Standing
from retrieval.supersession import SWAP_DEPTH, order_superseded, swap_stale, written_at
from retrieval.weights import STANDARD, Weights


def settle_order(
    connection: Connection,
    query: Query,
    ranked: Sequence[Ranked],
    statement_words: Mapping[StatementId, frozenset[str]],
    rarities: Mapping[str, float],
    weights: Weights = STANDARD,
) -> list[Ranked]:
    """The ranked passages, best first, with stale statements below current ones.

    A question after the past may want what has been superseded since: then the order stays as it is.

    Args:
        statement_words: Index words of every statement in the running.
        rarities: Of the query's tokens.
        weights: Whether either rule takes part.
    """
    order = list(ranked)
    if is_of_the_past(query):
        return order
    is_current = asks_for_current(query.text)
    takes_newer = query.asks_quantity and not asks_for_earlier(query.text)
    if weights.newer_numbers and (is_current or takes_newer):
        order = _newer_first(
            connection, query, order, statement_words, rarities, numbers_only=not is_current
        )
    if not weights.supersession:
        return order
    by_passage = {one.passage.passage_id: one for one in order}
    views = {one.passage.passage_id: fact_view(one.fact) for one in order if one.fact is not None}
    hidden = successors_of(
        connection, [one.superseded_by for one in views.values() if one.superseded_by is not None]
    )
    ordered = order_superseded(tuple(by_passage), views, hidden=hidden)
    return [by_passage[item] for item in ordered]


def is_of_the_past(query: Query) -> bool:
    """Whether it may want what has been superseded since."""
    if asks_for_current(query.text):
        return False
    return asks_for_past(query.text) or (query.asked is not None and query.asked.is_past)


def _newer_first(
    connection: Connection,
    query: Query,
    ranked: Sequence[Ranked],
    statement_words: Mapping[StatementId, frozenset[str]],
    rarities: Mapping[str, float],
    *,
    numbers_only: bool,
) -> list[Ranked]:
    speaking = [(one, one.statement_id) for one in ranked if one.statement_id is not None]
    top = speaking[:SWAP_DEPTH]
    vectors = unit_vectors(connection, [statement_id for _, statement_id in top])

    def cosine(one: StatementId, other: StatementId) -> float | None:
        if one not in vectors or other not in vectors:
            return None
        return float(np.dot(vectors[one], vectors[other]))

    wanted = frozenset(query.tokens)
    swapped = swap_stale(
        [_standing(one, statement_id, wanted, statement_words) for one, statement_id in top],
        word_weights=rarities,
        cosine=cosine,
        numbers_only=numbers_only,
    )
    by_passage: dict[PassageId, Ranked] = {one.passage.passage_id: one for one in ranked}
    # Those that take no part keep their places.
    taking_part = iter(swapped)
    standing = {one.passage.passage_id for one, _ in top}
    return [
        by_passage[next(taking_part)] if one.passage.passage_id in standing else one
        for one in ranked
    ]


def _standing(
    one: Ranked,
    statement_id: StatementId,
    wanted: frozenset[str],
    statement_words: Mapping[StatementId, frozenset[str]],
) -> Standing:
    text = one.fact.text if one.fact is not None else one.passage.text
    return Standing(
        passage_id=one.passage.passage_id,
        note_id=one.passage.note_id,
        statement_id=statement_id,
        score=one.parts.total,
        written=written_at(one.passage.dated, 0, one.passage.path),
        has_number=has_number(text),
        is_question=is_question(text),
        query_words=wanted & statement_words.get(statement_id, frozenset()),
    )
