"""What is told of one fact, passage or note beside its row: by which uid it goes, and what hangs on it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from recalld.records import (
    FactId,
    Lines,
    NoteId,
)
from recalld.store.connection import Connection, execute


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRow:
    """A note as `get` shows it."""

    uid: str
    root: str
    path: str
    title: str
    dated: date | None
    problems: list[dict[str, Any]]


def note_row(connection: Connection, note_id: NoteId) -> NoteRow:
    """The note with this id, which exists."""
    row = execute(
        connection,
        "SELECT uid, root.name, note.path, title, dated, problems FROM note"
        " JOIN root ON root.id = root_id WHERE note.id = ?",
        (note_id,),
    )[0]
    return NoteRow(
        uid=row[0],
        root=row[1],
        path=row[2],
        title=row[3],
        dated=date.fromisoformat(row[4]) if row[4] else None,
        problems=json.loads(row[5]),
    )


def facts_by_prefix(connection: Connection, prefix: str, limit: int) -> list[tuple[FactId, str]]:
    """Facts whose uid begins so, as (id, uid)."""
    rows = execute(
        connection,
        "SELECT id, uid FROM fact WHERE uid >= :low AND uid < :low || 'g' ORDER BY uid LIMIT :limit",
        {"low": prefix, "limit": limit},
    )
    return [(FactId(row[0]), row[1]) for row in rows]


def uids_by_prefix(
    connection: Connection, table: str, prefix: str, limit: int
) -> list[tuple[int, str]]:
    """Rows of `note` or `passage` whose uid begins so, as (id, uid)."""
    if table not in ("note", "passage"):
        raise ValueError(table)
    rows = execute(
        connection,
        f"SELECT id, uid FROM {table} WHERE uid >= :low AND uid < :low || 'g'"
        " ORDER BY uid LIMIT :limit",
        {"low": prefix, "limit": limit},
    )
    return [(row[0], row[1]) for row in rows]


def fact_uids(connection: Connection, facts: Collection[FactId]) -> dict[FactId, str]:
    """The uid of each fact."""
    rows = execute(
        connection,
        "SELECT id, uid FROM fact WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(facts)),),
    )
    return {FactId(row[0]): row[1] for row in rows}


def superseded_by_these(
    connection: Connection, facts: Collection[FactId]
) -> dict[FactId, list[str]]:
    """The uids of the facts that each of `facts` supersedes."""
    rows = execute(
        connection,
        "SELECT superseded_by, uid FROM fact"
        " WHERE superseded_by IN (SELECT value FROM json_each(?))",
        (json.dumps(list(facts)),),
    )
    found: dict[FactId, list[str]] = {}
    for row in rows:
        found.setdefault(FactId(row[0]), []).append(row[1])
    return found


def tags_of_notes(
    connection: Connection, notes: Collection[NoteId]
) -> Mapping[NoteId, tuple[str, ...]]:
    """The tags of each note as written."""
    rows = execute(
        connection,
        "SELECT note_id, shown FROM note_tag WHERE note_id IN (SELECT value FROM json_each(?))"
        " ORDER BY note_id, tag",
        (json.dumps(list(notes)),),
    )
    found: dict[NoteId, tuple[str, ...]] = {}
    for note_id, tag in rows:
        found[note_id] = (*found.get(note_id, ()), tag)
    return found


def entities_of_fact(connection: Connection, fact_id: FactId) -> list[tuple[str, str]]:
    """Name and kind of what a fact names."""
    rows = execute(
        connection,
        "SELECT name, kind FROM mention JOIN entity ON entity.id = entity_id"
        " WHERE fact_id = ? ORDER BY name",
        (fact_id,),
    )
    return [(row[0], row[1]) for row in rows]


def relations_of_fact(connection: Connection, fact_id: FactId) -> list[tuple[str, str, str]]:
    """What a fact says of two entities."""
    rows = execute(
        connection,
        "SELECT s.name, predicate, o.name FROM relation JOIN entity AS s ON s.id = subject"
        " JOIN entity AS o ON o.id = object WHERE fact_id = ? ORDER BY s.name, predicate",
        (fact_id,),
    )
    return [(row[0], row[1], row[2]) for row in rows]


def block_texts(
    connection: Connection, note_id: NoteId, lines: Lines
) -> list[tuple[int, int, str]]:
    """(first line, last line, text) of the note's stored blocks that touch these lines."""
    rows = execute(
        connection,
        "SELECT line_from, line_to, text FROM block"
        " WHERE note_id = ? AND line_from <= ? AND line_to >= ? ORDER BY ordinal",
        (note_id, lines.last, lines.first),
    )
    return [(row[0], row[1], row[2]) for row in rows]
