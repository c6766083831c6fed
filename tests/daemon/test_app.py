"""The whole daemon put together: it starts, takes other settings, and stops in time whatever hangs."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from daemon.app import DATABASE_NAME, build
from daemon.models import load_embedder
from recalld.errors import NotRunning, Stopping, StoreDamaged
from recalld.models.embedder import Matrix
from recalld.models.server_embedder import ServerEmbedder
from recalld.settings.loading import load_settings
from recalld.settings.tables import Settings
from tests.fake_ollama import FakeOllama, Listed, Step
from tests.fakes import Loader, WordEmbedder
from tests.running import RunningDaemon
from tests.waiting import DEADLINE_S, not_held_up, soon


class HangingEmbedder(WordEmbedder):
    """Answers nothing until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Event()
        self.let_go = threading.Event()
        self.ended = False

    def embed_statements(self, texts: Sequence[str], starts: Sequence[int] = ()) -> Matrix:
        self.asked.set()
        self._hang()
        return super().embed_statements(texts, starts)

    def embed_query(self, text: str):
        self._hang()
        return super().embed_query(text)

    def _hang(self) -> None:
        assert self.let_go.wait(2 * DEADLINE_S)
        self.ended = True


def settings(tmp_path: Path, roots: Sequence[Path], **flags: object) -> Settings:
    dotted = {name.replace("__", "."): value for name, value in flags.items()}
    given = {
        "roots": [str(root) for root in roots],
        "data_dir": str(tmp_path / "data"),
        "daemon.socket": str(tmp_path / "s.sock"),
        "ingest.quiet_ms": 40,
        "schedule.watch_check_every_s": 0.2,
        "llm.provider": "off",
        **dotted,
    }
    return load_settings(flags=given, env={}, file=None, home=tmp_path).settings


def others() -> set[str]:
    return {thread.name for thread in threading.enumerate()} - {threading.current_thread().name}


@pytest.mark.slow
def test_stopping_joins_every_thread_and_removes_the_socket(tmp_path):
    before = others()
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        daemon.write("a.md", "De server draait op poort 8080.\n")
        daemon.settle()
        assert daemon.texts("server")
        assert others() > before
        assert daemon.app is not None
        path = daemon.app.socket_path()
    assert others() == before
    assert not path.exists()


@pytest.mark.slow
def test_recall_and_stop_do_not_wait_for_a_model_that_hangs(tmp_path):
    before = others()
    embedder = HangingEmbedder()
    try:
        with RunningDaemon(tmp_path, embedder=embedder) as daemon:
            daemon.write("a.md", "De server draait op poort 8080.\n")
            daemon.call("sync")
            assert embedder.asked.wait(DEADLINE_S)
            found = daemon.call("recall", query="server")
            assert [hit["text"] for hit in found["hits"]] == ["De server draait op poort 8080."]
            assert "vectors" in found["degraded"]
            assert daemon.app is not None
            daemon.app.stop()
            assert not embedder.ended, "it was waited for"
    finally:
        embedder.let_go.set()
    # A thread that outlived its daemon ends with the call that held it, and writes nothing.
    soon(lambda: others() == before)
    assert daemon.rows("SELECT count(*) FROM vector") == [(0,)]


@pytest.mark.slow
def test_second_stop_does_nothing_and_recall_is_refused_before_the_start(tmp_path):
    (tmp_path / "v").mkdir()
    app = build(settings(tmp_path, [tmp_path / "v"]), inherited=None, load=Loader(None))
    with pytest.raises(Stopping):
        app.recall({"query": "x"})
    assert not app.settled()
    app.start()
    app.stop()
    app.stop()


def test_start_that_fails_leaves_no_thread_behind(tmp_path):
    before = others()
    (tmp_path / "v").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / DATABASE_NAME).write_bytes(
        b"this is no database, whatever its name is" * 99
    )
    app = build(settings(tmp_path, [tmp_path / "v"]), inherited=None, load=Loader(None))
    with pytest.raises(StoreDamaged):
        app.start()
    assert others() == before


@pytest.mark.slow
def test_reload_takes_roots_in_and_lets_them_go(tmp_path):
    old, new = tmp_path / "vault", tmp_path / "later"
    new.mkdir()
    (new / "b.md").write_text("The gateway listens on port 9090.\n")
    with RunningDaemon(tmp_path) as daemon:
        daemon.write("a.md", "The database listens on port 5432.\n")
        daemon.settle()
        assert daemon.app is not None
        daemon.app.reload(settings(tmp_path, [old, new]))
        daemon.settle()
        assert daemon.texts("gateway port")
        assert daemon.texts("database port")
        (new / "c.md").write_text("The mirror lives in Groningen.\n")
        daemon.wait_until(lambda: daemon.texts("Groningen mirror"))
        daemon.app.reload(settings(tmp_path, [new]))
        status = daemon.settle()
        assert [root["name"] for root in status["roots"]] == ["later"]
        assert status["counts"]["notes"] == 2
        assert "database" not in " ".join(daemon.texts("database port 5432"))
        daemon.write("d.md", "The printer is called Gutenberg.\n")
        daemon.settle()
        assert daemon.rows("SELECT path FROM note ORDER BY 1") == [("b.md",), ("c.md",)]


