"""What the graph's walks ask of the store: names, edges and passages, each with a cap that is applied first.

A thing is an entity or a note; a note and the entity of its name are two rows and one thing to a reader. It knows which
rows touch, not what a path is worth. Names, facts and notes outside `within` take no part; its bindings stand beside
ours in one statement, so ours begin with `walk_`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from recalld.records import FactId, PassageId
from recalld.store.connection import Connection, Row, execute
from recalld.store.fact_links import TELLING
from recalld.store.filtering import Allowed, Bindings

# An entity that more facts name leads everywhere.
HUB = 200
# Of one thing: the newest facts, relations, links and passages that are followed, unless more are asked for.
FAN_OUT = 20
# For each of these, how many of the facts stored last are looked at, to find the newest by their dates.
_LOOKED_AT = 3
# More notes by one name (`readme`) are nobody's name.
_MOST_NAMESAKES = 3

EdgeKind = Literal["relation", "link", "mention"]


class Thing(NamedTuple):
    """An entity or a note, by its row."""

    kind: Literal["entity", "note"]
    row_id: int


class Edge(NamedTuple):
    """One step from a thing to another."""

    source: Thing
    target: Thing
    kind: EdgeKind
    # The predicate of a relation; empty for the others.
    predicate: str = ""
    # Whether it is read from source to target.
    forward: bool = True
    # The fact that says so; None for a link, which its note says.
    fact_id: FactId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """What a walk may use: facts that stand in allowed passages, and by default none that is superseded."""

    allowed: Allowed | None = None
    superseded: bool = False
    # Of one thing, of each kind.
    fan_out: int = FAN_OUT

    @property
    def bindings(self) -> Bindings:
        """The bindings of its SQL."""
        return dict(self.allowed.bindings) if self.allowed else {}

    def of_fact(self, fact: str) -> str:
        """As SQL: whether the fact in this column, named with its table, may be used."""
        current = f"(SELECT superseded_by FROM fact WHERE fact.id = {fact}) IS NULL"
        return self.of_place(fact) + ("" if self.superseded else f" AND {current}")

    def of_place(self, fact: str) -> str:
        """As SQL: the same without a look at whether it is superseded."""
        if self.allowed is None:
            return "1"
        return (
            f"EXISTS (SELECT 1 FROM fact_source AS stands WHERE stands.fact_id = {fact}"
            f" AND {self.allowed.holds('stands.passage_id')})"
        )

    def of_note(self, note: str) -> str:
        """As SQL: whether the note in this column, named with its table, may be used."""
        if self.allowed is None:
            return "1"
        return (
            f"EXISTS (SELECT 1 FROM passage AS its WHERE its.note_id = {note}"
            f" AND {self.allowed.holds('its.id')})"
        )


_NONE = "[]"


def _ids(things: Iterable[Thing], kind: str) -> str:
    return json.dumps([one.row_id for one in things if one.kind == kind])


def _of_entities(
    connection: Connection, things: Iterable[Thing], within: Within, sql: str
) -> list[Row]:
    """The rows of a statement on :walk_entities; where there are none it is not run, as each costs some."""
    ids = _ids(things, "entity")
    return (
        execute(connection, sql, {"walk_entities": ids, **within.bindings}) if ids != _NONE else []
    )


def _of_notes(
    connection: Connection, things: Iterable[Thing], within: Within, sql: str
) -> list[Row]:
    """The same on :walk_notes."""
    ids = _ids(things, "note")
    return execute(connection, sql, {"walk_notes": ids, **within.bindings}) if ids != _NONE else []


def things_named(
    connection: Connection, keys: Collection[str], within: Within
) -> dict[str, list[Thing]]:
    """The entities and notes that go by each of these folded names."""
    found: dict[str, list[Thing]] = {}
    bindings = {"walk_keys": json.dumps(list(keys), ensure_ascii=False), **within.bindings}
    entities = execute(
        connection,
        "SELECT key, id FROM entity WHERE key IN (SELECT value FROM json_each(:walk_keys))",
        bindings,
    )
    for key, row_id in entities:
        found.setdefault(key, []).append(Thing("entity", row_id))
    notes = execute(
        connection,
        "SELECT key, note_id FROM alias WHERE key IN (SELECT value FROM json_each(:walk_keys))"
        f" AND {_few_namesakes('alias.key')} AND {within.of_note('alias.note_id')}",
        bindings,
    )
    for key, row_id in notes:
        found.setdefault(key, []).append(Thing("note", row_id))
    return found


def _few_namesakes(key: str) -> str:
    return (
        f"(SELECT count(*) FROM (SELECT 1 FROM alias AS same WHERE same.key = {key}"
        f" LIMIT {_MOST_NAMESAKES + 1})) <= {_MOST_NAMESAKES}"
    )


def namesakes(
    connection: Connection, things: Collection[Thing], within: Within
) -> list[tuple[Thing, Thing]]:
    """Which notes are what these entities are, and the other way round."""
    if not things:
        return []
    rows = execute(
        connection,
        "SELECT 'entity', entity.id, 'note', note_id FROM json_each(:walk_entities)"
        " JOIN entity ON entity.id = value JOIN alias ON alias.key = entity.key"
        f" WHERE {_few_namesakes('alias.key')} AND {within.of_note('alias.note_id')}"
        " UNION ALL SELECT 'note', note_id, 'entity', entity.id FROM json_each(:walk_notes)"
        " JOIN alias ON note_id = value JOIN entity ON entity.key = alias.key"
        f" WHERE {_few_namesakes('alias.key')}",
        {
            "walk_entities": _ids(things, "entity"),
            "walk_notes": _ids(things, "note"),
            **within.bindings,
        },
    )
    return [(Thing(row[0], row[1]), Thing(row[2], row[3])) for row in rows]


def thing_names(connection: Connection, things: Collection[Thing]) -> dict[Thing, str]:
    """How each thing is called; those that are gone are left out."""
    if not things:
        return {}
    rows = execute(
        connection,
        "SELECT 'entity', entity.id, name FROM json_each(:walk_entities)"
        " JOIN entity ON entity.id = value UNION ALL"
        " SELECT 'note', note.id, title FROM json_each(:walk_notes) JOIN note ON note.id = value",
        {"walk_entities": _ids(things, "entity"), "walk_notes": _ids(things, "note")},
    )
    return {Thing(row[0], row[1]): row[2] for row in rows}


def degrees(connection: Connection, things: Collection[Thing]) -> dict[Thing, int]:
    """How many facts name each entity, and how many links touch each note: none counted beyond a hub's."""
    if not things:
        return {}
    rows = execute(
        connection,
        "SELECT 'entity', value, (SELECT count(*) FROM (SELECT 1 FROM mention"
        " WHERE entity_id = value LIMIT :cap)) FROM json_each(:walk_entities) UNION ALL"
        " SELECT 'note', value, (SELECT count(*) FROM (SELECT 1 FROM note_link"
        " WHERE from_note = value OR to_note = value LIMIT :cap)) FROM json_each(:walk_notes)",
        {
            "walk_entities": _ids(things, "entity"),
            "walk_notes": _ids(things, "note"),
            "cap": HUB + 1,
        },
    )
    return {Thing(row[0], row[1]): row[2] for row in rows}


