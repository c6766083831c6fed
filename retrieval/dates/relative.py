"""Dates told from a day: yesterday, last week, two months ago, next Tuesday, in several languages.

Without that day none of them is read. A week runs from Monday to Sunday, a unit ago is a calendar unit ("two weeks
ago" is a week), and what may mean two days ("next Friday" on a Tuesday) is left alone.
"""

from __future__ import annotations

import re

from recalld.records import DateInterval
from retrieval.dates.calendar import (
    Unit,
    days,
    month_of,
    moved,
    span_before,
    weekday_after,
    weekday_before,
    weekday_of_week,
    weekend_of_week,
)
from retrieval.dates.names import (
    CJK_DAY,
    CJK_MONTH,
    CJK_NUMBER,
    CJK_WEEKDAYS,
    HANGUL_WEEKDAYS,
    MONTH,
    MONTHS,
    NUMBER,
    UNIT,
    WEEKDAY,
    WEEKDAYS,
    month_number,
    number_of,
    unit_of,
)
from retrieval.dates.readers import SENTENCE, Day, Reader

_DAY_WORDS = {
    0: "today tonight vandaag vanochtend vanmorgen vanmiddag vanavond heute aujourd'hui aujourd’hui"
    " 今天 今日 今早 今晚 今朝 오늘",
    -1: "yesterday gisteren gisteravond gisterochtend gistermiddag gestern hier 昨天 昨日 昨晚 昨夜 きのう 어제",
    -2: "eergisteren vorgestern avant-hier 前天 一昨日 おととい 그저께 그제",
    -3: "大前天",
    1: "tomorrow demain 明天 明日 あした 내일",
    2: "overmorgen übermorgen après-demain 后天 後天 明後日 모레",
}
DAY_OFFSETS = {word: offset for offset, words in _DAY_WORDS.items() for word in words.split()}
# Of one day only, so never "nowadays".
_SURELY_TODAY = frozenset(["tonight", "vanochtend", "vanmorgen", "vanmiddag", "vanavond"])
_SPANS: dict[tuple[Unit, int], str] = {
    (
        "week",
        -2,
    ): "week before last|voorvorige week|vorletzte woche|vorvorige woche|上上[个個]?(?:周|星期|礼拜)|先々週|지지난주",
    (
        "week",
        -1,
    ): "last week|vorige week|afgelopen week|letzten? woche|vergangenen? woche|vorigen? woche|(?:la )?semaine dernière"
    "|la semaine passée|上[个個]?(?:周|週|星期|礼拜)|先週|지난\\s?주",
    (
        "week",
        0,
    ): "this week|deze week|diesen? woche|cette semaine|[这這本](?:[个個])?(?:周|週|星期|礼拜)|今週|이번\\s?주",
    (
        "week",
        1,
    ): "next week|volgende week|komende week|nächsten? woche|kommenden? woche|(?:la )?semaine prochaine"
    "|下[个個]?(?:周|週|星期|礼拜)|来週|다음\\s?주",
    ("month", -2): "month before last|voorvorige maand|vorletzten monat|上上[个個]月|先々月",
    (
        "month",
        -1,
    ): "last month|vorige maand|afgelopen maand|letzten monats?|vergangenen monat|vorigen monats?|(?:le )?mois dernier"
    "|le mois passé|上[个個]?月|先月|지난\\s?달",
    (
        "month",
        0,
    ): "this month|deze maand|diesen monat|diesem monat|ce mois(?:-ci)?|这个月|這個月|本月|今月|이번\\s?달",
    (
        "month",
        1,
    ): "next month|volgende maand|komende maand|nächsten monat|(?:le )?mois prochain|下[个個]月|来月|다음\\s?달",
    (
        "quarter",
        -1,
    ): "last quarter|vorig kwartaal|afgelopen kwartaal|letztes quartal|(?:le )?trimestre dernier|上[个個]?季度",
    ("year", -2): "year before last|voorvorig jaar|vorletztes jahr|前年|一昨年|おととし|재작년",
    (
        "year",
        -1,
    ): "last year|vorig jaar|afgelopen jaar|letzte[sn] jahr(?:es)?|vergangene[sn] jahr(?:es)?|vorige[sn] jahr(?:es)?"
    "|(?:l['’])?an(?:née)? derni(?:er|ère)|l['’]an passé|去年|昨年|작년",
    ("year", 0): "this year|dit jaar|dieses jahr|cette année|今年|올해",
    (
        "year",
        1,
    ): "next year|volgend jaar|komend jaar|nächstes jahr|(?:l['’])?an(?:née)? prochaine?|明年|来年|내년",
}
_WEEKENDS = {
    -1: "last weekend|vorig weekend|afgelopen weekend|letztes wochenende|letzten wochenende|le week-end dernier"
    "|上[个個]?周末|上週末|先週末|先週の週末|지난\\s?주말",
    0: "this weekend|dit weekend|dieses wochenende|ce week-end|[这這]个?周末|本周末|今週末|이번\\s?주말",
}
# `The last week of the sprint` is no week of the calendar's.
_NOT_OF = r"(?!\s+(?:of|van|der|des|du|de la)\b)"
_SPAN_NAMES: dict[str, tuple[Unit, int]] = {}
_span_patterns = []
for _place, ((_unit, _steps), _words) in enumerate(_SPANS.items()):
    _SPAN_NAMES[f"s{_place}"] = (_unit, _steps)
    _span_patterns.append(f"(?P<s{_place}>(?<![A-Za-zÀ-ÿ])(?:{_words})(?![a-zà-ÿ]){_NOT_OF})")
