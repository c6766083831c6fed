"""The reranker of the settings, in a daemon that runs: what it changes, what it costs, and what its failures cost."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from daemon.models import load_reranker
from recalld.models.opening import NoChat
from recalld.models.rerank_client import OpenAIRerank
from recalld.models.turns import SharedChat
from recalld.settings.loading import load_settings
from recalld.settings.tables import Settings
from retrieval.reranking.grading import GradingReranker
from retrieval.reranking.service import NoReranker
from tests.fake_ollama import FakeOllama, Listed, Step
from tests.fakes import WordEmbedder
from tests.running import QUICK, RunningDaemon
from tests.waiting import DEADLINE_S, not_held_up, soon

MODEL = "bge-reranker-v2-m3"
QUERY = "which pump leaks oil?"
NAMES = ("alpha", "bravo", "charlie", "delta")


def read(tmp_path: Path, **flags: object) -> Settings:
    dotted = {name.replace("__", "."): value for name, value in flags.items()}
    return load_settings(flags=dotted, env={}, file=None, home=tmp_path).settings


def loaded(tmp_path: Path, **flags: object) -> object:
    chat = SharedChat(NoChat(name="", state="off", hint=None))
    return load_reranker(read(tmp_path, **flags), chat)


def settings_for(fake: FakeOllama, **more: object) -> dict[str, object]:
    return {
        "rerank.provider": "openai",
        "rerank.host": fake.url,
        "rerank.timeout_s": 30,
        **more,
    }


def pumps(daemon: RunningDaemon) -> None:
    for name in NAMES:
        daemon.write(f"{name}.md", f"Pump {name} leaks oil.\n")
    daemon.settle()


def asked(daemon: RunningDaemon) -> dict[str, Any]:
    return daemon.call("recall", query=QUERY)


def first(name: str) -> Step:
    """What holds the name gets the best score."""

    def ranks(_query: str, documents: Any) -> Any:
        rows = [
            {"index": place, "relevance_score": 9.0 if name in text else -9.0}
            for place, text in enumerate(documents)
        ]
        return {"results": rows}

    return Step(ranks=ranks)


def words(result: dict[str, Any]) -> list[str]:
    return [hit["text"].split()[1] for hit in result["hits"]]


# ---------------------------------------------------------------- settings


def test_provider_decides_the_kind(tmp_path):
    assert loaded(tmp_path) is None
    assert isinstance(loaded(tmp_path, rerank__provider="llm"), GradingReranker)
    assert isinstance(loaded(tmp_path, rerank__provider="openai"), OpenAIRerank)


def test_server_elsewhere_needs_leave(tmp_path):
    host = "http://10.0.0.9:8080"
    refused = loaded(tmp_path, rerank__provider="openai", rerank__host=host)
    assert isinstance(refused, NoReranker)
    assert refused.health().state == "off"
    assert "rerank.host" in refused.health().hint
    assert "llm.allow_remote = true" in refused.health().hint
    allowed = loaded(tmp_path, rerank__provider="openai", rerank__host=host, llm__allow_remote=True)
    assert isinstance(allowed, OpenAIRerank)


@pytest.mark.parametrize("kind", ["openai", "ollama"])
def test_it_is_looked_for_where_the_language_model_is_if_that_is_of_the_same_kind(tmp_path, kind):
    with FakeOllama(models=[Listed(name=MODEL)]) as fake:
        reranker = loaded(
            tmp_path, rerank__provider="openai", llm__provider=kind, llm__host=fake.url
        )
        assert isinstance(reranker, OpenAIRerank)
        reranker.health()
        assert bool(fake.asked) == (kind == "openai")
        reranker.close()


def test_key_of_the_language_model_is_not_shown_to_another_server(tmp_path, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-1")
    with FakeOllama(models=[Listed(name=MODEL)]) as fake:
        for host in ("http://127.0.0.1:9", fake.url):
            reranker = loaded(
                tmp_path, rerank__provider="openai", rerank__host=fake.url,
                llm__provider="openai", llm__host=host, llm__api_key_env="MY_KEY",
            )  # fmt: skip
            assert isinstance(reranker, OpenAIRerank)
            reranker.health()
            reranker.close()
        keys = [each.headers.get("authorization") for each in fake.asked]
        assert set(keys) == {None, "Bearer sk-1"}
        # The fake takes no credentials, which is what it found.
        fake.faults.clear()


# ---------------------------------------------------------------- a whole daemon


@pytest.mark.slow
def test_server_orders_hits_and_its_failure_leaves_them(tmp_path):
    with FakeOllama(models=[Listed(name=MODEL)]) as fake:
        given = settings_for(fake)
        with RunningDaemon(tmp_path, embedder=WordEmbedder(), settings=given) as daemon:
            pumps(daemon)
            assert daemon.call("status")["models"]["reranker"] == {
                "name": MODEL,
                "state": "ok",
                "hint": None,
            }
            for name in NAMES:
                fake.script.append(first(name))
                result = asked(daemon)
                assert words(result)[0] == name
                assert sorted(words(result)) == list(NAMES)
                assert result["degraded"] == []
            fake.script.append(Step(status=500, error="died"))
            result = asked(daemon)
            assert sorted(words(result)) == list(NAMES)
            assert result["degraded"] == ["reranker"]
            model = daemon.call("status")["models"]["reranker"]
            assert (model["name"], model["state"]) == (MODEL, "down")
            assert model["hint"]


@pytest.mark.slow
def test_language_model_grades_hits(tmp_path):
    def graded(body: dict[str, Any]) -> Step:
        shown = re.findall(
            r"<<<PASSAGE\n(.*?)\nPASSAGE>>>", body["messages"][1]["content"], re.DOTALL
        )
        return Step(
            text=json.dumps({str(at): 3 * ("charlie" in text) for at, text in enumerate(shown, 1)})
        )

    with FakeOllama() as fake:
        given = {
            # The rules' facts are enough: nothing else asks the model.
            "llm.provider": "ollama", "llm.host": fake.url,
            "rerank.provider": "llm", "rerank.timeout_s": 30,
        }  # fmt: skip
        fake.answer = lambda body: (
            graded(body)
            if "grade" in body["messages"][0]["content"]
            else Step(text='{"facts": []}')
        )
        with RunningDaemon(tmp_path, embedder=WordEmbedder(), settings=given) as daemon:
            pumps(daemon)
            result = asked(daemon)
            assert words(result)[0] == "charlie"
            assert result["degraded"] == []
            told = daemon.call("recall", query=QUERY, explain=True)["explanation"]["rerank"]
            assert told["model"] == "gemma3:4b (rerank@1)"


@pytest.mark.slow
def test_reload_takes_another_reranker_and_lets_go_of_it(tmp_path):
    with (
        FakeOllama(models=[Listed(name=MODEL)]) as fake,
        RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon,
    ):
        pumps(daemon)
        assert daemon.call("status")["models"]["reranker"]["state"] == "off"
        assert asked(daemon)["degraded"] == []
        assert fake.asked == []
        before = {
            "roots": [str(daemon.vault)],
            "data_dir": str(daemon.data),
            "daemon.socket": str(tmp_path / "s.sock"),
            **QUICK,
        }

        def settings(more: dict[str, object]) -> Settings:
            flags = {**before, **more}
            return load_settings(flags=flags, env={}, file=None, home=tmp_path).settings

        assert daemon.app is not None
        daemon.app.reload(settings(settings_for(fake, **{"rerank.depth": 2})))
        asked(daemon)
        assert [len(each["documents"]) for each in fake.calls("/v1/rerank")] == [2]
        daemon.app.reload(settings(settings_for(fake)))
        asked(daemon)
        assert [len(each["documents"]) for each in fake.calls("/v1/rerank")] == [2, 4]
        daemon.app.reload(settings({}))
        assert asked(daemon)["degraded"] == []
        assert len(fake.calls("/v1/rerank")) == 2


@pytest.mark.slow
def test_stop_does_not_wait_for_a_reranker_that_hangs(tmp_path):
    with (
        FakeOllama(models=[Listed(name=MODEL)]) as fake,
        RunningDaemon(tmp_path, settings=settings_for(fake)) as daemon,
    ):
        pumps(daemon)
        fake.script.append(Step(how="hang"))
        app = daemon.app
        assert app is not None
        answers: list[dict[str, object]] = []
        caller = threading.Thread(
            target=lambda: answers.append(app.recall({"query": QUERY})), name="caller"
        )
        caller.start()
        assert fake.hanging.wait(DEADLINE_S)
        with not_held_up():
            app.stop()
        caller.join(DEADLINE_S)
        soon(fake.left.is_set)
        assert not caller.is_alive()


_ASKS = """
import sys
from pathlib import Path
from daemon.app import build
from recalld.settings.loading import load_settings
base = Path(sys.argv[1])
app = build(load_settings(flags={
    "roots": [str(base / "vault")], "data_dir": str(base / "data"), "daemon.socket": str(base / "s.sock"),
    "embedding.provider": "off", "llm.provider": "off",
}, env={}, file=None, home=base).settings, inherited=None)
app.start()
app.recall({"query": "which pump leaks oil?"})
app.stop()
known = {"retrieval.recall", "recalld.models.rerank_client", "retrieval.reranking.grading"}
print(sorted(known & set(sys.modules)))
"""


@pytest.mark.slow
def test_off_loads_no_reranker(tmp_path):
    (tmp_path / "vault").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", _ASKS, str(tmp_path)],
        capture_output=True, text=True, timeout=4 * DEADLINE_S, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1:] == ["['retrieval.recall']"], done.stderr
