"""What a new set of settings means for a daemon that runs: what it takes at once, and what waits for a restart.

Pure: two settings in, the difference out. It must not know how any of it is done.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from recalld.settings.tables import RootSettings, Settings

# Keys, or whole tables, that are taken while running.
_TAKEN = ("roots", "recall", "rerank", "schedule", "log")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Old settings against new ones."""

    # Roots that are kept no longer; one with another path or name is gone and come.
    gone: tuple[RootSettings, ...]
    come: tuple[RootSettings, ...]
    # Tables among those that are taken while running, with a value that differs.
    taken: frozenset[str]
    # Dotted keys whose new values only hold after a restart.
    restart: tuple[str, ...]


def difference(old: Settings, new: Settings) -> Difference:
    """What differs, sorted by what can be done about it."""
    keys = tuple(_differing(old, new, ""))
    tables = {key: key.partition(".")[0] for key in keys}
    return Difference(
        gone=tuple(root for root in old.roots if root not in new.roots),
        come=tuple(root for root in new.roots if root not in old.roots),
        taken=frozenset(table for table in tables.values() if table in _TAKEN),
        restart=tuple(key for key, table in tables.items() if table not in _TAKEN),
    )


def _differing(old: object, new: object, above: str) -> Iterator[str]:
    for name, before in vars(old).items():
        after = getattr(new, name)
        # A table of settings; everything else is a plain value.
        if hasattr(type(before), "model_fields"):
            yield from _differing(before, after, f"{above}{name}.")
        elif before != after:
            yield above + name
