"""Every date that a text tells, with its place: one grammar for notes and for questions.

Pure functions; most texts are seen to tell none by their words alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from recalld.records import DateInterval
from retrieval.dates import relative, written
from retrieval.dates.calendar import YEARS, Half, half
from retrieval.dates.names import MONTHS, WEEKDAYS
from retrieval.dates.readers import Day, Reader

_WORD = re.compile(r"[^\W\d_]+")
_FOUR_DIGITS = re.compile(r"\d{4}")
_NUMBERED_WORD = re.compile(
    r"\bKW\s?\d|\bweek\s\d|\bwk\s\d|\d{4}-W\d|\bW\d|\bin Q\d", re.IGNORECASE
)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# A sentence without one of these words tells no date in Latin letters.
_MONTH_WORDS = frozenset(MONTHS)
_RELATIVE_WORDS = frozenset(WEEKDAYS) | frozenset(
    word
    for told in (
        *relative.DAY_OFFSETS,
        "ago geleden vor il last past next this coming vorige vorig voorvorige voorvorig afgelopen laatste volgende",
        "volgend komende komend aanstaande deze dit letzte letzten letztes letzter vergangene vergangenen vorletzte",
        "vergangenes vorletzten vorletztes nächste nächsten nächstes nächster kommende kommenden diese diesen diesem",
        "dieses dernier dernière derniers dernières prochain prochaine passé passée ce cette ces les",
    )
    for word in _WORD.findall(told)
)
_BETWEEN = re.compile(rf"\s*(?:{written.UNTIL}|[-–—])\s*", re.IGNORECASE)
_HALVES: dict[Half, re.Pattern[str]] = {
    "early": re.compile(
        r"(?:\bearly(?: in)?|\bbegin(?: van)?|\bbeginning of|\bstart of|\banfang|\bbeginn|\bdébut(?: de)?)"
        r"[\s-]+(?:the )?$",
        re.IGNORECASE,
    ),
    "mid": re.compile(r"(?:\bmid|\bmedio|\bhalf|\bmitte|\bmi)[\s-]*$", re.IGNORECASE),
    "late": re.compile(
        r"(?:\blate|\beind(?: van)?|\bend of|\bende|\bfin(?: de)?)[\s-]*(?:the )?$", re.IGNORECASE
    ),
}
_HALF_AFTER: dict[Half, re.Pattern[str]] = {
    "early": re.compile(r"(?:の?初め|の?初旬|の?上旬|初|年初|の?はじめ)"),
    "mid": re.compile(r"(?:の?中旬|中(?![国國文学學心间間]))"),
    "late": re.compile(r"(?:の?下旬|底|の?末)"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Days that a text tells, and the characters that tell them, from `start` to before `end`."""

    interval: DateInterval
    start: int
    end: int
    # As a calendar has them: another text may tell them in the same words.
    is_written: bool


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
    return tuple(_joined(text, kept))


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
            yield _narrowed(text, reader, match, interval)


def _readers(text: str) -> Iterator[Reader]:
    """The readers that can find anything in a text; most texts need none."""
    words = frozenset(_WORD.findall(text.lower()))
    if _FOUR_DIGITS.search(text):
        yield from written.NUMERIC
    if not words.isdisjoint(_MONTH_WORDS):
        yield from written.NAMED
    if _NUMBERED_WORD.search(text):
        yield from written.NUMBERED
    has_cjk = _CJK.search(text) is not None
    if has_cjk:
        yield from written.CJK
        yield from relative.ASIAN
    if has_cjk or not words.isdisjoint(_RELATIVE_WORDS):
        yield from relative.LATIN


def _narrowed(text: str, reader: Reader, m: re.Match[str], interval: DateInterval) -> Told:
    """With `early`, `Ende`, `月底` taken in, where they stand beside a month or a year."""
    start, end = reader.span(m)
    before = text[max(0, start - 24) : start]
    for part, pattern in _HALVES.items():
        ahead = pattern.search(before)
        behind = _HALF_AFTER[part].match(text, end)
        if ahead or behind:
            interval = half(interval, part)
            start -= len(before) - ahead.start() if ahead else 0
            end = behind.end() if behind else end
            break
    return Told(interval=interval, start=start, end=end, is_written=reader.is_written)


def _joined(text: str, told: list[Told]) -> Iterator[Told]:
    """The same, with two that a `to` joins as one."""
    waiting: Told | None = None
    for one in told:
        if waiting is not None and _BETWEEN.fullmatch(text, waiting.end, one.start):
            first = waiting.interval.first
            if first > one.interval.last:
                # `From November to February`: both were read as the latest of their kind.
                earlier = first.replace(year=first.year - 1, day=min(first.day, 28))
                first = earlier if earlier <= one.interval.last else first
            if first <= one.interval.last:
                waiting = Told(
                    interval=DateInterval(first=first, last=one.interval.last),
                    start=waiting.start,
                    end=one.end,
                    is_written=waiting.is_written and one.is_written,
                )
                continue
        if waiting is not None:
            yield waiting
        waiting = one
    if waiting is not None:
        yield waiting
