"""The numbers and dates that a text states, in a form that can be compared.

`1,000` is `1000`, `64 GB` is `65536 MB`, `3 May 2026` is `2026-05-03`. A number without a unit keeps its
decimals as written, for `3.1` and `3.10` are two versions. A number that is part of an identifier (`db-2`,
`AX3000`) is none here. It must not know of sentences, blocks or facts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import resources
from typing import Literal

# Letters; longer units are words.
_LONGEST_SYMBOL = 3
_DIGITS = re.compile(r"[0-9]+")
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_])(?<![A-Za-z_][-_./:#])(?<!\d[.,])\d+(?:[.,'’]\d+)*(?![A-Za-z_]\w*\d)"
)
_NAME_GOES_ON = re.compile(r"(?!(?:st|nd|rd|th|e|ste|de|er|x)\b)[A-Za-z_]")
_SIGNS = re.compile(r"(?:(?<![^\s(])(?P<sign>[-−]))?(?:(?P<currency>[€$£])\s?)?$")
_WORD = re.compile(r"(?<![\w-])[^\W\d_]{3,10}(?![\w-])")
_HAN_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"两": 2, "兩": 2, "〇": 0}
_HAN_NUMBER = re.compile(
    r"(?<![第周期礼拜曜一二两三四五六七八九十])([一二两兩三四五六七八九十百千]+)"
    r"(?=\s?(?:个|個|楼|樓|层|次|年|月|日|天|点|點|号|名|位|只|条|张|台|件|本|杯|倍|周|岁|元|块|人|分|秒|小时|階|つ|匹|枚))"
)
_CLOCK = re.compile(
    r"(?<![\d:.])([01]?\d|2[0-4]):([0-5]\d)(?::[0-5]\d)?(?![\d:])(?:\s?([ap])\.?m\b)?"
    r"|(?<![\d:.])(1[0-2]|0?[1-9])\s?([ap])\.?m\b|(?<!\d)([01]?\d|2[0-4])\s?[点點時时](?![间間])(半)?",
    re.IGNORECASE,
)
_ISO = re.compile(r"(?<!\d)((?:19|20)\d\d)[-/.](\d{1,2})(?:[-/.](\d{1,2}))?(?![\d]|[-/.]\d)")
_DOTTED = re.compile(r"(?<![\d.])(\d{1,2})\.(\d{1,2})\.((?:19|20)\d\d)(?![\d.])")
_SLASHED = re.compile(r"(?<!\d)\d{1,2}[/-]\d{1,2}[/-](?:19|20)\d\d(?!\d)")
_CJK_DATE = re.compile(
    r"(?:(?<!\d)(\d{4})\s?[年년]\s?)?(?<!\d)(\d{1,2})\s?[月월](?:\s?(\d{1,2})\s?[日号號일])?"
    r"|(?<!\d)(\d{4})\s?[年년]"
)
_CJK_WEEKDAY = re.compile(
    r"(?:周|星期|礼拜|週)([一二三四五六日天])(?![间間])|([月火水木金土日])曜日?|([월화수목금토일])요일"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_DAY_BEFORE = re.compile(r"(?<![\w.:-])(\d{1,2})(?:st|nd|rd|th|\.|e|er|º|°)?\s(?:of\s|de\s)?$")
_DAY_AFTER = re.compile(
    r"\.?\s(?P<day>\d{1,2})(?:st|nd|rd|th)?(?![\w:])(?:,?\s(?P<year>(?:19|20)\d\d)(?!\d))?"
)
_YEAR_AFTER = re.compile(r"\.?,?\s(?:de\s|del\s)?(?P<year>(?:19|20)\d\d)(?![\d-])")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number or date at `start:end` of a text; two that say the same have the same `key`.

    A date's key is `date:year-month-day`, with `?` for what it does not say.
    """

    start: int
    end: int
    kind: Literal["number", "date"]
    key: str
    # What it measures ("bytes", "clock"); empty for a mere number.
    dimension: str = ""

    def within(self, other: Quantity) -> bool:
        """Whether `other` says all that this one says: `May 2027` lies within `12 May 2027`."""
        if self.key == other.key:
            return True
        if not (self.key.startswith("date:") and other.key.startswith("date:")):
            return False
        mine, theirs = self.key[5:].split("-"), other.key[5:].split("-")
        return all(m in ("?", t) for m, t in zip(mine, theirs, strict=True))


