"""The day, or days, that a sentence of a note speaks of.

It never guesses: a date without a year, or one told from "today", needs the day the note was written. The grammar
is the one that questions are read by.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from recalld.records import DateInterval
from retrieval.dates.names import WEEKDAYS
from retrieval.dates.readers import Day
from retrieval.dates.reading import first_date, read_dates

_LETTERS = re.compile(r"[^\W\d_]+")
_WEEKDAY_SIGNS = frozenset(
    [
        "mon",
        "tue",
        "wed",
        "thu",
        "fri",
        "sat",
        "sun",
        "ma",
        "di",
        "wo",
        "do",
        "vr",
        "za",
        "zo",
        "mo",
        "mi",
        "fr",
        "sa",
        "so",
    ]
)


def find_dates(text: str, *, note_date: date | None) -> DateInterval | None:
    """The first date that a text tells, as an interval of days; None when it tells none.

    A date without a year is the latest such day that is not after `note_date`. A week runs from
    Monday to Sunday. Without `note_date` only dates that carry their year are read.
    """
    return first_date(text, day=note_date)


def section_day(heading_path: Sequence[str], *, note_date: date | None) -> date | None:
    """The day that a section of a log is about: the innermost heading that is a date and nothing else.

    A weekday may stand beside the date. A heading such as `Moved on 2 March` is about the move.
    """
    for heading in reversed(heading_path):
        told = read_dates(heading, Day(day=note_date))
        if len(told) != 1 or not told[0].is_written:
            continue
        interval = told[0].interval
        beside = _LETTERS.findall(heading[: told[0].start] + " " + heading[told[0].end :])
        if interval.first == interval.last and all(map(_is_weekday, beside)):
            return interval.first
    return None


def _is_weekday(word: str) -> bool:
    lowered = word.lower()
    return (
        lowered in WEEKDAYS
        or lowered in _WEEKDAY_SIGNS
        or re.fullmatch(
            r"(?:星期|周|週)?[一二三四五六日天月火水木金土](?:曜日?)?|[월화수목금토일]요일", word
        )
        is not None
    )
