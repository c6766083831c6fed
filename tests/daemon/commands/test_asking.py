"""What asks the memory: what is sent, what is shown, how it exits."""

from __future__ import annotations

import json

import pytest

from tests.daemon.commands.calling import answering, call
from tests.daemon.fakes import FOUND, HIT, NOTHING


def test_words_without_quotes_are_one_query(daemon):
    done = call("recall", "waarom", "faalt", "de uitrol?")
    assert done.exit_code == 0
    assert daemon.requests == [("recall", {"query": "waarom faalt de uitrol?"})]
    assert "De uitrol faalt om 03:00." in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("method", ["recall", "answer"])
def test_every_option_becomes_its_parameter(daemon, method):
    call(
        method, "x", "-n", "3", "--category", "error", "--category", "tool", "--root", "notes",
        "--path", "a/**", "--tag", "t", "--scope", "s", "--kind", "fact", "--since", "2026-01-02",
        "--until", "2026-02-03", "--as-of", "2026-03-04", "--min-relevance", "0", "--max-chars", "500",
        "--explain",
    )  # fmt: skip
    [(_, params)] = daemon.requests
    assert params == {
        "query": "x", "limit": 3, "categories": ["error", "tool"], "roots": ["notes"],
        "paths": ["a/**"], "tags": ["t"], "scope": ["s"], "kinds": ["fact"], "since": "2026-01-02",
        "until": "2026-02-03", "as_of": "2026-03-04", "min_relevance": 0.0, "max_chars": 500,
        "explain": True,
    }  # fmt: skip


def test_recall_asks_for_the_passage_and_the_lines_about_hits(daemon):
    about = {
        "passage": {"lines": [40, 42], "text": "Rond de uitrol. \x1b]0;own\x07"},
        "source_text": {"lines": [41, 43], "text": "eerst\n\n部署失败"},
    }
    answering(daemon, "recall", {**FOUND, "hits": [{**HIT, **about}]})
    done = call("recall", "x", "--passages", "--lines-around", "2")
    assert daemon.requests == [("recall", {"query": "x", "passages": True, "lines_around": 2})]
    assert done.stdout.splitlines()[-4:] == [
        "  Rond de uitrol. \ufffd]0;own\ufffd",
        "    41  eerst",
        "    42",
        "    43  部署失败",
    ]
    told = json.loads(call("recall", "x", "--passages", "--json").stdout)
    assert told == {**FOUND, "hits": [{**HIT, **about}]}


def test_an_answer_is_its_text_and_then_its_sources(daemon):
    done = call("answer", "waarom", "faalt", "de uitrol?")
    assert done.exit_code == 0
    assert daemon.requests == [("answer", {"query": "waarom faalt de uitrol?"})]
    assert done.stdout.splitlines()[0] == "De uitrol faalt om 03:00. [fact:a3f1c0d2]"
    assert "uitrol/深.md:41-42" in done.stdout
    assert done.stderr == ""


def test_an_answer_without_evidence_exits_1_with_the_reason(daemon):
    empty = {"text": "", "citations": [], "hits": [], "reason": "no_evidence", "degraded": []}
    answering(daemon, "answer", empty)
    done = call("answer", "zeppelin")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "nothing in the notes answers this" in done.stderr
    shown = call("answer", "zeppelin", "--json")
    assert shown.exit_code == 1
    assert json.loads(shown.stdout) == empty


def test_query_that_begins_with_a_dash_follows_two(daemon):
    call("recall", "--", "--force", "flag")
    assert daemon.requests == [("recall", {"query": "--force flag"})]


def test_nothing_found_exits_1_with_a_reason_on_standard_error(daemon):
    answering(daemon, "recall", NOTHING)
    done = call("recall", "zeppelin")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert "nothing in the notes answers this; no note has zeppelin" in done.stderr


def test_json_of_nothing_is_the_result_and_exits_1(daemon):
    answering(daemon, "recall", NOTHING)
    done = call("recall", "x", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout) == NOTHING


def test_control_characters_of_a_note_stay_out_of_the_output(daemon):
    answering(daemon, "recall", {**FOUND, "hits": [{**HIT, "text": "\x1b]0;own\x07\x9b2J"}]})
    for words in (("recall", "x"), ("recall", "x", "--json")):
        shown = call(*words).stdout
        assert not any(
            (ord(each) < 32 and each != "\n") or 127 <= ord(each) < 160 for each in shown
        )


