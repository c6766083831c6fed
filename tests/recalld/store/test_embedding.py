"""What waits for a vector, in the space in use and in the coming one, and what becomes of it."""

from __future__ import annotations

import numpy as np

from recalld.store.changes import NewVector
from recalld.store.embedding import count_to_embed, knows_any, to_embed, to_embed_for
from recalld.store.spaces import progress_of_coming
from recalld.store.vectors import quantise, unit_vectors
from tests.recalld.store.building import block, digest, model


def waiting(shelf):
    with shelf.reader() as connection:
        return to_embed(connection, 100)


def vector_for(one, value=1.0, embed_hash=None, dimension=8):
    signs, embedding = quantise(np.full(dimension, value, np.float32))
    return NewVector(
        statement_id=one.statement_id,
        embed_hash=embed_hash or one.embed_hash,
        signs=signs,
        embedding=embedding,
    )


def test_what_waits_is_found_by_its_index(shelf):
    plan = "EXPLAIN QUERY PLAN SELECT statement.id FROM statement"
    rows = shelf.rows(f"{plan} WHERE embed_state <> 'done' AND embed_state = 'pending'")
    assert "statement_to_embed" in str(rows)
    asked = []
    shelf.database.writer.exec_trace = lambda _cursor, sql, _bindings: asked.append(sql) or True
    to_embed(shelf.database.writer, 5)
    shelf.database.writer.exec_trace = None
    ((_, _, _, first), *_) = shelf.rows(f"EXPLAIN QUERY PLAN {asked[0]}", 5)
    assert "statement_to_embed" in str(first)


def test_a_late_vector_of_a_statement_that_changed_is_dropped(shelf):
    shelf.put("a.md", block("a", "Alpha is up."))
    (one,) = waiting(shelf)
    assert shelf.writers.vectors.put([vector_for(one, embed_hash=digest("old"))]) == 0
    assert waiting(shelf) == [one]
    assert shelf.writers.vectors.put([vector_for(one)]) == 1
    assert waiting(shelf) == []
    with shelf.reader() as connection:
        assert list(unit_vectors(connection, [one.statement_id])) == [one.statement_id]


def test_a_refused_statement_is_tried_again_and_then_left_to_keywords(shelf):
    shelf.put("a.md", block("a", "Alpha is up."))
    (one,) = waiting(shelf)
    tries = 0
    while waiting(shelf):
        shelf.writers.vectors.refuse([one.statement_id])
        tries += 1
        assert tries < 20
    assert tries > 1
    with shelf.reader() as connection:
        assert count_to_embed(connection) == (0, 1)
    shelf.writers.vectors.retry_refused()
    assert waiting(shelf) == [one]


def test_those_refused_wait_behind_the_others(shelf):
    shelf.put("a.md", block("a", "Alpha."), block("a", "Beta.", ordinal=1))
    first, second = waiting(shelf)
    shelf.writers.vectors.refuse([first.statement_id])
    assert [one.statement_id for one in waiting(shelf)] == [
        second.statement_id,
        first.statement_id,
    ]


# ---------------------------------------------------------------- a coming space


def wanted(shelf, space):
    with shelf.reader() as connection:
        return to_embed_for(connection, space, 100)


def coming(shelf):
    with shelf.reader() as connection:
        return progress_of_coming(connection)


def test_a_coming_space_wants_every_statement_and_leaves_those_in_use_alone(shelf):
    shelf.put("a.md", block("a", "Alpha."), block("a", "Beta.", ordinal=1))
    shelf.writers.vectors.put([vector_for(one) for one in waiting(shelf)])
    space = shelf.writers.spaces.begin(model("model@2", 12))
    assert len(wanted(shelf, space)) == 2
    assert waiting(shelf) == wanted(shelf, shelf.space) == []
    one, other = wanted(shelf, space)
    assert shelf.writers.vectors.put([vector_for(one, dimension=12)], space) == 1
    assert wanted(shelf, space) == [other]
    assert (coming(shelf).statements, coming(shelf).waiting) == (2, 1)
    with shelf.reader() as connection:
        assert len(unit_vectors(connection, [one.statement_id])[one.statement_id]) == 8
    assert shelf.rows("SELECT space, count(*) FROM vector GROUP BY 1") == [
        (shelf.space, 2),
        (space, 1),
    ]


def test_a_statement_that_comes_meanwhile_waits_in_both_and_one_that_goes_waits_in_none(shelf):
    note = shelf.put("a.md", block("a", "Alpha."))
    space = shelf.writers.spaces.begin(model("model@2"))
    shelf.put("b.md", block("b", "Beta."))
    assert [one.text for one in wanted(shelf, space)] == ["Beta.", "Alpha."]
    assert len(waiting(shelf)) == 2
    shelf.writers.notes.remove(note, 1)
    assert [one.text for one in wanted(shelf, space)] == ["Beta."]


def test_a_late_vector_for_the_coming_space_is_dropped(shelf):
    shelf.put("a.md", block("a", "Alpha."))
    space = shelf.writers.spaces.begin(model("model@2"))
    (one,) = wanted(shelf, space)
    assert shelf.writers.vectors.put([vector_for(one, embed_hash=digest("old"))], space) == 0
    shelf.writers.spaces.keep()
    assert shelf.writers.vectors.put([vector_for(one)], space) == 0
    assert wanted(shelf, space) == []
    shelf.writers.vectors.refuse([one.statement_id], space)
    assert len(waiting(shelf)) == 1


def test_what_the_coming_model_refuses_is_given_up_after_some_attempts(shelf):
    shelf.put("a.md", block("a", "Alpha."), block("a", "Beta.", ordinal=1))
    space = shelf.writers.spaces.begin(model("model@2"))
    first, second = wanted(shelf, space)
    shelf.writers.vectors.refuse([first.statement_id], space)
    assert wanted(shelf, space) == [second, first]
    for _ in range(4):
        shelf.writers.vectors.refuse([first.statement_id], space)
    assert wanted(shelf, space) == [second]
    assert (coming(shelf).waiting, coming(shelf).failed) == (1, 1)
    shelf.writers.vectors.retry_refused()
    assert len(wanted(shelf, space)) == 2


def test_the_same_text_is_embedded_once_a_space(shelf):
    shelf.put("a.md", block("a", "Alpha."))
    space = shelf.writers.spaces.begin(model("model@2"))
    (one,) = wanted(shelf, space)
    shelf.writers.vectors.put([vector_for(one)], space)
    shelf.put("b.md", block("b", "Alpha."))
    assert wanted(shelf, space) == []
    assert len(waiting(shelf)) == 2, "in use it still waits"
    first, second = waiting(shelf)
    shelf.writers.vectors.put([vector_for(first)])
    with shelf.reader() as connection:
        assert knows_any(connection, shelf.space, [second])
    assert shelf.writers.vectors.reuse([second], shelf.space) == {second.statement_id}
    assert waiting(shelf) == []


# ---------------------------------------------------------------- the cache


def test_the_cache_is_pruned_by_age_and_by_number(shelf):
    for number in range(6):
        shelf.rows(
            "INSERT INTO embedding_cache VALUES (?, ?, x'00', x'00', ?)",
            shelf.space,
            bytes([number]),
            number,
        )
    assert shelf.writers.vectors.prune_cache(older_than_ms=2, keep=3) == 3
    kept = shelf.rows("SELECT used_at FROM embedding_cache ORDER BY used_at")
    assert kept == [(3,), (4,), (5,)]
