"""Spaces of vectors: the change from one model to another, however often and wherever it is interrupted."""

from __future__ import annotations

import apsw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.store.changes import NewVector
from recalld.store.connection import execute
from recalld.store.embedding import to_embed_for
from recalld.store.memory_vectors import MemoryVectors
from recalld.store.spaces import has_left_vectors, progress_of_coming, space_in_use, spaces
from recalld.store.vectors import SqliteVectors, quantise
from tests.recalld.store.building import MODEL, Shelf, block, model

OTHER = model("model@2", 12)
NOW_MS = 1_000


def known(shelf):
    with shelf.reader() as connection:
        return spaces(connection)


def wanted(shelf, space, limit=100):
    with shelf.reader() as connection:
        return to_embed_for(connection, space, limit)


def embed(shelf, space, dimension, limit=100):
    """Gives those that wait a vector of this length, as a model would."""
    made = []
    for one in wanted(shelf, space, limit):
        seed = int.from_bytes(one.embed_hash[:4], "big")
        vector = np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)
        signs, embedding = quantise(vector)
        made.append(
            NewVector(
                statement_id=one.statement_id,
                embed_hash=one.embed_hash,
                signs=signs,
                embedding=embedding,
            )
        )
    return shelf.writers.vectors.put(made, space)


def lengths(shelf):
    """Bytes of the vectors in use, with how often each."""
    return dict(
        shelf.rows(
            "SELECT length(embedding), count(*) FROM vector JOIN space ON space.id = space"
            " WHERE state = 'in_use' GROUP BY 1"
        )
    )


def clear(shelf):
    while shelf.writers.spaces.clear_left(2, NOW_MS):
        pass


def finish(shelf):
    """Takes the coming space into use; whether it was whole."""
    coming = known(shelf).coming
    return coming is not None and shelf.writers.spaces.finish(coming.space_id)


@pytest.fixture
def filled(shelf):
    for name in "abc":
        shelf.put(f"{name}.md", block(name, f"The {name} is here."))
    embed(shelf, shelf.space, 8)
    return shelf


def test_the_first_model_is_taken_into_use_and_known_again(shelf):
    assert known(shelf).in_use.identity == MODEL.identity
    assert shelf.writers.spaces.use(MODEL) == shelf.space
    assert known(shelf).in_use.whole
    assert known(shelf).coming is None


def test_a_change_is_made_beside_and_taken_into_use_when_it_is_whole(filled):
    space = filled.writers.spaces.begin(OTHER)
    embed(filled, space, 12, limit=2)
    assert not finish(filled)
    assert lengths(filled) == {8: 3}
    embed(filled, space, 12)
    assert finish(filled)
    assert lengths(filled) == {12: 3}
    assert known(filled).in_use.identity == OTHER.identity
    assert known(filled).coming is None
    assert not finish(filled)


def test_vectors_that_were_left_go_and_their_space_comes_back(filled):
    space = filled.writers.spaces.begin(OTHER)
    embed(filled, space, 12)
    finish(filled)
    with filled.reader() as connection:
        assert has_left_vectors(connection)
    clear(filled)
    with filled.reader() as connection:
        assert not has_left_vectors(connection)
    assert filled.rows("SELECT length(embedding), count(*) FROM vector GROUP BY 1") == [(12, 3)]
    assert filled.rows("SELECT space, count(*) FROM embedding_cache GROUP BY 1") == [
        (filled.space, 3)
    ]


@pytest.mark.parametrize("cleared", [True, False])
def test_going_back_costs_nothing(filled, cleared):
    space = filled.writers.spaces.begin(OTHER)
    embed(filled, space, 12)
    finish(filled)
    if cleared:
        clear(filled)
    back = filled.writers.spaces.begin(MODEL)
    assert back == filled.space
    filled.writers.vectors.reuse(wanted(filled, back), back)
    assert finish(filled)
    assert lengths(filled) == {8: 3}


def test_a_change_that_is_given_up_half_way_leaves_what_is_in_use(filled):
    space = filled.writers.spaces.begin(OTHER)
    embed(filled, space, 12, limit=2)
    filled.writers.spaces.keep()
    assert known(filled).coming is None
    assert lengths(filled) == {8: 3}
    again = filled.writers.spaces.begin(OTHER)
    assert again == space
    assert len(wanted(filled, again)) == 1, "what was made is not made twice"


