"""What was found, as people read it: complete, and unable to steer their terminal."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.render.hits import answer_lines, nothing_found, recall_lines, thing_lines
from recalld.records import AnswerReason, Reason
from tests.daemon.fakes import ANSWER, FOUND, HIT, NOTHING
from tests.daemon.render.shown import anything, steers, text


def test_hit_is_heading_text_and_a_line_about_it():
    assert text(recall_lines(FOUND)).split("\n") == [
        "Uitrol › Incidenten",
        "De uitrol faalt om 03:00.",
        "Tweede regel 部署失败",
        "error · 0.83 · uitrol/深.md:41-42 (+2 more) · 2026-03-02 · fact:a3f1c0d2",
    ]


def test_an_answer_names_each_source_in_the_order_of_its_citations():
    other = {**HIT, "anchor": "fact:00000002", "context": []}
    answer = {**ANSWER, "citations": ["fact:00000002", "fact:a3f1c0d2"], "hits": [HIT, other]}
    about = "error · 0.83 · uitrol/深.md:41-42 (+2 more) · 2026-03-02"
    assert text(answer_lines(answer)).split("\n") == [
        "De uitrol faalt om 03:00. [fact:a3f1c0d2]",
        "",
        f"{about} · fact:00000002",
        f"Uitrol · Incidenten · {about} · fact:a3f1c0d2",
    ]


@pytest.mark.parametrize("reason", sorted(set(get_args(AnswerReason)) - set(get_args(Reason))))
def test_a_list_says_that_it_is_one_and_why(reason):
    listed = {**ANSWER, "reason": reason, "degraded": ["catching_up", "llm"]}
    *_, why, without = text(answer_lines(listed)).split("\n")
    assert why.startswith("a list of what was found: ")
    assert reason not in why
    assert without == "without: catching_up"


@given(st.dictionaries(st.sampled_from(sorted(ANSWER)), anything))
def test_an_answer_of_any_shape_is_shown_and_steers_nothing(result):
    assert not steers(text(answer_lines(result)))


def test_the_way_by_which_the_graph_led_to_a_hit_is_shown():
    hit = {**HIT, "path": ["deploy pipeline", "runs on", "Ver\x1bcel"]}
    shown = text(recall_lines({**FOUND, "hits": [hit]}))
    assert "by way of: deploy pipeline → runs on → Ver\ufffdcel" in shown


def test_what_is_about_a_hit_stands_dimmed_below_it():
    about = {
        "passage": {"lines": [40, 44], "text": "Voor de uitrol.\nNa de uitrol."},
        "source_text": {"lines": [9, 11], "text": "# Uitrol\n\n部署失败"},
    }
    plain = list(recall_lines(FOUND))
    lines = list(recall_lines({**FOUND, "hits": [{**HIT, **about}]}))
    assert lines[: len(plain)] == plain
    below = lines[len(plain) :]
    assert text(below).split("\n") == [
        "  Voor de uitrol.",
        "  Na de uitrol.",
        "     9  # Uitrol",
        "    10",
        "    11  部署失败",
    ]
    assert {span.style for line in below for span in line} == {"dim"}


def test_what_has_no_room_about_a_hit_is_not_shown():
    nothing = {"lines": [40, 44], "text": None}
    hit = {**HIT, "passage": nothing, "source_text": nothing}
    assert text(recall_lines({**FOUND, "hits": [hit]})) == text(recall_lines(FOUND))


@given(anything, anything)
def test_anything_about_a_hit_is_shown_and_steers_nothing(passage, lines):
    about = {"text": "\x1b[31m", "lines": lines}
    hit = {**HIT, "passage": passage, "source_text": about}
    assert not steers(text(recall_lines({**FOUND, "hits": [hit]})))


def test_disagreement_is_shown():
    hit = {**HIT, "superseded_by": "fact:b", "conflicts_with": ["fact:c", "fact:d"]}
    shown = text(recall_lines({**FOUND, "hits": [hit], "degraded": ["vectors"]}))
    assert "superseded by fact:b" in shown
    assert "conflicts with fact:c, fact:d" in shown
    assert shown.endswith("without: vectors")


@pytest.mark.parametrize(
    ("dates", "shown"),
    [
        ({"happened": ["2026-03-02", "2026-03-05"], "stated": None}, "2026-03-02–2026-03-05"),
        ({"happened": None, "stated": "2026-03-04"}, "2026-03-04"),
        ({"happened": None, "stated": None}, None),
    ],
)
def test_own_date_comes_before_the_notes(dates, shown):
    last = text(recall_lines({**FOUND, "hits": [{**HIT, "dates": dates}]})).split("\n")[-1]
    assert last.split(" · ")[3] == (shown or HIT["anchor"])


def test_nothing_found_says_why_and_what_is_unknown():
    assert (
        nothing_found(NOTHING)
        == "nothing found: nothing in the notes answers this; no note has zeppelin"
    )


@given(st.text(), st.text())
def test_text_of_a_note_never_steers_the_terminal(body, path):
    hit = {**HIT, "text": f"\x1b]0;x\x07{body}\x9b1m\u202e\ud800", "context": [body]}
    hit["source"] = {**HIT["source"], "path": f"a\r\nb\x1b[2J{path}"}
    shown = text(recall_lines({**FOUND, "hits": [hit]}))
    assert not steers(shown)
    shown.encode()


def test_thing_is_shown_with_all_that_is_known_of_it():
    thing = {**HIT, "sources": [{"path": "b.md", "lines": [1, 2]}], "source_text": "regel\ntwee"}
    shown = text(thing_lines(thing))
    assert shown.startswith("Uitrol › Incidenten\nDe uitrol faalt")
    assert "b.md" in shown
    assert "source_text: regel\n  twee" in shown
