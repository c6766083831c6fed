"""How far a value reaches: one word, a quotation, or words down to the end of what is said.

It cuts, and judges nothing. Texts are in plain spelling.
"""

from __future__ import annotations

import re

Span = tuple[int, int]

# What may follow a value and is none of it.
CLOSING = ".,;:)]}|*_"
WORDS_LIMIT = 26
# A word ends at a link's address, and where a script without spaces begins.
TOKEN = re.compile(
    r"(?:(?!\]\()(?:(?<=\w)['’](?=\w)|[^\s\"'`|<>。、）」』"
    r"\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])){1,300}"
)
_QUOTED = re.compile(
    r"([\"'`])(?P<inner>[^\r\n]{1,200}?)\1"
    r"|[“„«‹「『](?P<other>[^\r\n“”„«»‹›「」『』]{1,200})[”“»›」』]"
)
_OPENING = re.compile(r"[*~\"'`]{0,3}")
_BRACKET = re.compile(r"\(?")
# Where an address or a list of settings goes on behind a value.
_NEXT_SETTING = re.compile(r"[;&,](?=[\w.-]{1,40}=)|[&;]$")
_PARAMETER = re.compile(r"[?&][\w.-]*$")
_NEXT_PARAMETER = re.compile(r"[&#]")


def find_quoted(text: str, at: int, stop: int) -> Span | None:
    """What stands in quotes that open at an offset and close before `stop`, the quotes left out."""
    match = _QUOTED.match(text, at, stop)
    if match is None:
        return None
    return match.span("other" if match["inner"] is None else "inner")


def after_opening(text: str, at: int, stop: int, *, with_bracket: bool = False) -> int:
    """Where a value begins behind stars and quotes."""
    opening = _OPENING.match(text, at, stop)
    at = opening.end() if opening else at
    bracket = _BRACKET.match(text, at, stop) if with_bracket else None
    return bracket.end() if bracket else at


def end_of_setting(text: str, start: int, end: int) -> int:
    """Where a value ends that others follow without a space: `pwd=…;uid=sa`, `token=…&next=…`."""
    cut = _NEXT_SETTING.search(text, start, end)
    return cut.start() if cut else end


def find_run(text: str, at: int, stop: int, in_address: str = "") -> list[Span]:
    """The words from an offset to the end of what is said: a mark, a bracket, an option, another label.

    Args:
        in_address: What stands before the label; where that is a parameter of an address, so is the value.
    """
    run: list[Span] = []
    position = at
    while len(run) < WORDS_LIMIT and (match := TOKEN.match(text, position, stop)):
        start, end = match.span()
        token = match[0]
        if run and (token[0] in "-–—([{#/\\&" or token.endswith((":", "=")) or "=" in token):
            break
        if not run and _PARAMETER.search(in_address):
            cut = _NEXT_PARAMETER.search(token)
            end = start + cut.start() if cut else end
            return [(start, end)] if end > start else []
        if not run and (cut_at := end_of_setting(text, start, end)) < end:
            return [(start, cut_at)] if cut_at > start else []
        run.append((start, end))
        if token[-1] in ",;.!?)]}" or text[end : end + 1] not in (" ", "\t"):
            break
        position = end + 1
    return run


def trimmed(text: str, span: Span, closing: str = CLOSING) -> Span:
    """The span without the marks at its end that are none of the value."""
    start, end = span
    while end > start and text[end - 1] in closing:
        end -= 1
    return start, end
