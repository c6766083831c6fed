"""Evidence: one number in 0..1, .5 at the threshold, rising with cosine and coverage."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.records import PassageId, StatementId
from retrieval.evidence import (
    Calibration,
    best_by_passage,
    is_rare,
    permits,
    relevance,
    strength,
)
from retrieval.records import StatementEvidence
from retrieval.thresholds import thresholds
from tests.measured import measured as measured_of

CALIBRATION = Calibration(tau=0.4, slope=10.0, keyword_tau=0.7, keyword_slope=8.0)

shares = st.floats(0, 1)
cosines = st.floats(-1, 1)
calibrations = st.builds(
    Calibration,
    tau=st.floats(-0.5, 1.2),
    slope=st.floats(0.5, 1000),
    keyword_tau=st.floats(0.1, 1),
    keyword_slope=st.floats(0.5, 1000),
)


def statement(
    *, cosine: float | None = None, coverage: float = 0.0, number: int = 1, passage: int = 1
) -> StatementEvidence:
    return StatementEvidence(
        statement_id=StatementId(number),
        passage_id=PassageId(passage),
        cosine=cosine,
        coverage=coverage,
    )


@st.composite
def statement_lists(draw: st.DrawFn) -> list[StatementEvidence]:
    drawn = draw(st.lists(st.tuples(cosines | st.none(), shares, st.integers(1, 5)), max_size=25))
    return [
        statement(cosine=cosine, coverage=coverage, number=number, passage=passage)
        for number, (cosine, coverage, passage) in enumerate(drawn)
    ]


def test_strength_adds_half_the_coverage_to_the_cosine():
    assert strength(statement(cosine=0.3, coverage=0.5)) == pytest.approx(0.55)
    assert strength(statement(cosine=None, coverage=0.5)) == 0.5


@given(calibrations)
def test_threshold_maps_to_a_half(calibration):
    at_tau = statement(cosine=calibration.tau, coverage=0.0)
    assert relevance(at_tau, calibration) == 0.5
    at_keyword_tau = statement(coverage=calibration.keyword_tau)
    assert relevance(at_keyword_tau, calibration) == 0.5


@given(calibrations, cosines | st.none(), shares, st.booleans())
def test_relevance_stays_in_its_range(calibration, cosine, coverage, rare):
    one = statement(cosine=cosine, coverage=coverage)
    assert 0 <= relevance(one, calibration, has_rare_word=rare) <= 1


@given(calibrations, cosines, cosines, shares, shares, st.booleans())
def test_relevance_rises_with_cosine_and_coverage(calibration, c1, c2, v1, v2, rare):
    low = statement(cosine=min(c1, c2), coverage=min(v1, v2))
    high = statement(cosine=max(c1, c2), coverage=max(v1, v2))
    assert relevance(low, calibration, has_rare_word=rare) <= relevance(
        high, calibration, has_rare_word=rare
    )


@given(calibrations, shares, shares)
def test_without_a_vector_relevance_rises_with_coverage(calibration, one, other):
    low, high = statement(coverage=min(one, other)), statement(coverage=max(one, other))
    assert relevance(low, calibration) <= relevance(high, calibration)


def test_relevance_survives_an_absurd_slope():
    steep = Calibration(tau=0.4, slope=1e308, keyword_tau=0.5, keyword_slope=1e308)
    assert relevance(statement(cosine=-1.0), steep) == 0
    assert relevance(statement(cosine=1.0), steep) == 1


def test_identifier_counts_whatever_its_cosine():
    strict = Calibration(tau=0.85, slope=20.0, keyword_tau=0.7, keyword_slope=8.0)
    literal = statement(cosine=0.1, coverage=1.0)
    assert not permits(relevance(literal, strict))
    assert permits(relevance(literal, strict, has_rare_word=True))


def test_literal_match_is_worth_its_words_alone():
    literal = statement(cosine=-0.5, coverage=1.0)
    alone = statement(cosine=None, coverage=1.0)
    assert relevance(literal, CALIBRATION, has_rare_word=True) == relevance(alone, CALIBRATION)


@given(calibrations, cosines, st.floats(0, 0.999))
def test_rare_word_alone_lifts_nothing_that_is_not_held_whole(calibration, cosine, coverage):
    part = statement(cosine=cosine, coverage=coverage)
    assert relevance(part, calibration, has_rare_word=True) == relevance(part, calibration)


@given(calibrations, cosines, shares)
def test_rare_word_never_lowers_relevance(calibration, cosine, coverage):
    one = statement(cosine=cosine, coverage=coverage)
    assert relevance(one, calibration, has_rare_word=True) >= relevance(one, calibration)


@pytest.mark.parametrize(
    ("with_word", "passages", "rare"),
    [
        (0, 1000, False),
        (1, 1, True),
        (2, 3, True),
        (3, 3, False),
        (3, 100, True),
        (7, 100, False),
        (21, 1000, True),
        (22, 1000, False),
        (223, 100_000, True),
        (1000, 100_000, False),
    ],
)
def test_rare_is_up_to_the_root_of_half_the_passages(with_word, passages, rare):
    assert is_rare(with_word, passages) is rare


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 10**6))
def test_rarer_word_is_rare_when_a_commoner_one_is(one, other, passages):
    rarer, commoner = sorted((min(one, passages), min(other, passages)))
    assert is_rare(rarer, passages) or not is_rare(commoner, passages)


@given(statement_lists(), st.randoms(use_true_random=False), st.booleans())
def test_best_of_each_passage_is_its_highest_and_in_no_order(statements, random, rare):
    judged = {s.statement_id: relevance(s, CALIBRATION, has_rare_word=rare) for s in statements}
    best = best_by_passage(statements, judged)
    shuffled = list(statements)
    random.shuffle(shuffled)
    assert best_by_passage(shuffled, judged) == best
    assert set(best) == {s.passage_id for s in statements}
    for passage, one in best.items():
        own = [judged[s.statement_id] for s in statements if s.passage_id == passage]
        assert judged[one.statement_id] == max(own)


def test_equals_go_by_strength_then_by_the_older_id():
    weaker, older, newer = (
        statement(cosine=0.8, number=1),
        statement(cosine=0.9, number=2),
        statement(cosine=0.9, number=3),
    )
    equal = {one.statement_id: 1.0 for one in (weaker, older, newer)}
    assert [*best_by_passage([weaker, newer, older], equal).values()] == [older]


@given(shares)
def test_zero_never_rejects(value):
    assert permits(value, 0.0)


def test_threshold_is_a_half_unless_another_is_asked_for():
    assert permits(0.5)
    assert not permits(0.499)
    assert not permits(0.5, 0.9)
    assert permits(0.3, 0.3)


def test_threshold_is_that_of_the_questions_language_where_it_was_measured():
    measured = replace(CALIBRATION, thresholds=thresholds(measured_of(en=0.3), CALIBRATION.tau))
    assert measured.of("en").tau == 0.48
    assert measured.of("en") == replace(CALIBRATION, tau=0.48)
    assert CALIBRATION.of("en") == CALIBRATION