def _newest(table: str, column: str, within: Within) -> str:
    """As SQL: rows (entity, fact) with the newest facts that name each of :walk_entities in this column.

    Among many only those stored last are looked at: a hub has more facts than a walk has time.
    """
    current = "" if within.superseded else " AND fact.superseded_by IS NULL"
    return (
        "SELECT each.value AS entity, found.value AS fact FROM json_each(:walk_entities) AS each,"
        " json_each((SELECT json_group_array(fact_id) FROM (SELECT fact_id FROM"
        f" (SELECT fact_id, stated_on FROM {table} CROSS JOIN fact ON fact.id = fact_id{current}"
        f" WHERE {column} = each.value AND {within.of_place(f'{table}.fact_id')}"
        f" ORDER BY fact_id DESC LIMIT {_LOOKED_AT * within.fan_out})"
        f" ORDER BY stated_on DESC, fact_id DESC LIMIT {within.fan_out}))) AS found"
    )


def relation_edges(connection: Connection, things: Collection[Thing], within: Within) -> list[Edge]:
    """The relations of entities, in both directions, by their newest facts."""
    found = []
    for mine, other, forward in (("subject", "object", True), ("object", "subject", False)):
        rows = _of_entities(
            connection,
            things,
            within,
            f"WITH near AS ({_newest('relation', mine, within)}) SELECT DISTINCT entity, {other},"
            # `+`: by its fact, of which there are few, not by an entity that a thousand relations share.
            " predicate, fact FROM near CROSS JOIN relation ON relation.fact_id = fact"
            f" AND +{mine} = entity AND +{other} <> entity",
        )
        found += [
            Edge(
                source=Thing("entity", row[0]),
                target=Thing("entity", row[1]),
                kind="relation",
                predicate=row[2],
                forward=forward,
                fact_id=FactId(row[3]),
            )
            for row in rows
        ]
    return found


