"""Every date that a text tells, with its place: one grammar for notes and for questions.

Pure functions; most texts are seen to tell none by their words alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from recalld.records import DateInterval
from retrieval.dates import lengths, relative, spans, written
from retrieval.dates.calendar import YEARS
from retrieval.dates.joining import joined
from retrieval.dates.names import CJK, MONTHS, WEEKDAYS
from retrieval.dates.narrowing import narrowed
from retrieval.dates.readers import Day, Reader, Told

_WORD = re.compile(r"[^\W\d_]+")
_FOUR_DIGITS = re.compile(r"\d{4}")
_NUMBERED_WORD = re.compile(
    r"\bKW\b|\bKalenderwoche|\bKW\d|\bweek\s\d|\bwk\s\d|\bsemaine\s\d|\d{4}-W\d|\bW\d|\bin Q\d",
    re.IGNORECASE,
)
# A sentence without one of these words tells no date in Latin letters.
_MONTH_WORDS = frozenset(MONTHS)
_RELATIVE_WORDS = frozenset(WEEKDAYS) | frozenset(
    word
    for told in (
        *relative.DAY_OFFSETS,
        "ago geleden vor il last past next this coming vorige vorig voorvorige voorvorig afgelopen laatste volgende",
        "volgend komende komend aanstaande deze dit letzte letzten letztes letzter vergangene vergangenen vorletzte",
        "vorigen voriges voriger vorvorige half halve anderhalf",
        "vergangenes vorletzten vorletztes nächste nächsten nächstes nächster kommende kommenden diese diesen diesem",
        "dieses dernier dernière derniers dernières prochain prochaine passé passée ce cette ces les",
    )
    for word in _WORD.findall(told)
)


def read_dates(text: str, at: Day, *, more: tuple[Reader, ...] = ()) -> tuple[Told, ...]:
    """The dates that a text tells, in their order, none over another.

    Of two readings that share characters the earlier one stands, and of those the longer. Two dates with a "to"
    between them are one span.

    Args:
        text: One sentence, or a question.
        at: What is reckoned from; a day out of the years 1900 to 2100 counts as none.
        more: Readers to try besides, after the common ones.
    """
    if at.day is not None and at.day.year not in YEARS:
        at = Day(day=None)
    found = sorted(_found(text, at, more), key=lambda told: (told.start, -told.end))
    kept: list[Told] = []
    for told in found:
        if not kept or told.start >= kept[-1].end:
            kept.append(told)
    return joined(text, kept)


def first_date(text: str, *, day: date | None) -> DateInterval | None:
    """The first date that a text tells; None when it tells none."""
    told = read_dates(text, Day(day=day))
    return told[0].interval if told else None


def _found(text: str, at: Day, more: tuple[Reader, ...]) -> Iterator[Told]:
    for reader in (*_readers(text), *more):
        for match in reader.pattern.finditer(text):
            interval = reader.read(match, at)
            if interval is None or (not reader.is_written and relative.is_title(match)):
                continue
            yield _told(text, reader, match, interval)


def _told(text: str, reader: Reader, match: re.Match[str], interval: DateInterval) -> Told:
    start, end = reader.span(match)

    def again(at: Day) -> DateInterval | None:
        other = reader.read(match, at)
        return other and narrowed(text, start, end, other)[0]

    days, begin, stop = narrowed(text, start, end, interval)
    return Told(
        interval=days,
        start=begin,
        end=stop,
        is_written=reader.is_written,
        again=again,
        is_span=reader.is_span,
        is_yearly=reader.is_written or reader.is_yearly,
        has_year=reader.names_year or reader.read(match, Day(day=None)) is not None,
    )


def _readers(text: str) -> Iterator[Reader]:
    """The readers that can find anything in a text; most texts need none."""
    words = frozenset(_WORD.findall(text.lower()))
    if _FOUR_DIGITS.search(text):
        yield from written.NUMERIC
        yield from spans.NUMERIC
    if not words.isdisjoint(_MONTH_WORDS):
        yield from written.NAMED
        yield from spans.NAMED
    if _NUMBERED_WORD.search(text):
        yield from written.NUMBERED
    has_cjk = CJK.search(text) is not None
    if has_cjk:
        yield from written.CJK
        yield from spans.CJK
        yield from relative.ASIAN
    if has_cjk or not words.isdisjoint(_RELATIVE_WORDS):
        # Half a year ago is no half of the year that was a year ago.
        yield from lengths.LENGTHS
        yield from relative.LATIN
