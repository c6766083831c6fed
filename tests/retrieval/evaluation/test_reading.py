"""Files of questions: what each key means, and every mistake at once with its place."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recalld.records import Category
from retrieval.evaluation.questions import Piece, Place, Question
from retrieval.evaluation.reading import read_questions

EXAMPLE = Path(__file__).parents[3] / "examples" / "questions.toml"


def toml(*entries: str) -> tuple[Question, ...]:
    read = read_questions("\n".join(f"[[questions]]\n{entry}" for entry in entries), is_toml=True)
    assert read.mistakes == ()
    return read.questions


def mistakes(text: str, *, is_toml: bool = True) -> tuple[str, ...]:
    read = read_questions(text, is_toml=is_toml)
    assert not (read.questions and read.mistakes)
    return read.mistakes


def test_words_are_one_piece_and_a_bar_parts_wordings():
    (one,) = toml('question = "q"\nwords = ["db2", "June | juni"]')
    assert one.pieces == (Piece(words=(("db2",), ("June", "juni"))),)
    assert one.answerable
    assert one.id == "q1"


def test_each_source_is_a_piece_and_a_bar_parts_places_that_stand_for_one_another():
    (one,) = toml('question = "q"\nsource = ["a/b.md:3-5 | c.md:7", "d.md"]')
    assert one.pieces == (
        Piece(places=(Place(path="a/b.md", first=3, last=5), Place(path="c.md", first=7, last=7))),
        Piece(places=(Place(path="d.md"),)),
    )


def test_words_within_sources_are_one_piece():
    (one,) = toml('question = "q"\nwords = "db2"\nsource = ["a.md", "b.md:2"]')
    places = (Place(path="a.md"), Place(path="b.md", first=2, last=2))
    assert one.pieces == (Piece(words=(("db2",),), places=places),)


@pytest.mark.parametrize(
    ("lines", "first", "last"), [("12", 12, 12), ("[12]", 12, 12), ("[12, 14]", 12, 14)]
)
def test_source_as_a_table_takes_any_path(lines, first, last):
    (one,) = toml(f'question = "q"\nsource = {{ path = "a|b:3.md", lines = {lines} }}')
    assert one.pieces == (Piece(places=(Place(path="a|b:3.md", first=first, last=last),)),)


def test_nothing_wants_nothing():
    (one,) = toml('question = "q"\nnothing = true')
    assert not one.answerable


def test_day_categories_and_filters_are_taken():
    read = read_questions(
        'today = 2026-01-01\n[[questions]]\nquestion = "q"\nwords = "a"\ntoday = "2026-05-05"\n'
        'category = ["x", "y", "x"]\nid = 7\n'
        'filters = { tags = ["t"], since = 2026-02-01, categories = ["error"], min_relevance = 0.3 }\n'
        '[[questions]]\nquestion = "r"\nwords = "a"',
        is_toml=True,
    )
    one, other = read.questions
    assert (one.id, one.today, one.categories) == ("7", date(2026, 5, 5), ("x", "y"))
    assert other.today == date(2026, 1, 1)
    assert one.limits.tags == ("t",)
    assert one.limits.since == date(2026, 2, 1)
    assert one.limits.categories == (Category.ERROR,)
    assert one.min_relevance == 0.3


def test_json_lines_are_the_same_questions():
    text = (
        '{"question": "问", "words": ["龙井"], "id": "a", "category": "中文"}\n\n'
        '{"question": "r", "nothing": true, "filters": {"since": "2026-02-01"}}\n'
    )
    read = read_questions(text, is_toml=False)
    assert read.mistakes == ()
    assert [one.id for one in read.questions] == ["a", "q2"]
    assert read.questions[0].pieces == (Piece(words=(("龙井",),)),)


def test_every_mistake_is_told_with_the_line_of_its_question():
    found = mistakes(
        'toady = 2026-01-01\n\n[[questions]]\nquestion = "q"\n\n[[questions]]\nquestoin = "q"\n'
        'words = []\n\n[[questions]]\nquestion = "q"\nsource = "a.md:9-3"\nnothing = true\n'
        'filters = { tag = ["x"] }\n'
    )
    assert found[0].startswith("`toady` is no key here; did you mean `today`?")
    by_line = {line: [one for one in found if one.startswith(f"{line}:")] for line in ("line 3", "line 6", "line 10")}  # fmt: skip
    assert "needs `words`, a `source`, or `nothing = true`" in by_line["line 3"][0]
    assert any("did you mean `question`" in one for one in by_line["line 6"])
    assert any("needs a `question`" in one for one in by_line["line 6"])
    assert any("`words`" in one for one in by_line["line 6"])
    assert any("9-3" in one for one in by_line["line 10"])
    assert any("did you mean `tags`" in one for one in by_line["line 10"])
    assert len(found) == 1 + sum(map(len, by_line.values()))


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("words = 3", "`words` must be text"),
        ('words = "…"', "only signs"),
        ('words = "a"\nnothing = true', "leave one of them out"),
        ('nothing = "yes"', "true or false"),
        ("source = 3", "`source` must be text"),
        ('source = ""', "`source`"),
        ("source = { lines = 3 }", "needs a `path`"),
        ('source = { path = "a.md", lines = [1, 2, 3] }', "the first and the last"),
        ('source = { path = "a.md", line = 1 }', "did you mean `lines`"),
        ('words = "a"\ntoday = "yesterday"', "must be a day"),
        ('words = "a"\nfilters = { since = "soon" }', "ISO date"),
        ('words = "a"\nfilters = { categories = ["eror"] }', "did you mean error"),
        ('words = "a"\nfilters = 3', "must be a table"),
        ('words = "a"\ncategory = ""', "`category`"),
    ],
)
def test_mistake_says_what_is_allowed(entry, said):
    found = mistakes(f'\n[[questions]]\nquestion = "q"\n{entry}')
    assert any(one.startswith("line 2: ") and said in one for one in found), found


def test_file_that_is_no_toml_says_where():
    (one,) = mistakes("[[questions]]\nquestion = q\n")
    assert "line 2" in one


def test_lines_that_are_no_json_are_each_told():
    text = '{"question": "q", "words": "a"}\nnothing\n[1]\n{"question": "q"}'
    found = mistakes(text, is_toml=False)
    assert [one.partition(":")[0] for one in found] == ["line 2", "line 3", "line 4"]


def test_same_id_twice_is_a_mistake():
    found = mistakes(
        '[[questions]]\nid = "a"\nquestion = "q"\nnothing = true\n'
        '[[questions]]\nid = "a"\nquestion = "r"\nnothing = true\n'
    )
    assert found == ("line 5: the id a is that of line 1 too",)


@pytest.mark.parametrize("is_toml", [True, False])
def test_empty_file_has_no_question(is_toml):
    assert "no question" in mistakes("\n", is_toml=is_toml)[0]


def test_heading_inside_a_text_does_not_shift_the_places():
    found = mistakes(
        '[[questions]]\nquestion = """\n[[questions]]\n"""\nwords = "a"\n[[questions]]\nid = "b"\n'
    )
    assert all(one.startswith("question 2: ") for one in found)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
keys = st.sampled_from(["question", "words", "source", "nothing", "id", "category", "today", "filters", "x"])  # fmt: skip


@given(st.lists(st.dictionaries(keys, values, max_size=5), max_size=4))
@settings(deadline=None, max_examples=40)
def test_any_json_gives_questions_or_mistakes_and_never_an_error(entries):
    text = "\n".join(json.dumps(entry) for entry in entries)
    read = read_questions(text, is_toml=False)
    assert bool(read.questions) != bool(read.mistakes)


@given(st.text())
@settings(deadline=None, max_examples=50)
def test_any_text_gives_questions_or_mistakes_and_never_an_error(text):
    for is_toml in (True, False):
        read = read_questions(text, is_toml=is_toml)
        assert bool(read.questions) != bool(read.mistakes)


def test_example_file_has_questions_in_three_languages_whose_sources_are_there():
    read = read_questions(EXAMPLE.read_text("utf-8"), is_toml=True)
    assert read.mistakes == ()
    categories = {name for one in read.questions for name in one.categories}
    assert {"English", "Nederlands", "中文", "nothing"} <= categories
    assert any(not one.answerable for one in read.questions)
    notes = EXAMPLE.parent / "notes"
    for one in read.questions:
        for piece in one.pieces:
            for place in piece.places:
                lines = (notes / place.path).read_text("utf-8").splitlines()
                assert place.first is None or lines[place.first - 1].strip(), one.id
