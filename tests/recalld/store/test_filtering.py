"""Filters act inside the search."""

from datetime import date

import pytest

from recalld.records import Category, RecallFilter
from recalld.store.connection import execute
from recalld.store.filtering import allowed_passages, any_passage
from recalld.store.rows import passage_rows
from recalld.store.searching import (
    keyword_search,
)
from tests.recalld.store.building import block


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
        (RecallFilter(scopes=("global",)), "Alpha Beta Delta Gamma"),
        (RecallFilter(scopes=("global",), kinds=("fact",)), "Alpha Beta Delta"),
        (RecallFilter(scopes=("agent:a",)), ""),
        (RecallFilter(since=date(2026, 3, 1), until=date(2100, 1, 1)), "Gamma"),
        (RecallFilter(since=date(2026, 3, 1), categories=(Category.ERROR,)), ""),
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
        for one in (allowed, allowed and allowed.listed_if_few(connection)):
            if one is not None:
                held = execute(
                    connection,
                    f"SELECT text FROM passage WHERE {one.holds('passage.id')}",
                    one.bindings,
                )
                assert " ".join(sorted(row[0].split()[0] for row in held)) == found


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


def test_a_tag_stands_for_what_lies_below_it_and_for_nothing_that_begins_like_it(shelf):
    for tag in (
        "ops",
        "ops/db",
        "ops/db/pg",
        "opsy",
        "ops-x",
        "ops.x",
        "ops0",
        "日本",
        "日本/東京",
        "日本語",
    ):
        shelf.put(f"{tag}.md", block(tag, f"{tag} is up."), tags=[tag])
    below = {
        "ops": ["ops", "ops/db", "ops/db/pg"],
        "ops/db": ["ops/db", "ops/db/pg"],
        "日本": ["日本", "日本/東京"],
    }
    with shelf.reader() as connection:
        for tag, expected in below.items():
            allowed = allowed_passages(connection, RecallFilter(tags=(tag,)))
            found = keyword_search(connection, "up", 20, allowed)
            rows = passage_rows(connection, found).values()
            assert sorted(row.text.split()[0] for row in rows) == expected


def test_few_passages_are_listed_and_many_are_not(shelf):
    lines = [block("a", f"Line {number} is up.", ordinal=number) for number in range(600)]
    shelf.put("a.md", *lines, tags=["all"])
    shelf.put("b.md", block("b", "One is up."), tags=["one"])
    with shelf.reader() as connection:
        every, one = (
            allowed_passages(connection, RecallFilter(tags=(tag,))) for tag in ("all", "one")
        )
        assert every.listed_if_few(connection) is every
        assert one.listed_if_few(connection).bindings == {"few": "[601]"}
