"""What stands beside one date and makes other days of it: `early`, `first half of`, `the week of`, `a week before`.

Only the text close to a date is looked at, so a long text is not walked for each of its dates.
"""

from __future__ import annotations

import re
from datetime import timedelta

from recalld.records import DateInterval
from retrieval.dates.calendar import (
    Half,
    Unit,
    days,
    half,
    is_month,
    is_week,
    is_year,
    moved,
    quarter_of,
    shifted,
)
from retrieval.dates.names import (
    CJK_NUMBER,
    CJK_WEEKDAYS,
    NUMBER,
    ORDINAL,
    UNIT,
    WEEKDAY,
    WEEKDAYS,
    number_of,
    ordinal_of,
    unit_of,
)

_LOOK_BACK = 40
_OF = r"(?:\s+(?:of|in|van|von|de|du|des|der)(?:\s+(?:the|het|de))?(?:\s+(?:year|jaar|jahres))?|\s+de\s+l['’])?"
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
    "early": re.compile(r"(?:の?(?:年)?初め|の?初旬|の?上旬|の?年初|初|の?はじめ)"),
    "mid": re.compile(r"(?:の?中旬|の?年中|中(?![国國文学學心间間]))"),
    "late": re.compile(r"(?:の?下旬|[的の]?年?底|の?年?末)"),
}
_HALF_OF = re.compile(
    rf"\b(?:(?:(?P<one>first|1st|eerste|ersten?|première|1re|premier|1er)|second|2nd|last|latter|tweede|laatste|zweiten?"
    rf"|letzten?|deuxième|seconde?|dernière|2e)\s+(?:half|helft|hälfte|moitié|semestre)|(?-i:H)(?:(?P<h>1)|2)){_OF}\s*$",
    re.IGNORECASE,
)
_CJK_HALF_OF = re.compile(
    r"[的の]?(?:(?P<one>上半[年月期]?|前半)|(?P<two>下半[年月期]?|[后後]半[年月期]?))"
)
_QUARTER_OF = re.compile(
    rf"(?<!\w)(?:(?P<name>{ORDINAL})\s+(?:quarter|kwartaal|quartals?|trimestre)|(?-i:[QT])(?P<number>[1-4])){_OF}\s*$",
    re.IGNORECASE,
)
_CJK_QUARTER_OF = re.compile(r"[的の]?第?\s*([1-4一二三四])\s*(?:季度|四半期)")
_WEEK_OF = re.compile(
    r"\b(?:week (?:of|van)|woche (?:vom|des|um den)|semaine (?:du|de))\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_CJK_WEEK_OF = re.compile(r"(?:[那这這]一?[个個]?(?:周|週|星期)|の週(?!末))")
_WEEKDAY_OF = re.compile(
    rf"\b({WEEKDAY})(?:\s+(?:of|in|van|der|de|du))?\s+(?:the\s+|la\s+)?$", re.IGNORECASE
)
_WEEKDAY_IN = re.compile(
    rf"\s+(?:(?:on|op|am)\s+)?({WEEKDAY})(?!\w|\s+(?:is|will|last|next|this|wird|ist|wordt)\b)",
    re.IGNORECASE,
)
_CJK_WEEKDAY_IN = re.compile(
    r"[的の](?:(?:周|週|星期|礼拜)([一二三四五六日天])|([月火水木金土日])曜日?)(?![間间度期个個])"
)
_DAY_OF = re.compile(
    r"(?<![\w.,/-])(\d{1,2})(?:(?:st|nd|rd|th|de|ste|e|\.)\s+(?:of|van|des)\s+|\s+du\s+)$",
    re.IGNORECASE,
)
_ONE = "day dag jour tag week woche semaine month maand monat mois quarter kwartaal quartal year jaar jahr année"
_AWAY = re.compile(
    r"(?:\b(?P<whole>the|de|het|der|die|das|dem|den|am|im|le|la|les|for|within|binnen)\s+)?"
    rf"(?:(?P<n>{NUMBER})\s+)?(?<![^\W\d_])(?P<unit>{UNIT})\s+(?:(?P<before>before|prior to|voor|vóór|vor|avant)"
    r"|after|following|na|nach|après)\s+(?:the\s+|de\s+|dem\s+|den\s+|le\s+)?$",
    re.IGNORECASE,
)
# `Twice a year before 2020` is no year before it.
_RATE = re.compile(
    r"(?:\d|\b(?:once|twice|thrice|times|minutes|hours|days|weeks|euros?|dollars|keer|maal|uur|dagen|mal|fois"
    r"|stunden|tage|heures|jours))\s+$",
    re.IGNORECASE,
)
_CJK_AWAY = re.compile(
    rf"[的の]?(?:(?P<n>{CJK_NUMBER})\s*(?P<unit>天|日|周|週間|[个個]?(?:星期|月)|[かヶカ]月|年)"
    r"(?:(?P<before>之前|以前|前)|之后|之後|以后|以後|后|後)(?![后後端期面提台者半])"
    r"|(?P<eve>前一天|前日)|第二天|[后後]一天|翌日|次の日)"
)


def narrowed(
    text: str, start: int, end: int, interval: DateInterval
) -> tuple[DateInterval, int, int]:
    """A date with the words beside it taken in: its days, and the characters of all of it."""
    before = text[max(0, start - _LOOK_BACK) : start]
    offset = start - len(before)
    for lead in (_part_before, _day_before):
        found = lead(before, interval)
        if found is not None:
            interval, start = found[0], offset + found[1]
            break
    else:
        for tail in (_part_behind, _day_behind):
            found = tail(text, end, interval)
            if found is not None:
                interval, end = found
                break
    before = text[max(0, start - _LOOK_BACK) : start]
    away = _away(before, interval)
    if away is not None:
        return away[0], start - len(before) + away[1], end
    away = _cjk_away(text, end, interval)
    return (away[0], start, away[1]) if away is not None else (interval, start, end)


def _part_before(before: str, interval: DateInterval) -> tuple[DateInterval, int] | None:
    """A half or a quarter that is named before its year or month, and where its words begin."""
    if is_year(interval) or is_month(interval):
        m = _HALF_OF.search(before)
        if m:
            return half(interval, "early" if m["one"] or m["h"] else "late"), m.start()
    if is_year(interval):
        m = _QUARTER_OF.search(before)
        number = (int(m["number"]) if m["number"] else ordinal_of(m["name"])) if m else None
        quarter = quarter_of(interval.first.year, number) if number else None
        if m and quarter:
            return quarter, m.start()
    for part, pattern in _HALVES.items():
        m = pattern.search(before)
        if m:
            return half(interval, part), m.start()
    return None


def _day_before(before: str, interval: DateInterval) -> tuple[DateInterval, int] | None:
    """The week of a day, a weekday of a week, or a day of a month, and where its words begin."""
    found: DateInterval | None = None
    m: re.Match[str] | None = None
    if interval.first == interval.last:
        m = _WEEK_OF.search(before)
        found = moved(interval.first, "week", 0) if m else None
    elif is_week(interval):
        m = _WEEKDAY_OF.search(before)
        found = moved(interval.first, "day", WEEKDAYS[m[1].lower()]) if m else None
    elif is_month(interval):
        m = _DAY_OF.search(before)
        day = int(m[1] or m[2]) if m else 0
        found = days(interval.first.year, interval.first.month, day) if day else None
    return (found, m.start()) if found and m else None


def _part_behind(text: str, end: int, interval: DateInterval) -> tuple[DateInterval, int] | None:
    """A half or a quarter that is named after its year or month, and where its words end."""
    if is_year(interval) or is_month(interval):
        m = _CJK_HALF_OF.match(text, end)
        if m:
            return half(interval, "early" if m["one"] else "late"), m.end()
    if is_year(interval):
        m = _CJK_QUARTER_OF.match(text, end)
        quarter = quarter_of(interval.first.year, number_of(m[1]) or 0) if m else None
        if m and quarter:
            return quarter, m.end()
    for part, pattern in _HALF_AFTER.items():
        m = pattern.match(text, end)
        if m:
            return half(interval, part), m.end()
    return None


def _day_behind(text: str, end: int, interval: DateInterval) -> tuple[DateInterval, int] | None:
    """The week of a day or a weekday of a week, and where its words end."""
    found: DateInterval | None = None
    m: re.Match[str] | None = None
    if interval.first == interval.last:
        m = _CJK_WEEK_OF.match(text, end)
        found = moved(interval.first, "week", 0) if m else None
    elif is_week(interval):
        m = _WEEKDAY_IN.match(text, end)
        if m:
            found = moved(interval.first, "day", WEEKDAYS[m[1].lower()])
        else:
            m = _CJK_WEEKDAY_IN.match(text, end)
            found = moved(interval.first, "day", CJK_WEEKDAYS[m[1] or m[2]]) if m else None
    return (found, m.end()) if found and m else None


def _away(before: str, interval: DateInterval) -> tuple[DateInterval, int] | None:
    """What lies a number of units before or after a date, and where its words begin.

    `Two weeks before` is a week, as `two weeks ago` is; `the two weeks before` are all of those days.
    """
    m = _AWAY.search(before)
    unit = unit_of(m["unit"]) if m else None
    if m is None or unit is None or _RATE.search(before, 0, m.start()):
        return None
    if m["n"] is None and (m["whole"] is None or m["unit"].lower() not in _ONE.split()):
        return None
    count = number_of(m["n"]) if m["n"] else 1
    if not count:
        return None
    found: DateInterval | None
    if m["whole"]:
        found = _all_of(interval, unit, -count if m["before"] else count)
    elif m["before"]:
        found = moved(interval.first, unit, -count)
    else:
        found = moved(interval.last, unit, count)
    return (found, m.start()) if found else None


def _all_of(interval: DateInterval, unit: Unit, steps: int) -> DateInterval | None:
    """The days of some units just before an interval, or just after it."""
    day = timedelta(days=1)
    begin = interval.first if steps < 0 else interval.last + day
    far = shifted(begin, unit, steps)
    return DateInterval(first=min(begin, far), last=max(begin, far) - day) if far else None


def _cjk_away(text: str, end: int, interval: DateInterval) -> tuple[DateInterval, int] | None:
    """What lies a number of units before or after a day, and where its words end."""
    if interval.first != interval.last:
        return None
    m = _CJK_AWAY.match(text, end)
    if m is None:
        return None
    count = number_of(m["n"]) if m["n"] else 1
    unit = unit_of(m["unit"].lstrip("个個かヶカ")) if m["unit"] else "day"
    if not count or unit is None:
        return None
    found = moved(interval.first, unit, -count if m["before"] or m["eve"] else count)
    return (found, m.end()) if found else None
