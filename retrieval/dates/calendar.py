"""Days, weeks, months, quarters and years as intervals of days. Pure arithmetic: no text, no clock.

Everything outside the years 1900 to 2100 is None: such a number is hardly a year.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta
from typing import Literal

from recalld.records import DateInterval

Unit = Literal["day", "week", "month", "quarter", "year"]
Half = Literal["early", "mid", "late"]

YEARS = range(1900, 2101)
# 29 February may be up to eight years away.
_LEAP_GAP = 9
_YEAR_LENGTHS = (365, 366)
_LENGTHS = (28, 29, 30, 31, *_YEAR_LENGTHS)


def days(year: int, month: int, day: int, last: int = 0) -> DateInterval | None:
    """A day, or the days from `day` to `last` of one month; None when there is no such day."""
    if year not in YEARS or not 1 <= month <= 12:
        return None
    last = last or day
    if not 1 <= day <= last <= monthrange(year, month)[1]:
        return None
    return DateInterval(first=date(year, month, day), last=date(year, month, last))


def month_of(year: int, month: int) -> DateInterval | None:
    """A calendar month."""
    if year not in YEARS or not 1 <= month <= 12:
        return None
    return days(year, month, 1, monthrange(year, month)[1])


def quarter_of(year: int, quarter: int) -> DateInterval | None:
    """A quarter of a calendar year, 1 to 4."""
    first, last = month_of(year, quarter * 3 - 2), month_of(year, quarter * 3)
    return DateInterval(first=first.first, last=last.last) if first and last else None


def year_of(year: int) -> DateInterval | None:
    """A calendar year."""
    if year not in YEARS:
        return None
    return DateInterval(first=date(year, 1, 1), last=date(year, 12, 31))


def week_of(year: int, week: int) -> DateInterval | None:
    """An ISO week, Monday to Sunday."""
    if year not in YEARS:
        return None
    try:
        monday = date.fromisocalendar(year, week, 1)
    except ValueError:
        return None
    return DateInterval(first=monday, last=monday + timedelta(days=6))


def moved(day: date, unit: Unit, steps: int) -> DateInterval | None:
    """The day, calendar week, month, quarter or year that lies `steps` of its kind from a day's own."""
    try:
        if unit == "day":
            first = day + timedelta(days=steps)
            return DateInterval(first=first, last=first)
        if unit == "week":
            first = day - timedelta(days=day.weekday()) + timedelta(days=7 * steps)
            return DateInterval(first=first, last=first + timedelta(days=6))
    except OverflowError:
        return None
    if unit == "month":
        months = day.year * 12 + day.month - 1 + steps
        return month_of(months // 12, months % 12 + 1)
    if unit == "quarter":
        quarters = day.year * 4 + (day.month - 1) // 3 + steps
        return quarter_of(quarters // 4, quarters % 4 + 1)
    return year_of(day.year + steps)


def shifted(day: date, unit: Unit, steps: int) -> date | None:
    """The same day some units away; the last of its month where that has no such day."""
    if unit in ("day", "week"):
        there = moved(day, "day", steps * (7 if unit == "week" else 1))
        return there.first if there else None
    month = moved(day, "month", steps * {"month": 1, "quarter": 3, "year": 12}[unit])
    return month.last.replace(day=min(day.day, month.last.day)) if month else None


def is_week(interval: DateInterval) -> bool:
    """Whether an interval is a calendar week."""
    return interval.first.weekday() == 0 and (interval.last - interval.first).days == 6


def is_month(interval: DateInterval) -> bool:
    """Whether an interval is a calendar month."""
    return interval == month_of(interval.first.year, interval.first.month)


def is_year(interval: DateInterval) -> bool:
    """Whether an interval is a calendar year."""
    return interval == year_of(interval.first.year)


def in_year(interval: DateInterval, year: int) -> DateInterval:
    """The same days of another year, one of `YEARS`."""
    later = year - interval.last.year
    if is_month(interval) or is_year(interval):
        last = month_of(year, interval.last.month)
        begin = month_of(year, interval.first.month)
        if begin and last:
            return DateInterval(first=begin.first, last=last.last)
    return DateInterval(first=_year_on(interval.first, later), last=_year_on(interval.last, later))


def _year_on(day: date, years: int) -> date:
    return shifted(day, "year", years) or day


def same_day(day: date, interval: DateInterval) -> DateInterval | None:
    """The day of a calendar year, month or week that is there what a day is in its own."""
    there: date | None = None
    if is_year(interval):
        there = shifted(day, "year", interval.first.year - day.year)
    elif is_month(interval):
        months = (interval.first.year - day.year) * 12 + interval.first.month - day.month
        there = shifted(day, "month", months)
    elif is_week(interval):
        there = interval.first + timedelta(days=day.weekday())
    return DateInterval(first=there, last=there) if there else None


def weekday_of_week(day: date, weekday: int, weeks: int) -> DateInterval | None:
    """A weekday, Monday is 0, of the week that lies `weeks` from a day's own."""
    week = moved(day, "week", weeks)
    return moved(week.first, "day", weekday) if week else None


def weekday_before(day: date, weekday: int) -> DateInterval | None:
    """The latest such weekday before a day."""
    return moved(day, "day", -((day.weekday() - weekday - 1) % 7 + 1))


def weekday_after(day: date, weekday: int) -> DateInterval | None:
    """The first such weekday after a day."""
    return moved(day, "day", (weekday - day.weekday() - 1) % 7 + 1)


def weekend_of_week(day: date, weeks: int) -> DateInterval | None:
    """Saturday and Sunday of the week that lies `weeks` from a day's own."""
    week = moved(day, "week", weeks)
    return DateInterval(first=week.last - timedelta(days=1), last=week.last) if week else None


def span_before(day: date, unit: Unit, count: int) -> DateInterval | None:
    """The days of the last `count` units, up to and with a day."""
    back = shifted(day, unit, -count)
    return DateInterval(first=back, last=day) if back else None


def latest(make: Callable[[int], DateInterval | None], day: date | None) -> DateInterval | None:
    """The latest year's interval that starts at or before a day."""
    if day is None:
        return None
    for year in range(day.year, day.year - _LEAP_GAP, -1):
        interval = make(year)
        if interval is not None and interval.first <= day:
            return interval
    return None


def upcoming(make: Callable[[int], DateInterval | None], day: date | None) -> DateInterval | None:
    """The first year's interval that ends at or after a day."""
    if day is None:
        return None
    for year in range(day.year, day.year + _LEAP_GAP):
        interval = make(year)
        if interval is not None and interval.last >= day:
            return interval
    return None


def half(interval: DateInterval, part: Half) -> DateInterval:
    """The first, middle or second half: what "early", "mid" and "late" surely mean of a month or year.

    Any other interval stays as it is.
    """
    length = (interval.last - interval.first).days + 1
    if length not in _LENGTHS:
        return interval
    if length >= min(_YEAR_LENGTHS):
        year = interval.first.year
        first, last = {"early": (1, 6), "mid": (4, 9), "late": (7, 12)}[part]
        return DateInterval(
            first=date(year, first, 1), last=date(year, last, monthrange(year, last)[1])
        )
    middle = interval.first + timedelta(days=length // 2 - 1)
    if part == "early":
        return DateInterval(first=interval.first, last=middle)
    if part == "late":
        return DateInterval(first=middle + timedelta(days=1), last=interval.last)
    quarter = timedelta(days=length // 4)
    return DateInterval(first=interval.first + quarter, last=interval.last - quarter)
