"""Dates as a calendar has them: days, months, quarters, numbered weeks and years, in several languages.

One without its year needs a day to be reckoned from. What may be something else (a version, an id, day and month in
either order) is left alone.
"""

from __future__ import annotations

import re

from recalld.records import DateInterval
from retrieval.dates.calendar import days, month_of, quarter_of, week_of, year_of
from retrieval.dates.names import (
    CJK_DAY,
    CJK_MONTH,
    MONTH,
    cjk_year,
    month_number,
    number_of,
)
from retrieval.dates.readers import SENTENCE, Day, Reader

_TIME = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2})?Z?)?(?![\w/-])"
UNTIL = r"(?:to|until|till|through|tot(?: en met)?|t/m|bis|au|à|jusqu['’]à|–|—|至|到|から|～|~)"
_MONTH_UNTIL = r"(?:\s*[-–—]\s*|\s+(?:to|until|till|through|tot(?: en met)?|t/m|bis|à)\s+)"
_YEAR_AFTER = r"(?:,?\s+(?:of\s+|de\s+|van\s+)?(\d{4})\b(?!:|\s*%))?"

_ISO_DAY = re.compile(
    rf"(?<![\w./-])(\d{{4}})([-/])(\d{{1,2}})\2(\d{{1,2}}){_TIME}"
    rf"(?:\s*{UNTIL}\s*(\d{{4}})([-/])(\d{{1,2}})\6(\d{{1,2}}){_TIME})?"
)
_ISO_MONTH = re.compile(r"(?<![\w./-])(\d{4})-(\d{2})(?![\w/-]|\.\d)")
_DOTTED = re.compile(r"(?<![\w./-])(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?![\w/-]|\.\d)")
# Day and month in either order.
_SLASHED = re.compile(r"(?<![\w./-])(\d{1,2})([/-])(\d{1,2})\2(\d{4})(?![\w/-])")
_DAY_MONTH = re.compile(
    rf"(?<![\w:.,/-])(\d{{1,2}})(?:\s*[-–—]\s*(\d{{1,2}}))?(?:st|nd|rd|th|er|e|\.)?\s+(?:of\s+|de\s+)?"
    rf"({MONTH})\b\.?(?:,?\s+(\d{{4}})\b(?!:|\s*%))?",
    re.IGNORECASE,
)
_MONTH_DAY = re.compile(
    rf"\b({MONTH})\.?\s+(\d{{1,2}})(?:\s*[-–—]\s*(\d{{1,2}}))?(?:st|nd|rd|th)?(?![\d:.%]*\d|[:%])"
    rf"(?:,?\s+(\d{{4}})\b(?!:|\s*%))?",
    re.IGNORECASE,
)
_MONTH_YEAR = re.compile(
    rf"(?<!\d )(?<!\d\. )\b({MONTH})\.?,?\s+(?:of\s+|de\s+|van\s+)?(\d{{4}})\b(?![:%])",
    re.IGNORECASE,
)
_MONTHS = re.compile(
    rf"(?<!\d )\b({MONTH}){_MONTH_UNTIL}({MONTH})\b(?!\s*\d{{1,2}}\b){_YEAR_AFTER}", re.IGNORECASE
)
_IN_MONTH = re.compile(
    rf"\b(?:in|im|en|early|late|mid|begin|eind|anfang|ende|début|fin|mi|medio|mitte)[\s-]({MONTH})\b(?!\s*\d)",
    re.IGNORECASE,
)
_IN_YEAR = re.compile(
    r"\b(?:in|during|throughout|im jahre?|en|early|late|mid|begin|medio|eind|anfang|mitte|ende|début|fin|mi)"
    r"[\s-]+((?:19|20)\d{2})(?![\w/%-]|[.,:]\d)",
    re.IGNORECASE,
)
_QUARTER = re.compile(
    r"(?<![\w./-])(?:[QT]([1-4])[\s/-]?(?:of\s+)?((?:19|20)\d{2})|((?:19|20)\d{2})[\s/-]?Q([1-4]))(?![\w/-])"
    r"|\bin\s+Q([1-4])(?![\w/-]|\.\d|['’])"
)
_ORDINALS = (
    "first|1st|eerste|1e|erste[sn]?|1\\.|premier|1er",
    "second|2nd|tweede|2e|zweite[sn]?|2\\.|deuxième|2ème",
    "third|3rd|derde|3e|dritte[sn]?|3\\.|troisième|3ème",
    "fourth|4th|vierde|4e|vierte[sn]?|4\\.|quatrième|4ème",
)
_NAMED_QUARTER = re.compile(
    "(?<!\\w)(?:"
    + "|".join(f"({names})" for names in _ORDINALS)
    + r")\s+(?:quarter|kwartaal|quartals?|trimestre)\s+(?:of\s+|van\s+|de\s+)?((?:19|20)\d{2})\b",
    re.IGNORECASE,
)
_CJK_QUARTER = re.compile(
    r"(\d{4})\s*[年년]の?\s*(?:第\s*([1-4一二三四])\s*(?:季度|四半期)|([1-4])\s*분기)"
)
_WEEK = re.compile(
    r"(?<![\w./-])(?:(\d{4})-W(\d{1,2})|(?:KW|W)\s?(\d{1,2})[\s/]+(?:of\s+|von\s+)?((?:19|20)\d{2})"
    r"|(?:[Ww]eek|[Ww]k)\s?(\d{1,2}),?\s+(?:of\s+|van\s+)?((?:19|20)\d{2})|KW\s?(\d{1,2}))(?![\w/-]|\.\d)"
)
_DUTCH_WEEK = re.compile(
    r"(?<![\w./-])(?:in|van|vanaf|tot|voor|na)\s+week\s(\d{1,2})(?![\w/-]|\.\d|\s+(?:van|of)\b)",
    re.IGNORECASE,
)
_DUTCH = re.compile(
    r"\b(?:de|het|een|zijn|wordt|naar|ik|wij?|niet|er|met|ging|kwam|hebben)\b", re.IGNORECASE
)
_CJK_DIGIT = "[〇零一二三四五六七八九]"
_YEAR_DIGITS = rf"(?<!\d)(?<!{_CJK_DIGIT})\d{{4}}|二[〇零]{_CJK_DIGIT}{{2}}|一九{_CJK_DIGIT}{{2}}"
_CJK_DATE = re.compile(
    rf"(?<!每)(?<!毎)(?:({_YEAR_DIGITS})\s*[年년]の?\s*)?(?<!每年)(?<!毎年)(?<![\d十])({CJK_MONTH})\s*[月월]"
    rf"(?:份?の?\s*({CJK_DAY})\s*[日号號일](?![间間]))?(?![间間])"
)
_CJK_YEAR = re.compile(
    rf"({_YEAR_DIGITS})\s*[年년](?!\s*(?:\d{{1,2}}|[一二三四五六七八九十]{{1,2}})\s*[月월])"
)
_CJK_WEEK = re.compile(r"(\d{4})\s*年\s*第\s*(\d{1,2})\s*[周週]")


