"""Readers for questions alone: what would be a guess in a note is a fair hint of what somebody asks after."""

from __future__ import annotations

import re
from datetime import date, timedelta

from recalld.records import DateInterval
from retrieval.dates.calendar import month_of, moved, weekday_before, year_of
from retrieval.dates.names import (
    CJK_WEEKDAYS,
    MONTH,
    NOT_COUNTED,
    UNIT,
    WEEKDAY,
    WEEKDAYS,
    unit_of,
)
from retrieval.dates.readers import Day, Reader
from retrieval.dates.spans import months_between
from retrieval.dates.sureness import month_named

PAST = re.compile(
    r"\b(?:did|was|were|had|went|said|wrote|told|met|bought|got|made|saw|came|ate|happened|\w{3,}ed"
    r"|deed|deden|waren|ging|gingen|heb|hebben|hebt|heeft|werd|werden|kwam|kocht|at|zei|ge\w{3,}(?:d|t|en)"
    r"|war|hatten?|habe|haben|hast|hat|wurden?|kam|ging|ai|avons|avez|ont|était|étais|fait)\b"
    r"|了|过|過|[いっきしちりみんえけせてねべめれ]た|だった",
    re.IGNORECASE,
)
# First names too: with a word such as `from` or `before` they are rather that.
_NAME_MONTHS = frozenset({"april", "may", "june", "august", "jan", "mei", "juni"})
_YEAR_TOLD = re.compile(
    r"\b(?:since|before|after|until|till|sinds|vanaf|tot|na|voor|vóór|seit|ab|bis|nach|vor|depuis|avant|après|jusqu['’]en"
    rf"|of|aus)\s+(?P<year>(?:19|20)\d{{2}}){NOT_COUNTED}"
    rf"|\b(?:from|van|von|between|tussen|zwischen|entre)\s+(?P<begin>(?:19|20)\d{{2}}){NOT_COUNTED}"
    r"(?!\s+(?:to|until|and|tot|en|bis|und|à|et)\s+\d)",
    re.IGNORECASE,
)
_MONTH_TOLD = re.compile(
    r"\b(?P<sure>since|during|between|sinds|vanaf|tussen|seit|ab|zwischen|depuis|entre|jusqu['’]en|this past)\s+"
    rf"(?P<month>{MONTH})\b(?!\s*\d)"
    r"|\b(?:before|after|until|till|from|of|by|tot|na|voor|van|vom|bis|nach|vor|avant|après|d['’]|de)\s*"
    rf"\s(?P<other>{MONTH})\b(?!\s*\d)|\b(?:the|our|de|der|die|das|im|den)\s+(?P<thing>{MONTH})\b(?=\s+[a-zß-ÿ])",
    re.IGNORECASE,
)
_MONTHS_BETWEEN = re.compile(
    rf"\b(?:between|tussen|zwischen|entre)\s+(?P<begin>{MONTH})\s+(?:and|en|und|et|y)\s+(?P<end>{MONTH})\b(?!\s*\d)",
    re.IGNORECASE,
)
_SEASONS = (
    ("spring", "lente", "voorjaar", "frühling", "frühjahr", "printemps"),
    ("summer", "zomer", "sommer", "été"),
    ("autumn", "fall", "herfst", "najaar", "herbst", "automne"),
    ("winter", "hiver"),
)
_SEASON_NUMBERS = {name: number for number, names in enumerate(_SEASONS) for name in names}
_SEASON = "|".join(_SEASON_NUMBERS)
_SEASON_TOLD = re.compile(
    rf"\b(?:last|vorige|afgelopen|voorbije|letzte[nrsm]?|vergangene[nrsm]?)\s+(?P<last>{_SEASON})\b"
    rf"|\b(?:this|deze|dit|diese[nrsm]?|cet?)\s+(?P<this>{_SEASON})\b"
    rf"|(?:\bl['’])?\b(?P<dernier>{_SEASON})\s+dernier\b"
    rf"|\b(?P<season>{_SEASON})\s+(?:of\s+|van\s+|de\s+)?(?P<year>(?:19|20)\d{{2}})\b"
    rf"|\b(?:in the|in de|in het|im|en|au)\s+(?P<in>{_SEASON})\b(?!\s+(?:of|van|de|\d))",
    re.IGNORECASE,
)
_CJK_SEASON = re.compile(
    r"(?:(?P<last>去年|昨年)|(?P<this>今年)|(?P<year>\d{4})年)の?\s*(?P<season>[春夏秋冬])[天季]?"
)
_VAGUE_AGO = re.compile(
    rf"\b(?:a few|some|several|a couple of|couple of|een paar|enkele)\s+(?P<unit>{UNIT})\s+(?:ago|geleden)\b"
    rf"|\b(?:vor (?:ein paar|einigen|wenigen)|il y a quelques)\s+(?P<unit2>{UNIT})\b"
    r"|(?:几|幾|数|數)(?P<unit3>[天日年]|[个個]?(?:星期|月)|周|週間|[かヶ]月)前|前几(?P<unit4>天)",
    re.IGNORECASE,
)
_BARE_WEEKDAY = re.compile(
    rf"\b(?:on|op|am|vom)\s+(?P<latin>{WEEKDAY})\b(?!\s+[A-Z]|\w)"
    r"|(?<![上下这這本个個每毎])(?:周|星期|礼拜)(?P<zh>[一二三四五六日天])(?![一二三四五六日天月])"
    r"|(?<![のど毎])(?P<ja>[月火水木金土日])曜日?に",
    re.IGNORECASE,
)
_FEW = range(2, 7)


