"""Every name that a note goes by is known, and none that it no longer has."""

from dataclasses import replace

from recalld.store.connection import execute
from tests.recalld.store.building import change


def names(shelf) -> set[tuple[str, str]]:
    with shelf.reader() as connection:
        return set(execute(connection, "SELECT key, origin FROM alias"))


def test_title_file_name_and_aliases_are_names_folded(shelf):
    written = replace(
        change(shelf.root, "people/sietske-bouma.md"),
        title="Sietske  BOUMA",
        aliases=("Sietske", "ＳＢ", "sietske"),
    )
    shelf.writers.notes.apply(written)
    assert names(shelf) == {
        ("sietske bouma", "title"),
        ("sietske-bouma", "file"),
        ("sietske", "alias"),
        ("sb", "alias"),
    }


def test_names_are_replaced_with_the_note_and_go_with_it(shelf):
    first = replace(change(shelf.root, "a.md"), title="Anna", aliases=("An", "Annie"))
    note = shelf.writers.notes.apply(first)
    again = replace(
        change(shelf.root, "a.md", note_id=note), title="Anna", aliases=("Annie", "Anja")
    )
    shelf.writers.notes.apply(again)
    assert {key for key, _ in names(shelf)} == {"anna", "a", "annie", "anja"}
    shelf.writers.notes.remove(note, 1)
    assert names(shelf) == set()


def test_a_sentence_for_a_title_is_no_name(shelf):
    shelf.writers.notes.apply(replace(change(shelf.root, "a.md"), title="word " * 40))
    assert {key for key, _ in names(shelf)} == {"a"}
