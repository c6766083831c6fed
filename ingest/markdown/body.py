"""What a note's body says beside its blocks: private parts, prose with its links and tags, problems.

The block rules hand it leaf after leaf while they run. It maps the offsets of a leaf, which has lost the marks of its
quotes and lists, back to the note's own lines. It knows no Markdown parser.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ingest.markdown.inline import Span, blank, find_tags, scan_text
from ingest.markdown.links import find_links
from ingest.markdown.private import PrivateMarks
from recalld.records import NoteLink, Problem

_CODE_TAG = re.compile(r"\s*<(?:pre|script|style|textarea|code)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Leaf:
    """Lines of a leaf block as the parser sees them, without the marks of the containers round them."""

    text: str
    # Where each of its lines begins: in `text`, and in the source.
    starts: tuple[int, ...]
    origins: tuple[int, ...]

    def origin(self, offset: int) -> int:
        """The offset in the source of an offset in `text`."""
        line = bisect_right(self.starts, offset) - 1
        return self.origins[line] + offset - self.starts[line]

    def origin_spans(self, start: int, end: int) -> Iterator[Span]:
        """The source spans of a span in `text`, one a line, line ends left out."""
        for line in range(bisect_right(self.starts, start) - 1, bisect_right(self.starts, end)):
            line_end = self.starts[line + 1] - 1 if line + 1 < len(self.starts) else len(self.text)
            first, last = max(start, self.starts[line]), min(end, line_end)
            if first < last:
                shift = self.origins[line] - self.starts[line]
                yield first + shift, last + shift


@dataclass(frozen=True, slots=True)
class _Prose:
    """Running text of one leaf, with the code spans in it."""

    first: int
    leaf: Leaf
    code: tuple[Span, ...]
    is_heading: bool


class Body:
    """What is gathered while the parser runs over a note's body; lines are counted from the body's start, from 0."""

    def __init__(self, lines: Sequence[str], lines_before: int) -> None:
        self.lines = lines
        self.lines_before = lines_before
        self.source = "\n".join(lines)
        self.marks = PrivateMarks(self.source)
        self.problems: list[Problem] = []
        # Lines that a rule has read, and those among all that hold no prose: code, math, HTML, private parts.
        self._read = bytearray(len(lines))
        self.opaque = bytearray(len(lines))
        self.references: Mapping[str, str] = {}
        # Where the last private part that goes on below its leaf ends.
        self.hidden_until = 0
        self._prose: list[_Prose] = []
        self._hidden: dict[int, list[Span]] = {}
        self._starts: list[int] = []
        start = 0
        for line in lines:
            self._starts.append(start)
            start += len(line) + 1

    def line_at(self, offset: int) -> int:
        """The index of the line that holds an offset of the source."""
        return bisect_right(self._starts, offset) - 1

    def line_leaf(self, line: int) -> Leaf:
        """A line as a leaf of its own."""
        return Leaf(self.lines[line], (0,), (self._starts[line],))

    def hide(self, start: int, end: int) -> None:
        """Marks a span of the source as private; it may span lines."""
        for line in range(self.line_at(start), self.line_at(max(start, end - 1)) + 1):
            begin = self._starts[line]
            span = (max(start - begin, 0), min(end - begin, len(self.lines[line])))
            self._hidden.setdefault(line, []).append(span)

    def report(self, line: int, kind: str, message: str) -> None:
        """Adds a problem at a line index."""
        number = self.lines_before + line + 1
        self.problems.append(Problem(line=number, kind=kind, message=message))

    def mark_read(self, first: int, stop: int) -> None:
        """Notes that a rule has read the lines from `first` to before `stop`."""
        self._read[first:stop] = b"\1" * (stop - first)

    def mark_opaque(self, first: int, stop: int) -> None:
        """Notes that the lines from `first` to before `stop` hold no prose."""
        self.mark_read(first, stop)
        self.opaque[first:stop] = b"\1" * (stop - first)

    def hide_open(self, at: int) -> int | None:
        """Hides the private part that begins at an offset; gives its end, or None when nothing is hidden.

        An unclosed one is reported, and hides down to the next blank line. The end may lie behind the quote or list
        that the part begins in: what the author hid matters more than where.
        """
        end = self.marks.find_end(at)
        if end is None:
            if not self.marks.hides_unclosed(at):
                return None
            message = "A comment is never closed; it hides the text down to the next blank line."
            self.report(self.line_at(at), "comment.unclosed", message)
            end = self.marks.next_blank(at) - 1
        self.hide(at, end)
        self.hidden_until = max(self.hidden_until, end)
        return end

    def add_leaf(
        self, leaf: Leaf, *, first: int, is_heading: bool = False, is_table_row: bool = False
    ) -> tuple[int, ...]:
        """Reads a leaf's text; gives the source offsets of private parts that do not end in it."""
        scan = scan_text(leaf.text, is_table_row=is_table_row)
        for span in scan.private:
            for start, end in leaf.origin_spans(*span):
                self.hide(start, end)
        self._prose.append(_Prose(first, leaf, scan.code, is_heading))
        return tuple(leaf.origin(at) for at in scan.open_at)

    def add_html(self, leaf: Leaf) -> tuple[int, ...]:
        """Reads an HTML block: its comments are private, and so is `%%…%%` where it is not code."""
        scan = scan_text(leaf.text, has_code_spans=False)
        is_code = _CODE_TAG.match(leaf.text) is not None
        for span in scan.private:
            if leaf.text[span[0]] == "<" or not is_code:
                for start, end in leaf.origin_spans(*span):
                    self.hide(start, end)
        opened = (at for at in scan.open_at if leaf.text[at] == "<" or not is_code)
        return tuple(leaf.origin(at) for at in opened)

    def read_rest(self, definitions: AbstractSet[int]) -> None:
        """Reads the lines that no rule has read: reference definitions, and what is nested too deep for the parser."""
        for index, line in enumerate(self.lines):
            if self._read[index] or not line.strip(" \t"):
                continue
            leaf = self.line_leaf(index)
            is_definition = index in definitions
            for at in self.add_html(leaf) if is_definition else self.add_leaf(leaf, first=index):
                self.hide_open(at)

    def shown_lines(self) -> list[str]:
        """The lines without their private parts."""
        shown = list(self.lines)
        for index, spans in self._hidden.items():
            line, kept, end = self.lines[index], [], 0
            for start, stop in sorted(spans):
                kept.append(line[end : max(start, end)])
                end = max(end, stop)
            shown[index] = "".join((*kept, line[end:]))
        return shown

    def read_prose(self) -> tuple[tuple[NoteLink, ...], list[tuple[int, str]]]:
        """The links and the tags of all prose, in the note's order, as written: secrets are still in them.

        A tag comes with its line in the note.
        """
        links: list[NoteLink] = []
        tags: list[tuple[int, str]] = []
        for prose in sorted(self._prose, key=lambda p: p.first):
            number = self.lines_before + prose.first + 1
            visible = blank(prose.leaf.text, (*prose.code, *self._hidden_in(prose)))
            found, rest = find_links(visible, first_line=number, references=self.references)
            links += found
            if not prose.is_heading:
                lines = enumerate(rest.split("\n"), number)
                tags += [(line, tag) for line, text in lines for tag in find_tags(text)]
        return tuple(links), tags

    def _hidden_in(self, prose: _Prose) -> Iterator[Span]:
        """The spans of a leaf's text that are private, whichever rule found them so."""
        leaf = prose.leaf
        for index, (start, origin) in enumerate(zip(leaf.starts, leaf.origins, strict=True)):
            line = prose.first + index
            shift = self._starts[line] - origin + start
            for first, last in self._hidden.get(line, ()):
                if last + shift > start:
                    yield max(first + shift, start), last + shift
