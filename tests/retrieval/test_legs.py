from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from recalld.records import RecallFilter
from recalld.store.vectors import SqliteVectors
from retrieval.legs import Found, candidates, search, without
from retrieval.query import understand
from tests.fakes import WordEmbedder
from tests.retrieval.asking import Memory


@pytest.fixture
def memory(tmp_path) -> Iterator[Memory]:
    embedder = WordEmbedder(synonyms=[frozenset({"pump", "compressor"})])
    with Memory(tmp_path, embedder=embedder) as made:
        made.take(
            pump="Pump leaks oil since March 2024.\n",
            oven="Compressor hums.\n",
            cat="Cat sleeps.\n",
        )
        yield made


def found(
    memory: Memory, text: str, *, vector: bool = True, limits: RecallFilter | None = None
) -> Found:
    assert memory.embedder is not None
    with ThreadPoolExecutor(1) as executor:
        return search(
            database=memory.vault.database,
            vectors=SqliteVectors(),
            executor=executor,
            query=understand(text),
            query_vector=memory.embedder.embed_query(text) if vector else None,
            limits=limits or RecallFilter(),
        )


def passage(memory: Memory, word: str) -> int:
    return memory.vault.rows("SELECT id FROM passage WHERE text LIKE ?", f"%{word}%")[0][0]


def test_each_leg_knows_the_others_candidates(memory):
    both = found(memory, "pump")
    pump, compressor = passage(memory, "Pump"), passage(memory, "Compressor")
    assert both.keyword_order == (pump,)
    assert set(both.vector_order) >= {pump, compressor}
    assert set(both.similar) == set(both.union)
    assert compressor not in both.keyword
    assert both.similar[compressor].blended > both.similar[passage(memory, "Cat")].blended


def test_without_a_vector_only_words_count(memory):
    only = found(memory, "pump", vector=False)
    assert only.vector_order == ()
    assert only.similar == {}
    assert only.union == [passage(memory, "Pump")]


@pytest.mark.parametrize("query", ["pump", "???"])
def test_filter_holds_in_both_legs(memory, query):
    limited = found(memory, query, limits=RecallFilter(paths=("oven.md",)))
    assert set(limited.union) <= {passage(memory, "Compressor")}
    assert limited.anything
    assert not found(memory, query, limits=RecallFilter(tags=("nobody",))).anything


def test_candidates_carry_only_what_the_query_asks_of_them(memory):
    with memory.vault.database.reader() as connection:
        for text, number, time in (("when does the pump leak", False, True), ("how many litres of pump oil", True, False), ("pump", False, False)):  # fmt: skip
            made = {one.passage_id: one for one in candidates(connection, found(memory, text), understand(text))}  # fmt: skip
            one = made[passage(memory, "Pump")]
            assert (one.has_number, one.has_time_word) == (number, time)
            assert one.length == len("Pump leaks oil since March 2024.")


def test_passage_that_is_gone_meanwhile_is_no_candidate(memory):
    both = found(memory, "pump")
    gone = passage(memory, "Pump")
    memory.set("DELETE FROM passage WHERE id = ?", gone)
    memory.set("DELETE FROM passage_fts WHERE rowid = ?", gone)
    with memory.vault.database.reader() as connection:
        assert gone not in {
            one.passage_id for one in candidates(connection, both, understand("pump"))
        }


@pytest.mark.parametrize("channel", ["keyword", "vector"])
def test_channel_left_out_afterwards_is_as_if_it_had_found_nothing(memory, channel):
    both = found(memory, "pump")
    less = without(both, keyword=channel == "keyword", vector=channel == "vector")
    with memory.vault.database.reader() as connection:
        pool = candidates(connection, less, understand("pump"))
    others = both.vector_order if channel == "keyword" else both.keyword_order
    assert {one.passage_id for one in pool} == set(others)
    assert all(getattr(one, channel) is None for one in pool)
