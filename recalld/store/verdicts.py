"""What a model said of two facts, whose turn it is to be asked about, and which facts a fact is to be asked about with.

An answer is kept by what was asked and by whom, so nothing is asked twice. What follows from it for links is not known
here: a new answer has both facts compared again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from recalld.records import BlockId, FactId, NoteId
from recalld.store.connection import Connection, execute, transaction
from recalld.store.succession import compare_again, crowded

# `met`: nothing had to be asked, as rules tell once the two are compared; `failed`: the answer could not be read.
ToldKind = Literal["duplicate", "extends", "contradicts", "independent", "met", "failed"]

# In `meta`: who was asked about all facts that count as judged.
_JUDGE = "judge"
# What more facts name leads nowhere.
_MOST_NAMING = 50
# Nor does a word that more passages have; of the others the rarest are tried.
_MOST_HAVING = 20
_WORDS_TRIED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An answer: of which facts (uids in order), to which question, by whom, and when in ms since 1970."""

    one: str
    other: str
    asked: bytes
    judge: str
    verdict: ToldKind
    # Why it is not followed.
    refused: str | None = None
    told_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictCounts:
    """The numbers for `status`."""

    # Facts whose turn has not come.
    pending: int
    # Pairs of which the model gave no answer that can be read.
    failed: int
    # Answers that are not followed, by reason.
    refused: Mapping[str, int]


def in_force(answers: Iterable[Told]) -> ToldKind | None:
    """The latest of some answers to one question; None when there are none."""
    latest = max(answers, key=lambda one: (one.told_at, one.judge), default=None)
    return None if latest is None else latest.verdict


def told_of(connection: Connection, uids: Collection[str]) -> list[Told]:
    """All that a model said of any of these facts."""
    rows = execute(
        connection,
        "SELECT one, other, asked, judge, verdict, refused, told_at FROM verdict"
        " WHERE one IN (SELECT value FROM json_each(:uids))"
        " OR other IN (SELECT value FROM json_each(:uids))",
        {"uids": json.dumps(sorted(uids))},
    )
    return [
        Told(
            one=row[0],
            other=row[1],
            asked=row[2],
            judge=row[3],
            verdict=row[4],
            refused=row[5],
            told_at=row[6],
        )
        for row in rows
    ]


def next_to_judge(connection: Connection, limit: int, *, with_vectors: bool) -> list[FactId]:
    """The newest compared facts whose turn has not come; those that wait for a vector are left out, if asked to."""
    rows = execute(
        connection,
        "SELECT id FROM fact WHERE judged = 0 AND compared = 1 AND NOT (:with_vectors AND EXISTS"
        " (SELECT 1 FROM fact_source JOIN statement ON statement.id = statement_id"
        " WHERE fact_id = fact.id AND embed_state = 'pending')) ORDER BY id DESC LIMIT :limit",
        {"limit": limit, "with_vectors": with_vectors},
    )
    return [FactId(row[0]) for row in rows]


def judge_of(connection: Connection) -> str | None:
    """Who is asked."""
    rows = execute(connection, "SELECT value FROM meta WHERE key = ?", (_JUDGE,))
    return str(rows[0][0]) if rows else None


def verdict_counts(connection: Connection) -> VerdictCounts:
    """How far the asking is, and what came to nothing."""
    pending = execute(connection, "SELECT count(*) FROM fact WHERE judged = 0")
    failed = execute(connection, "SELECT count(*) FROM verdict WHERE verdict = 'failed'")
    refused = execute(
        connection,
        "SELECT refused, count(*) FROM verdict WHERE refused IS NOT NULL GROUP BY 1 ORDER BY 1",
    )
    return VerdictCounts(pending=pending[0][0], failed=failed[0][0], refused=dict(refused))


def alike_in_words(connection: Connection, fact_id: FactId) -> dict[FactId, bytes]:
    """The compared facts that share a telling key with one, with their packed words."""
    keys = [
        row[0]
        for row in execute(connection, "SELECT key FROM fact_key WHERE fact_id = ?", (fact_id,))
    ]
    telling = sorted(set(keys) - crowded(connection, keys))
    rows = execute(
        connection,
        "SELECT DISTINCT fact_key.fact_id, words FROM json_each(:keys) CROSS JOIN fact_key"
        " ON fact_key.key = value JOIN fact_words ON fact_words.fact_id = fact_key.fact_id"
        " JOIN fact ON fact.id = fact_key.fact_id WHERE compared = 1 AND fact_key.fact_id <> :id",
        {"keys": json.dumps(telling), "id": fact_id},
    )
    return {FactId(row[0]): row[1] for row in rows}


