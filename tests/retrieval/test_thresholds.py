"""The rules that make thresholds of what was measured."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.text.tongues import LATIN
from retrieval.thresholds import (
    DEVIATIONS,
    GROWTH,
    LEAST_STATEMENTS,
    Foreign,
    Measured,
    Standing,
    as_kept,
    floor_and_ceiling,
    foreign,
    from_kept,
    thresholds,
)

SHIPPED = 0.34
SPREAD = 0.06
MEMORY = Standing(space=3, identity="m@1", questions="q", statements=1000)

strengths = st.floats(-1.5, 1.5)
languages = st.sampled_from(["en", "nl", "de", "it", "zh", "ja", "ru", "th", "unknown"])
by_language = st.dictionaries(languages, st.lists(strengths, max_size=5))


def measured(statements: int = 1000, **values: float) -> Measured:
    return Measured(
        space=3,
        identity="m@1",
        questions="q",
        statements=statements,
        day="2026-03-04",
        foreign={language: Foreign(value, SPREAD) for language, value in values.items()},
    )


def of(**values: float):
    return thresholds(measured(**values), SHIPPED)


@given(by_language, st.floats(0, 1))
def test_every_threshold_lies_between_floor_and_ceiling(found, shipped):
    made = thresholds(replace(measured(), foreign=foreign(found)), shipped)
    low, high = floor_and_ceiling(shipped)
    for language in (None, "latin", "en", "nl", "zh", "he", *found):
        assert low <= made.of(language) <= high
    assert low <= shipped <= high


def test_what_is_no_word_has_a_threshold_of_its_own_and_moves_no_other():
    assert of(en=0.3, nl=0.34, unknown=0.5).told() == {
        **of(en=0.3, nl=0.34).told(),
        "unknown": pytest.approx(0.6),
    }


@given(by_language, st.integers(0, 4))
def test_thresholds_rise_with_what_is_found(found, steps):
    higher = {one: [value + steps / 10 for value in some] for one, some in found.items()}
    low = thresholds(replace(measured(), foreign=foreign(found)), SHIPPED)
    high = thresholds(replace(measured(), foreign=foreign(higher)), SHIPPED)
    assert all(low.of(one) <= high.of(one) for one in (None, "latin", *found))


def test_shipped_model_has_the_floor_and_ceiling_that_were_measured_for_it():
    assert floor_and_ceiling(0.34) == (0.32, 0.6)


def test_threshold_stands_above_the_median_of_its_language():
    made = of(en=0.25, nl=0.2, zh=0.3)
    assert made.of("en") == pytest.approx(0.25 + DEVIATIONS * SPREAD)
    assert made.of("zh") == pytest.approx(0.3 + DEVIATIONS * SPREAD)


def test_language_that_was_not_asked_in_has_the_median_of_all():
    made = of(en=0.25, nl=0.2, zh=0.3)
    assert (
        made.of(None) == made.of("he") == made.of("ko") == pytest.approx(0.25 + DEVIATIONS * SPREAD)
    )


def test_latin_letters_without_a_language_are_held_to_the_highest_of_the_latin_languages():
    made = of(en=0.25, nl=0.28, zh=0.33)
    assert made.of("latin") == made.of("nl")
    assert of(zh=0.33).of("latin") == of(zh=0.33).other
    assert "zh" not in LATIN


def test_nothing_found_leaves_the_shipped_threshold():
    assert of().of("en") == of().of(None) == SHIPPED


def test_median_and_deviation_are_of_each_language_that_found_anything():
    assert foreign({"en": [0.1, 0.3, 0.2], "nl": [], "de": [0.5, 0.5]}) == {"en": (0.2, 0.0816)}


def test_more_scattered_strengths_give_a_higher_threshold():
    calm, wild = [0.24, 0.25, 0.26], [0.15, 0.25, 0.35]
    made = thresholds(replace(measured(), foreign=foreign({"en": calm, "nl": wild})), SHIPPED)
    assert made.of("nl") > made.of("en")


def test_measurement_of_an_earlier_form_counts_as_never_measured():
    earlier = as_kept(measured(en=0.2)).replace("foreign", "medians")
    assert from_kept(earlier) is None


@pytest.mark.parametrize(
    "change",
    [
        {"space": 4},
        {"identity": "m@2"},
        {"questions": "r"},
        {"statements": int(1000 * GROWTH)},
        {"statements": int(1000 / GROWTH)},
        {"statements": 5000},
    ],
)
def test_measurement_of_another_memory_is_none(change):
    assert measured().is_of(MEMORY)
    assert not measured().is_of(replace(MEMORY, **change))


def test_measurement_holds_while_the_size_is_about_the_same():
    for count in (700, 999, 1001, 1499):
        assert measured().is_of(replace(MEMORY, statements=count))


def test_small_memory_has_none_whatever_was_measured():
    few = LEAST_STATEMENTS - 1
    assert not measured(few).is_of(replace(MEMORY, statements=few))
    assert measured(few).is_of(replace(MEMORY, statements=LEAST_STATEMENTS))


def test_kept_measurement_comes_back_as_it_was():
    one = measured(en=0.2, zh=0.31)
    assert from_kept(as_kept(one)) == one


@pytest.mark.parametrize(
    "text",
    [None, "", "{", "null", "[]", "7", "{}", '{"space": 1}', as_kept(measured())[:-3] + "7}"],
)
def test_what_can_not_be_read_counts_as_never_measured(text):
    assert from_kept(text) is None


def test_all_thresholds_are_told_with_the_one_for_others():
    assert of(en=0.25).told() == {"en": 0.37, "other": 0.37}
