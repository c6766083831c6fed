"""A passage in the running, with every number of it: what ordering, presenting and explaining pass about."""

from __future__ import annotations

from typing import NamedTuple

from recalld.records import DateInterval, StatementId
from recalld.store.rows import FactRow, PassageRow
from retrieval.choosing import Choice
from retrieval.records import FactView, Parts, StatementEvidence


def fact_anchor(uid: str) -> str:
    """The short stable id of a fact that agents see."""
    return f"fact:{uid[:8]}"


def passage_anchor(uid: str) -> str:
    """The short stable id of a passage that agents see."""
    return f"passage:{uid[:8]}"


class Ranked(NamedTuple):
    """A passage in the running: what it would be shown as, what speaks for it, and its score."""

    passage: PassageRow
    choice: Choice
    # Its statement that speaks most surely, and how surely.
    evidence: StatementEvidence | None
    parts: Parts
    # How the graph led to it; empty when it did not.
    path: tuple[str, ...] = ()

    @property
    def fact(self) -> FactRow | None:
        """The fact it is shown as, if any."""
        return self.choice.fact

    @property
    def statement_id(self) -> StatementId | None:
        """The statement that speaks for it."""
        if self.fact is not None:
            return self.fact.statement_id
        return self.evidence.statement_id if self.evidence else None


def fact_view(fact: FactRow) -> FactView:
    """A stored fact as the pure ranking modules see it."""
    return FactView(
        fact_id=fact.fact_id,
        anchor=fact_anchor(fact.uid),
        statement_id=fact.statement_id,
        passage_id=fact.passage_id,
        text=fact.text,
        category=fact.category,
        confidence=fact.confidence,
        importance=fact.importance,
        recall_count=fact.recall_count,
        happened=fact.happened,
        stated=fact.stated,
        superseded_by=fact.superseded_by,
        scope=fact.scope,
    )


def own_days(fact: FactRow) -> DateInterval | None:
    """When a fact happened, where it says so, else the day it was stated, else None."""
    if fact.happened is not None or fact.stated is None:
        return fact.happened
    return DateInterval(first=fact.stated, last=fact.stated)
