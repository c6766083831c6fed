"""Spans and lists whose dates share a month or a year: "from 3 to 10 May", "3 and 10 May", "3月5日到10日".

Numbers are days only beside a month, and years only where nothing is counted by them.
"""

from __future__ import annotations

import re

from recalld.records import DateInterval
from retrieval.dates.calendar import days, month_of, quarter_of, year_of
from retrieval.dates.names import (
    ARTICLE,
    CJK_DAY,
    CJK_MONTH,
    CJK_YEAR,
    MONTH,
    NOT_COUNTED,
    UNTIL,
    WEEKDAY,
    cjk_year,
    number_of,
)
from retrieval.dates.readers import Day, Reader
from retrieval.dates.sureness import month_named

_AND = r"and|en|und|et|y"
_OR = r"and|or|en|und|oder|et|ou|y"
_BETWEEN = r"between|tussen|zwischen|entre"
_FROM = r"from|van|von|vom|du|de|del|desde"
_LEAD = rf"(?:\b(?:(?P<between>{_BETWEEN})|{_FROM})\s+(?:{ARTICLE})?)?"
_TO = rf"(?:\s+(?:(?P<and>{_AND})|{UNTIL})\s+(?:{ARTICLE})?|\s*[-–—]\s*)"
_MONTH_TO = rf"(?:\s+(?:(?P<and>{_AND})|{UNTIL}|a)\s+(?:{ARTICLE})?|\s*[-–—]\s*)"
_NAMED_DAY = rf"(?:(?:{WEEKDAY}),?\s+(?:{ARTICLE})?)?"
_ORDINAL = r"(?:st|nd|rd|th|de|ste|er|e|\.)?"
_YEAR = r"(?:19|20)\d{2}"
_YEAR_AFTER = rf"(?:,?\s+(?:of\s+|de\s+|van\s+)?(?P<year>{_YEAR})\b(?!:|\s*%))?"
# What may follow a bare number that is a day: `on May 3 to 10 users` has none.
_CLOSED = (
    rf"(?=\s*(?:$|[.;:!?)\]](?!\d)|,(?!\d)|{_YEAR}\b)|\s+(?:we|I|it|he|she|they|the|my|our|was|were|is|are|did|in|at|on"
    r"|for|last|this|next|there|when|with)\b)"
)

