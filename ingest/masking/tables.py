"""Secrets in tables: in the column under a label, and in the cell beside one. Texts are in plain spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ingest.masking.labels import Kind, label_of
from ingest.masking.values import (
    is_joined_up,
    is_pointer,
    is_spaceless,
    is_stand_in,
    looks_random,
    looks_secret,
)

Span = tuple[int, int]

_DELIMITER = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t\r\n]*")
_CELL = re.compile(r"((?:\\.|[^|\\\r\n])*)(\||(?=[\r\n])|\Z)")
_DRESS = " \t*_`\"'~:"
_HEADER_WORDS = 4
_KEY_VALUE = 2


def find_in_tables(text: str, lines: Sequence[Span], labelled: Sequence[int]) -> Iterator[Span]:
    """The spans of secrets in the tables that have a label in one of some lines.

    Args:
        text: In plain spelling.
        lines: The span of each line, its end included.
        labelled: The numbers of lines with labels, ascending.
    """
    done = -1
    labelled_lines = frozenset(labelled)
    for number in labelled:
        if number <= done or "|" not in text[slice(*lines[number])]:
            continue
        first, stop = _bounds(text, lines, number, done + 1)
        done = max(done, stop - 1)
        delimiter = next((n for n in range(first + 1, stop) if _is_delimiter(text, lines[n])), None)
        if delimiter is None:
            continue
        header = delimiter - 1
        if header in labelled_lines:
            rows = [_cells(text, lines[n]) for n in range(delimiter + 1, stop)]
            yield from _columns(text, _cells(text, lines[header]), rows)
        for n in range(header, stop):
            if n in labelled_lines:
                yield from _beside(text, _cells(text, lines[n]), is_header=n == header)


def _bounds(text: str, lines: Sequence[Span], number: int, least: int) -> tuple[int, int]:
    """The lines round one that have cells as it has; none below `least`."""
    first = number
    while first > least and "|" in text[slice(*lines[first - 1])]:
        first -= 1
    stop = number + 1
    while stop < len(lines) and "|" in text[slice(*lines[stop])]:
        stop += 1
    return first, stop


def _is_delimiter(text: str, line: Span) -> bool:
    return _DELIMITER.fullmatch(text, *line) is not None and "|" in text[slice(*line)]


def _cells(text: str, line: Span) -> list[Span]:
    """The span of each cell's content, without space and dress round it."""
    start = line[0]
    while start < line[1] and text[start] in " \t>":
        start += 1
    found = []
    for match in _CELL.finditer(text, start, line[1]):
        if match.start() == start and not match[1] and match[2]:
            continue
        if not match[2] and not match[1].strip():
            continue
        found.append(_bare(text, *match.span(1)))
    return found


def _bare(text: str, start: int, end: int) -> Span:
    while start < end and text[start] in _DRESS:
        start += 1
    while end > start and text[end - 1] in _DRESS:
        end -= 1
    return start, end


def _label_of_cell(text: str, cell: Span) -> Kind | None:
    content = text[slice(*cell)]
    content = re.sub(r"[ \t]*\([^()]*\)$", "", content)
    return label_of(content) if content and len(content.split()) <= _HEADER_WORDS else None


def _columns(text: str, headers: Sequence[Span], rows: Sequence[Sequence[Span]]) -> Iterator[Span]:
    for column, header in enumerate(headers):
        kind = _label_of_cell(text, header)
        if kind is None:
            continue
        cells = [row[column] for row in rows if column < len(row)]
        filled = [cell for cell in cells if cell[1] > cell[0]]
        words = [text[slice(*cell)] for cell in filled]
        # A column of values differs from row to row; one of properties says "yes", "supported", or a sentence.
        are_values = len(set(words)) == len(words) and not any(
            " " in word or (is_stand_in(word) and "[redacted]" not in word) for word in words
        )
        for cell, word in zip(filled, words, strict=True):
            if _is_value(word, kind, is_sure=are_values):
                yield cell


def _beside(text: str, row: Sequence[Span], *, is_header: bool) -> Iterator[Span]:
    for cell, following in pairwise(row):
        kind = _label_of_cell(text, cell)
        is_sure = len(row) == _KEY_VALUE and not is_header
        if kind and _is_value(text[slice(*following)], kind, is_sure=is_sure):
            yield following


def _is_value(word: str, kind: Kind, *, is_sure: bool) -> bool:
    if not word or is_spaceless(word) or is_pointer(word) or is_stand_in(word):
        return False
    if kind is Kind.DIGITS:
        return re.fullmatch(r"[0-9]{3,8}", word) is not None
    if kind is Kind.WEAK or kind is Kind.PAIR:
        return looks_random(word)
    parts = word.split()
    if len(parts) > 1:
        is_value = any(map(looks_secret, parts)) or (kind is Kind.PHRASE and len(parts) > 2)
        return is_value and not is_joined_up(parts) and not is_pointer(parts[0])
    if looks_secret(word):
        return True
    return (
        is_sure
        and kind in (Kind.STRONG, Kind.PHRASE)
        and len(word) > 2
        and any(c.isalpha() for c in word)
        and label_of(word) is None
    )
