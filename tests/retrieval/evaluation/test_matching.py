"""What counts as the right hit, in scripts with and without spaces."""

from __future__ import annotations

import pytest

from recalld.records import Lines, Source
from retrieval.evaluation.matching import is_right, same_note, stands_in
from retrieval.evaluation.questions import Piece, Place
from tests.retrieval.evaluation.making import hit, place, words


@pytest.mark.parametrize(
    ("wording", "text"),
    [
        ("db2", "The production database runs on DB2."),
        ("230 °C", "Bake at 230 °C for 40 minutes."),
        ("230°C", "Bake at 230 ℃."),
        ("cafe", "Das Café am Markt"),
        ("lock_timeout", "Set `lock_timeout` to 5 seconds."),
        ("龙井", "我喜欢喝龙井茶，不喝咖啡。"),
        ("NumPy版本", "因为虚拟环境里的NumPy版本不一样"),
        ("東京", "会議は東京で開かれる。"),
        ("회의", "회의는 월요일에 있다."),
        ("ประชุม", "เราประชุมวันจันทร์"),
        ("السلام", "معاهدة السَّلام"),
        ("ＡＢＣ", "abc"),
    ],
)
def test_words_are_found_whatever_their_case_width_and_signs(wording, text):
    assert is_right(hit(text), words(wording))


@pytest.mark.parametrize(
    ("wording", "text"),
    [
        ("25", "in 1925 and 2025"),
        ("db2", "runs on mydb2"),
        ("db2", "runs on db20"),
        ("ana", "the banana"),
        ("龙井", "龙门"),
        ("230 °C", "250 °C"),
    ],
)
def test_part_of_a_longer_word_or_number_is_not_the_word(wording, text):
    assert not is_right(hit(text), words(wording))


def test_later_place_counts_where_the_first_is_inside_a_word():
    assert is_right(hit("1925 was 25 years ago"), words("25"))


def test_all_words_are_needed_and_any_wording_of_each():
    piece = words("db2", "June|juni")
    assert is_right(hit("The database runs on db2 since june."), piece)
    assert is_right(hit("Sinds juni draait alles op db2."), piece)
    assert not is_right(hit("The database runs on db2."), piece)


@pytest.mark.parametrize(
    ("first", "last", "right"),
    [(1, 9, False), (1, 10, True), (12, 12, True), (14, 20, True), (15, 20, False)],
)
def test_source_is_right_when_a_line_is_shared(first, last, right):
    assert is_right(hit(path="a/b.md", first=first, last=last), place("b.md", 10, 14)) is right


def test_path_alone_takes_any_line_of_the_note():
    assert is_right(hit(path="a/b.md", first=400), place("a/b.md"))
    assert not is_right(hit(path="a/c.md"), place("a/b.md"))


def test_words_and_source_are_both_needed():
    piece = Piece(words=(("db2",),), places=(Place(path="b.md"),))
    assert is_right(hit("on db2", path="b.md"), piece)
    assert not is_right(hit("on db2", path="c.md"), piece)
    assert not is_right(hit("on db1", path="b.md"), piece)


def test_path_is_held_against_whole_names_from_the_end():
    assert same_note("projects/tides.md", "tides.md")
    assert same_note("projects/tides.md", "/home/ana/notes/projects/tides.md")
    assert same_note("caf\u00e9.md", "cafe\u0301.md")
    assert not same_note("projects/ebbtides.md", "tides.md")
    assert not same_note("projects/tides.md", "archive/tides.md")
    assert not same_note("a.md", "")


def test_place_without_lines_is_the_whole_note():
    source = Source(root="n", path="a.md", lines=Lines(first=3, last=5))
    assert stands_in(source, Place(path="a.md"))
