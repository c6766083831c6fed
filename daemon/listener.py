"""The listening socket: bound where only its user can reach it, and taken away by its owner alone.

It never deletes what it cannot prove to be a dead socket of ours, and knows nothing of what is said
on the socket.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from recalld.errors import SocketError
from recalld.sockets import MAX_PATH_BYTES, check_folder

_BACKLOG = 128
# A living daemon accepts within microseconds; one that is stopped (SIGSTOP) is still alive.
_PROBE_TIMEOUT_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """A listening Unix socket, and the file that is its own where it made one."""

    socket: socket.socket
    # None for a socket that was handed to us: its file is not ours to remove.
    path: Path | None
    # Device and inode of that file.
    identity: tuple[int, int] | None

    def close(self) -> None:
        """Remove the socket's file, if it is still the one that was bound, and stop listening."""
        # Before closing: the open socket keeps its inode number from being given to another file.
        if self.path is not None:
            with contextlib.suppress(OSError):
                if _identity(self.path.lstat()) == self.identity:
                    self.path.unlink()
        self.socket.close()


def bound_listener(path: Path) -> Listener:
    """A listener on `path`, mode 0600, in a folder that is made with 0700 where it is missing.

    The umask of the process changes for an instant, so call it before other threads make files.

    Raises SocketError when another daemon answers there, when something lies there that is not a
    dead socket of ours, and when the folder is open to others.
    """
    if len(os.fsencode(path)) > MAX_PATH_BYTES:
        raise SocketError(f"The socket's path is over {MAX_PATH_BYTES} bytes: {path}.")
    try:
        _make_folder(path.parent)
        check_folder(path.parent, uid=os.geteuid())
        _clear_dead_socket(path)
        return _bind(path)
    except OSError as error:
        raise SocketError(
            f"The socket {path} can't be made: {error.strerror or error}.",
            hint="Choose another place with --socket.",
        ) from error


def inherited_listener(handed: socket.socket) -> Listener:
    """A listener on a socket that was bound before we started, as systemd hands it over."""
    if handed.family != socket.AF_UNIX or not handed.getsockopt(
        socket.SOL_SOCKET, socket.SO_ACCEPTCONN
    ):
        raise SocketError("The socket handed over is not a listening Unix socket.")
    handed.settimeout(0.0)
    return Listener(socket=handed, path=None, identity=None)


@contextlib.contextmanager
def _umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def _make_folder(folder: Path) -> None:
    # Not `mode=0o700`: that would leave the missing parents to the umask.
    with _umask(0o077):
        folder.mkdir(parents=True, exist_ok=True)


def _clear_dead_socket(path: Path) -> None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise SocketError(
            f"Something that is not a socket lies at {path}.",
            hint="Move it away, or choose another place with --socket.",
        )
    if _answers(path):
        raise SocketError(
            f"Another daemon answers there: {path}.",
            hint="Stop it first (recalld status shows its pid), or choose another --socket.",
        )
    if found.st_uid != os.geteuid():
        raise SocketError(f"The socket {path} belongs to another user.")
    if _identity(path.lstat()) == _identity(found):
        path.unlink()


def _answers(path: Path) -> bool:
    """Whether a process listens on the socket file; OSError when that cannot be told."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_TIMEOUT_S)
        try:
            probe.connect(os.fspath(path))
        except ConnectionRefusedError:
            return False
        except (BlockingIOError, TimeoutError):
            return True  # its queue is full, so it has one
        except OSError as error:
            if error.errno == errno.EPROTOTYPE:
                return True  # a datagram socket: alive, and not ours
            raise
        return True


def _bind(path: Path) -> Listener:
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _umask(0o177):
            listening.bind(os.fspath(path))
        identity = _identity(path.lstat())
        listening.listen(_BACKLOG)
        listening.settimeout(0.0)
    except BaseException:
        listening.close()
        raise
    return Listener(socket=listening, path=path, identity=identity)


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino
