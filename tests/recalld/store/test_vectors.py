"""Vectors: what may be stored, and a search that agrees with the exact one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from recalld.records import PassageId
from recalld.store.connection import execute, transaction
from recalld.store.vectors import (
    EXACT_BELOW,
    SqliteVectors,
    blend,
    dequantised,
    quantise,
)

DIMENSION = 384
finite = st.floats(width=32, allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf, -np.inf])
def test_a_vector_that_points_nowhere_is_refused(bad):
    vector = np.zeros(8, np.float32)
    vector[3] = bad
    with pytest.raises(ValueError, match="finite and not zero"):
        quantise(vector)


@given(arrays.arrays(np.float32, 16, elements=finite).filter(lambda one: one.any()))
def test_any_other_vector_keeps_its_direction(vector):
    signs, embedding = quantise(vector)
    wide = vector.astype(np.float64)
    wide /= np.abs(wide).max()
    cosine = float(dequantised(embedding) @ (wide / np.linalg.norm(wide)))
    assert cosine > 0.99
    assert signs == np.packbits(vector > 0).tobytes()
    assert len(embedding) == 16


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


def clustered(count, seed=1):
    """Vectors as those of notes lie: statements near their passage, passages near their topic."""
    random = np.random.default_rng(seed)
    topics = random.standard_normal((count // 120 + 1, DIMENSION))
    passages = topics[random.integers(0, len(topics), count // 3 + 1)]
    passages = passages + random.standard_normal(passages.shape)
    statements = np.repeat(passages, 3, axis=0)[:count]
    return unit(statements + random.standard_normal(statements.shape))


def fill(shelf, vectors, per_passage=3):
    """One note whose passages have so many statements each, straight into the tables."""
    shelf.put("a.md")
    (note,) = shelf.rows("SELECT id FROM note")[0]
    connection = shelf.database.writer
    with transaction(connection):
        execute(
            connection,
            "INSERT INTO block (id, note_id, ordinal, kind, text, text_hash, heading_path, lead_in,"
            " line_from, line_to, extractor) VALUES (1, ?, 0, 'paragraph', '', x'00', '[]', '', 1,"
            " 1, '')",
            (note,),
        )
        for number, vector in enumerate(vectors):
            passage = number // per_passage + 1
            if number % per_passage == 0:
                execute(
                    connection,
                    "INSERT INTO passage (id, uid, block_id, note_id, position, text, line_from,"
                    " line_to) VALUES (?, ?, 1, ?, ?, '', 1, 1)",
                    (passage, str(passage), note, passage),
                )
            execute(
                connection,
                "INSERT INTO statement (id, passage_id, ordinal, text, words, line_from, line_to,"
                " embed_prefix, embed_hash, embed_state) VALUES (?, ?, 0, '', '', 1, 1, '', x'00',"
                " 'done')",
                (number + 1, passage),
            )
            execute(
                connection,
                "INSERT INTO vector (space, statement_id, signs, embedding) VALUES (?, ?, ?, ?)",
                (shelf.space, number + 1, *quantise(vector)),
            )


def exactly(shelf, query, limit):
    rows = shelf.rows(
        "SELECT passage_id, statement_id, embedding FROM vector"
        " JOIN statement ON statement.id = statement_id ORDER BY passage_id"
    )
    found = blend(query, rows)
    return sorted(found, key=lambda one: (-one.blended, one.passage_id))[:limit]


@pytest.mark.slow
def test_two_stages_find_what_the_exact_search_finds(shelf):
    vectors = clustered(6000)
    fill(shelf, vectors)
    random = np.random.default_rng(2)
    queries = unit(vectors[::300] + random.standard_normal((20, DIMENSION)) / np.sqrt(DIMENSION))
    shares = []
    with shelf.reader() as connection:
        for query in queries:
            due = {one.passage_id for one in exactly(shelf, query, 100)}
            got = SqliteVectors().nearest(connection, query, 100, None)
            assert [one.blended for one in got] == sorted((o.blended for o in got), reverse=True)
            shares.append(len(due & {one.passage_id for one in got}) / len(due))
    assert np.mean(shares) >= 0.98, shares


@pytest.mark.slow
@pytest.mark.parametrize("count", [10, EXACT_BELOW - 1])
def test_few_vectors_are_searched_exactly(count, shelf):
    vectors = clustered(max(count, 40))[:count]
    fill(shelf, vectors)
    with shelf.reader() as connection:
        for query in vectors[:5]:
            assert SqliteVectors().nearest(connection, query, 100, None) == exactly(
                shelf, query, 100
            )


@pytest.mark.slow
def test_a_filter_acts_inside_the_search(shelf):
    """The farthest passages are found too when only they are allowed, however many stand before."""
    vectors = clustered(6000)
    fill(shelf, vectors)
    query = vectors[0]
    far = [one.passage_id for one in exactly(shelf, query, 2000)][-20:]
    allowed = (f"SELECT id FROM passage WHERE id IN ({','.join(map(str, far))})", {})
    with shelf.reader() as connection:
        got = SqliteVectors().nearest(connection, query, 100, allowed)
    assert sorted(one.passage_id for one in got) == sorted(far)


def test_an_allowed_nothing_finds_nothing(shelf):
    fill(shelf, clustered(40))
    with shelf.reader() as connection:
        allowed = ("SELECT id FROM passage WHERE id < :low", {"low": 0})
        query = clustered(40)[0]
        assert SqliteVectors().nearest(connection, query, 10, allowed) == []
        assert SqliteVectors().similarities(connection, query, []) == []
        assert SqliteVectors().products(connection, query, [], []).statements == []


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_a_query_that_points_nowhere_finds_nothing(bad, shelf):
    fill(shelf, clustered(40))
    query = np.full(DIMENSION, bad, np.float32)
    with shelf.reader() as connection:
        assert SqliteVectors().nearest(connection, query, 10, None) == []
        assert SqliteVectors().similarities(connection, query, [PassageId(1)]) == []
        products = SqliteVectors().products(connection, query, [query], [PassageId(1)])
        assert products.statements == []
        assert products.values.shape == (0, 2)


def test_a_passage_is_half_its_best_statement_and_half_their_mean():
    one, other = np.eye(4, dtype=np.float32)[:2]
    rows = [(1, 1, quantise(one)[1]), (1, 2, quantise(other)[1]), (2, 3, quantise(other)[1])]
    first, second = blend(one, rows)
    assert first.blended == pytest.approx(0.5 + 0.5 * np.sqrt(0.5))
    assert (second.passage_id, second.blended) == (2, pytest.approx(0))
