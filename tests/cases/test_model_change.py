"""Case 41: another embedding model, of another size. Recall works all the time, and nothing is asked of a language model."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from recalld.errors import TransientModelError
from recalld.models.embedder import Matrix
from tests.fake_ollama import FakeOllama, Listed
from tests.fakes import WordEmbedder
from tests.running import RunningDaemon
from tests.waiting import DEADLINE_S, soon

ROOT = Path(__file__).parents[2]
NOTES = 20
# A question that shares no word with its answer: only vectors find it.
ALIKE = (frozenset({"boiler", "ketel", "锅炉"}), frozenset({"broken", "kapot", "坏了"}))
ANSWER = "De ketel is kapot."


def small() -> WordEmbedder:
    return WordEmbedder(identity="small@1", name="small", dimension=8, synonyms=ALIKE)


def large() -> WordEmbedder:
    return WordEmbedder(identity="large@1", name="large", dimension=12, synonyms=ALIKE)


class Held(WordEmbedder):
    """Embeds so many statements, and the rest once it is let go."""

    def __init__(self, free: int) -> None:
        super().__init__(identity="large@1", name="large", dimension=12, synonyms=ALIKE)
        self.let_go = threading.Event()
        self._free = free

    def embed_statements(self, texts: Sequence[str], starts: Sequence[int] = ()) -> Matrix:
        if len(self.statements) + len(texts) > self._free:
            assert self.let_go.wait(DEADLINE_S)
        return super().embed_statements(texts, starts)


BATCH = {"embedding.batch": 4}


def fill(base: Path, embedder: WordEmbedder, **given: object) -> int:
    """Twenty notes and their vectors. How many statements there are."""
    with RunningDaemon(base, embedder=embedder, settings=BATCH, **given) as daemon:
        for number in range(NOTES):
            daemon.write(f"{number}.md", f"The pump number {number} stands in hall {number + 7}.\n")
        daemon.write("boiler.md", f"{ANSWER}\n")
        daemon.settle()
        assert daemon.texts("boiler broken")[:1] == [ANSWER]
        return int(daemon.rows("SELECT count(*) FROM statement")[0][0])


def lengths(daemon: RunningDaemon) -> dict[int, int]:
    """Bytes of a vector, and how many there are, of all spaces."""
    return dict(daemon.rows("SELECT length(embedding), count(*) FROM vector GROUP BY 1"))


def test_recall_uses_the_old_model_until_the_new_vectors_are_whole(tmp_path):
    count = fill(tmp_path, small())
    new, old = Held(free=8), small()
    with RunningDaemon(tmp_path, embedder=new, former=old, settings=BATCH) as daemon:
        try:
            # What waits is counted a moment after what is done.
            status = daemon.wait_for(
                lambda now: (
                    (now["models"]["embedding"]["reembedding"] or {}).get("done", 0) >= 8
                    and now["queue"]["embed"] == count - 8
                )
            )
            answer = daemon.call("recall", query="boiler broken")
            assert answer["hits"][0]["text"] == ANSWER
            assert "vectors" not in answer["degraded"]
            assert new.queries == []
            told = status["models"]["embedding"]
            assert told["reembedding"] == {
                "model": "large",
                "recall_uses": "small",
                "done": 8,
                "total": count,
            }
            assert f"re-embedding 8 of {count} for large, recall uses small" in told["hint"]
            assert status["state"] != "idle"
            daemon.write("late.md", "De pomp in de kelder lekt.\n")
            daemon.wait_until(lambda: daemon.texts("pomp kelder") != [])
        finally:
            new.let_go.set()
        status = daemon.wait_for(lambda now: now["state"] == "idle")
        assert status["models"]["embedding"]["reembedding"] is None
        assert lengths(daemon) == {12: count + 1}
        assert daemon.texts("boiler broken")[:1] == [ANSWER]
        assert new.queries == ["boiler broken"]
        assert daemon.call("recall", query="锅炉 坏了")["degraded"] == []


def test_without_the_old_model_keywords_answer_and_say_so(tmp_path):
    count = fill(tmp_path, small())
    new = Held(free=0)
    with RunningDaemon(tmp_path, embedder=new, settings=BATCH) as daemon:
        try:
            answer = daemon.call("recall", query="pump number 3")
            assert "The pump number 3 stands in hall 10." in [h["text"] for h in answer["hits"]]
            assert "vectors" in answer["degraded"]
            hint = daemon.call("status")["models"]["embedding"]["hint"]
            assert f"re-embedding 0 of {count} for large, recall uses keywords" in hint
        finally:
            new.let_go.set()
        daemon.wait_for(lambda now: now["state"] == "idle")
        assert lengths(daemon) == {12: count}
        answer = daemon.call("recall", query="boiler broken")
        assert answer["hits"][0]["text"] == ANSWER
        assert answer["degraded"] == []


def test_going_back_half_way_leaves_all_as_it_was(tmp_path):
    count = fill(tmp_path, small())
    new = Held(free=8)
    running = RunningDaemon(tmp_path, embedder=new, former=small(), settings=BATCH)
    with running:
        try:
            running.wait_until(lambda: len(new.statements) == 8)
        finally:
            new.let_go.set()
            new.failure = TransientModelError("gone")
    old = small()
    with RunningDaemon(tmp_path, embedder=old, former=large(), settings=BATCH) as daemon:
        daemon.settle()
        assert lengths(daemon) == {8: count}
        assert daemon.texts("boiler broken")[:1] == [ANSWER]
    assert old.statements == []


def test_reembed_by_hand_makes_every_vector_again_while_recall_goes_on(tmp_path):
    count = fill(tmp_path, small())
    embedder = small()
    with RunningDaemon(tmp_path, embedder=embedder, settings=BATCH) as daemon:
        daemon.settle()
        change = daemon.call("reembed")["reembedding"]
        assert (change["model"], change["recall_uses"], change["total"]) == (
            "small",
            "small",
            count,
        )
        assert daemon.texts("boiler broken")[:1] == [ANSWER]
        daemon.wait_for(lambda now: now["state"] == "idle")
        assert sorted(set(embedder.statements)) == sorted(embedder.statements)
        assert len(embedder.statements) == count
        assert lengths(daemon) == {8: count}


def test_model_at_a_server_whose_weights_were_replaced_is_made_anew_by_hand(tmp_path):
    """The same name brings other vectors; no chat call is made for it."""
    from daemon.app import build
    from recalld.client import Client
    from recalld.settings.loading import load_settings

    with FakeOllama() as fake:
        fake.models = [Listed(name="bge-m3:latest", digest="a" * 64)]
        (tmp_path / "vault").mkdir()
        (tmp_path / "vault" / "a.md").write_text("De poort is 8080.\n", "utf-8")
        flags = {
            "roots": [str(tmp_path / "vault")],
            "data_dir": str(tmp_path / "data"),
            "daemon.socket": str(tmp_path / "s.sock"),
            "embedding.provider": "ollama",
            "embedding.model": "bge-m3",
            "embedding.host": fake.url,
            "llm.provider": "off",
        }
        settings = load_settings(flags=flags, env={}, file=None, home=tmp_path).settings
        app = build(settings, inherited=None)
        app.start()
        try:
            soon(app.settled)
            fake.models = [Listed(name="bge-m3:latest", digest="b" * 64)]
            with Client(app.socket_path(), timeout_s=DEADLINE_S) as client:
                change = client.call("reembed")["reembedding"]
                assert change is None or change["recall_uses"] is None
                soon(app.settled)
                told = client.call("status")["models"]["embedding"]
                # No threshold was measured for it: what is literally there is found, and nothing for a guess.
                found = client.call("recall", {"query": "poort 8080"})
                nothing = client.call("recall", {"query": "zeppelin over Amsterdam"})
            assert [hit["text"] for hit in found["hits"]] == ["De poort is 8080."]
            assert (nothing["hits"], nothing["reason"]) == ([], "no_evidence")
            assert (told["name"], told["state"], told["reembedding"]) == (
                "bge-m3:latest",
                "ok",
                None,
            )
            assert "not calibrated" in told["hint"]
        finally:
            app.stop()
        assert fake.calls("/api/chat") == []


@pytest.mark.slow
def test_killed_in_the_middle_it_goes_on_and_ends_with_one_vector_a_statement(tmp_path):
    count = fill(tmp_path, small())
    looker = RunningDaemon(tmp_path)

    def made() -> int:
        return lengths(looker).get(12, 0)

    killed = 0
    for least in (4, 12):
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.cases.model_change_process", str(tmp_path)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        try:
            soon(lambda least=least: made() >= least)
        finally:
            process.kill()
            process.wait(DEADLINE_S)
        killed = made()
        assert killed < count
        assert lengths(looker)[8] == count, "those in use are all there"
    new = large()
    with RunningDaemon(tmp_path, embedder=new, former=small(), settings=BATCH) as daemon:
        daemon.settle()
        assert lengths(daemon) == {12: count}
        assert len(new.statements) == count - killed
        assert daemon.texts("boiler broken")[:1] == [ANSWER]
