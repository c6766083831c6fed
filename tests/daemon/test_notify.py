"""The words between a service manager and us, over real sockets."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from daemon.notify import Notifier, inherited_socket
from recalld.errors import SocketError
from tests.waiting import DEADLINE_S


@pytest.fixture(params=["path", "abstract"])
def manager(request, tmp_path):
    """A manager's socket and the name under which a service knows it."""
    name = str(tmp_path / "notify") if request.param == "path" else f"@recalld-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind("\0" + name[1:] if name[0] == "@" else name)
        receiver.settimeout(DEADLINE_S)
        yield receiver, name


def test_every_state_reaches_the_manager(manager):
    receiver, name = manager
    notifier = Notifier(name)
    notifier.ready()
    notifier.alive()
    notifier.stopping()
    assert [receiver.recv(100) for _ in range(3)] == [b"READY=1", b"WATCHDOG=1", b"STOPPING=1"]


def test_status_is_one_line_and_is_sent_only_when_it_changes(manager):
    receiver, name = manager
    notifier = Notifier(name)
    for text in ("idle", "idle", "vertelt\nREADY=1", "アイドル"):
        notifier.status(text)
    notifier.alive()
    assert receiver.recv(100) == b"STATUS=idle"
    assert receiver.recv(100) == b"STATUS=vertelt READY=1"
    assert receiver.recv(100).decode() == "STATUS=アイドル"
    assert receiver.recv(100) == b"WATCHDOG=1"


def test_reload_tells_when_it_began(manager):
    receiver, name = manager
    Notifier(name).reloading()
    first, second = receiver.recv(100).decode().split("\n")
    assert first == "RELOADING=1"
    began_us = int(second.removeprefix("MONOTONIC_USEC="))
    assert 0 <= time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000 - began_us < 5_000_000


def test_environment_gives_address_and_watchdog_and_keeps_neither(manager):
    receiver, name = manager
    env = {
        "NOTIFY_SOCKET": name,
        "WATCHDOG_USEC": "3000000",
        "WATCHDOG_PID": str(os.getpid()),
        "A": "b",
    }
    notifier = Notifier.from_environment(env)
    assert notifier.watchdog_s == 3.0
    assert env == {"A": "b"}
    notifier.ready()
    assert receiver.recv(100) == b"READY=1"


@pytest.mark.parametrize(
    "env",
    [
        {},
        {"NOTIFY_SOCKET": ""},
        {"NOTIFY_SOCKET": "@"},
        {"NOTIFY_SOCKET": "vsock:2:1"},
        {"NOTIFY_SOCKET": "/nowhere/at/all", "WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"},
        {"NOTIFY_SOCKET": "/nowhere", "WATCHDOG_USEC": "0"},
        {"NOTIFY_SOCKET": "/nowhere", "WATCHDOG_USEC": "soon"},
    ],
)
def test_absent_manager_or_watchdog_is_silence(env):
    notifier = Notifier.from_environment(dict(env))
    notifier.ready()
    notifier.status("idle")
    assert notifier.watchdog_s is None


@pytest.mark.parametrize(
    "env", [{}, {"LISTEN_FDS": "1"}, {"LISTEN_PID": "1", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "x"}]
)
def test_sockets_for_another_process_are_not_ours(env):
    assert inherited_socket(env) is None
    assert env == {}


def test_more_than_one_socket_is_refused():
    with pytest.raises(SocketError, match="2 sockets"):
        inherited_socket({"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "2"})


# Puts a socket of the kind named in argv at descriptor 3, as systemd does, and asks for it.
AT_THREE = """
import os, socket, sys
from daemon.notify import inherited_socket
from recalld.errors import SocketError
kind, path = sys.argv[1:]
if kind == "file":
    made = open(path, "w")
elif kind == "tcp":
    made = socket.socket(); made.bind(("127.0.0.1", 0)); made.listen()
else:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM if kind == "datagram" else socket.SOCK_STREAM)
    made.bind(path)
    if kind == "listening": made.listen()
if made.fileno() != 3:
    os.dup2(made.fileno(), 3, inheritable=True)
else:
    os.set_inheritable(3, True)
env = {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1"}
try:
    given = inherited_socket(env)
except SocketError as error:
    print("refused", error.hint is not None, flush=True)
else:
    print(given.fileno(), given.getsockname() == path, os.get_inheritable(3), env, flush=True)
os._exit(0)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["listening", "silent", "datagram", "tcp", "file"])
def test_only_a_listening_unix_stream_socket_is_taken(kind, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", AT_THREE, kind, str(tmp_path / "s")],
        capture_output=True,
        text=True,
        check=True,
        timeout=DEADLINE_S,
    )
    expected = "3 True False {}" if kind == "listening" else "refused True"
    assert done.stdout.strip() == expected


# Answers one connection on the inherited socket.
ECHO = """
import os
from daemon.notify import inherited_socket
listener = inherited_socket(os.environ)
connection, _ = listener.accept()
connection.sendall(b"from " + connection.recv(100) + str("LISTEN_FDS" in os.environ).encode())
"""


@pytest.mark.slow
def test_systemd_hands_over_its_socket(tmp_path):
    tool = shutil.which("systemd-socket-activate")
    if tool is None:
        pytest.skip("systemd-socket-activate is not installed")
    path = tmp_path / "recalld.sock"
    service = subprocess.Popen(
        [tool, f"--listen={path}", f"--setenv=PYTHONPATH={Path.cwd()}", sys.executable, "-c", ECHO],
        stderr=subprocess.PIPE,
    )
    try:
        assert service.stderr
        # It says that it listens before the socket takes connections.
        assert b"Listening" in service.stderr.readline()
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(DEADLINE_S)
            client.connect(str(path))
            client.sendall(b"systemd ")
            assert client.recv(100) == b"from systemd False"
        # Drained, so that the tool never blocks on a full pipe.
        drain = threading.Thread(target=service.stderr.read, name="drain")
        drain.start()
        assert service.wait(DEADLINE_S) == 0
        drain.join(DEADLINE_S)
    finally:
        if service.poll() is None:
            service.kill()
        service.wait(DEADLINE_S)
        service.stderr.close()
