"""Cases of the store and the process: bad vectors, no extension, two daemons, kill -9, a full disk, many clients."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import apsw
import numpy as np
import pytest
import sqlite_vec

from daemon.app import DATABASE_NAME
from recalld.client import Client
from recalld.errors import RequestError
from recalld.store.connection import Database, execute
from tests.fakes import DIMENSION, WordEmbedder
from tests.running import RunningDaemon
from tests.waiting import DEADLINE_S, soon

REPO = Path(__file__).parents[2]
RECALLD = "from daemon.cli import main; main()"


class SpoiledEmbedder(WordEmbedder):
    """Spoils the vectors of texts with certain words, or the whole batch, or the query."""

    def __init__(self) -> None:
        super().__init__()
        self.spoil = {
            "zerozim": np.zeros(DIMENSION, np.float32),
            "nanzim": np.full(DIMENSION, np.nan, np.float32),
            "infzim": np.r_[np.inf, np.ones(DIMENSION - 1)].astype(np.float32),
            "shortzim": np.ones(50, np.float32),
        }
        self.lose_one = False
        self.query = None

    def embed_statements(self, texts, starts=()):
        made = list(super().embed_statements(texts, starts))
        for number, text in enumerate(texts):
            for word, vector in self.spoil.items():
                if word in text:
                    made[number] = vector
        made = made[1:] if self.lose_one else made
        return (
            made if any(word in text for word in self.spoil for text in texts) else np.array(made)
        )

    def embed_query(self, text):
        good = super().embed_query(text)
        return good if self.query is None else self.query


# ---------------------------------------------------------------- 43


def test_bad_vectors_are_refused_and_their_facts_kept_by_keyword(tmp_path):
    embedder = SpoiledEmbedder()
    with RunningDaemon(tmp_path, embedder=embedder) as daemon:
        for word in embedder.spoil:
            daemon.write(f"{word}.md", f"The lamp in the hall is called {word} by everyone.\n")
        daemon.write("good.md", "The boiler in the cellar is called Bertha by everyone.\n")
        status = daemon.settle()
        assert status["queue"]["parked"] == len(embedder.spoil)
        assert status["queue"]["embed"] == 0
        stored = daemon.rows("SELECT length(embedding) FROM vector")
        assert stored == [(DIMENSION,)]
        for word in embedder.spoil:
            assert any(word in text for text in daemon.texts(f"lamp called {word}")), word
        # No bad vector comes before a real match.
        assert "Bertha" in daemon.texts("boiler in the cellar")[0]


def test_refused_vectors_are_computed_once_the_model_is_sound(tmp_path):
    embedder = SpoiledEmbedder()
    with RunningDaemon(tmp_path, embedder=embedder) as daemon:
        daemon.write("a.md", "The lamp in the hall is called zerozim.\n")
        assert daemon.settle()["queue"]["parked"] == 1
    embedder.spoil = {}
    with RunningDaemon(tmp_path, embedder=embedder) as daemon:
        assert daemon.settle()["queue"]["parked"] == 0
        assert daemon.rows("SELECT count(*) FROM vector") == [(1,)]


def test_a_batch_with_too_few_vectors_is_rejected_whole(tmp_path):
    embedder = SpoiledEmbedder()
    embedder.lose_one = True
    with RunningDaemon(tmp_path, embedder=embedder) as daemon:
        daemon.write("a.md", "Alpha is the server.\n\nBeta is the printer.\n")
        daemon.settle()
        assert daemon.rows("SELECT count(*) FROM vector") == [(0,)]
        assert daemon.texts("printer beta")


@pytest.mark.parametrize(
    "query",
    [
        np.zeros(DIMENSION, np.float32),
        np.full(DIMENSION, np.nan, np.float32),
        np.full(DIMENSION, np.inf, np.float32),
        np.ones(50, np.float32),
    ],
    ids=["zeros", "nan", "inf", "short"],
)
def test_a_query_without_a_usable_vector_is_answered_by_keyword_and_says_so(query, tmp_path):
    embedder = SpoiledEmbedder()
    embedder.query = query
    with RunningDaemon(tmp_path, embedder=embedder) as daemon:
        daemon.write("a.md", "The boiler in the cellar is called Bertha.\n")
        daemon.settle()
        answer = daemon.call("recall", query="boiler Bertha")
        assert answer["hits"]
        assert answer["degraded"] == ["vectors"]


# ---------------------------------------------------------------- 44


def test_without_the_extension_recall_goes_on_by_keyword_and_says_so(tmp_path, monkeypatch):
    library = tmp_path / "vec0.so"
    library.write_text("this is no library")
    with monkeypatch.context() as patch:
        patch.setattr(sqlite_vec, "loadable_path", lambda: str(library))
        with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
            daemon.write("a.md", "The boiler in the cellar is called Bertha.\n")
            status = daemon.settle()
            assert "pip install" in status["database"]["problem"]
            assert status["models"]["embedding"]["state"] != "ok"
            assert "pip install" in status["models"]["embedding"]["hint"]
            for _ in range(2):
                answer = daemon.call("recall", query="boiler Bertha")
                assert answer["hits"]
                assert "vectors" in answer["degraded"]
            # Vectors need no extension to be kept: they are there when it is.
            assert daemon.rows("SELECT count(*) FROM vector") == [(1,)]
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        status = daemon.settle()
        assert status["database"]["problem"] is None
        assert status["models"]["embedding"]["state"] == "ok"
        assert daemon.call("recall", query="boiler Bertha")["degraded"] == []


# ---------------------------------------------------------------- processes


@pytest.fixture
def processes():
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=DEADLINE_S)


def run_recalld(started, base, *, data, sock, extra=()):
    """`recalld run` without a model, as a process."""
    config = base / "config.toml"
    config.write_text('[embedding]\nprovider = "off"\n')
    (base / "vault").mkdir(exist_ok=True)
    options = ["--data", str(data), "--socket", str(sock), "--config", str(config), *extra]
    process = subprocess.Popen(
        [sys.executable, "-c", RECALLD, "run", str(base / "vault"), *options],
        cwd=REPO,
        env={"HOME": str(base), "PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    started.append(process)
    return process


def answers(sock, deadline_s=DEADLINE_S):
    """The status of the daemon at a socket, once one answers."""
    end = time.monotonic() + deadline_s
    while True:
        try:
            with Client(sock, timeout_s=DEADLINE_S) as client:
                status = client.call("status", {})
                if status["state"] == "idle":
                    return status
        except Exception:
            assert time.monotonic() < end, "no daemon answered in time"
        assert time.monotonic() < end, "not settled in time"
        time.sleep(0.05)


# ---------------------------------------------------------------- 50


@pytest.mark.slow
def test_of_two_daemons_on_one_data_folder_one_lives_and_no_fact_is_twice(tmp_path, processes):
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "a.md").write_text("The boiler in the cellar is called Bertha.\n")
    (tmp_path / "link").symlink_to(tmp_path / "data")
    # At the same instant, with another socket, and through another name of the folder.
    rivals = [
        run_recalld(processes, tmp_path, data=tmp_path / data, sock=tmp_path / f"{n}.sock")
        for n, data in enumerate(["data", "data", "link"])
    ]
    soon(lambda: sum(rival.poll() is not None for rival in rivals) == 2)
    (winner,) = [n for n, rival in enumerate(rivals) if rival.poll() is None]
    status = answers(tmp_path / f"{winner}.sock")
    assert status["pid"] == rivals[winner].pid
    for n, rival in enumerate(rivals):
        if n != winner:
            _, err = rival.communicate(timeout=DEADLINE_S)
            assert rival.returncode == 4
            assert "another daemon holds the data folder" in err
            assert "Traceback" not in err
    assert status["counts"]["facts"] == 1
    late = run_recalld(processes, tmp_path, data=tmp_path / "link", sock=tmp_path / "late.sock")
    _, err = late.communicate(timeout=DEADLINE_S)
    assert late.returncode == 4
    assert str(rivals[winner].pid) in err
    rivals[winner].terminate()
    rivals[winner].communicate(timeout=DEADLINE_S)
    assert rivals[winner].returncode == 0


# ---------------------------------------------------------------- 51


def note(number, version):
    return (
        f"# Machine {number}\n\nThe machine {number} runs version {version} of the firmware.\n\n"
        + "\n".join(f"- Port {port} of machine {number} is open.\n" for port in range(8))
        + f"\nSee [[{(number * 7) % 30}]].\n"
    )


STATE = {
    "notes": "SELECT path, content_hash, title FROM note ORDER BY 1",
    "passages": "SELECT path, position, passage.text FROM passage JOIN note ON note.id = note_id"
    " ORDER BY 1, 2",
    "statements": "SELECT path, position, ordinal, statement.text, embed_state, signs, embedding"
    " FROM statement JOIN passage ON passage.id = passage_id JOIN note ON note.id = note_id"
    " LEFT JOIN vector ON statement_id = statement.id ORDER BY 1, 2, 3",
    "facts": "SELECT uid, text, category, category_by, count(*) FROM fact JOIN fact_source"
    " ON fact_id = fact.id GROUP BY fact.id ORDER BY 1",
    "links": "SELECT note.path, target, other.path FROM note_link JOIN note ON note.id = from_note"
    " LEFT JOIN note AS other ON other.id = to_note ORDER BY 1, 2",
    "stray vectors": "SELECT count(*) FROM vector WHERE statement_id NOT IN"
    " (SELECT id FROM statement)",
}


def state_of(daemon):
    return {name: daemon.rows(sql) for name, sql in STATE.items()}


def start_killable(started, base):
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.cases.daemon_process", str(base)],
        cwd=REPO,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    started.append(process)
    return process


@pytest.mark.slow
def test_killed_again_and_again_it_ends_as_if_undisturbed(tmp_path, processes):
    dice = random.Random(51)
    killed, undisturbed = tmp_path / "killed", tmp_path / "undisturbed"
    killed.mkdir()
    undisturbed.mkdir()
    daemon = RunningDaemon(killed, embedder=WordEmbedder())
    for number in range(30):
        daemon.write(f"{number}.md", note(number, 0))
    cut_short = 0
    for attempt in range(1, 13):
        process = start_killable(processes, killed)
        assert process.stdout is not None
        if attempt % 4:
            assert process.stdout.readline() == "ready\n"
            time.sleep(dice.random() * 0.6)
        else:
            time.sleep(dice.random() * 1.5)
        process.send_signal(signal.SIGKILL)
        rest, _ = process.communicate(timeout=DEADLINE_S)
        cut_short += "settled" not in rest
        if (daemon.data / DATABASE_NAME).exists():
            schema = daemon.rows("PRAGMA user_version")[0][0]
            if schema:
                daemon.check_database()
        for number in dice.sample(range(30), 6):
            daemon.write(f"{number}.md", note(number, attempt))
        gone = dice.randrange(30)
        (daemon.vault / f"{gone}.md").unlink(missing_ok=True)
        daemon.write(f"{(gone + 1) % 30}.md", note((gone + 1) % 30, attempt))
    assert cut_short >= 4, "most kills came too late to test anything"
    with daemon:
        status = daemon.settle()
        assert status["queue"] == {"dirty": 0, "extract": 0, "parked": 0, "embed": 0}
        files = daemon.files()
        found = state_of(daemon)
    with RunningDaemon(undisturbed, embedder=WordEmbedder()) as fresh:
        for path, content in files.items():
            fresh.write(path, content)
        fresh.settle()
        due = state_of(fresh)
    for name, rows in due.items():
        assert found[name] == rows, name


# ---------------------------------------------------------------- 52


def limit_pages(daemon, extra):
    """The database may grow by so many pages: then the disk is full."""

    def limit(writers):
        pages = execute(writers.connection, "PRAGMA page_count")[0][0]
        execute(writers.connection, f"PRAGMA max_page_count = {pages + extra}")

    daemon.app._methods._writes.call(limit)


@pytest.mark.slow
def test_a_full_disk_pauses_ingest_and_not_recall(tmp_path):
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        daemon.write("a.md", "The boiler in the cellar is called Bertha.\n")
        daemon.settle()
        limit_pages(daemon, 6)
        for number in range(40):
            daemon.write(f"{number}.md", note(number, 0) * 4)
        daemon.call("sync")
        status = daemon.wait_for(
            lambda status: any(
                "disk is full" in str(stage["reason"]) for stage in status["stages"].values()
            )
        )
        assert status["state"] != "idle"
        assert status["queue"]["dirty"] > 0
        assert daemon.texts("boiler Bertha")
        whole = daemon.rows(
            "SELECT count(*) FROM note WHERE id NOT IN (SELECT note_id FROM passage)"
        )
        assert whole == [(0,)]
        limit_pages(daemon, 1_000_000)
        # Nobody tells it: it tries again by itself.
        status = daemon.wait_for(lambda status: status["state"] == "idle")
        assert status["roots"][0]["notes"] == 41
        assert status["queue"]["embed"] == 0
        assert daemon.texts("machine 39 firmware")


# ---------------------------------------------------------------- 55


@pytest.mark.slow
def test_a_daemon_starts_again_after_a_kill_and_takes_over_its_dead_socket(tmp_path, processes):
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "a.md").write_text("The boiler in the cellar is called Bertha.\n")
    sock = tmp_path / "run" / "s.sock"
    first = run_recalld(processes, tmp_path, data=tmp_path / "data", sock=sock)
    answers(sock)
    first.kill()
    first.communicate(timeout=DEADLINE_S)
    assert sock.exists()
    second = run_recalld(processes, tmp_path, data=tmp_path / "data", sock=sock)
    status = answers(sock)
    assert status["pid"] == second.pid
    assert status["counts"]["facts"] == 1
    assert stat.S_IMODE(sock.stat().st_mode) == 0o600
    # A daemon with other data may not take the living socket.
    thief = run_recalld(processes, tmp_path, data=tmp_path / "other", sock=sock)
    _, err = thief.communicate(timeout=DEADLINE_S)
    assert thief.returncode == 1
    assert "Traceback" not in err
    assert answers(sock)["pid"] == second.pid
    second.terminate()
    second.communicate(timeout=DEADLINE_S)
    assert not sock.exists()


# ---------------------------------------------------------------- 57


@pytest.mark.slow
def test_many_clients_are_served_while_notes_pour_in(tmp_path):
    answered = 0
    failures: list[str] = []
    lock = threading.Lock()
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        daemon.write("a.md", "The boiler in the cellar is called Bertha.\n")
        daemon.settle()
        for number in range(200):
            daemon.write(f"many/{number}.md", note(number, 0))
        daemon.call("sync")

        def ask(client_number):
            nonlocal answered
            try:
                with Client(daemon.app.socket_path(), timeout_s=DEADLINE_S) as client:
                    for turn in range(8):
                        if turn % 4 == 3:
                            assert client.call("status", {})["pid"] == os.getpid()
                        elif turn % 4 == 2:
                            assert client.call("ping", {})["pid"] == os.getpid()
                        else:
                            hits = client.call("recall", {"query": "boiler Bertha"})["hits"]
                            assert "Bertha" in hits[0]["text"]
                        with lock:
                            answered += 1
            except RequestError as error:
                if error.kind != "busy":
                    failures.append(f"{client_number}: {error.kind} {error}")
            except Exception as error:
                failures.append(f"{client_number}: {error!r}")

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(60)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(2 * DEADLINE_S)
        assert failures == []
        assert answered >= 50 * 8
        status = daemon.wait_for(
            lambda status: status["state"] == "idle", deadline_s=2 * DEADLINE_S
        )
        assert status["counts"]["notes"] == 201
    left = [thread.name for thread in threading.enumerate() if "peer" in thread.name]
    assert left == []


# ---------------------------------------------------------------- bad input


def refused(tmp_path, processes, *, code, words, extra=(), data=None, sock=None):
    process = run_recalld(
        processes,
        tmp_path,
        data=data or tmp_path / "data",
        sock=sock or tmp_path / "s.sock",
        extra=("--once", *extra),
    )
    out, err = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == code, err
    assert "Traceback" not in err + out
    told = [line for line in err.splitlines() if line.startswith("recalld:")]
    assert len(told) == 1, err
    assert any(word in err for word in words), err
    return err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"these are my tax papers\n" * 400, ["not a database"]),
        (None, ["can't be opened"]),
        ("other", ["another program"]),
        ("newer", ["schema 999"]),
    ],
    ids=["text", "folder", "other program", "newer"],
)
def test_a_bad_database_file_is_refused_and_kept(content, words, tmp_path, processes):
    path = tmp_path / "data" / DATABASE_NAME
    path.parent.mkdir()
    if content is None:
        path.mkdir()
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        if content == "newer":
            Database(path).close()
        connection = apsw.Connection(str(path))
        change = "PRAGMA user_version = 999" if content == "newer" else "CREATE TABLE mine (x)"
        connection.execute(change).fetchall()
        connection.close()
    before = path.read_bytes() if path.is_file() else None
    refused(tmp_path, processes, code=1, words=words)
    assert (path.read_bytes() if path.is_file() else None) == before


@pytest.mark.slow
def test_a_bad_socket_path_is_refused_and_kept(tmp_path, processes):
    (tmp_path / "mine.txt").write_text("mine")
    refused(tmp_path, processes, code=1, words=["mine.txt"], sock=tmp_path / "mine.txt")
    assert (tmp_path / "mine.txt").read_text() == "mine"


@pytest.mark.slow
def test_a_file_as_the_data_folder_is_refused_and_kept(tmp_path, processes):
    (tmp_path / "data").write_text("mine")
    refused(tmp_path, processes, code=1, words=["data folder"])
    assert (tmp_path / "data").read_text() == "mine"


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["[ingest]\nquiet_sm = 3\n", "this is = = no toml", '[recall]\nlimit = "many"\n']
)
def test_bad_settings_are_refused(text, tmp_path, processes):
    bad = tmp_path / "bad.toml"
    bad.write_text(text)
    err = refused(tmp_path, processes, code=2, words=["quiet_ms", "bad.toml", "limit"],
                  extra=("--config", str(bad)))  # fmt: skip
    assert not (tmp_path / "data" / DATABASE_NAME).exists(), err


BAD_NOTES = {
    "empty.md": b"",
    "nul.md": b"a\0b\0c is a letter.\n",
    "latin.md": "Die Straße heißt Grüner Weg.\n".encode("latin-1"),
    "utf16.md": "Der Server heißt Alpha.\n".encode("utf-16"),
    "half.md": b"\xe6\x97",
    "yaml.md": b"---\ntitle: [\n---\nText of it.\n",
    "deep.md": b"> " * 3000 + b"deep\n",
    "brackets.md": b"[" * 20_000,
    "line.md": b"word " * 40_000,
    "binary.md": bytes(range(256)) * 50,
}


@pytest.mark.slow
def test_bad_notes_hurt_nobody(tmp_path):
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        for path, content in BAD_NOTES.items():
            daemon.write(path, content)
        daemon.write("good.md", "The boiler in the cellar is called Bertha.\n")
        status = daemon.settle()
        assert status["stages"]["words"]["failed"] == 0
        assert "Bertha" in daemon.texts("boiler Bertha")[0]
        assert daemon.texts("Server Alpha")


@pytest.mark.parametrize(
    "line",
    [
        b"no json\n",
        b'{"jsonrpc":"2.0","id":1,"method":"nothing"}\n',
        b'{"jsonrpc":"2.0","id":1,"method":"recall","params":{"query":5}}\n',
        b'{"jsonrpc":"2.0","id":1,"method":"recall","params":{"query":"x","limit":-1}}\n',
        b'{"jsonrpc":"2.0","id":1,"method":"recall","params":{"query":"\\ud800"}}\n',
        b'{"jsonrpc":"2.0","id":1,"method":"get","params":{"anchor":"fact:zz"}}\n',
        b'{"jsonrpc":"2.0","id":1,"method":"sync","params":{"paths":["../../etc"]}}\n',
        b"\xff\xfe\n",
        b"[]\n",
    ],
)
def test_a_bad_request_gets_an_error_and_the_next_an_answer(line, tmp_path):
    with RunningDaemon(tmp_path) as daemon, socket.socket(socket.AF_UNIX) as client:
        client.settimeout(DEADLINE_S)
        client.connect(str(daemon.app.socket_path()))
        with client.makefile("rwb") as stream:
            stream.write(line)
            stream.flush()
            answer = json.loads(stream.readline())
            if b"\\ud800" not in line:
                assert answer["error"]["message"]
            assert "Traceback" not in json.dumps(answer)
            stream.write(b'{"jsonrpc":"2.0","id":2,"method":"ping"}\n')
            stream.flush()
            assert json.loads(stream.readline())["id"] == 2