def find_quantities(text: str) -> tuple[Quantity, ...]:
    """The numbers and dates of a text in order, none overlapping.

    `text` is in NFKC form, so that its digits are ASCII where a writer's keyboard made them wide.
    """
    worded = [*_worded(text), *(() if text.isascii() else _han(text))]
    taken = bytearray(len(text) + 1)
    for quantity in worded:
        taken[quantity.start : quantity.end] = b"\1" * (quantity.end - quantity.start)
    found = worded
    end = 0
    for m in _DIGITS.finditer(text):
        if m.start() < end or taken[m.start()]:
            continue
        quantity = _read_digits(text, m.start())
        if quantity is not None:
            found.append(quantity)
            end = quantity.end
    return tuple(sorted(found, key=lambda quantity: quantity.start))


def _read_digits(text: str, at: int) -> Quantity | None:
    """The date, time or number that begins with the digit at `at`; None inside an identifier."""
    if (m := _ISO.match(text, at)) and int(m[2]) <= 12:
        return _date(m, m[1], m[2], m[3])
    if m := _DOTTED.match(text, at):
        return _date(m, m[3], m[2], m[1])
    if m := _SLASHED.match(text, at):
        # Day first or month first: only the same writing says surely the same.
        return Quantity(m.start(), m.end(), "date", "written:" + m[0].replace("-", "/"))
    if not text.isascii() and (m := _CJK_DATE.match(text, at)):
        return _date(m, m[1] or m[4], m[2], m[3])
    if m := _CLOCK.match(text, at):
        return _clock(m)
    quantity = _number(text, m) if (m := _NUMBER.match(text, at)) else None
    # `2FA` and `3D` are names.
    return None if quantity is None or _NAME_GOES_ON.match(text, quantity.end) else quantity


def _han(text: str) -> Iterator[Quantity]:
    for m in _CJK_WEEKDAY.finditer(text):
        yield Quantity(m.start(), m.end(), "date", f"weekday:{_cjk_weekday(m)}")
    for m in _HAN_NUMBER.finditer(text):
        amount = Fraction(_han_value(m[1]))
        yield _measured(text, m.start(), m.end(), amount, str(amount))


def _date(m: re.Match[str], year: str | None, month: str | None, day: str | None) -> Quantity:
    parts = [str(int(part)) if part else "?" for part in (year, month, day)]
    return Quantity(m.start(), m.end(), "date", "date:" + "-".join(parts))


def _clock(m: re.Match[str]) -> Quantity:
    hour = int(m[1] or m[4] or m[6])
    minute = int(m[2] or (30 if m[7] else 0))
    half = (m[3] or m[5] or "").lower()
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return Quantity(m.start(), m.end(), "number", f"clock:{hour * 60 + minute}", "clock")


def _worded(text: str) -> Iterator[Quantity]:
    """Dates with a month's or weekday's name, and numbers written as words."""
    months, weekdays = _calendar()
    numbers = _number_words()
    for m in _WORD.finditer(text):
        word = m[0].lower()
        if word in months:
            yield from _named_date(text, m, months[word])
        elif word in weekdays:
            yield Quantity(m.start(), m.end(), "date", f"weekday:{weekdays[word]}")
        elif word in numbers:
            yield _measured(text, m.start(), m.end(), Fraction(numbers[word]), numbers[word])


def _named_date(text: str, m: re.Match[str], month: str) -> Iterator[Quantity]:
    before = _DAY_BEFORE.search(text, max(m.start() - 10, 0), m.start())
    after = _YEAR_AFTER.match(text, m.end()) if before else _DAY_AFTER.match(text, m.end())
    if not before and not after:
        after = _YEAR_AFTER.match(text, m.end())
        # `may` is a verb and `Jan` a man, unless a day or a year makes them months.
        if not after and (len(m[0]) <= 4 or m[0].lower() in _AMBIGUOUS) and not _is_month(m[0]):
            return
    groups = after.groupdict() if after else {}
    day = before[1] if before else groups.get("day")
    parts = (groups.get("year") or "?", month, str(int(day)) if day else "?")
    start = before.start() if before else m.start()
    yield Quantity(start, after.end() if after else m.end(), "date", "date:" + "-".join(parts))


_AMBIGUOUS = frozenset(("march", "mars", "août"))


def _is_month(word: str) -> bool:
    """Whether a short or ambiguous name is a month without a number beside it: in full, with its capital."""
    return word in (
        "May",
        "March",
        "June",
        "July",
        "Juni",
        "Juli",
        "Mai",
        "März",
        "juni",
        "juli",
        "mei",
        "mai",
        "juin",
        "mayo",
    )


def _cjk_weekday(m: re.Match[str]) -> int:
    if m[1]:
        return "一二三四五六日天".index(m[1]) % 7 + 1 if m[1] != "天" else 7
    return "月火水木金土日".index(m[2]) + 1 if m[2] else "월화수목금토일".index(m[3]) + 1


