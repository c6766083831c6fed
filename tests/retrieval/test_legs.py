from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import numpy as np
import pytest

from recalld.records import RecallFilter
from recalld.store.vectors import SqliteVectors
from retrieval.legs import DEPTH, Found, pool_of, search, without
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
    memory: Memory,
    text: str,
    *,
    vector: bool = True,
    limits: RecallFilter | None = None,
    today: date | None = None,
) -> Found:
    assert memory.embedder is not None
    with ThreadPoolExecutor(1) as executor:
        return search(
            database=memory.vault.database,
            vectors=SqliteVectors(),
            executor=executor,
            query=understand(text, today),
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


def test_pool_has_the_scores_and_places_of_the_union(memory):
    both = found(memory, "pump")
    with memory.vault.database.reader() as connection:
        pool = pool_of(connection, both)
    assert sorted(pool.passages) == sorted(both.union)
    at = pool.passages.index(passage(memory, "Pump"))
    assert pool.lengths[at] == len("Pump leaks oil since March 2024.")
    assert pool.keyword[at] == both.keyword[passage(memory, "Pump")]
    assert np.isnan(pool.keyword[pool.passages.index(passage(memory, "Compressor"))])
    assert not np.isnan(pool.vector).any()


def test_words_that_are_everywhere_are_scored_as_those_that_are_not(tmp_path):
    with Memory(tmp_path, embedder=WordEmbedder()) as memory:
        many = "\n\n".join(f"Pump {n} hums." for n in range(2 * DEPTH))
        memory.take(many=many, rare="Pump leaks oil.\n", other="Oil is dear.\n")
        few = found(memory, "pump oil", vector=False)
        # A time is not counted beforehand, so what matches is cut.
        cut = found(memory, "pump oil since 1990", vector=False, today=date(2026, 1, 1))
    assert len(few.keyword) == 2 * DEPTH + 2
    assert len(cut.keyword) == len(cut.keyword_order) == len(few.keyword_order) == DEPTH
    assert {one: cut.keyword[one] for one in cut.keyword} == {one: few.keyword[one] for one in cut.keyword}  # fmt: skip


def test_passage_that_is_gone_meanwhile_is_no_candidate(memory):
    both = found(memory, "pump")
    gone = passage(memory, "Pump")
    memory.set("DELETE FROM passage WHERE id = ?", gone)
    memory.set("DELETE FROM passage_fts WHERE rowid = ?", gone)
    with memory.vault.database.reader() as connection:
        assert gone not in pool_of(connection, both).passages


@pytest.mark.parametrize("channel", ["keyword", "vector"])
def test_channel_left_out_afterwards_is_as_if_it_had_found_nothing(memory, channel):
    both = found(memory, "pump")
    less = without(both, keyword=channel == "keyword", vector=channel == "vector")
    with memory.vault.database.reader() as connection:
        pool = pool_of(connection, less)
    others = both.vector_order if channel == "keyword" else both.keyword_order
    assert set(pool.passages) == set(others)
    assert np.isnan(getattr(pool, channel)).all()
