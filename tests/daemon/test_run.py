"""A process's life with an application that does nothing but keep a diary."""

from __future__ import annotations

import io
import json
import os
import pty
import signal
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from daemon.notify import Notifier
from daemon.run import Backlog, Console, Life
from daemon.terminal import Screen
from recalld.errors import RecalldError, SettingsError, StoreBusy
from tests.daemon.fakes import FOUND, STATUS, FakeApplication
from tests.waiting import DEADLINE_S


class Reloading(FakeApplication):
    def reload(self, settings: object) -> None:
        self.settings.append(settings)


def life(app, *, notifier=None, reload=None, as_json=False):
    console = Console(out=Screen(io.StringIO(), {}), err=Screen(io.StringIO(), {}), as_json=as_json)
    made = Life(app, console=console, notifier=notifier or Notifier(None), reload=reload)
    return made, console


def send(number):
    return lambda: os.kill(os.getpid(), number)


@pytest.fixture
def manager(tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(tmp_path / "notify"))
        receiver.setblocking(False)
        yield receiver


def told(receiver) -> list[str]:
    found = []
    while True:
        try:
            found.append(receiver.recv(1000).decode())
        except BlockingIOError:
            return found


def test_once_starts_settles_stops():
    app = FakeApplication()
    made, console = life(app)
    assert made.run(once=True) == 0
    assert app.done == ["start", "stop"]
    assert console.err.stream.getvalue() == ""


def test_once_waits_for_the_language_model_but_questions_do_not():
    app = FakeApplication(answers={"uitrol": FOUND}, refining=2)
    assert life(app)[0].run(once=True, questions=("uitrol",)) == 0
    assert app.done == [
        "start",
        "recall {'query': 'uitrol', 'limit': 3}",
        "refine",
        "refine",
        "stop",
    ]
    staying = FakeApplication(refining=2, on_settled=send(signal.SIGTERM))
    assert life(staying)[0].run(once=False) == 0
    assert "refine" not in staying.done


def test_once_says_what_failed():
    made, console = life(FakeApplication(status=STATUS))
    assert made.run(once=True) == 1
    assert console.err.stream.getvalue().splitlines() == [
        "recalld: root notes has 1 unreadable",
        "recalld: root disk is unavailable",
        "recalld: stage embed failed 4 times",
    ]


def test_questions_are_asked_once_settled_and_answers_printed():
    app = FakeApplication(answers={"uitrol": FOUND})
    made, console = life(app)
    assert made.run(once=True, questions=("uitrol", "zeppelin")) == 1
    assert app.done == [
        "start",
        "recall {'query': 'uitrol', 'limit': 3}",
        "recall {'query': 'zeppelin', 'limit': 3}",
        "stop",
    ]
    assert "De uitrol faalt om 03:00." in console.out.stream.getvalue()
    assert "zeppelin: nothing found" in console.err.stream.getvalue()


def test_titles_of_notes_are_asked_after_the_questions():
    app = FakeApplication(answers={"uitrol": FOUND, "zeppelin": FOUND, "more": FOUND})
    made, _ = life(app)
    assert made.run(once=True, questions=("more",), titles=2) == 0
    asked = [f"recall {{'query': '{text}', 'limit': 3}}" for text in ("more", "uitrol", "zeppelin")]
    assert app.done == ["start", *asked, "stop"]


def test_answers_as_json_are_the_methods_result():
    made, console = life(FakeApplication(answers={"uitrol": FOUND}), as_json=True)
    assert made.run(once=True, questions=("uitrol",)) == 0
    assert json.loads(console.out.stream.getvalue()) == FOUND


def test_what_waits_for_the_start_is_called_once_everything_runs():
    app = FakeApplication()
    made = Life(
        app,
        console=life(app)[1],
        notifier=Notifier(None),
        on_started=lambda: app.done.append("on_started"),
    )
    assert made.run(once=True) == 0
    assert app.done == ["start", "on_started", "stop"]


