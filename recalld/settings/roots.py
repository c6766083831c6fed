"""Paths and roots in the settings: what `~` and variables stand for, and which folders go together.

It looks at the file system only to follow symlinks and to tell a file from a folder. A root that
is not there is no mistake: it may be mounted later.
"""

from __future__ import annotations

import difflib
import os
import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from recalld.settings.sources import Given, Reading, shown


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFolder:
    """A root as the user wrote it, made absolute; symlinks are not resolved."""

    name: str
    path: Path

    @property
    def real(self) -> Path:
        """Where the folder is once symlinks are followed."""
        return Path(os.path.realpath(self.path))


def read_path(reading: Reading, key: str, given: Given) -> Path | None:
    """An absolute path, `~` and variables replaced; None, and a mistake, where there is none.

    In a flag the shell has replaced variables already, so a `$` there is a name's own.
    """
    value = given.value
    if not isinstance(value, str | Path) or not str(value) or "\0" in str(value):
        reading.refuse(key, given, "must be a path, as text")
        return None
    text = str(value)
    if given.origin != "flag":
        try:
            text = string.Template(text).substitute(reading.env)
        except KeyError as error:
            reading.refuse(key, given, f"the variable {error.args[0]} is not set")
            return None
        except ValueError:
            reading.refuse(key, given, "$ must begin a variable; write $$ for the sign itself")
            return None
    if text == "~" or text.startswith("~/"):
        text = f"{reading.home}{text[1:]}"
    elif text.startswith("~"):
        reading.refuse(key, given, "~ stands for your own home only; write the whole path")
        return None
    return Path(os.path.normpath(given.base / text))


def read_roots(reading: Reading, *sources: Given | None) -> tuple[NamedFolder, ...]:
    """The roots of all sources together, checked against each other.

    A folder of a later source that an earlier one has too is the same wish, said twice.
    """
    roots: list[NamedFolder] = []
    for given in sources:
        if given is None:
            continue
        if not isinstance(given.value, list | tuple):
            reading.refuse("roots", given, "must be a list of folders, or of { name, path } tables")
            continue
        known = {root.real for root in roots}
        entries = [replace(given, value=entry) for entry in given.value]
        read = [_root(reading, f"roots[{n}]", entry) for n, entry in enumerate(entries)]
        roots += [root for root in read if root is not None and root.real not in known]
    _check_apart(reading, roots)
    return tuple(roots)


def _root(reading: Reading, key: str, given: Given) -> NamedFolder | None:
    table = given.value if isinstance(given.value, Mapping) else {"path": given.value}
    for extra in sorted(set(table) - {"name", "path"}):
        near = difflib.get_close_matches(extra, ["name", "path"], 1)
        sentence = f"{key}.{extra} ({given.origin}): is not a setting; a root has name and path"
        reading.mistakes.append(sentence + (f"; did you mean {near[0]}?" if near else ""))
    if "path" not in table:
        reading.refuse(key, given, "must have a path")
        return None
    path = read_path(reading, f"{key}.path", replace(given, value=table["path"]))
    if path is None:
        return None
    if path.is_file():
        reading.refuse(key, given, "is a file; a root must be a folder")
        return None
    name = table.get("name", path.name or "root")
    if not isinstance(name, str) or not re.fullmatch(r"(?=.*\S)[^/\x00-\x1f\x7f]{1,100}", name):
        wrong = replace(given, value=name)
        reading.refuse(f"{key}.name", wrong, "must be text of 1 to 100 characters without /")
        return None
    return NamedFolder(name=name, path=path)


def _check_apart(reading: Reading, roots: Sequence[NamedFolder]) -> None:
    """Refuses equal names, and folders that are or hold one another, also through symlinks."""
    for index, later in enumerate(roots):
        for earlier in roots[:index]:
            both = f"roots: {earlier.path} and {later.path}"
            if earlier.real == later.real:
                reading.mistakes.append(f"{both} are the same folder, {later.real}; name it once")
            elif later.real.is_relative_to(earlier.real):
                reading.mistakes.append(_nested(later, earlier))
            elif earlier.real.is_relative_to(later.real):
                reading.mistakes.append(_nested(earlier, later))
            elif earlier.name == later.name:
                wanted = f'{{ name = "…", path = {shown(later.path)} }}'
                reading.mistakes.append(
                    f"{both} are both named {shown(later.name)}; names must differ: write {wanted}"
                )


def _nested(inner: NamedFolder, outer: NamedFolder) -> str:
    return (
        f"roots: {inner.path} lies inside {outer.path} ({outer.real}); "
        "roots must not overlap: keep one of them"
    )
