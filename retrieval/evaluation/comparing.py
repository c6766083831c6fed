"""Whether other settings are as good as the present ones: the same questions, paired, resampled.

PASS: no figure can be worse by more than the margin. FAIL: some figure is worse, beyond chance. HOLD: these questions
cannot tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from retrieval.evaluation.metrics import Judged

Verdict = Literal["PASS", "HOLD", "FAIL"]

RESAMPLES = 2000
SEED = 20_260_101
MARGIN = 0.02
# Resamples drawn together: quick, and small in memory for thousands of questions.
_AT_ONCE = 100
_EDGES = (2.5, 97.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """By how much the other settings are better in one figure, and the 95 % interval of that."""

    n: int
    mean: float
    low: float
    high: float
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The verdict, and the differences behind it by figure."""

    verdict: Verdict
    differences: Mapping[str, Difference]


def compare(
    present: Sequence[Judged], other: Sequence[Judged], *, margin: float = MARGIN
) -> Comparison:
    """The other settings against the present ones, on the same questions in the same order.

    Args:
        margin: A loss up to this counts as none, as a share of 1.

    Raises:
        ValueError: there is no question.
    """
    pairs = [(one, two) for one, two in zip(present, other, strict=True)]
    asked = [(one, two) for one, two in pairs if one.question.answerable]
    nothing = [(one, two) for one, two in pairs if not one.question.answerable]
    changes = {
        "MRR": [two.reciprocal_rank - one.reciprocal_rank for one, two in asked],
        "Hit@1": [float(two.hit_within(1)) - one.hit_within(1) for one, two in asked],
        "Hit@5": [float(two.hit_within(5)) - one.hit_within(5) for one, two in asked],
        # Without it a threshold of nothing would pass: it only ever finds more.
        "empty": [float(not two.hits) - (not one.hits) for one, two in nothing],
    }
    found = {name: difference(each, margin=margin) for name, each in changes.items() if each}
    return Comparison(verdict=_overall([one.verdict for one in found.values()]), differences=found)


def difference(changes: Sequence[float], *, margin: float = MARGIN, seed: int = SEED) -> Difference:
    """The mean of what each question gained, with the percentile interval of its resampled means.

    The same questions in the same order give the same interval: the resampling is seeded.
    """
    gained: NDArray[np.float64] = np.asarray(changes, np.float64)
    if not gained.size:
        raise ValueError("there is no question to compare on")
    draws = np.random.default_rng(seed)
    means = [
        gained[draws.integers(0, gained.size, (_AT_ONCE, gained.size))].mean(axis=1)
        for _ in range(RESAMPLES // _AT_ONCE)
    ]
    low, high = (float(edge) for edge in np.percentile(np.concatenate(means), _EDGES))
    return Difference(
        n=int(gained.size),
        mean=float(gained.mean()),
        low=low,
        high=high,
        verdict=verdict(low, high, margin),
    )


def verdict(low: float, high: float, margin: float) -> Verdict:
    """What an interval of differences says; below 0 is worse."""
    if low >= -margin:
        return "PASS"
    return "FAIL" if high < 0 else "HOLD"


def _overall(each: Sequence[Verdict]) -> Verdict:
    if not each:
        raise ValueError("there is no question to compare on")
    if "FAIL" in each:
        return "FAIL"
    return "HOLD" if "HOLD" in each else "PASS"
