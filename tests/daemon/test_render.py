"""What people read: complete, and unable to steer their terminal."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon import render
from recalld.records import AnswerReason, Reason
from tests.daemon.fakes import ANSWER, FOUND, HIT, IDLE, NOTHING, STATUS

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=20,
)


def text(lines) -> str:
    return "\n".join("".join(span.text for span in line) for line in lines)


def steers(shown: str) -> bool:
    return any(
        (ord(each) < 32 and each not in "\n\t") or 127 <= ord(each) < 160 or each in "\u202e\u2066"
        for each in shown
    )


def test_hit_is_heading_text_and_a_line_about_it():
    assert text(render.recall_lines(FOUND)).split("\n") == [
        "Uitrol › Incidenten",
        "De uitrol faalt om 03:00.",
        "Tweede regel 部署失败",
        "error · 0.83 · uitrol/深.md:41-42 (+2 more) · 2026-03-02 · fact:a3f1c0d2",
    ]


def test_an_answer_names_each_source_in_the_order_of_its_citations():
    other = {**HIT, "anchor": "fact:00000002", "context": []}
    answer = {**ANSWER, "citations": ["fact:00000002", "fact:a3f1c0d2"], "hits": [HIT, other]}
    about = "error · 0.83 · uitrol/深.md:41-42 (+2 more) · 2026-03-02"
    assert text(render.answer_lines(answer)).split("\n") == [
        "De uitrol faalt om 03:00. [fact:a3f1c0d2]",
        "",
        f"{about} · fact:00000002",
        f"Uitrol · Incidenten · {about} · fact:a3f1c0d2",
    ]


@pytest.mark.parametrize("reason", sorted(set(get_args(AnswerReason)) - set(get_args(Reason))))
def test_a_list_says_that_it_is_one_and_why(reason):
    listed = {**ANSWER, "reason": reason, "degraded": ["catching_up", "llm"]}
    *_, why, without = text(render.answer_lines(listed)).split("\n")
    assert why.startswith("a list of what was found: ")
    assert reason not in why
    assert without == "without: catching_up"


@given(st.dictionaries(st.sampled_from(sorted(ANSWER)), anything))
def test_an_answer_of_any_shape_is_shown_and_steers_nothing(result):
    assert not steers(text(render.answer_lines(result)))


def test_the_way_by_which_the_graph_led_to_a_hit_is_shown():
    hit = {**HIT, "path": ["deploy pipeline", "runs on", "Ver\x1bcel"]}
    shown = text(render.recall_lines({**FOUND, "hits": [hit]}))
    assert "by way of: deploy pipeline → runs on → Ver\ufffdcel" in shown


def test_nodes_come_with_the_links_to_those_above():
    drawn = {
        "nodes": [
            {"id": "entity:a", "kind": "entity", "name": "A"},
            {"id": "fact:1", "kind": "fact", "name": "A" * 200},
            {"id": "entity:b", "kind": "entity", "name": "B"},
        ],
        "links": [{"from": "entity:b", "to": "entity:a", "type": "runs_on", "because": "fact:1"}],
    }
    lines = text(render.related_lines(drawn)).split("\n")
    assert lines[0] == "A  entity:a"
    assert len(lines[1]) < 100
    assert lines[2:] == ["B  entity:b", "  B – runs on → A"]
    assert text(render.related_lines({})) == ""


def test_disagreement_is_shown():
    hit = {**HIT, "superseded_by": "fact:b", "conflicts_with": ["fact:c", "fact:d"]}
    shown = text(render.recall_lines({**FOUND, "hits": [hit], "degraded": ["vectors"]}))
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
    last = text(render.recall_lines({**FOUND, "hits": [{**HIT, "dates": dates}]})).split("\n")[-1]
    assert last.split(" · ")[3] == (shown or HIT["anchor"])


def test_nothing_found_says_why_and_what_is_unknown():
    assert (
        render.nothing_found(NOTHING)
        == "nothing found: nothing in the notes answers this; no note has zeppelin"
    )


@given(st.text(), st.text())
def test_text_of_a_note_never_steers_the_terminal(body, path):
    hit = {**HIT, "text": f"\x1b]0;x\x07{body}\x9b1m\u202e\ud800", "context": [body]}
    hit["source"] = {**HIT["source"], "path": f"a\r\nb\x1b[2J{path}"}
    shown = text(render.recall_lines({**FOUND, "hits": [hit]}))
    assert not steers(shown)
    shown.encode()


@given(anything)
def test_any_json_becomes_an_outline_that_steers_nothing(value):
    assert not steers(text(render.tree_lines(value)))


@given(anything)
def test_json_for_people_reads_back_as_the_same_and_steers_nothing(value):
    shown = render.json_text(value)
    assert json.loads(shown) == value
    assert not steers(shown)


@pytest.mark.parametrize("value", ["caf\udce9", "\x9b31m", "\u2028", "مرحبا 日本語 ไทย 👩‍👩‍👧"])
def test_odd_text_survives_json(value):
    assert json.loads(render.json_text([value]).encode()) == [value]


def test_words_of_every_script_are_left_alone():
    words = "naïve Straße 部署失败 デプロイ 배포 การปรับใช้ مرحبا שלום 👩‍👩‍👧 می‌روم"
    assert render.printable(words) == words


def test_status_is_the_whole_truth():
    shown = text(render.status_lines(STATUS))
    for part in (
        "recalld 0.1.0 · process 4711 · up 2 h 3 min",
        "state      catching up · the oldest change has waited 1 min 15 s",
        "notes ok · 120 notes · 3 waiting · /home/ann/notes",
        "unreadable: geheim.md · permission denied",
        "skipped: groot.md",
        "disk unavailable · 7 notes",
        "queue      3 changed notes, 41 vectors, 2 parked",
        "embedding e5 (384) ok",
        "llm off",
        "set llm.model to refine facts",
        "memory.db · 12.3 MB",
        "scan · last success 2026-03-04T10:00:00Z",
        "embed · last success never · failed 4",
    ):
        assert part in shown


def test_long_list_of_problems_is_cut_and_counted():
    root = {**STATUS["roots"][0], "unreadable": [f"{number}.md" for number in range(25)]}
    shown = text(render.status_lines({**STATUS, "roots": [root]}))
    assert shown.count("unreadable:") == 10
    assert "and 15 more unreadable" in shown


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(list(STATUS)), anything))
def test_status_of_another_version_is_shown_as_far_as_it_goes(changes):
    assert "state" in text(render.status_lines({**STATUS, **changes}))
    assert render.status_phrase({**STATUS, **changes})
    assert isinstance(render.failures({**STATUS, **changes}), list)


def test_status_says_what_the_language_model_is_at():
    extraction = {
        "pending": 12,
        "refused": {"number": 3, "leak": 1},
        "parked": [
            {"root": "notes", "path": f"{n}.md", "lines": [3, 4], "reason": "no JSON\x1b[2J"}
            for n in range(12)
        ],
    }
    shown = text(render.status_lines({**STATUS, "extraction": extraction}))
    assert "facts      12 blocks wait for the language model" in shown
    assert "not believed, as the notes don't say so: 3 number, 1 leak" in shown
    assert "parked: 0.md:3-4 · no JSON" in shown
    assert "and 2 more parked" in shown
    assert "`recalld reextract --parked`" in shown
    assert not steers(shown)
    quiet = {"pending": 0, "refused": {}, "parked": []}
    assert "facts      " not in text(render.status_lines({**STATUS, "extraction": quiet}))


@pytest.mark.parametrize("value", [None, 7, [], {"parked": 3}, {"parked": [7]}, {"refused": []}])
def test_extraction_of_another_version_is_shown_as_far_as_it_goes(value):
    assert "state" in text(render.status_lines({**STATUS, "extraction": value}))


def test_queued_blocks_are_told_with_how_the_model_is():
    model = {"name": "gemma3:4b", "state": "missing", "hint": "`ollama pull gemma3:4b`"}
    shown = text(render.queued_lines({"queued": 3, "model": model}))
    assert "3 blocks wait for gemma3:4b again; it is missing" in shown
    assert "`ollama pull gemma3:4b`" in shown
    assert "0 blocks wait for the language model" in text(render.queued_lines({}))


def test_model_that_failed_is_no_failure_of_a_run():
    stages = {"facts": {"last_ok": None, "failed": 3}, "scan": {"last_ok": None, "failed": 1}}
    assert render.failures({"stages": stages}) == ["stage scan failed 1 times"]


def test_status_phrase_is_short():
    assert render.status_phrase(IDLE) == "idle: 127 notes, 800 facts"
    assert render.status_phrase(STATUS) == (
        "catching up: 127 notes, 800 facts; waiting: 3 changed notes, 41 vectors, 2 parked; "
        "see roots disk"
    )


def test_thing_is_shown_with_all_that_is_known_of_it():
    thing = {**HIT, "sources": [{"path": "b.md", "lines": [1, 2]}], "source_text": "regel\ntwee"}
    shown = text(render.thing_lines(thing))
    assert shown.startswith("Uitrol › Incidenten\nDe uitrol faalt")
    assert "b.md" in shown
    assert "source_text: regel\n  twee" in shown


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0 s"), (59.9, "59 s"), (3600, "1 h"), (90061, "1 d 1 h"), (None, "?"), (-5, "0 s")],
)
def test_spans_are_said_in_two_units(seconds, said):
    assert render.span_of(seconds) == said


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2e9, "2.0 GB"), (None, "?")]
)
def test_sizes_are_said_in_thousands(count, said):
    assert render.bytes_text(count) == said