_SPAN_WORDS = re.compile("|".join(_span_patterns), re.IGNORECASE)
_WEEKEND_WORDS = re.compile(
    rf"(?P<last>(?<![A-Za-zÀ-ÿ])(?:{_WEEKENDS[-1]}))|(?P<this>(?<![A-Za-zÀ-ÿ])(?:{_WEEKENDS[0]}))",
    re.IGNORECASE,
)
_DAY_WORD = re.compile(
    r"(?<![\w-])(?:(?P<before>(?:the )?day before yesterday)|(?P<after>(?:the )?day after tomorrow)"
    r"|(?P<night>last night)|(?P<part>this (?:morning|afternoon|evening)|heute (?:morgen|früh|mittag|nachmittag|abend)"
    r"|ce (?:matin|soir))"
    r"|(?P<word>today|tonight|vandaag|vanochtend|vanmorgen|vanmiddag|vanavond|heute|aujourd['’]hui"
    r"|yesterday|gisteren|gisteravond|gisterochtend|gistermiddag|eergisteren|gestern|vorgestern"
    r"|avant-hier|hier|tomorrow|demain|overmorgen|übermorgen|après-demain))(?![\w-]|['’]s\b)"
    r"|(?P<cjk>大前天|今天|今日(?!は[。、！])|今早|今晚|今朝|昨天|(?<!一)昨日|昨晚|昨夜|一昨日|(?<![目之以大])前天|明天|明日|(?<![以之然])后天"
    r"|後天|明後日|きのう|おととい|あした|오늘|어제|그저께|그제|내일|모레)",
    re.IGNORECASE,
)
_LAST = r"last|vorige[nrs]?|afgelopen|letzte[nrs]?|vergangene[nrs]?"
_NEXT = r"next|volgende|nächste[nrs]?"
_COMING = r"this coming|this|coming|komende|aanstaande|deze|kommende[nrs]?|diese[nrs]?"
_WEEKDAY_TOLD = re.compile(
    rf"\b(?:(?P<last>{_LAST})|(?P<next>{_NEXT})|(?P<coming>{_COMING}))\s+(?P<after>{WEEKDAY})\b"
    rf"|\b(?P<before>{WEEKDAY})\s+(?:(?P<dernier>dernier)|(?P<prochain>prochain)|(?P<lastweek>last week|vorige week"
    r"|letzte[nr]? woche|de la semaine dernière)|(?P<nextweek>next week|volgende week|nächste[nr]? woche"
    r"|de la semaine prochaine))\b",
    re.IGNORECASE,
)
_CJK_WEEKDAY = re.compile(
    r"(?:(?P<last>上[个個]?(?:周|週|星期|礼拜)|先週の?)|(?P<this>[这這本][个個]?(?:周|週|星期|礼拜)|今週の?)"
    r"|(?P<next>下[个個]?(?:周|週|星期|礼拜)|来週の?))(?P<day>[一二三四五六日天月火水木金土])(?:曜日?)?(?![間间度期个個])"
)
_HANGUL_WEEKDAY = re.compile(
    r"(?:(?P<last>지난\s?주)|(?P<this>이번\s?주)|(?P<next>다음\s?주))\s*(?P<day>[월화수목금토일])요일"
)
_MONTH_TOLD = re.compile(
    rf"\b(?:{_LAST})\s+(?P<last>{MONTH})\b(?!\s*\d)|\b(?P<dernier>{MONTH})\s+dernier\b"
    rf"|\b(?P<month>{MONTH})\s+(?:(?:of\s+|de\s+)?"
    rf"(?P<lastyear>last year|vorig jaar|letzten jahres|l['’]an(?:née)? derni(?:er|ère))"
    rf"|(?:of\s+|de\s+)?(?P<thisyear>this year|dit jaar|dieses jahres|cette année))",
    re.IGNORECASE,
)
_CJK_MONTH_TOLD = re.compile(
    rf"(?:(?P<last>去年|昨年|작년)|(?P<this>今年|올해)|(?P<next>明年|来年|내년)|(?P<prior>前年|一昨年|재작년))の?\s*"
    rf"(?P<month>{CJK_MONTH})\s*[月월](?:份?の?\s*(?P<day>{CJK_DAY})\s*[日号號일])?"
)
_CJK_DAY_TOLD = re.compile(
    rf"(?:(?P<last>上[个個]?月|先月)|(?P<this>本月|这个月|這個月|今月)|(?P<next>下[个個]月|来月))の?\s*"
    rf"(?P<day>{CJK_DAY})[日号號](?![间間])"
)
_AGO = re.compile(
    rf"(?<![\w.,–-])(?P<n>{NUMBER})\s+(?P<unit>{UNIT})\s+(?:ago|geleden)\b"
    rf"|\b(?:vor|il y a)\s+(?P<n2>{NUMBER})\s+(?P<unit2>{UNIT})\b(?!\s+(?:plus tard|später))"
    rf"|(?P<n3>{CJK_NUMBER})\s*(?P<unit3>[天日周週年]|[个個]?(?:星期|礼拜|月)|[かヶカ]月|週間)(?:之前|以前|前)(?![后後端期面提台者半])",
    re.IGNORECASE,
)
_HANGUL_AGO = re.compile(r"(?<![\d.])(?P<n>\d{1,3})\s*(?P<unit>일|주|개월|달|년)\s*전(?!자|체|부)")
_SPAN_OF = re.compile(
    rf"\b(?:(?:in |over |during )?the )?(?:last|past)\s+(?P<n>{NUMBER})\s+(?P<unit>{UNIT})\b"
    rf"|\b(?:de )?(?:afgelopen|laatste)\s+(?P<n2>{NUMBER})\s+(?P<unit2>{UNIT})\b"
    rf"|\b(?:den |die )?(?:letzten|vergangenen)\s+(?P<n3>{NUMBER})\s+(?P<unit3>{UNIT})\b"
    rf"|\b(?:ces |les )(?P<n4>{NUMBER})\s+derni(?:ers|ères)\s+(?P<unit4>{UNIT})\b"
    rf"|(?:最近|过去|過去|この)(?P<n5>{CJK_NUMBER})\s*(?P<unit5>[天日年]|[个個]?(?:星期|礼拜|月)|周(?!年)|[かヶカ]月|週間)(?:间|間)?",
    re.IGNORECASE,
)
_FRENCH = re.compile(
    r"\b(?:le|la|les|une?|du|nous|je|était|été|avec|est|dans|il|elle|ai|sur|pour)\b|\bj['’]|\bl['’]",
    re.IGNORECASE,
)
_PLAIN_START = re.compile(r"(?:^|[.!?:;。！？：\n]|[-*•>(\[\"'“«,–—])\s*[*_]*$")
_EDGE_BEFORE = re.compile(r"(?:^|[.,:;!?–—(\]]\s*|^\W+|\b(?:ago|geleden)\s+)$")
_EDGE_AFTER = re.compile(
    r"\s*(?:$|[.,;!?–—)])"
    rf"|\s+(?:(?:vor|il y a)\s+(?:{NUMBER})\s+(?:{UNIT})|(?:{NUMBER})\s+(?:{UNIT})\s+(?:ago|geleden))\b",
    re.IGNORECASE,
)
_LOOK_BACK = 12
_TITLE_WORD = re.compile(r"\b(?:Week|Month|Year|Night|Before|After|Tomorrow|Yesterday)\b")


