"""The command line against a real socket: what is asked, what is shown, how it exits."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import recalld
from daemon.cli import cli
from daemon.lock import InstanceLock
from tests.daemon.commands.calling import RESULTS, answering, call
from tests.daemon.fakes import FOUND, HIT, STATUS, FakeDaemon
from tests.growth import assert_costs_at_most
from tests.waiting import DEADLINE_S

ROOT = Path(__file__).parents[2]


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


PROGRAM = [sys.executable, "-c", "from daemon.cli import main; main()"]
# A shell may have started the tests in the background, where this signal is ignored.
INTERRUPTIBLE = [
    sys.executable,
    "-c",
    (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from daemon.cli import main; main()"
    ),
]


def process(*words: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *words],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
        **options,
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
def test_fresh_recall_costs_little_more_than_the_interpreter_and_click(daemon):
    def children_s() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def recall() -> None:
        assert process("recall", "x").returncode == 0

    def least() -> None:
        command = [sys.executable, "-c", "import click, json, socket"]
        subprocess.run(command, check=True, timeout=DEADLINE_S)

    # One large library more, such as numpy, is beyond it.
    assert_costs_at_most(3, recall, than=least, clock=children_s)


@pytest.mark.slow
def test_reader_that_goes_away_is_no_failure(daemon):
    answering(daemon, "recall", {**FOUND, "hits": [HIT] * 5000})
    with subprocess.Popen(
        [*PROGRAM, "recall", "x"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == ""
        assert running.wait(DEADLINE_S) == 0


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
        timeout=DEADLINE_S,
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
        [*PROGRAM, "recall", "x"], capture_output=True, env=env, check=False, timeout=DEADLINE_S
    )
    assert done.returncode == 0
    assert b"De uitrol faalt" in done.stdout


@pytest.mark.slow
def test_bare_environment_is_enough(place):
    done = subprocess.run(
        [*PROGRAM, "recall", "x"],
        capture_output=True,
        text=True,
        env={},
        check=False,
        timeout=DEADLINE_S,
    )
    assert done.returncode == 3
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_watch_shows_the_status_until_interrupted(daemon):
    with subprocess.Popen(
        [*INTERRUPTIBLE, "status", "--watch"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert "recalld 0.1.0" in running.stdout.readline()
        while len(daemon.requests) < 2:  # or until there is nothing more to read
            assert running.stdout.readline()
        running.send_signal(signal.SIGINT)
        assert running.wait(DEADLINE_S) == 0
        assert running.stderr.read() == ""
    assert len(daemon.requests) >= 2


def test_every_command_that_a_hint_names_is_there():
    named = {
        (path.name, name)
        for package in ("recalld", "retrieval", "ingest", "daemon")
        for path in (ROOT / package).rglob("*.py")
        for name in re.findall(r"[`(]recalld ([a-z]+)", path.read_text("utf-8"))
    }
    assert ("client.py", "run") in named
    assert [one for one in sorted(named) if one[1] not in cli.commands] == []


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_for_each_shell(place, shell):
    done = process(env={**os.environ, "_RECALLD_COMPLETE": f"{shell}_source"})
    if done.returncode != 0 and "bash" in done.stderr.lower():
        pytest.skip("this bash is too old for click's completion")
    assert "_RECALLD_COMPLETE" in done.stdout
