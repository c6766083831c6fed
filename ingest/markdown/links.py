"""Links from a note to other notes: wikilinks, embeds, Markdown links and reference links.

It reads prose whose code and private parts are blanked already, and takes links as they are written: which note one
leads to is found out elsewhere.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from ingest.markdown.inline import Span, blank
from recalld.records import NoteLink

_ESCAPED = re.compile(r"\\[\\\[\]!]")
_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\n]{1,1000})\]\]")
_BRACKET = re.compile(r"!?\[|\]")
_DESTINATION = re.compile(
    r"\([ \t\n]{0,20}(?:<([^<>\n]{0,2000})>|((?:[^\s()<>]|\([^\s()]{0,500}\)){0,2000}))"
    r"(?:[ \t\n]{1,20}(?:\"[^\"]{0,500}\"|'[^']{0,500}'|\([^()]{0,500}\)))?[ \t\n]{0,20}\)"
)
_LABEL = re.compile(r"\[([^\[\]]{0,999})\]")
_WEB = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_WEB_WITH_HOST = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|//|mailto:", re.IGNORECASE)
_SUFFIX = re.compile(r"[^/]\.([A-Za-z0-9]{1,10})$")
_UNESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_NOTE_SUFFIXES = frozenset(("md", "markdown"))
# A wikilink's name may well hold a full stop (`[[Dr. Smith]]`), so only these are taken for files.
_FILE_SUFFIX = re.compile(
    r"png|jpe?g|gif|svg|webp|bmp|avif|tiff?|heic|ico|pdf|epub|mp3|wav|m4a|ogg|flac|aac|3gp|mp4|webm|mov|mkv|ogv|avi"
    r"|canvas|base|csv|tsv|json|txt|html?|bib|docx?|xlsx?|pptx?|od[tsp]|zip|gz|tar|py|js|css"
)


@dataclass(frozen=True, slots=True)
class _Bracketed:
    """A closed pair of brackets: where it opens, its label, and where it ends."""

    is_image: bool
    start: int
    label_start: int
    end: int


def find_links(
    text: str, *, first_line: int, references: Mapping[str, str]
) -> tuple[tuple[NoteLink, ...], str]:
    """The links to notes in a piece of prose, in order, and the prose with all its links blanked.

    Args:
        text: Prose whose lines end in a line feed; code and private parts are spaces already.
        first_line: The line its first line stands on, 1-based.
        references: Destinations of reference definitions, by `reference_key` of their labels.
    """
    if "[" not in text:
        return (), text
    starts = [0, *(m.end() for m in re.finditer("\n", text))]
    prose = _ESCAPED.sub("  ", text)
    found: list[tuple[int, NoteLink]] = []
    spans: list[Span] = []

    def line_at(offset: int) -> int:
        return first_line + bisect_right(starts, offset) - 1

    for match in _WIKILINK.finditer(prose):
        spans.append(match.span())
        inner = text[match.start(2) : match.end(2)]
        link = _read_wikilink(inner, is_embed=bool(match[1]), line=line_at(match.start()))
        if link is not None:
            found.append((match.start(), link))
    prose = blank(prose, spans)
    taken = range(0)
    for pair in _iter_bracketed(prose):
        destination, end = _find_destination(prose, pair, references)
        if destination is None or pair.start in taken:
            continue
        taken = range(pair.start, end)
        spans.append((pair.end, end) if end > pair.end else (pair.start, pair.end))
        label = " ".join(text[pair.label_start : pair.end - 1].split())
        link = _read_markdown(destination, label, is_image=pair.is_image, line=line_at(pair.start))
        if link is not None:
            found.append((pair.start, link))
    found.sort(key=lambda pair: pair[0])
    return tuple(link for _, link in found), blank(text, spans)


def reference_key(label: str) -> str:
    """The label of a reference definition, as labels are compared: case and runs of spaces mean nothing."""
    return " ".join(label.split()).casefold()


def _read_wikilink(inner: str, *, is_embed: bool, line: int) -> NoteLink | None:
    written, _, label = inner.replace("\\|", "|").partition("|")
    target, _, fragment = written.partition("#")
    target, fragment = target.strip(), fragment.strip()
    if not (target or fragment) or _WEB_WITH_HOST.match(target) or _is_file(target, is_embed):
        return None
    return NoteLink(
        kind="embed" if is_embed else "wikilink",
        target=target,
        fragment=fragment,
        label=label.strip(),
        line=line,
    )


def _is_file(target: str, is_embed: bool) -> bool:
    match = _SUFFIX.search(target)
    suffix = match[1].lower() if match else ""
    if not suffix or suffix in _NOTE_SUFFIXES:
        return False
    is_known = _FILE_SUFFIX.fullmatch(suffix) is not None
    return is_known or (is_embed and len(suffix) <= 5 and not suffix.isdecimal())


def _iter_bracketed(prose: str) -> Iterator[_Bracketed]:
    """Every pair of brackets, inner ones first, in one pass."""
    opened: list[tuple[int, int]] = []
    for match in _BRACKET.finditer(prose):
        if match[0] != "]":
            opened.append((match.start(), match.end()))
        elif opened:
            start, label_start = opened.pop()
            is_image = prose[start] == "!"
            yield _Bracketed(is_image, start, label_start, match.end())


def _find_destination(
    prose: str, pair: _Bracketed, references: Mapping[str, str]
) -> tuple[str | None, int]:
    """The destination as written, and where the link ends; None when the brackets are no link."""
    if match := _DESTINATION.match(prose, pair.end):
        written = match[1] if match[1] is not None else match[2]
        return _UNESCAPE.sub(r"\1", written), match.end()
    if not references:
        return None, pair.end
    label = prose[pair.label_start : min(pair.end - 1, pair.label_start + 1000)]
    end = pair.end
    if match := _LABEL.match(prose, pair.end):
        label, end = match[1] if match[1].strip() else label, match.end()
    return references.get(reference_key(label)), end


def _read_markdown(destination: str, label: str, *, is_image: bool, line: int) -> NoteLink | None:
    destination = destination.strip()
    path, _, fragment = destination.partition("#")
    path = path.partition("?")[0]
    if not destination or _WEB.match(destination) or path.endswith("/"):
        return None
    target = unquote(path).strip()
    match = _SUFFIX.search(target)
    suffix = match[1].lower() if match else ""
    if not (target or fragment) or (suffix and suffix not in _NOTE_SUFFIXES):
        return None
    if is_image and suffix not in _NOTE_SUFFIXES:
        return None
    return NoteLink(
        kind="embed" if is_image else "markdown",
        target=target,
        fragment=unquote(fragment).strip(),
        label=label,
        line=line,
    )
