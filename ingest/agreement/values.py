"""Whether two values that are written differently may be the same: `36 km/h` and `10 m/s`, `30 days` and `1 month`.

A value is the signs of a claim, with measures in one unit. Where two writings may mean the same, nothing has changed
for all that rules can tell. It must not know of claims.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from retrieval.grounding.quantities import find_quantities

_MEASURED = re.compile(r"(-?)([a-z]+):(-?\d+(?:/\d+)?)")
_PER = re.compile(r"(?:/|per|pro|par)\s?(\w+)")
# Seconds, least and most, for a calendar knows no seconds.
_DURATIONS = {
    "seconds": (Fraction(1), Fraction(1)),
    "days": (Fraction(86_400), Fraction(86_400)),
    "months": (Fraction(28 * 86_400), Fraction(31 * 86_400)),
}
_YEAR = (Fraction(365 * 86_400), Fraction(366 * 86_400))
_MONTHS_IN_YEAR = 12


def may_be_equal(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether two values may be the same one, or one of them the other told less exactly."""
    one, other = " ".join(left), " ".join(right)
    if one.casefold() == other.casefold():
        return True
    if _is_date(left) and _is_date(right):
        return any(_agree(a, b) for a, b in product(_days(left[0]), _days(right[0])))
    if (rates := (_rate(one), _rate(other))) and None not in rates:
        return rates[0] == rates[1]
    if len(left) != 1 or len(right) != 1:
        return False
    return _is_one_size(one, other) or _is_one_duration(one, other)


def _is_date(side: Sequence[str]) -> bool:
    return len(side) == 1 and side[0].startswith(("date:", "written:"))


def _days(sign: str) -> list[tuple[str, ...]]:
    """The (year, month, day) that a date may be; `03/04/2026` may be two."""
    kind, _, said = sign.partition(":")
    if kind == "date":
        return [tuple(said.split("-"))]
    one, other, year = (str(int(part)) for part in said.split("/"))
    return [(year, other, one), (year, one, other)]


def _agree(one: Sequence[str], other: Sequence[str]) -> bool:
    return len(one) == len(other) and all(
        a == b or "?" in (a, b) for a, b in zip(one, other, strict=True)
    )


def _measure(sign: str) -> tuple[str, Fraction] | None:
    found = _MEASURED.fullmatch(sign)
    return (found[2], Fraction(found[1] + found[3])) if found is not None else None


def _rate(text: str) -> tuple[str, Fraction] | None:
    """So much of something a second."""
    sign, _, rest = text.partition(" ")
    measure, per = _measure(sign), _PER.fullmatch(rest)
    if measure is None or per is None:
        return None
    (unit,) = find_quantities(f"1 {per[1]}") or (None,)
    time = _measure(unit.key) if unit is not None else None
    if time is None or time[0] not in ("seconds", "days") or not time[1]:
        return None
    return measure[0], measure[1] / (time[1] * _DURATIONS[time[0]][0])


def _is_one_size(one: str, other: str) -> bool:
    """A difference between a thousand and 1,024 bytes."""
    a, b = _measure(one), _measure(other)
    if a is None or b is None or a[0] != "bytes" or b[0] != "bytes":
        return False
    less, more = sorted((a[1], b[1]))
    return less > 0 and more / less in {Fraction(1024, 1000) ** power for power in (1, 2, 3, 4)}


def _is_one_duration(one: str, other: str) -> bool:
    spans = [_span(sign) for sign in (one, other)]
    if spans[0] is None or spans[1] is None or one.partition(":")[0] == other.partition(":")[0]:
        return False
    return spans[0][0] <= spans[1][1] and spans[1][0] <= spans[0][1]


def _span(sign: str) -> tuple[Fraction, Fraction] | None:
    measure = _measure(sign)
    if measure is None or measure[0] not in _DURATIONS:
        return None
    unit, amount = measure
    if unit == "months" and amount % _MONTHS_IN_YEAR == 0:
        return amount / _MONTHS_IN_YEAR * _YEAR[0], amount / _MONTHS_IN_YEAR * _YEAR[1]
    least, most = _DURATIONS[unit]
    return amount * least, amount * most
