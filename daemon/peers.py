"""One connection: its lines in, its answers out, within its limits, until it ends or we stop.

It does not know what a method does, nor how connections come to be.
"""

from __future__ import annotations

import contextlib
import math
import select
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from daemon.waiting import StopSignal, ready
from recalld.errors import RequestError, Stopping, TooLarge
from recalld.jsonrpc import (
    InvalidRequest,
    Message,
    Refused,
    Request,
    as_request_error,
    decode_line,
    encode_error,
    encode_message,
    encode_result,
    method_not_found,
)

Methods = Mapping[str, Callable[[dict[str, object]], object]]

_RECEIVE_BYTES = 65536
# How long after the stop a client has to take its last answers.
_LAST_WORDS_S = 1.0
# A client that is still sending when it is refused hears why only if its bytes are taken.
_DRAIN_S = 1.0
_DRAIN_LINES = 8


class Log(Protocol):
    """What is needed of a structlog logger."""

    def debug(self, event: str, **fields: object) -> object:
        """One event of no interest to the owner."""

    def info(self, event: str, **fields: object) -> object:
        """One event."""

    def warning(self, event: str, **fields: object) -> object:
        """One event that the owner may want to act on."""

    def error(self, event: str, **fields: object) -> object:
        """One failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """What one client may take; all above zero."""

    max_line_bytes: int = 1024 * 1024
    max_connections: int = 64
    # From the first byte of a line to its end.
    half_line_timeout_s: float = 30.0
    # Without a byte between two lines.
    idle_timeout_s: float = 600.0
    # For the client to take one answer.
    write_timeout_s: float = 30.0


class LineBuffer:
    """Bytes in, lines out; never holds more than one line's limit and one piece received."""

    def __init__(self, max_line_bytes: int) -> None:
        self._limit = max_line_bytes
        self._bytes = bytearray()
        self._searched = 0

    def feed(self, piece: bytes) -> None:
        """Take what was received, cut anywhere."""
        self._bytes += piece

    def next_line(self) -> bytes | None:
        """The next whole line without its line feed, or None until more is fed.

        Raises TooLarge for a line over the limit, whole or not.
        """
        end = self._bytes.find(b"\n", self._searched)
        if (len(self._bytes) if end < 0 else end) > self._limit:
            raise TooLarge(
                f"The line is over {self._limit} bytes.", hint="Send less in one request."
            )
        if end < 0:
            self._searched = len(self._bytes)
            return None
        line = bytes(self._bytes[:end])
        del self._bytes[: end + 1]
        self._searched = 0
        return line

    def rest(self) -> bytes:
        """What is left without a line end, taken out."""
        rest = bytes(self._bytes)
        self._bytes.clear()
        self._searched = 0
        return rest

    def __bool__(self) -> bool:
        return bool(self._bytes)


