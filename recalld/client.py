"""Asks a running daemon: what the command line, the MCP bridge and scripts talk through.

Standard library only, since every `recalld recall` pays for its imports. It does not know where the
socket lies (`recalld.sockets` does), nor what parameters mean.
"""

from __future__ import annotations

import itertools
import json
import os
import socket
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from recalld.errors import Busy, NotRunning, RequestError, SocketError
from recalld.jsonrpc import encode_request, error_from
from recalld.sockets import check_folder, fallback_folder, peer_uid

_START_HINT = "Start it with `recalld run`, or see `recalld service status`."


class Client:
    """One connection to the daemon, made on entry and closed on exit; for one thread at a time."""

    def __init__(self, path: Path, timeout_s: float = 30.0) -> None:
        self._path = path
        self._timeout_s = timeout_s
        self._socket: socket.socket | None = None
        self._pending = bytearray()
        self._ids = itertools.count(1)

    def __enter__(self) -> Self:
        self._socket = _connected(self._path, self._timeout_s)
        self._pending.clear()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def call(self, method: str, params: dict[str, object] | None = None) -> dict[str, object]:
        """The result of `method`.

        Raises the daemon's error (a RequestError of its kind), NotRunning when the daemon goes away
        before it has answered, and Busy when it does not answer within the time-out.
        """
        if self._socket is None:
            raise NotRunning("The client is not connected.", hint="Use it as a context manager.")
        request_id = next(self._ids)
        deadline = time.monotonic() + self._timeout_s
        try:
            refused_early = self._send(
                self._socket, encode_request(method, params or {}, request_id)
            )
            answer = self._answer_to(self._socket, request_id, deadline)
        except TimeoutError as error:
            raise Busy(
                f"The daemon did not answer within {self._timeout_s:g} s.",
                hint="Look at `recalld status`, or try again.",
            ) from error
        except OSError as error:
            raise NotRunning("The daemon closed the connection.", hint=_START_HINT) from error
        if answer is None:
            raise NotRunning(
                "The daemon closed the connection.", hint=_START_HINT
            ) from refused_early
        return _result(answer)

    def _send(self, connection: socket.socket, line: bytes) -> OSError | None:
        connection.settimeout(self._timeout_s)
        try:
            connection.sendall(line)
        except (BrokenPipeError, ConnectionResetError) as error:
            # The daemon may have said why before it closed: that is still to be read.
            return error
        return None

    def _answer_to(
        self, connection: socket.socket, request_id: int, deadline: float
    ) -> dict[str, object] | None:
        """The answer to `request_id`, or None if the daemon closes first.

        Answers to earlier requests, given up after a time-out, are passed over. An error without id
        is about the connection, and so about this request.
        """
        while (line := self._next_line(connection, deadline)) is not None:
            answer = _decoded(line)
            if answer.get("id") == request_id or (answer.get("id") is None and "error" in answer):
                return answer
        return None

    def _next_line(self, connection: socket.socket, deadline: float) -> bytes | None:
        searched = 0
        while (end := self._pending.find(b"\n", searched)) < 0:
            searched = len(self._pending)
            connection.settimeout(max(deadline - time.monotonic(), 0.001))
            received = connection.recv(65536)
            if not received:
                return None
            self._pending += received
        line = bytes(self._pending[:end])
        del self._pending[: end + 1]
        return line


def _connected(path: Path, timeout_s: float) -> socket.socket:
    uid = os.geteuid()
    if path.parent == fallback_folder(uid):
        check_folder(path.parent, uid=uid)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout_s)
        _connect(connection, path)
        _check_listener(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(connection: socket.socket, path: Path) -> None:
    try:
        connection.connect(os.fspath(path))
    except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError) as error:
        raise NotRunning(f"No daemon answers on {path}.", hint=_START_HINT) from error
    except (BlockingIOError, TimeoutError) as error:
        raise Busy("The daemon takes no more connections now.", hint="Try again.") from error
    except OSError as error:
        raise SocketError(f"The socket {path} can't be used: {error.strerror or error}.") from error


def _check_listener(connection: socket.socket, path: Path) -> None:
    """Raise SocketError when another user plays the daemon, to whom we would tell our queries."""
    # Root is who listens when the system's own manager opened the socket, and reads us anyway.
    if peer_uid(connection) not in {os.geteuid(), 0, None}:
        raise SocketError(f"Another user's process listens on {path}.")


def _decoded(line: bytes) -> dict[str, object]:
    try:
        answer = json.loads(line)
    except ValueError as error:
        raise SocketError("What answers on the socket is not recalld.") from error
    if not isinstance(answer, dict):
        raise SocketError("What answers on the socket is not recalld.")
    return answer


def _result(answer: dict[str, object]) -> dict[str, object]:
    if "error" in answer:
        raise error_from(answer["error"])
    result = answer.get("result")
    if not isinstance(result, dict):
        raise RequestError("The daemon's answer has no result object.")
    return result
