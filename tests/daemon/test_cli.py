"""The command line against a real socket: what is asked, what is shown, how it exits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

import recalld
from daemon.cli import cli
from daemon.lock import InstanceLock
from tests.daemon.fakes import ANSWER, FOUND, HIT, NOTHING, STATUS, FakeDaemon

RESULTS = {
    "recall": FOUND,
    "answer": ANSWER,
    "get": HIT,
    "explain": {"channels": [{"name": "keywords", "ranks": [1, 2]}], "evidence": 0.5},
    "status": STATUS,
    "sync": {"queued": 3},
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A home of its own, without anything of the tester's environment."""
    for name in [each for each in os.environ if each.startswith(("XDG_", "RECALLD_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    return tmp_path


@pytest.fixture
def daemon(place):
    with FakeDaemon(place / "run" / "recalld" / "recalld.sock", dict(RESULTS)) as running:
        yield running


def call(*words: str):
    return CliRunner().invoke(cli, words)


def answering(daemon: FakeDaemon, method: str, result: dict[str, object]) -> None:
    daemon._results[method] = result


# ---------------------------------------------------------------- recall


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


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("recall", ["recall", "x"]),
        ("answer", ["answer", "x"]),
        ("get", ["get", "fact:a3f1c0d2"]),
        ("explain", ["explain", "r-1"]),
        ("status", ["status"]),
        ("sync", ["sync"]),
    ],
)
@pytest.mark.parametrize("before", [True, False])
def test_json_is_exactly_the_methods_result(daemon, method, words, before):
    done = call("--json", *words) if before else call(*words, "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout) == RESULTS[method]


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


# ---------------------------------------------------------------- the other questions


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


def test_sync_sends_whole_paths_and_what_was_confirmed(daemon):
    done = call("sync", "a.md", "/b", "--full", "--wait", "--confirm-deletions", "notes")
    assert daemon.requests == [
        (
            "sync",
            {
                "paths": [f"{Path.cwd()}/a.md", "/b"],
                "full": True,
                "wait": True,
                "confirm_deletions": ["notes"],
            },
        )
    ]
    assert done.stdout == "queued: 3\n"


def test_status_is_readable(daemon):
    done = call("status")
    assert done.exit_code == 0
    assert "catching up · the oldest change has waited 1 min 15 s" in done.stdout


# ---------------------------------------------------------------- where the daemon is


@pytest.mark.parametrize("before", [True, False])
def test_socket_may_stand_before_or_after_the_command(place, before):
    with FakeDaemon(place / "other" / "s", {"status": STATUS}) as other:
        option = ("--socket", str(place / "other" / "s"))
        done = call(*option, "status") if before else call("status", *option)
        assert done.exit_code == 0
        assert other.requests == [("status", {})]


def test_socket_after_the_command_wins(daemon, place):
    done = call(
        "--socket", "/nowhere", "status", "--socket", str(place / "run/recalld/recalld.sock")
    )
    assert done.exit_code == 0


def test_socket_of_the_settings_file_is_found_without_reading_more(place):
    file = place / "my.toml"
    file.write_text('nonsense = 1\n[daemon]\nsocket = "$HOME/own/s"\n')
    with FakeDaemon(place / "own" / "s", {"status": STATUS}):
        assert call("status", "--config", str(file)).exit_code == 0
    file.write_text('[daemon]\nsocket = "~/own2/s"\n')
    with FakeDaemon(place / "own2" / "s", {"status": STATUS}):
        assert call("--config", str(file), "status").exit_code == 0


def test_settings_file_that_is_not_toml_is_a_usage_error(place):
    (place / "my.toml").write_text("[daemon\n")
    done = call("status", "--config", str(place / "my.toml"))
    assert done.exit_code == 2
    assert "is not TOML" in done.stderr


# ---------------------------------------------------------------- failures


def test_no_daemon_exits_3_with_a_hint(place):
    done = call("recall", "x")
    assert done.exit_code == 3
    lines = done.stderr.splitlines()
    assert lines[0].startswith("recalld: No daemon answers on ")
    assert lines[1].startswith("hint: ")
    assert len(lines) == 2


def test_error_of_the_daemon_is_told_in_its_words(daemon):
    data = {
        "kind": "ambiguous_anchor",
        "hint": "use more characters",
        "matches": ["fact:a1", "fact:a2"],
    }
    answering(
        daemon, "get", {"error": {"code": -32002, "message": "Two facts\nfit.", "data": data}}
    )
    done = call("get", "fact:a")
    assert done.exit_code == 1
    assert done.stderr.splitlines()[:2] == ["recalld: Two facts fit.", "hint: use more characters"]


@pytest.mark.parametrize(
    "words",
    [
        ["frobnicate"],
        ["recall"],
        ["recall", "x", "--limit", "0"],
        ["recall", "x", "--limit", "many"],
        ["recall", "x", "--since", "yesterday"],
        ["recall", "x", "--category", "gossip"],
        ["recall", "x", "--frob"],
        ["get"],
    ],
)
def test_wrong_usage_exits_2_with_one_line_and_a_hint(place, words):
    done = call(*words)
    assert done.exit_code == 2
    first, second = done.stderr.splitlines()
    assert first.startswith("recalld: ")
    assert second.startswith("hint: recalld ")


def test_no_command_shows_help(place):
    done = call()
    assert "Commands:" in done.output
    assert "hint:" not in done.output


def test_version_is_the_packages(place):
    assert call("--version").stdout == f"recalld {recalld.__version__}\n"


# ---------------------------------------------------------------- settings


def test_config_path_is_the_xdg_one_or_the_named_one(place):
    assert call("config", "path").stdout == f"{place}/.config/recalld/config.toml\n"
    assert call("config", "path", "--config", "/x.toml").stdout == "/x.toml\n"


def test_config_init_writes_a_file_that_show_reads_and_never_overwrites(place):
    assert call("config", "init").exit_code == 0
    file = place / ".config/recalld/config.toml"
    before = file.read_text()
    done = call("config", "init")
    assert done.exit_code == 2
    assert "exists already" in done.stderr
    assert file.read_text() == before
    shown = call("config", "show", "--json")
    assert json.loads(shown.stdout)["ingest.quiet_ms"]["origin"] == "file"


def test_config_show_says_where_a_value_comes_from(place, monkeypatch):
    monkeypatch.setenv("RECALLD_INGEST__QUIET_MS", "250")
    done = call("config", "show")
    [line] = [each for each in done.stdout.splitlines() if each.startswith("ingest.quiet_ms ")]
    assert "= 250  (env RECALLD_INGEST__QUIET_MS)" in line


def test_every_mistake_in_the_settings_has_its_line(place):
    file = place / "my.toml"
    file.write_text("[ingest]\nquiet_ms = -1\nfrob = 2\n")
    done = call("config", "show", "--config", str(file))
    assert done.exit_code == 2
    assert sum(line.startswith("recalld: ") for line in done.stderr.splitlines()) == 2


# ---------------------------------------------------------------- run


def test_run_without_a_folder_is_a_settings_error(place):
    done = call("run")
    assert done.exit_code == 2
    assert "no folder to watch" in done.stderr


def test_run_with_wrong_settings_exits_2_so_that_it_is_not_restarted(place):
    (place / ".config/recalld").mkdir(parents=True)
    (place / ".config/recalld/config.toml").write_text("quiet = 1\n")
    assert call("run", str(place)).exit_code == 2


# ---------------------------------------------------------------- as a process

PROGRAM = [sys.executable, "-c", "from daemon.cli import main; main()"]


def process(*words: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *words], capture_output=True, text=True, timeout=30, check=False, **options
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["memory", "link"])
def test_second_daemon_on_a_data_folder_exits_4_and_names_the_first(place, name):
    (place / "memory").mkdir()
    (place / "link").symlink_to("memory")
    (place / "notes").mkdir()
    data = ("--data", str(place / name), "--socket", str(place / "another.sock"))
    with InstanceLock(place / "memory"):
        done = process("run", str(place / "notes"), *data)
    assert done.returncode == 4
    assert f"(process {os.getpid()})" in done.stderr
    assert "hint: " in done.stderr
    assert sorted(each.name for each in (place / "memory").iterdir()) == ["lock"]


@pytest.mark.slow
def test_recall_asks_without_the_daemons_weight(daemon):
    report = "import sys; from daemon.cli import cli; cli(['recall', 'x'], standalone_mode=False); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", report], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "daemon.cli" in loaded
    assert not loaded & {
        "pydantic",
        "rich",
        "structlog",
        "numpy",
        "apsw",
        "daemon.run",
        "recalld.settings",
    }


