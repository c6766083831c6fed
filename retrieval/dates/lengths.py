"""Times told by a length that is no whole number of calendar units, or up to today: half a year ago, the last 24 hours.

Half a year ago is the month of that day, half a month ago its week.
"""

from __future__ import annotations

import re
from datetime import timedelta

from recalld.records import DateInterval
from retrieval.dates.calendar import moved, span_before
from retrieval.dates.names import unit_of
from retrieval.dates.readers import Day, Reader

_NOT_BEHIND = r"(?![后後端期面提台者半])"
_HALF_YEAR_AGO = re.compile(
    r"\b(?:half\s+an?\s+year|an?\s+half\s+year|(?:een\s+)?half\s*jaar)\s+(?:ago|geleden)\b"
    r"|\bvor\s+einem\s+halben\s+jahr\b(?!\s+später)|\bil y a\s+(?:un\s+demi-an|une\s+demi-année)\b(?!\s+plus tard)"
    rf"|(?<![\d一二两兩三四五六七八九十年上下前后後])半年(?:多)?(?:之前|以前|前){_NOT_BEHIND}",
    re.IGNORECASE,
)
_HALF_MONTH_AGO = re.compile(
    r"\b(?:half\s+a\s+month|a\s+half\s+month|(?:een\s+)?halve\s+maand)\s+(?:ago|geleden)\b"
    r"|\bvor\s+einem\s+halben\s+monat\b|\bil y a\s+un\s+demi-mois\b"
    rf"|(?<![\d一二两兩三四五六七八九十上下前后後])半[个個か]?月(?:之前|以前|前){_NOT_BEHIND}",
    re.IGNORECASE,
)
_YEAR_AND_HALF_AGO = re.compile(
    r"\b(?:a\s+year\s+and\s+a\s+half|one\s+and\s+a\s+half\s+years?|anderhalf\s+jaar)\s+(?:ago|geleden)\b"
    r"|\bvor\s+(?:anderthalb|eineinhalb)\s+jahren\b|\bil y a\s+un\s+an\s+et\s+demi\b"
    rf"|(?<![\d一二两兩三四五六七八九十])[一1]年半(?:之前|以前|前){_NOT_BEHIND}",
    re.IGNORECASE,
)
_HOURS = re.compile(
    r"\b(?:(?:the\s+)?(?:last|past)|(?:de\s+)?(?:afgelopen|laatste)|(?:den\s+|die\s+)?(?:letzten|vergangenen))"
    r"\s+(?P<n>\d{1,3})\s+(?:hours|uur|uren|stunden)\b"
    r"|\b(?:ces\s+|les\s+)?(?P<n2>\d{1,3})\s+dernières\s+heures\b"
    r"|(?:最近|过去|過去|この)の?\s*(?P<n3>\d{1,3})\s*(?:个?小时|個?小時|時間)",
    re.IGNORECASE,
)
_PAST_UNIT = re.compile(
    r"\b(?:(?:over|during|in|within|throughout)\s+the\s+(?:last|past)|(?:over|during)\s+(?:last|past)|the\s+past)"
    r"\s+(?P<unit>week|month|quarter|year)\b(?!\s+(?:of|tense|participle)\b)",
    re.IGNORECASE,
)


def _month_ago(months: int, at: Day) -> DateInterval | None:
    return moved(at.day, "month", -months) if at.day else None


def _half_month_ago(_: re.Match[str], at: Day) -> DateInterval | None:
    return moved(at.day - timedelta(days=15), "week", 0) if at.day else None


def _hours(m: re.Match[str], at: Day) -> DateInterval | None:
    count = int(m["n"] or m["n2"] or m["n3"])
    return span_before(at.day, "day", -(-count // 24)) if at.day and count else None


def _past_unit(m: re.Match[str], at: Day) -> DateInterval | None:
    unit = unit_of(m["unit"])
    return span_before(at.day, unit, 1) if at.day and unit else None


LENGTHS: tuple[Reader, ...] = (
    Reader(pattern=_HALF_YEAR_AGO, read=lambda _, at: _month_ago(6, at)),
    Reader(pattern=_HALF_MONTH_AGO, read=_half_month_ago),
    Reader(pattern=_YEAR_AND_HALF_AGO, read=lambda _, at: _month_ago(18, at)),
    Reader(pattern=_HOURS, read=_hours),
    Reader(pattern=_PAST_UNIT, read=_past_unit),
)
