"""The words for months, weekdays, numbers and units, in the languages whose dates are read.

Lists only: what a sentence makes of them is the readers' business.
"""

from __future__ import annotations

import re

from retrieval.dates.calendar import Unit

# English names that are also words (`may`, `march`) and abbreviations need their capital.
MONTHS: dict[str, int] = {}
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
        MONTHS[_name] = _number
    for _name in _abbreviations.split():
        MONTHS[_name] = _number
        _CAPITAL.add(_name)
# Dutch and French abbreviations are written small.
_CAPITAL -= {"jan", "feb", "febr", "mrt", "apr", "aug", "sep", "sept", "okt", "nov", "janv"}
_CAPITAL -= {"févr", "avr", "juil", "déc"}

# Each may be a name, or what is on a sandwich: a month only as Spanish puts it.
_SPANISH = (
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
)
SPANISH_MONTHS = {name: number for number, name in enumerate(_SPANISH.split(), start=1)}
MONTHS |= SPANISH_MONTHS

WEEKDAYS = {
    name: day
    for day, names in enumerate(
        (
            "monday maandag montag lundi",
            "tuesday dinsdag dienstag mardi",
            "wednesday woensdag mittwoch mercredi",
            "thursday donderdag donnerstag jeudi",
            "friday vrijdag freitag vendredi",
            "saturday zaterdag samstag samedi sonnabend",
            "sunday zondag sonntag dimanche",
        )
    )
    for name in names.split()
}
CJK_WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6} | {
    "月": 0,
    "火": 1,
    "水": 2,
    "木": 3,
    "金": 4,
    "土": 5,
}
HANGUL_WEEKDAYS = {name: day for day, name in enumerate("월화수목금토일")}

_NUMBERS = {
    name: number
    for number, names in enumerate(
        (
            "a an one een één eén 'n ein eine einem einer eines un une",
            "two twee zwei deux",
            "three drie drei trois",
            "four vier quatre",
            "five vijf fünf cinq",
            "six zes sechs",
            "seven zeven sieben sept",
            "eight acht huit",
            "nine negen neun neuf",
            "ten tien zehn dix",
            "eleven elf onze",
            "twelve twaalf zwölf douze",
        ),
        start=1,
    )
    for name in names.split()
}
_CJK_DIGITS = {"〇": 0, "零": 0, "两": 2, "兩": 2} | {
    digit: number for number, digit in enumerate("一二三四五六七八九", start=1)
}
_ORDINALS = {
    name: number
    for number, names in enumerate(
        (
            "first 1st eerste 1e erste ersten erstes 1. premier 1er",
            "second 2nd tweede 2e zweite zweiten zweites 2. deuxième 2ème",
            "third 3rd derde 3e dritte dritten drittes 3. troisième 3ème",
            "fourth 4th last vierde 4e laatste vierte vierten viertes 4. letzten quatrième 4ème dernier",
        ),
        start=1,
    )
    for name in names.split()
}

# Each list with the longest first, since the first that fits is taken.
MONTH = "|".join(sorted(map(re.escape, MONTHS), key=len, reverse=True))
WEEKDAY = "|".join(sorted(WEEKDAYS, key=len, reverse=True))
NUMBER = r"(?<![\d.,/–-])\d{1,3}|" + "|".join(
    rf"(?<!\w){re.escape(name)}" for name in sorted(_NUMBERS, key=len, reverse=True)
)
ORDINAL = "|".join(sorted(map(re.escape, _ORDINALS), key=len, reverse=True))
CJK_NUMBER = r"(?<![\d.])\d{1,3}|[一二两兩三四五六七八九十]{1,3}"
CJK_MONTH = r"(?<![\d.])\d{1,2}|十[一二]?|[一二三四五六七八九]"
_CJK_DIGIT = "[〇零一二三四五六七八九]"
_ERAS = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}
CJK_YEAR = (
    rf"(?<!\d)(?<!{_CJK_DIGIT})\d{{4}}|二[〇零]{_CJK_DIGIT}{{2}}|一九{_CJK_DIGIT}{{2}}"
    rf"|(?:{'|'.join(_ERAS)})\s?(?:元|\d{{1,2}}|[一二三四五六七八九十]{{1,3}})"
)
CJK_DAY = r"\d{1,2}|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九]"

