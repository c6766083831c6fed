"""What comparison left, as it is asked for: pairs that disagree, and facts that are one, or belong together.

A pair is `resolved` when a user, or the policy that keeps both, has spoken; `superseded` when one is the newer; else
`open`.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from recalld.records import FactId
from recalld.store.connection import Connection, execute
from recalld.store.fact_links import TELLING

ConflictState = Literal["open", "superseded", "resolved"]

_SPOKEN = (
    "EXISTS (SELECT 1 FROM resolution"
    " WHERE (resolution.one, resolution.other) IN ((a.uid, b.uid), (b.uid, a.uid)))"
)
_SUCCEEDED = (
    "EXISTS (SELECT 1 FROM fact_link AS newer WHERE newer.kind = 'supersedes'"
    " AND (newer.from_fact, newer.to_fact) IN ((a.id, b.id), (b.id, a.id)))"
)
_STATE = (
    f"CASE WHEN {_SPOKEN} THEN 'resolved' WHEN {_SUCCEEDED} THEN 'superseded'"
    " WHEN (SELECT value FROM meta WHERE key = 'on_conflict') = 'keep_both' THEN 'resolved'"
    " ELSE 'open' END"
)
_PAIRS = (
    "FROM fact_link JOIN fact AS a ON a.id = from_fact JOIN fact AS b ON b.id = to_fact"
    " WHERE fact_link.kind = 'contradicts'"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Two facts that disagree, the newer first, and how that stands."""

    facts: tuple[FactId, FactId]
    reason: str
    state: ConflictState


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRow:
    """An edge between two facts as it is shown."""

    kind: str
    reason: str
    origin: str
    from_uid: str
    from_text: str
    to_uid: str
    to_text: str


# Of a pair: what supersedes the other, else what is dated later, comes first.
_NEWER_FIRST = (
    "CASE WHEN EXISTS (SELECT 1 FROM fact_link AS newer WHERE newer.kind = 'supersedes'"
    " AND newer.from_fact = b.id AND newer.to_fact = a.id) THEN 1"
    " WHEN EXISTS (SELECT 1 FROM fact_link AS newer WHERE newer.kind = 'supersedes'"
    " AND newer.from_fact = a.id AND newer.to_fact = b.id) THEN 0"
    " ELSE coalesce(b.stated_on, '') > coalesce(a.stated_on, '') END"
)


def conflicts(connection: Connection, limit: int, offset: int) -> list[Conflict]:
    """Pairs that disagree: the open ones first, then the superseded; the newest of each first."""
    rows = execute(
        connection,
        f"SELECT a.id, b.id, reason, {_STATE} AS state, {_NEWER_FIRST} {_PAIRS}"
        " ORDER BY state = 'open' DESC, state = 'superseded' DESC,"
        " max(coalesce(a.stated_on, ''), coalesce(b.stated_on, '')) DESC, a.uid, b.uid"
        " LIMIT :limit OFFSET :offset",
        {"limit": limit, "offset": offset},
    )
    return [_conflict(row) for row in rows]


def conflict_between(connection: Connection, one: FactId, other: FactId) -> Conflict | None:
    """The pair of these two, if they disagree."""
    rows = execute(
        connection,
        f"SELECT a.id, b.id, reason, {_STATE}, {_NEWER_FIRST} {_PAIRS}"
        " AND (from_fact, to_fact) IN ((:one, :other), (:other, :one))",
        {"one": one, "other": other},
    )
    return _conflict(rows[0]) if rows else None


def _conflict(row: tuple[Any, ...]) -> Conflict:
    first, second = FactId(row[0]), FactId(row[1])
    return Conflict(
        facts=(second, first) if row[4] else (first, second), reason=row[2], state=row[3]
    )


def count_conflicts(connection: Connection) -> int:
    """How many pairs disagree, whatever was said of them."""
    return int(
        execute(connection, "SELECT count(*) FROM fact_link WHERE kind = 'contradicts'")[0][0]
    )


def count_open_conflicts(connection: Connection) -> int:
    """How many pairs disagree of which neither supersedes the other and nobody has said anything."""
    return int(execute(connection, f"SELECT count(*) {_PAIRS} AND {_STATE} = 'open'")[0][0])


