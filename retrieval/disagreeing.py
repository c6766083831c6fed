"""What `conflicts` and `resolve` give: pairs of facts that disagree, each with its dates and its place."""

from __future__ import annotations

from recalld.errors import InvalidParams, NotFound
from recalld.records import FactId
from recalld.store.conflicts import Conflict, conflict_between, conflicts, count_conflicts
from recalld.store.connection import Connection, Database
from recalld.store.details import fact_uids
from recalld.store.rows import passage_rows, places_of_fact
from retrieval.fetching import resolve_anchor
from retrieval.ranked import fact_anchor


def list_conflicts(database: Database, *, limit: int, offset: int) -> dict[str, object]:
    """A page of the pairs that disagree, the open ones first, and how many pairs there are in all."""
    with database.reader() as connection:
        found = conflicts(connection, limit, offset)
        return {
            "pairs": [_pair(connection, one) for one in found],
            "total": count_conflicts(connection),
        }


def two_facts(database: Database, anchor: str, over: str) -> tuple[str, str]:
    """The uids of two facts by their anchors.

    Raises:
        InvalidParams: one of them is no fact, or both are the same.
        NotFound, AmbiguousAnchor: nothing, or several things, begin so.
    """
    with database.reader() as connection:
        one, other = _fact(connection, anchor), _fact(connection, over)
        uids = fact_uids(connection, [one, other])
    if one == other:
        raise InvalidParams(
            f"{anchor} and {over} are the same fact", hint="give the anchors of two facts"
        )
    return uids[one], uids[other]


def conflict_of(database: Database, one: str, other: str) -> dict[str, object]:
    """The pair of two facts, by their uids.

    Raises:
        NotFound: a fact has been retracted meanwhile.
    """
    with database.reader() as connection:
        ids = [_fact(connection, f"fact:{uid}") for uid in (one, other)]
        found = conflict_between(connection, ids[0], ids[1])
        if found is None:
            raise NotFound("the two facts no longer stand against each other")
        return _pair(connection, found)


def _fact(connection: Connection, anchor: str) -> FactId:
    kind, row_id = resolve_anchor(connection, anchor)
    if kind != "fact":
        raise InvalidParams(f"{anchor} is a {kind}, not a fact", hint="recall gives facts' anchors")
    return FactId(row_id)


def _pair(connection: Connection, conflict: Conflict) -> dict[str, object]:
    return {
        "facts": [_fact_json(connection, fact_id) for fact_id in conflict.facts],
        "kind": "contradicts",
        "reason": conflict.reason,
        "state": conflict.state,
    }


def _fact_json(connection: Connection, fact_id: FactId) -> dict[str, object]:
    places = places_of_fact(connection, fact_id)
    fact = places[0]
    passage = passage_rows(connection, [fact.passage_id])[fact.passage_id]
    return {
        "anchor": fact_anchor(fact.uid),
        "text": fact.text,
        "stated": fact.stated.isoformat() if fact.stated else None,
        "happened": [fact.happened.first.isoformat(), fact.happened.last.isoformat()]
        if fact.happened
        else None,
        "source": {
            "root": passage.root,
            "path": passage.path,
            "lines": [fact.lines.first, fact.lines.last],
            "more": len(places) - 1,
        },
    }
