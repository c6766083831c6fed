"""The methods as clients call them, over a whole daemon."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest

from recalld import __version__
from recalld.client import Client
from recalld.errors import InvalidParams, NotFound
from tests.fakes import WordEmbedder
from tests.running import RunningDaemon
from tests.waiting import DEADLINE_S

pytestmark = pytest.mark.slow

PORT = "The gateway listens on port 9090."


@pytest.fixture
def daemon(tmp_path) -> Iterator[RunningDaemon]:
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as running:
        running.write("infra/gateway.md", f"# Gateway\n\n{PORT}\n")
        running.write("厨房.md", "# 厨房\n\n烤箱在十点关闭。\n")
        running.settle()
        yield running


def fact_counts(daemon: RunningDaemon, text: str) -> tuple[int, int]:
    return daemon.rows("SELECT recall_count, read_count FROM fact WHERE text = ?", text)[0]


def test_ping_says_who_answers(daemon):
    assert daemon.call("ping") == {"version": __version__, "pid": os.getpid()}


def test_recall_counts_what_it_returned_and_get_what_was_read(daemon):
    hit = daemon.recall("gateway port")[0]
    assert hit["text"] == PORT
    daemon.wait_until(lambda: fact_counts(daemon, PORT) == (1, 0))
    fetched = daemon.call("get", anchor=hit["anchor"])
    assert fetched["text"] == PORT
    assert fetched["source_text"]["text"] == PORT
    daemon.wait_until(lambda: fact_counts(daemon, PORT) == (1, 1))


def test_recall_that_finds_nothing_counts_nothing(daemon):
    found = daemon.call("recall", query="zeppelin over Bodensee")
    assert found["hits"] == []
    assert found["reason"] == "no_evidence"
    assert set(found["unknown_words"]) >= {"zeppelin", "Bodensee"}
    assert fact_counts(daemon, PORT) == (0, 0)


def test_explain_of_an_earlier_recall_tells_what_that_one_did(daemon):
    found = daemon.call("recall", query="gateway port")
    told = daemon.call("explain", recall_id=found["recall_id"])
    assert told["query"]["terms"] == ["gateway", "port"]
    returned = [one["anchor"] for one in told["candidates"] if one["returned"]]
    assert returned == [hit["anchor"] for hit in found["hits"]]


def test_explain_of_a_new_recall_gives_hits_and_story_and_counts_nothing(daemon):
    told = daemon.call("explain", query="gateway port")
    assert told["hits"][0]["text"] == PORT
    assert told["candidates"][0]["channels"]["keyword"]["rank"] == 1
    assert "explanation" not in told
    assert fact_counts(daemon, PORT) == (0, 0)


def test_explain_of_an_unknown_recall_is_not_found(daemon):
    with pytest.raises(NotFound) as caught:
        daemon.call("explain", recall_id="r-000000000000")
    assert caught.value.hint


def test_get_of_what_is_not_there_and_of_what_is_no_anchor(daemon):
    with pytest.raises(NotFound):
        daemon.call("get", anchor="fact:00000000")
    with pytest.raises(InvalidParams) as caught:
        daemon.call("get", anchor="the gateway")
    assert caught.value.hint


def test_sync_takes_paths_absolute_or_below_a_root(daemon):
    for name, given in (
        ("a.md", str(daemon.vault / "a.md")),
        ("b.md", "b.md"),
        ("c.md", "./infra/../c.md"),
        ("f.md", str(daemon.vault)),
    ):
        daemon.write(name, f"The machine of {name} hums.\n")
        assert daemon.call("sync", paths=[given], wait=True)["queued"] >= 1
        assert daemon.rows("SELECT count(*) FROM note WHERE path = ?", name) == [(1,)]


@pytest.mark.parametrize("path", ["/etc/passwd", "../outside.md", "infra/../../x.md"])
def test_sync_refuses_paths_below_no_root(daemon, path):
    with pytest.raises(InvalidParams, match="below no root"):
        daemon.call("sync", paths=[path])


def test_sync_that_waits_returns_once_vectors_are_there(daemon):
    daemon.write("new.md", "The mirror lives in Groningen.\n")
    daemon.call("sync", wait=True)
    status = daemon.call("status")
    assert status["state"] == "idle"
    assert status["queue"]["embed"] == 0


def test_full_sync_finds_a_change_that_size_and_time_hide(daemon):
    path = daemon.vault / "infra/gateway.md"
    stat = path.stat()
    with path.open("r+b") as file:
        file.write(path.read_bytes().replace(b"9090", b"9191"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    daemon.call("sync", full=True, wait=True)
    assert daemon.texts("gateway port")[0] == PORT.replace("9090", "9191")


def test_confirming_deletions_of_an_unknown_root_names_the_known_ones(daemon):
    with pytest.raises(InvalidParams) as caught:
        daemon.call("sync", confirm_deletions=["nobody"])
    assert caught.value.hint == "known are vault"


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("recall", {}),
        ("recall", {"query": "x", "limit": 0}),
        ("recall", {"query": "x", "colour": "red"}),
        ("get", {}),
        ("status", {"verbose": True}),
        ("ping", {"x": 1}),
        ("explain", {}),
        ("sync", {"paths": "a.md"}),
    ],
)
def test_wrong_parameters_are_told_as_such(daemon, method, params):
    with pytest.raises(InvalidParams):
        daemon.call(method, **params)


def test_settings_give_the_defaults_that_a_request_may_overrule(tmp_path):
    with RunningDaemon(tmp_path, settings={"recall.limit": 1}) as daemon:
        daemon.write("a.md", "Alpha machine has a fan.\n\nBeta machine has a fan.\n")
        daemon.settle()
        assert len(daemon.recall("machine fan")) == 1
        assert len(daemon.recall("machine fan", limit=5)) == 2


def test_many_clients_at_once_get_their_own_answers(daemon):
    assert daemon.app is not None
    path = daemon.app.socket_path()
    wanted = {"gateway port": PORT, "烤箱几点关闭": "烤箱在十点关闭。"}
    wrong: list[object] = []

    def ask(query: str) -> None:
        with Client(path, timeout_s=DEADLINE_S) as client:
            for _ in range(10):
                hits = client.call("recall", {"query": query})["hits"]
                if hits[0]["text"] != wanted[query]:
                    wrong.append((query, hits))

    threads = [threading.Thread(target=ask, args=(query,)) for query in [*wanted] * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_related_draws_what_is_round_a_name_and_an_anchor(tmp_path):
    with RunningDaemon(tmp_path) as daemon:
        daemon.write("a.md", "The [[deploy pipeline]] runs on [[Vercel]].\n")
        daemon.settle()
        drawn = daemon.call("related", entity="vercel")
        assert {node["kind"] for node in drawn["nodes"]} == {"entity", "fact"}
        (fact,) = [node["id"] for node in drawn["nodes"] if node["kind"] == "fact"]
        assert daemon.call("related", anchor=fact, hops=3, limit=2)["nodes"][0]["id"] == fact
        for params in ({}, {"entity": "x", "anchor": fact}, {"entity": "vercel", "hops": 4}):
            with pytest.raises(InvalidParams):
                daemon.call("related", **params)
        with pytest.raises(NotFound):
            daemon.call("related", entity="nobody")


def test_the_graph_is_rebuilt_and_a_hit_by_way_of_it_says_so(tmp_path):
    with RunningDaemon(tmp_path) as daemon:
        daemon.write("a.md", "The [[deploy pipeline]] runs on [[Vercel]].\n")
        daemon.write("b.md", "All bills of [[Vercel]] come on Monday morning.\n")
        daemon.settle()
        assert daemon.call("rebuild_graph")["changed"] == 0
        hits = {hit["text"]: hit for hit in daemon.recall("bills of the deploy pipeline")}
        assert "path" not in hits["The deploy pipeline runs on Vercel."]
        assert hits["All bills of Vercel come on Monday morning."]["path"] == [
            "deploy pipeline",
            "runs on",
            "Vercel",
        ]
