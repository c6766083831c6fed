"""What a reader sees of HTML, and where in it something of its own begins: a paragraph, an item, a cell.

It keeps the lines of its source, and must not know of blocks or facts.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field

Span = tuple[int, int]

_HIDDEN = re.compile(
    r"<(script|style)\b[^>]*>.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)"
    r"|<(?:del|s|strike)(?:\s[^<>]*)?>(?:[^<]|<(?!/?(?:del|s|strike)\b)){0,2000}</(?:del|s|strike)\s*>",
    re.DOTALL | re.IGNORECASE,
)
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z!][\w-]*)[^<>]*(?:>|\Z)")
_ALT = re.compile(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_SPANNING = re.compile(r"\s(?:col|row)span\s*=", re.IGNORECASE)
_GAP = re.compile(r"[ \t]{2,}")
# The reader sees no line end where the source has none.
_LINE_ENTITY = re.compile(r"&(?:#0*1[03]|#[xX]0*[aAdD]|NewLine);")
# Unescaped it would be taken for a tag by those who read on.
_LESS = re.compile(r"&lt;(?=/?[A-Za-z]|\Z)")
_INLINE = frozenset(
    """
    a abbr acronym b bdi bdo big cite code data dfn em font i ins kbd mark q samp small span strong sub sup time tt u
    var wbr
    """.split()  # noqa: SIM905 - a word list is read more easily as text
)
_BORDERS = frozenset(
    """
    address article aside blockquote body br caption center col colgroup dd details div dl dt fieldset figcaption
    figure footer form h1 h2 h3 h4 h5 h6 head header hr html legend li main nav ol optgroup option p pre section
    select summary table tbody td tfoot th thead title tr ul
    """.split()  # noqa: SIM905 - a word list is read more easily as text
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a table. Its spans lie in the visible text, as all here."""

    span: Span
    # Each cell below its head, in order.
    cells: tuple[tuple[Span, Span], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Visible:
    """HTML as a reader sees it."""

    # It has as many lines as the source.
    text: str
    # Where a paragraph, heading, item, cell or line begins or ends, in order.
    borders: tuple[int, ...]
    # Those that have heads, or are one; no row of a table with cells over several columns or tables in it.
    rows: tuple[Row, ...]
    # The rows of heads.
    heads: tuple[Span, ...]


def visible_text(text: str) -> str:
    """What a reader sees of HTML, with as many lines as the source has.

    Scripts, styles, comments and what is struck out are gone; the words of `alt` attributes stay.
    """
    return read_html(text).text


def read_html(text: str) -> Visible:
    """HTML as `visible_text` gives it, with its borders and the rows of its tables."""
    text = _HIDDEN.sub(lambda m: "\n" * m.group().count("\n"), text)
    page = _Page()
    at = 0
    for tag in _TAG.finditer(text):
        page.say(_unescaped(text[at : tag.start()]))
        page.mark(tag)
        at = tag.end()
    page.say(_unescaped(text[at:]))
    return page.read()


def _unescaped(text: str) -> str:
    if "&" not in text:
        return text
    return html.unescape(_LESS.sub("&amp;lt;", _LINE_ENTITY.sub(" ", text)))


@dataclass(slots=True)
class _Cell:
    start: int
    end: int
    is_head: bool


@dataclass(slots=True)
class _Table:
    rows: list[list[_Cell]] = field(default_factory=list)
    # Whether the head of a cell can't be told from its place.
    is_mixed: bool = False


class _Page:
    """What was seen so far."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._ends_blank = False
        self._borders: list[int] = []
        self._depth = 0
        self._tables: list[_Table] = []
        self._cell: _Cell | None = None

    def say(self, text: str) -> None:
        """Words, or the space between them."""
        text = _GAP.sub(" ", text)
        if self._ends_blank:
            text = text.lstrip(" \t")
        if text:
            self._parts.append(text)
            self._length += len(text)
            self._ends_blank = text[-1] in " \t"

    def mark(self, tag: re.Match[str]) -> None:
        """A tag: inside a word or sentence, between two, or a picture."""
        name, source = tag["name"].lower(), tag.group()
        is_border = name in _BORDERS
        if is_border:
            self._end_at_border(name, is_end=bool(tag["end"]))
        if name in _INLINE:
            self.say("\n" * source.count("\n"))
        else:
            words = " ".join(filter(None, (a or b for a, b in _ALT.findall(source))))
            self.say(f" {words} " + "\n" * (source.count("\n") - words.count("\n")))
        if is_border:
            self._borders.append(self._length)
            self._begin_at_border(name, source, is_end=bool(tag["end"]))

    def read(self) -> Visible:
        """All of it, once it was seen."""
        self._close()
        rows: list[Row] = []
        heads: list[Span] = []
        for table in self._tables:
            if not table.is_mixed:
                found, head = _told_rows([row for row in table.rows if row])
                rows += found
                heads += head
        return Visible(
            text="".join(self._parts),
            borders=tuple(self._borders),
            rows=tuple(rows),
            heads=tuple(heads),
        )

    def _end_at_border(self, name: str, *, is_end: bool) -> None:
        if name in ("td", "th", "tr", "table") and self._depth == 1:
            self._close()
        if name == "table" and is_end:
            self._depth = max(self._depth - 1, 0)

    def _begin_at_border(self, name: str, source: str, *, is_end: bool) -> None:
        if is_end:
            return
        if name == "table":
            self._depth += 1
            if self._depth == 1:
                self._tables.append(_Table())
        if not self._depth:
            return
        table = self._tables[-1]
        table.is_mixed |= self._depth > 1 or _SPANNING.search(source) is not None
        if name == "tr":
            table.rows.append([])
        elif name in ("td", "th") and table.rows:
            self._cell = _Cell(start=self._length, end=self._length, is_head=name == "th")

    def _close(self) -> None:
        """The open cell ends here."""
        if self._cell is not None:
            self._cell.end = self._length
            self._tables[-1].rows[-1].append(self._cell)
            self._cell = None


def _told_rows(rows: list[list[_Cell]]) -> tuple[list[Row], list[Span]]:
    """Rows below a row of heads, or with a head and a cell each; and the row of heads."""
    if len(rows) > 1 and len(rows[0]) > 1 and all(cell.is_head for cell in rows[0]):
        heads = [(cell.start, cell.end) for cell in rows[0]]
        if all(len(row) <= len(heads) for row in rows[1:]):
            return [_row(heads, row) for row in rows[1:]], [(heads[0][0], heads[-1][1])]
    if all([cell.is_head for cell in row] == [True, False] for row in rows):
        return [
            Row(
                span=(head.start, cell.end),
                cells=(((head.start, head.end), (cell.start, cell.end)),),
            )
            for head, cell in rows
        ], []
    return [], []


def _row(heads: list[Span], cells: list[_Cell]) -> Row:
    spans = [(cell.start, cell.end) for cell in cells]
    return Row(span=(spans[0][0], spans[-1][1]), cells=tuple(zip(heads, spans, strict=False)))
