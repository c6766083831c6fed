"""Lists of phrases, as the word files of the rules hold them, made quick to look for.

What a phrase tells is not known here.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources

_CODE = re.compile(r"`+[^`]*`+")
_URL = re.compile(r"\b[a-z]+://\S+")
_SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WORD = re.compile(r"[^\W_]+")
# A pattern that finds nothing, for a list without phrases with spaces.
_NOTHING = r"(?!)"
# Where a sentence or a piece of one begins, past a task's box, a speaker's label and words of order.
START = (
    r"(?:^|(?<=[.!?;:›,]\s))(?:\[.\]\s)?(?:[^\W\d]\w{0,15}:\s)?"
    r"(?:(?:then|first|next|finally|just|simply|now|please|dann|eerst|daarna|to \w+,)\s)?"
)


@dataclass(frozen=True, slots=True)
class Phrases:
    """Phrases to look for. Few texts hold even the first word of one, so that is asked first."""

    spaced: re.Pattern[str]
    first_words: frozenset[str]
    # What a word begins with that one of them begins with, where that one is open.
    first_parts: tuple[str, ...]
    # Those in scripts without spaces; None when there are none.
    spaceless: re.Pattern[str] | None

    def find(self, text: str, words: frozenset[str]) -> Iterator[re.Match[str]]:
        """Where the phrases stand in a text whose words, in small letters, are `words`."""
        if (
            not words.isdisjoint(self.first_words)
            or ("`" in self.first_words and "`" in text)
            or (self.first_parts and any(word.startswith(self.first_parts) for word in words))
        ):
            yield from self.spaced.finditer(text)
        if self.spaceless is not None and not text.isascii():
            yield from self.spaceless.finditer(text)

    def stand_in(self, text: str, words: frozenset[str]) -> bool:
        """Whether any of them stands in the text."""
        return next(self.find(text, words), None) is not None


def plain_text(text: str) -> str:
    """The text with each piece of code as one backtick, and without addresses."""
    return _URL.sub("", _CODE.sub("`", text)) if "`" in text or "://" in text else text


def words_of(text: str) -> frozenset[str]:
    """The words of a text in small letters, as `Phrases.find` wants them."""
    return frozenset(_WORD.findall(text.lower()))


def read_lists(file: str) -> dict[str, list[str]]:
    """The lists of a word file beside this module by name, all languages together."""
    table = tomllib.loads((resources.files(__package__) / file).read_text("utf-8"))
    return {name: [word for of in table[name].values() for word in of] for name in table}


def phrases(words: list[str], start: str = "") -> Phrases:
    """The phrases of a list, each behind the pattern `start`."""
    spaced, spaceless = alternatives(words)
    firsts = [
        (part.lower(), word.endswith("*") and part == word[:-1])
        for word in words
        if not _SPACELESS.search(word)
        for part in (_WORD.findall(word) if word[0] != "`" else ["`"])[:1]
    ]
    return Phrases(
        spaced=re.compile(start + spaced, re.IGNORECASE),
        first_words=frozenset(part for part, goes_on in firsts if not goes_on),
        first_parts=tuple(part for part, goes_on in firsts if goes_on),
        spaceless=re.compile(f"{start}(?:{spaceless})", re.IGNORECASE) if spaceless else None,
    )


def alternatives(words: list[str]) -> tuple[str, str]:
    """Patterns of the phrases with spaces between words, which have word borders, and of the others."""
    spaced = [_phrase(word) for word in words if not _SPACELESS.search(word)]
    spaceless = [re.escape(word) for word in words if _SPACELESS.search(word)]
    return rf"(?<![\w-])(?:{'|'.join(spaced) or _NOTHING})", "|".join(spaceless)


def _phrase(word: str) -> str:
    pattern = re.escape(word.removesuffix("*"))
    pattern = pattern.replace(re.escape("…"), r"(?:[\w'’-]+\s+){0,3}[\w'’-]+")
    open_ended = word.endswith(("*", "`", ":", "›"))
    return pattern + (r"[\w-]*" if word.endswith("*") else "" if open_ended else r"(?![\w])(?!-\w)")
