"""A note's body run through the Markdown parser: the stretches of lines that are blocks.

The only module that knows the Markdown parser. Block structure comes from it; private parts are found while it runs,
because they decide what is a block, and code decides what is private. What it reads on the way it tells the body.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, heading, html_block, lheading, paragraph, table
from markdown_it.token import Token
from mdit_py_plugins.admon import admon_plugin
from mdit_py_plugins.footnote import footnote_plugin

from ingest.markdown.body import Body, Leaf
from ingest.markdown.links import reference_key
from recalld.records import BlockKind

_Rule = Callable[[StateBlock, int, int, bool], bool]
# Deeper than people nest, and far from Python's recursion limit.
_NESTING_LIMIT = 40
_CALLOUT = re.compile(r"[ \t]*>[ \t]*\[!([^\]\n]{1,100})\]")
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
    "admonition_open": BlockKind.PARAGRAPH,
}
# Tokens whose lines hold no running text.
_OPAQUE = ("fence", "code_block", "html_block", "private", "math", "hr")
_INTERRUPTED = ["paragraph", "reference", "blockquote", "list"]


@dataclass(frozen=True, slots=True)
class Extent:
    """A block's kind and lines, counted from the body's start; `stop` is not included."""

    kind: BlockKind
    first: int
    stop: int
    info: str = ""
    level: int = 0
    # How many admonitions it stands in, and whether it is the line that opens another one.
    depth: int = 0
    opens: bool = False


def parse_body(body: Body) -> list[Extent]:
    """Runs the parser over the body; gives what it takes for blocks, in order, and tells the body what it read.

    Blank lines may end an extent, one may begin before the last one ended, and lines may lie in none.
    """
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
    return list(_iter_extents(tokens, body))


def _is_closed(token: Token, body: Body) -> bool:
    first, stop = token.map or (0, 0)
    last = body.lines[stop - 1].lstrip(" \t>").rstrip(" \t")
    return stop - 1 > first and len(last) >= len(token.markup) and not last.strip(token.markup[0])


def _iter_extents(tokens: Iterable[Token], body: Body) -> Iterator[Extent]:
    # What stands in an admonition is blocks of their own, as if it stood outside; a list's items are whole.
    outside, in_list = 0, False
    for token in tokens:
        if token.level == outside and token.type.endswith("_list_open"):
            in_list = True
        elif token.level == outside and token.type.endswith("_list_close"):
            in_list = False
        elif token.type == "admonition_close" and token.level == outside - 1:
            outside -= 1
        kind = _KINDS.get(token.type)
        if kind is None or token.map is None or token.level != outside + int(in_list):
            continue
        first, stop = token.map
        info, level, depth = "", 0, outside
        opens = token.type == "admonition_open"
        if opens:
            # Its first line says what it is; the rest comes by itself.
            stop = first + 1
            outside += not in_list
        elif token.type == "fence":
            info = (token.info.split() or [""])[0]
        elif kind is BlockKind.HEADING:
            level = int(token.tag[1:])
        elif kind is BlockKind.QUOTE and (match := _CALLOUT.match(body.lines[first])):
            kind, info = BlockKind.CALLOUT, match[1].partition("|")[0].strip().lower()
        yield Extent(kind, first, stop, info, level, depth, opens)


@cache
def _markdown() -> MarkdownIt:
    """The parser: CommonMark's blocks, tables, footnotes, private parts and math; inline text is left alone."""
    options = {"html": True, "maxNesting": _NESTING_LIMIT, "inline_definitions": True}
    markdown = MarkdownIt("commonmark", options).use(
        footnote_plugin, inline=False, move_to_end=False
    )
    markdown.use(admon_plugin)
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
    told = state.src[at : state.eMarks[start]].rstrip(" \t")
    if len(told) > 3 and told.endswith("$$"):
        last = start
    elif "$$" in told[2:]:
        # Closed where it began: a formula in a line of prose.
        return False
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
