"""Links stay true while notes come, go and move."""

import itertools

from recalld.store.links import ambiguous_links, note_links
from tests.growth import assert_grows_with_size
from tests.recalld.store.building import block, change, targets


def test_a_link_waits_for_its_note_and_loses_it_again(shelf):
    shelf.put("a.md", links=["b"])
    assert targets(shelf) == {("a.md", "b"): None}
    note = shelf.put("sub/b.md")
    assert targets(shelf) == {("a.md", "b"): "sub/b.md"}
    shelf.writers.notes.remove(note, 1)
    assert targets(shelf) == {("a.md", "b"): None}


def test_a_nearer_note_takes_a_link_over_and_gives_it_back(shelf):
    shelf.put("x/a.md", links=["b"])
    shelf.put("b.md")
    note = shelf.put("x/b.md")
    assert targets(shelf) == {("x/a.md", "b"): "x/b.md"}
    with shelf.reader() as connection:
        assert ambiguous_links(connection) == [
            {"path": "x/a.md", "line": 1, "target": "b", "chosen": "x/b.md"}
        ]
    shelf.writers.notes.remove(note, 1)
    assert targets(shelf) == {("x/a.md", "b"): "b.md"}
    with shelf.reader() as connection:
        assert ambiguous_links(connection) == []


def test_a_moved_note_links_from_its_new_place(shelf):
    note = shelf.put("a.md", links=["b", "c"])
    shelf.put("b.md")
    shelf.put("x/b.md")
    assert targets(shelf)["a.md", "b"] == "b.md"
    shelf.writers.notes.move({note: "x/a.md"})
    assert targets(shelf) == {("x/a.md", "b"): "x/b.md", ("x/a.md", "c"): None}


def test_links_that_are_written_no_more_are_gone(shelf):
    note = shelf.put("a.md", links=["b", "c"])
    shelf.writers.notes.apply(change(shelf.root, "a.md", note_id=note, links=["c"]))
    assert targets(shelf) == {("a.md", "c"): None}


def test_a_note_shows_what_it_links_to_and_what_links_to_it(shelf):
    one = shelf.put("a.md", block("a", "Alpha."), links=["b"])
    shelf.put("b.md", links=["a", "a"])
    with shelf.reader() as connection:
        found = note_links(connection, one)
    assert [(link["direction"], link["path"]) for link in found] == [
        ("out", "b.md"),
        ("in", "b.md"),
        ("in", "b.md"),
    ]


def test_time_to_link_grows_with_the_number_of_links(shelf):
    numbers = itertools.count()
    assert_grows_with_size(
        lambda links: shelf.put(f"x{next(numbers)}.md", links=links),
        lambda size: [f"n{n}" for n in range(size)],
        small=150,
    )
