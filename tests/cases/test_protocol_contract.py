"""What PROTOCOL.md promises of each method: keys, types, reasons, errors, through the real socket."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from recalld.errors import AmbiguousAnchor, InvalidParams, NotFound, RequestError
from recalld.jsonrpc import MethodNotFound
from tests.fakes import WordEmbedder
from tests.running import RunningDaemon
from tests.waiting import DEADLINE_S

NOTE = """---
title: Deploying
tags: [Ops, ops/prod]
date: 2026-03-04
---

# Deploy

## Incidents

The deploy of alpha failed on 2026-03-02 with error E1234.

See [[Alpha]] for more.
"""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    with RunningDaemon(tmp_path_factory.mktemp("contract"), embedder=WordEmbedder()) as running:
        running.write("deploy.md", NOTE)
        running.write("Alpha.md", "The alpha server has 64 GB.\n\nThe beta server has 64 GB.\n")
        running.write("code.md", "```sh\nwombat --start\n```\n")
        running.settle()
        yield running


def raw(daemon: RunningDaemon, line: str) -> Any:
    """The answer to one raw line."""
    assert daemon.app is not None
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(DEADLINE_S)
        client.connect(str(daemon.app.socket_path()))
        client.sendall(line.encode() + b"\n")
        return json.loads(client.makefile("rb").readline())


def anchors(hits: list[dict[str, Any]]) -> list[str]:
    return [hit["anchor"] for hit in hits]


def request(method: str, **params: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


# ---------------------------------------------------------------- recall


def test_a_hit_has_every_key_and_each_tells_the_truth(daemon: RunningDaemon) -> None:
    answer = daemon.call("recall", query="why did the deploy of alpha fail E1234")
    assert answer.keys() == {"hits", "reason", "unknown_words", "degraded", "recall_id", "took_ms"}
    assert answer["reason"] is None
    assert answer["degraded"] == []
    assert re.fullmatch(r"r-[0-9a-f]+", answer["recall_id"])
    assert answer["took_ms"] > 0
    hit = answer["hits"][0]
    assert re.fullmatch(r"fact:[0-9a-f]{8}", hit.pop("anchor"))
    assert 0 <= hit.pop("relevance") <= 1
    assert isinstance(hit.pop("score"), float)
    assert 0 < hit.pop("confidence") <= 1
    assert hit == {
        "kind": "fact",
        "text": "The deploy of alpha failed on 2026-03-02 with error E1234.",
        "context": ["Deploying", "Deploy", "Incidents"],
        "category": "error",
        "source": {"root": "vault", "path": "deploy.md", "lines": [11, 11], "more": 0},
        "dates": {"happened": ["2026-03-02", "2026-03-02"], "stated": "2026-03-04"},
        "superseded_by": None,
        "supersedes": [],
        "conflicts_with": [],
        "tags": ["Ops", "ops/prod"],
        "scope": "global",
    }


def test_hits_come_by_score_and_relevance_needs_no_order(daemon: RunningDaemon) -> None:
    hits = daemon.recall("server", min_relevance=0)
    assert len(hits) > 1
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True)


def test_a_passage_is_shown_as_itself_where_no_fact_states_what_matched(
    daemon: RunningDaemon,
) -> None:
    (hit, *_) = daemon.recall("wombat")
    assert hit["kind"] == "passage"
    assert hit["anchor"].startswith("passage:")
    assert hit["source"]["path"] == "code.md"
    assert daemon.recall("wombat", kinds=["passage"])[0]["anchor"] == hit["anchor"]
    assert all(
        one["kind"] == "fact" for one in daemon.recall("wombat", kinds=["fact"], min_relevance=0)
    )
    assert all(one["kind"] == "passage" for one in daemon.recall("alpha server", kinds=["passage"]))
    assert anchors(daemon.recall("alpha server", kinds=[])) == anchors(
        daemon.recall("alpha server")
    )


def test_null_and_empty_lists_mean_not_given(daemon: RunningDaemon) -> None:
    given = dict.fromkeys(
        ("limit", "since", "until", "as_of", "min_relevance", "max_chars", "kinds")
    )
    lists = {name: [] for name in ("categories", "roots", "paths", "tags", "scope")}
    plain = [hit["anchor"] for hit in daemon.recall("alpha server")]
    assert [hit["anchor"] for hit in daemon.recall("alpha server", **given, **lists)] == plain


def test_the_threshold_rejects_and_zero_never_does(daemon: RunningDaemon) -> None:
    query = "gardening in winter"
    assert daemon.recall(query) == []
    everything = daemon.recall(query, min_relevance=0)
    assert everything
    strict = daemon.recall("alpha server has 64 GB", min_relevance=0.9)
    assert all(hit["relevance"] >= 0.9 for hit in strict)
    assert daemon.recall(query, min_relevance=1) == []


def test_limit_and_max_chars_cut_from_the_end(daemon: RunningDaemon) -> None:
    everything = daemon.recall("server", min_relevance=0)
    assert anchors(daemon.recall("server", min_relevance=0, limit=1)) == anchors(everything[:1])
    first = len(everything[0]["text"])
    for budget in (1, first, first + len(everything[1]["text"])):
        cut = daemon.recall("server", min_relevance=0, max_chars=budget)
        assert cut[0]["anchor"] == everything[0]["anchor"]
        assert len(cut) == 1 or sum(len(hit["text"]) for hit in cut) <= budget
    assert len(daemon.recall("server", min_relevance=0, max_chars=1)) == 1


def test_explain_is_there_only_when_asked_for(daemon: RunningDaemon) -> None:
    assert "explanation" not in daemon.call("recall", query="server")
    assert "explanation" in daemon.call("recall", query="server", explain=True)


ROOM = """# 会议室

