"""Whether the memory knows anything of what is asked: one number, 0..1, comparable between queries.

It judges statements one by one, since half of an answer in one place and half in another is none.
It never orders hits, and knows nothing of ranks: a best hit among nothing is still nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import log, tanh

from recalld.models.embedder import Shift
from recalld.records import PassageId, StatementId
from retrieval.records import StatementEvidence
from retrieval.text.tongues import Tongue
from retrieval.thresholds import Thresholds

# What full coverage adds to a cosine.
COVERAGE_SHARE = 0.5
# Coverage is a sum of weights divided by a sum of weights.
FULL = 1.0 - 1e-9
# A word in one or two passages is rare in any memory, however small.
ALWAYS_RARE = 2
DEFAULT_MIN_RELEVANCE = 0.5
# Of coverage alone, whatever the model: half of what was asked, by weight, in one statement.
KEYWORD_TAU = 0.5
KEYWORD_SLOPE = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Where relevance is .5, and how steeply it rises there. It belongs to one model, prefix and mean vector."""

    # Of cosine + half the coverage.
    tau: float
    slope: float
    # Of coverage alone, where a statement has no vector.
    keyword_tau: float
    keyword_slope: float
    # From where its cosines are looked at.
    shift: Shift | None = None
    # What was measured of this memory, by language; it stands instead of `tau`.
    thresholds: Thresholds | None = None

    def of(self, language: Tongue | None) -> Calibration:
        """As it is for a question in this language."""
        if self.thresholds is None:
            return self
        return replace(self, tau=self.thresholds.of(language), thresholds=None)


def strength(statement: StatementEvidence) -> float:
    """Cosine plus half the coverage by the same statement; without a cosine, the coverage alone.

    The two readings have thresholds of their own and are not comparable with each other;
    `relevance` is what makes them so.
    """
    if statement.cosine is None:
        return statement.coverage
    return statement.cosine + COVERAGE_SHARE * statement.coverage


def relevance(
    statement: StatementEvidence, calibration: Calibration, *, has_rare_word: bool = False
) -> float:
    """How surely the statement speaks to the query: .5 at the threshold, rising with strength, in 0..1.

    A literal match is never judged below what its words alone are worth. An embedding model knows
    nothing of `E1234` or `:cq`, so its cosine there is chance, and a low one must not silence a
    statement that holds the very thing. Literal means both: the statement holds every content word
    of the query (words that no note has count as missing), and the query has a word that is rare in
    this memory. One common word, held by a hundred statements, gets no such hearing, and a longer
    query must be held whole.

    Args:
        statement: Its cosine in -1..1 and its coverage in 0..1.
        calibration: Of the model that gave the cosine; both slopes above zero.
        has_rare_word: Whether the query has a word for which `is_rare` holds.
    """
    by_words = _logistic(calibration.keyword_slope * (statement.coverage - calibration.keyword_tau))
    if statement.cosine is None:
        return by_words
    by_both = _logistic(calibration.slope * (strength(statement) - calibration.tau))
    is_literal = has_rare_word and statement.coverage >= FULL
    return max(by_both, by_words) if is_literal else by_both


def is_rare(passages_with_word: int, passages: int) -> bool:
    """Whether a word singles passages out: it carries half of the weight that any word here could.

    Weight is log((passages + 1) / (passages with the word + .5)), the same that coverage uses. So a
    word is rare up to about the square root of half the passages: 21 of 1,000, 223 of 100,000.
    A word that no passage has is not rare but unknown.
    """
    if passages_with_word <= ALWAYS_RARE:
        return passages_with_word > 0
    most = log((passages + 1) / 0.5)
    return log((passages + 1) / (passages_with_word + 0.5)) >= most / 2


def best_by_passage(
    statements: Iterable[StatementEvidence], relevances: Mapping[StatementId, float]
) -> dict[PassageId, StatementEvidence]:
    """The statement with the highest relevance of each passage that has one among these.

    It does not depend on their order: equals go by strength, then by the older statement id.

    Args:
        relevances: What `relevance` gives for each of the statements.
    """
    best: dict[PassageId, tuple[StatementEvidence, float]] = {}
    for statement in statements:
        judged = (statement, relevances[statement.statement_id])
        known = best.get(statement.passage_id)
        if known is None or _standing(judged) > _standing(known):
            best[statement.passage_id] = judged
    return {passage_id: statement for passage_id, (statement, _) in best.items()}


def permits(relevance: float, min_relevance: float | None = None) -> bool:
    """Whether an answer may be given on this relevance; 0 as the least never rejects.

    `min_relevance` is what the asker demands instead of the calibrated threshold, which is .5.
    """
    return relevance >= (DEFAULT_MIN_RELEVANCE if min_relevance is None else min_relevance)


def _standing(judged: tuple[StatementEvidence, float]) -> tuple[float, float, int]:
    statement, value = judged
    return value, strength(statement), -statement.statement_id


def _logistic(value: float) -> float:
    """1 / (1 + e^-value), by the tangent, which cannot overflow and is .5 exactly at 0."""
    return 0.5 + 0.5 * tanh(value / 2)
