"""What systemd and a service tell each other: readiness and watchdog out, listening sockets in.

Everything is a no-op outside systemd. It must not know what the service does.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import MutableMapping

from recalld.errors import SocketError

_FIRST_FD = 3


class Notifier:
    """Sends states to the service manager. A manager that is absent or gone is no failure."""

    def __init__(self, address: str | None, *, watchdog_s: float | None = None) -> None:
        self._address = address
        # Seconds within which the manager wants a sign of life; None where it doesn't watch.
        self.watchdog_s = watchdog_s if address else None
        self._last_status = ""

    @classmethod
    def from_environment(cls, env: MutableMapping[str, str]) -> Notifier:
        """The manager that started us.

        Takes its variables out of `env`, so that no child answers for us.
        """
        address = env.pop("NOTIFY_SOCKET", "")
        interval = env.pop("WATCHDOG_USEC", "")
        watched = env.pop("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        usable = address.startswith(("/", "@")) and len(address) > 1
        watchdog_s = int(interval) / 1e6 if watched and interval.isdigit() else None
        return cls(address if usable else None, watchdog_s=watchdog_s or None)

    @property
    def present(self) -> bool:
        """Whether there is a manager that listens to us."""
        return self._address is not None

    def ready(self) -> None:
        """Says that the service works now, for the first time or again after `reloading`."""
        self._send("READY=1")

    def reloading(self) -> None:
        """Says that the settings are being read again; `ready` ends it."""
        now_us = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        self._send(f"RELOADING=1\nMONOTONIC_USEC={now_us}")

    def stopping(self) -> None:
        """Says that the service is on its way out."""
        self._send("STOPPING=1")

    def alive(self) -> None:
        """Gives the sign of life that the watchdog waits for."""
        self._send("WATCHDOG=1")

    def status(self, text: str) -> None:
        """Shows a line in `systemctl status`; the same line again is not sent."""
        line = " ".join(text.split())
        if line != self._last_status:
            self._last_status = line
            self._send(f"STATUS={line}")

    def _send(self, state: str) -> None:
        if self._address is None:
            return
        # A leading @ stands for the NUL of an abstract address.
        address = "\0" + self._address[1:] if self._address[0] == "@" else self._address
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
            sender.settimeout(1.0)
            try:
                sender.connect(address)
                sender.sendall(state.encode())
            except OSError:
                # The manager is gone or restarting; we are told to stop by signal, not by this.
                return


def inherited_socket(env: MutableMapping[str, str]) -> socket.socket | None:
    """The listening socket that systemd handed over, or None; takes its variables out of `env`.

    Raises:
        SocketError: There are several, or it is not a listening Unix stream socket.
    """
    pid = env.pop("LISTEN_PID", "")
    count = env.pop("LISTEN_FDS", "")
    env.pop("LISTEN_FDNAMES", None)
    # Variables for another process: a parent's, left behind by a wrapper.
    if pid != str(os.getpid()) or not count.isdigit() or int(count) == 0:
        return None
    hint = "recalld.socket must have exactly one ListenStream= with a path"
    if int(count) > 1:
        raise SocketError(
            f"systemd handed over {int(count)} sockets; recalld listens on one", hint=hint
        )
    try:
        inherited = socket.socket(fileno=_FIRST_FD)
    except OSError as error:
        raise SocketError("what systemd handed over is not a socket", hint=hint) from error
    inherited.set_inheritable(False)
    if not _listens(inherited):
        inherited.detach()
        raise SocketError("systemd handed over a socket of another kind", hint=hint)
    return inherited


def _listens(inherited: socket.socket) -> bool:
    return (
        inherited.family == socket.AF_UNIX
        and inherited.type == socket.SOCK_STREAM
        and inherited.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1
    )