_DAYS_MONTH = re.compile(
    rf"{_LEAD}{_NAMED_DAY}(?<![\w:.,/-])(?P<first>\d{{1,2}}){_ORDINAL}{_TO}{_NAMED_DAY}(?P<last>\d{{1,2}}){_ORDINAL}"
    rf"\s+(?:of\s+|de\s+|van\s+)?(?P<month>{MONTH})\b\.?{_YEAR_AFTER}",
    re.IGNORECASE,
)
_MONTH_DAYS = re.compile(
    rf"{_LEAD}\b(?P<month>{MONTH})\.?\s+(?P<first>\d{{1,2}})(?:st|nd|rd|th)?{_TO}(?P<last>\d{{1,2}})(?:st|nd|rd|th)?"
    rf"(?![\w:%]|\.\d)(?!\s+(?:of\s+)?(?:{MONTH})\b){_CLOSED}{_YEAR_AFTER}",
    re.IGNORECASE,
)
_MONTHS = re.compile(
    rf"{_LEAD}(?<!\d )\b(?P<begin>{MONTH})\.?(?:\s+(?P<beginyear>{_YEAR}))?{_MONTH_TO}(?P<end>{MONTH})\b"
    rf"(?!\s*\d{{1,2}}\b)\.?{_YEAR_AFTER}",
    re.IGNORECASE,
)
_NO_YEARS = re.compile(
    r"\b(?:rose|rises?|rising|raised?|increased?|grew|grows?|went|goes|dropped|fell|falls?|scaled?|changed?|bumped|cut"
    r"|lowered|reduced|resized?|ports?|pages?|lines?|rows?|ids?|numbers?|ranges?|steeg|daalde|ging|stieg|sank"
    r"|price|prijs|preis|rooms?|tel|models?|versions?|codes?)\W+(?:(?:from|van|von|de)\s+)?$",
    re.IGNORECASE,
)
_YEARS = re.compile(
    rf"\b(?:(?P<between>{_BETWEEN})|{_FROM})\s+(?P<begin>{_YEAR})\s*(?:\s(?:(?P<and>{_AND})|{UNTIL})\s|[-–—])\s*"
    rf"(?P<end>{_YEAR}){NOT_COUNTED}"
    rf"|(?:\b(?:in|during|over|im|en)\s+|[(（])(?P<short>(?P<begin2>{_YEAR})\s*[-–—]\s*(?P<end2>{_YEAR}))"
    rf"(?:(?=\s*[)）])|{NOT_COUNTED})",
    re.IGNORECASE,
)
_DOTTED = re.compile(
    r"(?<![\w./-])(\d{1,2})\.(?:\s?(\d{1,2})\.)?\s*(?:bis(?:\s+zum)?|[-–—])\s*(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})"
    r"(?![\w/-]|\.\d)",
    re.IGNORECASE,
)
_DAY_LISTED = re.compile(
    rf"(?<![\w:.,/-])(?P<first>\d{{1,2}}){_ORDINAL}(?=(?:,\s+\d{{1,2}}{_ORDINAL}){{0,8}},?\s+(?:{_OR})\s+(?:{ARTICLE})?"
    rf"\d{{1,2}}{_ORDINAL}\s+(?:of\s+|de\s+)?(?P<month>{MONTH})\b\.?{_YEAR_AFTER})",
    re.IGNORECASE,
)
_LISTED_DAY = re.compile(
    rf"\b(?P<month>{MONTH})\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\s+(?:and|or)\s+(?:the\s+)?(?P<first>\d{{1,2}})"
    rf"(?:st|nd|rd|th)?(?![\w:%]|\.\d){_CLOSED}{_YEAR_AFTER}",
    re.IGNORECASE,
)
_MONTH_LISTED = re.compile(
    rf"(?<!\d )(?<!\d\. )\b(?P<month>{MONTH})(?=(?:,\s+(?:{MONTH})){{0,10}},?\s+(?:{_OR}|of)\s+(?:in\s+)?(?:{MONTH})"
    rf"\.?,?\s+(?:of\s+|de\s+|van\s+)?(?P<year>{_YEAR})\b)",
    re.IGNORECASE,
)
_QUARTER_LISTED = re.compile(
    rf"\bQ([1-4])(?=(?:,\s+Q[1-4]){{0,2}},?\s*(?:\s(?:{_OR}|of)\s|[&/])\s*Q[1-4][\s/-]?(?:of\s+)?({_YEAR})\b)"
)
_QUARTERS = re.compile(
    rf"\b(?:(?:(?P<between>{_BETWEEN})|{_FROM})\s+)?Q([1-4])\s*(?:\s(?:(?P<and>{_AND})|{UNTIL})\s|[-–—])\s*Q([1-4])"
    rf"[\s/-]?(?:of\s+)?({_YEAR})\b"
)
_CJK_YEARS_AWAY = {
    "去年": -1,
    "昨年": -1,
    "前年": -2,
    "一昨年": -2,
    "今年": 0,
    "明年": 1,
    "来年": 1,
}
_CJK_TOLD_YEAR = "|".join(_CJK_YEARS_AWAY)
_CJK_TO = r"\s*(?:到|至|から|부터|[-–—~～〜])\s*"
_CJK_END = r"(?:まで|为止|為止|之间|之間|の間|期间|期間|까지)?"
_CJK_DAYS = re.compile(
    rf"(?:(?:({CJK_YEAR})\s*[年년]|(?P<told>{_CJK_TOLD_YEAR}))[的の]?\s*)?(?<![\d十])({CJK_MONTH})\s*[月월]の?\s*({CJK_DAY})\s*[日号號일]?"
    rf"(?:[(（][^()（）]{{1,4}}[)）])?(?:{_CJK_TO}|(?P<and>[和与與と]))({CJK_DAY})\s*[日号號일]"
    rf"(?:[(（][^()（）]{{1,4}}[)）])?(?P<end>{_CJK_END})"
)
_CJK_LISTED_DAY = re.compile(
    rf"(?:({CJK_YEAR})\s*[年년][的の]?\s*)?(?<![\d十])({CJK_MONTH})\s*[月월]の?\s*(?:{CJK_DAY})\s*[日号號일]"
    rf"\s*[、和与與と]\s*(?P<second>{CJK_DAY})\s*[日号號일](?![间間])"
)
_CJK_MONTHS = re.compile(
    rf"(?:(?:({CJK_YEAR})\s*[年년]|(?P<told>{_CJK_TOLD_YEAR}))[的の]?\s*)?(?<![\d十/.-])({CJK_MONTH})\s*[月월]?(?:{_CJK_TO}|(?P<and>[和与與と]))"
    rf"({CJK_MONTH})\s*[月월]份?(?!\s*の?\s*(?:\d|[一二三四五六七八九十]+[日号號]))(?P<end>{_CJK_END})"
)
_CJK_YEARS = re.compile(
    rf"({CJK_YEAR})\s*[年년]?(?:{_CJK_TO}|(?P<and>[和与與と]))({CJK_YEAR})\s*[年년]"
    rf"(?!\s*(?:\d{{1,2}}|[一二三四五六七八九十]{{1,2}})\s*[月월])(?P<end>{_CJK_END})"
)