@pytest.mark.slow
def test_reload_takes_recall_settings_and_keeps_what_needs_a_restart(tmp_path):
    with RunningDaemon(tmp_path) as daemon:
        for number in range(4):
            daemon.write(f"{number}.md", f"Machine number{number} has a cooling fan.\n")
        daemon.settle()
        assert len(daemon.recall("cooling fan")) == 4
        assert daemon.app is not None
        vault = [daemon.vault]
        daemon.app.reload(settings(tmp_path, vault, recall__limit=2, ingest__max_note_bytes=1000))
        assert len(daemon.recall("cooling fan")) == 2
        assert len(daemon.recall("cooling fan", limit=3)) == 3
        daemon.write("big.md", "The warehouse is in Utrecht. " * 100)
        daemon.settle()
        assert daemon.texts("warehouse"), "the size limit only holds after a restart"
        daemon.app.reload(settings(tmp_path, vault, recall__min_relevance=1))
        assert daemon.call("recall", query="cooling fan")["reason"] == "no_evidence"


@pytest.mark.slow
def test_reload_takes_the_schedule(tmp_path):
    with RunningDaemon(tmp_path, settings={"schedule.watch_check_every_s": 600}) as daemon:
        daemon.settle()
        before = daemon.call("status")["stages"]["maintenance"]["last_ok"]
        assert before is None
        assert daemon.app is not None
        daemon.app.reload(settings(tmp_path, [daemon.vault], schedule__maintenance_every_h=0.00005))
        daemon.wait_for(lambda status: status["stages"]["maintenance"]["last_ok"] is not None)


def test_reload_before_the_start_is_refused(tmp_path):
    (tmp_path / "v").mkdir()
    both = settings(tmp_path, [tmp_path / "v"])
    app = build(both, inherited=None, load=Loader(None))
    with pytest.raises(Stopping):
        app.reload(both)


@pytest.mark.slow
def test_keywords_answer_without_a_model_and_status_says_why(tmp_path):
    with RunningDaemon(tmp_path) as daemon:
        daemon.write("a.md", "Le serveur écoute sur le port 8080.\n")
        status = daemon.settle()
        assert status["models"]["embedding"]["state"] == "off"
        assert status["models"]["embedding"]["hint"]
        found = daemon.call("recall", query="quel est le port du serveur ?")
        assert [hit["text"] for hit in found["hits"]] == ["Le serveur écoute sur le port 8080."]
        assert found["degraded"] == ["vectors"]


@pytest.mark.slow
def test_nobody_answers_after_the_stop(tmp_path):
    from recalld.client import Client

    with RunningDaemon(tmp_path) as daemon:
        assert daemon.app is not None
        path = daemon.app.socket_path()
    with pytest.raises(NotRunning), Client(path, timeout_s=1) as client:
        client.call("ping", {})


# ---------------------------------------------------------------- an embedding model at a server


def at_server(tmp_path: Path, url: str) -> Settings:
    (tmp_path / "v").mkdir(exist_ok=True)
    return settings(tmp_path, [tmp_path / "v"], embedding__provider="ollama", embedding__host=url)


def test_embedding_model_of_the_settings_is_the_one_at_the_server(tmp_path):
    with FakeOllama(models=[Listed(name="bge-m3:latest")]) as fake:
        embedder, model = load_embedder(at_server(tmp_path, fake.url))
        assert isinstance(embedder, ServerEmbedder)
        assert (model.state, model.space) == ("ok", embedder.space)
        embedder.close()


def test_embedding_server_that_is_not_there_leaves_keywords_and_says_so(tmp_path):
    with FakeOllama() as gone:
        url = gone.url
    embedder, model = load_embedder(at_server(tmp_path, url))
    assert (embedder, model.state) == (None, "down")
    assert "`ollama serve`" in model.hint
    assert "`recalld reembed`" in model.hint


@pytest.mark.slow
def test_stop_does_not_wait_for_an_embedding_server_that_hangs(tmp_path):
    with FakeOllama(models=[Listed(name="bge-m3:latest")]) as fake:
        fake.script.extend([Step(), Step(how="hang")])
        (tmp_path / "v").mkdir()
        (tmp_path / "v" / "a.md").write_text("The database listens on port 5432.\n")
        app = build(at_server(tmp_path, fake.url), inherited=None)
        app.start()
        try:
            assert fake.hanging.wait(DEADLINE_S)
        finally:
            with not_held_up():
                app.stop()
        assert fake.left.is_set()
