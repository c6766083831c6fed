"""What a reader is: a pattern, and what a match of it means on a given day; and the dates that readers find."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date

from recalld.records import DateInterval
from retrieval.dates.calendar import latest, upcoming

# Characters to either side in which a word tells what language a date stands in.
SENTENCE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """The day that is reckoned from, and which way a date without a year lies."""

    # None: only dates that carry their year can be read.
    day: date | None
    is_ahead: bool = False

    def nearest(self, make: Callable[[int], DateInterval | None]) -> DateInterval | None:
        """The interval of the latest year that has begun, or of the next that has not ended."""
        return upcoming(make, self.day) if self.is_ahead else latest(make, self.day)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A pattern, and the days that a match of it means; None when it means none."""

    pattern: re.Pattern[str]
    read: Callable[[re.Match[str], Day], DateInterval | None]
    # Whether it reads a date as a calendar has it, which a text may hold in the same words.
    is_written: bool = False
    # Whether what it reads comes round every year.
    is_yearly: bool = False
    # Whether it reads a first day and a last.
    is_span: bool = False
    # Whether it names a year by its distance: `May last year`.
    names_year: bool = False
    # Groups that hold the date's own words, where a match has others besides.
    words: tuple[str | int, ...] = ()

    def span(self, match: re.Match[str]) -> tuple[int, int]:
        """The characters of a match that tell the date."""
        told = [match.span(group) for group in self.words if match[group]]
        return told[0] if told else match.span()


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Days that a text tells, and the characters that tell them, from `start` to before `end`."""

    interval: DateInterval
    start: int
    end: int
    # As a calendar has them: another text may tell them in the same words.
    is_written: bool
    # The days that the same words mean, reckoned from another day; None when they mean none then.
    again: Callable[[Day], DateInterval | None] = field(repr=False, compare=False)
    # Whether it names its first day and its last: a "from" or "until" beside it is part of that.
    is_span: bool = False
    # Whether it comes round every year, so that another year's is the same in other words.
    is_yearly: bool = False
    has_year: bool = False

    @property
    def needs_year(self) -> bool:
        """Whether a year that stands beside it says which one it is."""
        return self.is_yearly and not self.has_year
