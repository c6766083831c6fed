"""Which statements wait for a vector, in the space in use and in the coming one, and what becomes of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from recalld.records import StatementId
from recalld.store.changes import NewVector, ToEmbed
from recalld.store.connection import Connection, execute, transaction
from recalld.store.spaces import SpaceId, live_spaces, space_in_use

_MAX_ATTEMPTS = 5


def to_embed(connection: Connection, limit: int) -> list[ToEmbed]:
    """Statements that wait for a vector in the space in use, those of the most recently changed notes first."""
    # `<> 'done'` is said as the partial index says it, or SQLite would read every statement.
    rows = execute(
        connection,
        "SELECT statement.id, embed_prefix, statement.text, embed_hash FROM statement"
        " JOIN passage ON passage.id = passage_id JOIN note ON note.id = note_id"
        " WHERE embed_state <> 'done' AND embed_state = 'pending'"
        " ORDER BY attempts, changed_at DESC, statement.id LIMIT ?",
        (limit,),
    )
    return _to_embed(rows)


def to_embed_for(connection: Connection, space: SpaceId, limit: int) -> list[ToEmbed]:
    """Statements that wait for a vector in a space; none for one that is neither in use nor coming."""
    is_coming = dict(live_spaces(connection)).get(space)
    if is_coming is None:
        return []
    if not is_coming:
        return to_embed(connection, limit)
    rows = execute(
        connection,
        "SELECT statement_id, embed_prefix, text, embed_hash FROM coming_statement"
        " JOIN statement ON statement.id = statement_id WHERE failed = 0"
        " ORDER BY failed, coming_statement.attempts, statement_id DESC LIMIT ?",
        (limit,),
    )
    return _to_embed(rows)


def knows_any(connection: Connection, space: SpaceId, waiting: Iterable[ToEmbed]) -> bool:
    """Whether the text of any of these has a vector in the space already."""
    return any(_known_vector(connection, space, one.embed_hash) is not None for one in waiting)


def _to_embed(rows: Sequence[tuple[int, str, str, bytes]]) -> list[ToEmbed]:
    return [
        ToEmbed(
            statement_id=StatementId(statement_id),
            text=prefix + text,
            start=len(prefix),
            embed_hash=embed_hash,
        )
        for statement_id, prefix, text, embed_hash in rows
    ]


def count_to_embed(connection: Connection) -> tuple[int, int]:
    """How many statements wait for a vector in the space in use, and how many were given up."""
    rows: dict[str, int] = dict(
        execute(
            connection,
            "SELECT embed_state, count(*) FROM statement WHERE embed_state <> 'done' GROUP BY 1",
        )
    )
    return int(rows.get("pending", 0)), int(rows.get("failed", 0))


def take_known_vectors(connection: Connection, statement_id: int, embed_hash: bytes) -> None:
    """Gives a new statement, in each space, the vector of the same text, or has it wait for one.

    Called inside the transaction that stores the statement.
    """
    for space, is_coming in live_spaces(connection):
        known = _known_vector(connection, space, embed_hash)
        if known is not None:
            _put(connection, space, statement_id, known)
        if known is not None and not is_coming:
            execute(
                connection,
                "UPDATE statement SET embed_state = 'done' WHERE id = ?",
                (statement_id,),
            )
        if known is None and is_coming:
            execute(
                connection,
                "INSERT INTO coming_statement (statement_id) VALUES (?)",
                (statement_id,),
            )


class VectorWriter:
    """The writing side for vectors; runs on the writer's thread."""

    def __init__(self, connection: Connection) -> None:
        """`connection` is the database's only writing one."""
        self._connection = connection

    def put(self, vectors: Iterable[NewVector], space: SpaceId | None = None) -> int:
        """Stores vectors of statements that are still there with the same text. Returns how many.

        `space` None is the one in use; what is for a space that was left meanwhile is dropped.
        """
        with transaction(self._connection):
            space, is_coming = self._live(space)
            if space is None:
                return 0
            return sum(self._put(space, is_coming, vector) for vector in vectors)

    def _live(self, space: SpaceId | None) -> tuple[SpaceId | None, bool]:
        space = space_in_use(self._connection, None) if space is None else space
        is_coming = dict(live_spaces(self._connection)).get(space) if space is not None else None
        return (None, False) if is_coming is None else (space, is_coming)

    def _put(self, space: SpaceId, is_coming: bool, vector: NewVector) -> bool:
        who = (vector.statement_id, vector.embed_hash)
        still = "SELECT id FROM statement WHERE id = ? AND embed_hash = ?"
        if not is_coming:
            still = "UPDATE statement SET embed_state = 'done' WHERE id = ? AND embed_hash = ? RETURNING id"
        if not execute(self._connection, still, who):
            return False
        _put(self._connection, space, vector.statement_id, (vector.signs, vector.embedding))
        if is_coming:
            execute(
                self._connection,
                "DELETE FROM coming_statement WHERE statement_id = ?",
                (vector.statement_id,),
            )
        return True

    def reuse(self, waiting: Sequence[ToEmbed], space: SpaceId) -> frozenset[StatementId]:
        """Gives those whose text has a vector in the space already that one. Returns which these were."""
        with transaction(self._connection):
            live, is_coming = self._live(space)
            if live is None:
                return frozenset()
            taken = set()
            for one in waiting:
                known = _known_vector(self._connection, live, one.embed_hash)
                if known is not None:
                    vector = NewVector(
                        statement_id=one.statement_id,
                        embed_hash=one.embed_hash,
                        signs=known[0],
                        embedding=known[1],
                    )
                    self._put(live, is_coming, vector)
                    taken.add(one.statement_id)
        return frozenset(taken)

    def refuse(self, statements: Sequence[StatementId], space: SpaceId | None = None) -> None:
        """Records that the model gave no usable vector; after some attempts the statement is left to keywords.

        `space` as for `put`.
        """
        with transaction(self._connection):
            live, is_coming = self._live(space)
            if live is None:
                return
            if is_coming:
                sql = (
                    f"UPDATE coming_statement SET failed = attempts + 1 >= {_MAX_ATTEMPTS},"
                    " attempts = attempts + 1 WHERE statement_id"
                )
            else:
                sql = (
                    "UPDATE statement SET attempts = attempts + 1, embed_state = CASE WHEN"
                    f" attempts + 1 >= {_MAX_ATTEMPTS} THEN 'failed' ELSE 'pending' END WHERE id"
                )
            execute(
                self._connection,
                f"{sql} IN (SELECT value FROM json_each(?))",
                (json.dumps(list(statements)),),
            )

    def retry_refused(self) -> None:
        """Gives refused statements another chance; called when the model or its state changed."""
        with transaction(self._connection):
            execute(
                self._connection,
                "UPDATE statement SET embed_state = 'pending', attempts = 0 WHERE embed_state = 'failed'",
            )
            execute(
                self._connection,
                "UPDATE coming_statement SET failed = 0, attempts = 0 WHERE failed = 1",
            )

    def prune_cache(self, older_than_ms: int, keep: int) -> int:
        """Drops cached vectors last used before, and all beyond the newest `keep`. Returns how many."""
        with transaction(self._connection):
            rows = execute(
                self._connection,
                "DELETE FROM embedding_cache WHERE used_at < :old OR (space, embed_hash) NOT IN"
                " (SELECT space, embed_hash FROM embedding_cache ORDER BY used_at DESC LIMIT :keep)"
                " RETURNING 1",
                {"old": older_than_ms, "keep": keep},
            )
        return len(rows)


def _known_vector(
    connection: Connection, space: SpaceId, embed_hash: bytes
) -> tuple[bytes, bytes] | None:
    """Signs and int8 vector of a text in a space, of another statement or from the cache."""
    stored = (
        "SELECT signs, embedding FROM statement JOIN vector ON statement_id = id AND space = :space"
        " WHERE embed_hash = :hash LIMIT 1"
    )
    cached = (
        "SELECT signs, embedding FROM embedding_cache WHERE space = :space AND embed_hash = :hash"
    )
    for source in (stored, cached):
        found = execute(connection, source, {"space": space, "hash": embed_hash})
        if found:
            return bytes(found[0][0]), bytes(found[0][1])
    return None


def _put(
    connection: Connection, space: SpaceId, statement_id: int, vector: tuple[bytes, bytes]
) -> None:
    execute(
        connection,
        "INSERT OR REPLACE INTO vector (space, statement_id, signs, embedding) VALUES (?, ?, ?, ?)",
        (space, statement_id, *vector),
    )
