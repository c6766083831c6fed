"""What leads from a label to its value: a mark, a word such as `is`, an arrow, the name of whose secret it is.

It gives places, and says nothing of values. Texts are in plain spelling.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal

from ingest.masking.folding import fold
from ingest.masking.words import words

# `mark`: `:` and `=`. `whose`: the same, behind whose secret it is. `far`: the same, behind other words.
# `hint`: an arrow, a dash, a cell's end. `bare`: a space.
Joint = Literal["mark", "whose", "far", "hint", "is", "bare"]

_TAG = r"</?[A-Za-z][^<>\r\n]{0,80}>"
_DRESS = rf"(?:[\"'`*_\])]{{1,4}}|{_TAG}){{0,4}}+"
_EMPHASIS = rf"(?:\*{{1,3}}|__|{_TAG}){{0,4}}+"
_SPACE = r"[ \t]{0,8}"
_MARK = rf"{_SPACE}(?:=>|:=|[:=])(?![=>:~]|//){_EMPHASIS}{_SPACE}"
_ARROW = rf"{_SPACE}(?:->|[→⇒⟶➔➜])(?!>){_SPACE}"
_WORD = r"[^\s:=|(){}\[\]<>]{1,30}"
_BRACKETED = r" ?\([^()\r\n]{1,40}\)"

_ENTRY_AT = re.compile(_DRESS)
_MARK_AT = re.compile(_MARK)
_HINT_AT = re.compile(
    rf"{_ARROW}|[ \t]{{1,8}}[-–—|][ \t]{{1,8}}|(?:>|(?<=>){_SPACE})(?=[^\s<>=])|\((?=[\"'])"
    # As in the name of a file.
    r"|[-_](?=[^\W_]+(?:[ \t\]).,]|$))"
)
_BARE_AT = re.compile(r"[ \t]{1,8}(?=[^\s:=-])")
_FAR_AT = re.compile(
    r"(?:[A-Z][A-Za-z]{0,24}|[_-][A-Za-z][A-Za-z_-]{0,30}"
    rf"|(?: {_WORD}){{1,2}}?){_DRESS}{_MARK}"
)


def find_joints(text: str, at: int, stop: int) -> Iterator[tuple[Joint, int]]:
    """What may lead from a label that ends at an offset to a value, the surest first, with the value's start."""
    entry = _ENTRY_AT.match(text, at, stop)
    at = entry.end() if entry else at
    for name, pattern in _patterns():
        match = pattern.match(text, at, stop)
        if match and (match.end() > at or name == "hint"):
            yield _told(match) if name == "whose" else name, match.end()


def is_saying(word: str) -> bool:
    """Whether a word says that something is or was."""
    return word.casefold() in _saying_words()


def _told(match: re.Match[str]) -> Joint:
    if match["is"] is not None:
        return "is"
    return "whose" if match["hint"] is None else "hint"


@cache
def _patterns() -> tuple[tuple[Joint, re.Pattern[str]], ...]:
    said = rf"[ \t]{{1,8}}(?:{_alternatives('is', 'becomes')})\b ?:?[ \t]{{1,8}}"
    joined = rf"{_SPACE}(?:{_alternatives('is_spaceless')}){_SPACE}:?{_SPACE}"
    of_whom = (
        rf"(?:{_BRACKETED}|\[[^\[\]\r\n]{{1,40}}\]"
        rf"| (?:{_alternatives('whose')})\b['’ ]?(?:{_WORD} ){{0,5}}?{_WORD}(?:{_BRACKETED})?)"
        rf"(?:{_MARK}|(?P<hint>{_ARROW})|(?P<is>{said}))"
    )
    return (
        ("mark", _MARK_AT),
        ("is", re.compile(f"{said}|{joined}", re.IGNORECASE)),
        ("whose", re.compile(of_whom, re.IGNORECASE)),
        ("hint", _HINT_AT),
        ("far", _FAR_AT),
        ("bare", _BARE_AT),
    )


def _alternatives(*names: str) -> str:
    plain = {re.escape(fold(word).text) for name in names for word in words(name)}
    return "|".join(sorted(plain, key=len, reverse=True))


@cache
def _saying_words() -> frozenset[str]:
    return frozenset(fold(word).text for word in words("is"))
