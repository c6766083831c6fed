"""Readers for questions alone: what would be a guess in a note is a fair hint of what somebody asks after."""

from __future__ import annotations

import re
from datetime import date, timedelta

from recalld.records import DateInterval
from retrieval.dates.calendar import (
    half,
    month_of,
    moved,
    quarter_of,
    week_of,
    weekday_after,
    weekday_before,
    weekday_of_week,
    weekend_of_week,
    year_of,
)
from retrieval.dates.names import (
    CJK_WEEKDAYS,
    MONTH,
    NOT_COUNTED,
    ORDINAL,
    UNIT,
    WEEKDAY,
    WEEKDAYS,
    number_of,
    ordinal_of,
    unit_of,
)
from retrieval.dates.readers import Day, Reader
from retrieval.dates.spans import counts_no_years, months_between, read_years
from retrieval.dates.sureness import month_named

PAST = re.compile(
    r"\b(?:did|was|were|had|went|said|wrote|told|met|bought|got|made|saw|came|ate|happened"
    # What is planned is ahead, what somebody planned is over.
    r"|(?!planned\b|scheduled\b)\w{3,}ed|(?:who|I|we|you|he|she|they)\s+(?:planned|scheduled)"
    r"|deed|deden|gebeurden?|waren|ging|gingen|heb|hebben|hebt|heeft|werd|werden|kwam|kocht|at|zei|ge\w{3,}(?:d|t|en)"
    r"|war|geschah|passierten?|hatten?|habe|haben|hast|hat|wurden?|kam|ging|ai|avons|avez|ont|était|étais|fait|arrivée?s?|passée?s?)\b"
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
_YEARS_TOLD = re.compile(
    rf"(?<![\w./-])(?P<begin>(?:19|20)\d{{2}})(?:\s*[-–—]\s*|\s+(?:to|until|through|tot(?: en met)?|t/m|bis|à)\s+)"
    rf"(?P<end>(?:19|20)\d{{2}})(?!\.\w){NOT_COUNTED}",
    re.IGNORECASE,
)
_YEARS_LISTED = re.compile(
    r"(?<![\w./-])((?:19|20)\d{2})(?=(?:,\s+(?:19|20)\d{2}){0,9},?\s+(?:and|or|en|of|und|oder|et|ou)\s+(?:in\s+)?"
    rf"(?:19|20)\d{{2}}{NOT_COUNTED})",
    re.IGNORECASE,
)
_QUARTER_TOLD = re.compile(
    rf"\b(?:in|during|since|of|in the|during the|since the|of the|before the|after the|het|in het|im|des|au|du|le)\s+"
    rf"(?P<ordinal>{ORDINAL})\s+(?:quarter|kwartaal|quartals?|trimestre)\b(?!\s+(?:of|van|de|des)\b)"
    r"|(?<![年半])第(?P<cjk>[1-4一二三四])(?:季度|四半期)",
    re.IGNORECASE,
)
_CJK_HALF_TOLD = re.compile(r"(?<![年的の一二两兩三四五六七八九十])(?:(上)|下)半年")
_WEEK_TOLD = re.compile(
    r"\b(?:in|during|since|before|after|until|by)\s+(?P<week>(?-i:week)\s(\d{1,2}))(?![\w/-]|\.\d|\s+(?:of|van)\b)",
    re.IGNORECASE,
)
_NEXT_WEEKDAY = re.compile(rf"\b(?:next|volgende|nächste[nrs]?)\s+({WEEKDAY})\b", re.IGNORECASE)
_WEEKEND_TOLD = re.compile(
    r"\b(?:(?:over|during|at|on|in)\s+the\s+weekend|in\s+het\s+weekend|am\s+wochenende|ce\s+week-end|(?<![上这這本下])周末|週末に)",
    re.IGNORECASE,
)
_MONTH_TOLD = re.compile(
    r"\b(?P<sure>since|during|between|sinds|vanaf|tussen|seit|ab|zwischen|depuis|entre|jusqu['’]en|this past)\s+"
    rf"(?P<month>{MONTH})\b(?!\s*\d)"
    rf"|\bfrom\s+(?P<onwards>{MONTH})(?=\s+onwards?\b)"
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
    rf"|\b(?:in the|in de|in het|im|en|au)\s+(?P<in>{_SEASON})\b(?!\s+(?:of|van|de|\d))"
    rf"|\bin\s+(?P<bare>(?-i:spring|summer|autumn|winter))(?=\s*(?:$|[?.,!;])|\s+(?:we|I|you|he|she|it|they|the|did|was|and|or|last"
    rf"|this|two)\b)",
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
_PART = r"(?:\s+(?:morning|afternoon|evening|night))?"
# `Monday 4 May` is told by its day.
_NO_DAY = r"(?!,?\s+(?:the\s+|den\s+|dem\s+|de\s+|le\s+)?\d)"
_BARE_WEEKDAY = re.compile(
    rf"\b(?:(?:on|op|(?:planned|scheduled|due)\s+for|since|sinds|until|by|before|after|from|between)\s+(?P<latin>{WEEKDAY})\b(?!\s+(?-i:[A-Z])|['’-]|\w){_NO_DAY}"
    rf"|(?:am|vom|seit|bis)\s+(?P<de>{WEEKDAY})\b{_NO_DAY})"
    # Small, as Dutch and French write them: no name.
    rf"|(?<!\bde )(?<!\bles )(?<!\ble )(?<!\bdu )\b(?P<small>(?-i:(?:maan|dins|woens|donder|vrij|zater|zon)dag"
    rf"(?=(?:ochtend|middag|avond|nacht)?\b)|(?:lun|mar|mercre|jeu|vendre|same)di\b|dimanche\b)){_NO_DAY}(?!-)"
    rf"|\b(?:happened|occurred|broke|came|went|left|do|go|come|eat|ate|meet|met|geschah|passierte?|(?:was|were|did)"
    rf"\s+(?:I|we|you|it|he|she|they))\s+(?P<last>{WEEKDAY}){_PART}(?=\s*[?.!]*$)"
    r"|(?<![上下这這本个個每毎])(?:周|星期|礼拜)(?P<zh>[一二三四五六日天])(?![一二三四五六日天月])"
    r"|(?<![のど毎])(?P<ja>[月火水木金土日])曜日?に",
    re.IGNORECASE,
)
_SECOND_WEEKDAY = re.compile(
    rf"\b(?:on|op|am|from|between|von|van|tussen|zwischen)\s+(?:{WEEKDAY}){_PART},?\s+"
    rf"(?P<join>and|or|en|of|und|oder|to|until|tot|bis)\s+(?:on\s+|op\s+|am\s+)?(?P<second>{WEEKDAY})\b(?!\s+(?-i:[A-Z])|['’-])",
    re.IGNORECASE,
)
_FEW = range(2, 7)


def _year_told(m: re.Match[str], _: Day) -> DateInterval | None:
    return year_of(int(m["year"] or m["begin"]))


def _month_told(m: re.Match[str], at: Day) -> DateInterval | None:
    group = next(group for group in ("month", "onwards", "other", "thing") if m[group])
    name = m[group]
    month = month_named(m, group)
    is_name = name.lower() in _NAME_MONTHS or name == "Mars"
    if month is None or (is_name and group not in ("month", "onwards")):
        return None
    return at.nearest(lambda year: month_of(year, month))


def _years_told(m: re.Match[str], _: Day) -> DateInterval | None:
    return None if counts_no_years(m) else read_years(int(m["begin"]), int(m["end"]))


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
    told = m["last"] or m["this"] or m["dernier"] or m["season"] or m["in"] or m["bare"]
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
    latin = m["latin"] or m["de"] or m["small"] or m["last"]
    return _weekday(WEEKDAYS[latin.lower()] if latin else CJK_WEEKDAYS[m["zh"] or m["ja"]], at)


def _weekday(weekday: int, at: Day) -> DateInterval | None:
    """The latest such day or, where a question looks ahead, the next."""
    if at.day is None:
        return None
    if at.is_ahead:
        return weekday_after(at.day, weekday)
    # Asked on that very day, it is this one.
    return weekday_before(at.day + timedelta(days=1), weekday)


def _next_weekday(m: re.Match[str], at: Day) -> DateInterval | None:
    """That of this week or that of the next: some mean the one, some the other."""
    first = weekday_after(at.day, WEEKDAYS[m[1].lower()]) if at.day else None
    second = weekday_of_week(at.day, WEEKDAYS[m[1].lower()], 1) if at.day else None
    return DateInterval(first=first.first, last=second.last) if first and second else None


def _weekend_told(_: re.Match[str], at: Day) -> DateInterval | None:
    """The weekend that has begun last or, where a question looks ahead, the next to end."""
    if at.day is None:
        return None
    return weekend_of_week(at.day, 0 if at.is_ahead or at.day.weekday() >= 5 else -1)


def _cjk_half_told(m: re.Match[str], at: Day) -> DateInterval | None:
    def make(year: int) -> DateInterval | None:
        whole = year_of(year)
        return whole and half(whole, "early" if m[1] else "late")

    return at.nearest(make)


def _quarter_told(m: re.Match[str], at: Day) -> DateInterval | None:
    number = ordinal_of(m["ordinal"]) if m["ordinal"] else number_of(m["cjk"])
    return at.nearest(lambda year: quarter_of(year, number)) if number else None


IN_QUESTIONS: tuple[Reader, ...] = (
    Reader(pattern=_YEAR_TOLD, read=_year_told, is_written=True, words=("year", "begin")),
    Reader(
        pattern=_YEARS_TOLD,
        read=_years_told,
        is_written=True,
        is_span=True,
    ),
    Reader(pattern=_YEARS_LISTED, read=lambda m, _: year_of(int(m[1])), is_written=True),
    Reader(pattern=_MONTHS_BETWEEN, read=_months_between, is_written=True, is_span=True),
    Reader(
        pattern=_MONTH_TOLD,
        read=_month_told,
        is_written=True,
        words=("month", "onwards", "other", "thing"),
    ),
    Reader(pattern=_QUARTER_TOLD, read=_quarter_told, is_written=True, words=("ordinal", "cjk")),
    Reader(pattern=_CJK_HALF_TOLD, read=_cjk_half_told, is_written=True),
    Reader(
        pattern=_WEEK_TOLD,
        read=lambda m, at: at.nearest(lambda year: week_of(year, int(m[2]))),
        is_written=True,
        words=("week",),
    ),
    Reader(pattern=_SEASON_TOLD, read=_season_told, is_yearly=True),
    Reader(pattern=_CJK_SEASON, read=_cjk_season),
    Reader(pattern=_VAGUE_AGO, read=_vague_ago),
    Reader(pattern=_NEXT_WEEKDAY, read=_next_weekday),
)
# For questions about what was, or will be: in others a weekday is each of its kind, or a name.
IN_STORIES: tuple[Reader, ...] = (
    Reader(pattern=_BARE_WEEKDAY, read=_bare_weekday, words=("latin", "de", "small", "last")),
    Reader(
        pattern=_SECOND_WEEKDAY,
        read=lambda m, at: _weekday(WEEKDAYS[m["second"].lower()], at),
        words=("second",),
    ),
    Reader(pattern=_WEEKEND_TOLD, read=_weekend_told),
)
