"""Facts compared with facts: who may say the same, what the comparison found, and which one stands.

Candidates come from shared keys, which depend on a fact's words alone, so that comparing facts one by one as they
come finds the same pairs as comparing all of them at once.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from recalld.records import DateInterval, FactId
from recalld.store.connection import Connection, execute, translated

LinkKind = Literal[
    "similar", "related", "contradicts", "extends", "supersedes", "caused_by", "temporal"
]
Origin = Literal["rule", "llm", "user"]

# Keys that more facts share say nothing; a template of a thousand notes is no conflict.
_MOST_SHARING = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparable:
    """A fact as comparison sees it."""

    fact_id: FactId
    uid: str
    text: str
    happened: DateInterval | None
    stated: date | None
    entities: tuple[str, ...]
    heading_path: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactLink:
    """A typed edge between two facts."""

    from_fact: FactId
    to_fact: FactId
    kind: LinkKind
    weight: float
    origin: Origin
    reason: str


_COMPARABLE = (
    "SELECT fact.id, uid, fact.text, happened_from, happened_to, stated_on,"
    " (SELECT json_group_array(name ORDER BY name) FROM mention"
    " JOIN entity ON entity.id = entity_id WHERE mention.fact_id = fact.id),"
    " (SELECT heading_path FROM fact_source JOIN passage ON passage.id = passage_id"
    " JOIN block ON block.id = block_id WHERE fact_source.fact_id = fact.id"
    " ORDER BY heading_path LIMIT 1) FROM fact"
)


def _comparable(row: tuple[object, ...]) -> Comparable:
    first, last, stated = (date.fromisoformat(str(day)) if day else None for day in row[3:6])
    return Comparable(
        fact_id=FactId(int(str(row[0]))),
        uid=str(row[1]),
        text=str(row[2]),
        happened=DateInterval(first=first, last=last) if first and last else None,
        stated=stated,
        entities=tuple(json.loads(str(row[6]))),
        heading_path=tuple(json.loads(str(row[7]))) if row[7] else (),
    )


def to_compare(connection: Connection, limit: int) -> list[Comparable]:
    """Facts that were not compared yet, the newest first."""
    rows = execute(
        connection, f"{_COMPARABLE} WHERE compared = 0 ORDER BY id DESC LIMIT ?", (limit,)
    )
    return [_comparable(row) for row in rows]


def count_to_compare(connection: Connection) -> int:
    """How many facts were not compared yet."""
    return int(execute(connection, "SELECT count(*) FROM fact WHERE compared = 0")[0][0])


def candidates_for(connection: Connection, fact_id: FactId) -> list[Comparable]:
    """The facts that share a key with this one, in the order of their uids."""
    rows = execute(
        connection,
        f"{_COMPARABLE} WHERE fact.id <> :id AND fact.id IN (SELECT other.fact_id FROM fact_key AS mine"
        " JOIN fact_key AS other ON other.key = mine.key WHERE mine.fact_id = :id"
        " AND (SELECT count(*) FROM (SELECT 1 FROM fact_key WHERE key = mine.key"
        f" LIMIT {_MOST_SHARING + 1})) <= {_MOST_SHARING}) ORDER BY uid",
        {"id": fact_id},
    )
    return [_comparable(row) for row in rows]


def conflicts(connection: Connection, limit: int, offset: int) -> list[tuple[FactLink, bool]]:
    """Pairs that disagree and are both current, newest first; and whether a user has said both hold."""
    rows = execute(
        connection,
        "SELECT from_fact, to_fact, kind, weight, origin, reason FROM fact_link"
        " JOIN fact AS one ON one.id = from_fact JOIN fact AS other ON other.id = to_fact"
        " WHERE kind = 'contradicts' AND from_fact < to_fact"
        " AND NOT EXISTS (SELECT 1 FROM resolution"
        " WHERE (resolution.one, resolution.other) IN ((one.uid, other.uid), (other.uid, one.uid)))"
        " ORDER BY max(coalesce(one.stated_on, ''), coalesce(other.stated_on, '')) DESC, from_fact,"
        " to_fact LIMIT ? OFFSET ?",
        (limit, offset),
    )
    return [(_link(row), False) for row in rows]


def count_conflicts(connection: Connection) -> int:
    """How many pairs disagree and were not resolved, by rule or by hand."""
    return int(
        execute(
            connection,
            "SELECT count(*) FROM fact_link AS open JOIN fact AS one ON one.id = from_fact"
            " JOIN fact AS other ON other.id = to_fact WHERE kind = 'contradicts'"
            " AND from_fact < to_fact AND NOT EXISTS (SELECT 1 FROM fact_link AS done"
            " WHERE done.kind = 'supersedes' AND (done.from_fact, done.to_fact)"
            " IN ((open.from_fact, open.to_fact), (open.to_fact, open.from_fact)))"
            " AND NOT EXISTS (SELECT 1 FROM resolution WHERE (resolution.one, resolution.other)"
            " IN ((one.uid, other.uid), (other.uid, one.uid)))",
        )[0][0]
    )


def _link(row: tuple[object, ...]) -> FactLink:
    return FactLink(
        from_fact=FactId(int(str(row[0]))),
        to_fact=FactId(int(str(row[1]))),
        kind=row[2],  # type: ignore[arg-type]  # the table's CHECK holds it
        weight=float(str(row[3])),
        origin=row[4],  # type: ignore[arg-type]  # the table's CHECK holds it
        reason=str(row[5]),
    )


def links_of(connection: Connection, facts: Collection[FactId]) -> list[FactLink]:
    """Every edge from or to these facts."""
    rows = execute(
        connection,
        "SELECT from_fact, to_fact, kind, weight, origin, reason FROM fact_link"
        " WHERE from_fact IN (SELECT value FROM json_each(:ids))"
        " OR to_fact IN (SELECT value FROM json_each(:ids)) ORDER BY 1, 2, 3",
        {"ids": json.dumps(list(facts))},
    )
    return [_link(row) for row in rows]


def resolutions(connection: Connection, uid: str) -> list[tuple[str, str, str]]:
    """A user's words on a fact: (winner or one, other, verdict)."""
    rows = execute(
        connection, "SELECT one, other, verdict FROM resolution WHERE ? IN (one, other)", (uid,)
    )
    return [(row[0], row[1], row[2]) for row in rows]


