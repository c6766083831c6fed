"""Names in a question: the longest, in every script, and common words only when something says that they are names."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.graph.names import MOST_WORDS, name_spans, names_in
from retrieval.text.words import language_of


def named(text: str, *known: str, rare: bool = False) -> list[str]:
    found = names_in(name_spans(text), known, is_rare=lambda _: rare, language=language_of(text))
    return [one.key for one in found]


@pytest.mark.parametrize(
    ("text", "known", "found"),
    [
        (
            "Who owns the deploy pipeline of Anna?",
            ("deploy pipeline", "deploy"),
            ["deploy pipeline"],
        ),
        ("What did Sietske Bouma say?", ("sietske", "sietske bouma", "bouma"), ["sietske bouma"]),
        ("what did SIETSKE BOUMA say", ("sietske bouma",), ["sietske bouma"]),
        ("Sietske's number?", ("sietske",), ["sietske"]),
        ("Where does db2 live?", ("db2",), ["db2"]),
        ("Wat kost [[de heg]]?", ("de heg", "heg"), ["de heg"]),
        ("does `port` close", ("port",), ["port"]),
        ("潮汐公告依赖的数据几点更新？", ("潮汐公告", "公告", "数据"), ["潮汐公告", "数据"]),
        ("東京のサーバーはいつ？", ("東京", "サーバー"), ["サーバー", "東京"]),
        ("서울서버의 주소", ("서울서버",), ["서울서버"]),
    ],
)
def test_known_names_are_found_longest_first(text, known, found):
    assert sorted(named(text, *known)) == sorted(found)


@pytest.mark.parametrize("text", ["which port is open", "the weather of the office"])
def test_a_common_word_is_no_name_unless_rare(text):
    assert named(text, "port", "weather", "office") == []
    assert named(text, "port", "weather", "office", rare=True) != []


def test_a_capital_says_nothing_in_german_and_a_stop_word_is_never_a_name():
    assert named("Wie heißt der Server und wo ist das Büro?", "server", "büro") == []
    assert named("Who is The?", "who", "the", rare=True) == []


@given(st.text(max_size=80))
def test_any_text_gives_spans_in_bounds_and_no_overlapping_names(text):
    spans = name_spans(text)
    assert all(span.start < span.end and span.key for span in spans)
    assert all(span.key.count(" ") <= MOST_WORDS * 3 for span in spans)
    found = names_in(spans, {s.key for s in spans}, is_rare=lambda _: True, language="en")
    places = sorted((one.start, one.end) for one in found)
    assert all(a[1] <= b[0] for a, b in pairwise(places))
