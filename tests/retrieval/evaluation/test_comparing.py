"""PASS, HOLD and FAIL as they are defined."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.evaluation.comparing import compare, difference, verdict
from tests.retrieval.evaluation.making import ranked

GOOD, BAD = ranked(1), ranked(None)


def test_identical_settings_pass():
    judged = [ranked(1), ranked(3), ranked(None), ranked(hits=0)] * 8
    found = compare(judged, judged)
    assert found.verdict == "PASS"
    assert set(found.differences) == {"MRR", "Hit@1", "Hit@5", "empty"}
    assert all((one.mean, one.low, one.high) == (0, 0, 0) for one in found.differences.values())


def test_clearly_worse_settings_fail():
    assert compare([GOOD] * 40, [GOOD] * 15 + [BAD] * 25).verdict == "FAIL"


def test_clearly_better_settings_pass():
    found = compare([BAD] * 40, [BAD] * 15 + [GOOD] * 25)
    assert found.verdict == "PASS"
    assert found.differences["MRR"].low > 0


def test_gains_and_losses_that_even_out_hold():
    assert compare([GOOD, BAD] * 5, [BAD, GOOD] * 5).verdict == "HOLD"


def test_silence_lost_fails_though_every_answer_is_found():
    silent, talking = ranked(hits=0), ranked(hits=5)
    found = compare([GOOD] * 20 + [silent] * 20, [GOOD] * 20 + [talking] * 20)
    assert found.verdict == "FAIL"
    assert found.differences["empty"].verdict == "FAIL"
    assert found.differences["MRR"].verdict == "PASS"


def test_loss_within_the_margin_is_none():
    before, after = [GOOD] * 100, [GOOD] * 99 + [ranked(2)]
    assert compare(before, after, margin=0.05).verdict == "PASS"
    assert compare(before, after, margin=0.0).verdict == "HOLD"


def test_questions_of_one_kind_are_compared_on_what_they_have():
    assert set(compare([ranked(hits=0)] * 3, [ranked(hits=0)] * 3).differences) == {"empty"}
    assert "empty" not in compare([GOOD], [GOOD]).differences


def test_nothing_to_compare_is_refused():
    with pytest.raises(ValueError, match="no question"):
        compare([], [])


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.0, 0.0, "PASS"),
        (0.01, 0.2, "PASS"),
        (-0.02, 0.1, "PASS"),
        (-0.02, -0.01, "PASS"),
        (-0.021, 0.0, "HOLD"),
        (-0.3, 0.3, "HOLD"),
        (-0.3, -0.001, "FAIL"),
    ],
)
def test_verdict_follows_the_interval(low, high, said):
    assert verdict(low, high, 0.02) == said


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=30))
@settings(deadline=None, max_examples=20)
def test_interval_is_the_same_each_time_and_holds_between_the_extremes(changes):
    one, again = difference(changes), difference(changes)
    assert one == again
    assert min(changes) <= one.low <= one.high <= max(changes)


def test_interval_of_many_is_near_that_of_the_normal_law():
    # Half gained 1: the mean's standard error is .5 / sqrt(400) = .025.
    found = difference([1.0, 0.0] * 200)
    assert found.mean == 0.5
    assert found.low == pytest.approx(0.5 - 1.96 * 0.025, abs=0.006)
    assert found.high == pytest.approx(0.5 + 1.96 * 0.025, abs=0.006)
