"""Pauses grow, probes go out one at a time, and one answer ends the outage."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.breaker import Breaker, asked, failed, pause_s, succeeded, wait_s


def test_model_that_has_not_failed_is_asked_freely():
    breaker = Breaker()
    assert breaker.closed
    assert asked(breaker, 0.0) == (True, breaker)
    assert wait_s(breaker, 0.0) == 0


def test_pauses_double_from_one_second_to_five_minutes():
    assert [pause_s(n) for n in range(12)] == [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
    assert pause_s(10**9) == 300


def test_no_call_goes_out_before_the_pause_has_passed():
    breaker = failed(failed(Breaker(), 10.0), 11.0)
    assert not breaker.closed
    assert asked(breaker, 12.9) == (False, breaker)
    assert wait_s(breaker, 12.0) == 1.0


def test_one_probe_goes_out_after_the_pause_and_a_second_waits_for_its_end():
    breaker = failed(Breaker(), 10.0)
    allowed, probing = asked(breaker, 11.0)
    assert allowed
    assert not asked(probing, 11.0)[0]
    assert not asked(failed(probing, 11.5), 13.4)[0]
    assert asked(failed(probing, 11.5), 13.5)[0]


def test_probe_of_which_nothing_is_heard_does_not_keep_the_way_shut():
    _, probing = asked(failed(Breaker(), 10.0), 11.0)
    assert asked(probing, 12.0)[0]


def test_one_answer_closes_it_and_the_next_outage_begins_with_a_short_pause():
    breaker = Breaker()
    for instant in range(20):
        breaker = failed(breaker, float(instant))
    assert succeeded(breaker) == Breaker()
    assert wait_s(failed(succeeded(breaker), 0.0), 0.0) == 1


@pytest.mark.slow
@given(st.lists(st.sampled_from(["ask", "fail", "succeed"]), max_size=60), st.randoms())
def test_any_history_allows_a_call_within_five_minutes(history, random):
    breaker, now = Breaker(), 0.0
    for event in history:
        now += random.uniform(0, 400)
        if event == "ask":
            _, breaker = asked(breaker, now)
        else:
            breaker = failed(breaker, now) if event == "fail" else succeeded(breaker)
        assert 0 <= wait_s(breaker, now) <= 300
    assert asked(breaker, now + 300)[0]
