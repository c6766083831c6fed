"""Spaces of vectors: which one recall reads, which one is being made beside it, and the change from one to the other.

Vectors of two spaces are never compared. A change loses nothing: the vectors of a space that is left go into the
cache, and a space that is taken up again finds them there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NewType, Protocol

from recalld.store.connection import Connection, execute, transaction

SpaceId = NewType("SpaceId", int)

IN_USE = "(SELECT id FROM space WHERE state = 'in_use')"
_LEFT = "SELECT id FROM space WHERE state = 'left'"


class Model(Protocol):
    """What a space is told by: an embedding model's account of itself."""

    @property
    def identity(self) -> str:
        """Differs whenever vectors would."""
        ...

    @property
    def name(self) -> str:
        """For people."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers of a vector."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """A stored space."""

    space_id: SpaceId
    identity: str
    # Of the model, for people.
    name: str
    dimension: int
    # Whether each statement had its turn once since the space was taken into use.
    whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Spaces:
    """The two that matter at any time."""

    in_use: Space | None
    coming: Space | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a space is: of so many statements, so many wait, and so many were given up."""

    statements: int
    waiting: int
    failed: int


def spaces(connection: Connection) -> Spaces:
    """The space in use and the coming one, where there are such."""
    rows = execute(
        connection,
        "SELECT state, id, identity, name, dimension, whole FROM space WHERE state <> 'left'",
    )
    by_state = {row[0]: _space(row[1:]) for row in rows}
    return Spaces(in_use=by_state.get("in_use"), coming=by_state.get("coming"))


def space_in_use(connection: Connection, identity: str | None) -> SpaceId | None:
    """The id of the space in use, if it is the one with this identity; any will do for None."""
    rows = execute(
        connection,
        "SELECT id FROM space WHERE state = 'in_use' AND identity = coalesce(?, identity)",
        (identity,),
    )
    return SpaceId(rows[0][0]) if rows else None


def progress_of_coming(connection: Connection) -> Progress:
    """How far the coming space is."""
    waiting, failed = count_coming(connection)
    return Progress(statements=count_statements(connection), waiting=waiting, failed=failed)


def count_coming(connection: Connection) -> tuple[int, int]:
    """How many statements wait for a vector in the coming space, and how many were given up."""
    rows: dict[int, int] = dict(
        execute(connection, "SELECT failed, count(*) FROM coming_statement GROUP BY failed")
    )
    return rows.get(0, 0), rows.get(1, 0)


def count_statements(connection: Connection) -> int:
    """How many statements there are."""
    return int(execute(connection, "SELECT count(*) FROM statement")[0][0])


def has_left_vectors(connection: Connection) -> bool:
    """Whether vectors of a space that was left are still beside those in use."""
    return bool(execute(connection, f"SELECT 1 FROM vector WHERE space IN ({_LEFT}) LIMIT 1"))


def live_spaces(connection: Connection) -> list[tuple[SpaceId, bool]]:
    """The ids of the spaces for which vectors are made, and whether each is the coming one."""
    rows = execute(connection, "SELECT id, state = 'coming' FROM space WHERE state <> 'left'")
    return [(SpaceId(row[0]), bool(row[1])) for row in rows]


def _space(row: Sequence[object]) -> Space:
    space_id, identity, name, dimension, whole = row
    return Space(
        space_id=SpaceId(int(str(space_id))),
        identity=str(identity),
        name=str(name),
        dimension=int(str(dimension)),
        whole=bool(whole),
    )