def test_get_asks_for_lines_around(daemon):
    done = call("get", "fact:a3f1c0d2", "--lines-around", "3")
    assert daemon.requests == [("get", {"anchor": "fact:a3f1c0d2", "lines_around": 3})]
    assert "De uitrol faalt" in done.stdout


def test_explain_takes_an_id_or_a_query(daemon):
    call("explain", "r-1a2B")
    call("explain", "r-1", "and", "more", "--limit", "2")
    assert daemon.requests == [
        ("explain", {"recall_id": "r-1a2B"}),
        ("explain", {"query": "r-1 and more", "limit": 2}),
    ]


DRAWN = {
    "nodes": [
        {"id": "entity:vercel", "kind": "entity", "name": "Vercel"},
        {"id": "entity:deploy", "kind": "entity", "name": "deploy \x1b[31m"},
    ],
    "links": [
        {"from": "entity:deploy", "to": "entity:vercel", "type": "runs_on", "because": "fact:1234"}
    ],
}


def test_related_takes_a_name_of_several_words_or_an_anchor(daemon):
    answering(daemon, "related", DRAWN)
    done = call("related", "deploy", "pipeline", "--hops", "2")
    assert done.exit_code == 0
    assert "deploy \ufffd[31m – runs on → Vercel" in done.output
    assert call("related", "fact:a3f1c0d2", "-n", "5").exit_code == 0
    assert daemon.requests == [
        ("related", {"entity": "deploy pipeline", "hops": 2}),
        ("related", {"anchor": "fact:a3f1c0d2", "limit": 5}),
    ]
    assert call("related", "x", "--hops", "4").exit_code == 2


PAIR = {
    "facts": [
        {"anchor": "fact:bbbbbbbb", "text": "It runs on db2.", "stated": "2026-06-01",
         "happened": None, "source": {"root": "notes", "path": "new.md", "lines": [3, 3], "more": 1}},
        {"anchor": "fact:aaaaaaaa", "text": "It runs on \x1b[31mdb1.", "stated": "2026-01-01",
         "happened": ["2025-12-01", "2025-12-31"],
         "source": {"root": "notes", "path": "old.md", "lines": [1, 2], "more": 0}},
    ],
    "kind": "contradicts", "reason": "changed_value", "state": "superseded",
}  # fmt: skip


def test_conflicts_show_both_facts_with_dates_places_and_state(daemon):
    answering(daemon, "conflicts", {"pairs": [PAIR], "total": 7})
    done = call("conflicts", "-n", "1", "--offset", "2")
    assert done.exit_code == 0
    assert "superseded · changed value" in done.output
    assert "new.md:3 (+1 more) · 2026-06-01 · fact:bbbbbbbb" in done.output
    assert "old.md:1-2 · 2025-12-01–2025-12-31 · fact:aaaaaaaa" in done.output
    assert "1 of 7" in done.output
    assert "\x1b" not in done.output
    assert daemon.requests == [("conflicts", {"limit": 1, "offset": 2})]


def test_no_conflicts_are_said_and_are_nothing_found(daemon):
    answering(daemon, "conflicts", {"pairs": [], "total": 0})
    done = call("conflicts")
    assert (done.exit_code, done.output) == (1, "no facts disagree\n")
    done = call("conflicts", "--json")
    assert (done.exit_code, json.loads(done.output)) == (1, {"pairs": [], "total": 0})


def test_resolve_says_which_holds_or_that_both_do(daemon):
    answering(daemon, "resolve", {**PAIR, "state": "resolved"})
    assert "resolved" in call("resolve", "fact:bbbbbbbb", "fact:aaaaaaaa").output
    assert call("resolve", "fact:bbbbbbbb", "fact:aaaaaaaa", "--both").exit_code == 0
    assert daemon.requests == [
        ("resolve", {"anchor": "fact:bbbbbbbb", "over": "fact:aaaaaaaa", "verdict": verdict})
        for verdict in ("supersedes", "both")
    ]
    assert call("resolve", "fact:bbbbbbbb").exit_code == 2
