"""A real server on a real socket, and a client that sees bytes: for the tests of both ends."""

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

from daemon.server import ServerLimits, SocketServer
from tests.waiting import DEADLINE_S


class EventLog:
    """A log that remembers its events."""

    def __init__(self):
        self.events: list[tuple[str, dict[str, object]]] = []
        self._happened = threading.Condition()

    def debug(self, event, **fields):
        with self._happened:
            self.events.append((event, fields))
            self._happened.notify_all()

    info = warning = error = debug

    def names(self) -> list[str]:
        return [name for name, _ in self.events]

    def wait_for(self, name: str) -> None:
        with self._happened:
            assert self._happened.wait_for(lambda: name in self.names(), DEADLINE_S), self.events


def echo(params):
    return params


@contextlib.contextmanager
def serving(path: Path, methods=None, *, log=None, **limits) -> Iterator[SocketServer]:
    """A started server that is stopped at the end, however the test ends."""
    methods = {"echo": echo} if methods is None else methods
    server = SocketServer(path, None, methods, ServerLimits(**limits), log or EventLog())
    server.start()
    try:
        yield server
    finally:
        server.stop()


@contextlib.contextmanager
def connected(path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(DEADLINE_S)
        client.connect(str(path))
        yield client


def asked(method="echo", request_id=1, **params) -> bytes:
    body = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    return json.dumps(body).encode() + b"\n"


def lines_of(client: socket.socket) -> Iterator[dict]:
    """The answers until the server closes, each parsed."""
    with client.makefile("rb") as stream:
        while True:
            try:
                line = stream.readline()
            except ConnectionResetError:  # closed on us with bytes unread, which is its right
                return
            if not line:
                return
            assert line.endswith(b"\n")
            yield json.loads(line)


def answer_of(client: socket.socket) -> dict:
    return next(lines_of(client))
