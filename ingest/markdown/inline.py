"""Running text inside a block: code spans, private parts, tags, and what is left when the markup is taken away.

It works on plain strings and offsets; it knows nothing of lines, blocks or files.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

Span = tuple[int, int]

_SPECIAL = re.compile(r"\\[!-/:-@\[-`{-~]|`+|<!--|%%")
_CELL_END = re.compile(r"(?<!\\)\|")
_BACKTICKS = re.compile(r"`+")

_LINE_START = re.compile(r"(?:\A|(?<=\n))(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t]|\[.\][ \t])*\Z")

# No mark of punctuation, ASCII or CJK, is part of a tag, but `-`, `_`, `/` and the joiner inside emoji.
_TAG_CHAR = (
    r"[^\s!-,.:-@\[-^`{-\x7f\u00a0-\u00bf\u2000-\u200c\u200e-\u206f\u3000-\u303f\uff00-\uff0f\uff1a-\uff20"
    r"\uff3b-\uff40\uff5b-\uff65]"
)
_TAG = re.compile(rf"(?:\A|(?<=[\s(,;\"'，、。；：（「]))(?<!\]\()#({_TAG_CHAR}{{1,200}})")

_CODE_SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
# Stands for a code span while the prose round it is stripped.
_CODE_MARK = "\ue000"
# `{#id}`, `{ .class }`, `{ data-x }` and `{/* id */}` behind a heading are for the page's maker.
_HEADING_ID = re.compile(
    r"\s*\{(?:#[^\s{}][^{}]{0,400}|[ ]{0,2}(?:\.|data-)[\w-][^{}/*,]{0,400}|/\*[^{}]{0,400}\*/)\}\s*\Z"
    r"|\s\^[A-Za-z0-9-]+\s*\Z"
)
_WIKILINK = re.compile(r"!?\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]")
_LINK = re.compile(
    r"!?\[([^\[\]]*)\](?:\((?:<[^<>]*>|[^()<>]*(?:\([^()]*\)[^()<>]*)?)\)|\[[^\[\]]*\])"
)
_FOOTNOTE = re.compile(r"\[\^[^\s\[\]]+\]")
_TAG_OF_HTML = re.compile(r"</?[A-Za-z][^<>]*>")
_ADDRESS = re.compile(r"<((?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*)|[^\s<>@]+@[^\s<>@]+)>")
_EMPHASIS = (
    re.compile(r"(\*\*|~~|==)(?=\S)(.+?)(?<=\S)\1"),
    re.compile(r"(?<!\w)(__)(?=\S)(.+?)(?<=\S)\1(?!\w)"),
    re.compile(r"(\*)(?=[^\s*])(.+?)(?<=[^\s*])\1"),
    re.compile(r"(?<!\w)(_)(?=[^\s_])(.+?)(?<=[^\s_])\1(?!\w)"),
)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """What a piece of running text holds that is not to be read as prose."""

    code: tuple[Span, ...]
    private: tuple[Span, ...]
    # Where private parts begin that do not end in this text.
    open_at: tuple[int, ...]


def scan_text(text: str, *, has_code_spans: bool = True, is_table_row: bool = False) -> Scan:
    """Code spans and private parts of one leaf block's text, the leftmost winning; linear in its length.

    In a table row no code span goes from one cell to the next; a private part may.
    """
    code: list[Span] = []
    private: list[Span] = []
    open_at: list[int] = []
    closers = _runs_of_backticks(text) if has_code_spans and "`" in text else {}
    position = 0
    while match := _SPECIAL.search(text, position):
        start, mark = match.start(), match[0]
        position = match.end()
        if mark[0] == "`":
            end = _end_of_code(closers.get(len(mark), []), position, len(mark))
            if end is not None and not (is_table_row and _CELL_END.search(text, start, end)):
                code.append((start, end))
                position = end
        elif mark in ("<!--", "%%"):
            end = end_of_private(text, start)
            if end is not None:
                private.append((start, end))
                position = end
            else:
                open_at.append(start)
                if mark == "<!--":
                    break
    return Scan(code=tuple(code), private=tuple(private), open_at=tuple(open_at))


def end_of_private(text: str, start: int, stop: int | None = None) -> int | None:
    """The offset behind the mark that closes the private part at `start`, before `stop`; None without one."""
    if text.startswith(("<!-->", "<!--->"), start):
        return start + (5 if text[start + 4] == ">" else 6)
    mark, width = ("-->", 4) if text[start] == "<" else ("%%", 2)
    end = text.find(mark, start + width, len(text) if stop is None else stop)
    return None if end < 0 else end + len(mark)


def starts_line(text: str, position: int) -> bool:
    """Whether nothing but the marks of quotes, list items and tasks stands before a position in its line."""
    return _LINE_START.search(text[text.rfind("\n", 0, position) + 1 : position]) is not None


def blank(text: str, spans: Iterable[Span]) -> str:
    """The text with the spans as spaces: line ends and offsets stay."""
    pieces: list[str] = []
    end = 0
    for start, stop in sorted(spans):
        if stop <= end:
            continue
        hidden = text[max(start, end) : stop]
        pieces += (text[end:start], re.sub(r"[^\n]", " ", hidden))
        end = stop
    return "".join((*pieces, text[end:]))


def find_tags(text: str) -> tuple[str, ...]:
    """`#tags` in prose whose code and links are already blanked, without their `#`; one of digits alone is none."""
    found = (match[1].strip("/-") for match in _TAG.finditer(text)) if "#" in text else ()
    return tuple(tag for tag in found if tag and not tag.isdecimal())


def strip_markup(text: str) -> str:
    """A heading's words: without emphasis, code marks, link targets, HTML tags, anchors and block ids."""
    # Longer than any heading that is one; it keeps the patterns below from being fed a whole file.
    text = _HEADING_ID.sub("", text[:1000].replace(_CODE_MARK, ""))
    codes = [match[2].strip() for match in _CODE_SPAN.finditer(text)]
    stripped = _strip_prose(_CODE_SPAN.sub(_CODE_MARK, text)).split(_CODE_MARK)
    joined = stripped[0] + "".join(map("".join, zip(codes, stripped[1:], strict=True)))
    return " ".join(joined.split())


def _strip_prose(text: str) -> str:
    text = _WIKILINK.sub(lambda m: (m[2] or m[1]).strip(), text)
    # Twice: an image may be the label of a link.
    text = _LINK.sub(r"\1", _LINK.sub(r"\1", text))
    text = _TAG_OF_HTML.sub("", _ADDRESS.sub(r"\1", _FOOTNOTE.sub("", text)))
    for emphasis in _EMPHASIS:
        text = emphasis.sub(r"\2", text)
    return _ESCAPED.sub(r"\1", text)


def _runs_of_backticks(text: str) -> dict[int, list[int]]:
    runs: dict[int, list[int]] = {}
    for match in _BACKTICKS.finditer(text):
        runs.setdefault(len(match[0]), []).append(match.start())
    return runs


def _end_of_code(runs: list[int], position: int, width: int) -> int | None:
    index = bisect_right(runs, position - 1)
    return runs[index] + width if index < len(runs) else None
