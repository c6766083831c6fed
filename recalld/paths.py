"""Where recalld's files are: the XDG places, as pure functions of environment and home folder.

It must not know of settings, and touches no file: whether a place exists is the caller's question.
Where the socket lies is the business of `recalld.sockets`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

# In the data folder.
DATABASE_NAME = "memory.db"


def settings_file(env: Mapping[str, str], home: Path) -> Path:
    """The settings file that is read when none is named: `$XDG_CONFIG_HOME/recalld/config.toml`."""
    return _base(env, "XDG_CONFIG_HOME", home / ".config") / "recalld" / "config.toml"


def data_dir(env: Mapping[str, str], home: Path) -> Path:
    """The default data folder, `$XDG_DATA_HOME/recalld`: database, memories and backups."""
    return _base(env, "XDG_DATA_HOME", home / ".local" / "share") / "recalld"


def state_dir(env: Mapping[str, str], home: Path) -> Path:
    """What may be thrown away without loss: `$XDG_STATE_HOME/recalld`."""
    return _base(env, "XDG_STATE_HOME", home / ".local" / "state") / "recalld"


def _base(env: Mapping[str, str], name: str, default: Path) -> Path:
    """The folder that `name` holds; the XDG rules say that a relative one counts as unset."""
    folder = Path(env.get(name, ""))
    return folder if folder.is_absolute() else default