The alpha room seats eight. Ana booked it for March, since the beta room leaks. The beamer is broken.

- 投影仪坏了。
- De sleutel ligt bij de balie.
"""


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    with RunningDaemon(tmp_path_factory.mktemp("room"), embedder=WordEmbedder()) as running:
        running.write("room.md", ROOM)
        running.settle()
        yield running


def test_a_hit_is_one_statement_and_its_passage_comes_when_asked_for(room: RunningDaemon) -> None:
    plain = room.recall("Who booked the alpha room for March?", limit=1)
    (hit,) = room.recall("Who booked the alpha room for March?", limit=1, passages=True)
    assert hit["text"] == "Ana booked it for March, since the beta room leaks."
    assert hit.pop("passage") == {"lines": [3, 3], "text": ROOM.split("\n")[2]}
    assert without_score(hit) == without_score(plain[0])


def test_nearby_lines_come_when_asked_for_and_are_those_of_get(room: RunningDaemon) -> None:
    for count in (1, 4, 10**30):
        (hit,) = room.recall("投影仪", limit=1, lines_around=count)
        told = room.call("get", anchor=hit["anchor"], lines_around=count)["source_text"]
        assert hit["source_text"] == {"lines": told["lines"], "text": told["text"]}
    assert hit["source_text"]["text"] == ROOM.rstrip("\n")
    (bare,) = room.recall("投影仪", limit=1, lines_around=0, passages=False)
    assert not {"passage", "source_text"} & bare.keys()


def test_what_comes_about_hits_counts_in_max_chars_and_costs_no_hit(room: RunningDaemon) -> None:
    plain = room.recall("alpha room", min_relevance=0)
    needed = sum(len(hit["text"]) for hit in plain)
    for budget in (needed, needed + 60, needed + 200):
        hits = room.recall(
            "alpha room", min_relevance=0, passages=True, lines_around=2, max_chars=budget
        )
        assert anchors(hits) == anchors(plain)
        about = [hit[key] for hit in hits for key in ("passage", "source_text") if key in hit]
        assert needed + sum(len(one["text"] or "") for one in about) <= budget


def test_answer_and_explain_give_what_is_about_hits_as_well(room: RunningDaemon) -> None:
    asked = {"query": "Who booked the alpha room for March?", "passages": True, "lines_around": 1}
    about = [(hit.get("passage"), hit["source_text"]) for hit in room.recall(**asked)]
    for method in ("answer", "explain"):
        hits = room.call(method, **asked)["hits"]
        assert [(hit.get("passage"), hit["source_text"]) for hit in hits] == about


def without_score(hit: dict[str, Any]) -> dict[str, Any]:
    """What does not grow as a hit is recalled."""
    return {key: value for key, value in hit.items() if key != "score"}


# ---------------------------------------------------------------- reasons


def test_an_empty_memory_says_so(tmp_path: Path) -> None:
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as empty:
        empty.settle()
        for limits in ({}, {"paths": ["home"]}, {"kinds": ["fact"]}, {"categories": ["error"]}):
            answer = empty.call("recall", query="server", **limits)
            assert (answer["hits"], answer["reason"]) == ([], "empty_memory"), limits
            assert answer["unknown_words"] == ["server"]
        empty.write("a.md", "The server hums.\n")
        empty.settle()
        assert empty.call("recall", query="server")["reason"] is None
        (empty.vault / "a.md").unlink()
        empty.settle()
        empty.call("sync", confirm_deletions=["vault"], wait=True)
        empty.wait_for(lambda status: status["counts"]["notes"] == 0)
        assert empty.call("recall", query="server")["reason"] == "empty_memory"


@pytest.mark.parametrize(
    "limits",
    [
        {"paths": ["nowhere/"]},
        {"roots": ["nobody"]},
        {"tags": ["none"]},
        {"categories": ["preference"]},
        {"scope": ["project"]},
        {"since": "2099-01-01"},
        {"until": "1999-01-01"},
        {"as_of": "1999-01-01"},
        {"kinds": ["fact"], "paths": ["code.md"]},
        {"kinds": ["passage"], "categories": ["error"]},
    ],
    ids=str,
)
def test_a_filter_that_lets_nothing_through_says_so(
    daemon: RunningDaemon, limits: dict[str, Any]
) -> None:
    for demanded in ({}, {"min_relevance": 0}):
        answer = daemon.call("recall", query="alpha server wombat", **limits, **demanded)
        assert (answer["hits"], answer["reason"]) == ([], "nothing_matches_filter")
        assert answer["unknown_words"] == []


def test_without_evidence_it_says_so_and_names_the_unknown_words(daemon: RunningDaemon) -> None:
    answer = daemon.call("recall", query="Does the penguin skate to Reykjavík?")
    assert (answer["hits"], answer["reason"]) == ([], "no_evidence")
    assert answer["unknown_words"] == ["penguin", "skate", "Reykjavík"]
    filtered = daemon.call("recall", query="penguin skates", paths=["deploy.md"])
    assert filtered["reason"] == "no_evidence"
    assert daemon.call("recall", query="the deploy")["unknown_words"] == []


@pytest.mark.parametrize("query", ["", " ", "?!", "\n"])
def test_a_query_without_words_finds_nothing_for_want_of_evidence(
    daemon: RunningDaemon, query: str
) -> None:
    answer = daemon.call("recall", query=query)
    assert (answer["hits"], answer["reason"], answer["unknown_words"]) == ([], "no_evidence", [])


# ---------------------------------------------------------------- what did not take part


def test_missing_vectors_are_told_in_answer_and_status(tmp_path: Path) -> None:
    with RunningDaemon(tmp_path) as plain:
        plain.write("a.md", "The server hums.\n")
        status = plain.settle()
        assert plain.call("recall", query="server")["degraded"] == ["vectors"]
        assert status["models"]["embedding"]["state"] == "off"
        assert status["models"]["embedding"]["hint"]


class Gate(WordEmbedder):
    """Lets no statement through until it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = threading.Event()

    def embed_statements(self, texts: Any, starts: Any = ()) -> Any:
        self.opened.wait(DEADLINE_S)
        return super().embed_statements(texts, starts)


