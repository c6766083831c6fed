"""Turning settings of ranking by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from retrieval.evaluation.knobs import (
    KNOBS,
    KnobError,
    Variant,
    each_turned,
    place_of,
    points,
    switched_off,
    turned,
)
from retrieval.evaluation.report import configuration_json
from retrieval.evaluation.stages import CHANNELS, STEPS
from retrieval.evidence import KEYWORD_SLOPE, KEYWORD_TAU, Calibration
from retrieval.ranking import RecallOptions
from retrieval.thresholds import thresholds
from retrieval.weights import STANDARD
from tests.measured import measured as measured_of

STANDING = Variant(
    options=RecallOptions(),
    calibration=Calibration(
        tau=0.48, slope=12.0, keyword_tau=KEYWORD_TAU, keyword_slope=KEYWORD_SLOPE
    ),
)


@pytest.mark.parametrize("name", KNOBS)
def test_every_knob_takes_its_ends_and_gives_back_what_was_put(name):
    knob = KNOBS[name]
    for value in (knob.low, knob.high):
        assert knob.get(turned(STANDING, f"{name}={value!r}")) == value
    assert (
        knob.put(STANDING, knob.get(STANDING)) != knob.put(STANDING, knob.low)
        or knob.get(STANDING) == knob.low
    )


@pytest.mark.parametrize("name", KNOBS)
def test_standing_value_is_within_the_range_and_among_the_points_of_a_sweep(name):
    knob, values = points(STANDING, name)
    assert knob.low <= knob.get(STANDING) <= knob.high
    assert round(knob.get(STANDING), 6) in values
    assert list(values) == sorted(set(values))
    assert 2 <= len(values) <= 60


def test_every_knob_is_documented():
    text = (Path(__file__).parents[3] / "docs" / "evaluation.md").read_text("utf-8")
    for name in KNOBS:
        assert f"`{name}`" in text or name.startswith("half_life_days."), name


def test_every_weight_can_be_turned():
    for name in STANDARD.__slots__:
        assert name in KNOBS, name


@pytest.mark.parametrize("name", [*CHANNELS, *STEPS])
def test_every_channel_and_step_has_a_knob_that_leaves_it_out(name):
    assert switched_off(STANDING, name) != STANDING


def test_range_includes_both_ends():
    assert points(STANDING, "vector_share=0.2:0.8:0.2")[1] == (0.2, 0.4, 0.6, 0.8)
    assert points(STANDING, "tau=0.4:0.4:1")[1] == (0.4,)
    assert points(STANDING, "tau=0.5,0.4")[1] == (0.5, 0.4)
    assert points(STANDING, "graph")[1] == (0.0, 1.0)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("grahp=off", "did you mean graph"),
        ("quux=1", "known are"),
        ("graph=maybe", "on or off"),
        ("graph=0.5", "on or off"),
        ("tau=high", "a number"),
        ("tau=9", "from 0 to 1.5"),
        ("tau", "name=value"),
        ("tau=nan", "from 0 to 1.5"),
    ],
)
def test_wrong_setting_says_what_is_allowed(setting, said):
    with pytest.raises(KnobError, match=said):
        turned(STANDING, setting)


@pytest.mark.parametrize(
    "sweep", ["tau=0:1", "tau=1:0:0.1", "tau=0:1:0", "tau=0:1:-1", "tau=0:1.5:0.001", "tau=0:9:1", "no"]
)  # fmt: skip
def test_wrong_sweep_is_refused(sweep):
    with pytest.raises(KnobError):
        points(STANDING, sweep)


def test_several_mistakes_are_told_together():
    with pytest.raises(KnobError) as told:
        each_turned(STANDING, ("colour=1", "tau=0.5", "graph=x"))
    assert [mistake.partition(":")[0] for mistake in told.value.mistakes] == ["colour", "graph"]


def test_measured_thresholds_give_way_to_one_for_all_languages():
    measured = replace(
        STANDING,
        calibration=replace(STANDING.calibration, thresholds=thresholds(measured_of(en=0.3), 0.48)),
    )
    knob = KNOBS["tau"]
    assert knob.get(measured) == 0.48
    assert place_of(measured, knob) is None
    assert place_of(STANDING, knob) == 0.48
    assert place_of(measured, KNOBS["slope"]) == 12.0
    assert turned(measured, "tau=0.41").calibration.of("en").tau == 0.41
    assert turned(measured, "slope=9").calibration.thresholds is not None
    assert configuration_json(measured)["thresholds"] == {"en": 0.48, "other": 0.48}
    assert "thresholds" not in configuration_json(STANDING)
