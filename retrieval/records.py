"""The records that pass between the stages of recall: candidates, evidence, facts, scores.

They hold what ranking needs to know and nothing more. They know of no SQL, clock or model. Those of which each recall
makes some hundreds are named tuples: a frozen dataclass takes five times as long to make.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recalld.records import Category, DateInterval, FactId, NoteId, PassageId, StatementId


class Pool(NamedTuple):
    """The passages that at least one leg of the search brought up, each once, as columns of one length."""

    passages: list[PassageId]
    notes: NDArray[np.int64]
    # Places of the passages in their notes, dense: the next passage of a note is one further.
    positions: NDArray[np.int64]
    # Characters of their texts.
    lengths: NDArray[np.int64]
    # BM25 turned so that higher is better, at least 0; NaN = no query word matched.
    keyword: NDArray[np.float64]
    # Half the best statement's cosine, half the cosine of the statements' mean; NaN = not known.
    vector: NDArray[np.float64]


class StatementEvidence(NamedTuple):
    """How far one statement speaks to the query."""

    statement_id: StatementId
    passage_id: PassageId
    # With the model's mean vector taken away; None = the statement has no vector yet.
    cosine: float | None
    # Share of the query's content words it holds, weighted by rarity: 0..1. Words that no note
    # has count as missing, so 1 means every content word of the query.
    coverage: float


class FactView(NamedTuple):
    """A fact as ranking sees it, by way of one of the passages that state it."""

    fact_id: FactId
    anchor: str
    statement_id: StatementId
    passage_id: PassageId
    text: str
    category: Category
    # 0..1, shown and never used in ranking: it says how well the fact was extracted.
    confidence: float
    # 0..1, .5 when nobody said anything.
    importance: float
    # How often a recall returned it.
    recall_count: int
    # When what it says took place, where it says so.
    happened: DateInterval | None
    # The day of the note that states it.
    stated: date | None
    superseded_by: FactId | None
    scope: str


class Scores(NamedTuple):
    """`Fused` of every passage of a pool, as columns in its order."""

    keyword_z: NDArray[np.float64]
    vector_z: NDArray[np.float64]
    fused: NDArray[np.float64]
    neighbour: NDArray[np.float64]
    graph: NDArray[np.float64]

    @property
    def score(self) -> NDArray[np.float64]:
        """What orders candidates before priors."""
        return self.fused + self.neighbour + self.graph

    def of(self, place: int) -> Fused:
        """Those of the passage in this place of the pool."""
        return Fused(*(float(column[place]) for column in self))


class Fused(NamedTuple):
    """A candidate's place after fusion, in standard deviations of the candidates of this query."""

    # 0 when the whole leg is absent, or when all of its scores are equal.
    keyword_z: float
    vector_z: float
    # The weighted sum of the legs that took part.
    fused: float
    # What a short passage gains from its better neighbour; 0 before that step.
    neighbour: float = 0.0
    # What a passage gains that belongs to something the query names; 0 before that step.
    graph: float = 0.0

    @property
    def score(self) -> float:
        """What orders candidates before priors."""
        return self.fused + self.neighbour + self.graph


# Of a passage that no leg brought up.
UNSEEN = Fused(keyword_z=0.0, vector_z=0.0, fused=0.0)


class Priors(NamedTuple):
    """What is known of a candidate besides how it matches: each bounded, all added to the score."""

    decay: float = 0.0
    importance: float = 0.0
    frequency: float = 0.0
    agreement: float = 0.0
    when: float = 0.0
    number: float = 0.0
    interval: float = 0.0
    stated: float = 0.0

    @property
    def total(self) -> float:
        """Their sum."""
        return (
            self.decay
            + self.importance
            + self.frequency
            + self.agreement
            + self.when
            + self.number
            + self.interval
            + self.stated
        )


class Parts(NamedTuple):
    """How one candidate came by its score: every number that went into it."""

    fused: Fused
    priors: Priors

    @property
    def total(self) -> float:
        """The score that orders hits, before supersession."""
        return self.fused.score + self.priors.total

    def named(self) -> dict[str, float]:
        """Every number by name, the total last; a prior's name starts with `prior.`."""
        legs = self.fused._asdict()
        priors = {f"prior.{name}": value for name, value in self.priors._asdict().items()}
        return {**legs, **priors, "total": self.total}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A ranked passage and the statement that speaks for it, as the swap of numbers sees it."""

    passage_id: PassageId
    note_id: NoteId
    statement_id: StatementId
    # The total of its parts.
    score: float
    # When it was written, in an order that is total within a day too; None = never swapped.
    written: WrittenAt | None
    has_number: bool
    is_question: bool
    # The content words of the query that the statement holds.
    query_words: frozenset[str]


class Shown(NamedTuple):
    """What a ranked passage would be shown as: a fact it states, or itself."""

    passage_id: PassageId
    # None = the passage is shown as itself.
    fact_id: FactId | None
    text: str
    # The headings that the text needs to be understood; empty when it stands on its own.
    # `Port is 5432.` under two headings is two things.
    context: tuple[str, ...] = ()
    # Every passage that states the fact; a passage shown as itself needs none.
    sources: tuple[PassageId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Collapsed:
    """One hit, and all that was folded into it."""

    # The best-ranked of its members: what is shown, and where.
    kept: Shown
    # Every passage that says it, each once, `kept`'s own first.
    sources: tuple[PassageId, ...]


# Day, seconds into the day (0 when unknown), and the numbers at the end of the file name.
WrittenAt = tuple[date, int, tuple[int, ...]]
