"""The results of an evaluation as plain values: what `--json` prints and pages are made of. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from recalld.records import Hit
from recalld.results import showable
from retrieval.evaluation.comparing import RESAMPLES, Comparison
from retrieval.evaluation.knobs import KNOBS, Knob, Variant
from retrieval.evaluation.metrics import DEPTH, Figures, Judged, Share
from retrieval.evaluation.questions import Piece, Place
from retrieval.evaluation.stages import Effect

_DIGITS = 4


def figures_json(figures: Figures) -> dict[str, object]:
    """The figures of a set of questions."""
    return {
        "questions": figures.n,
        "hit_at_1": _share(figures.hit_at_1),
        "hit_at_5": _share(figures.hit_at_5),
        "hit_at_10": _share(figures.hit_at_10),
        "mrr": _rounded(figures.mrr),
        "ndcg_at_5": _rounded(figures.ndcg_at_5),
        "false_rejections": _share(figures.false_rejections),
        "empty_without_answer": _share(figures.empty),
    }


def stages_json(effects: Mapping[str, Effect], whole: Figures) -> list[dict[str, object]]:
    """What each channel and step adds, channels first."""
    return [
        {
            "name": name,
            "kind": "step" if effect.alone is None else "channel",
            "found_for": effect.found_for,
            "candidates": effect.candidates,
            "mrr_alone": _rounded(effect.alone.mrr) if effect.alone else None,
            "hit_at_1_alone": _rounded(effect.alone.hit_at_1.value) if effect.alone else None,
            "mrr_without": _rounded(effect.without.mrr),
            "hit_at_1_without": _rounded(effect.without.hit_at_1.value),
            "adds_mrr": _rounded(effect.adds(whole)),
            "first_hit_changed": effect.first_changed,
            "hits_changed": effect.any_changed,
        }
        for name, effect in effects.items()
    ]


def failed_json(
    judged: Iterable[Judged], unjudged: Mapping[str, Judged]
) -> list[dict[str, object]]:
    """The questions whose first hit is not right, with what came instead.

    Args:
        unjudged: By id, the questions that came back empty as they are without a threshold.
    """
    return [_failed(one, unjudged.get(one.question.id)) for one in judged if one.failed]


def _failed(one: Judged, unjudged: Judged | None) -> dict[str, object]:
    withheld = unjudged.hits[0] if unjudged is not None and unjudged.hits else None
    return {
        "id": one.question.id,
        "question": showable(one.question.text),
        "wanted": [showable(_wanted(piece)) for piece in one.question.pieces],
        "problem": _problem(one),
        "rank": one.first,
        "came": _hit(one.hits[0]) if one.hits else None,
        # What the threshold kept back, and where in it the answer stands.
        "withheld": _hit(withheld) if withheld else None,
        "withheld_rank": unjudged.first if unjudged is not None else None,
    }


def _problem(one: Judged) -> str:
    if not one.question.answerable:
        return "something came, and nothing should"
    if not one.hits:
        return "nothing came"
    return f"right at rank {one.first}" if one.first else f"not among the first {DEPTH}"


def _wanted(piece: Piece) -> str:
    words = " and ".join(" or ".join(each) for each in piece.words)
    places = " or ".join(_place(place) for place in piece.places)
    return " in ".join(part for part in (words, places) if part)


def _place(place: Place) -> str:
    if place.first is None:
        return place.path
    lines = f"{place.first}" if place.first == place.last else f"{place.first}-{place.last}"
    return f"{place.path}:{lines}"


def _hit(hit: Hit) -> dict[str, object]:
    return {
        "anchor": hit.anchor,
        "text": showable(hit.text),
        "source": {
            "root": hit.source.root,
            "path": hit.source.path,
            "lines": [hit.source.lines.first, hit.source.lines.last],
        },
        "relevance": _rounded(hit.relevance),
    }


def sweep_json(
    knob: Knob, now: float | None, points: Iterable[tuple[float, Figures]]
) -> dict[str, object]:
    """The curve of one setting."""
    return {
        "setting": knob.name,
        "switch": knob.is_switch,
        "now": now,
        "points": [{"value": value, **figures_json(figures)} for value, figures in points],
    }


def comparison_json(
    comparison: Comparison,
    margin: float,
    present: Sequence[Judged],
    other: Sequence[Judged],
) -> dict[str, object]:
    """The verdict on other settings, the differences, and the questions that were gained or lost."""
    return {
        "verdict": comparison.verdict,
        "margin": margin,
        "resamples": RESAMPLES,
        "differences": {
            name: {
                "questions": one.n,
                "mean": _rounded(one.mean),
                "interval": [_rounded(one.low), _rounded(one.high)],
                "verdict": one.verdict,
            }
            for name, one in comparison.differences.items()
        },
        "changed": [
            {
                "id": one.question.id,
                "question": showable(one.question.text),
                "rank": one.first,
                "rank_other": two.first,
                "empty": not one.hits,
                "empty_other": not two.hits,
            }
            for one, two in zip(present, other, strict=True)
            if one.first != two.first or bool(one.hits) != bool(two.hits)
        ],
    }


def configuration_json(variant: Variant) -> dict[str, object]:
    """Every setting of ranking by the name that `--set` takes."""
    settings: dict[str, object] = {
        name: bool(knob.get(variant)) if knob.is_switch else _rounded(knob.get(variant))
        for name, knob in KNOBS.items()
        if not name.startswith("half_life_days.") or _decays(variant, name)
    }
    measured = variant.calibration.thresholds
    # Of these `tau` is the one for other languages.
    return settings if measured is None else {**settings, "thresholds": measured.told()}


def _decays(variant: Variant, name: str) -> bool:
    return any(category.value == name.rpartition(".")[2] for category in variant.options.half_lives)


def _share(share: Share) -> dict[str, object]:
    low, high = share.interval
    return {
        "value": _rounded(share.value),
        "part": share.part,
        "of": share.of,
        "interval": [_rounded(low), _rounded(high)],
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
