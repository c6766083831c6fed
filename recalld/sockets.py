"""Where the socket lies, whether its folder can be trusted, and who is at the other end.

Client and daemon must come to the same path without talking to each other, and the client must
start quickly, so nothing here may import more than the standard library, or read settings itself.
"""

from __future__ import annotations

import hashlib
import os
import socket
import stat
import struct
from collections.abc import Mapping
from pathlib import Path

from recalld.errors import SocketError

# `sun_path` holds 108 bytes on Linux, the closing NUL among them.
MAX_PATH_BYTES = 107


def socket_path(
    *, flag: str | None, env: Mapping[str, str], setting: str | None, home: Path
) -> Path:
    """The first that is set of flag, `$RECALLD_SOCKET`, setting, and the XDG folders.

    An empty string counts as not set, and so does an XDG folder that is not absolute, as the XDG
    specification demands. `~/` stands for `home`. A path over `MAX_PATH_BYTES` becomes a short one
    that depends on nothing but that path, `$XDG_RUNTIME_DIR` and the user.
    """
    chosen = flag or env.get("RECALLD_SOCKET") or setting
    path = _expanded(chosen, home) if chosen else _default_path(env, home)
    if len(os.fsencode(path)) <= MAX_PATH_BYTES:
        return path
    return _short_path(path, env)


def fallback_folder(uid: int) -> Path:
    """Where short paths go without a runtime folder; anybody could have made it."""
    return Path(f"/tmp/recalld-{uid}")  # noqa: S108 (check_folder refuses it unless it is ours alone)


def check_folder(folder: Path, *, uid: int) -> None:
    """Raise SocketError if others than `uid` and root could replace what lies in `folder`.

    A folder that does not exist is fine: whoever makes it, makes it private.
    """
    ours_alone = folder == fallback_folder(uid)
    try:
        found = folder.lstat() if ours_alone else folder.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise SocketError(
            f"The socket's folder {folder} cannot be examined: {error.strerror}."
        ) from error
    problem = _folder_problem(found, uid=uid, ours_alone=ours_alone)
    if problem:
        raise SocketError(
            f"The socket's folder {folder} {problem}.",
            hint=f"Make it yours alone (chmod 700 {folder}), or choose another with --socket.",
        )


def peer_uid(connection: socket.socket) -> int | None:
    """The user at the other end of a Unix socket, or None where the system does not tell."""
    if hasattr(socket, "SO_PEERCRED"):
        size = struct.calcsize("3i")
        _, uid, _ = struct.unpack(
            "3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        )
        return int(uid)
    return _peer_eid(connection)


def _expanded(written: str, home: Path) -> Path:
    return home / written[2:] if written.startswith("~/") else Path(written)


def _default_path(env: Mapping[str, str], home: Path) -> Path:
    runtime = _xdg_folder(env, "XDG_RUNTIME_DIR")
    if runtime is not None:
        return runtime / "recalld" / "recalld.sock"
    state = _xdg_folder(env, "XDG_STATE_HOME") or home / ".local" / "state"
    return state / "recalld" / "run" / "recalld.sock"


def _xdg_folder(env: Mapping[str, str], name: str) -> Path | None:
    value = env.get(name, "")
    return Path(value) if value.startswith("/") else None


def _short_path(path: Path, env: Mapping[str, str]) -> Path:
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:16] + ".sock"
    runtime = _xdg_folder(env, "XDG_RUNTIME_DIR")
    if runtime is not None:
        short = runtime / "recalld" / name
        if len(os.fsencode(short)) <= MAX_PATH_BYTES:
            return short
    return fallback_folder(os.geteuid()) / name


def _folder_problem(found: os.stat_result, *, uid: int, ours_alone: bool) -> str | None:
    if not stat.S_ISDIR(found.st_mode):
        return "is not a folder"
    if ours_alone:
        if found.st_uid != uid:
            return "belongs to another user"
        return "is open to other users" if found.st_mode & 0o077 else None
    if found.st_uid not in {uid, 0}:
        return "belongs to another user"
    # In a sticky folder, such as /tmp itself, others cannot remove or rename what is ours.
    if found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX:
        return "can be written to by other users"
    return None


def _peer_eid(connection: socket.socket) -> int | None:
    import ctypes  # noqa: PLC0415 (slow to import, and only the BSDs and macOS need it)

    getpeereid = getattr(ctypes.CDLL(None, use_errno=True), "getpeereid", None)
    if getpeereid is None:
        return None
    uid, gid = ctypes.c_uint32(), ctypes.c_uint32()
    if getpeereid(connection.fileno(), ctypes.byref(uid), ctypes.byref(gid)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return uid.value