def test_catching_up_is_told_until_the_first_scan_and_its_vectors_are_done(tmp_path: Path) -> None:
    embedder = Gate()
    running = RunningDaemon(tmp_path, embedder=embedder)
    running.write("a.md", "The server hums.\n")
    with running:
        try:
            running.wait_until(lambda: running.texts("server") == ["The server hums."])
            answer = running.call("recall", query="server")
            assert "catching_up" in answer["degraded"]
            assert running.call("status")["state"] == "catching_up"
        finally:
            embedder.opened.set()
        running.settle()
        assert running.call("recall", query="server")["degraded"] == []


# ---------------------------------------------------------------- one fact in five notes


def test_a_fact_in_five_notes_is_one_hit_that_lives_as_long_as_one_of_them(tmp_path: Path) -> None:
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as running:
        for number in range(5):
            running.write(f"{number}.md", f"Wi-Fi code is blue-fish.\n\nThis is page {number}.\n")
        running.write("other.md", "Wi-Fi code of the neighbours is red-bird.\n")
        running.settle()
        hits = running.recall("Wi-Fi code blue-fish", min_relevance=0)
        same = [hit for hit in hits if hit["text"] == "Wi-Fi code is blue-fish."]
        assert [hit["source"]["more"] for hit in same] == [4]
        anchor = same[0]["anchor"]
        sources = running.call("get", anchor=anchor)["sources"]
        assert {one["path"] for one in sources} == {f"{number}.md" for number in range(5)}
        for gone in range(5):
            (running.vault / f"{gone}.md").unlink()
            running.settle()
            if gone < 4:
                hit = running.recall("Wi-Fi code blue-fish")[0]
                assert (hit["anchor"], hit["source"]["more"]) == (anchor, 3 - gone)
                assert len(running.call("get", anchor=anchor)["sources"]) == 4 - gone
        assert "Wi-Fi code is blue-fish." not in running.texts("Wi-Fi code", min_relevance=0)
        with pytest.raises(NotFound):
            running.call("get", anchor=anchor)


# ---------------------------------------------------------------- get


def test_get_gives_a_fact_whole(daemon: RunningDaemon) -> None:
    hit = daemon.recall("deploy alpha failed E1234")[0]
    told = daemon.call("get", anchor=hit["anchor"], lines_around=2)
    assert told.keys() == {
        "anchor", "id", "kind", "text", "title", "context", "category", "confidence", "importance", "dates",
        "superseded_by", "supersedes", "conflicts_with", "sources", "entities", "relations", "links", "fact_links",
        "tags", "scope", "source_text",
    }  # fmt: skip
    for key in ("anchor", "text", "context", "category", "dates", "superseded_by", "tags", "scope"):
        assert told[key] == hit[key], key
    assert told["id"].startswith(hit["anchor"].removeprefix("fact:"))
    assert told["title"] == "Deploying"
    assert told["sources"] == [
        {"root": "vault", "path": "deploy.md", "lines": [11, 11], "stated": "2026-03-04"}
    ]
    (link,) = told["links"]
    assert (link["direction"], link["target"], link["path"]) == ("out", "Alpha", "Alpha.md")
    assert told["source_text"] == {
        "root": "vault",
        "path": "deploy.md",
        "lines": [9, 13],
        "text": "## Incidents\n\nThe deploy of alpha failed on 2026-03-02 with error E1234.\n\n"
        "See [[Alpha]] for more.",
    }


def test_get_takes_the_full_id_the_anchor_or_any_longer_prefix(daemon: RunningDaemon) -> None:
    hit = daemon.recall("deploy alpha failed E1234")[0]
    whole = daemon.call("get", anchor=hit["anchor"])
    for form in (whole["id"], f"fact:{whole['id']}", f"fact:{whole['id'][:13]}", whole["id"][:9]):
        assert daemon.call("get", anchor=form)["id"] == whole["id"], form


