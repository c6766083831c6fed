"""The settings as they hold: from the command line, else the environment, else the file, else their defaults.

Every value knows where it came from, and all mistakes are told at once. It must not know what the settings are for.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recalld import paths
from recalld.errors import SettingsError
from recalld.settings.roots import NamedFolder, read_path, read_roots
from recalld.settings.sources import Reading, read_env, read_file, read_flags, shown
from recalld.settings.tables import RootSettings, Settings, Unfit, allowed, check, keys, tables

_ALIASES = {"socket": "daemon.socket"}
_REFUSED = {
    "recall.half_life_days.error": "errors never decay, so they have no half-life; remove this key"
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """Settings, and for every dotted key where its value came from.

    An origin is `flag`, `env NAME`, `file` or `default`; that of `roots` may be two of them joined
    by ` + `, because folders on the command line add to the others.
    """

    settings: Settings
    origins: Mapping[str, str]
    file: Path | None


def load_settings(
    *,
    flags: Mapping[str, object] = types.MappingProxyType({}),
    env: Mapping[str, str],
    file: Path | None,
    home: Path,
) -> Loaded:
    """Settings from the command line, the environment, the file and the defaults, in that order.

    Args:
        flags: Dotted key to value; None counts as not given. `roots` adds to the other roots.
        env: `RECALLD_INGEST__QUIET_MS` sets `ingest.quiet_ms`, `RECALLD_SOCKET` sets
            `daemon.socket`. Lists are separated by `:`, or written as in TOML.
        file: A TOML file that must be there; None when there is none.
        home: What `~` stands for.

    Raises:
        SettingsError: With every mistake, each naming the key, the value and what is allowed.
    """
    kinds = {name: key.kinds for name, key in keys().items()}
    reading = Reading(env=env, home=home, kinds=kinds, tables=tables(), refused=_REFUSED)
    if file is not None:
        read_file(reading, file)
    read_env(reading, aliases=_ALIASES)
    set_roots = reading.given.pop("roots", None)
    read_flags(reading, flags)
    more_roots = reading.given.pop("roots", None)
    given_roots = [given for given in (set_roots, more_roots) if given and given.value != ()]
    settings = _validated(reading, read_roots(reading, *given_roots))
    if settings is None or reading.mistakes:
        hint = "`recalld config init` writes a file with every key, its default and its unit"
        raise SettingsError(tuple(reading.mistakes), hint=hint)
    origins = {
        key: reading.given[key].origin if key in reading.given else "default" for key in kinds
    }
    origins["roots"] = " + ".join(given.origin for given in given_roots) or "default"
    return Loaded(settings=settings, origins=origins, file=file)


def _validated(reading: Reading, roots: tuple[NamedFolder, ...]) -> Settings | None:
    tree: dict[str, Any] = {
        "roots": tuple(RootSettings(name=root.name, path=root.path) for root in roots),
        "data_dir": paths.data_dir(reading.env, reading.home),
    }
    for key, given in reading.given.items():
        value = given.value
        if Path in reading.kinds[key]:
            value = read_path(reading, key, given)
        # A path that is none has been told already; its default keeps the rest checkable.
        if value is not None:
            _put(tree, key, tuple(value) if isinstance(value, list) else value)
    checked = check(tree)
    if isinstance(checked, Settings):
        return checked
    reading.mistakes += dict.fromkeys(_sentence(reading, each) for each in checked)
    return None


def _put(tree: dict[str, Any], key: str, value: object) -> None:
    *above, name = key.split(".")
    for part in above:
        tree = tree.setdefault(part, {})
    tree[name] = value


def _sentence(reading: Reading, unfit: Unfit) -> str:
    """One mistake as key, value, origin and what is allowed."""
    if unfit.key not in reading.given:
        return unfit.said
    given = reading.given[unfit.key]
    return f"{unfit.key} = {shown(given.value)} ({given.origin}): must be {allowed(unfit.key)}"
