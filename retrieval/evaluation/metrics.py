"""Figures of how well questions were answered, each share with the interval that its count allows. Pure.

`Judged` is one question with the ranks of what it wanted; everything else is counted from those.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum, log2, sqrt

from recalld.records import Hit
from retrieval.evaluation.matching import is_right
from retrieval.evaluation.questions import Question

# Hits that are asked for and looked at.
DEPTH = 10
NDCG_DEPTH = 5
# Of a 95 % interval, in standard deviations.
_Z = 1.959964


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A question, what came, and where in it the pieces of the answer stand."""

    question: Question
    # Best first, `DEPTH` at most.
    hits: tuple[Hit, ...]
    # Of each piece the rank of its first hit, from 1; None where it did not come.
    ranks: tuple[int | None, ...]

    @property
    def first(self) -> int | None:
        """The rank of the first right hit; None where there is none."""
        return min((rank for rank in self.ranks if rank is not None), default=None)

    @property
    def failed(self) -> bool:
        """Whether the first hit is not right, or something came where nothing should."""
        return self.first != 1 if self.question.answerable else bool(self.hits)

    @property
    def reciprocal_rank(self) -> float:
        """1 / rank of the first right hit, 0 where there is none."""
        return 1.0 / self.first if self.first else 0.0

    def hit_within(self, depth: int) -> bool:
        """Whether a right hit is among the first."""
        return self.first is not None and self.first <= depth


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A part of a count, with the Wilson interval of 95 %; `value` is None where the count is 0."""

    part: int
    of: int

    @property
    def value(self) -> float | None:
        """The share."""
        return self.part / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float]:
        """Where the share of all such questions may lie; everything, where none was asked."""
        if not self.of:
            return 0.0, 1.0
        share, square = self.part / self.of, _Z * _Z / self.of
        middle = share + square / 2
        reach = _Z * sqrt(share * (1 - share) / self.of + square / (4 * self.of))
        low, high = (middle - reach) / (1 + square), (middle + reach) / (1 + square)
        # At the ends the interval touches the share itself; rounding must not part them.
        return (0.0 if not self.part else low), (1.0 if self.part == self.of else high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a set of questions came to. Means are None where there is nothing to take them of."""

    # Of the answerable ones.
    hit_at_1: Share
    hit_at_5: Share
    hit_at_10: Share
    mrr: float | None
    ndcg_at_5: float | None
    # Nothing came, though there is an answer.
    false_rejections: Share
    # Nothing came, as it should: of those that nothing answers.
    empty: Share

    @property
    def n(self) -> int:
        """Questions in all."""
        return self.hit_at_1.of + self.empty.of


def judge(question: Question, hits: Sequence[Hit]) -> Judged:
    """A question with its hits, best first."""
    shown = tuple(hits[:DEPTH])
    ranks = tuple(
        next((rank for rank, hit in enumerate(shown, 1) if is_right(hit, piece)), None)
        for piece in question.pieces
    )
    return Judged(question=question, hits=shown, ranks=ranks)


def ndcg(ranks: Sequence[int | None], depth: int = NDCG_DEPTH) -> float:
    """Gain of the pieces by the logarithm of their ranks, as a share of what the best order would gain.

    Pieces that one hit holds together gain in full at its rank: no order could part them.
    """
    known = sorted(rank for rank in ranks if rank is not None)
    # The best order: as many hits as these pieces need, from the top.
    together = len(known) - len(set(known))
    ideal = [1 / log2(1 + place) for place in range(1, min(depth, len(ranks) - together) + 1)]
    gained = [1 / log2(1 + rank) for rank in dict.fromkeys(known) if rank <= depth]
    return fsum(gained) / fsum(ideal) if ideal else 0.0


def figures(judged: Iterable[Judged]) -> Figures:
    """The figures of these questions."""
    every = tuple(judged)
    asked = [one for one in every if one.question.answerable]
    others = [one for one in every if not one.question.answerable]

    def within(depth: int) -> Share:
        return Share(part=sum(one.hit_within(depth) for one in asked), of=len(asked))

    return Figures(
        hit_at_1=within(1),
        hit_at_5=within(5),
        hit_at_10=within(10),
        mrr=_mean([one.reciprocal_rank for one in asked]),
        ndcg_at_5=_mean([ndcg(one.ranks) for one in asked]),
        false_rejections=Share(part=sum(not one.hits for one in asked), of=len(asked)),
        empty=Share(part=sum(not one.hits for one in others), of=len(others)),
    )


def figures_by_category(judged: Sequence[Judged]) -> dict[str, Figures]:
    """The figures of each category, by name; a question may count in several."""
    groups: dict[str, list[Judged]] = {}
    for one in judged:
        for category in one.question.categories:
            groups.setdefault(category, []).append(one)
    return {name: figures(groups[name]) for name in sorted(groups)}


def _mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if values else None
