"""Dates of a question and of a note as short text, for tables of tests."""

from __future__ import annotations

from datetime import date

from recalld.records import DateInterval
from retrieval.dates.asked import FIRST_DAY, LAST_DAY, read_asked
from retrieval.dates.reading import first_date

# A Tuesday.
TODAY = date(2026, 12, 1)


def asked(text: str, today: date = TODAY) -> str | None:
    """The days as `first/last`, one day as itself, an open side as nothing, several joined by a comma."""
    found = read_asked(text, today)
    return None if found is None else ", ".join(map(_shown, found.intervals))


def told(text: str, day: date | None = TODAY) -> str | None:
    """The days that a note tells first, shown the same way."""
    interval = first_date(text, day=day)
    return interval and _shown(interval)


def rows(table: str) -> list[str]:
    """The lines of a table."""
    return table.strip().splitlines()


def cases(table: str) -> list[tuple[str, str]]:
    """The lines of a table of `text | days`."""
    return [(text, days) for text, _, days in (row.partition(" | ") for row in rows(table))]


def _shown(days: DateInterval) -> str:
    first = "" if days.first == FIRST_DAY else days.first.isoformat()
    last = "" if days.last == LAST_DAY else days.last.isoformat()
    return first if first == last else f"{first}/{last}"
