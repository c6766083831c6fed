"""The day, or days, that a sentence speaks of, read by patterns in the languages that have them here.

It never guesses: a date without a year, or one told from "today", needs the day the note was written.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from datetime import date, timedelta

from recalld.records import DateInterval

_Reader = tuple[re.Pattern[str], Callable[[re.Match[str], date | None], DateInterval | None]]

_YEARS = range(1900, 2101)

# English names that are also words (`may`, `march`) and abbreviations need their capital.
_MONTHS: dict[str, int] = {}
_CAPITAL: set[str] = set()
for _number, _names, _abbreviations in (
    (1, "january januari januar jänner janvier", "jan janv"),
    (2, "february februari februar février", "feb febr févr"),
    (3, "maart märz mars", "march mar mrt mär"),
    (4, "april avril", "apr avr"),
    (5, "mei mai", "may"),
    (6, "june juni juin", "jun"),
    (7, "july juli juillet", "jul juil"),
    (8, "august augustus août", "aug"),
    (9, "september septembre", "sep sept"),
    (10, "october oktober octobre", "oct okt"),
    (11, "november novembre", "nov"),
    (12, "december dezember décembre", "dec dez déc"),
):
    for _name in _names.split():
        _MONTHS[_name] = _number
    for _name in _abbreviations.split():
        _MONTHS[_name] = _number
        _CAPITAL.add(_name)
# Dutch and French abbreviations are written small.
_CAPITAL -= {"jan", "feb", "febr", "mrt", "apr", "aug", "sep", "sept", "okt", "nov", "janv"}
_CAPITAL -= {"févr", "avr", "juil", "déc"}

_WEEKDAYS = {
    name: day
    for day, names in enumerate(
        (
            "monday maandag montag lundi",
            "tuesday dinsdag dienstag mardi",
            "wednesday woensdag mittwoch mercredi",
            "thursday donderdag donnerstag jeudi",
            "friday vrijdag freitag vendredi",
            "saturday zaterdag samstag samedi",
            "sunday zondag sonntag dimanche",
        )
    )
    for name in names.split()
}
_CJK_WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6} | {
    "月": 0,
    "火": 1,
    "水": 2,
    "木": 3,
    "金": 4,
    "土": 5,
}
_DAY_WORDS = {
    0: "today vandaag heute aujourd'hui aujourd’hui 今天 今日 오늘",
    -1: "yesterday gisteren gestern hier 昨天 昨日 어제",
    -2: "eergisteren vorgestern avant-hier 前天 一昨日 그저께",
    1: "tomorrow demain 明天 明日 내일",
    2: "overmorgen übermorgen après-demain 后天 後天 明後日",
}
_DAY_OFFSETS = {word: offset for offset, words in _DAY_WORDS.items() for word in words.split()}
_SPANS = {
    (
        "week",
        -1,
    ): "last week|vorige week|afgelopen week|letzte woche|(?:la )?semaine dernière|上周|上星期|先週|지난주",
    ("month", -1): "last month|vorige maand|letzten monat|mois dernier|上个月|上個月|先月|지난달",
    (
        "year",
        -1,
    ): "last year|vorig jaar|letztes jahr|(?:l['’])?an(?:née)? derni(?:er|ère)|去年|昨年|작년",
    ("week", 1): "next week|volgende week|nächste woche|semaine prochaine|下周|下星期|来週|다음 주",
    (
        "month",
        1,
    ): "next month|volgende maand|nächsten monat|mois prochain|下个月|下個月|来月|다음 달",
    ("year", 1): "next year|volgend jaar|nächstes jahr|année prochaine|明年|来年|내년",
}

_MONTH = "|".join(sorted(map(re.escape, _MONTHS), key=len, reverse=True))
_WEEKDAY = "|".join(_WEEKDAYS)
_TIME = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2})?Z?)?(?![\w/-])"
_UNTIL = r"(?:to|until|till|through|tot|t/m|bis|au|à|–|—|至|到|から|～|~)"
_ISO_DAY = re.compile(
    rf"(?<![\w./-])(\d{{4}})([-/])(\d{{1,2}})\2(\d{{1,2}}){_TIME}"
    rf"(?:\s*{_UNTIL}\s*(\d{{4}})([-/])(\d{{1,2}})\6(\d{{1,2}}){_TIME})?"
)
_ISO_MONTH = re.compile(r"(?<![\w./-])(\d{4})-(\d{2})(?![\w/-]|\.\d)")
_DOTTED = re.compile(r"(?<![\w./-])(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?![\w/-]|\.\d)")
# Day and month in either order.
_SLASHED = re.compile(r"(?<![\w./-])(\d{1,2})([/-])(\d{1,2})\2(\d{4})(?![\w/-])")
_DAY_MONTH = re.compile(
    rf"(?<![\w:.,/-])(\d{{1,2}})(?:\s*[-–—]\s*(\d{{1,2}}))?(?:st|nd|rd|th|er|e|\.)?\s+(?:of\s+|de\s+)?"
    rf"({_MONTH})\b\.?(?:,?\s+(\d{{4}})\b(?!:|\s*%))?",
    re.IGNORECASE,
)
_MONTH_DAY = re.compile(
    rf"\b({_MONTH})\.?\s+(\d{{1,2}})(?:\s*[-–—]\s*(\d{{1,2}}))?(?:st|nd|rd|th)?(?![\d:.%]*\d|[:%])"
    rf"(?:,?\s+(\d{{4}})\b(?!:|\s*%))?",
    re.IGNORECASE,
)
_MONTH_YEAR = re.compile(
    rf"(?<!\d )(?<!\d\. )\b({_MONTH})\.?,?\s+(?:of\s+)?(\d{{4}})\b(?!:)", re.IGNORECASE
)
_IN_MONTH = re.compile(
    rf"\b(?:in|im|en|early|late|mid|begin|eind|anfang|ende)\s+({_MONTH})\b(?!\s*\d)", re.IGNORECASE
)
_IN_YEAR = re.compile(
    r"\b(?:in|im jahr|im jahre|en)\s+((?:19|20)\d{2})(?![\w/%-]|[.,:]\d)", re.IGNORECASE
)
_CJK_DATE = re.compile(
    r"(?:(?<!\d)(\d{4})\s*[年년]\s*)?(?<!\d)(\d{1,2})\s*[月월](?:\s*(\d{1,2})\s*[日号號일])?(?![個个か])"
)
_CJK_YEAR = re.compile(r"(?<!\d)(\d{4})\s*[年년](?!\s*\d{1,2}\s*[月월])")
_DAY_WORD = re.compile(
    r"(?<![\w-])(today|vandaag|heute|aujourd['’]hui|yesterday|gisteren|eergisteren|gestern|vorgestern"
    r"|avant-hier|hier|tomorrow|demain|overmorgen|übermorgen|après-demain)(?![\w-]|['’]s\b)"
    r"|(今天|今日|昨天|昨日|一昨日|前天|明天|明日|后天|後天|明後日|오늘|어제|그저께|내일)",
    re.IGNORECASE,
)
_LAST_WEEKDAY = re.compile(
    rf"\b(?:last|vorige|afgelopen|letzte[nr]?|vergangene[nr]?)\s+({_WEEKDAY})\b"
    rf"|\b({_WEEKDAY})\s+dernier\b",
    re.IGNORECASE,
)
_CJK_LAST_WEEKDAY = re.compile(
    r"(?:上周|上星期|上个?星期|先週の?)([一二三四五六日天月火水木金土])(?:曜日?)?(?![間间度期])"
)
_AGO = re.compile(
    r"\b(\d{1,3})\s+(?:(day|dag|jour)|(week|woche)|(month|maand)|(year|jaar))\w*\s+(?:ago|geleden)\b"
    r"|\b(?:vor|il y a)\s+(\d{1,3})\s+(?:(tag|jour)|(woche|semaine)|(monat|mois)|(jahr|an\b|ans\b|année))\w*"
    r"|(\d{1,3})\s*(?:(天|日)|(?:个|個)?(周|星期|週間)|(?:个|個|か|ヶ)(月)|(年))前",
    re.IGNORECASE,
)
_UNITS = ("day", "week", "month", "year")
_FRENCH = re.compile(
    r"\b(?:le|la|les|une?|du|nous|je|était|été|avec|est|dans|il|elle|ai|sur|pour)\b|\bj['’]|\bl['’]",
    re.IGNORECASE,
)
_SPAN_WORDS = re.compile(
    "|".join(
        f"(?P<{unit}_{'last' if step < 0 else 'next'}>(?<![A-Za-zÀ-ÿ])(?:{words})(?![a-zà-ÿ]))"
        for (unit, step), words in _SPANS.items()
    ),
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")
_FOUR_DIGITS = re.compile(r"\d{4}")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# A sentence without one of these words tells no date in Latin letters.
_MONTH_WORDS = frozenset(_MONTHS)
_RELATIVE_WORDS = frozenset(_WEEKDAYS) | frozenset(
    word
    for told in (
        *_DAY_OFFSETS,
        "ago geleden vor il last next vorige vorig afgelopen volgende volgend",
        "letzte letzten letztes letzter vergangene vergangenen nächste nächsten nächstes",
        "dernier dernière prochain prochaine",
    )
    for word in _WORD.findall(told)
)


def find_dates(text: str, *, note_date: date | None) -> DateInterval | None:
    """The first date that a text tells, as an interval of days; None when it tells none.

    A date without a year is the latest such day that is not after `note_date`. A week runs from
    Monday to Sunday. Without `note_date` only dates that carry their year are read.
    """
    if note_date is not None and note_date.year not in _YEARS:
        note_date = None
    found = [
        (match.start(), -match.end(), interval)
        for pattern, read in _readers(text)
        for match in pattern.finditer(text)
        if (interval := read(match, note_date)) is not None
    ]
    return min(found, key=lambda told: told[:2])[2] if found else None


def _readers(text: str) -> Iterator[_Reader]:
    """The readers that can find anything in a text; most texts need none."""
    words = frozenset(_WORD.findall(text.lower()))
    if _FOUR_DIGITS.search(text):
        yield from _NUMERIC
    if not words.isdisjoint(_MONTH_WORDS):
        yield from _NAMED
    if not words.isdisjoint(_RELATIVE_WORDS):
        yield from _RELATIVE
    if _CJK.search(text):
        yield from _CJK_READERS


def _day(year: int, month: int, day: int, last: int = 0) -> DateInterval | None:
    if year not in _YEARS or not 1 <= month <= 12:
        return None
    days = monthrange(year, month)[1]
    last = last or day
    if not 1 <= day <= last <= days:
        return None
    return DateInterval(first=date(year, month, day), last=date(year, month, last))


def _month(year: int, month: int) -> DateInterval | None:
    if year not in _YEARS or not 1 <= month <= 12:
        return None
    return _day(year, month, 1, monthrange(year, month)[1])


def _year(year: int) -> DateInterval | None:
    if year not in _YEARS:
        return None
    return DateInterval(first=date(year, 1, 1), last=date(year, 12, 31))


def _latest(
    make: Callable[[int], DateInterval | None], note_date: date | None
) -> DateInterval | None:
    """The latest year's interval that starts at or before the note's day."""
    if note_date is None:
        return None
    # 29 February may be up to eight years back.
    for year in range(note_date.year, note_date.year - 9, -1):
        interval = make(year)
        if interval is not None and interval.first <= note_date:
            return interval
    return None


def _month_number(name: str) -> int | None:
    """The month of a name; None for a word such as `may` or `march` without its capital."""
    if name.lower() in _CAPITAL and not name[0].isupper():
        return None
    return _MONTHS[name.lower()]


def _iso_day(m: re.Match[str], _: date | None) -> DateInterval | None:
    first = _day(int(m[1]), int(m[3]), int(m[4]))
    if first is None or m[5] is None:
        return first
    last = _day(int(m[5]), int(m[7]), int(m[8]))
    if last is None or last.first < first.first:
        return first
    return DateInterval(first=first.first, last=last.last)


def _slashed(m: re.Match[str], _: date | None) -> DateInterval | None:
    """Day and month in either order, where only one order is possible."""
    one, other, year = int(m[1]), int(m[3]), int(m[4])
    if one > 12 or one == other:
        return _day(year, other, one)
    return _day(year, one, other) if other > 12 else None


def _named(
    month: int | None, day: str, last: str | None, year: str | None, note_date: date | None
) -> DateInterval | None:
    if month is None:
        return None
    until = int(last) if last else 0
    if year is not None and int(year) in _YEARS:
        return _day(int(year), month, int(day), until)
    return _latest(lambda guess: _day(guess, month, int(day), until), note_date)


def _in_month(m: re.Match[str], note_date: date | None) -> DateInterval | None:
    month = _month_number(m[1])
    return None if month is None else _latest(lambda year: _month(year, month), note_date)


def _month_year(m: re.Match[str], _: date | None) -> DateInterval | None:
    month = _month_number(m[1])
    return None if month is None else _month(int(m[2]), month)


def _cjk_date(m: re.Match[str], note_date: date | None) -> DateInterval | None:
    month, day = int(m[2]), int(m[3] or 0)

    def make(year: int) -> DateInterval | None:
        return _day(year, month, day) if day else _month(year, month)

    return make(int(m[1])) if m[1] else _latest(make, note_date)


def _day_word(m: re.Match[str], note_date: date | None) -> DateInterval | None:
    word = m.group().lower()
    # `hier` is "here" in Dutch and German.
    if note_date is None or (word == "hier" and not _FRENCH.search(m.string)):
        return None
    # In mid-sentence `today` often means nowadays.
    if word.isascii() and _DAY_OFFSETS[word] == 0 and not _at_edge(m):
        return None
    return _moved(note_date, "day", _DAY_OFFSETS[word])


def _at_edge(m: re.Match[str]) -> bool:
    """Whether a word begins or ends its sentence or clause."""
    return bool(
        re.search(r"(?:^|[.,:;!?–—(\]]\s*|^\W+)$", m.string[: m.start()])
        or re.match(r"\s*(?:$|[.,;!?–—)])", m.string[m.end() :])
    )


def _last_weekday(m: re.Match[str], note_date: date | None) -> DateInterval | None:
    if note_date is None:
        return None
    back = (note_date.weekday() - _WEEKDAYS[(m[1] or m[2]).lower()] - 1) % 7 + 1
    return _moved(note_date, "day", -back)


def _cjk_last_weekday(m: re.Match[str], note_date: date | None) -> DateInterval | None:
    """A day of the week before the note's."""
    if note_date is None:
        return None
    monday = note_date - timedelta(days=note_date.weekday() + 7)
    return _moved(monday, "day", _CJK_WEEKDAYS[m[1]])


