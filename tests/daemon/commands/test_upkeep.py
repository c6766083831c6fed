"""What looks after the memory: what is sent, and what is shown."""

from __future__ import annotations

import json
from pathlib import Path

from tests.daemon.commands.calling import answering, call
from tests.daemon.fakes import STATUS


def test_sync_sends_whole_paths_and_what_was_confirmed(daemon):
    done = call("sync", "a.md", "/b", "--full", "--wait", "--confirm-deletions", "notes")
    assert daemon.requests[0] == (
        "sync",
        {
            "paths": [f"{Path.cwd()}/a.md", "/b"],
            "full": True,
            "wait": True,
            "confirm_deletions": ["notes"],
        },
    )
    assert done.stdout == "queued: 3\n"


def test_sync_says_what_the_language_model_is_still_at(daemon):
    answering(daemon, "status", {**STATUS, "refining": {"blocks": 12, "facts": 0}})
    done = call("sync", "--wait")
    assert "the language model goes on: 12 blocks to read" in done.stdout
    assert "recalld sync --refined" in done.stdout
    assert call("sync", "--refined").stdout == "queued: 3\n"
    assert daemon.requests[-1] == ("sync", {"refined": True})


def test_status_is_readable(daemon):
    done = call("status")
    assert done.exit_code == 0
    assert "catching up · the oldest change has waited 1 min 15 s" in done.stdout


def test_a_rebuild_of_the_graph_tells_what_it_set_right(daemon):
    result = {"facts": 7, "notes": 2, "links": 3, "changed": 0}
    answering(daemon, "rebuild_graph", result)
    assert "7 facts, 2 notes, 3 links; all as it was" in call("graph", "rebuild").output
    answering(daemon, "rebuild_graph", {**result, "changed": 4})
    assert "4 set right" in call("graph", "rebuild").output


def test_reextract_asks_for_what_was_given_up_or_for_all(daemon):
    result = {"queued": 2, "model": {"name": "m", "state": "ok", "hint": None}}
    answering(daemon, "reextract", result)
    assert "2 blocks wait for m again; it is ok" in call("reextract").output
    assert "2 blocks" in call("reextract", "--parked").output
    assert json.loads(call("reextract", "--json").output) == result


def test_reembed_says_how_far_it_is_and_what_recall_uses(daemon):
    change = {"model": "bge-m3", "recall_uses": "e5", "done": 0, "total": 4600}
    answering(daemon, "reembed", {"reembedding": change})
    done = call("reembed")
    assert "0 of 4600 statements are embedded for bge-m3" in done.output
    assert "recall uses e5 meanwhile" in done.output
    answering(daemon, "reembed", {"reembedding": {**change, "recall_uses": None}})
    assert "keywords stand in meanwhile" in call("reembed").output
    answering(daemon, "reembed", {"reembedding": None})
    assert call("reembed").output == "there is nothing to embed\n"
    assert daemon.requests == [("reembed", {})] * 3
