"""Facts, the places that state them, and what they name. Called inside a note's transaction."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection, Sequence

from recalld.records import BlockId, Category, Entity
from recalld.store.changes import NewFact
from recalld.store.connection import Connection, execute


def entity_key(name: str) -> str:
    """The identity of an entity's name: composed, caseless, single-spaced."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def add_fact(
    connection: Connection,
    fact: NewFact,
    *,
    statement_id: int,
    passage_id: int,
    extractor: str,
    now_ms: int,
) -> int:
    """Stores a fact, or adds a place to the stored one with the same words. Returns its id."""
    execute(
        connection,
        "INSERT INTO fact (uid, text, category, category_by, confidence, happened_from,"
        " happened_to, extractor, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (uid) DO UPDATE SET confidence = max(confidence, excluded.confidence)",
        (
            fact.uid,
            fact.text,
            (fact.category or Category.KNOWLEDGE).value,
            "rule" if fact.category else "undecided",
            fact.confidence,
            fact.happened.first.isoformat() if fact.happened else None,
            fact.happened.last.isoformat() if fact.happened else None,
            extractor,
            now_ms,
        ),
    )
    fact_id = int(execute(connection, "SELECT id FROM fact WHERE uid = ?", (fact.uid,))[0][0])
    execute(
        connection,
        "INSERT OR IGNORE INTO fact_source (fact_id, statement_id, passage_id, line_from, line_to)"
        " VALUES (?, ?, ?, ?, ?)",
        (fact_id, statement_id, passage_id, fact.lines.first, fact.lines.last),
    )
    ids = {entity.name: _entity_id(connection, entity) for entity in fact.entities}
    execute_each(
        connection,
        "INSERT OR IGNORE INTO mention (fact_id, entity_id) VALUES (?, ?)",
        [(fact_id, entity_id) for entity_id in ids.values()],
    )
    for relation in fact.relations:
        ends = [
            ids.get(name) or _entity_id(connection, Entity(name=name, kind="name"))
            for name in (relation.subject, relation.object)
        ]
        execute(
            connection,
            "INSERT OR IGNORE INTO relation (fact_id, subject, predicate, object)"
            " VALUES (?, ?, ?, ?)",
            (fact_id, ends[0], relation.predicate, ends[1]),
        )
    return fact_id


def execute_each(connection: Connection, sql: str, rows: Sequence[tuple[object, ...]]) -> None:
    """Runs one statement for each row of bindings."""
    for row in rows:
        execute(connection, sql, row)


def _entity_id(connection: Connection, entity: Entity) -> int:
    key = entity_key(entity.name)
    execute(
        connection,
        "INSERT INTO entity (key, name, kind) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING",
        (key, entity.name, entity.kind),
    )
    return int(execute(connection, "SELECT id FROM entity WHERE key = ?", (key,))[0][0])


def touched_facts(connection: Connection, blocks: Sequence[BlockId]) -> set[int]:
    """The facts that these blocks state: they may lose their last source."""
    rows = execute(
        connection,
        "SELECT DISTINCT fact_id FROM fact_source JOIN passage ON passage.id = passage_id"
        " WHERE block_id IN (SELECT value FROM json_each(?))",
        (json.dumps(blocks),),
    )
    return {row[0] for row in rows}


def retract_unsourced(connection: Connection, facts: Collection[int]) -> None:
    """Takes out those of `facts` that no place states any more, and the entities that only they named."""
    ids = {"ids": json.dumps(sorted(facts))}
    entities = execute(
        connection,
        "SELECT entity_id FROM mention WHERE fact_id IN (SELECT value FROM json_each(:ids))"
        " UNION SELECT subject FROM relation WHERE fact_id IN (SELECT value FROM json_each(:ids))"
        " UNION SELECT object FROM relation WHERE fact_id IN (SELECT value FROM json_each(:ids))",
        ids,
    )
    execute(
        connection,
        "DELETE FROM fact WHERE id IN (SELECT value FROM json_each(:ids))"
        " AND NOT EXISTS (SELECT 1 FROM fact_source WHERE fact_id = fact.id)",
        ids,
    )
    execute(
        connection,
        "DELETE FROM entity WHERE id IN (SELECT value FROM json_each(?))"
        " AND NOT EXISTS (SELECT 1 FROM mention WHERE entity_id = entity.id)"
        " AND NOT EXISTS (SELECT 1 FROM relation WHERE subject = entity.id)"
        " AND NOT EXISTS (SELECT 1 FROM relation WHERE object = entity.id)",
        (json.dumps([row[0] for row in entities]),),
    )


def restate(connection: Connection, facts: Collection[int]) -> None:
    """Dates facts by the newest note that states them: its own date, else its file's."""
    execute(
        connection,
        "UPDATE fact SET stated_on = (SELECT max(coalesce(dated, date(mtime_ns / 1000000000,"
        " 'unixepoch'))) FROM fact_source JOIN passage ON passage.id = passage_id"
        " JOIN note ON note.id = note_id WHERE fact_id = fact.id)"
        " WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(facts)),),
    )