def _ago(m: re.Match[str], note_date: date | None) -> DateInterval | None:
    if note_date is None:
        return None
    for first in (1, 6, 11):
        if m[first]:
            units = (m[first + n] for n in range(1, 5))
            unit = next(name for name, told in zip(_UNITS, units, strict=True) if told)
            return _moved(note_date, unit, -int(m[first]))
    return None


def _span(m: re.Match[str], note_date: date | None) -> DateInterval | None:
    if note_date is None or m.lastgroup is None:
        return None
    unit, _, way = m.lastgroup.partition("_")
    return _moved(note_date, unit, -1 if way == "last" else 1)


def _moved(day: date, unit: str, steps: int) -> DateInterval | None:
    """The day, calendar week, month or year that lies `steps` of its kind from a day's own."""
    if unit in ("day", "week"):
        start = day if unit == "day" else day - timedelta(days=day.weekday())
        first = start + timedelta(days=steps * (1 if unit == "day" else 7))
        return DateInterval(first=first, last=first + timedelta(days=0 if unit == "day" else 6))
    if unit == "month":
        months = day.year * 12 + day.month - 1 + steps
        return _month(months // 12, months % 12 + 1)
    return _year(day.year + steps)


_NUMERIC: tuple[_Reader, ...] = (
    (_ISO_DAY, _iso_day),
    (_ISO_MONTH, lambda m, _: _month(int(m[1]), int(m[2]))),
    (_DOTTED, lambda m, _: _day(int(m[3]), int(m[2]), int(m[1]))),
    (_SLASHED, _slashed),
    (_IN_YEAR, lambda m, _: _year(int(m[1]))),
)
_NAMED: tuple[_Reader, ...] = (
    (_DAY_MONTH, lambda m, at: _named(_month_number(m[3]), m[1], m[2], m[4], at)),
    (_MONTH_DAY, lambda m, at: _named(_month_number(m[1]), m[2], m[3], m[4], at)),
    (_MONTH_YEAR, _month_year),
    (_IN_MONTH, _in_month),
)
_RELATIVE: tuple[_Reader, ...] = (
    (_DAY_WORD, _day_word),
    (_LAST_WEEKDAY, _last_weekday),
    (_AGO, _ago),
    (_SPAN_WORDS, _span),
)
_CJK_READERS: tuple[_Reader, ...] = (
    (_CJK_DATE, _cjk_date),
    (_CJK_YEAR, lambda m, _: _year(int(m[1]))),
    (_CJK_LAST_WEEKDAY, _cjk_last_weekday),
    *_RELATIVE,
)
