"""What each channel and each step of ranking adds: the same questions without it, and with nothing but it.

A step is a knob that is put to 0. Whoever adds one adds a row here, and the canary tests ask for a question that it
decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from retrieval.evaluation.asking import Asked
from retrieval.evaluation.knobs import Variant, switched_off
from retrieval.evaluation.metrics import Figures, Judged, figures

CHANNELS = ("keyword", "vector", "graph")
# Each step with what it acts on: where a run has none of that, it is idle for a reason.
STEPS: Mapping[str, str] = {
    "neighbours": "short passages beside a better one",
    "decay": "dated facts of different age",
    "importance": "facts of different importance",
    "frequency": "facts that were recalled before",
    "agreement": "facts that several places state",
    "when": "questions that ask when",
    "number": "questions that ask how many or how much",
    "interval": "questions that name days",
    "stated": "code, headings and questions beside facts",
    "newer_numbers": "questions that ask how many, where an older note says otherwise",
    "supersession": "facts that a newer one supersedes",
}

Judge = Callable[[Variant], Sequence[Judged]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What leaving a step out changes: the loss of MRR is what it adds."""

    without: Figures
    # None where the step adds to the score and brings up nothing by itself.
    alone: Figures | None
    # Questions whose first hit differs, and whose hits or order differ, without it.
    first_changed: int
    any_changed: int
    # Questions for which it brought up a candidate; None for a step.
    found_for: int | None
    candidates: int | None

    def adds(self, whole: Figures) -> float | None:
        """The difference in MRR between with and without."""
        if whole.mrr is None or self.without.mrr is None:
            return None
        return whole.mrr - self.without.mrr


def effects(
    asked: Sequence[Asked], variant: Variant, whole: Sequence[Judged], judge: Judge
) -> dict[str, Effect]:
    """The effect of every channel, then of every step.

    Args:
        whole: The questions as `variant` answers them.
        judge: The questions as another variant answers them.
    """
    found = {channel: _found(asked, channel) for channel in CHANNELS}
    made = {}
    for name in (*CHANNELS, *STEPS):
        without = judge(switched_off(variant, name))
        alone = None
        if name in CHANNELS:
            others = variant
            for other in CHANNELS:
                others = others if other == name else switched_off(others, other)
            alone = figures(judge(others))
        counts = found.get(name)
        made[name] = Effect(
            without=figures(without),
            alone=alone,
            first_changed=sum(
                _anchors(one)[:1] != _anchors(two)[:1]
                for one, two in zip(whole, without, strict=True)
            ),
            any_changed=sum(
                _anchors(one) != _anchors(two) for one, two in zip(whole, without, strict=True)
            ),
            found_for=None if counts is None else sum(map(bool, counts)),
            candidates=None if counts is None else sum(counts),
        )
    return made


def warnings(made: Mapping[str, Effect], questions: int) -> list[str]:
    """A sentence for each channel that found nothing, and each channel or step that changed nothing."""
    told = []
    for name, effect in made.items():
        if effect.found_for == 0:
            told.append(f"the {name} channel gave no candidate in {questions} questions")
        elif not effect.any_changed:
            what = f"the {name} channel" if name in CHANNELS else f"{name} (on {STEPS[name]})"
            told.append(f"{what} changed no answer in {questions} questions")
    return told


def _found(asked: Sequence[Asked], channel: str) -> list[int]:
    """How many candidates the channel brought up for each question."""
    if channel == "graph":
        return [len(one.searched.found.graph.reached) for one in asked]
    orders = [
        one.searched.found.keyword_order
        if channel == "keyword"
        else one.searched.found.vector_order
        for one in asked
    ]
    return [len(order) for order in orders]


def _anchors(one: Judged) -> tuple[str, ...]:
    return tuple(hit.anchor for hit in one.hits)