def _is_list(m: re.Match[str]) -> bool:
    """Whether an `and` stands between two dates that no `between` opens."""
    return m["and"] is not None and m["between"] is None


def _of_month(
    month: int | None, first: str, last: str, year: str | None, at: Day
) -> DateInterval | None:
    if month is None:
        return None
    begin, end = int(first), int(last)
    if year is not None:
        return days(int(year), month, begin, end)
    return at.nearest(lambda guess: days(guess, month, begin, end))


def _days(m: re.Match[str], at: Day) -> DateInterval | None:
    if _is_list(m):
        return None
    return _of_month(month_named(m, "month"), m["first"], m["last"], m["year"], at)


def _dotted(m: re.Match[str], _: Day) -> DateInterval | None:
    first = days(int(m[5]), int(m[2] or m[4]), int(m[1]))
    last = days(int(m[5]), int(m[4]), int(m[3]))
    if first is None or last is None or first.first > last.last:
        return None
    return DateInterval(first=first.first, last=last.last)


def _day(m: re.Match[str], at: Day) -> DateInterval | None:
    return _of_month(month_named(m, "month"), m["first"], m["first"], m["year"], at)


def months_between(begin: int, end: int, year: int) -> DateInterval | None:
    """From the first of a month to the end of another, that one in the year."""
    first, last = month_of(year - (begin > end), begin), month_of(year, end)
    return DateInterval(first=first.first, last=last.last) if first and last else None


def _months(m: re.Match[str], at: Day) -> DateInterval | None:
    begin, end = month_named(m, "begin"), month_named(m, "end")
    if begin is None or end is None or _is_list(m):
        return None
    if m["year"] and m["beginyear"]:
        return None
    if m["beginyear"]:
        return months_between(begin, end, int(m["beginyear"]) + (begin > end))
    if m["year"]:
        return months_between(begin, end, int(m["year"]))
    # Both may be people: `between April and June`.
    if m["and"] and {begin, end} <= {4, 5, 6}:
        return None
    return at.nearest(lambda year: months_between(begin, end, year))


def read_years(first: int, last: int) -> DateInterval | None:
    """From the first of a year to the end of a later one."""
    begin, end = year_of(first), year_of(last)
    if begin is None or end is None or first >= last:
        return None
    return DateInterval(first=begin.first, last=end.last)


def counts_no_years(m: re.Match[str]) -> bool:
    """Whether what stands before two numbers says that they are none: `ports 1980-2020`."""
    return _NO_YEARS.search(m.string[max(0, m.start() - 24) : m.start()]) is not None


