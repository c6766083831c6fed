"""What kind of knowledge a sentence is, by the words that give it away; the words are in `categories.toml`.

It says nothing where no such word stands: then the nearest prototype decides, elsewhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from ingest.rules.lessons import names_trouble, tells_lesson
from ingest.rules.phrases import START, Phrases, phrases, plain_text, read_lists, words_of
from recalld.records import Category

_SUPPOSED = re.compile(
    r"\b(?:if|when|whenever|what|that|which|once|where|unless|as|or|maybe|say|you|you['’]d|may|might|als|wanneer|wenn|falls|si|quand)\s+$",
    re.IGNORECASE,
)
# `I want to replace it` is a plan, `好きなように` is "as you like"; looked for from a phrase's last character.
_INTENDED = re.compile(r"t to\b|きな(?:よう|ら|だけ)|きでない場合")


@dataclass(frozen=True, slots=True)
class _Rules:
    preference: Phrases
    timeline: Phrases
    event: Phrases
    tool: Phrases
    opens: Phrases


def find_category(text: str, *, has_date: bool) -> Category | None:
    """The category that a sentence's words give away; None when the rules can't tell.

    What must not be forgotten wins: an error over a preference, over an event, over an instruction. What speaks
    of errors and tells none is knowledge.

    Args:
        text: A sentence, code in backticks.
        has_date: Whether it tells a date, which is what makes a verb like "moved" an event.
    """
    rules = _rules()
    plain = plain_text(text)
    words = words_of(plain)
    if tells_lesson(plain):
        return Category.ERROR
    if _tells_preference(plain, words, rules):
        return Category.PREFERENCE
    if rules.timeline.stand_in(plain, words) or (has_date and rules.event.stand_in(plain, words)):
        return Category.TIMELINE
    if rules.tool.stand_in(plain, words) or rules.opens.stand_in(plain, words):
        return Category.TOOL
    # The examples of errors are near to all that is said of errors.
    return Category.KNOWLEDGE if names_trouble(plain) else None


def _tells_preference(text: str, words: frozenset[str], rules: _Rules) -> bool:
    """Whether a liking is told, neither supposed nor planned: `if I like` is none."""
    return any(
        not _SUPPOSED.search(text[max(found.start() - 20, 0) : found.start()])
        and not _INTENDED.match(text, found.end() - 1)
        for found in rules.preference.find(text, words)
    )


@cache
def _rules() -> _Rules:
    listed = read_lists("categories.toml")
    return _Rules(
        preference=phrases(listed["preference"]),
        timeline=phrases(listed["timeline"]),
        event=phrases(listed["event"]),
        tool=phrases(listed["tool"]),
        opens=phrases(listed["opens"], start=START),
    )
