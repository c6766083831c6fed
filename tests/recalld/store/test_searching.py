"""Filters act inside the search, and rows come with their places."""

from datetime import date
from pathlib import Path

import pytest

from recalld.records import Category, PassageId, RecallFilter
from recalld.store.searching import (
    WordCounts,
    allowed_passages,
    any_passage,
    facts_by_prefix,
    facts_of_passages,
    keyword_scores,
    keyword_search,
    more_different_texts,
    passage_rows,
    word_counts,
)
from tests.recalld.store.building import block, change, fact


@pytest.fixture
def filled(shelf):
    """Four notes in two roots, each with the word `up`."""
    error = fact("Alpha is up.", category=Category.ERROR)
    shelf.put("a.md", block("a", "Alpha is up.", error), tags=["ops/db"], dated=date(2026, 1, 1))
    happened = fact("Beta is up.", happened=(date(2026, 2, 10), date(2026, 2, 12)))
    shelf.put("sub/b.md", block("b", "Beta is up.", happened), tags=["opsy"])
    shelf.put("sub/c.md", block("c", "Gamma is up."))
    other = shelf.writers.notes.put_root("other", Path("/other"), 1, 3)
    shelf.writers.notes.apply(
        change(
            other, "d.md", block("d", "Delta is up.", fact("Delta is up.")), dated=date(2025, 1, 1)
        )
    )
    return shelf


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


def test_given_passages_are_scored_where_they_match(filled):
    with filled.reader() as connection:
        every = keyword_search(connection, "up", 10, None)
        alpha = keyword_scores(connection, "alpha", list(every))
        assert len(alpha) == 1
        assert keyword_scores(connection, "alpha", []) == {}
        assert word_counts(connection, ["up", "alpha", "zeta"]) == WordCounts(
            passages_with={"up": 4, "alpha": 1, "zeta": 0}, passages=4
        )


def test_different_texts_are_counted_also_where_they_are_equally_long(filled):
    filled.put("e.md", block("e", "Omega is up."), block("f", "Alpha is up."))
    with filled.reader() as connection:
        every = list(keyword_search(connection, "up", 10, None))
        # `Alpha` twice; `Alpha`, `Gamma`, `Delta` and `Omega` are equally long, `Beta` is not.
        assert len(every) == 6
        assert more_different_texts(connection, every, 4)
        assert not more_different_texts(connection, every, 5)


def test_facts_come_with_their_passage_and_all_their_sources(filled):
    again = block("e", "Alpha is up.", fact("Alpha is up."))
    filled.put("e.md", again)
    with filled.reader() as connection:
        passages = keyword_search(connection, "alpha", 10, None)
        found = facts_of_passages(connection, passages, RecallFilter())
        assert {one.text for facts in found.values() for one in facts} == {"Alpha is up."}
        assert [one.sources for facts in found.values() for one in facts] == [2, 2]
        assert facts_of_passages(connection, [PassageId(999)], RecallFilter()) == {}


def test_a_prefix_finds_the_facts_that_begin_so(filled):
    with filled.reader() as connection:
        every = facts_by_prefix(connection, "", 10)
        assert len(every) == 3
        for fact_id, uid in every:
            assert facts_by_prefix(connection, uid[:12], 10) == [(fact_id, uid)]
