"""A note's change is written whole: blocks, passages, words, statements and vectors in step."""

from datetime import date
from pathlib import Path

import apsw
import numpy as np
import pytest

from recalld.errors import StoreError
from recalld.records import BlockId, Lines, NoteId
from recalld.store.changes import KeptBlock, NewVector, PassageWords
from recalld.store.connection import execute
from recalld.store.embedding import to_embed
from recalld.store.reading import notes_of_root, root_named
from recalld.store.vectors import quantise
from tests.recalld.store.building import MTIME_NS, block, change, digest, fact, stat, targets


def found(shelf, word):
    rows = shelf.rows(
        "SELECT path FROM passage_fts JOIN passage ON passage.id = passage_fts.rowid"
        " JOIN note ON note.id = note_id WHERE passage_fts MATCH ? ORDER BY path",
        word,
    )
    return [row[0] for row in rows]


def embed_all(shelf, value=1.0):
    with shelf.reader() as connection:
        waiting = to_embed(connection, 100)
    signs, embedding = quantise(np.full(16, value, np.float32))
    shelf.writers.vectors.put(
        NewVector(
            statement_id=one.statement_id,
            embed_hash=one.embed_hash,
            signs=signs,
            embedding=embedding,
        )
        for one in waiting
    )
    return [one.text for one in waiting]


def blocks_of(shelf, note):
    return [BlockId(row[0]) for row in shelf.rows("SELECT id FROM block WHERE note_id = ?", note)]


def test_a_removed_note_leaves_nothing(shelf):
    kept = {
        name: shelf.rows(f"SELECT count(*) FROM {name}")
        for name in (
            "note",
            "block",
            "passage",
            "statement",
            "fact",
            "entity",
            "note_link",
            "vector",
        )
    }
    said = fact("Alpha is up.", entities=["Alpha"], relations=[("Alpha", "is", "up")])
    note = shelf.put("a.md", block("a", "Alpha is up.", said), tags=["X"], links=["b"])
    embed_all(shelf)
    assert found(shelf, "alpha") == ["a.md"]
    shelf.writers.notes.remove(note, 1)
    assert found(shelf, "alpha") == []
    for name, count in kept.items():
        assert shelf.rows(f"SELECT count(*) FROM {name}") == count, name
    assert shelf.rows("SELECT count(*) FROM passage_fts_docsize") == [(0,)]


def test_removing_an_unknown_note_is_no_error(shelf):
    shelf.writers.notes.remove(NoteId(99), 1)


def test_a_change_is_written_whole_or_not_at_all(shelf):
    note = shelf.put("a.md", block("a", "Alpha is up.", fact("Alpha is up.")))
    twice = block("a", "Beta is up.", fact("Beta is up."))
    with pytest.raises(StoreError):
        # The second passage has the first one's uid, which the table refuses.
        shelf.writers.notes.apply(
            change(shelf.root, "a.md", twice, twice, note_id=note, removed=blocks_of(shelf, note))
        )
    assert found(shelf, "alpha") == ["a.md"]
    assert found(shelf, "beta") == []
    assert shelf.rows("SELECT text FROM fact") == [("Alpha is up.",)]


def test_a_kept_block_keeps_ids_facts_and_vectors_at_its_new_place(shelf):
    note = shelf.put("a.md", block("a", "Alpha is up.", fact("Alpha is up.")))
    embed_all(shelf)
    ids = "SELECT passage.id, statement.id, fact.id, embed_state FROM passage"
    ids += " JOIN statement ON passage_id = passage.id, fact WHERE passage.text LIKE 'Alpha%'"
    before = shelf.rows(ids)
    kept = KeptBlock(
        block_id=blocks_of(shelf, note)[0],
        ordinal=1,
        lines=Lines(first=5, last=5),
        position=1,
        words=None,
    )
    new = block("a", "Before it.", ordinal=0)
    shelf.writers.notes.apply(change(shelf.root, "a.md", new, note_id=note, kept=[kept]))
    assert shelf.rows(ids) == before
    assert shelf.rows("SELECT line_from, ordinal FROM block ORDER BY ordinal") == [(1, 0), (5, 1)]
    assert shelf.rows("SELECT position FROM passage ORDER BY position") == [(0,), (1,)]


def test_new_words_of_a_kept_block_replace_the_old(shelf):
    note = shelf.put("a.md", block("a", "Alpha is up."))
    kept = KeptBlock(
        block_id=blocks_of(shelf, note)[0],
        ordinal=0,
        lines=Lines(first=1, last=1),
        position=0,
        words=(PassageWords(passage="gamma", statements=("gamma",)),),
    )
    shelf.writers.notes.apply(change(shelf.root, "a.md", note_id=note, kept=[kept]))
    assert found(shelf, "alpha") == []
    assert found(shelf, "gamma") == ["a.md"]
    assert shelf.rows("SELECT words FROM statement") == [("gamma",)]


def test_a_vector_is_reused_from_another_statement_and_from_the_cache(shelf):
    shelf.put("a.md", block("a", "Alpha is up."))
    assert embed_all(shelf) == ["Alpha is up."]
    note = shelf.put("b.md", block("b", "Alpha is up."))
    assert embed_all(shelf) == []
    for path in ("a.md", "b.md"):
        (found_id,) = shelf.rows("SELECT id FROM note WHERE path = ?", path)[0]
        shelf.writers.notes.remove(NoteId(found_id), 1)
    assert shelf.rows("SELECT count(*) FROM vector") == [(0,)]
    shelf.put("c.md", block("c", "Alpha is up."))
    assert embed_all(shelf) == []
    assert shelf.rows("SELECT count(*) FROM vector") == [(1,)]
    assert note


