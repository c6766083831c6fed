"""A note's text as blocks, links, tags and problems.

The parser says which lines are a block (`parser`); here they become blocks that tile the note, without secrets. Running
text is read elsewhere (`inline`, `links`), and nothing here knows of files or of the store.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from urllib.parse import unquote

from ingest.markdown.body import Body
from ingest.markdown.front_matter import FrontMatter, read_front_matter
from ingest.markdown.inline import strip_markup
from ingest.markdown.links import find_links
from ingest.markdown.parser import Extent, parse_body
from ingest.markdown.private import hide_in_header
from ingest.masking.controls import cut_payloads, drop_controls
from ingest.masking.redaction import MASK, redact
from recalld.records import Block, BlockKind, Lines, NoteLink, ParsedNote

_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n)|[^\r\n]++")
_BLOCK_ID = re.compile(r"(?:(?<=[ \t])|^[ \t>]*)\^[A-Za-z0-9-]+[ \t]*$")
_ATX = re.compile(r"[ \t]*#{1,6}(?:[ \t]+|$)")
# `!!! tip inline "Title"`; the kind may have more words behind it.
_ADMONITION = re.compile(
    r'[ \t]*(?:!!!|\?\?\?)\+?[ \t]*(?P<kind>[^\s"]+)[^"\n]*"(?P<title>[^\n]*)"'
)
_ATX_END = re.compile(r"(?:^|(?<=[ \t]))#+[ \t]*$")
_ANY_LINE_HAS_ID = (BlockKind.LIST_ITEM, BlockKind.QUOTE, BlockKind.CALLOUT)
_LAST_LINE_HAS_ID = (BlockKind.PARAGRAPH, BlockKind.FOOTNOTE, BlockKind.TABLE)


def parse_note(text: str) -> ParsedNote:
    """The note as blocks that tile it, with its links, tags and problems.

    A line ends at LF, CRLF or CR, as in editors, and nowhere else. The blocks' raw texts, joined, are `text`; in a
    block's own `text` every line ends with LF where the raw one has an end. Never raises, whatever the text.
    """
    raw_lines = _LINE.findall(text)
    lines = _clean_lines(raw_lines)
    header, lines = _read_header(lines)
    body = Body(lines[header.line_count :], header.line_count)
    extents = parse_body(body)
    # In one piece, because a secret may lie across blocks.
    visible = [*lines[: header.line_count], *body.shown_lines()]
    shown = redact("\n".join(visible))[0].split("\n")
    masked = _Masked(visible, shown)
    blocks = tuple(_iter_blocks(extents, raw_lines, shown, body))
    links, tags = body.read_prose()
    # Properties link too: `author: "[[Kevin Kelly]]"`.
    head_links, _ = find_links("\n".join(lines[: header.line_count]), first_line=1, references={})
    head_tags = tuple(map(masked.of, header.tags))
    tag_places = tuple((line, masked.of(tag)) for line, tag in tags)
    return ParsedNote(
        title=masked.of(header.title) or _find_title(blocks),
        date=header.date,
        tags=_distinct((*head_tags, *(tag for _, tag in tag_places))),
        aliases=tuple(map(masked.of, header.aliases)),
        blocks=blocks,
        links=tuple(map(masked.link, (*head_links, *links))),
        problems=tuple(sorted((*header.problems, *body.problems), key=lambda p: p.line)),
        head_tags=head_tags,
        tag_places=tag_places,
        properties=tuple((key, tuple(map(masked.of, values))) for key, values in header.properties),
    )


def _clean_lines(raw_lines: Sequence[str]) -> list[str]:
    """The lines without their ends, without payloads and control characters; as many as before."""
    bare = "\n".join(line.rstrip("\r\n") for line in raw_lines)
    return drop_controls(cut_payloads(bare)).split("\n") if raw_lines else []


def _read_header(lines: list[str]) -> tuple[FrontMatter, list[str]]:
    """The header, and the lines without the private parts in it; as many as before."""
    header = read_front_matter(lines)
    head = "\n".join(lines[: header.line_count])
    shown = hide_in_header(head)
    if shown == head:
        return header, lines
    lines = [*shown.split("\n"), *lines[header.line_count :]]
    return read_front_matter(lines), lines


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


def _iter_blocks(
    extents: Iterable[Extent], raw_lines: Sequence[str], shown: Sequence[str], body: Body
) -> Iterator[Block]:
    headings: list[tuple[int, str]] = []
    titles: list[str] = []
    if body.lines_before:
        header = Extent(BlockKind.FRONT_MATTER, -body.lines_before, 0)
        yield _build(header, raw_lines, shown, body, ())
    for extent in _without_gaps(extents, body):
        if extent.kind is BlockKind.HEADING:
            headings = [above for above in headings if above[0] < extent.level]
        # The title of an admonition says what its blocks are about, as a heading does.
        above = [text for _, text in headings] + [*filter(None, titles[: extent.depth])]
        block = _build(extent, raw_lines, shown, body, tuple(above))
        if extent.opens:
            titles = [*titles[: extent.depth], _admonition_title(block)]
        if extent.kind is BlockKind.HEADING:
            headings.append((extent.level, _heading_text(block)))
        yield block


def _build(
    extent: Extent,
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


def _without_ids(extent: Extent, texts: Sequence[str], body: Body) -> Sequence[str]:
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


def _without_gaps(extents: Iterable[Extent], body: Body) -> Iterator[Extent]:
    """The blocks in order, without a gap: what the parser takes for none is blank, or else a paragraph."""
    position = 0
    for extent in extents:
        stop = extent.stop
        while stop > extent.first and not body.lines[stop - 1].strip(" \t"):
            stop -= 1
        first = max(extent.first, position)
        if stop > first:
            yield from _iter_gap(body.lines, position, first)
            yield replace(extent, first=first, stop=stop)
            position = stop
    yield from _iter_gap(body.lines, position, len(body.lines))


def _iter_gap(lines: Sequence[str], position: int, stop: int) -> Iterator[Extent]:
    while position < stop:
        is_blank = not lines[position].strip(" \t")
        last = position + 1
        while last < stop and (not lines[last].strip(" \t")) == is_blank:
            last += 1
        yield Extent(BlockKind.BLANK if is_blank else BlockKind.PARAGRAPH, position, last)
        position = last


def _admonition_title(block: Block) -> str:
    """The title given in `!!! kind "title"`; "" where it only names the kind again."""
    match = _ADMONITION.match(block.text)
    title = strip_markup(match["title"]).strip() if match else ""
    return "" if match and title.casefold() == match["kind"].casefold() else title


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