def test_get_gives_passages_and_notes_too(daemon: RunningDaemon) -> None:
    hit = daemon.recall("wombat")[0]
    passage = daemon.call("get", anchor=hit["anchor"])
    assert (passage["kind"], passage["text"]) == ("passage", hit["text"])
    assert "wombat --start" in passage["source_text"]["text"]
    ((uid,),) = daemon.rows("SELECT uid FROM note WHERE path = 'Alpha.md'")
    note = daemon.call("get", anchor=f"note:{uid[:8]}")
    assert (note["kind"], note["id"]) == ("note", uid)
    assert "The beta server has 64 GB." in note["text"]
    assert [(one["direction"], one["path"]) for one in note["links"]] == [("in", "deploy.md")]


def test_get_counts_as_read_and_never_as_recalled(tmp_path: Path) -> None:
    counts = "SELECT recall_count, read_count FROM fact"
    with RunningDaemon(tmp_path) as running:
        running.write("a.md", "The beta server has 64 GB.\n")
        running.settle()
        (hit,) = running.recall("beta server")
        running.wait_until(lambda: running.rows(counts) == [(1, 0)])
        running.call("get", anchor=hit["anchor"])
        running.wait_until(lambda: running.rows(counts) == [(1, 1)])
        running.call("explain", query="penguins")
        running.call("get", anchor=hit["anchor"], lines_around=5)
        running.wait_until(lambda: running.rows(counts) == [(1, 2)])


# ---------------------------------------------------------------- explain, sync, status


def test_explain_tells_of_an_earlier_recall_and_of_a_new_one(daemon: RunningDaemon) -> None:
    answer = daemon.call("recall", query="alpha server", limit=1)
    by_id = daemon.call("explain", recall_id=answer["recall_id"])
    assert by_id.keys() == {"query", "evidence", "found", "candidates"}
    assert by_id["query"]["terms"] == ["alpha", "server"]
    returned = [one["anchor"] for one in by_id["candidates"] if one["returned"]]
    assert returned == [hit["anchor"] for hit in answer["hits"]]
    first = by_id["candidates"][0]
    assert first["channels"].keys() == {"keyword", "vector", "graph"}
    assert first["channels"]["keyword"]["rank"] == 1
    priors = {
        f"prior.{one}"
        for one in (
            "decay",
            "importance",
            "frequency",
            "agreement",
            "when",
            "number",
            "interval",
            "stated",
        )
    }
    assert {"keyword_z", "vector_z", "fused", "neighbour", "total", *priors} <= first[
        "parts"
    ].keys()
    assert first["evidence"]["relevance"] == pytest.approx(answer["hits"][0]["relevance"], abs=1e-3)
    by_params = daemon.call("explain", query="alpha server", limit=1)
    assert by_params.keys() >= by_id.keys() | {"hits", "reason", "recall_id"}
    assert [hit["anchor"] for hit in by_params["hits"]] == returned


def test_explain_takes_the_settings_defaults_as_recall_does(tmp_path: Path) -> None:
    with RunningDaemon(tmp_path, settings={"recall.limit": 1}) as running:
        running.write("a.md", "The alpha server hums.\n\nThe beta server hums.\n")
        running.settle()
        assert len(running.recall("server hums")) == 1
        assert len(running.recall("server hums", limit=None)) == 1
        assert len(running.recall("server hums", limit=2)) == 2
        assert len(running.call("explain", query="server hums")["hits"]) == 1
        assert len(running.call("explain", query="server hums", limit=2)["hits"]) == 2


def test_explain_needs_something_to_explain(daemon: RunningDaemon) -> None:
    with pytest.raises(NotFound):
        daemon.call("explain", recall_id="r-000000000000")
    with pytest.raises(InvalidParams):
        daemon.call("explain")


