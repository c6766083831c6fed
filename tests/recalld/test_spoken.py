"""An answer is gathered part by part, until it is over or worth no more hearing."""

from recalld.models.replies import MAX_BYTES
from recalld.models.spoken import Spoken


def test_parts_are_joined_and_the_end_is_told():
    spoken = Spoken()
    assert spoken.add('{"a"')
    assert not spoken.ended
    assert spoken.add(": 1}")
    spoken.end(cut=False, prompt_tokens=12)
    assert (spoken.text, spoken.finished, spoken.prompt_tokens) == ('{"a": 1}', "stop", 12)


def test_end_at_the_limit_is_a_cut():
    spoken = Spoken()
    spoken.end(cut=True, prompt_tokens=None)
    assert (spoken.finished, spoken.prompt_tokens) == ("length", None)


def test_blanks_without_an_end_are_not_heard_on():
    spoken = Spoken()
    assert all(spoken.add(" \n\t ") for _ in range(500))
    assert not spoken.add(" ")
    assert (spoken.ended, spoken.finished) == (True, "length")


def test_words_between_blanks_begin_the_count_anew():
    spoken = Spoken()
    assert all(spoken.add("x" + " " * 1500) for _ in range(10))


def test_answer_longer_than_anybody_reads_is_not_heard_on():
    spoken = Spoken()
    assert spoken.add("x" * MAX_BYTES)
    assert not spoken.add("x")
    assert spoken.finished == "length"
