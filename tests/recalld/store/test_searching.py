"""Keyword search, and what it tells of its candidates."""

from recalld.store.filtering import Allowed
from recalld.store.searching import (
    WordCounts,
    every_match,
    keyword_scores,
    keyword_search,
    more_different_texts,
    word_counts,
)
from tests.recalld.store.building import block


def test_given_passages_are_scored_where_they_match(filled):
    with filled.reader() as connection:
        every = keyword_search(connection, "up", 10, None)
        alpha = keyword_scores(connection, "alpha", list(every))
        assert len(alpha) == 1
        assert keyword_scores(connection, "alpha", []) == {}
        assert word_counts(connection, ["up", "alpha", "zeta"]) == WordCounts(
            passages_with={"up": 4, "alpha": 1, "zeta": 0}, passages=4
        )


def test_every_match_has_the_score_that_a_search_gives_it(filled):
    with filled.reader() as connection:
        best = keyword_search(connection, "up OR alpha", 10, None)
        every = every_match(connection, "up OR alpha", None)
        assert every == best
        assert next(iter(every)) == next(iter(best))
        assert len(every) == 4
        only = Allowed(sql="SELECT :one", test="{} = :one", bindings={"one": next(iter(best))})
        assert list(every_match(connection, "up OR alpha", only)) == [next(iter(best))]


def test_different_texts_are_counted_also_where_they_are_equally_long(filled):
    filled.put("e.md", block("e", "Omega is up."), block("f", "Alpha is up."))
    with filled.reader() as connection:
        every = list(keyword_search(connection, "up", 10, None))
        # `Alpha` twice; `Alpha`, `Gamma`, `Delta` and `Omega` are equally long, `Beta` is not.
        assert len(every) == 6
        assert more_different_texts(connection, every, 4)
        assert not more_different_texts(connection, every, 5)
