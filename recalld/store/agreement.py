"""Facts compared with facts: who may say the same, what the comparison found, and a user's word on it.

What is stored is a function of the facts that are there and of what users said of them. Candidates come from keys,
which depend on a fact's own words and relations; so comparing facts one by one as they come finds the same as
comparing all of them at once.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from recalld.records import Category, DateInterval, FactId, NoteId
from recalld.store.connection import Connection, execute, transaction
from recalld.store.facts import Wording, together
from recalld.store.resolutions import require_no_circle
from recalld.store.succession import (
    COMPARED,
    SERIES,
    compare_again,
    compare_linked_again,
    compare_sharing_again,
    crowded,
    settle_successors,
    superseded_by_any,
)

LinkKind = Literal[
    "similar", "related", "contradicts", "extends", "supersedes", "caused_by", "temporal"
]
Origin = Literal["rule", "llm", "user"]
Word = Literal["supersedes", "both"]

# What is in force, kept beside what was found by it.
RULES = "agreement"
POLICY = "on_conflict"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a note states a fact: the note, its title, and the headings that the fact stands under there."""

    note_id: NoteId
    title: str
    heading_path: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparable:
    """A fact as comparison sees it."""

    fact_id: FactId
    uid: str
    text: str
    category: Category
    happened: DateInterval | None
    # The day of the newest note that states it and says which day it is from; a file's time is none.
    stated: date | None
    # Names in it, as written, and (subject, predicate, object).
    entities: tuple[str, ...]
    relations: tuple[tuple[str, str, str], ...]
    # The headings it stands under, else the note's title; of several places one is chosen.
    heading_path: tuple[str, ...]
    places: frozenset[Place]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactLink:
    """A typed edge between two facts. `supersedes` and `extends` run from what says more to what says less."""

    from_fact: FactId
    to_fact: FactId
    kind: LinkKind
    weight: float
    origin: Origin
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """A user's word on two facts, by their uids; `one` is the winner where it is `supersedes`."""

    one: str
    other: str
    verdict: Word


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What comparing one fact came to."""

    fact_id: FactId
    keys: tuple[str, ...]
    # Its content words, packed, by which candidates are weighed.
    words: bytes
    # Every edge between it and a fact that was compared before or with it.
    links: tuple[FactLink, ...]


_PLACES = (
    "SELECT json_group_array(DISTINCT json_array(note.id, title, json(heading_path), dated))"
    " FROM fact_source JOIN passage ON passage.id = passage_id JOIN block ON block.id = block_id"
    " JOIN note ON note.id = passage.note_id WHERE fact_id = fact.id"
)


def comparables(connection: Connection, facts: Collection[FactId]) -> dict[FactId, Comparable]:
    """These facts as comparison sees them; those that are gone are left out."""
    rows = execute(
        connection,
        "SELECT fact.id, uid, fact.text, category, happened_from, happened_to,"
        " (SELECT json_group_array(DISTINCT wording) FROM fact_source WHERE fact_id = fact.id),"
        f" ({_PLACES}) FROM fact WHERE fact.id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(facts)),),
    )
    return {FactId(row[0]): _comparable(row) for row in rows}


def _comparable(row: tuple[Any, ...]) -> Comparable:
    said = together([Wording.loads(one) for one in json.loads(row[6])])
    told = json.loads(row[7])
    places = frozenset(Place(NoteId(one[0]), one[1], tuple(one[2])) for one in told)
    stated = max((one[3] for one in told if one[3]), default=None)
    return Comparable(
        fact_id=FactId(row[0]),
        uid=row[1],
        text=row[2],
        category=Category(row[3]),
        happened=DateInterval.from_iso(row[4], row[5]),
        stated=date.fromisoformat(stated) if stated else None,
        entities=tuple(sorted({name for name, _ in said.entities})),
        relations=said.relations,
        heading_path=min((one.heading_path or (one.title,) for one in places), default=()),
        places=places,
    )


def count_to_compare(connection: Connection) -> int:
    """How many facts were not compared yet."""
    return int(execute(connection, "SELECT count(*) FROM fact WHERE compared <> 1")[0][0])


def any_to_compare(connection: Connection) -> bool:
    """Whether a fact was not compared yet."""
    return bool(execute(connection, "SELECT 1 FROM fact WHERE compared <> 1 LIMIT 1"))


def sharing(connection: Connection, keys: Mapping[FactId, Sequence[str]]) -> dict[str, set[FactId]]:
    """The facts that have each of these facts' keys: these themselves, and those that were compared before.

    A key that too many facts share is left out.
    """
    holders: dict[str, set[FactId]] = {}
    for fact_id, some in keys.items():
        for key in some:
            holders.setdefault(key, set()).add(fact_id)
    for key in crowded(connection, holders):
        del holders[key]
    rows = execute(
        connection,
        "SELECT value, fact_id FROM json_each(?) CROSS JOIN fact_key ON fact_key.key = value"
        " CROSS JOIN fact ON fact.id = fact_id WHERE compared = 1",
        (json.dumps(sorted(holders)),),
    )
    for key, fact_id in rows:
        holders[key].add(FactId(fact_id))
    return holders


def words_of_facts(connection: Connection, facts: Collection[FactId]) -> dict[FactId, bytes]:
    """The packed content words of facts that were compared."""
    rows = execute(
        connection,
        "SELECT fact_id, words FROM json_each(?) CROSS JOIN fact_words ON fact_id = value",
        (json.dumps(sorted(facts)),),
    )
    return {FactId(row[0]): row[1] for row in rows}


def series_of_facts(connection: Connection, facts: Collection[FactId]) -> dict[FactId, str]:
    """The key of each fact's wording without its numbers, where it has any."""
    rows = execute(
        connection,
        "SELECT fact_id, fact_key.key FROM json_each(:ids) CROSS JOIN fact_key ON fact_id = value"
        " WHERE fact_key.key >= :series AND fact_key.key < :next",
        {"ids": json.dumps(sorted(facts)), "series": SERIES, "next": chr(ord(SERIES) + 1)},
    )
    return {FactId(row[0]): row[1] for row in rows}


