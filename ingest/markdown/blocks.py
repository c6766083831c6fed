"""A note's text as blocks, links, tags and problems.

The only module that knows the Markdown parser. Block structure comes from it; private parts are found while it runs,
because they decide what is a block, and code decides what is private. Running text is read elsewhere (`inline`,
`links`), and nothing here knows of files or of the store.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, heading, html_block, lheading, paragraph, table
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

from ingest.markdown.body import Body, Leaf
from ingest.markdown.front_matter import read_front_matter
from ingest.markdown.inline import strip_markup
from ingest.markdown.links import find_links, reference_key
from ingest.redaction import MASK, cut_payloads, drop_controls, redact
from recalld.records import Block, BlockKind, Lines, NoteLink, ParsedNote

_Rule = Callable[[StateBlock, int, int, bool], bool]

# Deeper than people nest, and far from Python's recursion limit.
_NESTING_LIMIT = 40
_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n)|[^\r\n]++")
_CALLOUT = re.compile(r"[ \t]*>[ \t]*\[!([^\]\n]{1,100})\]")
_BLOCK_ID = re.compile(r"(?:(?<=[ \t])|^[ \t>]*)\^[A-Za-z0-9-]+[ \t]*$")
_ATX = re.compile(r"[ \t]*#{1,6}(?:[ \t]+|$)")
_ATX_END = re.compile(r"(?:^|(?<=[ \t]))#+[ \t]*$")

_KINDS = {
    "heading_open": BlockKind.HEADING,
    "paragraph_open": BlockKind.PARAGRAPH,
    "list_item_open": BlockKind.LIST_ITEM,
    "table_open": BlockKind.TABLE,
    "fence": BlockKind.FENCE,
    "code_block": BlockKind.FENCE,
    "blockquote_open": BlockKind.QUOTE,
    "footnote_reference_open": BlockKind.FOOTNOTE,
    "html_block": BlockKind.HTML,
    "private": BlockKind.COMMENT,
    "math": BlockKind.MATH,
    "hr": BlockKind.RULE,
    "definition": BlockKind.DEFINITION,
}
# Tokens whose lines hold no running text.
_OPAQUE = ("fence", "code_block", "html_block", "private", "math", "hr")
_INTERRUPTED = ["paragraph", "reference", "blockquote", "list"]
_ANY_LINE_HAS_ID = (BlockKind.LIST_ITEM, BlockKind.QUOTE, BlockKind.CALLOUT)
_LAST_LINE_HAS_ID = (BlockKind.PARAGRAPH, BlockKind.FOOTNOTE, BlockKind.TABLE)


def parse_note(text: str) -> ParsedNote:
    """The note as blocks that tile it, with its links, tags and problems.

    A line ends at LF, CRLF or CR, as in editors, and nowhere else. The blocks' raw texts, joined, are `text`; in a
    block's own `text` every line ends with LF where the raw one has an end. Never raises, whatever the text.
    """
    raw_lines = _LINE.findall(text)
    lines = _clean_lines(raw_lines)
    header = read_front_matter(lines)
    body = Body(lines[header.line_count :], header.line_count)
    tokens = _parse(body)
    # In one piece, because a secret may lie across blocks.
    visible = [*lines[: header.line_count], *body.shown_lines()]
    shown = redact("\n".join(visible))[0].split("\n")
    masked = _Masked(visible, shown)
    blocks = tuple(_iter_blocks(tokens, raw_lines, shown, body))
    links, tags = body.read_prose()
    # Properties link too: `author: "[[Kevin Kelly]]"`.
    head_links, _ = find_links("\n".join(lines[: header.line_count]), first_line=1, references={})
    return ParsedNote(
        title=masked.of(header.title) or _find_title(blocks),
        date=header.date,
        tags=_distinct(map(masked.of, (*header.tags, *tags))),
        aliases=tuple(map(masked.of, header.aliases)),
        blocks=blocks,
        links=tuple(map(masked.link, (*head_links, *links))),
        problems=tuple(sorted((*header.problems, *body.problems), key=lambda p: p.line)),
    )


def _clean_lines(raw_lines: Sequence[str]) -> list[str]:
    """The lines without their ends, without payloads and control characters; as many as before."""
    bare = "\n".join(line.rstrip("\r\n") for line in raw_lines)
    return drop_controls(cut_payloads(bare)).split("\n") if raw_lines else []


class _Masked:
    """What was read beside the blocks, without the secrets that are masked in the text."""

    def __init__(self, visible: Sequence[str], shown: Sequence[str]) -> None:
        # Splitting gives an empty text one line.
        changed = [pair for pair in zip(visible, shown, strict=False) if pair[0] != pair[1]]
        self._written = unquote("\n".join(before for before, _ in changed))
        self._left = unquote("\n".join(shown)) if changed else ""

    def of(self, value: str) -> str:
        """The value; the mask where its line shows it no more, as behind `password:`."""
        clean = redact(value)[0]
        is_gone = bool(clean) and clean in self._written and clean not in self._left
        return MASK if is_gone else clean

    def link(self, link: NoteLink) -> NoteLink:
        """The link with its target, fragment and label so."""
        target, fragment, label = map(self.of, (link.target, link.fragment, link.label))
        return replace(link, target=target, fragment=fragment, label=label)


def _distinct(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags as first written; they are the same in any case."""
    first: dict[str, str] = {}
    for tag in tags:
        first.setdefault(tag.casefold(), tag)
    return tuple(first.values())