@pytest.mark.slow
def test_fresh_recall_takes_under_300_ms_of_work(daemon):
    def cpu_s() -> float:
        before = os.times()
        assert process("recall", "x").returncode == 0
        after = os.times()
        return (
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )

    assert min(cpu_s() for _ in range(5)) < 0.3


@pytest.mark.slow
def test_reader_that_goes_away_is_no_failure(daemon):
    answering(daemon, "recall", {**FOUND, "hits": [HIT] * 5000})
    with subprocess.Popen(
        [*PROGRAM, "recall", "x"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == ""
        assert running.wait(20) == 0


@pytest.mark.slow
def test_bug_is_one_line_and_never_a_traceback(daemon):
    broken = (
        "import daemon.cli as c; c.cli.commands['status'].callback = lambda **_: 1 / 0; c.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", broken, "status"],
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )
    assert done.returncode == 1
    assert (
        done.stderr.splitlines()[0]
        == "recalld: internal error: ZeroDivisionError: division by zero"
    )
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_output_that_the_locale_cannot_hold_is_replaced(daemon):
    env = {
        **os.environ,
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": "latin-1",
    }
    done = subprocess.run(
        [*PROGRAM, "recall", "x"], capture_output=True, env=env, check=False, timeout=20
    )
    assert done.returncode == 0
    assert b"De uitrol faalt" in done.stdout


@pytest.mark.slow
def test_bare_environment_is_enough(place):
    done = subprocess.run(
        [*PROGRAM, "recall", "x"], capture_output=True, text=True, env={}, check=False, timeout=20
    )
    assert done.returncode == 3
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_watch_shows_the_status_until_interrupted(daemon):
    with subprocess.Popen(
        [*PROGRAM, "status", "--watch"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert "recalld 0.1.0" in running.stdout.readline()
        deadline = time.monotonic() + 10
        while len(daemon.requests) < 2 and time.monotonic() < deadline:
            running.stdout.readline()
        running.send_signal(signal.SIGINT)
        assert running.wait(10) == 0
        assert running.stderr.read() == ""
    assert len(daemon.requests) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_for_each_shell(place, shell):
    done = process(env={**os.environ, "_RECALLD_COMPLETE": f"{shell}_source"})
    if done.returncode != 0 and "bash" in done.stderr.lower():
        pytest.skip("this bash is too old for click's completion")
    assert "_RECALLD_COMPLETE" in done.stdout


# ---------------------------------------------------------------- the graph

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


def test_a_rebuild_of_the_graph_tells_what_it_set_right(daemon):
    result = {"facts": 7, "notes": 2, "links": 3, "changed": 0}
    answering(daemon, "rebuild_graph", result)
    assert "7 facts, 2 notes, 3 links; all as it was" in call("graph", "rebuild").output
    answering(daemon, "rebuild_graph", {**result, "changed": 4})
    assert "4 set right" in call("graph", "rebuild").output


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
    assert json.loads(call("conflicts", "--json").output) == {"pairs": [], "total": 0}


def test_resolve_says_which_holds_or_that_both_do(daemon):
    answering(daemon, "resolve", {**PAIR, "state": "resolved"})
    assert "resolved" in call("resolve", "fact:bbbbbbbb", "fact:aaaaaaaa").output
    assert call("resolve", "fact:bbbbbbbb", "fact:aaaaaaaa", "--both").exit_code == 0
    assert daemon.requests == [
        ("resolve", {"anchor": "fact:bbbbbbbb", "over": "fact:aaaaaaaa", "verdict": verdict})
        for verdict in ("supersedes", "both")
    ]
    assert call("resolve", "fact:bbbbbbbb").exit_code == 2


def test_reextract_asks_for_what_was_given_up_or_for_all(daemon):
    result = {"queued": 2, "model": {"name": "m", "state": "ok", "hint": None}}
    answering(daemon, "reextract", result)
    assert "2 blocks wait for m again; it is ok" in call("reextract").output
    assert "2 blocks" in call("reextract", "--parked").output
    assert json.loads(call("reextract", "--json").output) == result
