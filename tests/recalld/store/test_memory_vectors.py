"""The copy in memory gives what an exact search of the database gives, through every change of the store."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recalld.store import memory_vectors
from recalld.store.changes import NewVector
from recalld.store.memory_vectors import MemoryVectors
from recalld.store.vectors import SqliteVectors, blend, quantise
from tests.recalld.store.building import Shelf, block

DIMENSION = 64


@pytest.fixture
def shelf(tmp_path):
    shelf = Shelf(tmp_path / "memory.db")
    yield shelf
    shelf.database.close()


def unit(random):
    vector = random.standard_normal(DIMENSION).astype(np.float32)
    return vector / np.linalg.norm(vector)


def put_note(shelf, path, sentences):
    return shelf.put(
        path, block(path, " ".join(sentences), statements=[f"{path} {one}" for one in sentences])
    )


def embed_all(shelf, random):
    waiting = shelf.rows("SELECT id, embed_hash FROM statement WHERE embed_state = 'pending'")
    made = []
    for statement_id, embed_hash in waiting:
        signs, embedding = quantise(unit(random))
        made.append(
            NewVector(
                statement_id=statement_id, embed_hash=embed_hash, signs=signs, embedding=embedding
            )
        )
    shelf.writers.vectors.put(made)


def exact(shelf, query, limit):
    rows = shelf.rows(
        "SELECT passage_id, statement_id, embedding FROM vector"
        " JOIN statement ON statement.id = statement_id ORDER BY passage_id"
    )
    return sorted(blend(query, rows), key=lambda one: (-one.blended, one.passage_id))[:limit]


# Vectors that every query comes with; of any length.
STANDING = list(np.random.default_rng(99).standard_normal((2, DIMENSION)).astype(np.float32))


def assert_same(shelf, searched, query, limit=5):
    due = exact(shelf, query, limit)
    with shelf.reader() as connection:
        got = searched.nearest(connection, query, limit, None)
        passages = [one.passage_id for one in due]
        again = searched.similarities(connection, query, passages)
        products = by_statement(searched.products(connection, query, STANDING, passages))
        exactly = by_statement(SqliteVectors().products(connection, query, STANDING, passages))
    assert [one.passage_id for one in got] == [one.passage_id for one in due]
    for one, other in zip(got, due, strict=True):
        assert one.blended == pytest.approx(other.blended, abs=1e-5)
    found = {one.passage_id: one.blended for one in again}
    assert found == pytest.approx({one.passage_id: one.blended for one in due}, abs=1e-5)
    assert products.keys() == exactly.keys()
    for statement_id, values in products.items():
        assert values == pytest.approx(exactly[statement_id], abs=1e-5)


def by_statement(products):
    return dict(zip(products.statements, products.values.tolist(), strict=True))


STEPS = st.lists(
    st.tuples(st.sampled_from(["put", "remove", "embed"]), st.integers(0, 5)), max_size=25
)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(steps=STEPS, seed=st.integers(0, 1000))
def test_any_changes_leave_it_equal_to_an_exact_search(steps, seed, tmp_path_factory):
    shelf = Shelf(tmp_path_factory.mktemp("shelf") / "memory.db")
    random = np.random.default_rng(seed)
    searched = MemoryVectors()
    notes = {}
    try:
        for at, (step, number) in enumerate(steps):
            if step == "put" and number not in notes:
                notes[number] = put_note(
                    shelf, f"{number}-{at}.md", ["one", "two", "three"][: 1 + at % 3]
                )
            elif step == "remove" and number in notes:
                shelf.writers.notes.remove(notes.pop(number), at)
            elif step == "embed":
                embed_all(shelf, random)
            assert_same(shelf, searched, unit(random))
    finally:
        shelf.database.close()


def test_a_newer_vector_of_a_statement_replaces_the_old_one(shelf):
    random = np.random.default_rng(0)
    put_note(shelf, "a.md", ["one"])
    embed_all(shelf, random)
    searched = MemoryVectors()
    assert_same(shelf, searched, unit(random))
    shelf.database.writer.execute("UPDATE statement SET embed_state = 'pending'").fetchall()
    embed_all(shelf, random)
    assert_same(shelf, searched, unit(random))


def test_an_older_snapshot_does_not_bury_what_is_newer(shelf):
    random = np.random.default_rng(0)
    put_note(shelf, "a.md", ["one"])
    embed_all(shelf, random)
    searched = MemoryVectors()
    with shelf.reader() as old:
        old.execute("SELECT count(*) FROM vector").fetchall()
        put_note(shelf, "b.md", ["two"])
        embed_all(shelf, random)
        assert_same(shelf, searched, unit(random))
        assert len(searched.nearest(old, unit(random), 5, None)) == 1
    assert_same(shelf, searched, unit(random))


def test_a_store_over_the_capacity_is_searched_in_the_database(shelf):
    random = np.random.default_rng(0)
    put_note(shelf, "a.md", ["one", "two"])
    put_note(shelf, "b.md", ["three"])
    embed_all(shelf, random)
    assert_same(shelf, MemoryVectors(capacity=2), unit(random))


def test_a_filter_with_many_passages_is_held_in_memory_too(shelf, monkeypatch):
    random = np.random.default_rng(0)
    for number in range(6):
        put_note(shelf, f"{number}.md", ["one", "two"])
    embed_all(shelf, random)
    monkeypatch.setattr(memory_vectors, "EXACT_BELOW", 0)
    query = unit(random)
    wanted = {one.passage_id for one in exact(shelf, query, 6)[::2]}
    allowed = ("SELECT value FROM json_each(:ids)", {"ids": str(sorted(wanted))})
    with shelf.reader() as connection:
        got = MemoryVectors().nearest(connection, query, 6, allowed)
    assert {one.passage_id for one in got} == wanted


def test_a_query_without_direction_finds_nothing(shelf):
    put_note(shelf, "a.md", ["one"])
    embed_all(shelf, np.random.default_rng(0))
    searched = MemoryVectors()
    with shelf.reader() as connection:
        for query in (np.zeros(DIMENSION, np.float32), np.full(DIMENSION, np.nan, np.float32)):
            assert searched.nearest(connection, query, 5, None) == []
            assert searched.similarities(connection, query, [1]) == []
            assert searched.products(connection, query, STANDING, [1]).statements == []
