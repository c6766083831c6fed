"""When a model's fact happened: a day is believed only where the rules' own reader of dates finds it. Pure.

A year or a month stays one, whatever day in it a model chose.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from recalld.records import DateInterval
from retrieval.dates.readers import Day
from retrieval.dates.reading import read_dates

# Some day to reckon from, where it matters only whether a text tells any.
_ANY = Day(day=date(2000, 6, 15))


def believed(
    value: object, statement: str, *, above: Sequence[str], dated: date | None
) -> DateInterval | None:
    """The days of a statement; None where nothing says them.

    Its own dates come first: the one that the model means, else the first. A statement without any has the model's day
    where a heading tells it; what other sentences of the block tell is of what they speak of.

    Args:
        value: What the model gave as the day.
        statement: Its statement.
        above: Headings and lead-in of the block.
        dated: The day of the note, which "yesterday" counts from.
    """
    at = Day(day=dated)
    own = [one.interval for one in read_dates(statement, at)]
    if own:
        return _holding(value, own) or own[0]
    return _holding(value, (one.interval for text in above for one in read_dates(text, at)))


def _holding(value: object, intervals: Iterable[DateInterval]) -> DateInterval | None:
    """The shortest interval with a model's day in it."""
    try:
        day = date.fromisoformat(str(value))
    except ValueError:
        return None
    held = [one for one in intervals if one.first <= day <= one.last]
    return min(held, key=lambda one: one.last - one.first, default=None)


def tells_date(text: str) -> bool:
    """Whether a text tells any date, be it by its distance from a day that is not known here."""
    return bool(read_dates(text, _ANY))
