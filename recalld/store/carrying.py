"""Words of users about facts that go on under another name: their headings, or the note's name, were changed.

A fact that leans on its headings is another one under others. What a user said of it was said of its words, and is
carried to the fact that the same edit puts in its place. Called inside a note's transaction.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

from recalld.store.connection import Connection, execute


def spoken_of(connection: Connection, facts: Collection[int]) -> dict[str, str]:
    """The words of those of these facts that a user has said something of, by their uid."""
    if not facts:
        return {}
    rows = execute(
        connection,
        "SELECT uid, text FROM json_each(?) CROSS JOIN fact ON fact.id = value"
        " WHERE uid IN (SELECT one FROM resolution UNION ALL SELECT other FROM resolution)",
        (json.dumps(sorted(facts)),),
    )
    return dict(rows)


def carry_words(connection: Connection, spoken: Mapping[str, str], facts: Collection[int]) -> None:
    """Carries what a user said of facts that are gone to the one of `facts` with the same words.

    Where there are several, or one was spoken of already, nothing is carried: it may have been meant of another.

    Args:
        spoken: As `spoken_of` gave it before the edit.
        facts: Those that the edit has touched.
    """
    for uid, text in spoken.items():
        rows = execute(
            connection,
            "SELECT uid FROM json_each(?) CROSS JOIN fact ON fact.id = value WHERE text = ?"
            " AND NOT EXISTS (SELECT 1 FROM fact WHERE uid = ?) AND uid NOT IN"
            " (SELECT one FROM resolution UNION ALL SELECT other FROM resolution)",
            (json.dumps(sorted(facts)), text, uid),
        )
        if len(rows) != 1:
            continue
        for side in ("one", "other"):
            execute(
                connection, f"UPDATE resolution SET {side} = ? WHERE {side} = ?", (rows[0][0], uid)
            )
