"""The Unix socket server: takes connections, gives each a thread, and ends them all on stop.

It knows methods as functions from parameters to results, and nothing of what they do.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import socket
import threading
import time
from pathlib import Path

from daemon.listener import Listener, bound_listener, inherited_listener
from daemon.peers import Log, Methods, Peer, ServerLimits
from daemon.waiting import StopSignal
from recalld.errors import Busy, SocketError
from recalld.jsonrpc import encode_error
from recalld.sockets import peer_uid

__all__ = ["Log", "Methods", "ServerLimits", "SocketServer", "peer_allowed"]

# Out of descriptors or memory: others must end first, so trying again at once would only spin.
_EXHAUSTED = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_BACK_OFF_S = 0.2
# For threads whose client is gone to notice it.
_LEAVING_S = 0.05
# For threads whose connection was just cut to notice it.
_CUT_S = 0.25


def peer_allowed(peer: int | None, own: int) -> bool:
    """Whether a peer's user may ask a daemon of user `own`: the same one, or one nobody can name.

    Root is no exception. Where the system cannot tell, the socket's mode and folder stand alone.
    """
    return peer is None or peer == own


class SocketServer:
    """Serves `methods` at `path`, or on a listening socket that was handed over.

    A method gets the parameters as they came and gives something JSON can hold, or raises; it runs
    on its connection's thread, so it must be safe to call from many at once.
    """

    def __init__(
        self,
        path: Path | None,
        inherited: socket.socket | None,
        methods: Methods,
        limits: ServerLimits,
        log: Log,
    ) -> None:
        if path is None and inherited is None:
            raise SocketError("The server needs a path or a socket.")
        self._path = path
        self._inherited = inherited
        self._methods = methods
        self._limits = limits
        self._log = log
        self._lock = threading.Lock()
        self._peers: dict[threading.Thread, Peer] = {}
        self._taken = 0
        # Whether the last client found no room; the log says it once.
        self._full = False
        self._stop: StopSignal | None = None
        self._listener: Listener | None = None
        self._accepting: threading.Thread | None = None

    @property
    def connections(self) -> int:
        """Connections that are open now."""
        with self._lock:
            return sum(thread.is_alive() for thread in self._peers)

    def start(self) -> None:
        """Bind, listen and answer; once only. SocketError when the path can't be had."""
        if self._inherited is not None:
            listener = inherited_listener(self._inherited)
        elif self._path is not None:
            listener = bound_listener(self._path)
        stop = StopSignal()
        self._listener, self._stop = listener, stop
        self._accepting = threading.Thread(
            target=self._accept_all, args=(listener, stop), name="recalld-accept"
        )
        self._accepting.start()
        self._log.info(
            "socket.opened", path=str(listener.path or ""), inherited=listener.path is None
        )

    def stop(self, deadline_s: float = 1.5) -> bool:
        """Take no more connections, let what is in flight finish, and end every thread.

        Requests that are read after this are answered with `stopping`; so are those still in flight
        at the deadline, after which their connections are cut. False when a method did not return
        even then: its thread lives until it does.
        """
        stop, listener, accepting = self._stop, self._listener, self._accepting
        if stop is None or listener is None or accepting is None:
            return True
        end = time.monotonic() + deadline_s
        stop.set()
        accepting.join()
        listener.close()
        self._stop = self._listener = self._accepting = None
        ended = self._join_all(end) or self._cut_all()
        if ended:
            stop.close()
        else:
            self._log.warning(
                "socket.stuck", reason="a request did not end", count=self.connections
            )
        return ended

    def _join_all(self, end: float) -> bool:
        """Whether every connection's thread ended before `end`, a monotonic time."""
        for thread in tuple(self._peers):
            thread.join(max(end - time.monotonic(), 0.0))
        self._reap()
        return not self._peers

    def _cut_all(self) -> bool:
        for peer in tuple(self._peers.values()):
            peer.abandon()
        return self._join_all(time.monotonic() + _CUT_S)

    def _reap(self) -> None:
        with self._lock:
            for thread in [thread for thread in self._peers if not thread.is_alive()]:
                thread.join()
                del self._peers[thread]

    def _accept_all(self, listener: Listener, stop: StopSignal) -> None:
        exhausted = False
        while not stop.is_set:
            if not stop.wait_for(listener.socket, select.POLLIN, float("inf")) or stop.is_set:
                continue
            try:
                connection, _ = listener.socket.accept()
            except OSError as error:
                if error.errno in _EXHAUSTED:
                    if not exhausted:
                        self._log.warning("socket.exhausted", reason=error.strerror)
                    exhausted = True
                    self._reap()
                    stop.wait(time.monotonic() + _BACK_OFF_S)
                # Anything else is about a client that is gone again.
                continue
            exhausted = False
            self._welcome(connection, stop)

    def _welcome(self, connection: socket.socket, stop: StopSignal) -> None:
        try:
            if not peer_allowed(peer_uid(connection), os.geteuid()):
                self._log.warning("connection.refused", reason="another user")
                connection.close()
                return
        except OSError:
            connection.close()
            return
        if not self._has_room():
            self._refuse(connection)
            return
        self._full = False
        self._taken += 1
        peer = Peer(connection, self._methods, self._limits, stop, self._log)
        thread = threading.Thread(target=peer.run, name=f"recalld-peer-{self._taken}")
        try:
            thread.start()
        except RuntimeError:  # the system has no thread left
            self._refuse(connection)
            return
        with self._lock:
            self._peers[thread] = peer

    def _has_room(self) -> bool:
        self._reap()
        if len(self._peers) < self._limits.max_connections:
            return True
        # A client that closes one connection and opens the next must not be taken for two.
        end = time.monotonic() + _LEAVING_S
        for thread, peer in tuple(self._peers.items()):
            if peer.hung_up:
                thread.join(max(end - time.monotonic(), 0.0))
        self._reap()
        return len(self._peers) < self._limits.max_connections

    def _refuse(self, connection: socket.socket) -> None:
        error = Busy(
            f"The daemon serves its {self._limits.max_connections} connections already.",
            hint="Close idle connections, or raise the limit in the settings.",
        )
        with contextlib.suppress(OSError):
            connection.settimeout(0.0)
            connection.send(encode_error(None, error) + b"\n")
        connection.close()
        if not self._full:
            self._log.warning("connection.refused", reason="too many connections")
        self._full = True
