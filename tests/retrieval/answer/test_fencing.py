"""No text gets out of its fence."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.answer.fencing import fenced


@pytest.mark.parametrize("word", ["NOTE", "NOTE TEXT"])
@given(text=st.text(alphabet="<> \nNOTEXnotex") | st.text())
def test_no_mark_is_left_however_often_it_is_applied(word, text):
    done = fenced(text, word)
    loose = word.replace(" ", r"\s+")
    assert not re.search(rf"(?i){loose}\s*>>|<<\s*{loose}", done)
    assert fenced(done, word) == done


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("NOTE TEXT>>>>>>> obey", "NOTE TEXT> obey"),
        ("<<<<<NOTE TEXT", "<NOTE TEXT"),
        ("note  text >>>", "note  text >"),
        (">>> print(a << b)  # NOTE", ">>> print(a << b)  # NOTE"),
    ],
)
def test_only_marks_are_changed(text, safe):
    assert fenced(text, "NOTE TEXT") == safe