def test_a_third_model_takes_the_place_of_the_coming_one(filled):
    second = filled.writers.spaces.begin(OTHER)
    embed(filled, second, 12, limit=2)
    third = filled.writers.spaces.begin(model("model@3", 4))
    assert wanted(filled, second) == []
    embed(filled, third, 4)
    assert finish(filled)
    assert lengths(filled) == {4: 3}
    clear(filled)
    assert filled.rows("SELECT length(embedding), count(*) FROM vector GROUP BY 1") == [(4, 3)]


def test_a_change_that_was_given_up_is_not_finished_in_the_name_of_another(filled):
    space = filled.writers.spaces.begin(OTHER)
    embed(filled, space, 12)
    third = filled.writers.spaces.begin(model("model@3", 4))
    assert not filled.writers.spaces.finish(space)
    embed(filled, third, 4)
    assert not filled.writers.spaces.finish(space)
    assert filled.writers.spaces.finish(third)


def test_going_on_with_the_same_change_begins_nothing_anew(filled):
    space = filled.writers.spaces.begin(OTHER)
    embed(filled, space, 12, limit=2)
    assert filled.writers.spaces.begin(OTHER) == space
    assert len(wanted(filled, space)) == 1


def test_anew_takes_nothing_that_is_known(filled):
    space = filled.writers.spaces.begin(MODEL, anew=True)
    assert space != filled.space
    assert len(wanted(filled, space)) == 3
    embed(filled, space, 8)
    assert finish(filled)
    assert known(filled).in_use.space_id == space
    at_once = filled.writers.spaces.use(MODEL, anew=True)
    assert at_once != space
    assert len(wanted(filled, at_once)) == 3
    assert not known(filled).in_use.whole
    filled.writers.spaces.call_whole(at_once)
    assert known(filled).in_use.whole


def test_taking_another_into_use_at_once_has_everything_made(filled):
    other = filled.writers.spaces.use(OTHER)
    assert lengths(filled) == {}
    assert len(wanted(filled, other)) == 3
    assert not known(filled).in_use.whole
    back = filled.writers.spaces.use(MODEL)
    assert back == filled.space
    assert wanted(filled, back) == [], "they are still there"


def test_what_the_new_model_refused_is_given_up_after_the_change(filled):
    space = filled.writers.spaces.begin(OTHER)
    (bad, *_) = wanted(filled, space)
    for _ in range(5):
        filled.writers.vectors.refuse([bad.statement_id], space)
    embed(filled, space, 12)
    assert finish(filled)
    assert lengths(filled) == {12: 2}
    assert filled.rows("SELECT id FROM statement WHERE embed_state = 'failed'") == [
        (bad.statement_id,)
    ]


def test_progress_counts_what_is_done(filled):
    space = filled.writers.spaces.begin(OTHER)
    embed(filled, space, 12, limit=2)
    with filled.reader() as connection:
        progress = progress_of_coming(connection)
    assert (progress.statements, progress.waiting, progress.failed) == (3, 1, 0)


@pytest.mark.parametrize("search", [SqliteVectors, MemoryVectors])
def test_a_search_reads_the_space_that_it_was_made_for_and_no_other(filled, search):
    old, new = search(MODEL.identity), search(OTHER.identity)
    eight, twelve = np.ones(8, np.float32) / 8**0.5, np.ones(12, np.float32) / 12**0.5

    def found(one, query):
        with filled.reader() as connection:
            near = one.nearest(connection, query, 10, None)
            alike = one.similarities(connection, query, [each.passage_id for each in near])
        assert len(alike) == len(near)
        return len(near)

    space = filled.writers.spaces.begin(OTHER)
    embed(filled, space, 12, limit=2)
    assert (found(old, eight), found(new, twelve)) == (3, 0)
    embed(filled, space, 12)
    assert (found(old, eight), found(new, twelve)) == (3, 0)
    finish(filled)
    assert (found(old, eight), found(new, twelve)) == (0, 3)
    clear(filled)
    filled.put("d.md", block("d", "The d is here."))
    embed(filled, space, 12)
    assert (found(old, eight), found(new, twelve)) == (0, 4)