def naming_the_same(connection: Connection, fact_id: FactId, limit: int) -> dict[FactId, float]:
    """The facts that name most of what one names, the most telling first.

    With a weight: of each thing that both name, the share that one fact has in all that name it.
    """
    rows = execute(
        connection,
        "WITH named AS MATERIALIZED (SELECT entity_id, (SELECT count(*) FROM (SELECT 1 FROM mention"
        " AS each WHERE each.entity_id = mention.entity_id LIMIT :most + 1)) AS often"
        " FROM mention WHERE fact_id = :id)"
        " SELECT fact.id, sum(1.0 / often) AS weight FROM named"
        " CROSS JOIN mention ON mention.entity_id = named.entity_id"
        " CROSS JOIN fact ON fact.id = fact_id WHERE often <= :most AND fact.id <> :id"
        " AND compared = 1 GROUP BY fact.id ORDER BY weight DESC, fact.uid LIMIT :limit",
        {"id": fact_id, "most": _MOST_NAMING, "limit": limit},
    )
    return {FactId(row[0]): float(row[1]) for row in rows}


def sharing_rare_words(
    connection: Connection, fact_id: FactId, words: Collection[str], limit: int
) -> dict[FactId, float]:
    """The compared facts of passages that have the rarest of some words, as the index holds them, the rarest first.

    With a weight: of each word, one by the passages that have it. A passage may have the word in another of its facts.
    """
    rare = execute(
        connection,
        "SELECT term, doc FROM json_each(:words) CROSS JOIN passage_vocabulary ON term = value"
        " WHERE doc BETWEEN 2 AND :most ORDER BY doc, term LIMIT :words_tried",
        {"words": json.dumps(sorted(words)), "most": _MOST_HAVING, "words_tried": _WORDS_TRIED},
    )
    found: dict[FactId, float] = {}
    for term, doc in rare:
        rows = execute(
            connection,
            "SELECT DISTINCT fact.id FROM passage_fts"
            " CROSS JOIN fact_source ON passage_id = passage_fts.rowid"
            " CROSS JOIN fact ON fact.id = fact_id"
            " WHERE passage_fts MATCH :term AND compared = 1 AND fact.id <> :id"
            " ORDER BY fact.uid LIMIT :limit",
            {"term": f'"{term}"', "id": fact_id, "limit": limit},
        )
        for row in rows:
            found[FactId(row[0])] = found.get(FactId(row[0]), 0.0) + 1.0 / doc
    return dict(sorted(found.items(), key=lambda one: -one[1])[:limit])


def near_in_meaning(connection: Connection, fact_id: FactId, limit: int) -> list[FactId]:
    """The facts whose statements' vectors are nearest to those of one, the nearest first; none without vectors."""
    rows = execute(
        connection,
        "WITH mine AS MATERIALIZED (SELECT space, signs FROM fact_source JOIN vector USING"
        " (statement_id) JOIN space ON space.id = space AND state = 'in_use'"
        " WHERE fact_id = :id ORDER BY statement_id LIMIT 1),"
        " near AS MATERIALIZED (SELECT statement_id, vec_distance_hamming(vec_bit(vector.signs),"
        " vec_bit(mine.signs)) AS distance FROM mine CROSS JOIN vector ON vector.space = mine.space"
        " ORDER BY distance LIMIT 4 * :limit)"
        " SELECT fact.id FROM near CROSS JOIN fact_source USING (statement_id)"
        " CROSS JOIN fact ON fact.id = fact_id WHERE fact.id <> :id AND compared = 1"
        " GROUP BY fact.id ORDER BY min(distance), fact.uid LIMIT :limit",
        {"id": fact_id, "limit": limit},
    )
    return [FactId(row[0]) for row in rows]


