"""What can be turned in an evaluation, by name: the threshold, and the weight of each step of ranking. Pure.

A knob's range is what it may be set to and what a sweep without a range goes through. It knows nothing of questions.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from recalld.records import Category
from retrieval.evidence import DEFAULT_MIN_RELEVANCE, Calibration
from retrieval.ranking import RecallOptions

MOST_POINTS = 200
_ON = {"on": 1.0, "true": 1.0, "yes": 1.0, "off": 0.0, "false": 0.0, "no": 0.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One way of ranking and judging."""

    options: RecallOptions
    calibration: Calibration


@dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """One thing that can be turned. A switch takes 0 and 1."""

    name: str
    low: float
    high: float
    # Between two points of a sweep without a range of its own.
    step: float
    get: Callable[[Variant], float]
    put: Callable[[Variant, float], Variant]
    is_switch: bool = False


class KnobError(ValueError):
    """Names or values that no knob takes; `mistakes` holds a sentence for each."""

    def __init__(self, *mistakes: str) -> None:
        super().__init__("; ".join(mistakes))
        self.mistakes = mistakes


def _weight(name: str, high: float, step: float) -> Knob:
    def get(variant: Variant) -> float:
        return float(getattr(variant.options.weights, name))

    def put(variant: Variant, value: float) -> Variant:
        changed: dict[str, Any] = {name: value}
        weights = replace(variant.options.weights, **changed)
        return replace(variant, options=replace(variant.options, weights=weights))

    return Knob(name=name, low=0.0, high=high, step=step, get=get, put=put)


def _switch(name: str) -> Knob:
    number = _weight(name, 1.0, 1.0)

    def put(variant: Variant, value: float) -> Variant:
        changed: dict[str, Any] = {name: bool(value)}
        weights = replace(variant.options.weights, **changed)
        return replace(variant, options=replace(variant.options, weights=weights))

    return replace(number, put=put, is_switch=True)


def _option_switch(name: str) -> Knob:
    def put(variant: Variant, value: float) -> Variant:
        changed: dict[str, Any] = {name: bool(value)}
        return replace(variant, options=replace(variant.options, **changed))

    return Knob(
        name=name,
        low=0.0,
        high=1.0,
        step=1.0,
        get=lambda variant: float(getattr(variant.options, name)),
        put=put,
        is_switch=True,
    )


def _calibrated(name: str, low: float, high: float, step: float) -> Knob:
    def put(variant: Variant, value: float) -> Variant:
        changed: dict[str, Any] = {name: value}
        if name == "tau":
            # One for all languages.
            changed["thresholds"] = None
        return replace(variant, calibration=replace(variant.calibration, **changed))

    def get(variant: Variant) -> float:
        measured = variant.calibration.thresholds
        if name == "tau" and measured is not None:
            return measured.other
        return float(getattr(variant.calibration, name))

    return Knob(name=name, low=low, high=high, step=step, get=get, put=put)


def _min_relevance(variant: Variant) -> float:
    given = variant.options.min_relevance
    return DEFAULT_MIN_RELEVANCE if given is None else given


def _half_life(category: Category) -> Knob:
    def put(variant: Variant, value: float) -> Variant:
        lives = {**variant.options.half_lives, category: timedelta(days=value)}
        return replace(variant, options=replace(variant.options, half_lives=lives))

    return Knob(
        name=f"half_life_days.{category.value}",
        low=1.0,
        high=36_500.0,
        step=90.0,
        get=lambda variant: variant.options.half_lives[category] / timedelta(days=1),
        put=put,
    )


KNOBS: Mapping[str, Knob] = {
    knob.name: knob
    for knob in (
        _calibrated("tau", 0.0, 1.5, 0.02),
        _calibrated("slope", 1.0, 40.0, 2.0),
        _calibrated("keyword_tau", 0.0, 1.0, 0.05),
        _calibrated("keyword_slope", 1.0, 40.0, 2.0),
        Knob(
            name="min_relevance",
            low=0.0,
            high=1.0,
            step=0.05,
            get=_min_relevance,
            put=lambda variant, value: replace(
                variant, options=replace(variant.options, min_relevance=value)
            ),
        ),
        _switch("keyword"),
        _switch("vector"),
        _option_switch("graph"),
        _option_switch("neighbours"),
        _switch("newer_numbers"),
        _switch("supersession"),
        _weight("vector_share", 1.0, 0.1),
        _weight("neighbour_share", 1.0, 0.1),
        _weight("graph_gain", 3.0, 0.2),
        _weight("decay", 3.0, 0.05),
        _weight("importance", 3.0, 0.05),
        _weight("frequency", 3.0, 0.05),
        _weight("agreement", 3.0, 0.05),
        _weight("when", 3.0, 0.25),
        _weight("number", 3.0, 0.25),
        _weight("interval", 3.0, 0.25),
        _weight("stated", 3.0, 0.1),
        *(
            _half_life(category)
            for category in (
                Category.KNOWLEDGE,
                Category.PREFERENCE,
                Category.TOOL,
                Category.TIMELINE,
            )
        ),
    )
}
# A sweep of tau goes this far to either side of where it is; further off everything or nothing is let through.
_TAU_REACH = 0.2
_POINTS_BESIDES = 12


