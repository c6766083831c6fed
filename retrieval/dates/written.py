"""Dates as a calendar has them: days, months, quarters, numbered weeks and years, in several languages.

One without its year needs a day to be reckoned from. What may be something else (a version, an id, day and month in
either order) is left alone.
"""

from __future__ import annotations

import re

from recalld.records import DateInterval
from retrieval.dates.calendar import days, half, month_of, quarter_of, week_of, year_of
from retrieval.dates.names import (
    CJK_DAY,
    CJK_MONTH,
    CJK_YEAR,
    MONTH,
    ORDINAL,
    UNTIL,
    cjk_year,
    number_of,
    ordinal_of,
)
from retrieval.dates.readers import SENTENCE, Day, Reader
from retrieval.dates.sureness import month_named

_TIME = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2})?Z?)?(?![\w/-])"
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
    rf"({MONTH})\b\.?(?:,?\s+(?:of\s+|de\s+|van\s+)?(\d{{4}})\b(?!:|\s*%))?",
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
_IN_MONTH = re.compile(
    rf"\b(?:in|im|en|early|late|mid|begin|eind|anfang|ende|début|fin|mi|medio|mitte)[\s-]({MONTH})\b(?!\s*\d)",
    re.IGNORECASE,
)
_IN_YEAR = re.compile(
    r"\b(?:in|during|throughout|in the years?|in het jaar|im jahre?|en|early|late|mid|begin|medio|eind|anfang"
    r"|mitte|ende|début|fin|mi)[\s-]+((?:19|20)\d{2})(?![\w/%-]|[.,:]\d)",
    re.IGNORECASE,
)
_QUARTER = re.compile(
    r"(?<![\w./-])(?:[QT]([1-4])[\s/-]?(?:of\s+)?((?:19|20)\d{2})|((?:19|20)\d{2})[\s/-]?Q([1-4]))(?![\w/-])"
    r"|\bin\s+Q([1-4])(?![\w/-]|\.\d|['’]|\s+(?:of\s+)?(?:19|20)\d{2})"
)
_NAMED_QUARTER = re.compile(
    rf"(?<!\w)({ORDINAL})\s+(?:quarter|kwartaal|quartals?|trimestre)\s+(?:of\s+|van\s+|de\s+)?((?:19|20)\d{{2}})\b",
    re.IGNORECASE,
)
_HALF = re.compile(
    r"(?<![\w./-])(?:H([12])[\s/-]?(?:of\s+)?((?:19|20)\d{2})|((?:19|20)\d{2})[\s/-]?H([12]))(?![\w/-])"
)
_NAMED_HALF = re.compile(
    r"\b(?:(?P<one>first|1st|eerste|ersten?|première|premier)|second|2nd|last|latter|tweede|laatste|zweiten?|letzten?"
    r"|deuxième|seconde?|dernière)\s+(?:half|helft|hälfte|moitié|semestre)\s+(?:(?:of|van|von|de|des)\s+)?"
    r"(?:(?:the year|het jaar|jahres)\s+)?(?P<year>(?:19|20)\d{2})\b",
    re.IGNORECASE,
)
_DECADE = re.compile(
    r"\b(?:in|during|throughout|since|from|until|before|after|over|by|(?:beginning|start|end) of)\s+"
    r"(?P<told>(?:the\s+|(?=early|late|mid))(?:early[\s-]|late[\s-]|mid[\s-]?)?((?:19|20)\d)0s)\b(?!\s+(?:timeout|delay|limit|wait|interval))"
    r"|\b(?:jaren|années|década de)\s+((?:19|20)\d)0\b|\b((?:19|20)\d)0er[\s-]jahren?\b|(?<!\d)((?:19|20)\d)0\s*年代",
    re.IGNORECASE,
)
_CJK_QUARTER = re.compile(
    r"(\d{4})\s*[年년]の?\s*(?:第\s*([1-4一二三四])\s*(?:季度|四半期)|([1-4])\s*분기)"
)
_WEEK = re.compile(
    r"(?<![\w./-])(?:(\d{4})-W(\d{1,2})|(?:KW|W|Kalenderwoche)\s?(\d{1,2})[\s/]+(?:of\s+|von\s+|in\s+)?((?:19|20)\d{2})"
    r"|(?:[Ww]eek|[Ww]k|[Ss]emaine)\s?(\d{1,2}),?\s+(?:of\s+|van\s+|in\s+|de\s+)?((?:19|20)\d{2})"
    r"|(?:KW|Kalenderwoche)\s?(\d{1,2}))(?![\w/-]|\.\d)"
)
_GERMAN_WEEK = re.compile(
    r"(?<![\w.,/-])(\d{1,2})\.\s?(?:KW|Kalenderwoche)\b(?:[\s/]+(?:von\s+|des\s+Jahres\s+)?((?:19|20)\d{2})\b)?"
)
_DUTCH_WEEK = re.compile(
    r"(?<![\w./-])(?:in|van|vanaf|tot|voor|na)\s+week\s(\d{1,2})(?![\w/-]|\.\d|\s+(?:van|of)\b)",
    re.IGNORECASE,
)
_DUTCH = re.compile(
    r"\b(?:de|het|een|zijn|wordt|naar|ik|wij?|niet|er|met|ging|kwam|hebben)\b", re.IGNORECASE
)
_CJK_DATE = re.compile(
    rf"(?<!每)(?<!毎)(?:({CJK_YEAR})\s*[年년]の?\s*)?(?<!每年)(?<!毎年)(?<![\d十])({CJK_MONTH})\s*[月월]"
    rf"(?:份?の?\s*({CJK_DAY})\s*[日号號일](?![间間]))?(?![间間])"
)
_CJK_YEAR = re.compile(
    rf"({CJK_YEAR})\s*[年년](?!\s*(?:\d{{1,2}}|[一二三四五六七八九十]{{1,2}})\s*[月월])"
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


def _in_month(m: re.Match[str], at: Day) -> DateInterval | None:
    month = month_named(m, 1)
    if m[1].lower() == "mars" and m.group().lower().startswith("in"):
        return None
    return None if month is None else at.nearest(lambda year: month_of(year, month))


def _month_year(m: re.Match[str], _: Day) -> DateInterval | None:
    month = month_named(m, 1)
    return None if month is None else month_of(int(m[2]), month)


def _quarter(m: re.Match[str], at: Day) -> DateInterval | None:
    if m[5]:
        return at.nearest(lambda year: quarter_of(year, int(m[5])))
    return quarter_of(int(m[2] or m[3]), int(m[1] or m[4]))


def _named_quarter(m: re.Match[str], _: Day) -> DateInterval | None:
    quarter = ordinal_of(m[1])
    return quarter_of(int(m[2]), quarter) if quarter else None


def _half(m: re.Match[str], _: Day) -> DateInterval | None:
    year = year_of(int(m[2] or m[3]))
    return year and half(year, "early" if (m[1] or m[4]) == "1" else "late")


def _named_half(m: re.Match[str], _: Day) -> DateInterval | None:
    year = year_of(int(m["year"]))
    return year and half(year, "early" if m["one"] else "late")


def _decade(m: re.Match[str], _: Day) -> DateInterval | None:
    year = int(m[2] or m[3] or m[4] or m[5]) * 10
    first, last = year_of(year), year_of(year + 9)
    return DateInterval(first=first.first, last=last.last) if first and last else None


def _german_week(m: re.Match[str], at: Day) -> DateInterval | None:
    if m[2]:
        return week_of(int(m[2]), int(m[1]))
    return at.nearest(lambda year: week_of(year, int(m[1])))


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
    Reader(pattern=_QUARTER, read=_quarter, is_written=True, words=(5,)),
    Reader(pattern=_NAMED_QUARTER, read=_named_quarter, is_written=True),
    Reader(pattern=_HALF, read=_half, is_written=True),
    Reader(pattern=_NAMED_HALF, read=_named_half, is_written=True),
    Reader(pattern=_DECADE, read=_decade, is_written=True, words=("told",)),
)
NAMED: tuple[Reader, ...] = (
    Reader(
        pattern=_DAY_MONTH,
        read=lambda m, at: _named(month_named(m, 3), m[1], m[2], m[4], at),
        is_written=True,
    ),
    Reader(
        pattern=_MONTH_DAY,
        read=lambda m, at: _named(month_named(m, 1), m[2], m[3], m[4], at),
        is_written=True,
    ),
    Reader(pattern=_MONTH_YEAR, read=_month_year, is_written=True),
    Reader(pattern=_IN_MONTH, read=_in_month, is_written=True, words=(1,)),
)
NUMBERED: tuple[Reader, ...] = (
    Reader(pattern=_WEEK, read=_week, is_written=True),
    Reader(pattern=_DUTCH_WEEK, read=_dutch_week, is_written=True),
    Reader(pattern=_GERMAN_WEEK, read=_german_week, is_written=True),
    Reader(pattern=_QUARTER, read=_quarter, is_written=True, words=(5,)),
)
CJK: tuple[Reader, ...] = (
    Reader(pattern=_CJK_QUARTER, read=_cjk_quarter, is_written=True),
    Reader(pattern=_CJK_WEEK, read=lambda m, _: week_of(int(m[1]), int(m[2])), is_written=True),
    Reader(pattern=_CJK_DATE, read=_cjk_date, is_written=True),
    Reader(pattern=_CJK_YEAR, read=_cjk_year, is_written=True),
)
