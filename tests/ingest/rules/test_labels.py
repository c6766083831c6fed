from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.markdown.markup import squeeze, strip_markup
from ingest.rules.labels import find_label, is_term


@pytest.mark.parametrize(
    ("source", "term"),
    [
        ("**Latency**: the time between two things.", "Latency"),
        ("**Latency:** the time between two things.", "Latency"),
        ("**Latency** — the time between two things.", "Latency"),
        ("**Latency.** It is a time.", "Latency"),
        ("**Latency**\nThe time between two things.", "Latency"),
        ("*Durchsatz*: Anzahl der Anfragen.", "Durchsatz"),
        ("`--force`: overwrites the file.", "--force"),
        ("**[Latency](a.md)**: the time between two things.", "Latency"),
        ("**延迟**：请求和应答之间的时间。", "延迟"),
        ("**زمن الاستجابة**: الوقت بين الطلب والرد.", "زمن الاستجابة"),
    ],
)
def test_a_marked_term_is_a_label(source, term):
    assert find_label(source, listed=False) == term


@pytest.mark.parametrize(
    ("source", "term"),
    [
        ("Poort: 5432, tenzij anders ingesteld.", "Poort"),
        ("Jitter – variation of the delay", "Jitter"),
        ("端口：默认是五四三二。", "端口"),
        ("지연: 요청과 응답 사이의 시간.", "지연"),
    ],
)
def test_an_unmarked_term_is_one_in_a_list_only(source, term):
    assert find_label(source, listed=True) == term
    assert find_label(source, listed=False) == ""


@pytest.mark.parametrize(
    "source",
    [
        "**Note:** the gateway is slow.",
        "Let op: de poort is dicht.",
        "注意：端口已关闭。",
        "**Bold** words begin this sentence.",
        "https://example.org/a: a page",
        "12:30 lunch with Bo",
        "**Bo**: I sold the boat in May.",
        "Bo: The boat was sold in May.",
        "Assistant: the boat was sold.",
        "小明：我卖了船。",
        "A sentence, with a comma: and more.",
        "",
    ],
)
def test_other_beginnings_are_none(source):
    assert find_label(source, listed=True) == ""


@pytest.mark.parametrize(
    ("line", "found"), [("Port", True), ("端口", True), ("It ends.", False), ("", False)]
)
def test_a_term_is_short_and_no_sentence(line, found):
    assert is_term(line) is found


@given(st.text(max_size=80), st.booleans())
def test_a_label_stands_in_its_text(source, listed):
    label = find_label(source, listed=listed)
    assert label in squeeze(strip_markup(source).text)
