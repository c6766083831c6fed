"""What all pages are made of: styled pieces that cannot steer a terminal, and reading results of any shape.

Text of notes and paths may hold anything, so every piece passes `printable`. It must not know of
terminals, colours or files: a style is a word that `daemon.terminal` understands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Style = Literal["plain", "strong", "dim", "good", "bad", "busy"]

_LINE_ENDS = re.compile("\r\n?|[\u2028\u2029\x85\x0b\x0c]")
# C0 but tab and line feed, DEL, C1, and what reorders the text of a whole line.
_UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_UNESCAPED_BY_JSON = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_STATES: dict[str, Style] = {
    **dict.fromkeys(("ok", "idle"), "good"),
    **dict.fromkeys(("starting", "catching_up", "busy", "stopping"), "busy"),
    **dict.fromkeys(("loading", "slow", "polling"), "busy"),
    **dict.fromkeys(("unavailable", "held", "down", "missing"), "bad"),
    "off": "dim",
}


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line, printable, in one style."""

    text: str
    style: Style = "plain"


Line = tuple[Span, ...]


def printable(text: object, *, one_line: bool = True) -> str:
    """`text` without anything that steers a terminal: each such character becomes U+FFFD.

    On one line, line ends and tabs become spaces; otherwise line ends stay, all as line feeds.
    """
    flat = _LINE_ENDS.sub("\n", str(text))
    if one_line:
        flat = flat.replace("\n", " ").replace("\t", " ")
    return _UNPRINTABLE.sub("\ufffd", flat)


def json_text(value: object) -> str:
    """`value` as JSON that any terminal and any UTF-8 reader takes; it parses back to the same."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return _UNESCAPED_BY_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def state_span(state: str) -> Span:
    """A state of the daemon, a root or a model, in the style of how good it is."""
    return Span(printable(state).replace("_", " "), _STATES.get(state, "plain"))


def place_text(source: Mapping[str, object]) -> str:
    """Path and lines of a source, and how many more there are."""
    lines = source.get("lines")
    place = printable(source.get("path", ""))
    if isinstance(lines, list) and lines:
        first, last = lines[0], lines[-1]
        place += f":{first}" if first == last else f":{first}-{last}"
    more = source.get("more")
    return f"{place} (+{more} more)" if more else place


def date_text(hit: Mapping[str, object]) -> str:
    """When it happened, else when it was stated; empty where neither is known."""
    dates = hit.get("dates")
    if not isinstance(dates, Mapping):
        return ""
    happened = dates.get("happened")
    if isinstance(happened, list) and happened:
        first, last = printable(happened[0]), printable(happened[-1])
        return first if first == last else f"{first}–{last}"
    return printable(dates.get("stated") or "")


# The daemon on the socket may be of another version: what has another shape is shown as absent.


def mapping(value: object) -> Mapping[str, object]:
    """`value` where it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def rows(value: object) -> list[Mapping[str, object]]:
    """The objects of a list; none where it is none."""
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def texts(value: object) -> list[str]:
    """The elements of a list as printable text; none where it is none."""
    return [printable(each) for each in value] if isinstance(value, list) else []
