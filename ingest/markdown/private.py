"""Where private parts end: HTML comments and `%%…%%`, across the blank lines of a whole text.

It knows only marks and offsets; what is code, and so shown, is its caller's business.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from ingest.markdown.inline import end_of_private, starts_line

_HTML_MARK = re.compile(r"<!--|-->")
_PERCENT = re.compile(r"%%")
_PERCENT_PART = re.compile(r"%%[^\n]*?%%")
_BLANK_LINE = re.compile(r"(?m)^[ \t>]*$")
_FENCE_LINE = re.compile(r"(?m)^[ \t>]*(?:```|~~~)")


def hide_in_header(text: str) -> str:
    """A note's header without the comments and `%%…%%` in its values; its lines stay as many.

    A `%%` with no other in its line is a percentage, and a comment that is never closed hides its line.
    """
    if "%%" not in text and "<!--" not in text:
        return text
    pieces: list[str] = []
    position = 0
    while (start := text.find("<!--", position)) >= 0:
        close = text.find("-->", start)
        line_end = text.find("\n", start)
        end = close + len("-->") if close >= 0 else line_end if line_end >= 0 else len(text)
        pieces += (text[position:start], "\n" * text.count("\n", start, end))
        position = end
        if close < 0:
            break
    return _PERCENT_PART.sub("", "".join((*pieces, text[position:])))


class PrivateMarks:
    """The marks of one text, found once, so that each question takes logarithmic time."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._blank_lines: list[int] = []
        self._fences: list[int] = []
        self._openers: list[int] = []
        self._closers: list[int] = []
        self._partners: dict[int, int] = {}
        self._percents: list[int] = []
        self._odd_percents: list[int] = []
        if "<!--" in text or "%%" in text:
            self._blank_lines = [m.start() for m in _BLANK_LINE.finditer(text)]
            self._fences = [m.start() for m in _FENCE_LINE.finditer(text)]
            self._pair_html_marks()
            self._find_odd_percents()

    def find_end(self, at: int) -> int | None:
        """The offset behind the mark that closes the private part at `at`; None when it is unclosed."""
        return self._end_of_html(at) if self._text[at] == "<" else self._end_of_percent(at)

    def next_blank(self, at: int) -> int:
        """The start of the first blank line after an offset; behind the text's end when there is none."""
        return _first_above(self._blank_lines, at) or len(self._text) + 1

    def hides_unclosed(self, at: int) -> bool:
        """Whether a mark without its end hides anything: `%%` amid a line may be a percentage."""
        return self._text[at] == "<" or starts_line(self._text, at)

    def _end_of_html(self, at: int) -> int | None:
        """The first `-->`, but over a blank line with another `<!--` behind it only as that pairing allows.

        Else one forgotten end would swallow everything up to the next, complete comment.
        """
        short = end_of_private(self._text, at, at + 6)
        if short is not None:
            return short
        close = _first_above(self._closers, at + 3)
        if close is None:
            return None
        opener = _first_above(self._openers, self.next_blank(at) - 1)
        if opener is not None and opener < close:
            close = self._partners.get(at)
        return None if close is None else close + 3

    def _end_of_percent(self, at: int) -> int | None:
        """The next `%%` of the same paragraph, else of the next line that holds an odd number of them.

        A line with an even number is complete in itself, so a stray mark before it does not turn it inside out.
        """
        following = _first_above(self._percents, at + 1)
        if following is None or following < self.next_blank(at):
            return None if following is None else following + 2
        close = _first_above(self._odd_percents, at + 1)
        if close is None:
            return None
        if not starts_line(self._text, at) and (_first_above(self._fences, at) or close) < close:
            return None
        return close + 2

    def _pair_html_marks(self) -> None:
        opened: list[int] = []
        for match in _HTML_MARK.finditer(self._text):
            if match[0] == "<!--":
                self._openers.append(match.start())
                opened.append(match.start())
            else:
                self._closers.append(match.start())
                if opened:
                    self._partners[opened.pop()] = match.start()

    def _find_odd_percents(self) -> None:
        self._percents = [m.start() for m in _PERCENT.finditer(self._text)]
        index = 0
        while index < len(self._percents):
            first = self._percents[index]
            line_end = self._text.find("\n", first)
            after = bisect_left(self._percents, line_end if line_end >= 0 else len(self._text))
            if (after - index) % 2:
                self._odd_percents.append(first)
            index = after


def _first_above(sorted_offsets: list[int], offset: int) -> int | None:
    index = bisect_right(sorted_offsets, offset)
    return sorted_offsets[index] if index < len(sorted_offsets) else None
