"""The line to a model server: one address, limits on time and size, and a cut from another thread.

The only place where httpx is imported. What goes wrong on the line leaves here as a ModelError; what a
status or a body means is for the clients to say. No proxy, no redirect, no credential that was not asked
for: the environment is not looked at.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

import httpx

from recalld.errors import ModelError, PermanentModelError, TransientModelError
from recalld.models.loopback import ServerAddress, is_loopback

_MAX_ANSWER_BYTES = 64 * 1024 * 1024
_QUICK_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WireLimits:
    """Seconds: to connect, without a byte, and for a whole call."""

    connect_s: float = 3.0
    silence_s: float = 120.0
    total_s: float = 240.0

    def quick(self) -> WireLimits:
        """For questions about a model, which no server needs long to answer."""
        return replace(
            self,
            silence_s=min(self.silence_s, _QUICK_S),
            total_s=min(self.total_s, _QUICK_S),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WireHints:
    """What the user can do; commands and settings of the server at hand."""

    down: str
    slow: str


class Wire(httpx.BaseTransport):
    """Carries requests to one address. Several may be under way; `cut` ends them all, `close` for good."""

    def __init__(
        self,
        address: ServerAddress,
        *,
        limits: WireLimits,
        hints: WireHints,
        key: str | None = None,
    ) -> None:
        """`key` is sent as a bearer token; without one no credential leaves."""
        self.address = address
        self._limits = limits
        self._hints = hints
        self._key = key
        self._url = httpx.URL(address.url)
        # A connection a call: an idle one may have died, and a cut must know which is whose.
        self._inner = httpx.HTTPTransport(
            trust_env=False, limits=httpx.Limits(max_keepalive_connections=0)
        )
        self._calls: set[_Call] = set()
        self._lock = threading.Lock()
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether it carries nothing any more."""
        return self._closed

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request and gives the answer's head; its body is read within the same limits.

        Raises:
            TransientModelError, PermanentModelError: In place of everything that httpx raises.
        """
        self._prepare(request)
        call = _Call(self._limits.total_s, self.address.loopback)
        with self._lock:
            if self._closed:
                raise _cut_error()
            self._calls.add(call)
        request.extensions = {
            **request.extensions,
            "trace": call.trace,
            "timeout": {
                "connect": self._limits.connect_s,
                "read": self._limits.silence_s,
                "write": self._limits.silence_s,
                "pool": self._limits.connect_s,
            },
        }
        call.begin()
        response: httpx.Response | None = None
        try:
            with self._translated(call):
                response = self._inner.handle_request(request)
                self._refuse_redirect(response)
        except BaseException:
            # A cut may come just after the head has.
            if response is not None:
                response.close()
            self._end(call)
            raise
        response.stream = _Body(response.stream, self._translated, call, lambda: self._end(call))
        return response

    def cut(self) -> None:
        """Ends every call under way, from any thread; each raises TransientModelError at once."""
        with self._lock:
            calls = list(self._calls)
        for call in calls:
            call.cut("cancelled")

    def close(self) -> None:
        """Cuts what is under way, and carries nothing any more."""
        with self._lock:
            # From here on no call is added, so that none escapes the cut.
            self._closed = True
        # Each call closes its own connection; nothing idle is kept.
        self.cut()

    def _prepare(self, request: httpx.Request) -> None:
        origin = (request.url.scheme, request.url.host, request.url.port)
        if origin != (self._url.scheme, self._url.host, self._url.port):
            raise PermanentModelError(f"only {self.address.url} may be called, not {request.url}")
        request.headers.pop("authorization", None)
        if self._key:
            request.headers["authorization"] = f"Bearer {self._key}"
        request.headers["accept-encoding"] = "identity"

    def _end(self, call: _Call) -> None:
        call.end()
        with self._lock:
            self._calls.discard(call)

    def _refuse_redirect(self, response: httpx.Response) -> None:
        if response.is_redirect:
            raise PermanentModelError(
                f"{self.address.url} sends us elsewhere, which is refused",
                hint=f"write the address of the server itself: {response.headers.get('location')}",
                state="down",
            )

    @contextmanager
    def _translated(self, call: _Call) -> Iterator[None]:
        """Turns what happens on the line into our errors; a cut explains whatever came of it."""
        try:
            yield
        except ModelError:
            raise
        except httpx.HTTPError as error:
            raise self._error(error, call.reason) from error
        if call.reason is not None:
            raise self._error(None, call.reason)

    def _error(self, error: httpx.HTTPError | None, reason: _Reason | None) -> ModelError:
        url = self.address.url
        if reason == "cancelled":
            return _cut_error()
        if reason == "total":
            return TransientModelError(
                f"{url} took longer than {self._limits.total_s:g} s",
                hint=self._hints.slow,
                state="slow",
            )
        if isinstance(error, httpx.ConnectTimeout | httpx.PoolTimeout):
            return TransientModelError(
                f"{url} took no connection within {self._limits.connect_s:g} s",
                hint=self._hints.down,
                state="down",
            )
        if isinstance(error, httpx.TimeoutException):
            return TransientModelError(
                f"{url} said nothing for {self._limits.silence_s:g} s",
                hint=self._hints.slow,
                state="slow",
            )
        said = "nothing answers at" if isinstance(error, httpx.ConnectError) else "broken line to"
        return TransientModelError(f"{said} {url}", hint=self._hints.down, state="down")


_Reason = Literal["total", "cancelled"]


def _cut_error() -> TransientModelError:
    return TransientModelError("the call was cut", state="off")


class _Call:
    """One request under way: its socket, its time, and why it was cut if it was."""

    def __init__(self, total_s: float, loopback: bool) -> None:
        self._timer = threading.Timer(total_s, self.cut, ("total",))
        self._timer.name = "model-limit"
        self._loopback = loopback
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self.reason: _Reason | None = None

    def begin(self) -> None:
        self._timer.start()

    def end(self) -> None:
        """Forgets the socket; the time no longer counts."""
        with self._lock:
            self._socket = None
        self._timer.cancel()
        self._timer.join()

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Learns the socket as soon as there is one, and refuses one that leads elsewhere."""
        if event not in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            return
        stream = info["return_value"]
        connection: socket.socket = stream.get_extra_info("socket")
        with self._lock:
            self._socket, cut = connection, self.reason is not None
        peer = str(connection.getpeername()[0]) if not cut else ""
        if cut or (self._loopback and not is_loopback(peer)):
            stream.close()
            raise _cut_error() if cut else PermanentModelError(f"{peer} is not this machine")

    def cut(self, reason: _Reason) -> None:
        """Shuts the socket, which wakes whoever reads from it; closing alone would not."""
        with self._lock:
            self.reason = self.reason or reason
            if self._socket is not None:
                with suppress(OSError):
                    # The plain socket's, also below TLS, whose own would touch what another thread uses.
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


