"""Counters of facts."""

from recalld.records import Category, FactId
from tests.recalld.store.building import block, fact


def stored(shelf):
    shelf.put("a.md", block("a", "Alpha is up.", fact("Alpha is up.", category=None)))
    return FactId(shelf.rows("SELECT id FROM fact")[0][0])


def test_recalls_and_reads_are_counted_apart(shelf):
    one = stored(shelf)
    shelf.writers.usage.recalled([one, FactId(999)], 10)
    shelf.writers.usage.recalled([one], 20)
    shelf.writers.usage.read([one], 30)
    assert shelf.rows(
        "SELECT recall_count, last_recalled_at, read_count, last_read_at FROM fact"
    ) == [(2, 20, 1, 30)]


def test_counting_nothing_is_no_error(shelf):
    shelf.writers.usage.recalled([], 1)
    shelf.writers.usage.read([], 1)


def test_only_an_undecided_category_is_settled(shelf):
    one = stored(shelf)
    shelf.writers.usage.categorise([(one, Category.TOOL)])
    shelf.writers.usage.categorise([(one, Category.ERROR)])
    assert shelf.rows("SELECT category, category_by FROM fact") == [("tool", "prototype")]


def test_counters_outlive_a_note_that_moves(shelf):
    one = stored(shelf)
    shelf.writers.usage.recalled([one], 10)
    note = shelf.rows("SELECT id FROM note")[0][0]
    shelf.writers.notes.move({note: "b.md"})
    assert shelf.rows("SELECT id, recall_count FROM fact") == [(one, 1)]
