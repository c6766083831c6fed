"""The word lists of the room: `labels.toml`, all languages of a list together.

What a list is for, those know who ask for it.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources


def words(name: str) -> list[str]:
    """The words of a list, as written, in the order of the file."""
    return [word for of in _tables()[name].values() for word in of]


@cache
def _tables() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads((resources.files(__package__) / "labels.toml").read_text("utf-8"))