def test_failed_start_stops_and_says_why():
    app = FakeApplication(start_error=RecalldError("the disk is full"))
    made, _ = life(app)
    with pytest.raises(RecalldError, match="the disk is full"):
        made.run(once=False)
    assert app.done == ["start", "stop"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_stops_a_running_daemon_with_success(number):
    app = FakeApplication(on_settled=send(number))
    made, _ = life(app)
    before = signal.getsignal(number)
    assert made.run(once=False) == 0
    assert app.done == ["start", "stop"]
    assert signal.getsignal(number) is before


def test_once_interrupted_before_it_has_settled_is_unfinished():
    class Interrupted(FakeApplication):
        def start(self) -> None:
            super().start()
            send(signal.SIGTERM)()

    app = Interrupted(looks=10**9)
    made, _ = life(app)
    assert made.run(once=True) == 1
    assert app.done == ["start", "stop"]


def test_manager_hears_every_step_and_the_watchdog(manager):
    app = FakeApplication(on_settled=send(signal.SIGTERM))
    made, _ = life(app, notifier=Notifier(manager.getsockname(), watchdog_s=10))
    made.run(once=False)
    words = told(manager)
    assert words[0] == "STATUS=starting"
    assert words[1] == "READY=1"
    assert words[-1] == "STOPPING=1"
    assert "WATCHDOG=1" in words
    assert "STATUS=idle: 127 notes, 800 facts" in words


def test_unhealthy_application_gives_no_sign_of_life(manager):
    app = FakeApplication(on_settled=send(signal.SIGTERM))
    app.status_error = StoreBusy("locked")
    made, _ = life(app, notifier=Notifier(manager.getsockname(), watchdog_s=10))
    assert made.run(once=False) == 0
    assert "WATCHDOG=1" not in told(manager)


def test_hangup_takes_the_new_settings_and_goes_on(manager):
    app = Reloading(on_settled=lambda: (send(signal.SIGHUP)(), send(signal.SIGTERM)()))
    made, _ = life(app, notifier=Notifier(manager.getsockname()), reload=lambda: "new")
    assert made.run(once=False) == 0
    assert app.settings == ["new"]
    words = [word.split("\n")[0] for word in told(manager)]
    assert words[words.index("RELOADING=1") + 1] == "READY=1"


def test_hangup_with_wrong_settings_keeps_the_old():
    def wrong():
        raise SettingsError(("ingest.quiet_ms = -1: must be a whole number",))

    app = Reloading(on_settled=lambda: (send(signal.SIGHUP)(), send(signal.SIGTERM)()))
    made, _ = life(app, reload=wrong)
    assert made.run(once=False) == 0
    assert app.settings == []


def test_backlog_counts_every_fall_of_a_queue_as_done():
    backlog = Backlog()

    def queue(**waiting):
        return backlog.amounts({"queue": {"dirty": 0, "embed": 0, "extract": 0, **waiting}})

    assert queue() == {}
    assert queue(dirty=10) == {"words": (0, 10)}
    assert queue(dirty=4, embed=30) == {"words": (6, 10), "vectors": (0, 30)}
    assert queue(dirty=5, embed=50) == {"words": (6, 11), "vectors": (0, 50)}
    assert queue() == {"words": (11, 11), "vectors": (50, 50)}
    status = {"queue": {}, "refining": {"blocks": 0, "facts": 7}}
    assert backlog.amounts(status)["comparisons by the model"] == (0, 7)


@pytest.mark.parametrize("status", [{}, {"queue": None}, {"queue": {"dirty": "many"}}])
def test_backlog_takes_a_status_of_another_shape(status):
    assert Backlog().amounts(status) == {}


# ---------------------------------------------------------------- as a process

PROCESS = """
import os, sys, time, threading
from daemon.logging import configure_logging
from daemon.notify import Notifier
from daemon.run import Console, Life, leave
from daemon.terminal import standard_screens
from tests.daemon.fakes import FakeApplication
configure_logging(level="warning", log_format="json")
out, err = standard_screens(os.environ)
class App(FakeApplication):
    def start(self):
        print("started", flush=True)
    def stop(self):
        {stop}
life = Life(App(looks=1), console=Console(out=out, err=err), notifier=Notifier(None))
leave(life.run(once=False))
"""


def process(stop: str, **options) -> subprocess.Popen[str]:
    script = textwrap.dedent(PROCESS).replace("{stop}", stop)
    return subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=Path.cwd(), **options
    )


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_second_signal_ends_a_hanging_stop_at_once(number):
    with process("print('stopping', flush=True); time.sleep(60)") as running:
        assert running.stdout.readline() == "started\n"
        running.send_signal(signal.SIGTERM)
        assert running.stdout.readline() == "stopping\n"
        running.send_signal(number)
        assert running.wait(DEADLINE_S) == 128 + number


@pytest.mark.slow
def test_thread_left_behind_does_not_keep_the_process():
    stop = "threading.Thread(target=time.sleep, args=(60,), name='model-call').start()"
    with process(stop, stderr=subprocess.PIPE) as running:
        assert running.stdout.readline() == "started\n"
        running.terminate()
        assert running.wait(DEADLINE_S) == 0
        assert json.loads(running.stderr.read())["threads"] == ["model-call"]


@pytest.mark.slow
def test_closed_terminal_stops_a_foreground_daemon(tmp_path):
    pid, master = pty.fork()
    if pid == 0:
        script = PROCESS.replace("{stop}", f"open({str(tmp_path / 'end')!r}, 'w').write('stopped')")
        os.execv(sys.executable, [sys.executable, "-c", script])
    assert b"started" in os.read(master, 1000)
    os.close(master)
    _, status = os.waitpid(pid, 0)
    assert os.WIFEXITED(status)
    assert (tmp_path / "end").read_text() == "stopped"
