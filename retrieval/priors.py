"""What is known of a candidate besides how it matches, as small bounded sums beside its score.

Every prior has a stated maximum in standard deviations of the fused score, so none can carry a
candidate far. Nothing here reads a clock (ages are given) or a query's text (`cues` does).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from types import MappingProxyType

from recalld.records import Category, DateInterval

# Measured: as a strong prior recency did nothing or hurt. It breaks ties.
MAX_DECAY_PENALTY = 0.1
MAX_IMPORTANCE = 0.1
MAX_FREQUENCY = 0.05
MAX_AGREEMENT = 0.1
WHEN_GAIN = 0.5
NUMBER_GAIN = 0.5
INTERVAL_GAIN = 1.5
# Code, headings, questions and to-dos lie near a question, and seldom answer it.
UNSTATED_PENALTY = 0.3
# Times that, for what says nothing of its own, such as an embed or a heading.
BARE = 3.0
# What happened is often written down some days later.
WRITTEN_LATER = timedelta(days=7)
# Shares of the gain: of what was stated in the days asked for and tells of others, of what was stated
# just after them, of what else lies beside them.
ASIDE = 0.6
AFTERWARDS = 0.7
NEARBY = 0.5
# Places that state a fact, from which agreement has its full weight.
MANY = 8
# Recalls after which frequency has its full weight.
OFTEN = 100

# What an old fact keeps. Knowledge and preferences stay true by default; how a tool behaves and
# what was going on go stale, but stale is still worth more than nothing.
FLOORS: Mapping[Category, float] = MappingProxyType(
    {
        Category.ERROR: 1.0,
        Category.KNOWLEDGE: 0.5,
        Category.PREFERENCE: 0.5,
        Category.TOOL: 0.25,
        Category.TIMELINE: 0.25,
    }
)
HALF_LIVES: Mapping[Category, timedelta] = MappingProxyType(
    {
        Category.KNOWLEDGE: timedelta(days=365),
        Category.PREFERENCE: timedelta(days=365),
        Category.TOOL: timedelta(days=180),
        Category.TIMELINE: timedelta(days=30),
    }
)


def decay_weight(age: timedelta, half_life: timedelta) -> float:
    """Weight by age alone: 1.0 when new, 0.5 after one half-life.

    Args:
        age: Time since the fact's own date. Below zero (a date ahead, a clock set back) counts
            as zero, so no weight exceeds 1.0.
        half_life: Above zero; settings validation guarantees it.
    """
    return math.exp2(-(max(age, timedelta(0)) / half_life))  # `0.5 **` is typed Any


def decay(
    category: Category,
    age: timedelta | None,
    half_lives: Mapping[Category, timedelta] = HALF_LIVES,
) -> float:
    """What is left of a fact at an age: 1.0 when new, falling to its category's floor.

    What lies above the floor halves with each half-life, so of two old facts the older is still
    the lower. An error is exempt: a trap does not heal with time, and 1.0 comes back whatever
    its age and whatever the settings say. A category without a half-life does not decay either.

    An unknown age (None) counts as no decay: a note without a date is as often a reference kept
    for years as an old scribble, and a penalty may rest only on what is known. What an undated
    fact can gain by that over a dated one is bounded by `MAX_DECAY_PENALTY`.
    """
    if category is Category.ERROR or age is None or category not in half_lives:
        return 1.0
    floor = FLOORS[category]
    return floor + (1.0 - floor) * decay_weight(age, half_lives[category])


def decay_prior(
    category: Category,
    age: timedelta | None,
    half_lives: Mapping[Category, timedelta] = HALF_LIVES,
    *,
    max_penalty: float = MAX_DECAY_PENALTY,
) -> float:
    """What age costs: from 0 down to, and never beyond, `-max_penalty * (1 - floor)`."""
    return -max_penalty * (1.0 - decay(category, age, half_lives))


def importance_prior(importance: float, *, most: float = MAX_IMPORTANCE) -> float:
    """±`most` for an importance of 1 and 0, nothing at .5; beyond 0..1 as at its end."""
    return most * (2.0 * min(1.0, max(0.0, importance)) - 1.0)


def frequency_prior(recall_count: int, *, most: float = MAX_FREQUENCY) -> float:
    """What past recalls are worth, by their logarithm, up to `most` from `OFTEN` on.

    Damped and small, because what is returned is counted again: a fact must not rise by rising.
    """
    known = math.log1p(max(0, recall_count)) / math.log1p(OFTEN)
    return most * min(1.0, known)


def agreement_prior(places: int, *, most: float = MAX_AGREEMENT) -> float:
    """What it is worth that several places state a fact, by their logarithm, up to `most` from `MANY` on."""
    return most * min(1.0, math.log(max(1, places)) / math.log(MANY))


def when_prior(*, asks_when: bool, has_time_word: bool, gain: float = WHEN_GAIN) -> float:
    """`gain` for a passage with a time word, when the query asks when."""
    return gain if asks_when and has_time_word else 0.0


def number_prior(*, asks_quantity: bool, has_number: bool, gain: float = NUMBER_GAIN) -> float:
    """`gain` for a passage with a number, when the query asks how many or how much."""
    return gain if asks_quantity and has_number else 0.0


def stated_prior(
    *, is_stated: bool, is_bare: bool = False, penalty: float = UNSTATED_PENALTY
) -> float:
    """`-penalty` for a passage in which no fact states what matched, thrice that for a bare one, 0 for a fact."""
    if is_stated:
        return 0.0
    return -penalty * (BARE if is_bare else 1.0)


def interval_prior(
    happened: DateInterval | None,
    stated: date | None,
    asked: Sequence[DateInterval],
    *,
    gain: float = INTERVAL_GAIN,
) -> float:
    """`gain` when a fact is of the days that the query names, less when it is from near them.

    What happened counts, else the day it was stated; touching is enough, as a leave from March to June answers a
    question about April. What was stated in those days and tells of others gains `ASIDE` of it. What is told in the
    week after may be of those days: `AFTERWARDS`, falling. Anything else within a week: `NEARBY`, falling.

    Args:
        happened: When it happened, where the fact says so.
        stated: The day it was stated; None when unknown.
        asked: The days the query names, each interval on its own.
    """
    return gain * max((_of_days(happened, stated, days) for days in asked), default=0.0)


def is_within(happened: DateInterval | None, stated: date | None, days: DateInterval) -> bool:
    """Whether a fact's own date, when it happened or else when it was stated, touches these days."""
    if happened is not None:
        return happened.first <= days.last and days.first <= happened.last
    return stated is not None and days.first <= stated <= days.last


def _of_days(happened: DateInterval | None, stated: date | None, days: DateInterval) -> float:
    if is_within(happened, stated, days):
        return 1.0
    if happened is not None:
        near = NEARBY * _nearness(happened.first, happened.last, days)
        is_aside = stated is not None and days.first <= stated <= days.last
        return max(near, ASIDE) if is_aside else near
    if stated is None:
        return 0.0
    share = AFTERWARDS if stated > days.last else NEARBY
    return share * _nearness(stated, stated, days)


def _nearness(first: date, last: date, days: DateInterval) -> float:
    """From 1 beside the days down to 0 a week away."""
    apart = first - days.last if first > days.last else days.first - last
    return max(0.0, 1.0 - (apart - timedelta(days=1)) / WRITTEN_LATER)