def test_two_notes_swap_their_paths(shelf):
    one = shelf.put("a.md", block("a", "Alpha is up."), links=["b"])
    two = shelf.put("b.md", block("b", "Beta is up."), links=["a"])
    shelf.writers.notes.move({one: "b.md", two: "a.md"})
    assert shelf.rows("SELECT id, path FROM note ORDER BY id") == [(one, "b.md"), (two, "a.md")]
    assert targets(shelf) == {("b.md", "b"): "b.md", ("a.md", "a"): "a.md"}
    assert found(shelf, "alpha") == ["b.md"]


def test_notes_move_in_a_circle_with_links_following_their_names(shelf):
    notes = [shelf.put(f"{n}.md", block(str(n), f"Note {n}.")) for n in range(3)]
    shelf.put("links.md", links=["0", "1", "2"])
    shelf.writers.notes.move({notes[n]: f"{(n + 1) % 3}.md" for n in range(3)})
    assert targets(shelf) == {("links.md", str(n)): f"{n}.md" for n in range(3)}


def test_a_moved_note_counts_as_changed_until_it_is_applied(shelf):
    note = shelf.put("a.md", block("a", "Alpha is up."))
    shelf.writers.notes.move({note: "b.md"})
    with shelf.reader() as connection:
        moved = notes_of_root(connection, shelf.root)["b.md"]
    assert moved.content_hash != digest("a.md")
    assert moved.ctime_ns != MTIME_NS
    # By these it is known again when it moves on before it was applied.
    assert (moved.inode, moved.size, moved.mtime_ns) == (7, 1, MTIME_NS)


def test_a_move_onto_a_note_that_stays_changes_nothing(shelf):
    one = shelf.put("a.md", block("a", "Alpha is up."))
    shelf.put("b.md", block("b", "Beta is up."))
    with pytest.raises(StoreError):
        shelf.writers.notes.move({one: "b.md"})
    assert shelf.rows("SELECT path FROM note ORDER BY id") == [("a.md",), ("b.md",)]


def test_a_new_time_of_an_unchanged_file_dates_its_facts(shelf):
    note = shelf.put("a.md", block("a", "Alpha is up.", fact("Alpha is up.")))
    assert shelf.rows("SELECT stated_on FROM fact") == [("2026-05-28",)]
    shelf.writers.notes.touch(note, stat(MTIME_NS + 86_400_000_000_000))
    assert shelf.rows("SELECT stated_on FROM fact") == [("2026-05-29",)]


def test_a_root_keeps_its_id_when_its_folder_changes(shelf):
    again = shelf.writers.notes.put_root("notes", Path("/elsewhere"), 3, 4)
    assert again == shelf.root
    assert shelf.rows("SELECT path, device, inode FROM root") == [("/elsewhere", 3, 4)]


def test_two_roots_may_swap_their_folders(shelf):
    other = shelf.writers.notes.put_root("other", Path("/other"), 5, 6)
    shelf.writers.notes.put_root("notes", Path("/other"), 5, 6)
    shelf.writers.notes.put_root("other", Path("/notes"), 1, 2)
    assert shelf.rows("SELECT id, path FROM root ORDER BY id") == [
        (shelf.root, "/other"),
        (other, "/notes"),
    ]


def test_a_root_that_is_not_watched_any_more_goes_with_all_its_notes(shelf):
    shelf.put("a.md", block("a", "Alpha is up.", fact("Alpha is up.")))
    assert shelf.writers.notes.drop_roots_except(["other"], 1) == 1
    for name in ("root", "note", "passage", "fact"):
        assert shelf.rows(f"SELECT count(*) FROM {name}") == [(0,)], name
    with shelf.reader() as connection:
        assert root_named(connection, "notes") is None


def test_what_is_stored_of_a_note_is_read_back(shelf):
    note = shelf.put("a.md", dated=date(2026, 1, 2))
    with shelf.reader() as connection:
        stored = notes_of_root(connection, shelf.root)["a.md"]
    assert (stored.note_id, stored.dated, stored.content_hash) == (
        note,
        date(2026, 1, 2),
        digest("a.md"),
    )


def test_a_full_disk_undoes_the_note_at_hand_and_the_next_try_succeeds(shelf):
    pages = shelf.rows("PRAGMA page_count")[0][0]
    shelf.rows(f"PRAGMA max_page_count = {pages + 4}")
    big = [
        block("a", f"Alpha {n} " + "x" * 5000, fact(f"Alpha {n}."), ordinal=n) for n in range(99)
    ]
    with pytest.raises(StoreError) as raised:
        shelf.put("a.md", *big)
    assert raised.value.message == "the disk is full"
    assert isinstance(raised.value.__cause__, apsw.FullError)
    assert shelf.rows("SELECT count(*) FROM note") == [(0,)]
    assert shelf.rows("SELECT count(*) FROM fact") == [(0,)]
    shelf.rows("PRAGMA max_page_count = 1000000")
    shelf.put("a.md", *big)
    assert execute(shelf.database.writer, "SELECT count(*) FROM passage_fts_docsize") == [(99,)]