class SpaceWriter:
    """The writing side for spaces; runs on the writer's thread."""

    def __init__(self, connection: Connection) -> None:
        """`connection` is the database's only writing one."""
        self._connection = connection

    def use(self, model: Model, *, anew: bool = False) -> SpaceId:
        """Takes a model's space into use at once: what it lacks is to be made. The one in use, if another, is left.

        A coming one is given up.

        Args:
            anew: Take nothing that is known of this identity: its vectors are no longer what the model makes.
        """
        with transaction(self._connection):
            now = spaces(self._connection)
            self._leave_coming()
            if now.in_use is not None and now.in_use.identity == model.identity and not anew:
                self._describe(now.in_use.space_id, model)
                return now.in_use.space_id
            execute(self._connection, "UPDATE space SET state = 'left' WHERE state = 'in_use'")
            space_id = self._take_up(model, "in_use", whole=now.in_use is None, anew=anew)
            execute(
                self._connection,
                "UPDATE statement SET attempts = 0, embed_state = CASE WHEN id IN"
                " (SELECT statement_id FROM vector WHERE space = ?) THEN 'done' ELSE 'pending' END",
                (space_id,),
            )
            return space_id

    def begin(self, model: Model, *, anew: bool = False) -> SpaceId:
        """Has a model's space made beside the one in use, or goes on with it. Another coming one is given up.

        `anew` as for `use`.
        """
        with transaction(self._connection):
            coming = spaces(self._connection).coming
            if coming is not None and coming.identity == model.identity and not anew:
                self._describe(coming.space_id, model)
                return coming.space_id
            self._leave_coming()
            space_id = self._take_up(model, "coming", whole=True, anew=anew)
            execute(
                self._connection,
                "INSERT INTO coming_statement (statement_id) SELECT id FROM statement"
                " WHERE id NOT IN (SELECT statement_id FROM vector WHERE space = ?)",
                (space_id,),
            )
            return space_id

    def keep(self) -> None:
        """Goes on with the space in use: a coming one is given up."""
        with transaction(self._connection):
            self._leave_coming()

    def finish(self, space: SpaceId) -> bool:
        """Takes a space into use, if it is the coming one and whole. Returns whether it was."""
        with transaction(self._connection):
            coming = spaces(self._connection).coming
            waiting = "SELECT 1 FROM coming_statement WHERE failed = 0 LIMIT 1"
            if coming is None or coming.space_id != space or execute(self._connection, waiting):
                return False
            execute(self._connection, "UPDATE space SET state = 'left' WHERE state = 'in_use'")
            execute(
                self._connection,
                "UPDATE space SET state = 'in_use' WHERE id = ?",
                (coming.space_id,),
            )
            execute(
                self._connection,
                "UPDATE statement SET embed_state = 'done', attempts = 0 WHERE embed_state <> 'done'",
            )
            execute(
                self._connection,
                "UPDATE statement SET embed_state = 'failed', attempts ="
                " (SELECT attempts FROM coming_statement WHERE statement_id = statement.id)"
                " WHERE id IN (SELECT statement_id FROM coming_statement)",
            )
            execute(self._connection, "DELETE FROM coming_statement")
            return True

    def call_whole(self, space: SpaceId) -> None:
        """Each statement had its turn in a space."""
        with transaction(self._connection):
            execute(self._connection, "UPDATE space SET whole = 1 WHERE id = ?", (space,))

    def clear_left(self, limit: int, now_ms: int) -> int:
        """Moves at most so many vectors of spaces that were left into the cache. Returns how many."""
        with transaction(self._connection):
            numbers = [
                row[0]
                for row in execute(
                    self._connection,
                    f"SELECT number FROM vector WHERE space IN ({_LEFT}) LIMIT ?",
                    (limit,),
                )
            ]
            chosen = {"numbers": json.dumps(numbers), "now": now_ms}
            among = "number IN (SELECT value FROM json_each(:numbers))"
            execute(
                self._connection,
                "INSERT OR REPLACE INTO embedding_cache (space, embed_hash, signs, embedding, used_at)"
                " SELECT space, embed_hash, signs, embedding, :now FROM vector"
                f" JOIN statement ON statement.id = statement_id WHERE {among}",
                chosen,
            )
            execute(
                self._connection,
                f"DELETE FROM vector WHERE {among}",
                {"numbers": chosen["numbers"]},
            )
        return len(numbers)

    def _leave_coming(self) -> None:
        execute(self._connection, "UPDATE space SET state = 'left' WHERE state = 'coming'")
        execute(self._connection, "DELETE FROM coming_statement")

    def _take_up(self, model: Model, state: str, *, whole: bool, anew: bool) -> SpaceId:
        """The model's space that was left last, or a new one, in this state."""
        known = execute(
            self._connection,
            "SELECT id FROM space WHERE identity = ? AND state = 'left' ORDER BY id DESC LIMIT 1",
            (model.identity,),
        )
        if known and not anew:
            space_id = SpaceId(known[0][0])
            execute(
                self._connection,
                "UPDATE space SET state = ?, whole = ? WHERE id = ?",
                (state, int(whole), space_id),
            )
            self._describe(space_id, model)
            return space_id
        execute(
            self._connection,
            "INSERT INTO space (identity, name, dimension, state, whole) VALUES (?, ?, ?, ?, ?)",
            (model.identity, model.name, model.dimension, state, int(whole)),
        )
        return SpaceId(self._connection.last_insert_rowid())

    def _describe(self, space_id: SpaceId, model: Model) -> None:
        execute(
            self._connection,
            "UPDATE space SET name = ?, dimension = ? WHERE id = ?",
            (model.name, model.dimension, space_id),
        )
