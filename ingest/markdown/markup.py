"""Markdown markup taken off a piece of text, with the way back to the source.

Only inline markup and the marks at the start of lines are known here, not what a block is made of.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# Spans and labels have a longest length, so that a note of brackets costs no more than its size.
_INLINE = re.compile(
    r"""
    (?P<code>(?<!`)(?P<ticks>`++)(?:.|\n){1,1000}?(?<!`)(?P=ticks)(?!`))
  | (?P<escape>\\[!-/:-@\[-`{-~])
  | (?P<struck>~~(?=[^\s~])(?:[^~]|~(?!~)){1,2000}~~
      |<(?:del|s|strike)(?:\s[^<>]*)?>(?:[^<]|<(?!/?(?:del|s|strike)\b)){0,2000}</(?:del|s|strike)\s*>)
  | (?P<footnote>\[\^[^\[\]\s]{1,80}\]:?)
  | !?\[\[(?P<wikilink>[^\[\]\n]+)\]\]
  | (?P<image>!\[)(?=[^\[\]]{0,500}\]\()
  | (?P<link>\[)(?=(?:[^\[\]]|\[[^\[\]]*\])*\](?:\(|\[))
  | (?P<target>\]\((?:<[^<>\n]*>|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+(?:"[^"]*"|'[^']*'))?\s*\))
  | (?P<reference>\]\[[^\]\n]*\])
  | <(?P<autolink>(?:https?://|mailto:)[^<>\s]+)>
  | (?P<tag></?[A-Za-z][\w.-]*(?:\s+[^<>]*)?/?>)
  | (?P<entity>&(?:[A-Za-z]\w{1,30}|\#\d{1,7}|\#[xX][0-9A-Fa-f]{1,6});)
  | (?P<strong>\*{2,3}(?![\s*])|(?<=[^\s*])\*{2,3}(?!\*)|~~|==(?=\S)|(?<=\S)==(?!=))
  | (?P<under>(?<!\w)_{1,2}(?=\w)|(?<=[\w.!?,;:)`])_{1,2}(?!\w))
  | (?P<star>(?<![A-Za-z0-9*])\*(?=[^\s*])|(?<=[^\s*])\*(?![A-Za-z0-9*]))
  | (?P<attributes>\{(?:/\*[^{}]*?\*/|[ ]*[.\#][\w-][^{}\n]*)\})
  | (?P<anchor>[ ]\^[A-Za-z0-9-]+(?=[ \t]*$))
    """,
    re.VERBOSE | re.MULTILINE,
)
_LINE_MARK = re.compile(
    r"^[ \t]*(?:>[ \t]?)+(?:\[![\w-]+\][+-]?[ \t]*)?|^[ \t]*\#{1,6}(?:[ \t]+|$)|[ \t]+\#+[ \t]*$",
    re.MULTILINE,
)
_WORD = re.compile(r"\w")
_FILE = re.compile(r"\.[A-Za-z0-9]{2,5}$")
# Behind the bar of an embedded picture: its size and place.
_LAYOUT = re.compile(r"\s*(?:(?:\d+(?:x\d+)?|left|right|center|inline)?\s*(?:\||$)\s*)*")
_SUFFIX = re.compile(r"\.\w")
_INTERESTING = re.compile(r"[*_`\[\]<>&~=\\^#]")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_SPACES = re.compile(r"\s+")
_TIGHT = re.compile(
    r"(?<=[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]) (?=[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef])"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    """A text without markup. `text` may hold line ends; `squeezed` is how a piece of it is told."""

    text: str
    # Where each run of kept characters starts: in `text`, and in the source.
    starts: tuple[int, ...]
    sources: tuple[int, ...]

    def source(self, at: int) -> int:
        """Source offset of the character at `at` in `text`; of the end when `at` is the length."""
        if not self.starts:
            return 0
        run = max(bisect_right(self.starts, at) - 1, 0)
        return self.sources[run] + at - self.starts[run]


def strip_markup(text: str, *, offset: int = 0, embeds: bool = True) -> Plain:
    """The text without markup and what is struck out; labels, aliases and code spans (with backticks) stay.

    Args:
        text: A paragraph's source, line ends included.
        offset: Where `text` starts in its source; `Plain.source` counts from there.
        embeds: Whether the names of embedded files and notes, and of bare blocks, stay.
    """
    if not _INTERESTING.search(text):
        return Plain(text=text, starts=(0,), sources=(offset,))
    parts: list[str] = []
    starts: list[int] = []
    sources: list[int] = []
    length = at = 0

    def keep(piece: str, source: int) -> None:
        nonlocal length
        if piece:
            parts.append(piece)
            starts.append(length)
            sources.append(offset + source)
            length += len(piece)

    for start, end, kept, kept_at in _removals(text, embeds=embeds):
        if start < at:
            continue
        keep(text[at:start], at)
        keep(kept, kept_at)
        at = end
    keep(text[at:], at)
    return Plain(text="".join(parts), starts=tuple(starts), sources=tuple(sources))


def strip_beside_words(text: str, *, offset: int = 0) -> Plain:
    """The same without what embeds are called; where that is all there is, it stays."""
    if _has_embed(text):
        plain = strip_markup(text, offset=offset, embeds=False)
        if _WORD.search(plain.text):
            return plain
    return strip_markup(text, offset=offset)


def without_embeds(text: str) -> str:
    """The text as written, less embeds that say nothing; where that is all there is, it stays."""
    if not _has_embed(text):
        return text
    told = _without(text, [m.span() for m in _INLINE.finditer(text) if _is_silent(m)])
    return told if _WORD.search(told) else text


def without_struck(text: str) -> str:
    """The text as written, less what is struck out (`~~…~~`, `<del>…</del>`) and is not said any more."""
    if "~~" not in text and "</" not in text:
        return text
    struck = [m.span() for m in _INLINE.finditer(text) if m.lastgroup == "struck"]
    return _without(text, struck)


def split_lines(text: str) -> list[str]:
    """The lines of a text with their ends; only what Markdown takes for a line end parts them."""
    return _LINE.findall(text)


def squeeze(text: str) -> str:
    """A text on one line, single-spaced; without a space between CJK characters."""
    return _TIGHT.sub("", _SPACES.sub(" ", text)).strip()


def shown(source: str) -> str:
    """What stands above or beside other words, without markup; what is struck out as a whole keeps its marks.

    What stands below a parent or in a row without its head would say something else.
    """
    text = squeeze(strip_beside_words(source).text)
    return text if text or not source.strip() or without_struck(source).strip() else squeeze(source)


def _paired(marks: Iterable[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """Spans of the marks of emphasis that have their partner; one alone is a glob, a footnote or a star, and stays."""
    # Marks that opened and are not closed yet, by sign: where each stands, and how much of it is left.
    opened: dict[str, list[list[int]]] = {}
    for mark in marks:
        text, (start, end) = mark.string, mark.span()
        sign, left = text[start], end - start
        before, after = text[start - 1 : start].strip(), text[end : end + 1].strip()
        waiting = opened.setdefault(sign, [])
        # `/srv/*.zip`, `a.*b`: nobody means emphasis.
        is_pattern = sign == "*" and (before in ("/", "\\", ".") or _SUFFIX.match(text, end))
        if before and waiting and not (is_pattern and after):
            while left and waiting:
                taken = min(left, waiting[-1][1])
                waiting[-1][1] -= taken
                at = sum(waiting[-1])
                yield at, at + taken
                yield end - left, end - left + taken
                left -= taken
                if not waiting[-1][1]:
                    waiting.pop()
        elif after and not is_pattern:
            waiting.append([start, left])


def _removals(text: str, *, embeds: bool) -> list[tuple[int, int, str, int]]:
    """(start, end, what stays in its place, where that stood), in order of start."""
    found = [(m.start(), m.end(), "", m.start()) for m in _LINE_MARK.finditer(text)]
    emphasis: list[re.Match[str]] = []
    for m in _INLINE.finditer(text):
        kind = m.lastgroup
        if kind in ("strong", "under", "star"):
            emphasis.append(m)
        elif kind in ("code", "ticks"):
            # A removal that removes nothing: it only keeps others out of the code.
            found.append((m.start(), m.end(), m.group(), m.start()))
        elif kind == "wikilink":
            shown, at = ("", 0) if not embeds and _is_silent(m) else _shown_link(m["wikilink"])
            found.append((m.start(), m.end(), shown, m.start("wikilink") + at))
        elif kind == "autolink":
            found.append((m.start(), m.end(), m.group("autolink"), m.start("autolink")))
        elif kind == "escape":
            found.append((m.start(), m.end(), m.group()[1], m.start() + 1))
        elif kind == "entity":
            found.append((m.start(), m.end(), html.unescape(m.group()), m.start()))
        else:
            gap = " " if kind == "tag" and m.group()[:3].lower() == "<br" else ""
            found.append((m.start(), m.end(), gap, m.start()))
    found += ((start, end, "", start) for start, end in _paired(emphasis))
    found.sort(key=lambda removal: removal[0])
    return found


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    return "".join(text[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True))


def _has_embed(text: str) -> bool:
    return "![[" in text or "[[^" in text or "[[#^" in text


def _is_silent(link: re.Match[str]) -> bool:
    """Whether it is an embed, or a block without its note, that no words were given to."""
    if link.lastgroup != "wikilink":
        return False
    target, _, alias = link["wikilink"].partition("|")
    target = target.strip().removesuffix("\\")
    if link.group().startswith("!"):
        is_file = _FILE.search(target) is not None and not target.endswith(".md")
        return not is_file or _LAYOUT.fullmatch(alias) is not None
    return target.startswith(("^", "#^")) and not alias.strip()


def _shown_link(inner: str) -> tuple[str, int]:
    """What a wikilink shows, alias or target, and where in it that stands."""
    target, bar, alias = inner.partition("|")
    if bar and alias.strip():
        return alias, len(target) + 1
    target = target.removesuffix("\\").split("#^")[0]
    if target.startswith("#"):
        return target[1:], 1
    return (target, 0) if target.strip() else (inner, 0)
