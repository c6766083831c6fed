"""Dates that stand together in a text: "in May" and "last year", "from" one "to" another, "March or May 2025".

A date without a year takes that of the one it stands with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import date
from itertools import pairwise

from recalld.records import DateInterval
from retrieval.dates.calendar import YEARS, in_year, is_year, same_day
from retrieval.dates.names import ARTICLE, CJK, NOT_COUNTED, UNTIL, WEEKDAY
from retrieval.dates.readers import Day, Told

_LOOK_BACK = 40
_OF = re.compile(
    r"[)）]?(?P<comma>\s*[,，、]\s*)?\s*"
    rf"(?P<of>(?:(?:in|of|on|at|op|van|im|am|des|der|en|du|de|of|von)\s+(?:{ARTICLE})?|d['’])|[的の]\s*)?[（(]?",
    re.IGNORECASE,
)
_CJK_OF = re.compile(r"[的の]")
_NAMED_DAY = rf"(?:{ARTICLE})?(?:(?:{WEEKDAY}),?\s+(?:{ARTICLE})?)?"
_TO = re.compile(rf"\s*(?:{UNTIL}|[-–—])\s*{_NAMED_DAY}", re.IGNORECASE)
_AND = re.compile(rf"\s*(?:and|en|und|et|y|和|与|與|と)\s*{_NAMED_DAY}", re.IGNORECASE)
_BETWEEN = re.compile(
    rf"\b(?:(?P<and>between|tussen|zwischen|entre)|from|van|von|vom|du|de|del|desde)\s+{_NAMED_DAY}$",
    re.IGNORECASE,
)
_CJK_BETWEEN = re.compile(r"\s*(?:之间|之間|の間)")
_CJK_SPAN_END = re.compile(r"\s*(?:之间|之間|の間|期间|期間|间|間|为止|為止|まで|까지)")
_LISTED = re.compile(
    r"\s*[,，、]?\s*(?:(?:and|or|en|of|und|oder|et|ou|y|o|&|和|与|與|或|と|や|か)\s*)?"
    rf"(?:(?:in|on|op|im|am|en)\s+)?(?:{ARTICLE})?",
    re.IGNORECASE,
)
_YEAR = r"(?:19|20)\d{2}"
_OR = r"(?:and|or|en|of|und|oder|et|ou|y|&)"
_NEXT_YEAR = re.compile(
    rf"(?:,\s*(?={_YEAR}(?:,\s*{_YEAR}){{0,9}},?\s+{_OR}\s)|,?\s+{_OR}\s+(?:in\s+|im\s+)?)({_YEAR}){NOT_COUNTED}",
    re.IGNORECASE,
)


def joined(text: str, told: list[Told]) -> tuple[Told, ...]:
    """Dates of a text in their order, with those that stand together made one or given their year."""
    if not told:
        return ()
    whole = _merged(text, _merged(text, _continued(text, told), _met), _span)
    return tuple(_listed(text, list(whole)))


def _continued(text: str, told: list[Told]) -> Iterator[Told]:
    """The same, with the further years of `in 2019, 2020 and 2021` or `March 2025 and 2026`."""
    for place, one in enumerate(told):
        yield one
        limit = told[place + 1].start if place + 1 < len(told) else len(text)
        if one.is_span or text[one.end - 4 : one.end] != str(one.interval.last.year):
            continue
        end = one.end
        while (m := _NEXT_YEAR.match(text, end)) and m.end() <= limit and int(m[1]) in YEARS:
            end = m.end()
            days = in_year(one.interval, int(m[1]))
            yield replace(one, interval=days, start=m.start(1), end=end, again=_always(days))


def _always(days: DateInterval) -> Callable[[Day], DateInterval]:
    return lambda _: days


def _merged(
    text: str, told: Iterable[Told], join: Callable[[str, Told, Told], Told | None]
) -> Iterator[Told]:
    """The same, with neighbours as one where `join` makes one of them, which may be joined to the next."""
    waiting: Told | None = None
    for one in told:
        both = waiting and join(text, waiting, one)
        if waiting is not None and not both:
            yield waiting
        waiting = both or one
    if waiting is not None:
        yield waiting


def _met(text: str, one: Told, other: Told) -> Told | None:
    """A date and the year beside it as one: `in May last year`, `in 2025, on 3 May`."""
    gap = _OF.fullmatch(text, one.end, other.start)
    if gap is None:
        return None
    if one.interval == other.interval and is_year(one.interval):
        return replace(one, end=other.end)
    if not gap["comma"] and (not gap["of"] or _CJK_OF.match(gap["of"])):
        day = _same_day(one, other)
        if day:
            return day
    dated, year = (one, other) if is_year(other.interval) else (other, one)
    if not dated.needs_year or is_year(dated.interval) or not is_year(year.interval):
        return None
    # `In May, last year's budget` are two.
    if gap["comma"] and year is other and not gap["of"]:
        return None

    def again(at: Day) -> DateInterval | None:
        whole = year.again(at)
        return whole and _of_year(dated, whole.first.year)

    days = _of_year(dated, year.interval.first.year)
    if days is None:
        return None
    return Told(
        interval=days,
        start=one.start,
        end=other.end,
        is_written=one.is_written and other.is_written,
        is_span=dated.is_span,
        again=again,
        has_year=True,
    )


def _same_day(one: Told, other: Told) -> Told | None:
    """The same day of another year, month or week: `a year ago today`, `去年的今天`."""
    day, unit = (one, other) if one.interval.first == one.interval.last else (other, one)
    if day.is_written or unit.is_written or day.interval.first != day.interval.last:
        return None
    found = same_day(day.interval.first, unit.interval)
    if found is None:
        return None

    def again(at: Day) -> DateInterval | None:
        then, within = day.again(at), unit.again(at)
        return same_day(then.first, within) if then and within else None

    return Told(interval=found, start=one.start, end=other.end, is_written=False, again=again)


def _of_year(told: Told, year: int) -> DateInterval | None:
    """The days of a date without a year, in that year."""
    days = told.again(Day(day=date(year, 12, 31)))
    return days if days and year in (days.first.year, days.last.year) else None


def _span(text: str, one: Told, other: Told) -> Told | None:
    """Two that a `to`, or a `between` and an `and`, make one."""
    if one.is_span or other.is_span or other.start - one.end > _LOOK_BACK:
        return None
    ahead = max(0, one.start - _LOOK_BACK)
    opened = _BETWEEN.search(text[ahead : one.start])
    if not _TO.fullmatch(text, one.end, other.start):
        is_between = (opened and opened["and"]) or _CJK_BETWEEN.match(text, other.end)
        if not is_between or not _AND.fullmatch(text, one.end, other.start):
            return None

    def again(at: Day) -> DateInterval | None:
        return _from_to(one, other, one.again(at), other.again(at))

    days = _from_to(one, other, one.interval, other.interval)
    if days is None:
        return None
    tail = _CJK_SPAN_END.match(text, other.end) if CJK.match(text, other.end - 1) else None
    return Told(
        interval=days,
        start=ahead + opened.start() if opened and opened["and"] else one.start,
        end=tail.end() if tail else other.end,
        is_written=one.is_written and other.is_written,
        is_span=True,
        again=again,
        has_year=one.has_year or other.has_year,
        is_yearly=one.is_yearly and other.is_yearly,
    )


def _from_to(
    one: Told, other: Told, begin: DateInterval | None, end: DateInterval | None
) -> DateInterval | None:
    """From the first day of one date to the last of another; a year that one lacks is the other's."""
    if begin is None or end is None:
        return None
    if one.needs_year:
        begin = one.again(Day(day=end.last))
    elif other.needs_year and (
        end.last < begin.first or (one.has_year and not is_year(one.interval))
    ):
        end = other.again(Day(day=begin.first, is_ahead=True))
    elif begin.first > end.last and not one.has_year:
        begin = one.again(Day(day=end.last))
    if begin is None or end is None or begin.first > end.last:
        return None
    return DateInterval(first=begin.first, last=end.last)


def _listed(text: str, told: list[Told]) -> list[Told]:
    """The same, with the year of the last of a list for all of it: `in March or May 2025`."""
    given = told[-1:]
    for one, _ in reversed(list(pairwise(told))):
        after = given[-1]
        year = after.interval.last.year
        if (
            one.needs_year
            and after.has_year
            and not is_year(after.interval)
            and _LISTED.fullmatch(text, one.end, after.start)
        ):
            days = _of_year(one, year)
            if days is not None:
                given.append(replace(one, interval=days, has_year=True))
                continue
        given.append(one)
    return given[::-1]
