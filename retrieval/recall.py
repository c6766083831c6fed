"""The recall service: a query in, hits or nothing out.

It reads the store and asks the embedding model; ranking itself is done by the pure modules beside it. Three numbers
are kept apart: the score orders, the priors nudge the score, and relevance alone is compared with a threshold.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import partial

from recalld.errors import NotFound
from recalld.records import (
    Category,
    FactId,
    PassageId,
    Reason,
    Recalled,
    RecallFilter,
    StatementId,
)
from recalld.store.conflicts import duplicates
from recalld.store.connection import Connection, Database
from recalld.store.searching import (
    FactRow,
    PassageRow,
    StatementRow,
    document_frequencies,
    facts_of_passages,
    passage_rows,
    statement_rows,
)
from recalld.store.vectors import VectorSearch
from retrieval.choosing import choose
from retrieval.evidence import Calibration, best_by_passage, is_rare, permits, relevance
from retrieval.explaining import explanation
from retrieval.fusion import add_graph, add_neighbours, fuse
from retrieval.graph.paths import Reached, lent_words
from retrieval.legs import Found, candidates, cosines, search
from retrieval.ordering import settle_order
from retrieval.presenting import hits, within
from retrieval.priors import (
    HALF_LIVES,
    decay_prior,
    frequency_prior,
    importance_prior,
    number_prior,
    when_prior,
)
from retrieval.query import Query, Term, coverage_by, rarity, understand
from retrieval.query_vectors import QueryVectors
from retrieval.ranked import Ranked, own_days
from retrieval.records import Candidate, Fused, Parts, Priors, StatementEvidence
from retrieval.text.words import tokens

# Passages whose statements and facts are looked at; hits come from among them. Priors move a passage
# by less than what parts the best from those further down.
LEAST_POOL = 30
POOL_A_HIT = 3
# Beside evidence, what is this weak is noise: in development sets no gold hit lay under .35.
LEAST_RELEVANCE = 0.15
_REMEMBERED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions:
    """How recall ranks, from the settings."""

    half_lives: Mapping[Category, timedelta] = field(default_factory=lambda: HALF_LIVES)
    neighbours: bool = True
    # Whether what belongs to a thing that the query names takes part.
    graph: bool = True
    # None = the calibrated threshold.
    min_relevance: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Looked:
    """The rows behind the pool, read in one snapshot."""

    passages: dict[PassageId, PassageRow]
    statements: dict[PassageId, list[StatementRow]]
    facts: dict[PassageId, list[FactRow]]
    frequencies: dict[str, int]
    documents: int
    candidates: list[Candidate]


class Recall:
    """Answers recall requests; calls are safe from several threads."""

    def __init__(
        self,
        *,
        database: Database,
        vectors: VectorSearch,
        queries: QueryVectors,
        calibration: Calibration,
        options: RecallOptions,
        today: Callable[[], date],
        degraded: Callable[[], tuple[str, ...]],
    ) -> None:
        """`degraded` names what does not take part at the moment, such as `catching_up`."""
        self._database = database
        self._vectors = vectors
        self._queries = queries
        self._calibration = calibration
        self._options = options
        self._today = today
        self._degraded = degraded
        self._executor = ThreadPoolExecutor(max_workers=4, thread_name_prefix="recall")
        self._explained: OrderedDict[str, Callable[[], dict[str, object]]] = OrderedDict()
        self._lock = threading.Lock()

    def close(self) -> None:
        """Joins the threads of the legs, and those of the model unless it hangs."""
        self._executor.shutdown(wait=True)
        self._queries.close()

    def use(self, options: RecallOptions) -> None:
        """Ranks by other options from the next recall on."""
        self._options = options

    def recall(
        self,
        text: str,
        *,
        limits: RecallFilter,
        limit: int,
        max_chars: int,
        min_relevance: float | None = None,
        explain: bool = False,
    ) -> tuple[Recalled, tuple[FactId, ...]]:
        """The hits for a query, best first, and the facts among them.

        Args:
            limit: Hits at most.
            max_chars: Characters of hit text at most; the first hit always comes.
            min_relevance: What each hit must reach, instead of the calibrated threshold; 0 never rejects.
        """
        started = time.perf_counter()
        query = understand(text)
        vector = self._queries.vector(text)
        found = search(
            database=self._database,
            vectors=self._vectors,
            executor=self._executor,
            query=query,
            query_vector=vector,
            limits=limits,
            by_graph=self._options.graph,
        )
        with self._database.reader() as connection:
            options = self._options
            ranked, looked, evidence = self._rank(
                connection, query, found, limits, options, max(LEAST_POOL, POOL_A_HIT * limit)
            )
            threshold = options.min_relevance if min_relevance is None else min_relevance
            permitted = _permitted(ranked, threshold, min_relevance)
            known = [one.fact.fact_id for one in permitted if one.fact is not None]
            kept = within(
                permitted,
                limit=limit,
                max_chars=max_chars,
                duplicates=duplicates(connection, known),
            )
            shown = tuple(hits(connection, kept))
        degraded = [*self._degraded()]
        degraded += [] if vector is not None else ["vectors"]
        degraded += [] if found.graph.ran else ["graph"]
        recalled = Recalled(
            hits=shown,
            reason=None if shown else _reason(found, limits, looked),
            unknown_words=_unknown_words(query, looked),
            degraded=tuple(dict.fromkeys(degraded)),
            recall_id=f"r-{uuid.uuid4().hex[:12]}",
            took_ms=(time.perf_counter() - started) * 1000,
        )
        explained = partial(
            explanation,
            query=query,
            found=found,
            ranked=ranked,
            evidence=evidence,
            kept=kept,
            calibration=self._calibration,
            threshold=threshold,
        )
        self._remember(recalled.recall_id, explained)
        facts = tuple(one.ranked.fact.fact_id for one in kept if one.ranked.fact)
        if explain:
            return replace(recalled, explanation=explained()), facts
        return recalled, facts

    def explain(self, recall_id: str) -> dict[str, object]:
        """How an earlier recall came to its answer.

        Raises:
            NotFound: it is too long ago, or never was.
        """
        with self._lock:
            explained = self._explained.get(recall_id)
        if explained is None:
            raise NotFound(
                f"recall {recall_id} is not remembered",
                hint=f"only the last {_REMEMBERED} are; ask again with explain",
            )
        return explained()

    def _remember(self, recall_id: str, explained: Callable[[], dict[str, object]]) -> None:
        with self._lock:
            self._explained[recall_id] = explained
            while len(self._explained) > _REMEMBERED:
                self._explained.popitem(last=False)

    def _rank(
        self,
        connection: Connection,
        query: Query,
        found: Found,
        limits: RecallFilter,
        options: RecallOptions,
        size: int,
    ) -> tuple[list[Ranked], _Looked, dict[StatementId, StatementEvidence]]:
        pool = candidates(connection, found, query)
        fused = fuse(pool)
        if options.neighbours:
            fused = add_neighbours(fused, pool)
        reached = found.graph.reached
        fused = add_graph(fused, {one: way.worth for one, way in reached.items() if one in fused})
        best = sorted(pool, key=lambda one: (-fused[one.passage_id].score, one.passage_id))[:size]
        looked = _look(connection, query, best, limits)
        evidence = _evidence(query, looked, cosines(found, list(looked.passages)), reached)
        ranked = self._choose(query, looked, evidence, fused, limits, options)
        if reached:
            ranked = [_with_path(one, reached) for one in ranked]
        ranked.sort(key=lambda one: (-one.parts.total, one.passage.passage_id))
        words = {one.statement_id: one.words for some in looked.statements.values() for one in some}
        ordered = settle_order(connection, query, ranked, words, _rarities(looked))
        return ordered, looked, evidence

    def _choose(
        self,
        query: Query,
        looked: _Looked,
        evidence: Mapping[StatementId, StatementEvidence],
        fused: Mapping[PassageId, Fused],
        limits: RecallFilter,
        options: RecallOptions,
    ) -> list[Ranked]:
        rare = any(_is_rare_term(term, looked) for term in query.terms)
        relevances = {
            key: relevance(one, self._calibration, has_rare_word=rare)
            for key, one in evidence.items()
        }
        speaking = best_by_passage(evidence.values(), self._calibration, has_rare_word=rare)
        covered = coverage_by(query, _rarities(looked))
        passage_allowed = "passage" in limits.kinds and not limits.limits_facts
        ranked = []
        for candidate in looked.candidates:
            passage = looked.passages.get(candidate.passage_id)
            if passage is None:
                continue
            mine = looked.statements.get(passage.passage_id, [])
            choice = choose(
                looked.facts.get(passage.passage_id, []) if "fact" in limits.kinds else [],
                {one.statement_id: relevances[one.statement_id] for one in mine},
                held=lambda text: covered(frozenset(tokens(text))),
                passage_allowed=passage_allowed,
            )
            if choice is not None:
                parts = Parts(
                    fused=fused[passage.passage_id],
                    priors=self._priors(query, candidate, choice.fact, options),
                )
                best = speaking.get(passage.passage_id)
                ranked.append(
                    Ranked(
                        passage=passage,
                        choice=choice,
                        evidence=best[0] if best else None,
                        parts=parts,
                    )
                )
        return ranked

    def _priors(
        self, query: Query, candidate: Candidate, fact: FactRow | None, options: RecallOptions
    ) -> Priors:
        dated = own_days(fact) if fact else None
        age = self._today() - dated.last if dated else None
        return Priors(
            decay=decay_prior(fact.category, age, options.half_lives) if fact else 0.0,
            importance=importance_prior(fact.importance) if fact else 0.0,
            frequency=frequency_prior(fact.recall_count) if fact else 0.0,
            when=when_prior(asks_when=query.asks_when, has_time_word=candidate.has_time_word),
            number=number_prior(asks_quantity=query.asks_quantity, has_number=candidate.has_number),
        )


def _permitted(
    ranked: list[Ranked], threshold: float | None, demanded: float | None
) -> list[Ranked]:
    """All hits that are not noise when any of them is evidence; what the asker demands holds for each."""
    if demanded is not None:
        return [one for one in ranked if permits(one.choice.relevance, demanded)]
    strongest = max((one.choice.relevance for one in ranked), default=0.0)
    if not permits(strongest, threshold):
        return []
    # What says next to nothing of the question must not ride along, unless the settings take everything.
    least = 0.0 if threshold == 0 else LEAST_RELEVANCE
    return [one for one in ranked if one.choice.relevance >= least]


def _reason(found: Found, limits: RecallFilter, looked: _Looked) -> Reason:
    if not looked.documents:
        return "empty_memory"
    # A passage as itself has no category, scope or date of its own.
    is_impossible = "fact" not in limits.kinds and limits.limits_facts
    return "no_evidence" if found.anything and not is_impossible else "nothing_matches_filter"


def _look(
    connection: Connection, query: Query, best: Sequence[Candidate], limits: RecallFilter
) -> _Looked:
    ids = [one.passage_id for one in best]
    frequencies, documents = document_frequencies(connection, query.tokens)
    return _Looked(
        passages=passage_rows(connection, ids),
        statements=statement_rows(connection, ids),
        facts=facts_of_passages(connection, ids, limits),
        frequencies=frequencies,
        documents=documents,
        candidates=list(best),
    )


def _rarities(looked: _Looked) -> dict[str, float]:
    return {
        token: rarity(frequency, looked.documents)
        for token, frequency in looked.frequencies.items()
    }


def _evidence(
    query: Query,
    looked: _Looked,
    known: Mapping[StatementId, float],
    reached: Mapping[PassageId, Reached],
) -> dict[StatementId, StatementEvidence]:
    covered = coverage_by(query, _rarities(looked))
    lent = {
        passage_id: lent_words(query, reached[passage_id], [one.words for one in statements])
        for passage_id, statements in looked.statements.items()
        if passage_id in reached
    }
    return {
        statement.statement_id: StatementEvidence(
            statement_id=statement.statement_id,
            passage_id=statement.passage_id,
            cosine=known.get(statement.statement_id),
            coverage=covered(statement.words | lent.get(statement.passage_id, frozenset())),
        )
        for statements in looked.statements.values()
        for statement in statements
    }


def _with_path(one: Ranked, reached: Mapping[PassageId, Reached]) -> Ranked:
    way = reached.get(one.passage.passage_id)
    return replace(one, path=way.path) if way else one


def _is_rare_term(term: Term, looked: _Looked) -> bool:
    """Whether a whole word is rare: any of its exact forms, or all of its parts."""
    counts = [looked.frequencies.get(token, 0) for token in term.exact or term.parts]
    rare = [is_rare(count, looked.documents) for count in counts]
    return any(rare) if term.exact else bool(rare) and all(rare)


def _unknown_words(query: Query, looked: _Looked) -> tuple[str, ...]:
    """Content words of which no note has any form."""
    return tuple(
        dict.fromkeys(
            term.surface
            for term in query.terms
            if not any(looked.frequencies.get(token, 0) for token in term.tokens)
        )
    )