class Peer:
    """One client. `run` is its thread's work; `abandon` may be called from another thread."""

    def __init__(
        self,
        connection: socket.socket,
        methods: Methods,
        limits: ServerLimits,
        stop: StopSignal,
        log: Log,
    ) -> None:
        connection.settimeout(0.0)
        self._socket = connection
        self._methods = methods
        self._limits = limits
        self._stop = stop
        self._log = log
        self._buffer = LineBuffer(limits.max_line_bytes)
        self._lock = threading.Lock()
        # What is being answered; whoever takes it out, answers it.
        self._in_flight: Message | None = None
        self._ended = False

    def run(self) -> None:
        """Answer line after line until the client ends, breaks a limit, or the server stops."""
        try:
            self._serve()
        except OSError as error:
            self._log.debug("connection.lost", reason=error.strerror)
        finally:
            with self._lock:
                self._ended = True
                self._socket.close()

    def abandon(self) -> None:
        """Answer what is in flight with `stopping`, without waiting, and cut the connection."""
        with self._lock:
            if self._ended:
                return
            message = self._take_in_flight()
            with contextlib.suppress(OSError):
                if message is not None:
                    self._socket.send(_refusal(message))
                self._socket.shutdown(socket.SHUT_RDWR)

    @property
    def hung_up(self) -> bool:
        """Whether the client is gone, so that the thread is about to end."""
        with self._lock:
            return self._ended or ready(self._socket, 0, 0.0)

    def _serve(self) -> None:
        try:
            while (line := self._next_line()) is not None:
                if not self._send(self._answer_line(line)):
                    return
        except RequestError as error:
            if self._send(encode_error(None, error) + b"\n"):
                self._drain()

    def _next_line(self) -> bytes | None:
        """The next line, or None at the end of the connection.

        Raises RequestError for a line too long or too slow.
        """
        now = time.monotonic()
        idle_until, line_until = now + self._limits.idle_timeout_s, math.inf
        while time.monotonic() < self._stop.at + _LAST_WORDS_S:
            line = self._buffer.next_line()
            if line is not None:
                return line
            if self._buffer and line_until == math.inf:
                line_until = time.monotonic() + self._limits.half_line_timeout_s
            if not self._stop.wait_for(self._socket, select.POLLIN, min(idle_until, line_until)):
                self._check_line_is_ended()
                return None
            piece = self._socket.recv(_RECEIVE_BYTES)
            if not piece:
                # A client may close its side instead of ending its last line.
                return self._buffer.rest() or None
            self._buffer.feed(piece)
        return None

    def _check_line_is_ended(self) -> None:
        if self._buffer and not self._stop.is_set:
            raise InvalidRequest(
                f"The line was not finished within {self._limits.half_line_timeout_s:g} s.",
                hint="End every request with a line feed.",
            )

    def _answer_line(self, line: bytes) -> bytes:
        message = decode_line(line)
        if self._stop.is_set:
            return _refusal(message)
        with self._lock:
            self._in_flight = message
        answers = [answer for item in message.items if (answer := self._answer(item))]
        with self._lock:
            abandoned = self._take_in_flight() is None
        return b"" if abandoned else encode_message(message, answers)

    def _take_in_flight(self) -> Message | None:
        """What is in flight, which then is not any more; call it with the lock held."""
        message, self._in_flight = self._in_flight, None
        return message

    def _answer(self, item: Request | Refused) -> bytes:
        """One answer without line end; empty for a notification."""
        if isinstance(item, Refused):
            return encode_error(item.id, item.error)
        try:
            answer = encode_result(item.id, self._call(item))
        except Exception as error:  # noqa: BLE001 (the connection handler: a request must not end it)
            known = as_request_error(error)
            if known.kind == "internal":
                self._log.error("request.failed", method=item.method, exc_info=error)
            answer = encode_error(item.id, known)
        return b"" if item.notification else answer

    def _call(self, request: Request) -> object:
        if self._stop.is_set:
            raise _stopping()
        method = self._methods.get(request.method)
        if method is None:
            raise method_not_found(request.method, self._methods)
        return method(request.params)

    def _send(self, answer: bytes) -> bool:
        """Whether the client took all of `answer` in time."""
        started = time.monotonic()
        left = memoryview(answer)
        while left:
            try:
                left = left[self._socket.send(left) :]
            except BlockingIOError:
                if not self._writable(started):
                    self._log.info("connection.dropped", reason="the client does not read")
                    return False
        return True

    def _writable(self, started: float) -> bool:
        """Wait for room until the write time-out; after a stop, as long as last words may take."""
        deadline = started + self._limits.write_timeout_s
        if not self._stop.is_set and self._stop.wait_for(self._socket, select.POLLOUT, deadline):
            return True
        if not self._stop.is_set:
            return False
        last = min(deadline, max(started, self._stop.at) + _LAST_WORDS_S)
        return ready(self._socket, select.POLLOUT, max(last - time.monotonic(), 0.0))

    def _drain(self) -> None:
        """Throw away, within bounds, what a refused client still sends: then it reads why."""
        self._buffer.rest()
        self._socket.shutdown(socket.SHUT_WR)
        deadline = time.monotonic() + _DRAIN_S
        for _ in range(_DRAIN_LINES * self._limits.max_line_bytes // _RECEIVE_BYTES + 1):
            if not self._stop.wait_for(self._socket, select.POLLIN, deadline):
                return
            if not self._socket.recv(_RECEIVE_BYTES):
                return


def _stopping() -> Stopping:
    return Stopping("The daemon is stopping.", hint="Ask again once it has started.")


def _refusal(message: Message) -> bytes:
    """The line that answers all of `message` with `stopping`, what was wrong with it aside."""
    answers = [
        encode_error(item.id, item.error if isinstance(item, Refused) else _stopping())
        for item in message.items
        if isinstance(item, Refused) or not item.notification
    ]
    return encode_message(message, answers)