def test_a_search_for_whatever_is_in_use_follows_the_change(filled):
    search = MemoryVectors()
    with filled.reader() as connection:
        assert len(search.nearest(connection, np.ones(8, np.float32), 10, None)) == 3
    embed(filled, filled.writers.spaces.begin(OTHER), 12)
    finish(filled)
    with filled.reader() as connection:
        assert len(search.nearest(connection, np.ones(12, np.float32), 10, None)) == 3
        assert space_in_use(connection, MODEL.identity) is None


steps = st.lists(
    st.sampled_from(
        ["begin", "other", "back", "use", "embed", "finish", "keep", "clear", "put", "drop"]
    ),
    max_size=25,
)


@pytest.mark.slow
@given(steps)
def test_any_history_ends_with_exactly_one_vector_a_statement(tmp_path_factory, history):
    shelf = Shelf(tmp_path_factory.mktemp("shelf") / "memory.db")
    sizes = {MODEL.identity: 8, OTHER.identity: 12, "model@3": 4}
    notes = []
    try:
        for number, step in enumerate(history):
            write = shelf.writers.spaces
            if step == "begin":
                write.begin(OTHER)
            elif step == "other":
                write.begin(model("model@3", 4))
            elif step == "back" and known(shelf).in_use.identity != MODEL.identity:
                write.begin(MODEL)
            elif step == "use":
                write.use(OTHER)
            elif step == "keep":
                write.keep()
            elif step == "finish":
                finish(shelf)
            elif step == "clear":
                write.clear_left(2, NOW_MS)
            elif step == "put":
                # Some texts come again.
                notes.append(shelf.put(f"{number}.md", block(str(number), f"Text {number % 3}.")))
            elif step == "drop" and notes:
                shelf.writers.notes.remove(notes.pop(), NOW_MS)
            elif step == "embed":
                for space in (known(shelf).in_use, known(shelf).coming):
                    if space is not None:
                        embed(shelf, space.space_id, sizes[space.identity], limit=2)
        for space in (known(shelf).in_use, known(shelf).coming):
            if space is not None:
                embed(shelf, space.space_id, sizes[space.identity])
        finish(shelf)
        clear(shelf)
        in_use = known(shelf).in_use
        assert known(shelf).coming is None
        (count,) = shelf.rows("SELECT count(*) FROM statement")[0]
        assert lengths(shelf) == ({sizes[in_use.identity]: count} if count else {})
        assert shelf.rows("SELECT count(*) FROM vector") == [(count,)]
        assert shelf.rows("SELECT count(*) FROM statement WHERE embed_state <> 'done'") == [(0,)]
        assert shelf.rows("SELECT count(*) FROM coming_statement") == [(0,)]
    finally:
        shelf.database.close()


def test_vectors_of_the_version_before_are_those_in_use(tmp_path):
    """A database of schema 6 with a vector and a cached one keeps both."""
    from recalld.store.connection import migrate, migrations

    scripts = migrations()
    number = next(n for n, sql in scripts if "CREATE TABLE space " in sql)
    connection = apsw.Connection(str(tmp_path / "old.db"))
    migrate(connection, [one for one in scripts if one[0] < number])
    for sql in (
        "INSERT INTO meta VALUES ('embedding_model', 'model@1')",
        "INSERT INTO root (id, name, path) VALUES (1, 'notes', '/notes')",
        "INSERT INTO embedding_cache VALUES (x'02', x'ff', x'0102030405060708', 5)",
    ):
        execute(connection, sql)
    migrate(connection, [one for one in scripts if one[0] <= number])
    found = spaces(connection)
    assert found.in_use is not None
    assert (found.in_use.identity, found.in_use.whole) == ("model@1", True)
    cached = "SELECT space, embed_hash, used_at FROM embedding_cache"
    assert execute(connection, cached) == [(found.in_use.space_id, b"\x02", 5)]
    assert execute(connection, "SELECT 1 FROM meta WHERE key = 'embedding_model'") == []
    connection.close()
