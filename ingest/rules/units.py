"""What a block is made of: paragraphs, list items with their parents, table rows, code, fields.

A unit is a place in the block's text with what Markdown's structure says about it; sentences,
lengths and meaning are not known here.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import itemgetter
from typing import Literal

from ingest.markdown.front_matter import SIZE_LIMIT_BYTES
from ingest.markdown.markup import shown, split_lines
from ingest.markdown.visible import Row, read_html, visible_text
from ingest.rules.cells import split_cells, told_cells
from ingest.rules.fields import find_fields, telling_fields
from ingest.rules.labels import find_label, is_term
from ingest.rules.lines import ended_lines
from recalld.records import Block, BlockKind
from retrieval.grounding.wording import negation

UnitKind = Literal["prose", "item", "row", "code", "field", "heading"]

_PARENT_LENGTH = 80
_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)+")
_BULLET = re.compile(r"([-*+•]|\d{1,9}[.)])(?:[ \t]+|$)(?:\[(.)\][ \t]+)?")
# Letters that mark a task, done or begun, and signs that mark none.
_TASKS = frozenset("xXoO")
_REMARKS = frozenset("!！*+\"'“”‘’„«»$€")
_CALLOUT = re.compile(r"\[![\w-]+\][+-]?")
_FENCE = re.compile(r"(`{3,}|~{3,})")
_DELIMITERS = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_HARD_END = re.compile(r"(?:\\|<br ?/?>)$", re.IGNORECASE)
_DEFINITION = re.compile(r":[ \t]+")
# A formula without dollar signs round it.
_TEX = re.compile(r"\s*\\begin\{[a-z*]+\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A paragraph, list item, row, piece of code or field. Offsets count in the source text."""

    kind: UnitKind
    # Where its own words start and end; bullets, boxes and fences are outside.
    start: int
    end: int
    # What stands above it in nested lists, outermost first, each at most 80 characters.
    parents: tuple[str, ...] = ()
    # The mark in a task box: " " open, "x" done, "-" cancelled; "" for what is no task.
    task: str = ""
    # The term that its sentences speak of without repeating it; "" for none.
    term: str = ""
    # The number of an item of a numbered list, as written; None for what is none.
    ordinal: int | None = None
    # Of a row: (column head, cell), without markup; empty cells are left out.
    cells: tuple[tuple[str, str], ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether it is a task still to do; the marks that some editors add (`/`, `>`) leave it so."""
        return bool(self.task) and not self.is_closed

    @property
    def is_closed(self) -> bool:
        """Whether it is a task that is done or cancelled."""
        return self.task in ("x", "X", "-")


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    text: str
    # Columns of indentation before the text, and how many quotes it stands in.
    indent: int
    quotes: int


def searchable_source(block: Block) -> str:
    """The text that units' offsets count in: the block's, less what is not to be searched.

    It has a line for each line of the block.
    """
    if block.kind is BlockKind.HTML:
        return visible_text(block.text)
    if block.kind is BlockKind.FRONT_MATTER:
        # Reported as too large where it is read: such a header is data, and would bury the body.
        return telling_fields(block.text) if len(block.text) <= SIZE_LIMIT_BYTES else ""
    return block.text


def find_units(block: Block, source: str, term: str = "") -> tuple[Unit, ...]:
    """The units of a block in order of place; none when nothing in it is to be searched.

    Args:
        block: The block.
        source: Its `searchable_source`.
        term: What a definition at its start explains, where that stands in another block.
    """
    if block.kind in (BlockKind.BLANK, BlockKind.RULE, BlockKind.COMMENT) or not source.strip():
        return ()
    if block.kind is BlockKind.FRONT_MATTER:
        return tuple(
            Unit(
                kind="field",
                start=field.start,
                end=field.end,
                cells=((field.key, field.value), *((field.until,) if field.until else ())),
            )
            for field in find_fields(source)
        )
    if block.kind is BlockKind.FENCE:
        return (_fence(source),)
    if block.kind in (BlockKind.MATH, BlockKind.DEFINITION) or _TEX.match(source):
        return (Unit(kind="code", start=0, end=len(source)),)
    if block.kind is BlockKind.HEADING:
        return (Unit(kind="heading", start=0, end=len(source)),)
    found = _Scan(source, lists=block.kind is not BlockKind.PARAGRAPH, term=term).units()
    return tuple(found) if block.kind is not BlockKind.HTML else _html_units(block.text, found)


def _html_units(text: str, found: Iterable[Unit]) -> tuple[Unit, ...]:
    """Units of visible text parted at the borders that its tags show, and rows of its tables."""
    page = read_html(text)
    rows = [_html_row(page.text, row) for row in page.rows]
    told = sorted([*(row.span for row in page.rows), *page.heads])
    pieces = (
        piece for unit in found for piece in _parted(unit, page.borders) if not _in_any(told, piece)
    )
    units = [unit for unit in (*pieces, *rows) if page.text[unit.start : unit.end].strip()]
    return tuple(sorted(units, key=lambda unit: unit.start))


def _html_row(text: str, row: Row) -> Unit:
    cells = [(shown(text[slice(*head)]), shown(text[slice(*cell)])) for head, cell in row.cells]
    start, end = row.span
    return Unit(kind="row", start=start, end=end, cells=tuple(pair for pair in cells if pair[1]))


def _parted(unit: Unit, borders: tuple[int, ...]) -> Iterator[Unit]:
    if unit.kind not in ("prose", "item"):
        yield unit
        return
    within = borders[bisect_right(borders, unit.start) : bisect_left(borders, unit.end)]
    for n, (start, end) in enumerate(pairwise([unit.start, *within, unit.end])):
        yield (
            replace(unit, start=start, end=end)
            if n == 0
            else Unit(kind="prose", start=start, end=end, parents=unit.parents)
        )


def _in_any(spans: list[tuple[int, int]], unit: Unit) -> bool:
    """Whether a unit begins in one of the spans, which are sorted."""
    at = bisect_right(spans, unit.start, key=itemgetter(0)) - 1
    return at >= 0 and unit.start < spans[at][1]


def opens_definition(text: str) -> bool:
    """Whether a paragraph begins as a definition does, with a colon: what it explains stands above it."""
    return _DEFINITION.match(text.lstrip()) is not None


def shorten(text: str, length: int = _PARENT_LENGTH) -> str:
    """The text, cut at a word border to about `length` characters and `…`; whole where a negation would be lost."""
    if len(text) <= length:
        return text
    cut = text[:length]
    cut = cut.rsplit(" ", 1)[0] if " " in cut else cut
    denies = negation()
    return text if denies.count(text) > denies.count(cut) else cut.rstrip(" ,;") + "…"


class _Scan:
    """One walk down the lines of prose, lists, quotes, and the tables and fences inside them."""

    def __init__(self, source: str, *, lists: bool, term: str) -> None:
        self._source = source
        self._lists = lists
        self._lines = list(_lines(source))
        # Open list items: indentation of the bullet, and its label once known.
        self._open: list[tuple[int, str]] = []
        self._task = ""
        # How many quotes the last bullet stands in.
        self._quotes = 0
        # The term that definitions below it explain. A paragraph has some only below a first line that is one.
        self._term = term
        first = self._lines[0].text if self._lines else ""
        self._defines = lists or bool(term) or (is_term(first) and not _DEFINITION.match(first))
        # The label of an open list item by its indentation: what it says below that is said of it.
        self._labels: dict[int, str] = {}

    def units(self) -> Iterator[Unit]:
        at = 0
        while at < len(self._lines):
            line = self._lines[at]
            if not line.text:
                at += 1
            elif fence := _FENCE.match(line.text):
                at, unit = self._code(at, fence.group(1))
                yield from unit
            elif self._starts_table(at):
                at, rows = self._table(at)
                yield from rows
            else:
                at, units = self._paragraph(at)
                yield from units

    def _paragraph(self, at: int) -> tuple[int, list[Unit]]:
        first = self._lines[at]
        start, kind = first.start, self._enter(first)
        bullet = _BULLET.match(first.text) if kind == "item" else None
        if bullet is not None:
            self._task = _task(bullet.group(2) or "")
            self._quotes = first.quotes
            start += bullet.end()
        elif callout := _CALLOUT.match(first.text):
            start += callout.end()
        elif self._defines and (definition := _DEFINITION.match(first.text)):
            start += definition.end()
            kind = "item"
        end_at = at + 1
        while end_at < len(self._lines) and not self._interrupts(end_at):
            end_at += 1
        pieces = self._deliberate_lines(at, end_at, start)
        parents = self._parents()
        if kind == "item" and bullet is None and self._term:
            parents = (*parents, shorten(self._term))
        term = self._label_of(first, self._source[start : pieces[0][1]] if pieces else "", bullet)
        units = [
            Unit(
                kind=kind if n == 0 else "prose",
                start=a,
                end=b,
                parents=parents,
                task=self._task,
                term=term,
                ordinal=_ordinal(bullet) if n == 0 else None,
            )
            for n, (a, b) in enumerate(pieces)
        ]
        if units and kind == "prose" and self._is_defined(end_at):
            # A term alone says nothing.
            units[-1] = replace(units[-1], kind="heading")
        if first.quotes <= self._quotes:
            # What an item quotes says nothing of what stands below it.
            self._label(pieces)
        self._task = ""
        if kind == "prose" and pieces:
            self._term = self._told(pieces[-1])
        return end_at, units

    def _is_defined(self, end_at: int) -> bool:
        """Whether a definition follows at once."""
        return (
            self._defines
            and end_at < len(self._lines)
            and _DEFINITION.match(self._lines[end_at].text) is not None
        )

    def _enter(self, line: _Line) -> UnitKind:
        """Close the list items that this line is not inside of; open the one that it starts."""
        bullet = self._lists and _BULLET.match(line.text)
        while self._open and (line.indent <= self._open[-1][0]):
            self._open.pop()
        if not bullet:
            return "prose"
        self._open.append((line.indent, ""))
        return "item"

    def _label_of(self, first: _Line, source: str, bullet: re.Match[str] | None) -> str:
        """The term of a paragraph: its own, else that of the list item it stands in."""
        found = find_label(source, listed=bullet is not None)
        if bullet is not None:
            self._labels[first.indent] = found
        return found or (self._labels.get(self._open[-1][0], "") if self._open else "")

    def _parents(self) -> tuple[str, ...]:
        return tuple(label for _, label in self._open[:-1] if label)

    def _label(self, pieces: list[tuple[int, int]]) -> None:
        """The last paragraph of a list item says what stands below it."""
        if not self._open or not pieces:
            return
        text = self._told(pieces[-1])
        if len(text) > _PARENT_LENGTH and text.endswith((":", "：")):
            text = re.split(r"(?<=[.!?。！？])\s*", text)[-1] or text
            text = text if len(text) <= _PARENT_LENGTH else shorten(text).removesuffix(":") + ":"
        # What stands below a task is said of it as it is: to be done, done or given up.
        mark = f"[{self._task}] " if self._task else ""
        self._open[-1] = (self._open[-1][0], mark + shorten(text))

    def _told(self, span: tuple[int, int]) -> str:
        return shown(self._source[slice(*span)])

    def _interrupts(self, at: int) -> bool:
        line = self._lines[at]
        return (
            not line.text
            or _FENCE.match(line.text) is not None
            or (self._lists and _BULLET.match(line.text) is not None)
            or (self._defines and _DEFINITION.match(line.text) is not None)
            or _CALLOUT.match(self._lines[at - 1].text) is not None
            or self._starts_table(at)
        )

    def _deliberate_lines(self, at: int, end_at: int, start: int) -> list[tuple[int, int]]:
        """Spans of a paragraph, parted where its writer, not a line length, ended a line."""
        lines = self._lines[at:end_at]
        first = self._source[start : lines[0].start + len(lines[0].text)]
        ended = ended_lines([first, *(line.text for line in lines[1:])])
        spans: list[tuple[int, int]] = []
        told = start
        brackets = ticks = strikes = 0
        for (line, following), is_end in zip(pairwise(lines), ended, strict=True):
            end = line.start + len(line.text)
            more = _open_marks(self._source[told:end])
            brackets, ticks, strikes = brackets + more[0], ticks ^ more[1], strikes ^ more[2]
            told = end
            is_hard = self._source[end : end + 2] == "  " or _HARD_END.search(line.text)
            if (is_hard or is_end) and not (brackets or ticks or strikes):
                # The backslash of a hard line break is no word of the line.
                spans.append((start, end - line.text.endswith("\\")))
                start = told = following.start
        spans.append((start, lines[-1].start + len(lines[-1].text)))
        return [(a, b) for a, b in spans if self._source[a:b].strip()]

    def _code(self, at: int, mark: str) -> tuple[int, list[Unit]]:
        end_at = at + 1
        while end_at < len(self._lines) and not self._lines[end_at].text.startswith(mark):
            end_at += 1
        if end_at == at + 1:
            return end_at + 1, []
        last = self._lines[end_at - 1]
        span = self._lines[at + 1].start, last.start + len(last.text)
        return end_at + 1, [Unit(kind="code", start=span[0], end=span[1])]

    def _starts_table(self, at: int) -> bool:
        if at + 1 >= len(self._lines):
            return False
        head, rule = self._lines[at].text, self._lines[at + 1].text
        return "|" in head and "-" in rule and "|" in rule and bool(_DELIMITERS.match(rule))

    def _table(self, at: int) -> tuple[int, list[Unit]]:
        heads = split_cells(self._lines[at].text)
        end_at = at + 2
        units: list[Unit] = []
        while end_at < len(self._lines) and "|" in (text := self._lines[end_at].text):
            start = self._lines[end_at].start
            pairs = told_cells(heads, split_cells(text))
            units.append(Unit(kind="row", start=start, end=start + len(text), cells=pairs))
            end_at += 1
        if not units:
            head = self._lines[at]
            units = [Unit(kind="heading", start=head.start, end=head.start + len(head.text))]
        return end_at, units


def _task(box: str) -> str:
    """The mark of a task; "" for that of a remark, which themes show as an icon: `[!]`, `[i]`, `["]`."""
    is_remark = box in _REMARKS or (box.isalnum() and box not in _TASKS)
    return "" if is_remark else box


def _ordinal(bullet: re.Match[str] | None) -> int | None:
    mark = bullet.group(1)[:-1] if bullet is not None else ""
    return int(mark) if mark else None


def _lines(source: str) -> Iterator[_Line]:
    at = 0
    for raw in split_lines(source):
        mark = _QUOTE.match(raw)
        body = raw[mark.end() if mark else 0 :]
        text = body.strip()
        # A quote in a list item stands where its mark does.
        before = raw[: len(raw) - len(raw.lstrip(" \t"))] if mark else ""
        indent = len((before + body[: len(body) - len(body.lstrip())]).expandtabs(4))
        quotes = mark.group().count(">") if mark else 0
        yield _Line(at + raw.find(text, mark.end() if mark else 0), text, indent, quotes)
        at += len(raw)


def _open_marks(text: str) -> tuple[int, int, int]:
    """How many brackets, backticks and strikes of a text have no partner in it."""
    return text.count("[") - text.count("]"), text.count("`") % 2, text.count("~~") % 2


def _fence(source: str) -> Unit:
    lines = split_lines(source)
    opens = bool(lines) and bool(_FENCE.match(lines[0].lstrip(" >")))
    closes = len(lines) > 1 and bool(_FENCE.match(lines[-1].lstrip(" >")))
    start = len(lines[0]) if opens else 0
    end = len(source) - (len(lines[-1]) if opens and closes else 0)
    if not source[start:end].strip():
        return Unit(kind="code", start=0, end=len(source))
    return Unit(kind="code", start=start, end=end)