def disagreeing(connection: Connection, facts: Collection[FactId]) -> dict[FactId, tuple[str, ...]]:
    """The uids of the facts that each of these disagrees with, as long as neither stands above the other.

    A user's word that both hold ends it; a policy that keeps both does not, as nobody looked at the two.
    """
    rows = execute(
        connection,
        f"SELECT a.id, b.id, a.uid, b.uid {_PAIRS} AND NOT {_SPOKEN} AND NOT {_SUCCEEDED}"
        " AND (from_fact IN (SELECT value FROM json_each(:ids))"
        " OR to_fact IN (SELECT value FROM json_each(:ids))) ORDER BY a.uid, b.uid",
        {"ids": json.dumps(sorted(facts))},
    )
    found: dict[FactId, tuple[str, ...]] = {}
    for one, other, uid, other_uid in rows:
        for fact_id, against in ((FactId(one), other_uid), (FactId(other), uid)):
            if fact_id in facts:
                found[fact_id] = (*found.get(fact_id, ()), against)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicates:
    """Facts that say the same in other letters: for each, which of them stands for all; and all, with their places."""

    standing_for: dict[FactId, FactId]
    # Places that state each fact of the groups.
    sources: dict[FactId, int]

    def of(self, fact_id: FactId) -> FactId:
        """What stands for a fact; itself where it has no duplicate."""
        return self.standing_for.get(fact_id, fact_id)

    def more_places(self, fact_id: FactId) -> int:
        """How many places state the duplicates of a fact, its own left out."""
        group = self.of(fact_id)
        return sum(
            count
            for other, count in self.sources.items()
            if other != fact_id and self.of(other) == group
        )


def duplicates(connection: Connection, facts: Collection[FactId]) -> Duplicates:
    """The groups of duplicates that these facts are in; one without any is in none."""
    rows = execute(
        connection,
        "WITH RECURSIVE same (seed, id) AS (SELECT value, value FROM json_each(?)"
        " UNION SELECT seed, to_fact FROM same CROSS JOIN fact_link ON from_fact = same.id"
        " AND kind = 'similar' AND reason = 'duplicate'"
        " UNION SELECT seed, from_fact FROM same CROSS JOIN fact_link ON to_fact = same.id"
        " AND kind = 'similar' AND reason = 'duplicate')"
        " SELECT seed, id, (SELECT count(*) FROM fact_source WHERE fact_id = id) FROM same",
        (json.dumps(sorted(facts)),),
    )
    groups: dict[FactId, set[FactId]] = {}
    for seed, fact_id, _ in rows:
        groups.setdefault(FactId(seed), set()).add(FactId(fact_id))
    return Duplicates(
        standing_for={
            fact_id: min(group) for group in groups.values() if len(group) > 1 for fact_id in group
        },
        sources={FactId(row[1]): row[2] for row in rows},
    )


def successors_of(connection: Connection, facts: Collection[FactId]) -> dict[FactId, FactId]:
    """What supersedes each of these facts, and what supersedes that, as far as it goes."""
    rows = execute(
        connection,
        "WITH RECURSIVE chain (id, newer) AS ("
        # In this order: where few facts were superseded once, SQLite would read them all for each.
        " SELECT fact.id, superseded_by FROM json_each(?) CROSS JOIN fact ON fact.id = value"
        " WHERE superseded_by IS NOT NULL UNION"
        " SELECT fact.id, fact.superseded_by FROM chain CROSS JOIN fact ON fact.id = newer"
        " WHERE superseded_by IS NOT NULL) SELECT id, newer FROM chain",
        (json.dumps(sorted(facts)),),
    )
    return {FactId(row[0]): FactId(row[1]) for row in rows}


def links_of_fact(connection: Connection, fact_id: FactId) -> list[LinkRow]:
    """Every edge from or to a fact, the surest of each kind first; `related` where nothing else links the two."""
    rows = execute(
        connection,
        "SELECT fact_link.kind, reason, origin, a.uid, a.text, b.uid, b.text FROM fact_link"
        " JOIN fact AS a ON a.id = from_fact JOIN fact AS b ON b.id = to_fact"
        f" WHERE (from_fact = :id OR to_fact = :id) AND {TELLING}"
        " ORDER BY fact_link.kind, weight DESC, a.uid, b.uid",
        {"id": fact_id},
    )
    return [
        LinkRow(
            kind=row[0],
            reason=row[1],
            origin=row[2],
            from_uid=row[3],
            from_text=row[4],
            to_uid=row[5],
            to_text=row[6],
        )
        for row in rows
    ]