def nearness(
    connection: Connection, fact_id: FactId, others: Collection[FactId]
) -> dict[FactId, float]:
    """The cosine of each of some facts with one; what has no vector is left out."""
    rows = execute(
        connection,
        "WITH mine AS MATERIALIZED (SELECT space, embedding FROM fact_source JOIN vector USING"
        " (statement_id) JOIN space ON space.id = space AND state = 'in_use'"
        " WHERE fact_id = :id ORDER BY statement_id LIMIT 1)"
        " SELECT fact_id, 1.0 - min(vec_distance_cosine(vec_int8(vector.embedding),"
        " vec_int8(mine.embedding))) AS cosine"
        " FROM mine CROSS JOIN json_each(:others) CROSS JOIN fact_source ON fact_id = value"
        " JOIN vector ON vector.statement_id = fact_source.statement_id"
        " AND vector.space = mine.space GROUP BY fact_id",
        {"id": fact_id, "others": json.dumps(sorted(others))},
    )
    return {FactId(row[0]): float(row[1]) for row in rows if row[1] is not None}


def places_of(
    connection: Connection, facts: Collection[FactId]
) -> dict[FactId, frozenset[tuple[NoteId, BlockId]]]:
    """The notes and blocks that say each of these facts."""
    rows = execute(
        connection,
        "SELECT fact_id, note_id, block_id FROM json_each(?) CROSS JOIN fact_source"
        " ON fact_id = value JOIN passage ON passage.id = passage_id",
        (json.dumps(sorted(facts)),),
    )
    found: dict[FactId, set[tuple[NoteId, BlockId]]] = {}
    for fact_id, note_id, block_id in rows:
        found.setdefault(FactId(fact_id), set()).add((NoteId(note_id), BlockId(block_id)))
    return {fact_id: frozenset(places) for fact_id, places in found.items()}


class VerdictWriter:
    """The writing side of asking about facts; runs on the writer's thread."""

    def __init__(self, connection: Connection) -> None:
        """`connection` is the database's only writing one."""
        self._connection = connection

    def adopt(self, judge: str) -> bool:
        """Gives every fact its turn when somebody else was asked. What others said holds until then."""
        with transaction(self._connection):
            if judge_of(self._connection) == judge:
                return False
            execute(self._connection, "INSERT OR REPLACE INTO meta VALUES (?, ?)", (_JUDGE, judge))
            execute(self._connection, "UPDATE fact SET judged = 0 WHERE judged <> 0")
        return True

    def keep(self, told: Told, facts: Collection[FactId]) -> None:
        """Keeps an answer about two facts, which are compared again where it, or one that it replaces, makes links."""
        with transaction(self._connection):
            answer = {
                "one": told.one,
                "other": told.other,
                "asked": told.asked,
                "judge": told.judge,
                "verdict": told.verdict,
                "refused": told.refused,
                "told_at": told.told_at,
            }
            execute(
                self._connection,
                "INSERT OR REPLACE INTO verdict (one, other, asked, judge, verdict, refused, told_at)"
                " VALUES (:one, :other, :asked, :judge, :verdict, :refused, :told_at)",
                answer,
            )
            makes_links = execute(
                self._connection,
                "SELECT 1 FROM verdict WHERE one = :one AND other = :other AND asked = :asked"
                " AND verdict NOT IN ('independent', 'failed') LIMIT 1",
                {"one": told.one, "other": told.other, "asked": told.asked},
            )
            if makes_links:
                compare_again(self._connection, facts)

    def done(self, facts: Collection[FactId]) -> None:
        """Nothing is left to ask about these facts, unless they changed meanwhile."""
        with transaction(self._connection):
            execute(
                self._connection,
                "UPDATE fact SET judged = 1 WHERE compared = 1"
                " AND id IN (SELECT value FROM json_each(?))",
                (json.dumps(sorted(facts)),),
            )

    def ask_failed_again(self) -> int:
        """Forgets the answers that could not be read, and gives the facts their turn. Returns how many pairs."""
        with transaction(self._connection):
            rows = execute(
                self._connection,
                "DELETE FROM verdict WHERE verdict = 'failed' RETURNING one, other",
            )
            execute(
                self._connection,
                "UPDATE fact SET judged = 0 WHERE uid IN (SELECT value FROM json_each(?))",
                (json.dumps([uid for row in rows for uid in row]),),
            )
        return len(rows)

    def prune(self, older_than_ms: int) -> int:
        """Drops answers from before about facts that are gone. Returns how many."""
        with transaction(self._connection):
            rows = execute(
                self._connection,
                "DELETE FROM verdict WHERE told_at < ? AND (one NOT IN (SELECT uid FROM fact)"
                " OR other NOT IN (SELECT uid FROM fact)) RETURNING 1",
                (older_than_ms,),
            )
        return len(rows)
