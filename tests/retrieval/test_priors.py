"""Priors: errors never age, everything else falls to its floor, nothing exceeds its bound."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.records import Category, DateInterval
from retrieval.priors import (
    AFTERWARDS,
    ASIDE,
    BARE,
    FLOORS,
    HALF_LIVES,
    INTERVAL_GAIN,
    MANY,
    MAX_AGREEMENT,
    MAX_DECAY_PENALTY,
    MAX_FREQUENCY,
    MAX_IMPORTANCE,
    NEARBY,
    NUMBER_GAIN,
    UNSTATED_PENALTY,
    WHEN_GAIN,
    agreement_prior,
    decay,
    decay_prior,
    decay_weight,
    frequency_prior,
    importance_prior,
    interval_prior,
    is_within,
    number_prior,
    stated_prior,
    when_prior,
)

ages = st.timedeltas(min_value=timedelta(days=-40_000), max_value=timedelta(days=400_000))
half_lives = st.timedeltas(min_value=timedelta(days=1), max_value=timedelta(days=4000))
decaying = st.sampled_from([c for c in Category if c is not Category.ERROR])
days = st.dates()


@st.composite
def intervals(draw: st.DrawFn) -> DateInterval:
    first, last = sorted((draw(days), draw(days)))
    return DateInterval(first=first, last=last)


@given(ages | st.none(), ages | st.none(), half_lives)
def test_rank_of_an_error_does_not_depend_on_its_age(one, other, half_life):
    half = {**HALF_LIVES, Category.ERROR: half_life}
    assert decay(Category.ERROR, one, half) == decay(Category.ERROR, other, half) == 1.0
    assert decay_prior(Category.ERROR, one, half) == decay_prior(Category.ERROR, other, half) == 0


@given(decaying, ages, ages, half_lives)
def test_other_categories_fall_with_age_and_never_below_their_floor(
    category, one, other, half_life
):
    younger, older = sorted((one, other))
    half = {category: half_life}
    assert 1 >= decay(category, younger, half) >= decay(category, older, half) >= FLOORS[category]


@given(decaying, half_lives)
def test_decay_goes_all_the_way_to_its_floor(category, half_life):
    half = {category: half_life}
    assert decay(category, timedelta(0), half) == 1.0
    assert decay(category, 60 * half_life, half) == pytest.approx(FLOORS[category])
    assert decay(category, half_life, half) == pytest.approx((1 + FLOORS[category]) / 2)


@given(decaying)
def test_of_two_facts_of_some_years_the_older_is_lower(category):
    assert decay(category, timedelta(days=800)) > decay(category, timedelta(days=1200))


@given(half_lives)
def test_weight_halves_with_each_half_life(half_life):
    assert decay_weight(timedelta(0), half_life) == 1.0
    assert decay_weight(half_life, half_life) == pytest.approx(0.5)
    assert decay_weight(3 * half_life, half_life) == pytest.approx(0.125)


@given(decaying, st.timedeltas(max_value=timedelta(0)))
def test_dates_ahead_count_as_new(category, age):
    assert decay(category, age) == 1.0


@pytest.mark.parametrize("category", list(Category))
def test_unknown_date_costs_nothing(category):
    assert decay_prior(category, None) == 0


def test_category_without_a_half_life_does_not_decay():
    assert decay(Category.TIMELINE, timedelta(days=9999), {}) == 1.0


def test_every_category_has_a_floor_and_all_but_errors_a_half_life():
    assert set(FLOORS) == set(Category)
    assert set(HALF_LIVES) == set(Category) - {Category.ERROR}


@given(st.sampled_from(Category), ages | st.none(), half_lives, st.floats(0, 2))
def test_decay_prior_keeps_its_bound(category, age, half_life, max_penalty):
    half = {category: half_life}
    assert -MAX_DECAY_PENALTY <= decay_prior(category, age, half) <= 0
    assert -max_penalty <= decay_prior(category, age, half, max_penalty=max_penalty) <= 0


@given(st.floats(allow_nan=False))
def test_importance_keeps_its_bound(importance):
    assert -MAX_IMPORTANCE <= importance_prior(importance) <= MAX_IMPORTANCE


def test_importance_is_neutral_in_the_middle_and_full_at_its_ends():
    assert importance_prior(0.5) == 0
    assert importance_prior(1.0) == MAX_IMPORTANCE
    assert importance_prior(0.0) == -MAX_IMPORTANCE


@given(st.integers(), st.integers())
def test_frequency_rises_and_keeps_its_bound(one, other):
    fewer, more = sorted((one, other))
    assert 0 <= frequency_prior(fewer) <= frequency_prior(more) <= MAX_FREQUENCY


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_agreement_rises_with_the_places_and_keeps_its_bound(one, other):
    fewer, more = sorted((one, other))
    assert 0 <= agreement_prior(fewer) <= agreement_prior(more) <= MAX_AGREEMENT
    assert agreement_prior(1) == 0 < agreement_prior(2)
    assert agreement_prior(MANY) == pytest.approx(MAX_AGREEMENT)


def test_frequency_is_damped():
    assert frequency_prior(0) == 0
    assert frequency_prior(1) > frequency_prior(11) - frequency_prior(10)
    assert frequency_prior(100) == pytest.approx(MAX_FREQUENCY)


@pytest.mark.parametrize("asks", [True, False])
@pytest.mark.parametrize("has", [True, False])
def test_when_and_number_need_both_the_question_and_the_word(asks, has):
    both = asks and has
    assert when_prior(asks_when=asks, has_time_word=has) == (WHEN_GAIN if both else 0)
    assert number_prior(asks_quantity=asks, has_number=has) == (NUMBER_GAIN if both else 0)


ASKED = DateInterval(first=date(2026, 5, 8), last=date(2026, 5, 10))


@pytest.mark.parametrize(
    ("first", "last", "share"),
    [
        (date(2026, 5, 8), date(2026, 5, 8), 1),
        (date(2026, 3, 1), date(2026, 6, 1), 1),
        (date(2026, 3, 1), date(2026, 5, 8), 1),
        (date(2026, 5, 7), date(2026, 5, 7), NEARBY),
        (date(2026, 5, 11), date(2026, 5, 11), NEARBY),
        (date(2026, 5, 17), date(2026, 5, 17), NEARBY / 7),
        (date(2026, 5, 18), date(2026, 5, 18), 0),
        (date(2026, 4, 30), date(2026, 4, 30), 0),
    ],
)
def test_what_happened_in_the_days_asked_for_gains_and_what_happened_near_them_less(
    first, last, share
):
    happened = DateInterval(first=first, last=last)
    assert interval_prior(happened, None, [ASKED]) == pytest.approx(share * INTERVAL_GAIN)


@pytest.mark.parametrize(
    ("stated", "share"),
    [
        (date(2026, 5, 9), 1),
        (date(2026, 5, 11), AFTERWARDS),
        (date(2026, 5, 17), AFTERWARDS / 7),
        (date(2026, 5, 18), 0),
        (date(2026, 5, 7), NEARBY),
    ],
)
def test_what_is_written_in_the_week_after_may_be_of_those_days(stated, share):
    assert interval_prior(None, stated, [ASKED]) == pytest.approx(share * INTERVAL_GAIN)


def test_what_was_said_in_those_days_of_another_time_gains_a_share():
    other = DateInterval(first=date(2020, 1, 1), last=date(2020, 1, 1))
    assert interval_prior(other, date(2026, 5, 9), [ASKED]) == ASIDE * INTERVAL_GAIN
    assert interval_prior(other, date(2026, 5, 20), [ASKED]) == 0


@given(intervals() | st.none(), days | st.none(), st.lists(intervals()))
def test_interval_prior_stays_within_its_bound_for_any_days_there_are(happened, stated, asked):
    gain = interval_prior(happened, stated, asked)
    assert 0 <= gain <= INTERVAL_GAIN
    is_sure = any(is_within(happened, stated, one) for one in asked)
    assert (gain == INTERVAL_GAIN) == is_sure
    assert gain == max((interval_prior(happened, stated, [one]) for one in asked), default=0)


def test_interval_without_a_date_or_a_question_gains_nothing():
    assert interval_prior(None, None, [ASKED]) == interval_prior(ASKED, None, []) == 0


def test_first_and_last_day_there_are_can_be_asked_for():
    ever = DateInterval(first=date.min, last=date.max)
    assert interval_prior(ever, None, [ever]) == INTERVAL_GAIN
    assert interval_prior(None, date.max, [ever]) == INTERVAL_GAIN


def test_what_no_fact_states_loses_its_penalty_and_a_fact_nothing():
    assert stated_prior(is_stated=True) == 0
    assert stated_prior(is_stated=False) == -UNSTATED_PENALTY
    assert stated_prior(is_stated=False, penalty=0.1) == -0.1
    assert stated_prior(is_stated=False, is_bare=True) == -UNSTATED_PENALTY * BARE
    assert stated_prior(is_stated=True, is_bare=True) == 0
