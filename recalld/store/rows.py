"""The rows that hits are made of: passages, their statements, and the facts that these state, each with its place.

It must not know how they were found.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import date
from typing import Any, NamedTuple

from recalld.records import (
    Category,
    DateInterval,
    FactId,
    Lines,
    NoteId,
    PassageId,
    RecallFilter,
    StatementId,
)
from recalld.store.connection import Connection, execute
from recalld.store.dating import NOTE_DAY
from recalld.store.filtering import Allowed, fact_conditions


class PassageRow(NamedTuple):
    """A passage with its place."""

    passage_id: PassageId
    uid: str
    note_id: NoteId
    position: int
    text: str
    # In the note's own lines.
    lines: Lines
    heading_path: tuple[str, ...]
    lead_in: str
    root: str
    path: str
    title: str
    # ISO day the note is from, else of its file.
    dated: date


class StatementRow(NamedTuple):
    """A statement of a passage with its index words."""

    statement_id: StatementId
    passage_id: PassageId
    text: str
    words: frozenset[str]


class FactRow(NamedTuple):
    """A fact as one passage states it."""

    fact_id: FactId
    uid: str
    statement_id: StatementId
    passage_id: PassageId
    text: str
    category: Category
    confidence: float
    importance: float
    scope: str
    happened: DateInterval | None
    stated: date | None
    recall_count: int
    superseded_by: FactId | None
    # In the note's own lines.
    lines: Lines
    # How many places state it.
    sources: int


def passage_rows(
    connection: Connection, passages: Collection[PassageId]
) -> dict[PassageId, PassageRow]:
    """The passages with their places; those that are gone are left out."""
    rows = execute(
        connection,
        "SELECT passage.id, passage.uid, passage.note_id, position, passage.text,"
        " block.line_from + passage.line_from - 1, block.line_from + passage.line_to - 1,"
        " heading_path, lead_in, root.name, note.path, title,"
        f" {NOTE_DAY}"
        " FROM json_each(?) JOIN passage ON passage.id = value JOIN block ON block.id = block_id"
        " JOIN note ON note.id = passage.note_id JOIN root ON root.id = root_id",
        (json.dumps(list(passages)),),
    )
    return {
        PassageId(row[0]): PassageRow(
            passage_id=PassageId(row[0]),
            uid=row[1],
            note_id=NoteId(row[2]),
            position=row[3],
            text=row[4],
            lines=Lines(first=row[5], last=row[6]),
            heading_path=tuple(json.loads(row[7])),
            lead_in=row[8],
            root=row[9],
            path=row[10],
            title=row[11],
            dated=date.fromisoformat(row[12]),
        )
        for row in rows
    }


def statement_rows(
    connection: Connection, passages: Collection[PassageId]
) -> dict[PassageId, list[StatementRow]]:
    """The statements of each passage, in order."""
    rows = execute(
        connection,
        "SELECT statement.id, passage_id, text, words FROM json_each(?)"
        " JOIN statement ON passage_id = value ORDER BY passage_id, ordinal",
        (json.dumps(list(passages)),),
    )
    found: dict[PassageId, list[StatementRow]] = {}
    for row in rows:
        found.setdefault(PassageId(row[1]), []).append(
            StatementRow(
                statement_id=StatementId(row[0]),
                passage_id=PassageId(row[1]),
                text=row[2],
                words=frozenset(row[3].split()),
            )
        )
    return found


_FACT = (
    "SELECT fact.id, fact.uid, fact_source.statement_id, fact_source.passage_id, fact.text,"
    " category, confidence, importance, scope, happened_from, happened_to, stated_on,"
    " recall_count, superseded_by, block.line_from + fact_source.line_from - 1,"
    " block.line_from + fact_source.line_to - 1,"
    " (SELECT count(*) FROM fact_source AS every WHERE every.fact_id = fact.id)"
    " FROM fact_source JOIN fact ON fact.id = fact_source.fact_id"
    " JOIN passage ON passage.id = fact_source.passage_id JOIN block ON block.id = block_id"
)


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def _fact(row: tuple[Any, ...]) -> FactRow:
    return FactRow(
        fact_id=FactId(row[0]),
        uid=row[1],
        statement_id=StatementId(row[2]),
        passage_id=PassageId(row[3]),
        text=row[4],
        category=Category(row[5]),
        confidence=row[6],
        importance=row[7],
        scope=row[8],
        happened=DateInterval.from_iso(row[9], row[10]),
        stated=_day(row[11]),
        recall_count=row[12],
        superseded_by=FactId(row[13]) if row[13] is not None else None,
        lines=Lines(first=row[14], last=row[15]),
        sources=row[16],
    )


def facts_of_passages(
    connection: Connection, passages: Collection[PassageId], limits: RecallFilter
) -> dict[PassageId, list[FactRow]]:
    """The facts that each passage states and that fit the filter."""
    conditions, bindings = fact_conditions(limits)
    rows = execute(
        connection,
        f"{_FACT} WHERE fact_source.passage_id IN (SELECT value FROM json_each(:ids))"
        f" AND {conditions} ORDER BY fact_source.line_from, fact.id",
        {"ids": json.dumps(list(passages)), **bindings},
    )
    found: dict[PassageId, list[FactRow]] = {}
    for row in map(_fact, rows):
        found.setdefault(row.passage_id, []).append(row)
    return found


def passages_stating(
    connection: Connection, facts: Collection[FactId], allowed: Allowed | None
) -> list[PassageId]:
    """The passages that state any of these facts and that a filter lets through, by their id."""
    within = f" AND {allowed.holds('passage_id')}" if allowed else ""
    rows = execute(
        connection,
        "SELECT DISTINCT passage_id FROM json_each(:facts) CROSS JOIN fact_source"
        f" ON fact_id = value WHERE 1{within} ORDER BY passage_id",
        {"facts": json.dumps(sorted(facts)), **(allowed.bindings if allowed else {})},
    )
    return [PassageId(row[0]) for row in rows]


def places_of_fact(connection: Connection, fact_id: FactId) -> list[FactRow]:
    """A fact once for each place that states it, by path and line."""
    rows = execute(
        connection,
        f"{_FACT} WHERE fact.id = ? ORDER BY passage.note_id, block.line_from",
        (fact_id,),
    )
    return [_fact(row) for row in rows]