# ---------------------------------------------------------------- reading the body


def _parse(body: Body) -> list[Token]:
    """Runs the parser over the body; gives its block tokens."""
    tokens = _markdown().parse(body.source, {"body": body})
    body.references = {
        reference_key(str(token.meta["label"])): str(token.meta["url"])
        for token in reversed(tokens)
        if token.type == "definition"
    }
    for token in tokens:
        if token.map and token.type in _OPAQUE:
            body.mark_opaque(*token.map)
            if token.type == "fence" and not _is_closed(token, body):
                body.report(token.map[0], "fence.unclosed", "A code fence is never closed.")
    definitions = {
        line
        for token in tokens
        if token.type == "definition" and token.map
        for line in range(*token.map)
    }
    body.read_rest(definitions)
    return tokens


def _is_closed(token: Token, body: Body) -> bool:
    first, stop = token.map or (0, 0)
    last = body.lines[stop - 1].lstrip(" \t>").rstrip(" \t")
    return stop - 1 > first and len(last) >= len(token.markup) and not last.strip(token.markup[0])


# ---------------------------------------------------------------- rules for the Markdown parser


@cache
def _markdown() -> MarkdownIt:
    """The parser: CommonMark's blocks, tables, footnotes, private parts and math; inline text is left alone."""
    options = {"html": True, "maxNesting": _NESTING_LIMIT, "inline_definitions": True}
    markdown = MarkdownIt("commonmark", options).use(
        footnote_plugin, inline=False, move_to_end=False
    )
    markdown.enable("table")
    markdown.core.ruler.enableOnly(["normalize", "block"])
    ruler = markdown.block.ruler
    ruler.before("table", "private", _private_block, {"alt": _INTERRUPTED})
    ruler.before("fence", "math", _math_block, {"alt": _INTERRUPTED})
    # The parser's own rules keep their `alt` lists: what they may interrupt.
    ruler.at("table", _reading(table, _read_table), {"alt": _INTERRUPTED[:2]})
    ruler.at("html_block", _reading(_html_block, _read_html), {"alt": _INTERRUPTED[:3]})
    ruler.at("heading", _reading(heading, _read_heading), {"alt": _INTERRUPTED[:3]})
    ruler.at("lheading", _reading(lheading, _read_heading))
    ruler.at("paragraph", _reading(paragraph, _read_paragraph))
    # A ruler fills its table of rules on first use, unguarded: two threads would see it half full.
    ruler.getRules("")
    markdown.core.ruler.getRules("")
    return markdown


def _body_of(state: StateBlock) -> Body:
    body: Body = state.env["body"]
    return body


def _reading(rule: _Rule, read: Callable[[StateBlock, int, int], tuple[int, ...]]) -> _Rule:
    """The rule, with its lines read when it takes them.

    A private part that is still open at the end of the leaf goes on below it, whatever stands there.
    """

    def rule_that_reads(state: StateBlock, start: int, end: int, silent: bool) -> bool:
        if not rule(state, start, end, silent):
            return False
        if not silent:
            body = _body_of(state)
            stop = state.line
            body.mark_read(start, stop)
            for at in read(state, start, stop):
                private_end = body.hide_open(at)
                if private_end is not None:
                    _skip_to(state, private_end, end)
        return True

    return rule_that_reads


def _leaf(state: StateBlock, start: int, stop: int) -> Leaf:
    pieces: list[str] = []
    starts: list[int] = []
    offset = 0
    origins = state.bMarks[start:stop]
    for origin, end in zip(origins, state.eMarks[start:stop], strict=True):
        starts.append(offset)
        pieces.append(state.src[origin:end])
        offset += end - origin + 1
    return Leaf("\n".join(pieces), tuple(starts), tuple(origins))


def _read_paragraph(state: StateBlock, start: int, stop: int) -> tuple[int, ...]:
    return _body_of(state).add_leaf(_leaf(state, start, stop), first=start)


