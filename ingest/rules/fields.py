"""The fields of front matter that tell something, as written: no YAML is needed to be found.

It knows nothing of blocks or facts, nor which fields mean what to a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ingest.markdown.markup import split_lines, squeeze, strip_markup

_FIELD = re.compile(r"(?P<key>[^\s:#'\"-][^:#]*?)\s*:(?:\s+(?P<value>.*))?$")
_YAML_COMMENT = re.compile(r"(?:^|\s+)#(?:\s.*)?$")
_FIELD_ITEM = re.compile(r"\s*-\s+(?P<value>.*)$")
# Said elsewhere (title, date, tags), or about the file's life and looks rather than its matter.
_SILENT_KEYS = frozenset(
    """
    title date time icon tags tag categories category
    aliases alias cssclass cssclasses created updated modified
    lastmod published
    publish permalink id uid uuid layout hide draft slug template position weight nav_order sidebar
    sidebar_position sidebar_label draft toc image cover banner banner_y math
    """.split()  # noqa: SIM905 - a word list is read more easily as text
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A key with a value of words, without markup. Offsets count in the source text."""

    key: str
    value: str
    start: int
    end: int


def telling_fields(text: str) -> str:
    """Front matter with the lines of silent keys, and its fences, emptied."""
    kept: list[str] = []
    telling = False
    for line in split_lines(text):
        field = _FIELD.match(line.rstrip())
        if field:
            telling = field.group("key").strip().lower() not in _SILENT_KEYS
        elif line.startswith(("---", "+++", "...")):
            telling = False
        kept.append(line if telling else "\n" * line.endswith(("\n", "\r")))
    return "".join(kept)


def find_fields(source: str) -> Iterator[Field]:
    """Each key with a value, or with a list of them: `author: Kevin Kelly`."""
    key, start, end = "", 0, 0
    values: list[str] = []

    def found() -> Iterator[Field]:
        value = ", ".join(plain for raw in values if (plain := _plain_value(raw)))
        if key and value:
            yield Field(key=key, value=value, start=start, end=end)

    at = 0
    for line in split_lines(source):
        stripped = line.rstrip()
        if match := _FIELD.match(stripped):
            yield from found()
            key, start, values = match.group("key"), at, [match.group("value") or ""]
            end = at + len(stripped)
        elif key and (item := _FIELD_ITEM.match(stripped)):
            values.append(item.group("value"))
            end = at + len(stripped)
        at += len(line)
    yield from found()


def _plain_value(raw: str) -> str:
    value = raw.strip()
    if value[:1] not in ("'", '"'):
        # YAML's comment is no part of the value; `#tag` may be meant as one, though YAML takes it for a comment.
        value = _YAML_COMMENT.sub("", value)
    value = value.strip("\"'")
    if value in ("[]", "{}", "null", "~", "|", ">", "|-", ">-"):
        return ""
    if value.startswith("[") and value.endswith("]") and not value.startswith("[["):
        value = ", ".join(part.strip().strip("\"'") for part in value[1:-1].split(","))
    return squeeze(strip_markup(value).text)
