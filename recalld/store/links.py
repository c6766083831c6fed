"""Links between notes, kept true when notes come, go or move. Called inside a note's transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import groupby
from operator import itemgetter

from recalld.records import NoteId, NoteLink, RootId
from recalld.store.connection import Connection, execute
from recalld.store.linking import name_key, resolve


def replace_links(connection: Connection, note_id: NoteId, links: Iterable[NoteLink]) -> None:
    """Writes the links of a note anew and finds their targets."""
    root_id, path = execute(connection, "SELECT root_id, path FROM note WHERE id = ?", (note_id,))[
        0
    ]
    execute(connection, "DELETE FROM note_link WHERE from_note = ?", (note_id,))
    for link in links:
        key = name_key(link.target) if link.target.strip() else name_key(path)
        execute(
            connection,
            "INSERT INTO note_link (from_note, kind, target, name_key, fragment, label, line)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (note_id, link.kind, link.target, key, link.fragment, link.label, link.line),
        )
    # All at once: a question for each name would read all of the note's links each time.
    _point(connection, root_id, "from_note = :note", {"note": note_id})


def relink(connection: Connection, root_id: RootId, keys: Collection[str]) -> None:
    """Points every link of the root whose target has one of these names at the right note again."""
    for key in keys:
        _point(connection, root_id, "note_link.name_key = :key", {"key": key})


def _point(
    connection: Connection, root_id: RootId, which: str, bindings: dict[str, object]
) -> None:
    links = execute(
        connection,
        "SELECT note_link.name_key, note_link.id, target, path, to_note, ambiguous FROM note_link"
        " JOIN note ON note.id = from_note"
        f" WHERE root_id = :root AND {which} ORDER BY note_link.name_key",
        {"root": root_id, **bindings},
    )
    for key, of_key in groupby(links, key=itemgetter(0)):
        notes: dict[str, int] = dict(
            execute(
                connection,
                "SELECT path, id FROM note WHERE name_key = ? AND root_id = ?",
                (key, root_id),
            )
        )
        for _, link_id, target, path, old, was_ambiguous in of_key:
            found = resolve(target, path, notes)
            new = notes.get(found.path) if found.path is not None else None
            if (new, found.ambiguous) != (old, bool(was_ambiguous)):
                execute(
                    connection,
                    "UPDATE note_link SET to_note = ?, ambiguous = ? WHERE id = ?",
                    (new, found.ambiguous, link_id),
                )


def note_links(connection: Connection, note_id: NoteId) -> list[dict[str, object]]:
    """The links that go out of a note and those that come in, as `get` shows them."""
    rows = execute(
        connection,
        "SELECT 'out', kind, target, fragment, line, other.path, ambiguous FROM note_link"
        " LEFT JOIN note AS other ON other.id = to_note WHERE from_note = :id"
        " UNION ALL SELECT 'in', kind, target, fragment, line, other.path, ambiguous FROM note_link"
        " JOIN note AS other ON other.id = from_note WHERE to_note = :id AND from_note <> :id",
        {"id": note_id},
    )
    names = ("direction", "kind", "target", "fragment", "line", "path", "ambiguous")
    return [dict(zip(names, row, strict=True)) | {"ambiguous": bool(row[-1])} for row in rows]


def ambiguous_links(connection: Connection) -> list[dict[str, object]]:
    """Links for which the rule had to choose among several notes."""
    rows = execute(
        connection,
        "SELECT note.path, line, target, other.path FROM note_link JOIN note ON note.id = from_note"
        " JOIN note AS other ON other.id = to_note WHERE ambiguous = 1 ORDER BY note.path, line",
    )
    return [dict(zip(("path", "line", "target", "chosen"), row, strict=True)) for row in rows]