def mention_edges(connection: Connection, things: Collection[Thing], within: Within) -> list[Edge]:
    """What else the newest facts name that name these entities; and what facts in these notes name."""
    entities = _of_entities(
        connection,
        things,
        within,
        f"WITH near AS ({_newest('mention', 'entity_id', within)}) SELECT entity, entity_id, fact"
        " FROM near CROSS JOIN mention ON mention.fact_id = fact AND +entity_id <> entity",
    )
    notes = _of_notes(
        connection,
        things,
        within,
        "SELECT DISTINCT each.value, entity_id, found.value FROM json_each(:walk_notes) AS each,"
        " json_each((SELECT json_group_array(fact_id) FROM (SELECT fact_id FROM passage"
        " JOIN fact_source ON passage_id = passage.id WHERE note_id = each.value"
        f" AND {within.of_fact('fact_source.fact_id')} ORDER BY position LIMIT {within.fan_out}))) AS found"
        " JOIN mention ON mention.fact_id = found.value",
    )
    return [
        *(_mention(Thing("entity", row[0]), row[1], row[2]) for row in entities),
        *(_mention(Thing("note", row[0]), row[1], row[2]) for row in notes),
    ]


def _mention(source: Thing, entity_id: int, fact_id: int) -> Edge:
    return Edge(
        source=source, target=Thing("entity", entity_id), kind="mention", fact_id=FactId(fact_id)
    )


def link_edges(connection: Connection, things: Collection[Thing], within: Within) -> list[Edge]:
    """The links between notes, in both directions, each pair once."""
    found: dict[tuple[int, int, bool], None] = {}
    for mine, other, forward in (("from_note", "to_note", True), ("to_note", "from_note", False)):
        rows = _of_notes(
            connection,
            things,
            within,
            "SELECT each.value, found.value FROM json_each(:walk_notes) AS each,"
            f" json_each((SELECT json_group_array({other}) FROM (SELECT {other}"
            f" FROM note_link WHERE {mine} = each.value AND {other} IS NOT NULL"
            f" AND {other} <> each.value AND {within.of_note(f'note_link.{other}')}"
            f" GROUP BY {other} ORDER BY max(id) DESC LIMIT {within.fan_out}))) AS found",
        )
        found |= {(row[0], row[1], forward): None for row in rows}
    return [
        Edge(source=Thing("note", one), target=Thing("note", other), kind="link", forward=forward)
        for one, other, forward in found
    ]