def _iso_day(m: re.Match[str], _: Day) -> DateInterval | None:
    first = days(int(m[1]), int(m[3]), int(m[4]))
    if first is None or m[5] is None:
        return first
    last = days(int(m[5]), int(m[7]), int(m[8]))
    if last is None or last.first < first.first:
        return first
    return DateInterval(first=first.first, last=last.last)


def _slashed(m: re.Match[str], _: Day) -> DateInterval | None:
    """Day and month in either order, where only one order is possible."""
    one, other, year = int(m[1]), int(m[3]), int(m[4])
    if one > 12 or one == other:
        return days(year, other, one)
    return days(year, one, other) if other > 12 else None


def _named(
    month: int | None, day: str, last: str | None, year: str | None, at: Day
) -> DateInterval | None:
    if month is None:
        return None
    until = int(last) if last else 0
    if year is not None and year_of(int(year)):
        return days(int(year), month, int(day), until)
    return at.nearest(lambda guess: days(guess, month, int(day), until))


def month_named(m: re.Match[str], name: str) -> int | None:
    """The month that a name in a match stands for; a planet or a rover is none."""
    # French writes its months small.
    if name == "Mars" and not re.search(r"\d\s?$", m.string[max(0, m.start(1) - 2) : m.start(1)]):
        return None
    return month_number(name)


def _in_month(m: re.Match[str], at: Day) -> DateInterval | None:
    month = month_named(m, m[1])
    if m[1].lower() == "mars" and m.group().lower().startswith("in"):
        return None
    return None if month is None else at.nearest(lambda year: month_of(year, month))


def _month_year(m: re.Match[str], _: Day) -> DateInterval | None:
    month = month_named(m, m[1])
    return None if month is None else month_of(int(m[2]), month)