def _read_heading(state: StateBlock, start: int, stop: int) -> tuple[int, ...]:
    return _body_of(state).add_leaf(_leaf(state, start, stop), first=start, is_heading=True)


def _read_html(state: StateBlock, start: int, stop: int) -> tuple[int, ...]:
    return _body_of(state).add_html(_leaf(state, start, stop))


def _read_table(state: StateBlock, start: int, stop: int) -> tuple[int, ...]:
    """Row by row: no code span goes from one row to the next."""
    body = _body_of(state)
    opened: tuple[int, ...] = ()
    for line in range(start, stop):
        leaf = _leaf(state, line, line + 1)
        opened = body.add_leaf(leaf, first=line, is_table_row=True) or opened
    return opened


def _html_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """HTML blocks but comments, which are private."""
    at = state.bMarks[start] + state.tShift[start]
    return not state.src.startswith("<!--", at) and html_block(state, start, end, silent)


def _private_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A private part that begins a block: hidden, and a block of its own when nothing follows on its last line."""
    at = state.bMarks[start] + state.tShift[start]
    body = _body_of(state)
    if at < body.hidden_until and not silent:
        # It began in a container that ends above.
        return _skip_to(state, body.hidden_until, end)
    if not state.src.startswith(("<!--", "%%"), at) or state.is_code_block(start):
        return False
    if silent:
        return _interrupts(state, body, start, at)
    while state.src.startswith(("<!--", "%%"), at):
        private_end = body.hide_open(at)
        if private_end is None:
            return False
        state.line = start
        if _skip_to(state, private_end, end):
            return True
        at = state.bMarks[start] + state.tShift[start]
    return False


def _interrupts(state: StateBlock, body: Body, start: int, at: int) -> bool:
    """Whether a private part ends the paragraph above it; within one line amid a paragraph it is part of it."""
    line_end = state.eMarks[start]
    private_end = body.marks.find_end(at)
    if state.src[at] == "%":
        return private_end is not None and state.src[at:line_end].rstrip(" \t") == "%%"
    if private_end is None or private_end > line_end:
        return True
    return not state.src[private_end:line_end].strip(" \t")


def _skip_to(state: StateBlock, private_end: int, end: int) -> bool:
    """Moves the parser behind a private part, with a token for the whole lines that it takes.

    Args:
        state: Its line is the first that may be skipped.
        private_end: The offset behind the private part; text may follow on its line.
        end: The line at which the container ends, where the move ends too.

    Returns:
        Whether the parser moved on by a line.
    """
    first, last = state.line, _body_of(state).line_at(private_end - 1)
    if last < first:
        return False
    stop = min(last + 1, end)
    if last < end and state.src[private_end : state.eMarks[last]].strip(" \t"):
        _move_start(state, last, private_end)
        stop = last
    if stop == first:
        return False
    state.push("private", "", 0).map = [first, stop]
    state.line = stop
    return True


def _move_start(state: StateBlock, line: int, offset: int) -> None:
    """Makes a line begin at an offset, at the indent of the container it stands in."""
    rest = state.src[offset : state.eMarks[line]]
    state.bMarks[line] = offset
    state.tShift[line] = len(rest) - len(rest.lstrip(" \t"))
    state.sCount[line] = state.blkIndent


def _math_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """`$$` at the start of a line, to the line that ends in `$$`."""
    at = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith("$$", at) or state.is_code_block(start):
        return False
    first_end = state.eMarks[start]
    if (
        state.src[at:first_end].rstrip(" \t").endswith("$$")
        and len(state.src[at:first_end].rstrip(" \t")) > 3
    ):
        last = start
    else:
        ends = _math_ends(state)
        index = bisect_right(ends, start)
        if index == len(ends) or ends[index] >= end:
            return False
        last = ends[index]
        if state.blkIndent and _leaves_container(state, start + 1, last + 1):
            return False
    if not silent:
        state.push("math", "", 0).map = [start, last + 1]
        state.line = last + 1
    return True


def _leaves_container(state: StateBlock, first: int, stop: int) -> bool:
    lines = range(first, stop)
    return any(state.sCount[n] < state.blkIndent and not state.isEmpty(n) for n in lines)


def _math_ends(state: StateBlock) -> list[int]:
    """The lines that end in `$$`, found once a note."""
    found = state.env.get("math_ends")
    if not isinstance(found, list):
        lines = enumerate(_body_of(state).lines)
        found = [index for index, line in lines if line.rstrip(" \t").endswith("$$")]
        state.env["math_ends"] = found
    return found


# ---------------------------------------------------------------- building the blocks


@dataclass(frozen=True, slots=True)
class _Extent:
    """A block's kind and lines, counted from the body's start; `stop` is not included."""

    kind: BlockKind
    first: int
    stop: int
    info: str = ""
    level: int = 0


def _iter_blocks(
    tokens: Iterable[Token], raw_lines: Sequence[str], shown: Sequence[str], body: Body
) -> Iterator[Block]:
    headings: list[tuple[int, str]] = []
    if body.lines_before:
        header = _Extent(BlockKind.FRONT_MATTER, -body.lines_before, 0)
        yield _build(header, raw_lines, shown, body, ())
    for extent in _iter_extents(tokens, body):
        if extent.kind is BlockKind.HEADING:
            headings = [above for above in headings if above[0] < extent.level]
        path = tuple(text for _, text in headings)
        block = _build(extent, raw_lines, shown, body, path)
        if extent.kind is BlockKind.HEADING:
            headings.append((extent.level, _heading_text(block)))
        yield block


def _build(
    extent: _Extent,
    raw_lines: Sequence[str],
    shown: Sequence[str],
    body: Body,
    heading_path: tuple[str, ...],
) -> Block:
    first, stop = extent.first + body.lines_before, extent.stop + body.lines_before
    raw = raw_lines[first:stop]
    texts = _without_ids(extent, shown[first:stop], body)
    ends = ("\n" if line.endswith(("\n", "\r")) else "" for line in raw)
    return Block(
        kind=extent.kind,
        lines=Lines(first=first + 1, last=stop),
        raw="".join(raw),
        text="".join(text + end for text, end in zip(texts, ends, strict=True)),
        heading_path=heading_path,
        info=extent.info,
        level=extent.level,
    )


def _without_ids(extent: _Extent, texts: Sequence[str], body: Body) -> Sequence[str]:
    """The block's lines without Obsidian's block ids (`^abc123`)."""
    last = len(texts) - 1
    if extent.kind in _LAST_LINE_HAS_ID:
        return [*texts[:last], _BLOCK_ID.sub("", texts[last])]
    if extent.kind not in _ANY_LINE_HAS_ID:
        return texts
    return [
        text if body.opaque[index] or "^" not in text else _BLOCK_ID.sub("", text)
        for index, text in enumerate(texts, extent.first)
    ]


def _iter_extents(tokens: Iterable[Token], body: Body) -> Iterator[_Extent]:
    """The blocks in order, without a gap: what no token takes is blank, or else a paragraph."""
    position = 0
    for extent in _iter_token_extents(tokens, body):
        stop = extent.stop
        while stop > extent.first and not body.lines[stop - 1].strip(" \t"):
            stop -= 1
        first = max(extent.first, position)
        if stop > first:
            yield from _iter_gap(body.lines, position, first)
            yield replace(extent, first=first, stop=stop)
            position = stop
    yield from _iter_gap(body.lines, position, len(body.lines))


def _iter_token_extents(tokens: Iterable[Token], body: Body) -> Iterator[_Extent]:
    in_list = False
    for token in tokens:
        if token.level == 0 and token.type.endswith("_list_open"):
            in_list = True
        elif token.level == 0 and token.type.endswith("_list_close"):
            in_list = False
        kind = _KINDS.get(token.type)
        if kind is None or token.map is None or token.level != int(in_list):
            continue
        first, stop = token.map
        info, level = "", 0
        if token.type == "fence":
            info = (token.info.split() or [""])[0]
        elif kind is BlockKind.HEADING:
            level = int(token.tag[1:])
        elif kind is BlockKind.QUOTE and (match := _CALLOUT.match(body.lines[first])):
            kind, info = BlockKind.CALLOUT, match[1].partition("|")[0].strip().lower()
        yield _Extent(kind, first, stop, info, level)


def _iter_gap(lines: Sequence[str], position: int, stop: int) -> Iterator[_Extent]:
    while position < stop:
        is_blank = not lines[position].strip(" \t")
        last = position + 1
        while last < stop and (not lines[last].strip(" \t")) == is_blank:
            last += 1
        yield _Extent(BlockKind.BLANK if is_blank else BlockKind.PARAGRAPH, position, last)
        position = last


def _heading_text(block: Block) -> str:
    lines = block.text.split("\n")
    match = _ATX.match(lines[0])
    if match:
        return strip_markup(_ATX_END.sub("", lines[0][match.end() :]))
    underline = len(block.text.removesuffix("\n").split("\n")) - 1
    return strip_markup(" ".join(lines[:underline]))


def _find_title(blocks: Iterable[Block]) -> str:
    top = (b for b in blocks if b.kind is BlockKind.HEADING and b.level == 1)
    return next((text for text in map(_heading_text, top) if text), "")
