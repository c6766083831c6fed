import contextlib
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import tracemalloc
from pathlib import Path

import pytest

from daemon.server import ServerLimits, SocketServer, peer_allowed
from recalld.errors import SocketError
from tests.daemon.serving import (
    EventLog,
    answer_of,
    asked,
    connected,
    echo,
    lines_of,
    serving,
)
from tests.growth import assert_idle
from tests.waiting import DEADLINE_S, soon

MIB = 1024 * 1024
OPEN_FILES = Path("/proc/self/fd")

# Asks as another user, and prints what came back: nothing, if it was turned away.
STRANGER = """
import os, socket, sys
os.setuid(12345)
with socket.socket(socket.AF_UNIX) as client:
    client.settimeout(60)
    client.connect(sys.argv[1])
    try:
        client.sendall(sys.argv[2].encode())
        print(client.recv(100))
    except (BrokenPipeError, ConnectionResetError):
        print(b"")
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run" / "recalld.sock"


@pytest.fixture(autouse=True)
def no_thread_left():
    yield
    left = [thread.name for thread in threading.enumerate() if thread.name.startswith("recalld-")]
    assert left == []


def test_answers_over_the_socket_and_is_gone_after_stop(path):
    with serving(path), connected(path) as client:
        client.sendall(asked(request_id="x", q=1))
        assert answer_of(client) == {"jsonrpc": "2.0", "id": "x", "result": {"q": 1}}
    assert not path.exists()
    assert path.parent.exists()


def test_threads_are_named_and_not_daemonic(path):
    with serving(path), connected(path) as client:
        client.sendall(asked())
        answer_of(client)
        ours = [t for t in threading.enumerate() if t.name.startswith("recalld-")]
        assert sorted(t.name for t in ours) == ["recalld-accept", "recalld-peer-1"]
        assert not any(t.daemon for t in ours)


@pytest.mark.slow
def test_200_connections_keep_their_ids_apart(path):
    failures: list[object] = []

    def ask(number):
        with connected(path) as client:
            for turn in range(20):
                client.sendall(asked(request_id=f"{number}-{turn}", n=number, t=turn))
            answers = lines_of(client)
            for turn in range(20):
                answer = next(answers)
                if (answer["id"], answer["result"]) != (
                    f"{number}-{turn}",
                    {"n": number, "t": turn},
                ):
                    failures.append(answer)

    with serving(path, max_connections=256) as server:
        clients = [threading.Thread(target=ask, args=(n,)) for n in range(200)]
        for thread in clients:
            thread.start()
        for thread in clients:
            thread.join(DEADLINE_S)
        assert failures == []
        soon(lambda: server.connections == 0)


def test_connection_over_the_limit_is_refused_politely_and_there_is_room_again(path):
    log = EventLog()
    with serving(path, max_connections=2, log=log) as server:
        with connected(path) as one, connected(path) as two:
            for client in (one, two):
                client.sendall(asked())
                answer_of(client)
            for _ in range(3):
                with connected(path) as third:
                    (answer,) = lines_of(third)
                    assert (answer["id"], answer["error"]["code"]) == (None, -32004)
                    assert answer["error"]["data"]["hint"]
            one.sendall(asked(request_id=2))
            assert answer_of(one)["id"] == 2
        soon(lambda: server.connections == 0)
        with connected(path) as again:
            again.sendall(asked())
            assert answer_of(again)["id"] == 1
    assert log.names().count("connection.refused") == 1


def test_client_that_reconnects_at_once_finds_its_place_free(path):
    with serving(path, max_connections=1):
        for number in range(50):
            with connected(path) as client:
                client.sendall(asked(request_id=number))
                assert answer_of(client)["id"] == number


@pytest.mark.skipif(not OPEN_FILES.is_dir(), reason="the system does not list open files")
def test_no_descriptor_is_left_after_many_connections(path):
    with serving(path) as server:
        before = len(list(OPEN_FILES.iterdir()))
        for _ in range(40):
            with connected(path) as client:
                client.sendall(asked())
                answer_of(client)
        soon(lambda: server.connections == 0)
        # What else this process does may open one for a moment: one that is left stays.
        soon(lambda: len(list(OPEN_FILES.iterdir())) <= before)


def test_stream_without_line_end_keeps_memory_flat(path):
    tracemalloc.start()
    try:
        with serving(path), connected(path) as client:
            tracemalloc.reset_peak()
            piece = b"x" * 65536
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                for _ in range(8 * MIB // len(piece)):
                    client.sendall(piece)
            assert [a["error"]["code"] for a in lines_of(client)] == [-32003]
            _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * MIB


def test_slow_clients_do_not_hurt_others(path):
    methods = {"echo": echo, "big": lambda _: {"text": "x" * 5 * MIB}}
    with (
        serving(path, methods),
        connected(path) as deaf,
        connected(path) as half,
        connected(path) as fine,
    ):
        deaf.sendall(asked("big"))
        half.sendall(b'{"jsonrpc"')
        for number in range(20):
            fine.sendall(asked(request_id=number))
            assert answer_of(fine)["id"] == number


@pytest.mark.slow
def test_stop_is_quick_with_idle_half_line_and_deaf_clients(path):
    methods = {"echo": echo, "big": lambda _: {"text": "x" * 5 * MIB}}
    patient = ServerLimits(half_line_timeout_s=600, idle_timeout_s=600, write_timeout_s=600)
    with contextlib.ExitStack() as clients:
        server = SocketServer(path, None, methods, patient, EventLog())
        server.start()
        idle, half, deaf = (clients.enter_context(connected(path)) for _ in range(3))
        half.sendall(b'{"jsonrpc"')
        deaf.sendall(asked("big"))
        idle.sendall(asked())
        answer_of(idle)
        soon(lambda: server.connections == 3)
        # Each of them may be silent for longer than a stop may take.
        assert server.stop(deadline_s=DEADLINE_S)
        assert list(lines_of(idle)) == []
    assert not path.exists()
    assert server.connections == 0
    assert server.stop()


def test_stop_lets_what_is_in_flight_finish(path):
    begun, go = threading.Event(), threading.Event()

    def slow(_params):
        begun.set()
        assert go.wait(DEADLINE_S)
        return {"done": True}

    server = SocketServer(path, None, {"slow": slow}, ServerLimits(), EventLog())
    server.start()
    with connected(path) as client:
        client.sendall(asked("slow"))
        assert begun.wait(DEADLINE_S)
        stopping = threading.Thread(target=server.stop)
        stopping.start()
        soon(lambda: not path.exists())
        go.set()
        assert [a["result"] for a in lines_of(client)] == [{"done": True}]
        stopping.join()


@pytest.mark.slow
def test_stop_answers_for_a_request_that_hangs_and_says_so(path):
    begun, go, ended = threading.Event(), threading.Event(), threading.Event()

    def hung(_params):
        begun.set()
        assert go.wait(2 * DEADLINE_S)
        ended.set()
        return {}

    log = EventLog()
    server = SocketServer(path, None, {"hung": hung}, ServerLimits(), log)
    server.start()
    with connected(path) as client:
        client.sendall(asked("hung", 7))
        assert begun.wait(DEADLINE_S)
        assert not server.stop(deadline_s=0.05)
        assert not ended.is_set()
        (answer,) = lines_of(client)
        assert (answer["id"], answer["error"]["code"]) == (7, -32006)
    assert "socket.stuck" in log.names()
    go.set()
    soon(lambda: server.connections == 0)


def test_second_server_is_refused_and_the_first_lives(path):
    with serving(path):
        with pytest.raises(SocketError, match="Another daemon"), serving(path):
            pass
        with connected(path) as client:
            client.sendall(asked())
            assert answer_of(client)["id"] == 1


def test_inherited_socket_is_served_and_its_file_left(path):
    path.parent.mkdir()
    handed = socket.socket(socket.AF_UNIX)
    handed.bind(str(path))
    handed.listen()
    with connected(path) as early:
        early.sendall(asked())
        server = SocketServer(None, handed, {"echo": echo}, ServerLimits(), EventLog())
        server.start()
        assert answer_of(early)["id"] == 1
        server.stop()
    assert path.exists()


def test_server_needs_somewhere_to_listen():
    with pytest.raises(SocketError):
        SocketServer(None, None, {}, ServerLimits(), EventLog())


def test_only_our_own_user_may_ask():
    assert peer_allowed(1000, 1000)
    assert peer_allowed(0, 0)
    assert peer_allowed(None, 1000)
    assert not peer_allowed(0, 1000)
    assert not peer_allowed(1001, 1000)
    assert not peer_allowed(1001, 0)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_is_turned_away_though_the_mode_lets_it_in():
    log = EventLog()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        path = folder / "r.sock"
        with serving(path, log=log):
            folder.chmod(0o755)
            path.chmod(0o666)
            command = [sys.executable, "-c", STRANGER, str(path), asked().decode()]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "b''"
    assert ("connection.refused", {"reason": "another user"}) in log.events


@pytest.mark.slow
def test_out_of_descriptors_backs_off_without_spinning_and_recovers(path):
    log = EventLog()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with serving(path, log=log), contextlib.ExitStack() as held:
        client = held.enter_context(socket.socket(socket.AF_UNIX))
        client.settimeout(DEADLINE_S)
        lowest = os.dup(0)
        os.close(lowest)
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
        try:
            client.connect(str(path))
            log.wait_for("socket.exhausted")
            assert_idle(0.4, at_most=0.5)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        client.sendall(asked())
        assert answer_of(client)["id"] == 1
    assert log.names().count("socket.exhausted") == 1
