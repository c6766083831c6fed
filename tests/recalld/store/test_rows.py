"""Rows come with their places."""

from recalld.records import PassageId, RecallFilter
from recalld.store.rows import facts_of_passages
from recalld.store.searching import (
    keyword_search,
)
from tests.recalld.store.building import block, fact


def test_facts_come_with_their_passage_and_all_their_sources(filled):
    again = block("e", "Alpha is up.", fact("Alpha is up."))
    filled.put("e.md", again)
    with filled.reader() as connection:
        passages = keyword_search(connection, "alpha", 10, None)
        found = facts_of_passages(connection, passages, RecallFilter())
        assert {one.text for facts in found.values() for one in facts} == {"Alpha is up."}
        assert [one.sources for facts in found.values() for one in facts] == [2, 2]
        assert facts_of_passages(connection, [PassageId(999)], RecallFilter()) == {}
