"""Secrets that stand apart from their label: on the next line, in an item below it, in a table, in a form's field.

It reads lines as people lay them out and needs no Markdown parser. Texts are in plain spelling.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ingest.masking.labels import Kind, Label
from ingest.masking.tables import find_in_tables
from ingest.masking.values import (
    is_joined_up,
    is_pointer,
    is_spaceless,
    is_stand_in,
    looks_random,
    looks_secret,
    looks_very_secret,
)

Span = tuple[int, int]
# A line that is a label has no more characters before or behind it.
_SHORT = 100
# How many lines below a label its values may stand.
_REACH = 40

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_BEFORE = re.compile(
    r"(?P<indent>[ \t>]*)(?P<item>[-*+][ \t]+|[0-9]{1,3}[.)][ \t]+)?"
    r"(?P<heading>#{1,6}[ \t]+)?(?:\[.\][ \t]+)?"
    r"(?:</?[A-Za-z][^<>]{0,80}>|[*_`\"'])*(?P<words>(?:[^\s.:;,!?|=<>]+[ \t]+){0,4}[^\s.:;,!?|=<>]*)"
)
_AFTER = re.compile(
    r"(?:[*_`\"')\]]|</?[A-Za-z][^<>]{0,80}>){0,6}"
    r"(?:[ \t](?:\([^()]{0,40}\)|[^\W\d]{1,12}(?:[ \t][\w.-]{1,20}){0,3})(?P<more>))?"
    r"[ \t]*(?P<colon>[:=])?(?:[*_]|</?[A-Za-z][^<>]{0,80}>)*[ \t]*(?:[|>][-+]?)?[ \t\\]*#*[ \t]*"
)
_MARKS = re.compile(
    r"(?P<indent>[ \t>]*)(?P<item>(?:[-*+]|[0-9]{1,3}[.)])[ \t]+|:[ \t]+)?"
    r"(?:\[.\][ \t]+)?(?:</?[A-Za-z][^<>]{0,80}>|[*_`\"'])*[ \t]*"
)
_BETWEEN = re.compile(r"[ \t>]*(?:`{3,}.*|~{3,}.*|=+|-{2,})?[ \t]*")
_UNDERLINE = re.compile(r" {0,3}(?:={2,}|-{2,})[ \t\r\n]*")
_OTHER_BLOCK = re.compile(r"[ \t>]*(?:#{1,6}[ \t]|\|)")
_CLOSING = ".,;:)]}|*_`\"'"
_NAMED = re.compile(
    r"[^\r\n]{1,60}?(?:[ \t]*(?:[:=→⇒]|->)[ \t]*|[ \t]+[-–—/][ \t]+)"
    r"[*_`\"']{0,3}(?!/)(?P<value>[^\s*`\"'<>|]+)[*_`\"'.,;]*[ \t]*"
)
_FIELD = re.compile(r"<input\b[^<>]{0,500}>", re.IGNORECASE)
_PASSWORD_FIELD = re.compile(r"\btype\s{0,4}=\s{0,4}[\"']?password\b", re.IGNORECASE)
_FIELD_VALUE = re.compile(
    r"(?<![\w:.@-])value\s{0,4}=\s{0,4}(?:\"([^\"]+)\"|'([^']+)'|([^\s\"'<>=]+))", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Head:
    """A line that says nothing but a label."""

    kind: Kind
    line: int
    indent: int
    is_item: bool
    is_heading: bool
    has_mark: bool


def find_laid_out(text: str, labels: Sequence[Label]) -> Iterator[Span]:
    """The spans of secrets whose label stands in another place of the text.

    Args:
        text: In plain spelling.
        labels: All that stand in it.
    """
    if "<" in text and "password" in text.lower():
        yield from _form_values(text)
    if not labels:
        return
    lines = [match.span() for match in _LINE.finditer(text) if match.end() > match.start()]
    starts = [start for start, _ in lines]
    for head in _heads(text, lines, starts, labels):
        yield from _below(text, lines, head)
    numbers = sorted({bisect_right(starts, label.start) - 1 for label in labels})
    yield from find_in_tables(text, lines, numbers)


def _form_values(text: str) -> Iterator[Span]:
    for field in _FIELD.finditer(text):
        value = _FIELD_VALUE.search(text, field.start(), field.end())
        if value and _PASSWORD_FIELD.search(text, field.start(), field.end()):
            group = value.lastindex or 0
            if not is_stand_in(value[group]):
                yield value.span(group)


def _heads(
    text: str, lines: Sequence[Span], starts: Sequence[int], labels: Iterable[Label]
) -> Iterator[_Head]:
    for label in labels:
        number = bisect_right(starts, label.start) - 1
        first, last = lines[number]
        if label.start - first > _SHORT or last - label.end > _SHORT:
            continue
        before = _BEFORE.fullmatch(text, first, label.start)
        after = _AFTER.fullmatch(text, label.end, _line_stop(text, first, last))
        if before is None or after is None or label.kind is Kind.PAIR:
            continue
        yield _Head(
            kind=label.kind,
            line=number,
            indent=len(before["indent"]),
            is_item=before["item"] is not None,
            is_heading=before["heading"] is not None or _is_underlined(text, lines, number),
            has_mark=after["colon"] is not None and after["more"] is None,
        )


def _line_stop(text: str, start: int, end: int) -> int:
    """Where a line's own text ends, before its line break."""
    while end > start and text[end - 1] in "\r\n":
        end -= 1
    return end


