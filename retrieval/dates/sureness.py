"""Whether a word that is a month's name, and may be another word or somebody's name, is the month."""

from __future__ import annotations

import re

from retrieval.dates.names import MONTH, MONTHS, SPANISH_MONTHS, month_number

_LOOK_BACK = 40
_YEAR = r"(?:19|20)\d{2}\b"
_BEFORE_YEAR = re.compile(
    r"\b(?:in|since|until|till|by|from|before|after|of|during|between|and|or|to|early|late|mid|last)\s+(?:\d{1,2}\s+)?$",
    re.IGNORECASE,
)
_YEAR_THEN = re.compile(rf"\.?,?\s+(?:of\s+)?{_YEAR}")
_DAY_BEFORE = re.compile(
    r"\b(?:on|since|until|till|by|before|after|from|(?:from|between)\s+(?:the\s+)?\d{1,2}(?:st|nd|rd|th)?\s+(?:to|until|and))"
    r"\s+(?:the\s+)?\d{1,2}(?:st|nd|rd|th)?\s+$|\d(?:st|nd|rd|th)\s+of\s+$",
    re.IGNORECASE,
)
_BEFORE_DAY = re.compile(
    r"\b(?:on|since|until|till|by|from|before|after|between|to|and)\s+$", re.IGNORECASE
)
_DAY_THEN = re.compile(
    r"\s+\d{1,2}(?:st|nd|rd|th)?(?![\w.:%-])(?!\s+(?:miles|km|times|people|users|steps)\b)"
)
_BEFORE_ALONE = re.compile(
    rf"\b(?:(?:in|since|until|till|during|early|late|mid)[\s-]+|(?:from|between)\s+(?:(?:{MONTH})\s+(?:to|until|till|and)\s+)?)$",
    re.IGNORECASE,
)
_ALONE = re.compile(
    rf"\s*(?:$|[.,;:!?)\]])|\s+(?:we|i|you|he|she|it|they|the|my|our|did|do|was|were|last|this|when|with|at|on|for"
    rf"|onwards?)\b|\s+(?:to|until|till|and|or)\s+(?:{MONTH})\b",
    re.IGNORECASE,
)
_WORDS = frozenset(["march", "may"])
_BEFORE_SPANISH = re.compile(r"\b(?:de|en|desde|entre|hasta|a|y)\s+$", re.IGNORECASE)


def month_named(m: re.Match[str], group: str | int) -> int | None:
    """The month that a name in a match stands for; a planet, a person or a verb is none."""
    name = m[group]
    before = m.string[max(0, m.start(group) - _LOOK_BACK) : m.start(group)]
    # French writes its months small.
    if name == "Mars" and not re.search(r"\d\s?$", before):
        return None
    if name.lower() in SPANISH_MONTHS:
        return MONTHS[name.lower()] if name.islower() and _BEFORE_SPANISH.search(before) else None
    month = month_number(name)
    if month is None and name.islower() and _is_sure(name, before, m.string, m.end(group)):
        return MONTHS.get(name)
    return month


def _is_sure(name: str, before: str, text: str, end: int) -> bool:
    """Whether what stands around a small `may` or `march` leaves no room for a noun or a verb."""
    if _YEAR_THEN.match(text, end):
        return _BEFORE_YEAR.search(before) is not None or _DAY_BEFORE.search(before) is not None
    if _DAY_BEFORE.search(before):
        return name != "may" or _ALONE.match(text, end) is not None
    if _DAY_THEN.match(text, end):
        return _BEFORE_DAY.search(before) is not None
    is_led = name in _WORDS and _BEFORE_ALONE.search(before)
    return bool(is_led) and _ALONE.match(text, end) is not None
