"""The names that a note goes by: its aliases, its title, its file name. Called inside a note's transaction."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from recalld.store.connection import Connection, execute
from recalld.store.facts import entity_key

# A longer title is a sentence, and nobody asks for it by name.
_LONGEST = 120


def replace_names(
    connection: Connection, note_id: int, *, title: str, path: str, aliases: Iterable[str]
) -> int:
    """Makes a note's names what its head, title and path say. Returns how many rows that changed."""
    wanted: dict[str, tuple[str, str]] = {}
    told = (("title", title), ("file", PurePosixPath(path).stem), *(("alias", a) for a in aliases))
    for origin, shown in told:
        key = entity_key(shown)
        if key and len(key) <= _LONGEST:
            wanted.setdefault(key, (shown, origin))
    stored = {
        row[0]: (row[1], row[2])
        for row in execute(
            connection, "SELECT key, shown, origin FROM alias WHERE note_id = ?", (note_id,)
        )
    }
    gone = [key for key in stored if key not in wanted]
    new = [key for key in wanted if stored.get(key) != wanted[key]]
    for key in gone:
        execute(connection, "DELETE FROM alias WHERE key = ? AND note_id = ?", (key, note_id))
    for key in new:
        execute(
            connection,
            "INSERT OR REPLACE INTO alias (key, note_id, shown, origin) VALUES (?, ?, ?, ?)",
            (key, note_id, *wanted[key]),
        )
    return len(gone) + len(new)


def said_aliases(connection: Connection, note_id: int) -> list[str]:
    """The aliases that a note's head gives, as written."""
    rows = execute(
        connection,
        "SELECT shown FROM alias WHERE note_id = ? AND origin = 'alias' ORDER BY key",
        (note_id,),
    )
    return [row[0] for row in rows]
