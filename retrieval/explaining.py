"""How an answer came about, as `explain` tells it: every channel's ranks, fusion, priors, evidence, what was cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recalld.records import PassageId, StatementId
from retrieval.dates.asked import FIRST_DAY, LAST_DAY
from retrieval.evidence import DEFAULT_MIN_RELEVANCE, Calibration
from retrieval.legs import Found
from retrieval.presenting import Kept
from retrieval.query import Query
from retrieval.ranked import Ranked, fact_anchor, passage_anchor
from retrieval.records import StatementEvidence
from retrieval.reranking.service import Reranked
from retrieval.text.tongues import Tongue
from retrieval.thresholds import Thresholds

_DIGITS = 4


def explanation(
    *,
    query: Query,
    found: Found,
    ranked: Sequence[Ranked],
    evidence: Mapping[StatementId, StatementEvidence],
    kept: Sequence[Kept],
    calibration: Calibration,
    threshold: float | None,
    because: Mapping[str, object],
    reranked: Reranked | None = None,
) -> dict[str, object]:
    """The whole story of one recall as plain values; `rerank` is told only where there is a reranker."""
    shown = {one.ranked.passage.passage_id for one in kept}
    keyword = {passage: rank for rank, passage in enumerate(found.keyword_order, 1)}
    vector = {passage: rank for rank, passage in enumerate(found.vector_order, 1)}
    graph = {passage: rank for rank, passage in enumerate(found.graph.reached, 1)}
    strongest = max((one.choice.relevance for one in ranked), default=0.0)
    candidates = []
    for rank, one in enumerate(ranked, 1):
        passage_id = one.passage.passage_id
        similar = found.similar.get(passage_id)
        way = found.graph.reached.get(passage_id)
        speaks = evidence.get(one.statement_id) if one.statement_id is not None else None
        candidates.append(
            {
                "rank": rank,
                "anchor": fact_anchor(one.fact.uid)
                if one.fact
                else passage_anchor(one.passage.uid),
                "source": {
                    "root": one.passage.root,
                    "path": one.passage.path,
                    "lines": [one.passage.lines.first, one.passage.lines.last],
                },
                "channels": {
                    "keyword": {
                        "rank": keyword.get(passage_id),
                        "bm25": _rounded(found.keyword.get(passage_id)),
                    },
                    "vector": {
                        "rank": vector.get(passage_id),
                        "similarity": _rounded(similar.blended if similar else None),
                    },
                    "graph": {
                        "rank": graph.get(passage_id),
                        "score": _rounded(way.worth if way else None),
                        "path": list(one.path),
                    },
                },
                "parts": {name: _rounded(value) for name, value in one.parts.named().items()},
                "evidence": {
                    "cosine": _rounded(speaks.cosine) if speaks else None,
                    "coverage": _rounded(speaks.coverage) if speaks else None,
                    "relevance": _rounded(one.choice.relevance),
                },
                **_rerank_of(passage_id, reranked),
                "returned": passage_id in shown,
            }
        )
    return {
        "query": {
            "terms": [term.surface for term in query.terms],
            "left_out": [term.surface for term in query.stop_terms],
            "language": query.language,
            "asks_when": query.asks_when,
            "asks_quantity": query.asks_quantity,
            "time": _time(query),
        },
        "evidence": {
            "strongest": _rounded(strongest),
            "threshold": DEFAULT_MIN_RELEVANCE if threshold is None else threshold,
            "tau": calibration.tau,
            "tau_by": dict(because),
        },
        "found": {
            "keyword": len(found.keyword_order),
            "vector": len(found.vector_order),
            "graph": len(found.graph.reached),
            "union": len(found.union),
            "looked_at": len(ranked),
        },
        **_rerank(reranked),
        "candidates": candidates,
    }


def because(thresholds: Thresholds | None, language: Tongue | None) -> dict[str, object]:
    """Why the threshold is what it is: shipped with the model, or measured in this memory for a language.

    A language that no question was asked in, or none that can be told, is `other`; Latin letters without a word that
    tells their language are `latin`, and `other` where no note has one of them; a word or two that none has is
    `unknown`.
    """
    if thresholds is None:
        return {"source": "shipped", "language": None, "measured": None, "statements": None}
    is_known = language == "latin" or language in thresholds.by_language
    return {
        "source": "measured",
        "language": language if is_known else "other",
        "measured": thresholds.measured.day,
        "statements": thresholds.measured.statements,
    }


def _rerank(reranked: Reranked | None) -> dict[str, object]:
    if reranked is None:
        return {}
    told = {"model": reranked.name, "shown": len(reranked.places), "problem": reranked.problem}
    return {"rerank": told}


def _rerank_of(passage_id: PassageId, reranked: Reranked | None) -> dict[str, object]:
    """Its place before and after among those that the reranker was shown; None where it was not shown."""
    if reranked is None:
        return {}
    places = reranked.places.get(passage_id)
    return {"rerank": {"before": places[0], "after": places[1]} if places else None}


def _time(query: Query) -> dict[str, object] | None:
    """The days that the query names, with the words that name them; an open side is None."""
    if query.asked is None:
        return None
    return {
        "words": list(query.asked.words),
        "intervals": [
            [
                None if days.first == FIRST_DAY else days.first.isoformat(),
                None if days.last == LAST_DAY else days.last.isoformat(),
            ]
            for days in query.asked.intervals
        ],
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