def _year_told(m: re.Match[str], _: Day) -> DateInterval | None:
    return year_of(int(m["year"] or m["begin"]))


def _month_told(m: re.Match[str], at: Day) -> DateInterval | None:
    name = m["month"] or m["other"] or m["thing"]
    month = month_named(m, "month" if m["month"] else "other" if m["other"] else "thing")
    is_name = name.lower() in _NAME_MONTHS or name == "Mars"
    if month is None or (is_name and not m["month"]):
        return None
    return at.nearest(lambda year: month_of(year, month))


def _months_between(m: re.Match[str], at: Day) -> DateInterval | None:
    begin, end = month_named(m, "begin"), month_named(m, "end")
    if begin is None or end is None:
        return None
    return at.nearest(lambda year: months_between(begin, end, year))


def _season_of(year: int, season: int) -> DateInterval | None:
    """Three months from March on; the winter of a year ends in the next one."""
    first = month_of(year, season * 3 + 3)
    last = month_of(year + (season == 3), (season * 3 + 4) % 12 + 1)
    return DateInterval(first=first.first, last=last.last) if first and last else None


def _season_told(m: re.Match[str], at: Day) -> DateInterval | None:
    told = m["last"] or m["this"] or m["dernier"] or m["season"] or m["in"]
    season = _SEASON_NUMBERS[told.lower()]
    if m["year"]:
        return _season_of(int(m["year"]), season)
    if at.day is None:
        return None
    if m["last"] or m["dernier"]:
        return _latest_season(season, at.day, is_over=True)
    return _latest_season(season, at.day, is_over=False)


def _latest_season(season: int, day: date, *, is_over: bool) -> DateInterval | None:
    for year in (day.year, day.year - 1, day.year - 2):
        interval = _season_of(year, season)
        if interval and (interval.last if is_over else interval.first) <= day:
            return interval
    return None


def _cjk_season(m: re.Match[str], at: Day) -> DateInterval | None:
    season = "春夏秋冬".index(m["season"])
    if m["year"]:
        return _season_of(int(m["year"]), season)
    return _season_of(at.day.year - bool(m["last"]), season) if at.day else None


def _vague_ago(m: re.Match[str], at: Day) -> DateInterval | None:
    word = m["unit"] or m["unit2"] or m["unit3"] or m["unit4"]
    unit = unit_of(word.lstrip("个個かヶ"))
    if unit is None or at.day is None:
        return None
    first, last = moved(at.day, unit, -_FEW[-1]), moved(at.day, unit, -_FEW[0])
    return DateInterval(first=first.first, last=last.last) if first and last else None


def _bare_weekday(m: re.Match[str], at: Day) -> DateInterval | None:
    if at.day is None:
        return None
    weekday = WEEKDAYS[m["latin"].lower()] if m["latin"] else CJK_WEEKDAYS[m["zh"] or m["ja"]]
    # Asked on that very day, it is this one.
    return weekday_before(at.day + timedelta(days=1), weekday)


# The last one is for questions about what was.
IN_QUESTIONS: tuple[Reader, ...] = (
    Reader(pattern=_YEAR_TOLD, read=_year_told, is_written=True, words=("year", "begin")),
    Reader(pattern=_MONTHS_BETWEEN, read=_months_between, is_written=True, is_span=True),
    Reader(
        pattern=_MONTH_TOLD, read=_month_told, is_written=True, words=("month", "other", "thing")
    ),
    Reader(pattern=_SEASON_TOLD, read=_season_told),
    Reader(pattern=_CJK_SEASON, read=_cjk_season),
    Reader(pattern=_VAGUE_AGO, read=_vague_ago),
    Reader(pattern=_BARE_WEEKDAY, read=_bare_weekday),
)