def put_keys(connection: Connection, fact_id: int, keys: Sequence[str]) -> None:
    """Writes the keys of a fact; inside the note's transaction."""
    for key in keys:
        execute(
            connection,
            "INSERT OR IGNORE INTO fact_key (key, fact_id) VALUES (?, ?)",
            (key, fact_id),
        )


def superseded_by_any(connection: Connection, facts: Collection[int]) -> set[int]:
    """The facts that any of these supersedes; to be settled anew when one of these goes."""
    rows = execute(
        connection,
        "SELECT to_fact FROM fact_link WHERE kind = 'supersedes'"
        " AND from_fact IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(facts)),),
    )
    return {row[0] for row in rows}


def settle_successors(connection: Connection, facts: Collection[int]) -> None:
    """Points each of these facts at its newest successor that is still there, or at none."""
    execute(
        connection,
        "UPDATE fact SET superseded_by = (SELECT from_fact FROM fact_link"
        " JOIN fact AS newer ON newer.id = from_fact WHERE to_fact = fact.id AND kind = 'supersedes'"
        " ORDER BY origin = 'user' DESC, coalesce(newer.happened_to, newer.stated_on) DESC,"
        " newer.uid LIMIT 1) WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(facts)),),
    )


class AgreementWriter:
    """The writing side of comparison; runs on the writer's thread."""

    def __init__(self, connection: Connection) -> None:
        """`connection` is the database's only writing one."""
        self._connection = connection

    def put(self, fact_id: FactId, links: Sequence[FactLink]) -> None:
        """Makes `links` the edges of a fact that comparison found; those of a user stay."""
        with translated(), self._connection:
            if not execute(self._connection, "SELECT 1 FROM fact WHERE id = ?", (fact_id,)):
                return
            before = self._pointed_at(fact_id)
            execute(
                self._connection,
                "DELETE FROM fact_link WHERE ? IN (from_fact, to_fact) AND origin <> 'user'",
                (fact_id,),
            )
            for link in links:
                execute(
                    self._connection,
                    "INSERT OR IGNORE INTO fact_link (from_fact, to_fact, kind, weight, origin,"
                    " reason) SELECT ?, ?, ?, ?, ?, ? WHERE"
                    " (SELECT count(*) FROM fact WHERE id IN (?, ?)) = 2",
                    (
                        link.from_fact,
                        link.to_fact,
                        link.kind,
                        link.weight,
                        link.origin,
                        link.reason,
                        link.from_fact,
                        link.to_fact,
                    ),
                )
            execute(self._connection, "UPDATE fact SET compared = 1 WHERE id = ?", (fact_id,))
            settle_successors(self._connection, {fact_id} | before | self._pointed_at(fact_id))

    def _pointed_at(self, fact_id: FactId) -> set[int]:
        rows = execute(
            self._connection,
            "SELECT to_fact FROM fact_link WHERE from_fact = ? AND kind = 'supersedes'",
            (fact_id,),
        )
        return {row[0] for row in rows}

    def resolve(
        self, one: str, other: str, verdict: Literal["supersedes", "both"], now_ms: int
    ) -> None:
        """Keeps a user's word on two facts, by their uids, and has both compared again."""
        with translated(), self._connection:
            execute(
                self._connection,
                "DELETE FROM resolution WHERE (one, other) IN ((?, ?), (?, ?))",
                (one, other, other, one),
            )
            execute(
                self._connection,
                "INSERT INTO resolution VALUES (?, ?, ?, ?)",
                (one, other, verdict, now_ms),
            )
            execute(
                self._connection, "UPDATE fact SET compared = 0 WHERE uid IN (?, ?)", (one, other)
            )

    def compare_all_again(self) -> None:
        """Has every fact compared anew: the rebuild of what comparison found."""
        with translated(), self._connection:
            execute(self._connection, "DELETE FROM fact_link WHERE origin <> 'user'")
            execute(self._connection, "UPDATE fact SET compared = 0, superseded_by = NULL")