UNITS: tuple[tuple[Unit, re.Pattern[str]], ...] = (
    ("day", re.compile(r"da(?:y|g)|jour|tag|[天日일]", re.IGNORECASE)),
    ("week", re.compile(r"we[ek]k?|woche|semaine|周|週|星期|礼拜|禮拜|주", re.IGNORECASE)),
    ("quarter", re.compile(r"quarter|kwarta|quartal|trimestre|季", re.IGNORECASE)),
    ("month", re.compile(r"month|maand|monat|mois|月|달|개월", re.IGNORECASE)),
    ("year", re.compile(r"year|ja[ah]r|ans?\b|année|年|년", re.IGNORECASE)),
)
UNIT = (
    r"days?|dag(?:en)?|jours?|tage?n?|weeks?|weken|wochen?|semaines?|months?|maand(?:en)?|monate?n?|mois"
    r"|quarters?|kwarta(?:al|len)|quartale?n?|trimestres?|years?|jaar|jaren|jahre?n?|ans?|années?"
)

UNTIL = (
    r"(?:to|until|till?|through|thru|up to|tot(?: en met)?|t/m|bis(?: zum| einschließlich)?|au|à|al"
    r"|jusqu['’](?:à|au)|hasta|–|—|至|到|から|～|〜|~|부터)"
)
ARTICLE = r"(?:the|de|het|dem|den|der|die|le|la|el|zum)\s+"
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# Behind four digits that are a year: not `2000 requests`.
NOT_COUNTED = (
    r"(?![\w/%-]|[.,:]\d|\s*[€$£]|\s+(?:items?|files?|rows?|requests?|bytes|ms|px|lines?|euros?|dollars?|people|users?"
    r"|tokens?|words?|times|steps|met(?:er|re)s|miles|characters|notes|points|pages|chars|hours|minutes|seconds|days"
    r"|rpm|watts?|kW|stuks?|mensen|regels|keer|Zeilen|Mal|Leute|Stück|KB|MB|GB|TB|Hz|MHz|K|kg|km|m|W|V)\b)"
)


def month_number(name: str) -> int | None:
    """The month of a name; None for a word such as `may` or `march` without its capital."""
    if name.lower() in _CAPITAL and not name[0].isupper():
        return None
    return MONTHS.get(name.lower())


def unit_of(word: str) -> Unit | None:
    """The unit that a word for one or several of it stands for."""
    return next((unit for unit, pattern in UNITS if pattern.match(word)), None)


def number_of(word: str) -> int | None:
    """A whole number in digits, in a Latin word up to twelve, or in Chinese numerals up to 99."""
    lowered = word.lower()
    if lowered.isdecimal():
        return int(lowered)
    if lowered in _NUMBERS:
        return _NUMBERS[lowered]
    if "十" in word:
        tens, _, ones = word.partition("十")
        if (tens and tens not in _CJK_DIGITS) or (ones and ones not in _CJK_DIGITS):
            return None
        return _CJK_DIGITS.get(tens, 1) * 10 + _CJK_DIGITS.get(ones, 0)
    return _CJK_DIGITS.get(word)


def ordinal_of(word: str) -> int | None:
    """The number of a quarter's ordinal, first to fourth."""
    return _ORDINALS.get(word.lower())


def cjk_year(digits: str) -> int | None:
    """A year of four digits or four numerals, such as 二〇二六, or of a Japanese era, such as 令和7."""
    if digits[:2] in _ERAS:
        number = 1 if digits.endswith("元") else number_of(digits[2:].strip())
        return _ERAS[digits[:2]] + number if number else None
    if len(digits) != 4:
        return None
    if digits.isdecimal():
        return int(digits)
    told = [_CJK_DIGITS.get(digit) for digit in digits]
    return None if None in told else int("".join(str(digit) for digit in told))