def place_of(variant: Variant, knob: Knob) -> float | None:
    """Where a knob is; None for the threshold where each language has its own."""
    if knob.name == "tau" and variant.calibration.thresholds is not None:
        return None
    return round(knob.get(variant), 6)


def turned(variant: Variant, setting: str) -> Variant:
    """The variant with one setting written `name=value`; switches take on and off.

    Raises:
        KnobError: no knob has the name, or it does not take the value.
    """
    name, equals, value = setting.partition("=")
    if not equals:
        raise KnobError(f"{setting}: must be written name=value")
    knob = knob_named(name.strip())
    return knob.put(variant, _value(knob, value.strip()))


def knob_named(name: str) -> Knob:
    """The knob of a name.

    Raises:
        KnobError: there is none, with the nearest that there is.
    """
    if name in KNOBS:
        return KNOBS[name]
    near = difflib.get_close_matches(name, KNOBS, n=1)
    known = f"did you mean {near[0]}?" if near else f"known are {', '.join(KNOBS)}"
    raise KnobError(f"{name or 'it'}: is no setting of ranking; {known}")


def points(variant: Variant, sweep: str) -> tuple[Knob, tuple[float, ...]]:
    """What a sweep goes through, written `name`, `name=from:to:step` or `name=one,another`.

    Where no range is given, the value that is set now is among the points.

    Raises:
        KnobError: no knob has the name, or it does not take the range.
    """
    name, equals, given = sweep.partition("=")
    knob = knob_named(name.strip())
    if not equals:
        return knob, _around(knob, knob.get(variant))
    if ":" not in given:
        return knob, tuple(dict.fromkeys(_value(knob, one.strip()) for one in given.split(",")))
    parts = [_number(knob, part) for part in given.split(":")]
    if len(parts) != 3 or parts[2] <= 0 or parts[1] < parts[0]:
        raise KnobError(f"{sweep}: a range must be written from:to:step, with a step above 0")
    count = math.floor((parts[1] - parts[0]) / parts[2] + 1e-9) + 1
    if count > MOST_POINTS:
        raise KnobError(f"{sweep}: has {count} points; at most {MOST_POINTS} are computed")
    return knob, tuple(
        _within(knob, round(parts[0] + place * parts[2], 6)) for place in range(count)
    )


def _around(knob: Knob, now: float) -> tuple[float, ...]:
    low, high = knob.low, knob.high
    if knob.name == "tau":
        low, high = max(low, now - _TAU_REACH), now + _TAU_REACH
    elif (high - low) / knob.step > MOST_POINTS / 8:
        low, high = max(low, now - knob.step * 4), min(high, now + knob.step * _POINTS_BESIDES)
    count = math.floor((high - low) / knob.step + 1e-9) + 1
    some = {round(low + place * knob.step, 6) for place in range(count)}
    return tuple(sorted({*some, round(now, 6)}))


def _value(knob: Knob, text: str) -> float:
    if knob.is_switch and text.lower() in _ON:
        return _ON[text.lower()]
    return _within(knob, _number(knob, text))


def _number(knob: Knob, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        allowed = "on or off" if knob.is_switch else "a number"
        raise KnobError(f"{knob.name}: must be {allowed}, not {text or 'nothing'}") from None


def _within(knob: Knob, value: float) -> float:
    if not knob.low <= value <= knob.high or (knob.is_switch and value not in (0.0, 1.0)):
        allowed = "on or off" if knob.is_switch else f"from {knob.low:g} to {knob.high:g}"
        raise KnobError(f"{knob.name} = {value:g}: must be {allowed}")
    return value


def switched_off(variant: Variant, name: str) -> Variant:
    """The variant without the step that a knob weighs."""
    knob = KNOBS[name]
    return knob.put(variant, 0.0)


def each_turned(variant: Variant, settings: Iterable[str]) -> Variant:
    """The variant with several settings, each written `name=value`.

    Raises:
        KnobError: with every mistake.
    """
    mistakes: list[str] = []
    for setting in settings:
        try:
            variant = turned(variant, setting)
        except KnobError as error:
            mistakes += error.mistakes
    if mistakes:
        raise KnobError(*mistakes)
    return variant
