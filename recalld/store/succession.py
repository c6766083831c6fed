"""Which fact stands where several disagree, and which must be compared again. Called inside a transaction.

It knows the links that comparison left, not how they were found.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable

from recalld.store.connection import Connection, execute

# The kinds of links that comparison finds, as SQL; other kinds are not its own.
COMPARED = "('similar', 'extends', 'contradicts', 'supersedes')"
# A key that more facts share says nothing.
MOST_SHARING = 64
# What begins so is the key of a wording without its numbers; more facts of one wording are a list or a log, in which
# another number is no disagreement.
SERIES = "\x1d"
MOST_IN_SERIES = 20


def compare_again(connection: Connection, facts: Collection[int]) -> None:
    """Has these facts compared with what is known again."""
    execute(
        connection,
        "UPDATE fact SET compared = 0 WHERE compared <> 0"
        " AND id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(facts)),),
    )


def superseded_by_any(connection: Connection, facts: Collection[int]) -> set[int]:
    """The facts that any of these supersedes; to be settled anew when one of these changes or goes."""
    rows = execute(
        connection,
        "SELECT to_fact FROM fact_link WHERE kind = 'supersedes'"
        " AND from_fact IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(facts)),),
    )
    return {row[0] for row in rows}


def settle_successors(connection: Connection, facts: Collection[int]) -> None:
    """Points each of these facts at its newest successor that is still there, or at none.

    What a user said comes before what is newest: what stands below the loser does not come above the winner, or each of
    them would be superseded by another. So those that a user put above others are settled whenever any fact is.
    """
    winners, overruled = _overruled(connection)
    newest = (
        "(SELECT from_fact FROM fact_link JOIN fact AS newer ON newer.id = from_fact"
        " WHERE to_fact = fact.id AND kind = 'supersedes' AND (origin = 'user'"
        " OR (from_fact, to_fact) NOT IN (SELECT value ->> 0, value ->> 1 FROM json_each(:overruled)))"
        # Where a date is what they disagree about, the day of the statement tells which is newer.
        " ORDER BY origin = 'user' DESC, CASE reason WHEN 'date' THEN newer.stated_on"
        " ELSE coalesce(newer.happened_to, newer.stated_on) END DESC,"
        " newer.uid LIMIT 1)"
    )
    execute(
        connection,
        f"UPDATE fact SET superseded_by = {newest}"
        f" WHERE id IN (SELECT value FROM json_each(:facts)) AND superseded_by IS NOT {newest}",
        {
            "facts": json.dumps(sorted({*facts, *winners})),
            "overruled": json.dumps(sorted(overruled)),
        },
    )


def _overruled(connection: Connection) -> tuple[set[int], set[tuple[int, int]]]:
    """The facts that users put above others, and as (newer, winner) what is below a loser and yet above its winner."""
    winners = execute(
        connection,
        "SELECT fact.id FROM resolution CROSS JOIN fact ON uid = one WHERE verdict = 'supersedes'",
    )
    if not winners:
        return set(), set()
    rows = execute(
        connection,
        "WITH RECURSIVE below (winner, id) AS ("
        " SELECT one.id, other.id FROM resolution CROSS JOIN fact AS one ON one.uid = resolution.one"
        " CROSS JOIN fact AS other ON other.uid = resolution.other"
        " CROSS JOIN fact_link ON from_fact = one.id AND to_fact = other.id AND kind = 'supersedes'"
        " WHERE verdict = 'supersedes' UNION"
        " SELECT winner, to_fact FROM below CROSS JOIN fact_link ON from_fact = below.id"
        " AND kind = 'supersedes')"
        " SELECT below.id, winner FROM below CROSS JOIN fact_link ON from_fact = below.id"
        " AND to_fact = winner AND kind = 'supersedes' AND origin <> 'user'",
    )
    return {row[0] for row in winners}, {(row[0], row[1]) for row in rows}


def keys_of_facts(connection: Connection, facts: Collection[int]) -> set[str]:
    """Every key of these facts."""
    rows = execute(
        connection,
        "SELECT DISTINCT key FROM fact_key WHERE fact_id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(facts)),),
    )
    return {row[0] for row in rows}


def crowded(connection: Connection, keys: Iterable[str]) -> set[str]:
    """The keys that too many facts share."""
    series: list[str] = []
    others: list[str] = []
    for key in sorted(keys):
        (series if key.startswith(SERIES) else others).append(key)
    return _shared_by_more(connection, series, MOST_IN_SERIES) | _shared_by_more(
        connection, others, MOST_SHARING
    )


def _shared_by_more(connection: Connection, keys: list[str], most: int) -> set[str]:
    rows = execute(
        connection,
        "SELECT value FROM json_each(:keys) WHERE EXISTS (SELECT 1 FROM fact_key"
        " WHERE fact_key.key = value LIMIT 1 OFFSET :most)",
        {"keys": json.dumps(keys), "most": most},
    )
    return {row[0] for row in rows}


def compare_linked_again(connection: Connection, keys: Collection[str]) -> None:
    """Has facts compared again that are linked and share one of these keys: it counts no longer.

    The key led to nothing else, so the facts that have it and no such link are as they would be without it.
    """
    if keys:
        linked = (
            "SELECT from_fact, to_fact FROM json_each(:keys) CROSS JOIN fact_key AS one"
            " ON one.key = value CROSS JOIN fact_link ON from_fact = one.fact_id"
            f" AND kind IN {COMPARED}"
            " CROSS JOIN fact_key AS other ON other.key = value AND other.fact_id = to_fact"
        )
        execute(
            connection,
            f"WITH linked AS MATERIALIZED ({linked}) UPDATE fact SET compared = 0"
            " WHERE id IN (SELECT from_fact FROM linked UNION SELECT to_fact FROM linked)",
            {"keys": json.dumps(sorted(keys))},
        )


def compare_sharing_again(connection: Connection, keys: Collection[str]) -> None:
    """Has every fact with one of these keys compared again: what they share counts again."""
    if keys:
        execute(
            connection,
            "UPDATE fact SET compared = 0 WHERE id IN (SELECT fact_id FROM fact_key"
            " WHERE key IN (SELECT value FROM json_each(?)))",
            (json.dumps(sorted(keys)),),
        )
