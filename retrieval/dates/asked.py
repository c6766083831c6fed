"""The time that a question names: its words as intervals of days, reckoned from the day it is asked.

It reads what notes are read by, and besides what only a question makes plain: "before 2024", "since March", "last
summer", "on Friday". What stands in quotation marks, in code or in an address is a name and no time. Seasons are
those of the northern half of the world.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, timedelta

from recalld.records import DateInterval
from retrieval.dates.inquiring import IN_QUESTIONS, IN_STORIES, PAST
from retrieval.dates.readers import Day, Told
from retrieval.dates.reading import read_dates

FIRST_DAY, LAST_DAY = date.min, date.max

# More is a pasted page, not a question; what comes later is not read.
_MOST_CHARACTERS = 2000
# What may stand before a date and still belong to it.
_LOOK_BACK = 40

_NAMES = re.compile(
    r"`[^`]*`|\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|《[^》]*》|(?<!\w)'[^']+'(?!\w)"
    r"|\b\w+://\S+|(?<!\S)~?/[\w./-]+|\b[\w-]+\.(?:md|txt|py|js|ts|log|csv|pdf|json|toml|yaml)\b"
)
_FUTURE = re.compile(
    r"\b(?:will|shall|going to|(?<!\bwho )(?<!\bI )(?<!\bwe )(?<!\bthey )planned|planning|scheduled"
    r"|upcoming|due|zal|zullen|gaat|gaan|gepland|komt|plannen|wird"
    r"|werden|geplant|steht an|va|vais|allons|prévue?s?|planifiée?s?)\b|计划|打算|安排|預定|予定|예정",
    re.IGNORECASE,
)
_EACH = re.compile(
    r"(?:\b(?:every|each|any|elke|iedere|jede[nrsm]?|chaque|tous les|toutes les)\s+(?:\w+\s+)?|[每毎])$",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"(?:\b(?:before|prior to|earlier than|vóór|avant|vor)\s+(?:the\s+|de\s+|le\s+|dem\s+|den\s+)?)$",
    re.IGNORECASE,
)
# Dutch `voor` is "before" and "for": either way nothing after that time.
_UNTIL = re.compile(
    r"(?:\b(?:until|till|up to(?: and including)?|through|tot(?: en met| aan)?|t/m|voor|bis(?: zum)?"
    r"|jusqu['’](?:en|à|au))\s+(?:the\s+|de\s+)?)$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"(?:\b(?:after|later than|na|nach|après)\s+(?:the\s+|de\s+|le\s+|dem\s+|den\s+)?)$",
    re.IGNORECASE,
)
_SINCE = re.compile(
    r"(?:\b(?:since|sinds|vanaf|seit|ab|depuis|à partir d[eu'’]|starting(?: in| from)?|as of)"
    r"\s+(?:the\s+|de\s+|le\s+|dem\s+)?)$",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(
    r"\b(?:in|on|at|during|from|of|over|op|van|im|am|vom|von|en|du|le|de)\s+(?:the\s+|de\s+|der\s+|den\s+|la\s+)?$",
    re.IGNORECASE,
)
_BEFORE_THAT = re.compile(r"\s*(?:年?份?)?(?:以前|之前|より前|よりまえ|의?\s?이전)")
_UNTIL_THAT = re.compile(r"\s*(?:为止|為止|まで|까지)")
_AFTER_THAT = re.compile(r"\s*(?:之后|之後|より後|이후)")
_SINCE_THAT = re.compile(
    r"\s+(?:onwards?|and (?:later|after|beyond)|or later)\b|\s*(?:以后|以後|以来|以來|以降|から|起(?![来床点き])|부터)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTime:
    """The days that a question names, and the words that name them."""

    # Each on its own: `May or July` is two. An open side reaches to the first or last day there is.
    intervals: tuple[DateInterval, ...]
    # As characters of the question, each from its start to before its end; in their order.
    spans: tuple[tuple[int, int], ...]
    words: tuple[str, ...]
    # Those of the words that are dates as a calendar has them.
    written: tuple[str, ...]
    # Whether all of it was over when it was asked.
    is_past: bool

    @property
    def hull(self) -> DateInterval:
        """From the first of the days to the last."""
        return DateInterval(
            first=min(one.first for one in self.intervals),
            last=max(one.last for one in self.intervals),
        )


def read_asked(text: str, today: date) -> AskedTime | None:
    """The time that a question names; None when it names none.

    A date without a year is the latest that has begun, or the next one when the question looks ahead.
    """
    plain = _NAMES.sub(lambda name: "_" * len(name[0]), text[:_MOST_CHARACTERS])
    at = Day(day=today, is_ahead=_FUTURE.search(plain) is not None)
    is_past = PAST.search(plain) is not None
    more = (*IN_QUESTIONS, *IN_STORIES) if is_past or at.is_ahead else IN_QUESTIONS
    told = [
        one
        for one in read_dates(plain, at, more=more)
        if not _EACH.search(_before(plain, one.start))
    ]
    if not told:
        return None
    whole = [_directed(plain, one) for one in told]
    intervals = _met(tuple(dict.fromkeys(one.interval for one in whole)))
    return AskedTime(
        intervals=intervals,
        spans=tuple((one.start, one.end) for one in whole),
        words=tuple(text[one.start : one.end].strip() for one in whole),
        written=tuple(text[one.start : one.end] for one in told if one.is_written),
        is_past=all(one.last < today for one in intervals),
    )


def _before(text: str, at: int) -> str:
    return text[max(0, at - _LOOK_BACK) : at]


def _met(intervals: tuple[DateInterval, ...]) -> tuple[DateInterval, ...]:
    """The same, where one that is open to a side bounds the others: `in 2025, before May`."""
    opened = [one for one in intervals if one.first == FIRST_DAY or one.last == LAST_DAY]
    closed = [one for one in intervals if one not in opened]
    if not opened or len(intervals) == 1:
        return intervals
    first = max(one.first for one in opened)
    last = min(one.last for one in opened)
    met = [
        DateInterval(first=max(one.first, first), last=min(one.last, last))
        for one in closed or [DateInterval(first=FIRST_DAY, last=LAST_DAY)]
    ]
    return tuple(one for one in met if one.first <= one.last) or intervals


def without(text: str, asked: AskedTime) -> str:
    """The question without the words that name its time."""
    kept = list(text)
    for start, end in asked.spans:
        kept[start:end] = " " * (end - start)
    return "".join(kept)


def _directed(text: str, told: Told) -> Told:
    """A date with the `before` or `since` that stands at it, which opens it to one side."""
    before = _before(text, told.start)
    offset = told.start - len(before)
    first, last = told.interval.first, told.interval.last
    day = timedelta(days=1)
    ways = (
        (_BEFORE, _BEFORE_THAT, FIRST_DAY, first - day),
        (_UNTIL, _UNTIL_THAT, FIRST_DAY, last),
        (_AFTER, _AFTER_THAT, last + day, LAST_DAY),
        (_SINCE, _SINCE_THAT, first, LAST_DAY),
    )
    # A span has its own beginning and its own end.
    for ahead, behind, begin, end in (ways[0], ways[2]) if told.is_span else ways:
        lead, tail = ahead.search(before), behind.match(text, told.end)
        if (lead or tail) and first > FIRST_DAY and last < LAST_DAY:
            return replace(
                told,
                interval=DateInterval(first=begin, last=end),
                start=offset + lead.start() if lead else told.start,
                end=tail.end() if tail else told.end,
            )
    lead = _PREPOSITION.search(before)
    return replace(told, start=offset + lead.start()) if lead else told