def passages_of_things(
    connection: Connection, things: Collection[Thing], within: Within
) -> list[tuple[Thing, PassageId]]:
    """The passages that state the newest facts about each entity, and the first of each note."""
    sides = (("mention", "entity_id"), ("relation", "subject"), ("relation", "object"))
    near = " UNION ".join(_newest(table, column, within) for table, column in sides)
    inside = f" AND {within.allowed.holds('fact_source.passage_id')}" if within.allowed else ""
    entities = _of_entities(
        connection,
        things,
        within,
        f"WITH near AS ({near}) SELECT DISTINCT entity, passage_id FROM near"
        f" JOIN fact_source ON fact_id = fact{inside}",
    )
    inside = f" AND {within.allowed.holds('passage.id')}" if within.allowed else ""
    notes = _of_notes(
        connection,
        things,
        within,
        "SELECT each.value, found.value FROM json_each(:walk_notes) AS each,"
        " json_each((SELECT json_group_array(id) FROM (SELECT passage.id FROM passage"
        f" WHERE note_id = each.value{inside} ORDER BY position LIMIT {within.fan_out}))) AS found",
    )
    return [
        *((Thing("entity", row[0]), PassageId(row[1])) for row in entities),
        *((Thing("note", row[0]), PassageId(row[1])) for row in notes),
    ]


def facts_of_things(
    connection: Connection, things: Collection[Thing], within: Within
) -> list[tuple[Thing, FactId]]:
    """The newest facts that name each entity, and the first of each note."""
    entities = _of_entities(
        connection,
        things,
        within,
        _newest("mention", "entity_id", within),
    )
    notes = _of_notes(
        connection,
        things,
        within,
        "SELECT DISTINCT each.value, found.value FROM json_each(:walk_notes) AS each,"
        " json_each((SELECT json_group_array(fact_id) FROM (SELECT fact_id FROM passage"
        " JOIN fact_source ON passage_id = passage.id WHERE note_id = each.value"
        f" AND {within.of_fact('fact_source.fact_id')} ORDER BY position LIMIT {within.fan_out}))) AS found",
    )
    return [
        *((Thing("entity", row[0]), FactId(row[1])) for row in entities),
        *((Thing("note", row[0]), FactId(row[1])) for row in notes),
    ]


def things_of_fact(connection: Connection, fact_id: FactId) -> list[Thing]:
    """What a fact names, and the notes that state it."""
    rows = execute(
        connection,
        "SELECT 'entity', entity_id FROM mention WHERE fact_id = :fact"
        " UNION SELECT 'entity', subject FROM relation WHERE fact_id = :fact"
        " UNION SELECT 'entity', object FROM relation WHERE fact_id = :fact"
        " UNION SELECT 'note', note_id FROM fact_source JOIN passage ON passage.id = passage_id"
        " WHERE fact_id = :fact",
        {"fact": fact_id},
    )
    return [Thing(row[0], row[1]) for row in rows]


def facts_linked(
    connection: Connection, facts: Collection[FactId]
) -> list[tuple[FactId, FactId, str, str]]:
    """The typed links from and to facts: (from, to, type, why); `related` where nothing else links the two."""
    rows = execute(
        connection,
        "SELECT from_fact, to_fact, kind, reason FROM fact_link"
        " WHERE (from_fact IN (SELECT value FROM json_each(:facts))"
        f" OR to_fact IN (SELECT value FROM json_each(:facts))) AND {TELLING}",
        {"facts": json.dumps(list(facts))},
    )
    return [(FactId(row[0]), FactId(row[1]), row[2], row[3]) for row in rows]


def fact_texts(connection: Connection, facts: Collection[FactId]) -> dict[FactId, str]:
    """The words of each fact."""
    rows = execute(
        connection,
        "SELECT fact.id, text FROM json_each(?) JOIN fact ON fact.id = value",
        (json.dumps(list(facts)),),
    )
    return {FactId(row[0]): row[1] for row in rows}


def note_uids(connection: Connection, things: Collection[Thing]) -> dict[Thing, str]:
    """The uid of each note among these things."""
    rows = execute(
        connection,
        "SELECT note.id, uid FROM json_each(?) JOIN note ON note.id = value",
        (_ids(things, "note"),),
    )
    return {Thing("note", row[0]): row[1] for row in rows}
