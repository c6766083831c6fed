import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.agreement.claims import signs_of
from ingest.agreement.values import may_be_equal

WORDS = "date:2026-4-3 written:03/04/2026 months:1 days:30 seconds:60 bytes:1024 metres:10 /s per hour -5 Slack"
SIGNS = st.lists(st.sampled_from(WORDS.split()), max_size=3).map(tuple)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("36 km/h", "10 m/s"),
        ("1 month", "30 days"),
        ("1 year", "365 days"),
        ("2 days", "48 hours"),
        ("3 April 2026", "03/04/2026"),
        ("03/04/2026", "04/03/2026"),
        ("May 2026", "12 May 2026"),
        ("64 GB", "64000 MB"),
        ("Slack", "slack"),
    ],
)
def test_other_writings_may_be_the_same(one, other):
    assert may_be_equal(signs_of(one), signs_of(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("36 km/h", "11 m/s"),
        ("1 month", "40 days"),
        ("2 days", "3 days"),
        ("3 April 2026", "05/04/2026"),
        ("12 May 2026", "13 May 2026"),
        ("64 GB", "65 GB"),
        ("30 seconds", "30 minutes"),
        ("Slack", "Zulip"),
    ],
)
def test_other_values_are_no_other_writings(one, other):
    assert not may_be_equal(signs_of(one), signs_of(other))


@given(SIGNS, SIGNS)
def test_order_does_not_matter(one, other):
    assert may_be_equal(one, other) == may_be_equal(other, one)
    assert may_be_equal(one, one)


def test_digits_of_any_script_and_small_units_are_read():
    assert signs_of("٥٠") == signs_of("50")
    assert signs_of("5 mg") == signs_of("5000 µg")
    assert signs_of("10²") != signs_of("102")
