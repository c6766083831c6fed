"""The words before a secret: which there are, where they stand in a text, and what kind of value each announces.

It looks at words alone. What stands behind a label is judged elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from ingest.masking.folding import fold
from ingest.masking.words import words

_SPACELESS = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NO_LETTER_BEFORE = r"(?<![^\W_])"
# Plurals and cases: `passwords`, `wachtwoorden`, `passwörter`.
_ENDING = r"(?:s|es|n|en|er|e|et)?(?![^\W\d_])"
_NUMBER = r"(?:_?[0-9]{1,2}(?![0-9]))?"


class Kind(StrEnum):
    """What a label says of the value behind it; the sections of the word file."""

    STRONG = "strong"
    PHRASE = "phrase"
    SHORT = "short"
    DIGITS = "digits"
    WEAK = "weak"
    PAIR = "pair"


@dataclass(frozen=True, slots=True)
class Label:
    """A label in a text, its ending and number included."""

    kind: Kind
    start: int
    end: int


def find_labels(text: str) -> Iterator[Label]:
    """The labels of a text in plain spelling, list by list. One may lie in another: each has its say."""
    lowered = text.lower()
    for kind, first, last, pattern in _patterns():
        if last not in lowered:
            continue
        at = lowered.find(first)
        while at >= 0:
            match = pattern.match(lowered, at)
            if match:
                yield Label(kind, *match.span())
            at = lowered.find(first, at + len(first))


def is_plural(written: str) -> bool:
    """Whether a label speaks of several secrets, and so perhaps of secrets in general."""
    return written.lower() in _plurals()


def label_of(phrase: str) -> Kind | None:
    """The kind of label that a short text is, as a table's header may be: its last words are one."""
    ends = [label.kind for label in find_labels(phrase) if label.end == len(phrase)]
    return min(ends, key=list(Kind).index) if ends else None


@cache
def _plurals() -> frozenset[str]:
    return frozenset(fold(word).text.lower() for word in words("plural"))


@cache
def _patterns() -> tuple[tuple[Kind, str, str, re.Pattern[str]], ...]:
    """Each word as a pattern of its own, with its first and last part as every spelling has them: few are in a text."""
    found: dict[tuple[Kind, str], None] = {}
    for kind in Kind:
        found.update(dict.fromkeys((kind, fold(word).text.lower()) for word in words(kind)))
    return tuple((kind, *_ends(word), _pattern(kind, word)) for kind, word in found)


def _ends(word: str) -> tuple[str, str]:
    parts = re.split(r"[ -]", word)
    return parts[0], parts[-1]


def _pattern(kind: Kind, word: str) -> re.Pattern[str]:
    body = r"[ _-]?".join(map(re.escape, re.split(r"[ -]", word)))
    if _SPACELESS.search(word):
        return re.compile(body)
    before = "" if kind in (Kind.STRONG, Kind.PHRASE, Kind.WEAK) else _NO_LETTER_BEFORE
    return re.compile(f"{before}{body}{_ENDING}{_NUMBER}")
