"""What is so now comes with what was so before: a superseded fact is not told without its successor.

The channels bring up passages, and each is shown as one fact, so a successor may be missing though the fact that it
supersedes is there: its passage was not among the best, or is shown as another of its facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from recalld.records import FactId, PassageId, RecallFilter, StatementId
from recalld.store.conflicts import successors_of
from recalld.store.connection import Connection
from recalld.store.filtering import allowed_passages
from recalld.store.rows import FactRow, passages_stating
from retrieval.choosing import Choice
from retrieval.ranked import Ranked


def newest_successors(connection: Connection, facts: Iterable[FactRow]) -> dict[FactId, FactId]:
    """Of each fact that is superseded: what is so now, at the end of the chain; none for a ring."""
    superseded = [one.fact_id for one in facts if one.superseded_by is not None]
    if not superseded:
        return {}
    steps = successors_of(connection, superseded)
    newest = {}
    for fact_id in superseded:
        met = {fact_id}
        at = fact_id
        while at in steps and steps[at] not in met:
            at = steps[at]
            met.add(at)
        if at not in steps:
            newest[fact_id] = at
    return newest


def passages_elsewhere(
    connection: Connection,
    newest: Mapping[FactId, FactId],
    facts: Iterable[FactRow],
    limits: RecallFilter,
) -> list[PassageId]:
    """Passages inside the filter that state those successors that none of `facts` is."""
    missing = set(newest.values()).difference(one.fact_id for one in facts)
    if not missing:
        return []
    return passages_stating(connection, missing, allowed_passages(connection, limits))


def showing_successors(
    ranked: Sequence[Ranked],
    facts: Mapping[PassageId, Sequence[FactRow]],
    relevances: Mapping[StatementId, float],
    newest: Mapping[FactId, FactId],
) -> list[Ranked]:
    """The same passages, where one states the successor of a fact that is shown, and nothing shows it, as that.

    A successor speaks to the query at least as surely as what it supersedes: it is of the same matter, in other words.

    Args:
        ranked: Best first.
        facts: Those that each passage may be shown as.
        relevances: Of statements.
        newest: As `newest_successors` gives it.
    """
    shown = {one.fact.fact_id for one in ranked if one.fact is not None}
    speaks: dict[FactId, float] = {}
    for one in ranked:
        if one.fact is not None and one.fact.fact_id in newest:
            successor = newest[one.fact.fact_id]
            speaks[successor] = max(speaks.get(successor, 0.0), one.choice.relevance)
    wanted = set(speaks).difference(shown)

    def shown_as(one: Ranked) -> Ranked:
        mine = facts.get(one.passage.passage_id, ())
        fact = next((fact for fact in mine if fact.fact_id in wanted), one.fact)
        if fact is None or fact.fact_id not in speaks:
            return one
        wanted.discard(fact.fact_id)
        relevance = max(relevances.get(fact.statement_id, 0.0), speaks[fact.fact_id])
        return one._replace(choice=Choice(fact=fact, relevance=relevance))

    return [shown_as(one) for one in ranked]
