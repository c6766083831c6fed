"""Where settings are given: a TOML file, `RECALLD_*` variables, flags; read into dotted keys.

It must not know what any key means: it is told which keys and tables there are, and the types
that each key takes. A mistake is added to the reading, never raised, so that all are told at once.
"""

from __future__ import annotations

import difflib
import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A value as somebody gave it."""

    value: object
    # `flag`, `env NAME` or `file`.
    origin: str
    # What a relative path in the value counts from.
    base: Path


@dataclass(slots=True, kw_only=True)
class Reading:
    """What has been read so far, and every mistake met on the way."""

    env: Mapping[str, str]
    home: Path
    # The types that each dotted key takes; `tuple` for a list.
    kinds: Mapping[str, tuple[object, ...]]
    # The dotted keys that are tables.
    tables: frozenset[str]
    # Dotted keys that somebody may expect and that there are not on purpose, and why.
    refused: Mapping[str, str]
    given: dict[str, Given] = field(default_factory=dict)
    mistakes: list[str] = field(default_factory=list)

    def refuse(self, key: str, given: Given, why: str) -> None:
        """Notes that the value of `key` is wrong; `why` goes on after the colon."""
        self.mistakes.append(f"{key} = {shown(given.value)} ({given.origin}): {why}")


def read_file(reading: Reading, file: Path) -> None:
    """Takes what a TOML file sets; a byte order mark is left out."""
    try:
        table = tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        reading.mistakes.append(f"{file}: cannot be read ({error.strerror})")
    except UnicodeDecodeError as error:
        reading.mistakes.append(f"{file}: must be UTF-8 (byte {error.start} is not)")
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        reading.mistakes.append(f"{file}: is not TOML: {error}")
    else:
        for key, value in _flattened(reading, table, ""):
            reading.given[key] = Given(value=value, origin="file", base=file.absolute().parent)


def read_env(reading: Reading, *, aliases: Mapping[str, str]) -> None:
    """Takes the `RECALLD_*` variables; an empty one counts as unset.

    A name without a double underscore that is near no key is left alone: it may be somebody else's.
    """
    plain = [key for key in reading.kinds if "." not in key]
    for variable, text in sorted(reading.env.items()):
        if not variable.startswith("RECALLD_") or not text:
            continue
        key = variable.removeprefix("RECALLD_").lower().replace("__", ".")
        key = aliases.get(key, key)
        origin = f"env {variable}"
        if key in reading.kinds:
            value = _from_text(reading.kinds[key], text)
            reading.given[key] = Given(value=value, origin=origin, base=Path.cwd())
        elif key in reading.tables:
            reading.mistakes.append(f"{key} ({origin}): is a table; set its keys, as {variable}__…")
        elif "." in key or difflib.get_close_matches(key, [*plain, *aliases], 1):
            reading.mistakes.append(unknown(reading, key, origin))


def read_flags(reading: Reading, flags: Mapping[str, object]) -> None:
    """Takes the flags; None counts as not given."""
    for key, value in flags.items():
        if value is None:
            continue
        if key in reading.kinds:
            reading.given[key] = Given(value=value, origin="flag", base=Path.cwd())
        else:
            reading.mistakes.append(unknown(reading, key, "flag"))


def unknown(reading: Reading, key: str, origin: str) -> str:
    """The sentence about a key that there is not, with the nearest that there is."""
    if key in reading.refused:
        return f"{key} ({origin}): {reading.refused[key]}"
    known = [*reading.kinds, *sorted(reading.tables)]
    # A key in the wrong table is nearest to its namesake in the right one.
    last = {each.rpartition(".")[2]: each for each in reversed(known)}
    near = difflib.get_close_matches(key, known, 1, 0.7)
    near += [last[n] for n in difflib.get_close_matches(key.rpartition(".")[2], last, 1, 0.7)]
    return f"{key} ({origin}): is not a setting" + (f"; did you mean {near[0]}?" if near else "")


def shown(value: object) -> str:
    """A value as TOML would have it, near enough to be read."""
    match value:
        case bool():
            return str(value).lower()
        case Mapping():
            pairs = ", ".join(f"{name} = {shown(each)}" for name, each in value.items())
            return f"{{ {pairs} }}"
        case list() | tuple():
            return "[" + ", ".join(shown(each) for each in value) + "]"
        case int():
            return f"{value:_}"
        case float():
            return repr(value)
        case None:
            return "nothing"
    return json.dumps(str(value), ensure_ascii=False)


def _flattened(
    reading: Reading, table: Mapping[str, object], above: str
) -> Iterator[tuple[str, object]]:
    """The keys of a TOML table as dotted keys; unknown ones become mistakes."""
    for name, value in table.items():
        key = above + name
        if key in reading.kinds:
            yield key, value
        elif key not in reading.tables:
            reading.mistakes.append(unknown(reading, key, "file"))
        elif isinstance(value, dict):
            yield from _flattened(reading, value, f"{key}.")
        else:
            wrong = f"{key} = {shown(value)} (file)"
            reading.mistakes.append(f"{wrong}: must be a table, written [{key}]")


def _from_text(kinds: tuple[object, ...], text: str) -> object:
    """What a variable's text means for a key of these types; the text itself where nothing."""
    try:
        if tuple in kinds and not text.startswith("["):
            return text.split(os.pathsep)
        if tuple in kinds:
            return tomllib.loads(f"v = {text}")["v"]
        if bool in kinds:
            return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
        if int in kinds:
            return int(text)
        if float in kinds:
            return float(text)
    except ValueError:
        pass
    return text
