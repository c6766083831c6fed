"""How the memory stands for whoever measures it: its notes, whether vectors are whole, whether it changed."""

from __future__ import annotations

from dataclasses import dataclass

from recalld.store.connection import Connection, execute
from recalld.store.spaces import SpaceId, spaces


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorsInUse:
    """The vectors that recall compares."""

    space: SpaceId
    identity: str
    # How many statements have one.
    statements: int
    # Whether each statement had its turn, and none waits for one.
    whole: bool


def vectors_in_use(connection: Connection) -> VectorsInUse | None:
    """How the space in use stands; None when there is none."""
    space = spaces(connection).in_use
    if space is None:
        return None
    sql = "SELECT count(*) FROM vector WHERE space = ?"
    # As the partial index says it.
    waiting = (
        "SELECT 1 FROM statement WHERE embed_state <> 'done' AND embed_state = 'pending' LIMIT 1"
    )
    return VectorsInUse(
        space=space.space_id,
        identity=space.identity,
        statements=int(execute(connection, sql, (space.space_id,))[0][0]),
        whole=space.whole and not execute(connection, waiting),
    )


def any_vector(connection: Connection) -> bool:
    """Whether a statement has a vector, of whichever space."""
    return bool(execute(connection, "SELECT 1 FROM vector LIMIT 1"))


def note_paths(connection: Connection) -> tuple[str, ...]:
    """The paths of all notes, each relative to its root."""
    return tuple(row[0] for row in execute(connection, "SELECT path FROM note ORDER BY path"))


def statements_without_vector(connection: Connection) -> int:
    """How many statements have no vector, or wait for another one."""
    rows = execute(connection, "SELECT count(*) FROM statement WHERE embed_state <> 'done'")
    return int(rows[0][0])


def content_mark(connection: Connection) -> tuple[int, ...]:
    """Differs when passages, facts or vectors came or went since the last look; being recalled changes nothing."""
    rows = execute(
        connection,
        "SELECT (SELECT count(*) FROM passage), (SELECT max(id) FROM passage),"
        " (SELECT count(*) FROM fact), (SELECT max(id) FROM fact),"
        " (SELECT count(*) FROM vector), (SELECT max(number) FROM vector)",
    )
    return tuple(int(value or 0) for value in rows[0])
