"""Candidates into ranked passages, in one snapshot: fusion, neighbours, graph, priors, evidence, order.

Every step is a pure module's; this one reads the rows that they need and hands them on. It must not know how the
candidates were searched for, nor what is shown of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

import numpy as np

from recalld.records import Category, FactId, PassageId, RecallFilter, StatementId
from recalld.store.connection import Connection
from recalld.store.rows import (
    FactRow,
    PassageRow,
    StatementRow,
    facts_of_passages,
    passage_rows,
    statement_rows,
)
from recalld.store.searching import WordCounts
from retrieval.choosing import MARGIN, choose
from retrieval.cues import has_number, has_time_word, is_bare
from retrieval.evidence import Calibration, best_by_passage, is_rare, relevance
from retrieval.fusion import add_graph, add_neighbours, fuse
from retrieval.graph.paths import Reached, lent_words
from retrieval.legs import Found, pool_of, without
from retrieval.ordering import is_of_the_past, settle_order
from retrieval.priors import (
    HALF_LIVES,
    agreement_prior,
    decay_prior,
    frequency_prior,
    importance_prior,
    interval_prior,
    is_within,
    number_prior,
    stated_prior,
    when_prior,
)
from retrieval.query import Query, Term, coverage_by, known_share, rarity
from retrieval.ranked import Ranked, own_days
from retrieval.records import (
    UNSEEN,
    Fused,
    Parts,
    Pool,
    Priors,
    Scores,
    StatementEvidence,
)
from retrieval.successors import newest_successors, passages_elsewhere, showing_successors
from retrieval.text.words import tokens
from retrieval.weights import STANDARD, Weights


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions:
    """How recall ranks, from the settings."""

    half_lives: Mapping[Category, timedelta] = field(default_factory=lambda: HALF_LIVES)
    neighbours: bool = True
    # Whether what belongs to a thing that the query names takes part.
    graph: bool = True
    # None = the calibrated threshold.
    min_relevance: float | None = None
    weights: Weights = STANDARD


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """How one ranking is done."""

    options: RecallOptions
    calibration: Calibration
    today: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """The rows behind the pool, read in one snapshot."""

    passages: dict[PassageId, PassageRow]
    statements: dict[PassageId, list[StatementRow]]
    facts: dict[PassageId, list[FactRow]]
    counts: WordCounts


def taking_part(found: Found, options: RecallOptions) -> Found:
    """The search as it is without the channels that are left out."""
    weights = options.weights
    if weights.keyword and weights.vector and options.graph and weights.interval:
        return found
    return without(
        found,
        keyword=not weights.keyword,
        vector=not weights.vector,
        graph=not options.graph,
        in_time=not weights.interval,
    )


def rank(
    connection: Connection,
    query: Query,
    found: Found,
    limits: RecallFilter,
    ways: Ways,
    size: int,
    cosines: Callable[[Connection, Sequence[PassageId]], Mapping[StatementId, float]],
    reorder: Callable[[list[Ranked]], list[Ranked]] | None = None,
) -> tuple[list[Ranked], Looked, dict[StatementId, StatementEvidence]]:
    """The passages in the running, best first, with the rows and the evidence behind them.

    Args:
        found: As `taking_part` gives it.
        size: Passages whose statements and facts are looked at.
        cosines: Of the statements of given passages, as evidence goes by them.
        reorder: A second opinion on the order by score; successors are put above what they supersede after it.
    """
    weights = ways.options.weights
    pool = pool_of(connection, found)
    scores = _scores(pool, found, query, ways.options)
    best = _best(pool, scores, size, frozenset(found.in_time))
    looked = _look(connection, found.counts, best, limits)
    facts = [fact for some in looked.facts.values() for fact in some]
    # A question after the past, or as of a day, wants what was so then.
    is_of_now = weights.supersession and not is_of_the_past(query) and limits.as_of is None
    newest = newest_successors(connection, facts) if is_of_now else {}
    elsewhere = passages_elsewhere(connection, newest, facts, limits)
    if elsewhere:
        looked = _look(connection, found.counts, [*best, *elsewhere], limits)
    at = {one: place for place, one in enumerate(pool.passages)}
    fused = {one: scores.of(at[one]) if one in at else UNSEEN for one in (*best, *elsewhere)}
    near = cosines(connection, list(looked.passages))
    reached = found.graph.reached
    evidence = _evidence(query, looked, near, reached)
    ranked = _choose(query, looked, evidence, fused, limits, ways, newest)
    if reached:
        ranked = [_with_path(one, reached) for one in ranked]
    ranked.sort(key=lambda one: (-one.parts.total, one.passage.passage_id))
    if reorder is not None:
        ranked = reorder(ranked)
    words = {one.statement_id: one.words for some in looked.statements.values() for one in some}
    settled = settle_order(connection, query, ranked, words, _rarities(looked), weights)
    return settled, looked, evidence


def _scores(pool: Pool, found: Found, query: Query, options: RecallOptions) -> Scores:
    weights = options.weights
    # Words that no note has can't be found by keyword: what is left of the query speaks for less of it.
    share = (1 - weights.vector_share) * known_share(
        query, found.counts.passages_with, found.counts.passages
    )
    scores = fuse(pool, vector_weight=1 - share)
    if options.neighbours and weights.neighbour_share:
        scores = add_neighbours(scores, pool, share=weights.neighbour_share)
    worth = {one: way.worth for one, way in found.graph.reached.items()}
    return add_graph(scores, pool, worth, most=weights.graph_gain)


def _best(pool: Pool, scores: Scores, size: int, timely: Collection[PassageId]) -> list[PassageId]:
    """The passages with the highest scores, best first, and those from the days asked for."""
    ordered = np.lexsort((np.array(pool.passages, int), -scores.score)).tolist()
    among = [pool.passages[place] for place in ordered]
    return [one for at, one in enumerate(among) if at < size or one in timely]


def _choose(
    query: Query,
    looked: Looked,
    evidence: Mapping[StatementId, StatementEvidence],
    fused: Mapping[PassageId, Fused],
    limits: RecallFilter,
    ways: Ways,
    newest: Mapping[FactId, FactId],
) -> list[Ranked]:
    # Days are as telling as a rare word.
    rare = query.is_of_time_alone or any(_is_rare_term(term, looked) for term in query.terms)
    relevances = {
        key: relevance(one, ways.calibration, has_rare_word=rare) for key, one in evidence.items()
    }
    speaking = best_by_passage(evidence.values(), relevances)
    covered = coverage_by(query, _rarities(looked))
    ranked = []
    for passage_id, place in fused.items():
        passage = looked.passages.get(passage_id)
        if passage is None:
            continue
        mine = looked.statements.get(passage_id, [])
        relevant = {one.statement_id: relevances[one.statement_id] for one in mine}
        facts = looked.facts.get(passage_id, []) if "fact" in limits.kinds else []
        choice = choose(
            timely(facts, query, relevant),
            relevant,
            held=lambda text: covered(frozenset(tokens(text))),
            passage_allowed="passage" in limits.kinds
            # What is limited lets a passage through that states nothing, or one that states a fact that fits.
            and (not limits.limits_facts or (limits.takes_passages and not facts)),
        )
        if choice is not None:
            parts = Parts(
                fused=place,
                priors=_priors(query, passage, choice.fact, limits, ways),
            )
            ranked.append(
                Ranked(
                    passage=passage,
                    choice=choice,
                    evidence=speaking.get(passage_id),
                    parts=parts,
                )
            )
    return showing_successors(ranked, looked.facts, relevances, newest)


def timely(
    facts: Sequence[FactRow], query: Query, relevance: Mapping[StatementId, float]
) -> Sequence[FactRow]:
    """The facts of a passage that are of the days asked for, where one of them speaks about as surely as any.

    Where it is asked when something was, those are the facts that tell a day.
    """
    if query.asked is not None:
        of_days = [one for one in facts if _is_of_days(one, query)]
    elif query.asks_when:
        of_days = [one for one in facts if one.happened is not None]
    else:
        return facts
    best = max((relevance.get(one.statement_id, 0.0) for one in facts), default=0.0)
    if any(relevance.get(one.statement_id, 0.0) >= best - MARGIN for one in of_days):
        return of_days
    return facts


def _is_of_days(fact: FactRow, query: Query) -> bool:
    asked = query.asked.intervals if query.asked else ()
    return any(is_within(fact.happened, fact.stated, days) for days in asked)


def _priors(
    query: Query,
    passage: PassageRow,
    fact: FactRow | None,
    limits: RecallFilter,
    ways: Ways,
) -> Priors:
    weights = ways.options.weights
    dated = own_days(fact) if fact else None
    age = ways.today - dated.last if dated else None
    half_lives = ways.options.half_lives
    return Priors(
        decay=decay_prior(fact.category, age, half_lives, max_penalty=weights.decay)
        if fact
        else 0.0,
        importance=importance_prior(fact.importance, most=weights.importance) if fact else 0.0,
        frequency=frequency_prior(fact.recall_count, most=weights.frequency) if fact else 0.0,
        agreement=agreement_prior(fact.sources, most=weights.agreement) if fact else 0.0,
        when=when_prior(
            asks_when=query.asks_when,
            has_time_word=query.asks_when
            and (bool(fact and fact.happened) or has_time_word(passage.text)),
            gain=weights.when,
        ),
        number=number_prior(
            asks_quantity=query.asks_quantity,
            has_number=query.asks_quantity and has_number(passage.text),
            gain=weights.number,
        ),
        interval=interval_prior(
            fact.happened if fact else None,
            fact.stated if fact else passage.dated,
            query.asked.intervals if query.asked else (),
            gain=weights.interval,
        ),
        # Where passages alone are asked for, none of them has a fact.
        stated=stated_prior(
            is_stated=fact is not None or "fact" not in limits.kinds,
            is_bare=fact is None and is_bare(passage.text),
            penalty=weights.stated,
        ),
    )


def _look(
    connection: Connection, counts: WordCounts, ids: Sequence[PassageId], limits: RecallFilter
) -> Looked:
    return Looked(
        passages=passage_rows(connection, ids),
        statements=statement_rows(connection, ids),
        facts=facts_of_passages(connection, ids, limits),
        counts=counts,
    )


def _rarities(looked: Looked) -> dict[str, float]:
    return {
        token: rarity(frequency, looked.counts.passages)
        for token, frequency in looked.counts.passages_with.items()
    }


def _evidence(
    query: Query,
    looked: Looked,
    known: Mapping[StatementId, float],
    reached: Mapping[PassageId, Reached],
) -> dict[StatementId, StatementEvidence]:
    covered = coverage_by(query, _rarities(looked))
    lent = {
        passage_id: lent_words(query, reached[passage_id], [one.words for one in statements])
        for passage_id, statements in looked.statements.items()
        if passage_id in reached
    }
    of_days: frozenset[StatementId] = frozenset()
    if query.is_of_time_alone:
        every = (fact for facts in looked.facts.values() for fact in facts)
        of_days = frozenset(fact.statement_id for fact in every if _is_of_days(fact, query))
    return {
        statement.statement_id: StatementEvidence(
            statement_id=statement.statement_id,
            passage_id=statement.passage_id,
            cosine=known.get(statement.statement_id),
            # Where a time is all that is asked for, being of that time is all there is to hold.
            coverage=1.0
            if statement.statement_id in of_days
            else covered(statement.words | lent.get(statement.passage_id, frozenset())),
        )
        for statements in looked.statements.values()
        for statement in statements
    }


def _with_path(one: Ranked, reached: Mapping[PassageId, Reached]) -> Ranked:
    way = reached.get(one.passage.passage_id)
    return one._replace(path=way.path) if way else one


def _is_rare_term(term: Term, looked: Looked) -> bool:
    """Whether a whole word is rare: any of its exact forms, or all of its parts."""
    counts = [looked.counts.passages_with.get(token, 0) for token in term.exact or term.parts]
    rare = [is_rare(count, looked.counts.passages) for count in counts]
    return any(rare) if term.exact else bool(rare) and all(rare)