def read_months(m: re.Match[str], at: Day) -> DateInterval | None:
    """From the first of a month to the end of another, for a match of two names and perhaps a year."""
    begin, end = month_named(m, m[1]), month_named(m, m[2])
    if begin is None or end is None:
        return None

    def make(year: int) -> DateInterval | None:
        first = month_of(year - (begin > end), begin)
        last = month_of(year, end)
        return DateInterval(first=first.first, last=last.last) if first and last else None

    return make(int(m[3])) if m[3] else at.nearest(make)


def _quarter(m: re.Match[str], at: Day) -> DateInterval | None:
    if m[5]:
        return at.nearest(lambda year: quarter_of(year, int(m[5])))
    return quarter_of(int(m[2] or m[3]), int(m[1] or m[4]))


def _named_quarter(m: re.Match[str], _: Day) -> DateInterval | None:
    return quarter_of(int(m[5]), next(number for number in range(1, 5) if m[number]))


def _cjk_quarter(m: re.Match[str], _: Day) -> DateInterval | None:
    quarter = number_of(m[2] or m[3])
    return quarter_of(int(m[1]), quarter) if quarter else None


def _week(m: re.Match[str], at: Day) -> DateInterval | None:
    for year, week in ((1, 2), (4, 3), (6, 5)):
        if m[week]:
            return week_of(int(m[year]), int(m[week]))
    return at.nearest(lambda year: week_of(year, int(m[7])))


def _dutch_week(m: re.Match[str], at: Day) -> DateInterval | None:
    if not _DUTCH.search(m.string, max(0, m.start() - SENTENCE), m.end() + SENTENCE):
        return None
    return at.nearest(lambda year: week_of(year, int(m[1])))


def _cjk_date(m: re.Match[str], at: Day) -> DateInterval | None:
    month, day = number_of(m[2]), number_of(m[3]) if m[3] else 0
    if month is None or day is None:
        return None

    def make(year: int) -> DateInterval | None:
        return days(year, month, day) if day else month_of(year, month)

    if m[1]:
        year = cjk_year(m[1])
        return make(year) if year else None
    return at.nearest(make)


def _cjk_year(m: re.Match[str], _: Day) -> DateInterval | None:
    year = cjk_year(m[1])
    return year_of(year) if year else None


NUMERIC: tuple[Reader, ...] = (
    Reader(pattern=_ISO_DAY, read=_iso_day, is_written=True),
    Reader(pattern=_ISO_MONTH, read=lambda m, _: month_of(int(m[1]), int(m[2])), is_written=True),
    Reader(
        pattern=_DOTTED, read=lambda m, _: days(int(m[3]), int(m[2]), int(m[1])), is_written=True
    ),
    Reader(pattern=_SLASHED, read=_slashed, is_written=True),
    Reader(pattern=_IN_YEAR, read=lambda m, _: year_of(int(m[1])), is_written=True, words=(1,)),
    Reader(pattern=_QUARTER, read=_quarter, is_written=True),
    Reader(pattern=_NAMED_QUARTER, read=_named_quarter, is_written=True),
)
NAMED: tuple[Reader, ...] = (
    Reader(
        pattern=_DAY_MONTH,
        read=lambda m, at: _named(month_number(m[3]), m[1], m[2], m[4], at),
        is_written=True,
    ),
    Reader(
        pattern=_MONTH_DAY,
        read=lambda m, at: _named(month_named(m, m[1]), m[2], m[3], m[4], at),
        is_written=True,
    ),
    Reader(pattern=_MONTH_YEAR, read=_month_year, is_written=True),
    Reader(pattern=_MONTHS, read=read_months, is_written=True),
    Reader(pattern=_IN_MONTH, read=_in_month, is_written=True, words=(1,)),
)
NUMBERED: tuple[Reader, ...] = (
    Reader(pattern=_WEEK, read=_week, is_written=True),
    Reader(pattern=_DUTCH_WEEK, read=_dutch_week, is_written=True),
    Reader(pattern=_QUARTER, read=_quarter, is_written=True),
)
CJK: tuple[Reader, ...] = (
    Reader(pattern=_CJK_QUARTER, read=_cjk_quarter, is_written=True),
    Reader(pattern=_CJK_WEEK, read=lambda m, _: week_of(int(m[1]), int(m[2])), is_written=True),
    Reader(pattern=_CJK_DATE, read=_cjk_date, is_written=True),
    Reader(pattern=_CJK_YEAR, read=_cjk_year, is_written=True),
)