def resolutions(connection: Connection, uids: Collection[str]) -> list[Resolution]:
    """Users' words on any of these facts."""
    rows = execute(
        connection,
        "SELECT one, other, verdict FROM resolution WHERE one IN (SELECT value FROM json_each(:uids))"
        " OR other IN (SELECT value FROM json_each(:uids))",
        {"uids": json.dumps(sorted(uids))},
    )
    return [Resolution(one=row[0], other=row[1], verdict=row[2]) for row in rows]


def compared_by_uid(connection: Connection, uids: Collection[str]) -> dict[str, FactId]:
    """Those of these facts that are there and were compared."""
    rows = execute(
        connection,
        "SELECT uid, id FROM fact WHERE compared = 1 AND uid IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(uids)),),
    )
    return {row[0]: FactId(row[1]) for row in rows}


class AgreementWriter:
    """The writing side of comparison; runs on the writer's thread."""

    def __init__(self, connection: Connection) -> None:
        """`connection` is the database's only writing one."""
        self._connection = connection

    def begin(self, limit: int) -> list[FactId]:
        """The facts whose turn it is: those that an earlier run left in the middle, then the newest."""
        with transaction(self._connection):
            execute(
                self._connection,
                "UPDATE fact SET compared = 2 WHERE id IN"
                " (SELECT id FROM fact WHERE compared <> 1 AND compared = 0 ORDER BY id DESC"
                " LIMIT max(0, :limit -"
                " (SELECT count(*) FROM fact WHERE compared <> 1 AND compared = 2)))",
                {"limit": limit},
            )
            return self._being_compared()

    def begin_these(self, uids: Collection[str]) -> list[FactId]:
        """Has these facts compared now; gives them, and what an earlier run left in the middle."""
        with transaction(self._connection):
            execute(
                self._connection,
                "UPDATE fact SET compared = 2 WHERE uid IN (SELECT value FROM json_each(?))",
                (json.dumps(sorted(uids)),),
            )
            return self._being_compared()

    def _being_compared(self) -> list[FactId]:
        # Said as the partial index says it, or SQLite would read every fact.
        rows = execute(
            self._connection,
            "SELECT id FROM fact WHERE compared <> 1 AND compared = 2 ORDER BY id DESC",
        )
        return [FactId(row[0]) for row in rows]

    def put(self, results: Sequence[Compared]) -> None:
        """Makes what comparison found the keys and edges of these facts.

        A fact that has changed since its comparison began is left to the next one.
        """
        with transaction(self._connection):
            unchanged = set(self._being_compared())
            results = [one for one in results if one.fact_id in unchanged]
            facts = [one.fact_id for one in results]
            pointed_at = superseded_by_any(self._connection, facts)
            self._unlink(facts)
            for link in dict.fromkeys(link for one in results for link in one.links):
                self._link(link)
            execute(
                self._connection,
                "UPDATE fact SET compared = 1, judged = 0 WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps(facts),),
            )
            self._put_words({one.fact_id: one.words for one in results})
            self._put_keys({one.fact_id: one.keys for one in results})
            pointed_at |= superseded_by_any(self._connection, facts)
            settle_successors(self._connection, pointed_at | set(facts))

    def _unlink(self, facts: Sequence[FactId]) -> None:
        ids = "(SELECT value FROM json_each(?))"
        for end in ("from_fact", "to_fact"):
            execute(
                self._connection,
                f"DELETE FROM fact_link WHERE {end} IN {ids} AND kind IN {COMPARED}",
                (json.dumps(facts),),
            )

    def _link(self, link: FactLink) -> None:
        execute(
            self._connection,
            "INSERT OR IGNORE INTO fact_link (from_fact, to_fact, kind, weight, origin, reason)"
            " SELECT ?, ?, ?, ?, ?, ? WHERE (SELECT count(*) FROM fact WHERE id IN (?, ?)) = 2",
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

    def _put_words(self, words: Mapping[FactId, bytes]) -> None:
        for fact_id, packed in words.items():
            execute(
                self._connection,
                "INSERT INTO fact_words (fact_id, words) VALUES (:id, :words)"
                " ON CONFLICT (fact_id) DO UPDATE SET words = :words WHERE words <> :words",
                {"id": fact_id, "words": packed},
            )

    def _put_keys(self, keys: Mapping[FactId, Sequence[str]]) -> None:
        """Writes the keys of facts; where one comes to say nothing, or something again, facts are compared again."""
        wanted = {(key, fact_id) for fact_id, some in keys.items() for key in some}
        rows = execute(
            self._connection,
            "SELECT key, fact_id FROM fact_key WHERE fact_id IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(keys)),),
        )
        stored = {(row[0], FactId(row[1])) for row in rows}
        changed = {key for key, _ in wanted ^ stored}
        before = crowded(self._connection, changed)
        for sql, pairs in (
            ("DELETE FROM fact_key WHERE (key, fact_id) IN (SELECT {pair})", stored - wanted),
            ("INSERT INTO fact_key (key, fact_id) SELECT {pair}", wanted - stored),
        ):
            execute(
                self._connection,
                sql.format(pair="value ->> 0, value ->> 1 FROM json_each(?)"),
                (json.dumps(sorted(pairs)),),
            )
        after = crowded(self._connection, changed)
        compare_linked_again(self._connection, after - before)
        compare_sharing_again(self._connection, before - after)

    def resolve(self, word: Resolution, now_ms: int) -> None:
        """Keeps a user's word on two facts, in the place of an earlier one. Both are to be compared again.

        Raises:
            InvalidParams: by earlier words the other stands above the one.
        """
        with transaction(self._connection):
            execute(
                self._connection,
                "DELETE FROM resolution WHERE (one, other) IN ((:one, :other), (:other, :one))",
                {"one": word.one, "other": word.other},
            )
            if word.verdict == "supersedes":
                require_no_circle(self._connection, word.one, word.other)
            execute(
                self._connection,
                "INSERT INTO resolution (one, other, verdict, made_at) VALUES (?, ?, ?, ?)",
                (word.one, word.other, word.verdict, now_ms),
            )
            rows = execute(
                self._connection, "SELECT id FROM fact WHERE uid IN (?, ?)", (word.one, word.other)
            )
            compare_again(self._connection, [row[0] for row in rows])

    def adopt(self, rules: str, policy: str) -> bool:
        """Has everything compared anew when other rules, or another policy, found what is stored."""
        with transaction(self._connection):
            stored: dict[str, str] = dict(
                execute(
                    self._connection,
                    "SELECT key, value FROM meta WHERE key IN (?, ?)",
                    (RULES, POLICY),
                )
            )
            if stored == {RULES: rules, POLICY: policy}:
                return False
            for key, value in ((RULES, rules), (POLICY, policy)):
                execute(self._connection, "INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
            self._forget()
        return True

    def compare_all_again(self) -> None:
        """Forgets all that comparison found; what users and models said stays."""
        with transaction(self._connection):
            self._forget()

    def _forget(self) -> None:
        execute(self._connection, f"DELETE FROM fact_link WHERE kind IN {COMPARED}")
        execute(self._connection, "DELETE FROM fact_key")
        execute(self._connection, "DELETE FROM fact_words")
        execute(self._connection, "UPDATE fact SET compared = 0, superseded_by = NULL")
