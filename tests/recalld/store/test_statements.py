"""Statements: a passage's own in order, facts' own wordings after them, vectors used again."""

from __future__ import annotations

import numpy as np

from recalld.records import StatementId
from recalld.store.changes import NewStatement, NewVector
from recalld.store.statements import add_statement, drop_unused_statements
from recalld.store.vectors import quantise
from tests.recalld.store.building import ONE_LINE, Shelf, block, digest, fact

PORT = "The gateway listens on port 9090."
WORDING = "Port 9090 is the gateway's."


def statement(text: str) -> NewStatement:
    return NewStatement(
        text=text,
        words=text.casefold(),
        lines=ONE_LINE,
        embed_prefix="",
        embed_hash=digest(text),
        facts=(),
    )


def passage(shelf: Shelf) -> int:
    shelf.put("a.md", block("a.md", PORT, fact(PORT)))
    return int(str(shelf.rows("SELECT id FROM passage")[0][0]))


def add(shelf: Shelf, passage_id: int, text: str) -> int:
    return add_statement(shelf.writers.connection, passage_id, statement(text))


def test_wording_of_a_fact_comes_after_the_passages_own_statements(shelf):
    passage_id = passage(shelf)
    add(shelf, passage_id, WORDING)
    assert shelf.rows("SELECT ordinal, text, of_fact, embed_state FROM statement ORDER BY 1") == [
        (0, PORT, 0, "pending"),
        (1, WORDING, 1, "pending"),
    ]


def test_wording_that_the_passage_has_already_is_that_statement(shelf):
    passage_id = passage(shelf)
    own = shelf.rows("SELECT id FROM statement")
    assert own == [(add(shelf, passage_id, PORT),)]
    first = add(shelf, passage_id, WORDING)
    assert add(shelf, passage_id, WORDING) == first


def test_known_vector_is_used_again(shelf):
    passage_id = passage(shelf)
    first = StatementId(add(shelf, passage_id, WORDING))
    signs, embedding = quantise(np.linspace(-1, 1, 16, dtype=np.float32))
    shelf.writers.vectors.put(
        [
            NewVector(
                statement_id=first, embed_hash=digest(WORDING), signs=signs, embedding=embedding
            )
        ]
    )
    shelf.put("b.md", block("b.md", "Elsewhere.", fact("Elsewhere.")))
    other = int(str(shelf.rows("SELECT max(id) FROM passage")[0][0]))
    second = add(shelf, other, WORDING)
    assert shelf.rows("SELECT embed_state FROM statement WHERE id = ?", second) == [("done",)]
    assert shelf.rows("SELECT embedding FROM vector WHERE statement_id = ?", second) == [
        (embedding,)
    ]


def test_wordings_that_no_fact_has_go_and_the_passages_own_stay(shelf):
    passage_id = passage(shelf)
    add(shelf, passage_id, WORDING)
    shelf.writers.connection.execute("DELETE FROM fact_source")
    block_id = int(str(shelf.rows("SELECT block_id FROM passage")[0][0]))
    drop_unused_statements(shelf.writers.connection, block_id)
    assert shelf.rows("SELECT text FROM statement") == [(PORT,)]
