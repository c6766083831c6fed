"""What ingest and status ask the store. Plain records out; nothing is written here."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

from recalld.records import (
    BlockId,
    BlockKind,
    DateInterval,
    FactId,
    Lines,
    NoteId,
    RootId,
    StatementId,
)
from recalld.store.changes import StoredBlock, StoredNote
from recalld.store.conflicts import count_open_conflicts
from recalld.store.connection import Connection, execute
from recalld.store.spaces import IN_USE

_NOTE = (
    "SELECT id, uid, path, title, said_title, content_hash, extractor, size, mtime_ns, ctime_ns,"
    " inode, dated FROM note"
)


def _stored_note(row: tuple[Any, ...]) -> StoredNote:
    return StoredNote(
        note_id=NoteId(row[0]),
        uid=row[1],
        path=row[2],
        title=row[3],
        said_title=row[4],
        content_hash=row[5],
        extractor=row[6],
        size=row[7],
        mtime_ns=row[8],
        ctime_ns=row[9],
        inode=row[10],
        dated=date.fromisoformat(row[11]) if row[11] else None,
    )


def notes_of_root(connection: Connection, root_id: RootId) -> dict[str, StoredNote]:
    """Every note of a root by its path."""
    rows = execute(connection, f"{_NOTE} WHERE root_id = ?", (root_id,))
    return {row[2]: _stored_note(row) for row in rows}


def note_at(connection: Connection, root_id: RootId, path: str) -> StoredNote | None:
    """The note at a path, if it is stored."""
    rows = execute(connection, f"{_NOTE} WHERE root_id = ? AND path = ?", (root_id, path))
    return _stored_note(rows[0]) if rows else None


def root_identity(connection: Connection, root_id: RootId) -> tuple[int | None, int | None]:
    """Device and inode that the root had when it was last seen whole."""
    rows = execute(connection, "SELECT device, inode FROM root WHERE id = ?", (root_id,))
    return (rows[0][0], rows[0][1]) if rows else (None, None)


def root_named(connection: Connection, name: str) -> RootId | None:
    """The id of the root with this name, if it is stored."""
    rows = execute(connection, "SELECT id FROM root WHERE name = ?", (name,))
    return RootId(rows[0][0]) if rows else None


def blocks_of_note(connection: Connection, note_id: NoteId) -> list[StoredBlock]:
    """The stored blocks of a note in order."""
    rows = execute(
        connection,
        "SELECT block.id, ordinal, kind, text_hash, heading_path, lead_in, block.line_from,"
        " block.line_to, (SELECT json_group_array(uid ORDER BY position) FROM passage"
        " WHERE block_id = block.id), CASE WHEN beside IS NULL THEN"
        " (SELECT json_group_array(DISTINCT wording) FROM passage"
        " JOIN fact_source ON passage_id = passage.id WHERE block_id = block.id) ELSE"
        " (SELECT json_group_array(DISTINCT wording) FROM passage"
        " JOIN rules_source ON passage_id = passage.id WHERE block_id = block.id) END,"
        " (SELECT json_group_array(importance ORDER BY position, statement.ordinal) FROM passage"
        " JOIN statement ON passage_id = passage.id WHERE block_id = block.id AND of_fact = 0),"
        " beside IS NOT NULL FROM block WHERE note_id = ? ORDER BY ordinal",
        (note_id,),
    )
    return [
        StoredBlock(
            block_id=BlockId(row[0]),
            ordinal=row[1],
            kind=BlockKind(row[2]),
            text_hash=row[3],
            heading_path=tuple(json.loads(row[4])),
            lead_in=row[5],
            lines=Lines(first=row[6], last=row[7]),
            passage_uids=tuple(json.loads(row[8])),
            wordings=frozenset(json.loads(row[9])),
            importances=tuple(json.loads(row[10])),
            is_read=bool(row[11]),
        )
        for row in rows
    ]


def days_of_note(connection: Connection, note_id: NoteId) -> dict[BlockId, dict[str, DateInterval]]:
    """When what a note's blocks state happened, by the words in which they state it; other facts are left out."""
    rows = execute(
        connection,
        "SELECT block_id, wording ->> 0, happened_from, happened_to FROM passage"
        " JOIN fact_source ON passage_id = passage.id JOIN fact ON fact.id = fact_id"
        " WHERE note_id = :note AND happened_from IS NOT NULL"
        " UNION SELECT block_id, wording ->> 0, happened_from, happened_to FROM passage"
        " JOIN rules_source ON passage_id = passage.id"
        " WHERE note_id = :note AND happened_from IS NOT NULL",
        {"note": note_id},
    )
    days: dict[BlockId, dict[str, DateInterval]] = {}
    for block_id, text, first, last in rows:
        happened = DateInterval(first=date.fromisoformat(first), last=date.fromisoformat(last))
        days.setdefault(BlockId(block_id), {})[text] = happened
    return days


