"""Whether a sentence tells a lesson: that something went wrong, why, how it was mended, or what must never be done.

The words are in `lessons.toml`. What only could go wrong, as manuals say of errors and their handling, is no
lesson: lessons never fade, so a wrong one stays in the way for good.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from ingest.rules.phrases import Phrases, alternatives, phrases, read_lists, words_of

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_CLAUSE = re.compile(r"[,;:、，；：()–—›]\s*")
# What may stand between a bare verb and the end of its clause.
_CLAUSE_END = re.compile(r"[\"'”’*_]*\s*(?:[,.;:!–—，。；]|$)")
# Where a sentence begins, past the parents of a list item and a label.
_OPENING = r"(?:^|(?<=[›:：]\s))(?:\[.\]\s)?"
# A verb is denied by what stands so near before it, and by what follows so closely.
_BEFORE, _AFTER = 40, 14


@dataclass(frozen=True, slots=True)
class _Rules:
    # Enough by themselves, anywhere and where a sentence begins.
    lesson: Phrases
    ban: Phrases
    wrong: Phrases
    bare: Phrases
    goes_on: re.Pattern[str]
    trouble: Phrases
    told: Phrases
    supposed: Phrases
    whenever: Phrases
    supposed_anywhere: Phrases
    negated: re.Pattern[str]
    denied: re.Pattern[str]


def tells_lesson(text: str) -> bool:
    """Whether any sentence of a text tells a lesson; code must stand in it as backticks (`plain_text`)."""
    return any(_is_lesson(sentence) for sentence in _SENTENCE_END.split(text))


def names_trouble(text: str) -> bool:
    """Whether a text speaks of errors or failures at all, told or only thinkable."""
    rules, words = _rules(), words_of(text)
    return any(found.stand_in(text, words) for found in (rules.trouble, rules.wrong, rules.bare))


def _is_lesson(sentence: str) -> bool:
    rules = _rules()
    words = words_of(sentence)
    if rules.ban.stand_in(sentence, words):
        return True
    if any(not _is_denied(sentence, found, rules) for found in rules.lesson.find(sentence, words)):
        return True
    return _went_wrong(sentence, words, rules) or _had_trouble(sentence, words, rules)


def _went_wrong(sentence: str, words: frozenset[str], rules: _Rules) -> bool:
    """Whether it says that something failed or is broken, not that it could."""
    verbs = [
        *rules.wrong.find(sentence, words),
        *(
            one
            for one in rules.bare.find(sentence, words)
            if _ends_or_goes_on(sentence, one, rules)
        ),
    ]
    return any(
        not _is_denied(sentence, verb, rules) and not _is_supposed(sentence, verb, rules)
        for verb in verbs
    )


def _had_trouble(sentence: str, words: frozenset[str], rules: _Rules) -> bool:
    """Whether it names a trouble and tells that it was, where it came from or how it ended."""
    troubles = [
        found
        for found in rules.trouble.find(sentence, words)
        if not _is_denied(sentence, found, rules) and not _is_supposed(sentence, found, rules)
    ]
    return bool(troubles) and any(
        not _is_denied(sentence, found, rules) and not _is_supposed(sentence, found, rules)
        for found in rules.told.find(sentence, words)
    )


def _ends_or_goes_on(sentence: str, verb: re.Match[str], rules: _Rules) -> bool:
    """Whether nothing makes another thing of the verb, as in `failed attempts` or `broke the record`."""
    rest = sentence[verb.end() :]
    return bool(_CLAUSE_END.match(rest) or rules.goes_on.match(rest))


def _is_denied(sentence: str, found: re.Match[str], rules: _Rules) -> bool:
    before = sentence[max(found.start() - _BEFORE, 0) : found.start()]
    after = sentence[found.end() : found.end() + _AFTER]
    return bool(rules.negated.search(before) or rules.denied.match(after))


def _is_supposed(sentence: str, found: re.Match[str], rules: _Rules) -> bool:
    """Whether a word before it says that it is only thinkable, wished away or advised."""
    before = sentence[: found.start()]
    clause = _CLAUSE.split(before)[-1]
    return (
        rules.supposed.stand_in(before, words_of(before))
        or rules.whenever.stand_in(clause, words_of(clause))
        or rules.supposed_anywhere.stand_in(sentence, frozenset())
    )


@cache
def _rules() -> _Rules:
    listed = read_lists("lessons.toml")
    negated = "|".join(filter(None, alternatives(listed["negated"])))
    return _Rules(
        lesson=phrases(listed["lesson"]),
        ban=phrases(listed["ban"], start=_OPENING),
        wrong=phrases(listed["wrong"]),
        bare=phrases(listed["bare"]),
        goes_on=re.compile(
            rf"\s+(?:{'|'.join(map(re.escape, listed['goes_on']))})\b", re.IGNORECASE
        ),
        trouble=phrases(listed["trouble"]),
        told=phrases(listed["told"]),
        supposed=phrases(listed["supposed"]),
        whenever=phrases(listed["whenever"]),
        supposed_anywhere=phrases(listed["supposed_anywhere"]),
        # The negation itself, then at most one word up to the trouble's.
        negated=re.compile(rf"(?:{negated})(?:[ \t]+[\w'’-]+)?[ \t]*$", re.IGNORECASE),
        denied=re.compile("|".join(map(re.escape, listed["denied"])), re.IGNORECASE),
    )
