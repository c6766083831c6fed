"""Facts, the places that state them, and what they name. Called inside a note's transaction."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from recalld.records import NEUTRAL_IMPORTANCE, BlockId, ExtractedFact
from recalld.store.changes import NewFact
from recalld.store.connection import Connection, execute
from recalld.store.dating import NOTE_DAY
from recalld.store.fact_links import (
    grown_rare_or_common,
    named_by,
    settle_related,
    settle_said,
)
from recalld.store.spelling import spell_facts
from recalld.store.succession import (
    compare_sharing_again,
    crowded,
    keys_of_facts,
    settle_successors,
    superseded_by_any,
)

_UNNAMED = (
    "NOT EXISTS (SELECT 1 FROM mention WHERE entity_id = entity.id)"
    " AND NOT EXISTS (SELECT 1 FROM relation WHERE subject = entity.id)"
    " AND NOT EXISTS (SELECT 1 FROM relation WHERE object = entity.id)"
)


def entity_key(name: str) -> str:
    """The identity of an entity's name: composed, caseless, single-spaced."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """How one place words a fact, with what it names."""

    text: str
    category: str | None
    confidence: float
    # (name, kind), and (subject, predicate, object).
    entities: tuple[tuple[str, str], ...]
    relations: tuple[tuple[str, str, str], ...]
    # 0..1, by where it stands and what it opens with.
    importance: float = NEUTRAL_IMPORTANCE

    @classmethod
    def of(cls, fact: NewFact | ExtractedFact) -> Wording:
        """What a fact to be stored says."""
        return cls(
            text=fact.text,
            category=fact.category.value if fact.category else None,
            confidence=fact.confidence,
            entities=tuple((one.name, one.kind) for one in fact.entities),
            relations=tuple((one.subject, one.predicate, one.object) for one in fact.relations),
            importance=fact.importance,
        )

    @classmethod
    def loads(cls, stored: str) -> Wording:
        """The wording that `dumps` gave."""
        text, category, confidence, entities, relations, importance = json.loads(stored)
        return cls(
            text=text,
            category=category,
            confidence=confidence,
            entities=tuple((name, kind) for name, kind in entities),
            relations=tuple((one, verb, other) for one, verb, other in relations),
            importance=importance,
        )

    def dumps(self) -> str:
        """The stored form."""
        said = [
            self.text,
            self.category,
            self.confidence,
            self.entities,
            self.relations,
            self.importance,
        ]
        return json.dumps(said, ensure_ascii=False)


def together(wordings: Collection[Wording]) -> Wording:
    """What several places, one at least, say as one: the surest wording, and all that any of them names.

    It matters as much as where it matters most. The result does not depend on their order.
    """
    ordered = sorted(wordings, key=lambda one: (-one.confidence, one.text, one.category or "~"))
    return Wording(
        text=ordered[0].text,
        category=next((one.category for one in ordered if one.category), None),
        confidence=ordered[0].confidence,
        entities=tuple(sorted({entity for one in ordered for entity in one.entities})),
        relations=tuple(sorted({relation for one in ordered for relation in one.relations})),
        importance=max(one.importance for one in ordered),
    )


def add_fact(
    connection: Connection,
    fact: NewFact,
    *,
    statement_id: int,
    passage_id: int,
    extractor: str,
    now_ms: int,
    by_model: bool = False,
) -> int:
    """Stores a fact, or adds a place to the stored one with the same words. Returns its id.

    What it says of itself, and who found it, follows by `settle_facts`.
    """
    execute(
        connection,
        "INSERT INTO fact (uid, text, category, category_by, confidence, happened_from,"
        " happened_to, extractor, created_at) VALUES (?, '', 'knowledge', 'undecided', 0, ?, ?, ?, ?)"
        " ON CONFLICT (uid) DO NOTHING",
        (
            fact.uid,
            fact.happened.first.isoformat() if fact.happened else None,
            fact.happened.last.isoformat() if fact.happened else None,
            extractor,
            now_ms,
        ),
    )
    fact_id = int(execute(connection, "SELECT id FROM fact WHERE uid = ?", (fact.uid,))[0][0])
    execute(
        connection,
        "INSERT OR IGNORE INTO fact_source"
        " (fact_id, statement_id, passage_id, line_from, line_to, wording, by_model)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            fact_id,
            statement_id,
            passage_id,
            fact.lines.first,
            fact.lines.last,
            Wording.of(fact).dumps(),
            int(by_model),
        ),
    )
    return fact_id


