import contextlib
import os
import socket
import subprocess
import sys
import threading

import pytest

from recalld.client import Client
from recalld.errors import (
    AmbiguousAnchor,
    Busy,
    InvalidParams,
    NotFound,
    NotRunning,
    RequestError,
    SocketError,
    Stopping,
    TooLarge,
)
from recalld.jsonrpc import MethodNotFound
from tests.daemon.serving import connected, serving
from tests.waiting import DEADLINE_S

# Listens as another user until its input ends.
STRANGER = """
import os, socket, sys
with socket.socket(socket.AF_UNIX) as listening:
    listening.bind(sys.argv[1])
    os.setuid(12345)
    listening.listen()
    print("listening", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run" / "recalld.sock"


@contextlib.contextmanager
def answering(path, *answers: bytes):
    """A server that is not ours: takes one connection, reads once, says `answers`, closes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()

        def serve():
            connection, _ = listening.accept()
            with connection:
                connection.settimeout(DEADLINE_S)
                connection.recv(65536)
                for answer in answers:
                    connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            thread.join()


def test_calls_share_a_connection_and_return_results(path):
    with serving(path), Client(path) as client:
        assert client.call("echo", {"q": "記憶 🚀"}) == {"q": "記憶 🚀"}
        assert client.call("echo") == {}


def test_large_answers_come_whole(path):
    with serving(path, {"big": lambda _: {"text": "x" * 3_000_000}}), Client(path) as client:
        assert len(client.call("big")["text"]) == 3_000_000


def test_lone_surrogates_are_sent_without_harm(path):
    with serving(path), Client(path) as client:
        assert client.call("echo", {"q": "a\ud83d"}) == {"q": "a\ufffd"}


@pytest.mark.parametrize("left", ["nothing", "dead socket", "file in the way"])
def test_nobody_there_is_not_running_with_a_hint(path, left):
    if left == "dead socket":
        path.parent.mkdir()
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(path))
    elif left == "file in the way":
        path.parent.touch()
    with pytest.raises(NotRunning) as caught, Client(path):
        pass
    assert "recalld run" in (caught.value.hint or "")
    assert str(path) in caught.value.message


def test_path_that_cannot_be_used_is_a_socket_error(tmp_path):
    with pytest.raises(SocketError), Client(tmp_path / ("x" * 200)):
        pass


def test_call_outside_the_context_is_refused(path):
    with pytest.raises(NotRunning):
        Client(path).call("ping")


@pytest.mark.parametrize("kind", [NotFound, InvalidParams, Busy, Stopping, AmbiguousAnchor])
def test_errors_are_rebuilt_with_hint_and_data(path, kind):
    def fail(_params):
        raise kind("A sentence.", hint="Do this.", data={"matches": ["fact:a1"]})

    with serving(path, {"fail": fail}), Client(path) as client:
        with pytest.raises(kind) as caught:
            client.call("fail")
        assert (caught.value.message, caught.value.hint) == ("A sentence.", "Do this.")
        assert caught.value.data == {"matches": ["fact:a1"]}
        with pytest.raises(MethodNotFound):
            client.call("nope")


def test_request_over_the_limit_says_so_though_the_daemon_closed(path):
    with serving(path, max_line_bytes=2000), Client(path) as client, pytest.raises(TooLarge):
        client.call("echo", {"text": "x" * 3_000_000})


def test_full_daemon_says_busy(path):
    with serving(path, max_connections=1), connected(path) as first:
        first.sendall(b'{"jsonrpc":"2.0","id":1,"method":"echo"}\n')
        assert first.recv(1000)
        with Client(path) as client, pytest.raises(Busy):
            client.call("echo")


def test_daemon_that_goes_away_is_not_running(path):
    with answering(path), Client(path) as client, pytest.raises(NotRunning):
        client.call("ping")


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\n", b"[1]\n", b"\xff\n"])
def test_something_else_on_the_socket_is_named(path, answer):
    with answering(path, answer), Client(path) as client, pytest.raises(SocketError):
        client.call("ping")


def test_answer_without_result_is_an_error(path):
    with answering(path, b'{"id":1}\n'), Client(path) as client, pytest.raises(RequestError):
        client.call("ping")


def test_answers_to_earlier_requests_are_passed_over(path):
    lines = b'{"id":99,"result":{}}\n{"id":1,"res', b'ult":{"mine":true}}\n'
    with answering(path, *lines), Client(path) as client:
        assert client.call("ping") == {"mine": True}


def test_silence_ends_with_busy_and_the_next_call_gets_its_own_answer(path):
    go = threading.Event()

    def slow(_params):
        assert go.wait(DEADLINE_S)
        return {"slow": True}

    with (
        serving(path, {"slow": slow, "quick": lambda _: {"quick": True}}),
        Client(path, timeout_s=0.2) as client,
    ):
        with pytest.raises(Busy, match=r"0\.2 s"):
            client.call("slow")
        go.set()
        assert client.call("quick") == {"quick": True}


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_users_listener_is_not_talked_to(path):
    path.parent.mkdir()
    command = [sys.executable, "-c", STRANGER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as stranger:
        assert stranger.stdout.readline() == b"listening\n"
        with pytest.raises(SocketError, match="Another user"), Client(path):
            pass
        stranger.communicate()


@pytest.mark.slow
def test_importing_the_client_loads_no_third_party_library():
    code = (
        "import sys, recalld.client, recalld.sockets;"
        "print([m for m in sys.modules if m.partition('.')[0] in ('pydantic','pydantic_core','apsw','numpy','structlog')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
