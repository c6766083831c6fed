"""Where recalld's files are: the XDG places, as pure functions of environment and home folder.

It must not know of settings, and touches no file: whether a place exists is the caller's question.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

# `sun_path` holds 108 bytes on Linux with its closing NUL.
SOCKET_PATH_BYTES = 107


def settings_file(env: Mapping[str, str], home: Path) -> Path:
    """The settings file that is read when none is named: `$XDG_CONFIG_HOME/recalld/config.toml`."""
    return _base(env, "XDG_CONFIG_HOME", home / ".config") / "recalld" / "config.toml"


def data_dir(env: Mapping[str, str], home: Path) -> Path:
    """The default data folder, `$XDG_DATA_HOME/recalld`: database, memories and backups."""
    return _base(env, "XDG_DATA_HOME", home / ".local" / "share") / "recalld"


def state_dir(env: Mapping[str, str], home: Path) -> Path:
    """What may be thrown away without loss: `$XDG_STATE_HOME/recalld`."""
    return _base(env, "XDG_STATE_HOME", home / ".local" / "state") / "recalld"


def socket_path(env: Mapping[str, str], home: Path) -> Path:
    """The default socket: in the runtime folder of the session, else under the state folder."""
    runtime = Path(env.get("XDG_RUNTIME_DIR", ""))
    if runtime.is_absolute():
        return runtime / "recalld" / "recalld.sock"
    return state_dir(env, home) / "run" / "recalld.sock"


def bindable_socket(path: Path, env: Mapping[str, str], *, uid: int) -> Path:
    """`path` itself where the kernel takes it, else a short one.

    Client and daemon both compute the short one: it depends on `path`, `$XDG_RUNTIME_DIR` and
    `uid` alone. Its folder may lie in `/tmp`, so whoever uses it must check that the folder is
    its own and has mode 0700.
    """
    if len(os.fsencode(path)) <= SOCKET_PATH_BYTES:
        return path
    name = hashlib.blake2b(os.fsencode(path), digest_size=8).hexdigest() + ".sock"
    runtime = Path(env.get("XDG_RUNTIME_DIR", ""))
    if runtime.is_absolute():
        short = runtime / "recalld" / name
        if len(os.fsencode(short)) <= SOCKET_PATH_BYTES:
            return short
    return Path("/tmp") / f"recalld-{uid}" / name  # noqa: S108 - the caller checks owner and mode


def _base(env: Mapping[str, str], name: str, default: Path) -> Path:
    """The folder that `name` holds; the XDG rules say that a relative one counts as unset."""
    folder = Path(env.get(name, ""))
    return folder if folder.is_absolute() else default
