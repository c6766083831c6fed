"""How the memory stands: whether it changed, and what of it waits."""

from __future__ import annotations

from recalld.store.standing import (
    content_mark,
    note_paths,
    statements_without_vector,
    vectors_in_use,
)
from tests.fakes import WordEmbedder
from tests.retrieval.asking import Memory


def test_mark_differs_after_a_note_and_not_after_a_recall(tmp_path):
    with Memory(tmp_path, embedder=WordEmbedder()) as memory:
        memory.take(a="Pump leaks oil.\n")
        marks = []
        for step in (
            lambda: None,
            lambda: memory.set("UPDATE fact SET recall_count = recall_count + 1"),
            lambda: memory.take(b="Oven hums.\n"),
        ):
            step()
            with memory.vault.database.reader() as connection:
                marks.append(content_mark(connection))
        assert marks[0] == marks[1] != marks[2]


def test_statements_wait_until_they_are_embedded(tmp_path):
    with Memory(tmp_path) as memory:
        memory.take(a="Pump leaks oil.\n", b="Oven hums.\n")
        with memory.vault.database.reader() as connection:
            assert statements_without_vector(connection) == 2
            assert note_paths(connection) == ("a.md", "b.md")


def test_vectors_are_whole_when_no_statement_waits(tmp_path):
    with Memory(tmp_path, embedder=WordEmbedder()) as memory:

        def look():
            with memory.vault.database.reader() as connection:
                return vectors_in_use(connection)

        assert look() is None
        memory.take(a="Pump leaks oil.\n", b="Oven hums.\n")
        found = look()
        assert (found.identity, found.statements, found.whole) == ("words@1", 2, True)
        memory.vault.write("c.md", "Lamp is dark.\n")
        memory.vault.look()
        assert (look().statements, look().whole) == (2, False)
        memory.set("UPDATE statement SET embed_state = 'failed' WHERE embed_state = 'pending'")
        assert look().whole
        memory.set("UPDATE space SET whole = 0")
        assert not look().whole
