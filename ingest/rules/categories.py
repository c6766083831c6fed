"""What kind of knowledge a sentence is, by the words that give it away; the words are in `categories.toml`.

It says nothing where no such word stands: then the nearest prototype decides, elsewhere.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources

from recalld.records import Category

_CODE = re.compile(r"`+[^`]*`+")
_URL = re.compile(r"\b[a-z]+://\S+")
_SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# Where a sentence or a piece of one begins, past a task's box, a speaker's label and words of order.
_START = (
    r"(?:^|(?<=[.!?;:›,]\s))(?:\[.\]\s)?(?:[^\W\d]\w{0,15}:\s)?"
    r"(?:(?:then|first|next|finally|just|simply|now|please|dann|eerst|daarna|to \w+,)\s)?"
)


_SUPPOSED = re.compile(
    r"\b(?:if|when|whenever|what|that|which|once|where|unless|as|or|maybe|say|you|you['’]d|may|might|als|wanneer|wenn|falls|si|quand)\s+$",
    re.IGNORECASE,
)
# `I want to replace it` is a plan, `好きなように` is "as you like"; looked for from a phrase's last character.
_INTENDED = re.compile(r"t to\b|きな(?:よう|ら|だけ)|きでない場合")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class _Phrases:
    """Phrases to look for. Few texts hold even the first word of one, so that is asked first."""

    spaced: re.Pattern[str]
    first_words: frozenset[str]
    first_parts: tuple[str, ...]
    # Those in scripts without spaces; None when there are none.
    spaceless: re.Pattern[str] | None

    def find(self, text: str, words: frozenset[str]) -> Iterator[re.Match[str]]:
        """Where the phrases stand in a text whose words, in small letters, are `words`."""
        if (
            not words.isdisjoint(self.first_words)
            or ("`" in self.first_words and "`" in text)
            or any(word.startswith(self.first_parts) for word in words)
        ):
            yield from self.spaced.finditer(text)
        if self.spaceless is not None and _SPACELESS.search(text):
            yield from self.spaceless.finditer(text)

    def stand_in(self, text: str, words: frozenset[str]) -> bool:
        """Whether any of them stands in the text."""
        return next(self.find(text, words), None) is not None


@dataclass(frozen=True, slots=True)
class _Rules:
    error: _Phrases
    negated: re.Pattern[str]
    denied: re.Pattern[str]
    preference: _Phrases
    timeline: _Phrases
    event: _Phrases
    tool: _Phrases
    opens: _Phrases


def find_category(text: str, *, has_date: bool) -> Category | None:
    """The category that a sentence's words give away; None when the rules can't tell.

    What must not be forgotten wins: an error over a preference, over an event, over an instruction.

    Args:
        text: A sentence, code in backticks.
        has_date: Whether it tells a date, which is what makes a verb like "moved" an event.
    """
    rules = _rules()
    plain = _URL.sub("", _CODE.sub("`", text)) if "`" in text or "://" in text else text
    words = frozenset(_WORD.findall(plain.lower()))
    if _tells_error(plain, words, rules):
        return Category.ERROR
    if _tells_preference(plain, words, rules):
        return Category.PREFERENCE
    if rules.timeline.stand_in(plain, words) or (has_date and rules.event.stand_in(plain, words)):
        return Category.TIMELINE
    if rules.tool.stand_in(plain, words) or rules.opens.stand_in(plain, words):
        return Category.TOOL
    return None


def _tells_error(text: str, words: frozenset[str], rules: _Rules) -> bool:
    """Whether an error is told, not denied: `no errors`, `error-free` and `error handling` are none."""
    return any(
        not rules.negated.search(text[max(found.start() - 40, 0) : found.start()])
        and not rules.denied.match(text[found.end() : found.end() + 12])
        for found in rules.error.find(text, words)
    )


def _tells_preference(text: str, words: frozenset[str], rules: _Rules) -> bool:
    """Whether a liking is told, neither supposed nor planned: `if I like` is none."""
    return any(
        not _SUPPOSED.search(text[max(found.start() - 20, 0) : found.start()])
        and not _INTENDED.match(text, found.end() - 1)
        for found in rules.preference.find(text, words)
    )


@cache
def _rules() -> _Rules:
    table = tomllib.loads((resources.files(__package__) / "categories.toml").read_text("utf-8"))
    listed = {name: [word for of in table[name].values() for word in of] for name in table}
    negated = "|".join(filter(None, _alternatives(listed["negated"])))
    return _Rules(
        error=_phrases(listed["error"]),
        # The negation itself, then at most one word up to the error's word.
        negated=re.compile(rf"(?:{negated})(?:[ \t]+[\w'’-]+)?[ \t]*$", re.IGNORECASE),
        denied=re.compile("|".join(map(re.escape, listed["denied"])), re.IGNORECASE),
        preference=_phrases(listed["preference"]),
        timeline=_phrases(listed["timeline"]),
        event=_phrases(listed["event"]),
        tool=_phrases(listed["tool"]),
        opens=_phrases(listed["opens"], start=_START),
    )


def _phrases(words: list[str], start: str = "") -> _Phrases:
    spaced, spaceless = _alternatives(words)
    firsts = [
        (part.lower(), word.endswith("*") and part == word[:-1])
        for word in words
        if not _SPACELESS.search(word)
        for part in (_WORD.findall(word) if word[0] != "`" else ["`"])[:1]
    ]
    return _Phrases(
        spaced=re.compile(start + spaced, re.IGNORECASE),
        first_words=frozenset(part for part, goes_on in firsts if not goes_on),
        first_parts=tuple(part for part, goes_on in firsts if goes_on),
        spaceless=re.compile(f"{start}(?:{spaceless})", re.IGNORECASE) if spaceless else None,
    )


def _alternatives(words: list[str]) -> tuple[str, str]:
    """Patterns of the phrases with spaces between words, which have word borders, and of the others."""
    spaced = [_phrase(word) for word in words if not _SPACELESS.search(word)]
    spaceless = [re.escape(word) for word in words if _SPACELESS.search(word)]
    return rf"(?<![\w-])(?:{'|'.join(spaced)})", "|".join(spaceless)


def _phrase(word: str) -> str:
    pattern = re.escape(word.removesuffix("*"))
    pattern = pattern.replace(re.escape("…"), r"(?:[\w'’-]+\s+){0,3}[\w'’-]+")
    open_ended = word.endswith(("*", "`", ":"))
    return pattern + (r"[\w-]*" if word.endswith("*") else "" if open_ended else r"(?![\w])(?!-\w)")
