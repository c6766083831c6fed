import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.markdown.private import PrivateMarks


def hidden(text, at=0):
    end = PrivateMarks(text).find_end(at)
    return None if end is None else text[at:end]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<!-- a -->b", "<!-- a -->"),
        ("<!-- a\n\nb --> c", "<!-- a\n\nb -->"),
        ("<!-- a <!-- b --> c -->", "<!-- a <!-- b -->"),
        ("<!-- a\n\n<!-- b --> c", None),
        ("<!-- a\n\n<!-- b --> c -->", "<!-- a\n\n<!-- b --> c -->"),
        ("<!-- a", None),
        ("%% a %% b", "%% a %%"),
        ("%%\na\n\nb\n%%\nc", "%%\na\n\nb\n%%"),
        ("%% a\n\n%% b %%", None),
        ("%%", None),
    ],
)
def test_end_of_a_private_part(text, expected):
    assert hidden(text) == expected


def test_stray_percent_signs_do_not_reach_into_code():
    assert hidden("up 5 %% now\n\n```\n# %%\n```", at=5) is None
    assert hidden("up 5 %% now\n\nand %% here", at=5) is not None


@given(st.text(alphabet="<!->% \na"))
def test_end_lies_behind_its_start(text):
    marks = PrivateMarks(text)
    for mark in ("<!--", "%%"):
        at = text.find(mark)
        end = marks.find_end(at) if at >= 0 else None
        assert end is None or at + 4 <= end <= len(text)
        assert at < 0 or marks.next_blank(at) > at
