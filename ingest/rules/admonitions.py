"""Which lines of a note stand in a callout or container whose kind says that they matter.

Callouts (`> [!warning]`, `> **Warning**`), admonitions (`!!! danger`), containers (`:::caution`) and tags of their own
line (`<Pitfall>`). Their kinds are words of `importance.toml`; what a line is worth is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ingest.markdown.markup import split_lines
from recalld.records import Block, BlockKind

# Deeper than people nest.
_NESTING_LIMIT = 40
# Nothing that these hold opens a callout.
_CLOSED = (BlockKind.FRONT_MATTER, BlockKind.FENCE, BlockKind.COMMENT, BlockKind.MATH)
_BULLET = r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?"
_QUOTES = re.compile(rf"{_BULLET}(?P<marks>(?:>[ \t]?)*)")
_CALLOUT = re.compile(r"[ \t]*\[!(?P<kind>[^\]\n|]{1,60})")
# As it was written before there were callouts: a bold word that is all of a quote's first line.
_BOLD = re.compile(r"[ \t]*(?:\*\*|__)(?P<kind>[^*_\n]{1,60}?)[:：!！]?(?:\*\*|__)[:：!！]?[ \t]*$")
_FENCED = re.compile(
    r"[ \t>]*(?P<marks>:{3,})[ \t]*\{?[ \t]*(?P<kind>[^\W\d][\w-]*)(?!.*:::[ \t]*$)"
)
_FENCE_END = re.compile(r"[ \t>]*(?P<marks>:{3,})[ \t]*$")
_INDENTED = re.compile(
    rf"(?P<indent>{_BULLET})(?:!!!|\?\?\?)\+?[ \t]*[\"']?(?P<kind>[^\W\d][\w-]*)"
)
_TAG = re.compile(r"[ \t>]*<(?P<end>/?)(?P<kind>[A-Z][A-Za-z]{1,40})(?:[ \t][^<>]*)?>[ \t]*$")


@dataclass(frozen=True, slots=True)
class _Open:
    """A container that still waits for its end."""

    kind: str
    # Of `:::` how many colons it has; 0 for a tag.
    width: int
    line: int
    block_end: int


def lines_of_kinds(blocks: tuple[Block, ...], kinds: frozenset[str]) -> set[int]:
    """The lines, as the note counts them, that stand in a callout or container of one of these kinds.

    A container that is never closed ends with the block that opens it.

    Args:
        blocks: All of a note, in order.
        kinds: In small letters.
    """
    found: set[int] = set()
    for first, last in (
        *_quoted(blocks, kinds),
        *_contained(blocks, kinds),
        *_indented(blocks, kinds),
    ):
        found.update(range(first, last + 1))
    return found


def _lines(block: Block) -> Iterator[tuple[int, str]]:
    """The lines of a block that may open or close something, each with its number in the note."""
    if block.kind not in _CLOSED:
        yield from enumerate(split_lines(block.text), block.lines.first)


def _quoted(blocks: tuple[Block, ...], kinds: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Callouts: to the end of their quote; one that is a block of its own takes all of it."""
    for block in blocks:
        if block.kind is BlockKind.CALLOUT and block.info in kinds:
            yield block.lines.first, block.lines.last
            continue
        opened: list[tuple[int, int]] = []
        before = 0
        number = block.lines.first
        for number, line in _lines(block):
            quotes = _QUOTES.match(line)
            depth = quotes["marks"].count(">") if quotes else 0
            while opened and depth < opened[-1][0]:
                yield opened.pop()[1], number - 1
            if quotes and depth > before and _opens(line.rstrip()[quotes.end() :], kinds):
                opened.append((depth, number))
            before = depth
        for _, first in opened:
            yield first, number


def _opens(line: str, kinds: frozenset[str]) -> bool:
    found = _CALLOUT.match(line) or _BOLD.match(line)
    return found is not None and "-".join(found["kind"].lower().split()) in kinds


def _contained(blocks: tuple[Block, ...], kinds: frozenset[str]) -> Iterator[tuple[int, int]]:
    """`:::warning` to `:::`, and `<Pitfall>` to `</Pitfall>`, over blocks."""
    opened: list[_Open] = []
    for block in blocks:
        for number, line in _lines(block):
            ended = _ended(opened, line.rstrip())
            if ended is not None:
                closed, opened = opened[ended], opened[:ended]
                if closed.kind in kinds:
                    yield closed.line, number
            elif len(opened) < _NESTING_LIMIT:
                opened += _opened(line.rstrip(), number, block, kinds)
    for one in opened:
        if one.kind in kinds:
            yield one.line, one.block_end


def _opened(line: str, number: int, block: Block, kinds: frozenset[str]) -> tuple[_Open, ...]:
    """The container that a line opens. `:::` ends any kind; a tag ends its own, so only some matter."""
    fenced, tag = _FENCED.match(line), _TAG.match(line)
    if fenced:
        kind, width = fenced["kind"].lower(), len(fenced["marks"])
    elif tag and not tag["end"] and tag["kind"].lower() in kinds:
        kind, width = tag["kind"].lower(), 0
    else:
        return ()
    return (_Open(kind=kind, width=width, line=number, block_end=block.lines.last),)


def _ended(opened: list[_Open], line: str) -> int | None:
    """Which of the open containers a line ends, the innermost that fits; None when it ends none."""
    fence, tag = _FENCE_END.match(line), _TAG.match(line)
    for at in reversed(range(len(opened))):
        one = opened[at]
        if fence and one.width and len(fence["marks"]) >= one.width:
            return at
        if tag and tag["end"] and not one.width and one.kind == tag["kind"].lower():
            return at
    return None


def _indented(blocks: tuple[Block, ...], kinds: frozenset[str]) -> Iterator[tuple[int, int]]:
    """`!!! danger` and what stands deeper below it, over blocks, which a blank line parts."""
    first = last = 0
    indent = -1
    for block in blocks:
        can_open = block.kind not in _CLOSED
        for number, line in enumerate(split_lines(block.text), block.lines.first):
            if not line.strip():
                continue
            if first and _depth(line) <= indent:
                yield first, last
                first = 0
            found = _INDENTED.match(line) if can_open and not first else None
            if found and found["kind"].lower() in kinds:
                first, indent = number, len(found["indent"].expandtabs(4))
            last = number
    if first:
        yield first, last


def _depth(line: str) -> int:
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