def test_sync_with_wait_answers_once_everything_is_in(daemon: RunningDaemon) -> None:
    for number, params in enumerate(({}, {"full": True}, {"paths": ["late2.md"]})):
        daemon.write(f"late{number}.md", f"The late{number} train stops in Utrecht.\n")
        answer = daemon.call("sync", wait=True, **params)
        assert answer.keys() == {"queued"}
        assert answer["queued"] >= 1
        assert paths_of(daemon, f"late{number} train") == f"late{number}.md"
    assert daemon.call("status")["state"] == "idle"


def paths_of(daemon: RunningDaemon, query: str) -> str:
    return str(daemon.recall(query)[0]["source"]["path"])


def test_sync_refuses_what_lies_below_no_root(daemon: RunningDaemon) -> None:
    for wrong in ("/etc/passwd", "../elsewhere.md", str(daemon.vault.parent / "vault2/x.md")):
        with pytest.raises(InvalidParams):
            daemon.call("sync", paths=[wrong])
    daemon.call("sync", paths=[str(daemon.vault / "deploy.md"), "..md", "."])


def test_status_has_every_key(daemon: RunningDaemon) -> None:
    status = daemon.settle()
    assert status.keys() >= {
        "version", "pid", "uptime_s", "ready", "state", "oldest_pending_s", "roots", "counts", "queue", "models",
        "database", "evidence", "stages",
    }  # fmt: skip
    assert (status["ready"], status["state"], status["oldest_pending_s"]) == (True, "idle", None)
    (root,) = status["roots"]
    assert root.keys() >= {"name", "path", "state", "notes", "pending", "unreadable", "skipped"}
    assert (root["name"], root["path"], root["state"]) == ("vault", str(daemon.vault), "ok")
    assert (root["notes"], root["pending"]) == (status["counts"]["notes"], 0)
    assert status["counts"].keys() >= {
        "notes", "blocks", "passages", "facts", "by_category", "entities", "links", "conflicts",
    }  # fmt: skip
    for table in ("note", "block", "passage", "fact", "entity"):
        name = "entities" if table == "entity" else f"{table}s"
        assert status["counts"][name] == daemon.rows(f"SELECT count(*) FROM {table}")[0][0], name
    assert sum(status["counts"]["by_category"].values()) == status["counts"]["facts"]
    assert status["queue"].keys() == {"dirty", "extract", "parked", "embed"}
    assert set(status["queue"].values()) == {0}
    embedding, llm = status["models"]["embedding"], status["models"]["llm"]
    assert embedding["name"] == "words"
    assert (embedding["state"], llm["state"], llm["name"]) == ("ok", "off", None)
    assert embedding["dimension"] == 128
    assert llm["hint"]
    assert status["database"]["bytes"] > 0
    assert status["database"]["schema"] >= 1
    assert status["stages"]["scan"]["last_ok"]
    assert status["stages"]["scan"]["failed"] == 0