def _day_word(m: re.Match[str], at: Day) -> DateInterval | None:
    if at.day is None:
        return None
    if m["before"] or m["after"] or m["night"] or m["part"]:
        steps = -2 if m["before"] else 2 if m["after"] else -1 if m["night"] else 0
        return moved(at.day, "day", steps)
    word = m.group().lower()
    # `hier` is "here" in Dutch and German.
    if word == "hier" and not _FRENCH.search(
        m.string, max(0, m.start() - SENTENCE), m.end() + SENTENCE
    ):
        return None
    # In mid-sentence `today` often means nowadays.
    is_vague = word.isascii() and DAY_OFFSETS[word] == 0 and word not in _SURELY_TODAY
    if is_vague and not _at_edge(m):
        return None
    return moved(at.day, "day", DAY_OFFSETS[word])


def _at_edge(m: re.Match[str]) -> bool:
    """Whether a word begins or ends its sentence or clause."""
    return bool(_EDGE_BEFORE.search(_before(m)) or _EDGE_AFTER.match(m.string, m.end()))


def _weekday(m: re.Match[str], at: Day) -> DateInterval | None:
    if at.day is None:
        return None
    weekday = WEEKDAYS[(m["after"] or m["before"]).lower()]
    if m["lastweek"] or m["nextweek"]:
        return weekday_of_week(at.day, weekday, -1 if m["lastweek"] else 1)
    if m["last"] or m["dernier"]:
        return weekday_before(at.day, weekday)
    # Of this week or of the next? Only a day that is over this week is sure.
    if m["next"] and weekday > at.day.weekday():
        return None
    return weekday_after(at.day, weekday)