def _is_underlined(text: str, lines: Sequence[Span], number: int) -> bool:
    following = lines[number + 1] if number + 1 < len(lines) else (0, 0)
    return _UNDERLINE.fullmatch(text, *following) is not None


def _below(text: str, lines: Sequence[Span], head: _Head) -> Iterator[Span]:
    """The values in the first line below a label, and in all items that follow at once."""
    is_first = True
    blanks = 0
    for number in range(head.line + 1, min(head.line + 1 + _REACH, len(lines))):
        first, last = lines[number]
        stop = _line_stop(text, first, last)
        if _BETWEEN.fullmatch(text, first, stop):
            blanks += 1
            if blanks > 2 and is_first:
                return
            continue
        marks = _MARKS.match(text, first, stop)
        if marks is None or _OTHER_BLOCK.match(text, first, stop):
            return
        is_item = marks["item"] is not None
        is_deeper = len(marks["indent"]) > head.indent
        if head.is_item and not is_deeper:
            return
        if not is_first and not (is_item or (is_deeper and not head.is_heading)):
            return
        is_sure = head.has_mark or (head.is_item and is_item)
        yield from _value_of_line(
            text,
            marks.end(),
            stop,
            head.kind,
            is_sure=is_sure and is_first,
            is_named=is_item or head.is_heading,
        )
        if not (is_item or is_deeper):
            return
        is_first = False


def _value_of_line(
    text: str, at: int, stop: int, kind: Kind, *, is_sure: bool, is_named: bool
) -> Iterator[Span]:
    """The value that a whole line is, or that stands in it behind a name: `NAS: hunter2`."""
    end = stop
    while end > at and text[end - 1] in _CLOSING + " \t":
        end -= 1
    content = text[at:end]
    if not content or is_spaceless(content):
        return
    tokens = content.split()
    if len(tokens) == 1 and not content.endswith(">"):
        if _is_value(content, kind, is_sure=is_sure):
            yield at, end
            return
    elif _are_value(tokens, kind, is_sure=is_sure):
        yield at, end
        return
    named = _NAMED.fullmatch(text, at, stop) if is_named else None
    if named and _is_value(named["value"], kind, is_sure=False):
        yield named.start("value"), named.start("value") + len(named["value"].rstrip(".,;"))


def _is_value(word: str, kind: Kind, *, is_sure: bool) -> bool:
    if kind is Kind.DIGITS:
        return re.fullmatch(r"[0-9]{3,8}", word) is not None
    if kind is Kind.WEAK:
        return looks_random(word)
    if looks_secret(word):
        return True
    is_plain = word.isalnum() or re.fullmatch(r"\w+(?:-\w+)+", word) is not None
    return (
        is_sure
        and kind in (Kind.STRONG, Kind.PHRASE)
        and is_plain
        and not is_stand_in(word)
        and not word.isdigit()
    )


def _are_value(tokens: Sequence[str], kind: Kind, *, is_sure: bool) -> bool:
    """Whether the words of a whole line are one value: no sentence, and nothing with a label of its own."""
    if (
        kind not in (Kind.STRONG, Kind.PHRASE)
        or len(tokens) > 24
        or any(":" in token or "=" in token for token in tokens)
    ):
        return False
    is_sentence = is_joined_up(tokens) or any(map(is_pointer, tokens))
    if kind is Kind.PHRASE:
        return (
            len(tokens) >= 3
            and not is_sentence
            and all(
                token.strip("0123456789.").isalpha() or not token.strip("0123456789.")
                for token in tokens
            )
        )
    if not is_sure or is_sentence or len(tokens) > 8:
        return False
    return any(map(looks_very_secret, tokens)) or (
        len(tokens) > 2 and all(t.isalpha() and t.islower() for t in tokens)
    )