def _years(m: re.Match[str], _: Day) -> DateInterval | None:
    if _is_list(m) or counts_no_years(m):
        return None
    return read_years(int(m["begin"] or m["begin2"]), int(m["end"] or m["end2"]))


def _month_listed(m: re.Match[str], _: Day) -> DateInterval | None:
    month = month_named(m, "month")
    return month_of(int(m["year"]), month) if month else None


def _quarters(m: re.Match[str], _: Day) -> DateInterval | None:
    first, last = quarter_of(int(m[5]), int(m[2])), quarter_of(int(m[5]), int(m[4]))
    if first is None or last is None or first.first >= last.first or _is_list(m):
        return None
    return DateInterval(first=first.first, last=last.last)


def _is_cjk_list(m: re.Match[str]) -> bool:
    return m["and"] is not None and not m["end"].endswith(("间", "間"))


def _cjk_span_year(m: re.Match[str], at: Day) -> int | None:
    """The year that a span names, be it by its distance; 0 when it names none."""
    if m["told"]:
        return at.day.year + _CJK_YEARS_AWAY[m["told"]] if at.day else None
    return cjk_year(m[1]) if m[1] else 0


def _cjk_days(m: re.Match[str], at: Day) -> DateInterval | None:
    month, first, last = number_of(m[3]), number_of(m[4]), number_of(m[6])
    year = _cjk_span_year(m, at)
    if not month or not first or not last or year is None or _is_cjk_list(m):
        return None
    if year:
        return days(year, month, first, last)
    return at.nearest(lambda guess: days(guess, month, first, last))


def _cjk_listed_day(m: re.Match[str], at: Day) -> DateInterval | None:
    month, day = number_of(m[2]), number_of(m["second"])
    if not month or not day:
        return None
    if m[1]:
        year = cjk_year(m[1])
        return days(year, month, day) if year else None
    return at.nearest(lambda guess: days(guess, month, day))


def _cjk_months(m: re.Match[str], at: Day) -> DateInterval | None:
    begin, end, year = number_of(m[3]), number_of(m[5]), _cjk_span_year(m, at)
    if not begin or not end or year is None or _is_cjk_list(m):
        return None
    if year:
        return months_between(begin, end, year + (begin > end))
    return at.nearest(lambda guess: months_between(begin, end, guess))


def _cjk_years(m: re.Match[str], _: Day) -> DateInterval | None:
    first, last = cjk_year(m[1]), cjk_year(m[3])
    if first is None or last is None or _is_cjk_list(m):
        return None
    return read_years(first, last)


NUMERIC: tuple[Reader, ...] = (
    Reader(pattern=_YEARS, read=_years, is_written=True, is_span=True, words=("short",)),
    Reader(pattern=_DOTTED, read=_dotted, is_written=True, is_span=True),
    Reader(pattern=_QUARTERS, read=_quarters, is_written=True, is_span=True),
    Reader(
        pattern=_QUARTER_LISTED,
        read=lambda m, _: quarter_of(int(m[2]), int(m[1])),
        is_written=True,
    ),
)
NAMED: tuple[Reader, ...] = (
    Reader(pattern=_DAYS_MONTH, read=_days, is_written=True, is_span=True),
    Reader(pattern=_MONTH_DAYS, read=_days, is_written=True, is_span=True),
    Reader(pattern=_MONTHS, read=_months, is_written=True, is_span=True),
    Reader(pattern=_DAY_LISTED, read=_day, is_written=True),
    Reader(pattern=_LISTED_DAY, read=_day, is_written=True, words=("first",)),
    Reader(pattern=_MONTH_LISTED, read=_month_listed, is_written=True),
)
CJK: tuple[Reader, ...] = (
    Reader(pattern=_CJK_DAYS, read=_cjk_days, is_written=True, is_span=True),
    Reader(pattern=_CJK_LISTED_DAY, read=_cjk_listed_day, is_written=True, words=("second",)),
    Reader(pattern=_CJK_MONTHS, read=_cjk_months, is_written=True, is_span=True),
    Reader(pattern=_CJK_YEARS, read=_cjk_years, is_written=True, is_span=True),
)
