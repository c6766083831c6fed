"""The fields of front matter that tell something, as written: no YAML is needed to be found.

It knows nothing of blocks or facts, nor which fields mean what to a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ingest.markdown.markup import split_lines, squeeze, strip_markup
from ingest.rules.dates import find_dates

_FIELD = re.compile(r"(?P<key>[^\s:#'\"-][^:#]*?)\s*:(?:\s+(?P<value>.*))?$")
_YAML_COMMENT = re.compile(r"(?:^|\s+)#(?:\s.*)?$")
_INDENTED = re.compile(r"([ \t]*)((?:-[ \t]+)?)(.*)")
_BLOCK = re.compile(r"[|>][+-]?\d?")
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
# What begins and what ends a period, as keys say it: `start`, `trip_end`, `Start date`.
_KEY_WORD = re.compile(r"[^\W_]+")
_BEGINS = frozenset(
    """
    start starts started begin begins began beginning from arrival van vanaf aankomst von ab beginn anfang ankunft
    début debut de du arrivée desde inicio comienzo llegada inizio da início 开始 開始
    """.split()  # noqa: SIM905
)
_ENDS = frozenset(
    """
    end ends ended finish finished to until till through departure tot einde eind vertrek bis ende abreise
    fin au à jusque hasta final salida fine a até fim 结束 結束 終了
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A key with a value of words, without markup. Offsets count in the source text."""

    key: str
    value: str
    start: int
    end: int
    # Key and value of the field below that ends the period which this one begins.
    until: tuple[str, str] | None = None


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
    """Each key with a value, or with a list of them: `author: Kevin Kelly`; a period's two ends as one."""
    last: Field | None = None
    for field in _each_field(source):
        if last is None:
            last = field
        elif _is_period(last, field):
            yield replace(last, end=field.end, until=(field.key, field.value))
            last = None
        else:
            yield last
            last = field
    if last is not None:
        yield last


def _is_period(first: Field, then: Field) -> bool:
    """Whether two fields differ by nothing but that one begins and the other ends, and both tell a date."""
    firsts, thens = (_KEY_WORD.findall(one.key.lower()) for one in (first, then))
    apart = [pair for pair in zip(firsts, thens, strict=False) if pair[0] != pair[1]]
    return (
        len(firsts) == len(thens)
        and len(apart) == 1
        and apart[0][0] in _BEGINS
        and apart[0][1] in _ENDS
        and all(find_dates(one.value, note_date=None) for one in (first, then))
    )


@dataclass(slots=True)
class _Open:
    """A field of which more lines may come."""

    path: tuple[str, ...]
    indent: int
    values: list[str]
    start: int
    end: int
    # An item of a list that has keys of its own, which are told beside each other.
    is_map: bool = False

    @property
    def is_block(self) -> bool:
        """Whether what stands indented below is its text, whatever it looks like."""
        return not self.is_map and _BLOCK.fullmatch(self.values[0].strip()) is not None

    def fields(self) -> Iterator[Field]:
        value = (" " if self.is_block else ", ").join(
            plain for raw in self.values if (plain := _plain_value(raw))
        )
        if value:
            yield Field(key=" › ".join(self.path), value=value, start=self.start, end=self.end)


def _each_field(source: str) -> Iterator[Field]:
    # The keys that the line at hand may stand below, outermost first, with their indentation.
    above: list[tuple[int, str]] = []
    last: _Open | None = None
    at = 0
    for line in split_lines(source):
        stripped = line.rstrip()
        start, end = at, at + len(stripped)
        at += len(line)
        if not stripped:
            continue
        parts = _INDENTED.match(stripped)
        indent, dash, rest = (len(parts[1]), parts[2], parts[3]) if parts else (0, "", stripped)
        field = _FIELD.match(rest)
        if last is not None and last.is_block and indent > last.indent:
            last.values.append(rest if not dash else dash + rest)
            last.end = end
        elif field and not dash and last is not None and last.is_map and indent > last.indent:
            last.values.append(rest)
            last.end = end
        elif field and (not dash or above):
            if last is not None:
                yield from last.fields()
            key, value = field["key"], field["value"] or ""
            # A list may stand as far out as its key.
            while above and above[-1][0] >= indent + bool(dash):
                above.pop()
            if dash:
                path = tuple(name for _, name in above)
                last = _Open(path, indent, [rest], start, end, is_map=True)
            else:
                above.append((indent, key))
                last = _Open(tuple(name for _, name in above), indent, [value], start, end)
        elif last is not None and dash:
            if last.is_map:
                yield from last.fields()
                last = _Open(last.path, indent, [rest], start, end)
            else:
                last.values.append(rest)
                last.end = end
        elif last is not None and indent > last.indent and last.values[-1]:
            last.values[-1] += f" {rest}"
            last.end = end
    if last is not None:
        yield from last.fields()


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
