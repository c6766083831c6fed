"""What a passage is shown as: the fact that states what matched, or itself. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from recalld.records import StatementId
from recalld.store.rows import FactRow

# A fact stands for its passage when its statement speaks nearly as surely as the passage's best one.
MARGIN = 0.15
# Stands between a nested list item and the first words of the item above it.
NESTED = " › "


class Choice(NamedTuple):
    """A passage's face: a fact, or None for the passage itself; with the relevance of what is shown."""

    fact: FactRow | None
    relevance: float


def choose(
    facts: Sequence[FactRow],
    relevance: Mapping[StatementId, float],
    *,
    held: Callable[[str], float],
    passage_allowed: bool,
) -> Choice | None:
    """The fact whose statement speaks best, the passage where no fact states what matched, or None.

    Args:
        facts: The facts of the passage that fit the filter.
        relevance: Of each of the passage's statements, 0..1.
        held: Share of the query's words that a text holds; it decides among facts of one statement.
        passage_allowed: Whether the passage may be shown as itself.
    """
    best = max(relevance.values(), default=0.0)
    top = max((relevance.get(fact.statement_id, 0.0) for fact in facts), default=None)
    if top is None or (passage_allowed and top < best - MARGIN):
        return Choice(fact=None, relevance=best) if passage_allowed else None
    equals = [fact for fact in facts if relevance.get(fact.statement_id, 0.0) == top]
    chosen = equals[0] if len(equals) == 1 else max(equals, key=lambda fact: held(fact.text))
    parent = _echoed(chosen, facts)
    if (
        parent is not None
        and relevance.get(parent.statement_id, 0.0) >= top - MARGIN
        and held(parent.text) >= held(chosen.text)
    ):
        # As sure as before: it is the parent's words that spoke.
        chosen = parent
    return Choice(fact=chosen, relevance=top)


def _echoed(fact: FactRow, facts: Sequence[FactRow]) -> FactRow | None:
    """The fact of a list item whose first words a nested item carries, where it says more than those.

    Such words speak for the nested item as loudly as for their own, though the rest is missing there.
    """
    carried = fact.text.rpartition(NESTED)[0]
    if not carried:
        return None
    longer = (
        one
        for one in facts
        if len(one.text) > len(carried) and NESTED not in one.text[len(carried) :]
    )
    return next((one for one in longer if one.text.startswith(carried)), None)
