"""Statements and the reuse of their vectors. Called inside a note's transaction."""

from __future__ import annotations

from collections.abc import Sequence

from recalld.store.changes import NewStatement
from recalld.store.connection import Connection, execute
from recalld.store.embedding import take_known_vectors


def add_statement(
    connection: Connection,
    passage_id: int,
    statement: NewStatement,
    *,
    ordinal: int | None = None,
) -> int:
    """Stores a statement of a passage, with a known vector where there is one. Returns its id.

    Without an `ordinal` it is a fact's own wording: the passage's statement with the same text serves
    where there is one, else a new one is put after the passage's own.
    """
    if ordinal is None:
        same = execute(
            connection,
            "SELECT id FROM statement WHERE passage_id = ? AND text = ?",
            (passage_id, statement.text),
        )
        if same:
            return int(same[0][0])
    execute(
        connection,
        "INSERT INTO statement (passage_id, ordinal, text, words, line_from, line_to,"
        " embed_prefix, embed_hash, of_fact, importance) VALUES (:passage, coalesce(:ordinal,"
        " (SELECT coalesce(max(ordinal), -1) + 1 FROM statement WHERE passage_id = :passage)),"
        " :text, :words, :first, :last, :prefix, :hash, :of_fact,"
        " :importance)",
        {
            "passage": passage_id,
            "ordinal": ordinal,
            "text": statement.text,
            "words": statement.words,
            "first": statement.lines.first,
            "last": statement.lines.last,
            "prefix": statement.embed_prefix,
            "hash": statement.embed_hash,
            "of_fact": int(ordinal is None),
            "importance": statement.importance,
        },
    )
    statement_id = connection.last_insert_rowid()
    take_known_vectors(connection, statement_id, statement.embed_hash)
    return statement_id


def drop_unused_statements(connection: Connection, block_id: int) -> None:
    """Takes out the wordings of a block's facts that no fact has any more."""
    execute(
        connection,
        "DELETE FROM statement WHERE of_fact = 1"
        " AND passage_id IN (SELECT id FROM passage WHERE block_id = ?)"
        " AND NOT EXISTS (SELECT 1 FROM fact_source WHERE statement_id = statement.id)",
        (block_id,),
    )


def renumber_wordings(connection: Connection, statements: Sequence[int]) -> None:
    """Puts those of one passage's statements that are wordings of facts after its own, in this order.

    So their places do not tell what stood there before.
    """
    for number, statement_id in enumerate(statements):
        execute(
            connection,
            "UPDATE statement SET ordinal = ? + (SELECT count(*) FROM statement AS own"
            " WHERE own.passage_id = statement.passage_id AND own.of_fact = 0)"
            " WHERE id = ? AND of_fact = 1",
            (number, statement_id),
        )
