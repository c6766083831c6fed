"""Questions put to recall: searched for once, then ranked and judged as often as there are ways to do it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recalld.records import Hit
from retrieval.evaluation.knobs import Variant
from retrieval.evaluation.metrics import DEPTH, Judged, judge
from retrieval.evaluation.questions import Question
from retrieval.recall import Recall, Searched

# Hits are not cut to a budget of characters: what is measured is what was found.
_NO_BUDGET = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, and what the channels brought up for it."""

    question: Question
    searched: Searched


def ask(recall: Recall, questions: Iterable[Question]) -> tuple[Asked, ...]:
    """Searches for each question, by the same code as any recall; the model is asked here and nowhere else."""
    return tuple(
        Asked(
            question=question,
            searched=recall.search(question.text, limits=question.limits, today=question.today),
        )
        for question in questions
    )


def judged(recall: Recall, asked: Sequence[Asked], variant: Variant) -> tuple[Judged, ...]:
    """The questions as this way of ranking answers them; nothing is searched for again."""
    return tuple(judge(one.question, _hits(recall, one, variant)) for one in asked)


def _hits(recall: Recall, one: Asked, variant: Variant) -> Sequence[Hit]:
    recalled, _ = recall.rank(
        one.searched,
        limit=DEPTH,
        max_chars=_NO_BUDGET,
        min_relevance=one.question.min_relevance,
        options=variant.options,
        calibration=variant.calibration,
    )
    return recalled.hits