def _number(text: str, m: re.Match[str]) -> Quantity:
    start = m.start()
    before = _SIGNS.search(text, max(start - 3, 0), start)
    sign = "-" if before and before["sign"] else ""
    if before:
        start = before.start()
    amount, plain = _amount(m[0])
    if before and before["currency"]:
        dimension, factor = _units()[0][before["currency"]]
        value = amount * factor if amount is not None else plain
        return Quantity(start, m.end(), "number", f"{dimension}:{sign}{value}", dimension)
    if amount is None:
        return Quantity(start, m.end(), "number", f"version:{plain}", "version")
    return _measured(text, start, m.end(), -amount if sign else amount, sign + plain)


def _amount(digits: str) -> tuple[Fraction | None, str]:
    """A number's value and its plain writing; no value for versions and addresses such as `1.2.3`."""
    digits = digits.replace("’", "'")
    if re.fullmatch(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|[1-9]\d{0,2}(?:'\d{3})+(?:\.\d+)?", digits):
        digits = digits.replace(",", "").replace("'", "")
    elif re.fullmatch(r"[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?", digits) and digits.count(".") < 3:
        digits = digits.replace(".", "").replace(",", ".")
    elif digits.count(",") == 1 and "." not in digits:
        digits = digits.replace(",", ".")
    if re.fullmatch(r"\d+(?:\.\d+)?", digits) and len(digits) <= 30:
        return Fraction(digits), digits
    return None, digits


def _measured(text: str, start: int, end: int, amount: Fraction, plain: str) -> Quantity:
    """A number with what follows it: a magnitude, a unit, or nothing that is known."""
    units, pattern = _units()
    magnitude = _magnitude_pattern().match(text, end)
    if magnitude is not None:
        amount *= _magnitudes()[magnitude[1].lower()]
        plain, end = str(amount), magnitude.end()
    m = pattern.match(text, end)
    if m is not None:
        unit = units.get(m[1]) or (units.get(m[1].casefold()) if _has_any_case(m[1]) else None)
        if unit is not None:
            dimension, factor = unit
            return Quantity(start, m.end(), "number", f"{dimension}:{amount * factor}", dimension)
    if magnitude is None and _YEAR.fullmatch(plain):
        return Quantity(start, end, "date", f"date:{plain}-?-?")
    return Quantity(start, end, "number", plain)


def _has_any_case(unit: str) -> bool:
    """Whether a unit's word means the same in any case: a thousandth `m` and a million `M` are symbols' beginnings."""
    return len(unit) > _LONGEST_SYMBOL or (len(unit) > 1 and unit[0] not in "mM")


def _han_value(numeral: str) -> int:
    total = current = 0
    for char in numeral:
        if char in _HAN_DIGITS:
            current = _HAN_DIGITS[char]
        else:
            total += (current or 1) * {"十": 10, "百": 100, "千": 1000}[char]
            current = 0
    return total + current


@cache
def _lists() -> Mapping[str, Mapping[str, str]]:
    text = resources.files(__package__).joinpath("quantities.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _by_word(table: str) -> dict[str, str]:
    return {word: value for value, words in _lists()[table].items() for word in words.split()}


@cache
def _number_words() -> dict[str, str]:
    return _by_word("number_words")


@cache
def _magnitudes() -> dict[str, int]:
    return {word: int(value) for word, value in _by_word("magnitudes").items()}


@cache
def _magnitude_pattern() -> re.Pattern[str]:
    words = sorted(_magnitudes(), key=len, reverse=True)
    latin = "|".join(word for word in words if word.isascii())
    others = "|".join(word for word in words if not word.isascii())
    return re.compile(rf"\s?({others}|(?:{latin})(?![^\W\d_]))", re.IGNORECASE)


@cache
def _calendar() -> tuple[dict[str, str], dict[str, str]]:
    return _by_word("months"), _by_word("weekdays")


@cache
def _units() -> tuple[dict[str, tuple[str, Fraction]], re.Pattern[str]]:
    """Each unit's word with its dimension and factor, and a pattern for a unit after a number."""
    units: dict[str, tuple[str, Fraction]] = {}
    tables: Mapping[str, Mapping[str, str]] = tomllib.loads(
        resources.files(__package__).joinpath("quantities.toml").read_text(encoding="utf-8")
    )["units"]
    for dimension, table in tables.items():
        for told in table.values():
            factor, *words = told.split()
            for word in words:
                units[word] = (dimension, Fraction(factor))
    for word in [word for word in units if len(word) > 1]:
        units.setdefault(word.casefold(), units[word])
    ordered = sorted(units, key=len, reverse=True)
    latin = "|".join(re.escape(w) for w in ordered if w[-1].isalpha() and w < "\u0250")
    others = "|".join(re.escape(w) for w in ordered if not (w[-1].isalpha() and w < "\u0250"))
    pattern = re.compile(rf"[\s-]?((?i:{latin})(?![A-Za-z0-9_]|['’]|-\w)|(?i:{others}))")
    return units, pattern
