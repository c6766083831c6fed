"""The daemon's state as people read it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.render.status import (
    bytes_text,
    failures,
    queued_lines,
    span_of,
    status_lines,
    status_phrase,
)
from tests.daemon.fakes import IDLE, STATUS
from tests.daemon.render.shown import anything, steers, text


def test_status_is_the_whole_truth():
    shown = text(status_lines(STATUS))
    for part in (
        "recalld 0.1.0 · process 4711 · up 2 h 3 min",
        "state      catching up · the oldest change has waited 1 min 15 s",
        "notes ok · 120 notes · 3 waiting · /home/ann/notes",
        "unreadable: geheim.md · permission denied",
        "skipped: groot.md",
        "disk unavailable · 7 notes",
        "is the disk mounted?",
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
    shown = text(status_lines({**STATUS, "roots": [root]}))
    assert shown.count("unreadable:") == 10
    assert "and 15 more unreadable" in shown


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(list(STATUS)), anything))
def test_status_of_another_version_is_shown_as_far_as_it_goes(changes):
    assert "state" in text(status_lines({**STATUS, **changes}))
    assert status_phrase({**STATUS, **changes})
    assert isinstance(failures({**STATUS, **changes}), list)


def test_a_language_model_that_is_only_looked_for_is_at_nothing():
    refining = {"refining": {"blocks": 2, "facts": 0}}
    fit = {**STATUS["models"], "llm": {"name": "m", "state": "ok", "hint": None}}
    sought = {**STATUS["models"], "llm": {"name": None, "state": "loading", "hint": None}}
    told = "the language model goes on: 2 blocks to read"
    assert told in text(status_lines({**STATUS, **refining, "models": fit}))
    assert "goes on" not in text(status_lines({**STATUS, **refining, "models": sought}))


def test_status_says_what_the_language_model_is_at():
    extraction = {
        "pending": 12,
        "refused": {"number": 3, "leak": 1},
        "beside": 7,
        "parked": [
            {"root": "notes", "path": f"{n}.md", "lines": [3, 4], "reason": "no JSON\x1b[2J"}
            for n in range(12)
        ],
    }
    shown = text(status_lines({**STATUS, "extraction": extraction}))
    assert "facts      12 blocks wait for the language model" in shown
    assert "facts not taken from the model: 3 number, 1 leak" in shown
    assert "the rules' facts beside the model's, which do not say them: 7" in shown
    assert "parked: 0.md:3-4 · no JSON" in shown
    assert "and 2 more parked" in shown
    assert "`recalld reextract --parked`" in shown
    assert not steers(shown)
    quiet = {"pending": 0, "refused": {}, "parked": []}
    assert "facts      " not in text(status_lines({**STATUS, "extraction": quiet}))


@pytest.mark.parametrize("value", [None, 7, [], {"parked": 3}, {"parked": [7]}, {"refused": []}])
def test_extraction_of_another_version_is_shown_as_far_as_it_goes(value):
    assert "state" in text(status_lines({**STATUS, "extraction": value}))


def test_queued_blocks_are_told_with_how_the_model_is():
    model = {"name": "gemma3:4b", "state": "missing", "hint": "`ollama pull gemma3:4b`"}
    shown = text(queued_lines({"queued": 3, "model": model}))
    assert "3 blocks wait for gemma3:4b again; it is missing" in shown
    assert "`ollama pull gemma3:4b`" in shown
    assert "0 blocks wait for the language model" in text(queued_lines({}))


def test_model_that_failed_is_no_failure_of_a_run():
    stages = {"facts": {"last_ok": None, "failed": 3}, "scan": {"last_ok": None, "failed": 1}}
    assert failures({"stages": stages}) == ["stage scan failed 1 times"]


def test_status_phrase_is_short():
    assert status_phrase(IDLE) == "idle: 127 notes, 800 facts"
    assert status_phrase(STATUS) == (
        "catching up: 127 notes, 800 facts; waiting: 3 changed notes, 41 vectors, 2 parked; "
        "see roots disk"
    )


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0 s"), (59.9, "59 s"), (3600, "1 h"), (90061, "1 d 1 h"), (None, "?"), (-5, "0 s")],
)
def test_spans_are_said_in_two_units(seconds, said):
    assert span_of(seconds) == said


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (2e9, "2.0 GB"), (None, "?")]
)
def test_sizes_are_said_in_thousands(count, said):
    assert bytes_text(count) == said


def test_status_says_from_where_on_an_answer_is_given_and_why():
    told = {"threshold": {"other": 0.38}, "measured": None, "statements": None}
    shown = text(status_lines({**STATUS, "evidence": told}))
    assert "evidence   threshold 0.38 · as shipped with the model" in shown
    told = {
        "threshold": {"en": 0.5, "zh": 0.361, "other": 0.4},
        "measured": "2026-03-04",
        "statements": 1234,
        "measuring": True,
    }
    shown = text(status_lines({**STATUS, "evidence": told}))
    assert (
        "evidence   threshold 0.36 to 0.50 by language · measured on 2026-03-04 over 1234 statements, being measured now"
        in shown
    )


@pytest.mark.parametrize("value", [None, 7, {}, {"threshold": 0.4}, {"threshold": {"en": "high"}}])
def test_evidence_of_another_version_is_left_out(value):
    assert "evidence" not in text(status_lines({**STATUS, "evidence": value}))
