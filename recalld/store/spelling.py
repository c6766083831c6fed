"""How entities are spelled: each fact's spellings, how many facts have each, and the one that an entity is shown by.

Called inside a transaction whenever what facts name changes. It is kept by counting what comes and goes, since a thing
may be named by a hundred thousand facts; counting all anew finds the same.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping

from recalld.store.connection import Connection, execute

# (entity, name, kind)
Spelled = tuple[int, str, str]


def spell_facts(connection: Connection, wanted: Mapping[int, Collection[Spelled]]) -> None:
    """Gives facts these spellings in the place of those they had, and shows entities as most facts have them now."""
    if not wanted:
        return
    rows = execute(
        connection,
        "SELECT fact.id, spelled FROM json_each(?) CROSS JOIN fact ON fact.id = value",
        (json.dumps(sorted(wanted)),),
    )
    more: Counter[Spelled] = Counter()
    changed: list[tuple[str, int]] = []
    for fact_id, stored in rows:
        before = {(one[0], one[1], one[2]) for one in json.loads(stored)}
        after = set(wanted[fact_id])
        if before != after:
            more.update(after - before)
            more.subtract(before - after)
            changed.append((json.dumps(sorted(after), ensure_ascii=False), fact_id))
    for row in changed:
        execute(connection, "UPDATE fact SET spelled = ? WHERE id = ?", row)
    _count(connection, {one: by for one, by in more.items() if by})


def recount(connection: Connection, entities: Collection[int]) -> int:
    """Counts the spellings of entities anew. Returns of how many they were not as they should be."""
    ids = {"ids": json.dumps(sorted(entities))}
    naming = " UNION ".join(
        f"SELECT value AS entity, fact_id FROM json_each(:ids) CROSS JOIN {table} ON {end} = value"
        for table, end in (
            ("mention", "entity_id"),
            ("relation", "subject"),
            ("relation", "object"),
        )
    )
    rows = execute(
        connection,
        "SELECT entity, one.value ->> 1, one.value ->> 2, count(*)"
        f" FROM ({naming}) CROSS JOIN fact ON fact.id = fact_id CROSS JOIN json_each(spelled) AS one"
        " WHERE one.value ->> 0 = entity GROUP BY 1, 2, 3",
        ids,
    )
    right = {(row[0], row[1], row[2]): row[3] for row in rows}
    rows = execute(
        connection,
        "SELECT entity_id, name, kind, facts FROM json_each(:ids)"
        " CROSS JOIN spelling ON entity_id = value",
        ids,
    )
    stored = {(row[0], row[1], row[2]): row[3] for row in rows}
    wrong = {one for one, _ in right.items() ^ stored.items()}
    _count(connection, {one: right.get(one, 0) - stored.get(one, 0) for one in wrong})
    return len({one[0] for one in wrong} | _show(connection, entities))


def _count(connection: Connection, more: Mapping[Spelled, int]) -> None:
    """Adds to how many facts have each spelling, and shows their entities by the one that most have."""
    if not more:
        return
    execute(
        connection,
        "INSERT INTO spelling (entity_id, name, kind, facts)"
        " SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?)"
        # An entity that is gone took its spellings along.
        " WHERE value ->> 0 IN (SELECT id FROM entity)"
        " ON CONFLICT DO UPDATE SET facts = facts + excluded.facts",
        (json.dumps([[*one, by] for one, by in sorted(more.items())], ensure_ascii=False),),
    )
    execute(
        connection,
        "DELETE FROM spelling WHERE facts <= 0"
        " AND (entity_id, name, kind) IN (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?))",
        (json.dumps([one for one, by in more.items() if by < 0], ensure_ascii=False),),
    )
    _show(connection, {one[0] for one in more})


def _show(connection: Connection, entities: Collection[int]) -> set[int]:
    """Shows entities as most facts spell them, the first by code point among equals. Returns those that changed."""
    best = (
        "(SELECT {column} FROM spelling AS one WHERE one.entity_id = entity.id ORDER BY"
        " (SELECT sum(facts) FROM spelling AS each WHERE each.entity_id = one.entity_id"
        " AND each.name = one.name) DESC, one.name, facts DESC, kind LIMIT 1)"
    )
    rows = execute(
        connection,
        "UPDATE entity SET (name, kind) = (shown_name, shown_kind) FROM (SELECT entity.id AS shown,"
        f" {best.format(column='one.name')} AS shown_name, {best.format(column='kind')} AS shown_kind"
        " FROM json_each(?) CROSS JOIN entity ON entity.id = value)"
        " WHERE entity.id = shown AND shown_name IS NOT NULL"
        " AND (entity.name, entity.kind) IS NOT (shown_name, shown_kind) RETURNING entity.id",
        (json.dumps(sorted(entities)),),
    )
    return {row[0] for row in rows}
