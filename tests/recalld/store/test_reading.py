"""What ingest and status ask of the store."""

import numpy as np

from recalld.records import RootId
from recalld.store.changes import NewVector
from recalld.store.embedding import to_embed
from recalld.store.reading import (
    blocks_of_note,
    count_undecided,
    counts,
    meta,
    newest_titles,
    note_at,
    notes_by_root,
    notes_of_root,
    root_identity,
    root_named,
    undecided_facts,
)
from recalld.store.vectors import quantise
from tests.recalld.store.building import block, digest, fact


def test_a_note_is_found_by_path(shelf):
    note = shelf.put("sub/a.md")
    with shelf.reader() as connection:
        at = note_at(connection, shelf.root, "sub/a.md")
        assert at is not None
        assert at.note_id == note
        assert list(notes_of_root(connection, shelf.root)) == ["sub/a.md"]
        assert note_at(connection, shelf.root, "a.md") is None
        assert note_at(connection, RootId(99), "sub/a.md") is None


def test_blocks_come_in_order_with_their_passages(shelf):
    note = shelf.put("a.md", block("a", "Two.", ordinal=1), block("a", "One.", ordinal=0))
    with shelf.reader() as connection:
        found = blocks_of_note(connection, note)
    assert [(one.ordinal, one.text_hash) for one in found] == [
        (0, digest("One.")),
        (1, digest("Two.")),
    ]
    assert all(len(one.passage_uids) == 1 for one in found)
    assert found[0].heading_path == ("Part",)


def test_a_root_is_found_with_its_identity(shelf):
    with shelf.reader() as connection:
        assert root_named(connection, "notes") == shelf.root
        assert root_named(connection, "other") is None
        assert root_identity(connection, shelf.root) == (1, 2)
        assert root_identity(connection, RootId(99)) == (None, None)
        assert notes_by_root(connection) == {"notes": 0}


def test_facts_wait_for_their_category_only_once_there_is_a_vector(shelf):
    shelf.put("a.md", block("a", "Alpha is up.", fact("Alpha is up.", category=None)))
    shelf.put("b.md", block("b", "Beta is up.", fact("Beta is up.")))
    with shelf.reader() as connection:
        assert undecided_facts(connection, 9) == []
        assert count_undecided(connection) == 0
        waiting = to_embed(connection, 9)
    signs, embedding = quantise(np.ones(8, np.float32))
    shelf.writers.vectors.put(
        NewVector(
            statement_id=one.statement_id,
            embed_hash=one.embed_hash,
            signs=signs,
            embedding=embedding,
        )
        for one in waiting
    )
    with shelf.reader() as connection:
        assert [row[2] for row in undecided_facts(connection, 9)] == [embedding]
        assert count_undecided(connection) == 1


def test_counts_are_those_of_the_tables(shelf):
    said = fact("Alpha is up.", entities=["Alpha"], relations=[("Alpha", "is", "up")])
    shelf.put("a.md", block("a", "Alpha is up.", said), links=["b"])
    with shelf.reader() as connection:
        found = counts(connection)
    assert (found["notes"], found["blocks"], found["passages"], found["facts"]) == (1, 1, 1, 1)
    assert found["by_category"] == {"knowledge": 1}
    assert (found["entities"], found["links"]) == (2, 2)


def test_what_the_database_says_of_itself_is_kept(shelf):
    shelf.writers.put_meta("key", "one")
    shelf.writers.put_meta("key", "two")
    with shelf.reader() as connection:
        assert meta(connection, "key") == "two"
        assert meta(connection, "none") is None


def test_the_newest_titles_come_first_each_once_and_file_names_are_none(shelf):
    shelf.put("a.md", said_title="Pump", changed_at_ms=1)
    shelf.put("b.md", said_title="Pump", changed_at_ms=2)
    shelf.put("c.md", said_title="Soup", changed_at_ms=3)
    shelf.put("d.md")
    with shelf.reader() as connection:
        assert newest_titles(connection, 5) == ["Soup", "Pump"]
        assert newest_titles(connection, 1) == ["Soup"]
