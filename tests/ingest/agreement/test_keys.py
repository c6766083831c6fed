from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from ingest.agreement.keys import (
    LEAST_OVERLAP,
    LONG,
    content_words,
    fact_keys,
    may_agree,
    packed,
    profile,
    template,
    unpacked,
)
from tests.ingest.agreement.test_relation import TEXTS

WORDS = ("zebra", "oats", "quartz", "lantern", "puddle", "harbour", "saddle", "velvet", "cactus")
SHORT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=LONG, unique=True).map(" ".join)
LONGER = st.lists(
    st.text("bcdfgklmnp", min_size=4, max_size=7), min_size=12, max_size=20, unique=True
)


def shared(one: str, other: str) -> int:
    return len({*fact_keys(one)} & {*fact_keys(other)})


def overlap_enough(one: str, other: str) -> bool:
    mine, theirs = content_words(one), content_words(other)
    return len(mine & theirs) >= LEAST_OVERLAP * max(len(mine), len(theirs))


@given(SHORT, SHORT)
def test_short_facts_that_have_a_third_of_their_words_in_common_share_a_key(one, other):
    if overlap_enough(one, other):
        assert shared(one, other)
        assert may_agree(profile(one), profile(other), shared(one, other))


def test_labelled_short_facts_with_enough_in_common_share_a_key():
    short = [text for text in TEXTS if len(content_words(text)) <= LONG]
    found = [pair for pair in combinations(short, 2) if overlap_enough(*pair)]
    assert len(found) > 100
    assert [pair for pair in found if not shared(*pair)] == []


@given(LONGER, st.data())
def test_long_facts_that_differ_in_one_place_or_have_words_put_in_share_keys_enough(words, data):
    at = data.draw(st.integers(0, len(words) - 1))
    taken = data.draw(st.integers(0, 2))
    put_in = data.draw(st.lists(st.sampled_from(WORDS), max_size=2))
    one, other = " ".join(words), " ".join([*words[:at], *put_in, *words[at + taken :]])
    assert may_agree(profile(one), profile(other), shared(one, other))


def test_long_facts_of_one_subject_do_not_meet():
    one = "The quartz lantern of the harbour was repaired with velvet, copper wire and two new lenses."
    other = (
        "Nobody knows who sold the quartz lantern to the museum before the storm of last winter."
    )
    assert not may_agree(profile(one), profile(other), shared(one, other))


@given(st.sampled_from(TEXTS))
def test_number_of_keys_is_bounded_by_the_number_of_words(text):
    count = len(content_words(text))
    assert len(fact_keys(text)) <= max(2 * count, LONG * (LONG + 1) // 2) + 2 * LONG + count


@given(st.sampled_from(TEXTS))
def test_profile_is_as_it_was_after_it_was_stored(text):
    assert unpacked(packed(profile(text))) == profile(text)
    assert len(profile(text).words) == len(content_words(text))


def test_chinese_sentence_of_few_words_is_not_long():
    one, other = "办公室在三楼。", "办公室搬到了五楼。"
    assert may_agree(profile(one), profile(other), shared(one, other))


def test_template_is_the_wording_without_its_numbers():
    assert template("The weight is 81.2 kg.") == template("The weight is 79 kg.") != ""
    assert template("The weight is low.") == ""