def reword_facts(connection: Connection, facts: Collection[int]) -> None:
    """Makes facts, and what they name, what the places that state them now say together."""
    rows = execute(
        connection,
        "SELECT fact_id, wording FROM json_each(?) CROSS JOIN fact_source ON fact_id = value",
        (json.dumps(sorted(facts)),),
    )
    wordings: dict[int, set[str]] = {}
    for fact_id, wording in rows:
        wordings.setdefault(fact_id, set()).add(wording)
    said = {one: together([*map(Wording.loads, each)]) for one, each in wordings.items()}
    for fact_id, wording in said.items():
        _reword(connection, fact_id, wording)
    rename_facts(connection, said)


def _reword(connection: Connection, fact_id: int, said: Wording) -> None:
    execute(
        connection,
        # What a model or the user decided stands; what no rule decides any more is open again.
        # Words, names and headings may be others: it has to be compared with what is known again.
        "UPDATE fact SET compared = 0,"
        " text = :text, confidence = :confidence, importance = :importance, category = CASE"
        " WHEN category_by IN ('llm', 'user') THEN category"
        " WHEN :category IS NOT NULL THEN :category"
        " WHEN category_by = 'rule' THEN 'knowledge' ELSE category END, category_by = CASE"
        " WHEN category_by IN ('llm', 'user') THEN category_by"
        " WHEN :category IS NOT NULL THEN 'rule'"
        " WHEN category_by = 'rule' THEN 'undecided' ELSE category_by END WHERE id = :id",
        {
            "id": fact_id,
            "text": said.text,
            "confidence": said.confidence,
            "importance": said.importance,
            "category": said.category,
        },
    )


def rename_facts(connection: Connection, said: Mapping[int, Wording]) -> None:
    """Makes what facts name, and how these stand to each other, what their wordings say."""
    ids = (json.dumps(sorted(said)),)
    for table in ("mention", "relation"):
        execute(
            connection,
            f"DELETE FROM {table} WHERE fact_id IN (SELECT value FROM json_each(?))",
            ids,
        )
    entities: dict[str, int] = {}
    for fact_id in sorted(said):
        _put_names(connection, fact_id, said[fact_id], entities)
    spell_facts(
        connection,
        {
            fact_id: {(entities[entity_key(name)], name, kind) for name, kind in spellings_of(one)}
            for fact_id, one in said.items()
        },
    )


def spellings_of(said: Wording) -> set[tuple[str, str]]:
    """The names of a wording as it spells them, with their kinds; what is only an end of a relation is a `name`."""
    named = {entity_key(name) for name, _ in said.entities}
    ends = {end for one, _, other in said.relations for end in (one, other)}
    return {*said.entities, *((end, "name") for end in ends if entity_key(end) not in named)}


def _put_names(
    connection: Connection, fact_id: int, said: Wording, entities: dict[str, int]
) -> None:
    """`entities` has the ids known so far by key, and grows."""
    execute_each(
        connection,
        "INSERT INTO mention (fact_id, entity_id, linked) VALUES (?, ?, ?)"
        " ON CONFLICT (fact_id, entity_id) DO UPDATE SET linked = max(linked, excluded.linked)",
        [
            (fact_id, _entity_id(connection, name, kind, entities), int(kind == "wikilink"))
            for name, kind in said.entities
        ],
    )
    execute_each(
        connection,
        "INSERT OR IGNORE INTO relation (fact_id, subject, predicate, object) VALUES (?, ?, ?, ?)",
        [
            (
                fact_id,
                _entity_id(connection, one, "name", entities),
                verb,
                _entity_id(connection, other, "name", entities),
            )
            for one, verb, other in said.relations
        ],
    )


def execute_each(connection: Connection, sql: str, rows: Sequence[tuple[object, ...]]) -> None:
    """Runs one statement for each row of bindings."""
    for row in rows:
        execute(connection, sql, row)


def _entity_id(connection: Connection, name: str, kind: str, known: dict[str, int]) -> int:
    key = entity_key(name)
    if key not in known:
        found = execute(connection, "SELECT id FROM entity WHERE key = ?", (key,))
        if not found:
            execute(
                connection,
                "INSERT INTO entity (key, name, kind) VALUES (?, ?, ?)",
                (key, name, kind),
            )
        known[key] = int(found[0][0]) if found else connection.last_insert_rowid()
    return known[key]


