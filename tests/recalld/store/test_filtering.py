"""Filters act inside the search."""

from datetime import date

import pytest

from recalld.records import Category, RecallFilter
from recalld.store.filtering import allowed_passages, any_passage
from recalld.store.rows import passage_rows
from recalld.store.searching import (
    keyword_search,
)


@pytest.mark.parametrize(
    ("limits", "found"),
    [
        (RecallFilter(), "Alpha Beta Delta Gamma"),
        (RecallFilter(roots=("other",)), "Delta"),
        (RecallFilter(roots=("none",)), ""),
        (RecallFilter(paths=("sub",)), "Beta Gamma"),
        (RecallFilter(paths=("*.md",)), "Alpha Delta"),
        (RecallFilter(paths=("**/c.md", "a.md")), "Alpha Gamma"),
        (RecallFilter(tags=("ops",)), "Alpha"),
        (RecallFilter(tags=("#OPS/DB",)), "Alpha"),
        (RecallFilter(categories=(Category.ERROR,)), "Alpha"),
        (RecallFilter(kinds=("fact",)), "Alpha Beta Delta"),
        (RecallFilter(since=date(2026, 2, 11), until=date(2026, 2, 11)), "Beta"),
        (RecallFilter(since=date(2026, 2, 13), until=date(2026, 2, 28)), ""),
        (RecallFilter(until=date(2025, 12, 31)), "Delta"),
        (RecallFilter(as_of=date(2026, 1, 1)), "Alpha Delta"),
        (RecallFilter(scopes=("global",)), "Alpha Beta Delta"),
        (RecallFilter(roots=("notes",), paths=("sub",), kinds=("fact",)), "Beta"),
    ],
)
def test_a_filter_lets_through(limits, found, filled):
    with filled.reader() as connection:
        allowed = allowed_passages(connection, limits)
        passages = keyword_search(connection, "up", 10, allowed)
        texts = sorted(row.text.split()[0] for row in passage_rows(connection, passages).values())
        assert " ".join(texts) == found
        assert any_passage(connection, allowed) == bool(found)


def test_a_filter_acts_before_the_cut(filled):
    with filled.reader() as connection:
        (best,) = keyword_search(connection, "up", 1, None)
        for root, text in (("other", "Delta"), ("notes", "")):
            allowed = allowed_passages(connection, RecallFilter(roots=(root,)))
            (one,) = keyword_search(connection, "up", 1, allowed)
            assert passage_rows(connection, [one])[one].text.startswith(text)
        assert best


def test_percent_signs_in_tags_are_plain(filled):
    with filled.reader() as connection:
        allowed = allowed_passages(connection, RecallFilter(tags=("%",)))
        assert not any_passage(connection, allowed)
