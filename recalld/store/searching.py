"""What retrieval asks the store: filters, keyword search, and the rows that hits are made of.

A filter becomes a sub-select of passage ids that stands inside each search, never after its cut.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
from recalld.store.globs import path_pattern

Bindings = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """A sub-select of the passage ids that a filter lets through."""

    sql: str
    bindings: Bindings


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


def allowed_passages(connection: Connection, limits: RecallFilter) -> Allowed | None:
    """The passages that a filter lets through; None when it limits nothing."""
    where: list[str] = []
    bindings: Bindings = {}
    if limits.roots:
        where.append(
            "note_id IN (SELECT note.id FROM note JOIN root ON root.id = root_id"
            " WHERE root.name IN (SELECT value FROM json_each(:roots)))"
        )
        bindings["roots"] = json.dumps(limits.roots)
    if limits.tags:
        where.append(
            "note_id IN (SELECT note_id FROM note_tag JOIN json_each(:tags)"
            " ON tag = value OR substr(tag, 1, length(value) + 1) = value || '/')"
        )
        bindings["tags"] = json.dumps(
            [tag.lstrip("#").rstrip("/").casefold() for tag in limits.tags]
        )
    if limits.paths:
        patterns = [path_pattern(glob) for glob in limits.paths]
        notes = execute(connection, "SELECT id, path FROM note")
        fitting = [
            row[0]
            for row in notes
            if any(one.fullmatch(unicodedata.normalize("NFC", row[1])) for one in patterns)
        ]
        where.append("note_id IN (SELECT value FROM json_each(:notes))")
        bindings["notes"] = json.dumps(fitting)
    if limits.limits_facts:
        facts, more = fact_conditions(limits)
        where.append(
            "passage.id IN (SELECT passage_id FROM fact_source"
            f" JOIN fact ON fact.id = fact_id WHERE {facts})"
        )
        bindings |= more
    if not where:
        return None
    return Allowed(
        sql=f"SELECT passage.id FROM passage WHERE {' AND '.join(where)}", bindings=bindings
    )


def fact_conditions(limits: RecallFilter) -> tuple[str, Bindings]:
    """The part of a filter that facts must fit, as SQL on `fact`, with its bindings."""
    where = ["1"]
    bindings: Bindings = {}
    if limits.categories:
        where.append("category IN (SELECT value FROM json_each(:categories))")
        bindings["categories"] = json.dumps([one.value for one in limits.categories])
    if limits.scopes:
        where.append("scope IN (SELECT value FROM json_each(:scopes))")
        bindings["scopes"] = json.dumps(limits.scopes)
    if limits.since:
        where.append("coalesce(happened_to, stated_on) >= :since")
        bindings["since"] = limits.since.isoformat()
    if limits.until:
        where.append("coalesce(happened_from, stated_on) <= :until")
        bindings["until"] = limits.until.isoformat()
    if limits.as_of:
        where.append(
            # Any successor that was known then, not only the newest of today.
            "stated_on <= :as_of AND NOT EXISTS (SELECT 1 FROM fact_link JOIN fact AS newer"
            " ON newer.id = from_fact WHERE to_fact = fact.id AND kind = 'supersedes'"
            " AND newer.stated_on <= :as_of)"
        )
        bindings["as_of"] = limits.as_of.isoformat()
    return " AND ".join(where), bindings


def any_passage(connection: Connection, allowed: Allowed | None) -> bool:
    """Whether there is anything that a search could find."""
    if allowed is None:
        return bool(execute(connection, "SELECT 1 FROM passage LIMIT 1"))
    return bool(execute(connection, f"{allowed.sql} LIMIT 1", allowed.bindings))


def newest_passages(connection: Connection, allowed: Allowed, limit: int) -> list[PassageId]:
    """Of what a filter lets through, what was stored last."""
    rows = execute(
        connection,
        f"{allowed.sql} ORDER BY passage.id DESC LIMIT :limit",
        {**allowed.bindings, "limit": limit},
    )
    return [PassageId(row[0]) for row in rows]


def keyword_search(
    connection: Connection, match: str, limit: int, allowed: Allowed | None
) -> dict[PassageId, float]:
    """The best passages by BM25, higher is better."""
    # `+`: one walk over the matches. Otherwise each id is a full-text query of its own, ten times dearer.
    within = f" AND +rowid IN ({allowed.sql})" if allowed else ""
    rows = execute(
        connection,
        "SELECT rowid, -rank FROM passage_fts WHERE passage_fts MATCH :match"
        f"{within} ORDER BY rank LIMIT :limit",
        {"match": match, "limit": limit, **(allowed.bindings if allowed else {})},
    )
    return {PassageId(row[0]): row[1] for row in rows}


def more_different_texts(
    connection: Connection, passages: Collection[PassageId], than: int
) -> bool:
    """Whether these passages have more different texts than so many."""
    # Texts of different lengths are different, and lengths alone are read faster.
    for what in ("octet_length(text)", "text"):
        rows = execute(
            connection,
            f"SELECT count(DISTINCT {what}) FROM json_each(?) CROSS JOIN passage ON passage.id = value",
            (json.dumps(list(passages)),),
        )
        if rows[0][0] > than:
            return True
    return False


def different_passages(connection: Connection, passages: Collection[PassageId]) -> list[PassageId]:
    """The passages without copies, in their order: of those with the same words and facts the first stays."""
    rows = execute(
        connection,
        "SELECT passage.id, passage.text, (SELECT json_group_array(fact_id) FROM fact_source"
        " WHERE passage_id = passage.id), heading_path FROM json_each(?)"
        " JOIN passage ON passage.id = value JOIN block ON block.id = block_id ORDER BY key",
        (json.dumps(list(passages)),),
    )
    first: dict[tuple[str, str], PassageId] = {}
    for passage_id, text, facts, headings in rows:
        # Facts know whether their words need headings; a passage without any may.
        first.setdefault((text, facts if facts != "[]" else headings), PassageId(passage_id))
    return list(first.values())


def keyword_scores(
    connection: Connection, match: str, passages: Sequence[PassageId]
) -> dict[PassageId, float]:
    """BM25 of given passages; those without a matching word are left out."""
    if not passages:
        return {}
    rows = execute(
        connection,
        "SELECT rowid, -rank FROM passage_fts WHERE passage_fts MATCH :match"
        # `+` as above.
        " AND +rowid IN (SELECT value FROM json_each(:ids))",
        {"match": match, "ids": json.dumps(passages)},
    )
    return {PassageId(row[0]): row[1] for row in rows}


@dataclass(frozen=True, slots=True, kw_only=True)
class WordCounts:
    """In how many passages some tokens stand, and how many passages there are."""

    passages_with: Mapping[str, int] = field(default_factory=dict)
    passages: int = 0


def word_counts(connection: Connection, tokens: Iterable[str]) -> WordCounts:
    """The counts of these tokens; one that no passage has counts 0."""
    wanted = list(tokens)
    rows = execute(
        connection,
        "SELECT value, doc FROM json_each(?) CROSS JOIN passage_vocabulary ON term = value",
        (json.dumps(wanted),),
    )
    found = dict.fromkeys(wanted, 0) | {row[0]: int(row[1]) for row in rows}
    total = execute(connection, "SELECT count(*) FROM passage")[0][0]
    return WordCounts(passages_with=found, passages=int(total))


def passage_places(
    connection: Connection, passages: Collection[PassageId]
) -> list[tuple[PassageId, NoteId, int, int]]:
    """Of each passage that there is: itself, its note, its position there and its length in characters."""
    return execute(
        connection,
        "SELECT passage.id, note_id, position, length(text) FROM json_each(?)"
        " JOIN passage ON passage.id = value",
        (json.dumps(list(passages)),),
    )


def passage_rows(
    connection: Connection, passages: Collection[PassageId]
) -> dict[PassageId, PassageRow]:
    """The passages with their places; those that are gone are left out."""
    rows = execute(
        connection,
        "SELECT passage.id, passage.uid, passage.note_id, position, passage.text,"
        " block.line_from + passage.line_from - 1, block.line_from + passage.line_to - 1,"
        " heading_path, lead_in, root.name, note.path, title,"
        " coalesce(dated, date(mtime_ns / 1000000000, 'unixepoch'))"
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
        dated=_day(row[4]),
        problems=json.loads(row[5]),
    )


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
    first, last = _day(row[9]), _day(row[10])
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
        happened=DateInterval(first=first, last=last) if first and last else None,
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


def places_of_fact(connection: Connection, fact_id: FactId) -> list[FactRow]:
    """A fact once for each place that states it, by path and line."""
    rows = execute(
        connection,
        f"{_FACT} WHERE fact.id = ? ORDER BY passage.note_id, block.line_from",
        (fact_id,),
    )
    return [_fact(row) for row in rows]


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