class _Body(httpx.SyncByteStream):
    """The body of an answer, within the limits of its call."""

    def __init__(self, stream: Any, guard: Any, call: _Call, on_close: Callable[[], None]) -> None:
        self._stream = stream
        self._guard = guard
        self._call = call
        self._on_close = on_close

    def __iter__(self) -> Iterator[bytes]:
        length = 0
        # The end of a body without a length looks like a cut, and the other way round: the guard knows.
        with self._guard(self._call):
            for part in self._stream:
                length += len(part)
                if length > _MAX_ANSWER_BYTES:
                    raise TransientModelError(f"an answer of more than {_MAX_ANSWER_BYTES} bytes")
                yield part

    def close(self) -> None:
        try:
            self._stream.close()
        finally:
            self._on_close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A status and what came with it: JSON where it is JSON, else text."""

    status: int
    body: object


class JsonLine:
    """Requests in JSON over a wire, for what no client library covers."""

    def __init__(self, wire: Wire) -> None:
        self._client = httpx.Client(
            base_url=wire.address.url, transport=wire, trust_env=False, follow_redirects=False
        )

    def get(self, path: str) -> Answer:
        """The answer to a GET; raises as Wire does."""
        return _answer(self._client.get(path))

    def post(self, path: str, body: object) -> Answer:
        """The answer to a POST; raises as Wire does."""
        return _answer(self._client.post(path, json=body))

    @contextmanager
    def stream(self, path: str, body: object) -> Iterator[Answer | Iterator[str]]:
        """Lines of the answer as they come, or the whole answer where the status is not 200."""
        with self._client.stream("POST", path, json=body) as response:
            if response.status_code == httpx.codes.OK:
                yield response.iter_lines()
            else:
                response.read()
                yield _answer(response)


def _answer(response: httpx.Response) -> Answer:
    try:
        body: object = json.loads(response.content)
    except (ValueError, RecursionError):
        body = response.text
    return Answer(status=response.status_code, body=body)
