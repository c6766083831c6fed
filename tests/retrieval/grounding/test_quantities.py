import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.grounding.quantities import find_quantities


def keys(text):
    return [quantity.key for quantity in find_quantities(text)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,000 users", "1000 users"),
        ("25.000 euro", "25000 euros"),
        ("€45", "45 euro"),
        ("64 GB", "65536MB"),
        ("1 km", "1000 m"),
        ("30 min", "0.5 h"),
        ("1,5 kg", "1500 gram"),
        ("3公里", "3000米"),
        ("1.2万日元", "12000円"),
        ("3 pm", "15:00"),
        ("3点", "03:00"),
        ("three nodes", "3 nodes"),
        ("三楼", "3楼"),
        ("12 May 2027", "2027-05-12"),
        ("May 12, 2027", "12.05.2027"),
        ("3. März 2027", "2027年3月3日"),
        ("every Wednesday", "每周三"),
        ("水曜日", "mittwochs"),
    ],
)
def test_same_amount_or_day_has_one_key(one, other):
    assert keys(one) == keys(other) != []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("version 3.1", "version 3.10"),
        ("1.2.3", "1.2.4"),
        ("5 GB", "5 Gb"),
        ("5 m", "5 min"),
        ("-5 °C", "5 °C"),
        ("30 days", "1 month"),
        ("2.500 euro", "2,5 euro"),
        ("3:00", "15:00"),
        ("03/04/2026", "04/03/2026"),
    ],
)
def test_other_amount_or_day_has_another_key(one, other):
    assert keys(one) != keys(other)


@pytest.mark.parametrize(
    "text", ["db-2", "AX3000", "2FA", "IPv6", "Jan came", "may go", "march on", "第三", "a1.b2"]
)
def test_names_hold_no_quantity(text):
    assert keys(text) == []


def test_part_of_a_date_lies_within_it():
    (whole,) = find_quantities("12 May 2027")
    for part in ("May 2027", "12 May", "in 2027", "May"):
        assert find_quantities(part)[0].within(whole)
    assert not find_quantities("13 May")[0].within(whole)
    assert not whole.within(find_quantities("May 2027")[0])


@given(st.text() | st.from_regex(r"[0-9 ,.:年月日GBm-]{0,30}", fullmatch=True))
def test_spans_are_in_order_and_never_overlap(text):
    text = unicodedata.normalize("NFKC", text)
    end = 0
    for quantity in find_quantities(text):
        assert end <= quantity.start < quantity.end <= len(text)
        end = quantity.end