def test_ping_says_who_answers(daemon: RunningDaemon) -> None:
    answer = daemon.call("ping")
    assert answer.keys() == {"version", "pid"}
    assert answer == {key: daemon.call("status")[key] for key in ("version", "pid")}


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("method", "params", "code", "kind"),
    [
        ("recal", {"query": "x"}, -32601, "method_not_found"),
        ("recall", {}, -32602, "invalid_params"),
        ("recall", {"query": 5}, -32602, "invalid_params"),
        ("recall", {"query": "x", "limt": 5}, -32602, "invalid_params"),
        ("recall", {"query": "x", "limit": 0}, -32602, "invalid_params"),
        ("recall", {"query": "x", "limit": 51}, -32602, "invalid_params"),
        ("recall", {"query": "x", "limit": "5"}, -32602, "invalid_params"),
        ("recall", {"query": "x", "min_relevance": 1.1}, -32602, "invalid_params"),
        ("recall", {"query": "x", "max_chars": 0}, -32602, "invalid_params"),
        ("recall", {"query": "x", "since": "yesterday"}, -32602, "invalid_params"),
        ("recall", {"query": "x", "since": "2026-02-30"}, -32602, "invalid_params"),
        (
            "recall",
            {"query": "x", "since": "2026-02-02", "until": "2026-02-01"},
            -32602,
            "invalid_params",
        ),
        ("recall", {"query": "x", "kinds": ["note"]}, -32602, "invalid_params"),
        ("recall", {"query": "x", "categories": ["eror"]}, -32602, "invalid_params"),
        ("recall", {"query": "x", "paths": "home"}, -32602, "invalid_params"),
        ("get", {}, -32602, "invalid_params"),
        ("get", {"anchor": "not an anchor"}, -32602, "invalid_params"),
        ("get", {"anchor": ""}, -32602, "invalid_params"),
        ("get", {"anchor": "fact:00000000"}, -32001, "not_found"),
        ("get", {"anchor": "note:ffffffffffffffffffffffffffffffff"}, -32001, "not_found"),
        ("explain", {"recall_id": "r-none"}, -32001, "not_found"),
        ("status", {"verbose": True}, -32602, "invalid_params"),
        ("sync", {"confirm_deletions": ["nobody"]}, -32602, "invalid_params"),
    ],
    ids=str,
)
def test_each_mistake_has_its_code_kind_and_one_sentence(
    daemon: RunningDaemon, method: str, params: dict[str, Any], code: int, kind: str
) -> None:
    answer = raw(daemon, request(method, **params))
    assert answer["id"] == 1
    error = answer["error"]
    assert (error["code"], error["data"]["kind"]) == (code, kind)
    assert "\n" not in error["message"]
    assert "Traceback" not in json.dumps(answer)
    assert str(daemon.data) not in json.dumps(answer)


def test_hints_name_the_nearest_known_word(daemon: RunningDaemon) -> None:
    assert "`recall`" in raw(daemon, request("recal"))["error"]["data"]["hint"]
    assert "`limit`" in raw(daemon, request("recall", query="x", limt=1))["error"]["data"]["hint"]


def test_an_ambiguous_prefix_lists_what_it_could_mean(tmp_path: Path) -> None:
    with RunningDaemon(tmp_path) as running:
        # Some of 700 facts share their first four digits, by the birthday paradox: 1 - e^-3.7.
        running.write("a.md", "".join(f"- The otter number {n} swims.\n" for n in range(1200)))
        running.settle()
        uids = [row[0] for row in running.rows("SELECT uid FROM fact ORDER BY uid")]
        pairs = [a for a, b in pairwise(uids) if a[:4] == b[:4]]
        assert pairs
        with pytest.raises(AmbiguousAnchor) as caught:
            running.call("get", anchor=f"fact:{pairs[0][:4]}")
        matches = caught.value.data["matches"]
        assert isinstance(matches, list)
        assert len(matches) >= 2
        for match in matches:
            assert running.call("get", anchor=match)["kind"] == "fact"


def test_errors_come_back_as_the_kind_they_are(daemon: RunningDaemon) -> None:
    for method, params, kind in (
        ("nothing", {}, MethodNotFound),
        ("get", {"anchor": "fact:00000000"}, NotFound),
        ("get", {"anchor": "?"}, InvalidParams),
    ):
        with pytest.raises(kind):
            daemon.call(method, **params)
    assert issubclass(MethodNotFound, RequestError)


def test_a_batch_is_answered_as_an_array_and_a_notification_not_at_all(
    daemon: RunningDaemon,
) -> None:
    note = '{"jsonrpc":"2.0","method":"ping"}'
    answers = raw(daemon, f"[{request('ping')},{note},{request('recal')}]")
    assert ["error" in answer for answer in answers] == [False, True]
    assert raw(daemon, f"{note}\n{request('ping')}")["result"]["version"]
    assert raw(daemon, "{nonsense")["error"]["code"] == -32700
    assert raw(daemon, '{"jsonrpc":"1.0","id":1,"method":"ping"}')["error"]["code"] == -32600