def _asian_weekday(m: re.Match[str], at: Day) -> DateInterval | None:
    """A day of the week before, of this one or of the next."""
    if at.day is None:
        return None
    weekday = CJK_WEEKDAYS.get(m["day"], HANGUL_WEEKDAYS.get(m["day"], 0))
    return weekday_of_week(at.day, weekday, -1 if m["last"] else 1 if m["next"] else 0)


def _month_told(m: re.Match[str], at: Day) -> DateInterval | None:
    month = month_number(m["last"] or m["dernier"] or m["month"])
    if at.day is None or month is None:
        return None
    if m["month"]:
        return month_of(at.day.year - bool(m["lastyear"]), month)
    # `Last March` in March is a year ago.
    return month_of(at.day.year - (month >= at.day.month), month)


def _cjk_month_told(m: re.Match[str], at: Day) -> DateInterval | None:
    month, day = number_of(m["month"]), number_of(m["day"]) if m["day"] else 0
    if at.day is None or month is None or day is None:
        return None
    year = at.day.year + (-1 if m["last"] else -2 if m["prior"] else 1 if m["next"] else 0)
    return days(year, month, day) if day else month_of(year, month)


def _cjk_day_told(m: re.Match[str], at: Day) -> DateInterval | None:
    day = number_of(m["day"])
    if at.day is None or day is None:
        return None
    month = moved(at.day, "month", -1 if m["last"] else 1 if m["next"] else 0)
    return days(month.first.year, month.first.month, day) if month else None


def _counted(m: re.Match[str]) -> tuple[int, Unit] | None:
    """Number and unit of whichever way of saying it matched."""
    told = m.groupdict()
    for ending in ("", "2", "3", "4", "5"):
        number, word = told.get(f"n{ending}"), told.get(f"unit{ending}")
        if number and word:
            unit, count = unit_of(word.lstrip("个個かヶカ")), number_of(number)
            return (count, unit) if unit and count else None
    return None


def _ago(m: re.Match[str], at: Day) -> DateInterval | None:
    counted = _counted(m)
    return moved(at.day, counted[1], -counted[0]) if counted and at.day else None


def _span_of(m: re.Match[str], at: Day) -> DateInterval | None:
    counted = _counted(m)
    return span_before(at.day, counted[1], counted[0]) if counted and at.day else None


def _span(m: re.Match[str], at: Day) -> DateInterval | None:
    if at.day is None or m.lastgroup is None:
        return None
    unit, steps = _SPAN_NAMES[m.lastgroup]
    return moved(at.day, unit, steps)


def _weekend(m: re.Match[str], at: Day) -> DateInterval | None:
    return weekend_of_week(at.day, -1 if m["last"] else 0) if at.day else None


def _before(m: re.Match[str]) -> str:
    """What stands just before a match: a long text is not walked for each of its dates."""
    return m.string[max(0, m.start() - _LOOK_BACK) : m.start()]


def is_title(m: re.Match[str]) -> bool:
    """Whether a match is written as a name is: `The Day After Tomorrow`, the song `Yesterday`."""
    told = m.group()
    if told.isupper() or not told[0].isupper():
        return not told.isupper() and bool(_TITLE_WORD.search(told)) and told[0].islower()
    if told.split()[0].lower() in WEEKDAYS or told.split()[0].lower() in MONTHS:
        return False
    if len(_TITLE_WORD.findall(told)) and len(told.split()) > 1:
        return True
    return not _PLAIN_START.search(_before(m))


LATIN: tuple[Reader, ...] = (
    Reader(pattern=_DAY_WORD, read=_day_word),
    Reader(pattern=_WEEKDAY_TOLD, read=_weekday),
    Reader(pattern=_MONTH_TOLD, read=_month_told, names_year=True),
    Reader(pattern=_AGO, read=_ago),
    Reader(pattern=_SPAN_OF, read=_span_of),
    Reader(pattern=_WEEKEND_WORDS, read=_weekend),
    Reader(pattern=_SPAN_WORDS, read=_span),
)
ASIAN: tuple[Reader, ...] = (
    Reader(pattern=_CJK_WEEKDAY, read=_asian_weekday),
    Reader(pattern=_HANGUL_WEEKDAY, read=_asian_weekday),
    Reader(pattern=_CJK_MONTH_TOLD, read=_cjk_month_told, names_year=True),
    Reader(pattern=_CJK_DAY_TOLD, read=_cjk_day_told),
    Reader(pattern=_HANGUL_AGO, read=_ago),
)