def touched_facts(connection: Connection, blocks: Sequence[BlockId]) -> set[int]:
    """The facts that these blocks state: they may lose their last source."""
    rows = execute(
        connection,
        "SELECT DISTINCT fact_id FROM fact_source JOIN passage ON passage.id = passage_id"
        " WHERE block_id IN (SELECT value FROM json_each(?))",
        (json.dumps(blocks),),
    )
    return {row[0] for row in rows}


def settle_facts(connection: Connection, facts: Collection[int], *, lost: Collection[int]) -> None:
    """Words facts by the places that state them now, and relates them by what they name then.

    Those of `lost`, which have lost a place, go where it was their last; so do entities that nothing names any more.
    """
    named = named_by(connection, facts)
    entities = _named_by_any(connection, lost)
    if lost:
        _retract_unsourced(connection, lost)
    reword_facts(connection, facts)
    _name_extractors(connection, facts)
    settle_said(connection, facts)
    settle_related(connection, {*facts, *grown_rare_or_common(connection, facts, named)})
    if entities:
        execute(
            connection,
            f"DELETE FROM entity WHERE id IN (SELECT value FROM json_each(?)) AND {_UNNAMED}",
            (json.dumps(entities),),
        )


def _name_extractors(connection: Connection, facts: Collection[int]) -> None:
    """Marks facts with what found them: a model, where any place has them from one, else the rules."""
    execute(
        connection,
        "UPDATE fact SET extractor = found FROM (SELECT fact_id,"
        # Of names that begin with `llm:` and `rules@` the least.
        " min(iif(by_model, block.extractor, note.extractor)) AS found FROM json_each(?)"
        " CROSS JOIN fact_source ON fact_id = value JOIN passage ON passage.id = passage_id"
        " JOIN block ON block.id = block_id JOIN note ON note.id = passage.note_id GROUP BY fact_id)"
        " WHERE fact.id = fact_id AND extractor <> found",
        (json.dumps(sorted(facts)),),
    )


def _named_by_any(connection: Connection, facts: Collection[int]) -> list[int]:
    """The entities that facts name."""
    if not facts:
        return []
    rows = execute(
        connection,
        "SELECT entity_id FROM mention WHERE fact_id IN (SELECT value FROM json_each(:ids))"
        " UNION SELECT subject FROM relation WHERE fact_id IN (SELECT value FROM json_each(:ids))"
        " UNION SELECT object FROM relation WHERE fact_id IN (SELECT value FROM json_each(:ids))",
        {"ids": json.dumps(sorted(facts))},
    )
    return [row[0] for row in rows]


def _retract_unsourced(connection: Connection, facts: Collection[int]) -> None:
    """Takes out those of `facts` that no place states any more."""
    older = superseded_by_any(connection, facts)
    shared = crowded(connection, keys_of_facts(connection, facts))
    rows = execute(
        connection,
        "SELECT value FROM json_each(?)"
        " WHERE NOT EXISTS (SELECT 1 FROM fact_source WHERE fact_id = value)",
        (json.dumps(sorted(facts)),),
    )
    gone = [row[0] for row in rows]
    spell_facts(connection, dict.fromkeys(gone, ()))
    execute(
        connection,
        "DELETE FROM fact WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(gone),),
    )
    # What only a retracted fact had superseded holds again.
    settle_successors(connection, older)
    compare_sharing_again(connection, shared - crowded(connection, shared))


def drop_unnamed_entities(connection: Connection) -> int:
    """Takes out every entity that nothing names. Returns how many."""
    return len(execute(connection, f"DELETE FROM entity WHERE {_UNNAMED} RETURNING id"))


def restate(connection: Connection, facts: Collection[int]) -> None:
    """Dates facts by the oldest and the newest note that states them: its own date, else its file's.

    A fact of another date has to be compared again: what is newer may be older now.
    """
    execute(
        connection,
        "UPDATE fact SET first_stated = first, stated_on = last,"
        " compared = iif(stated_on IS last, compared, 0)"
        " FROM (SELECT fact_id, min(day) AS first, max(day) AS last FROM (SELECT fact_id,"
        f" {NOTE_DAY} AS day FROM json_each(?)"
        " CROSS JOIN fact_source ON fact_id = value JOIN passage ON passage.id = passage_id"
        " JOIN note ON note.id = note_id) GROUP BY fact_id)"
        " WHERE fact.id = fact_id AND (first_stated, stated_on) IS NOT (first, last)",
        (json.dumps(sorted(facts)),),
    )