def undecided_facts(connection: Connection, limit: int) -> list[tuple[FactId, StatementId, bytes]]:
    """Facts whose category waits for a vector that is there now: (fact, statement, int8 vector)."""
    rows = execute(
        connection,
        "SELECT fact.id, vector.statement_id, embedding FROM fact"
        # In this order: by its space, every vector would be looked at for each fact.
        " CROSS JOIN fact_source ON fact_id = fact.id"
        f" CROSS JOIN vector ON vector.statement_id = fact_source.statement_id AND space = {IN_USE}"
        " WHERE category_by = 'undecided' GROUP BY fact.id ORDER BY fact.id DESC LIMIT ?",
        (limit,),
    )
    return [(FactId(row[0]), StatementId(row[1]), row[2]) for row in rows]


def counts(connection: Connection) -> dict[str, Any]:
    """The numbers of `status.counts`."""

    def one(sql: str) -> int:
        return int(execute(connection, sql)[0][0])

    by_category = execute(connection, "SELECT category, count(*) FROM fact GROUP BY 1 ORDER BY 1")
    return {
        "notes": one("SELECT count(*) FROM note"),
        "blocks": one("SELECT count(*) FROM block"),
        "passages": one("SELECT count(*) FROM passage"),
        "facts": sum(row[1] for row in by_category),
        "by_category": dict(by_category),
        "entities": one("SELECT count(*) FROM entity"),
        "links": sum(
            one(f"SELECT count(*) FROM {table}") for table in ("note_link", "relation", "fact_link")
        ),
        "conflicts": count_open_conflicts(connection),
    }


def notes_by_root(connection: Connection) -> dict[str, int]:
    """How many notes each root has."""
    return dict(
        execute(
            connection,
            "SELECT root.name, count(note.id) FROM root LEFT JOIN note ON root_id = root.id"
            " GROUP BY root.id",
        )
    )


def newest_titles(connection: Connection, limit: int) -> list[str]:
    """Titles that notes give themselves, those that changed last first."""
    rows = execute(
        connection,
        "SELECT title FROM note WHERE said_title <> '' GROUP BY title"
        " ORDER BY max(changed_at) DESC, max(id) DESC LIMIT ?",
        (limit,),
    )
    return [row[0] for row in rows]


def problems(connection: Connection, root_id: RootId) -> list[dict[str, Any]]:
    """What is odd about a root's notes, each with its path."""
    rows = execute(
        connection,
        "SELECT path, problems FROM note WHERE root_id = ? AND problems <> '[]' ORDER BY path",
        (root_id,),
    )
    return [{"path": path, **problem} for path, text in rows for problem in json.loads(text)]


def count_undecided(connection: Connection) -> int:
    """How many facts wait for their category though their statement has a vector."""
    return int(
        execute(
            connection,
            "SELECT count(DISTINCT fact.id) FROM fact CROSS JOIN fact_source ON fact_id = fact.id"
            f" CROSS JOIN vector ON vector.statement_id = fact_source.statement_id AND space = {IN_USE}"
            " WHERE category_by = 'undecided'",
        )[0][0]
    )


def meta(connection: Connection, key: str) -> str | None:
    """A value that the database says about itself."""
    rows = execute(connection, "SELECT value FROM meta WHERE key = ?", (key,))
    return str(rows[0][0]) if rows else None
