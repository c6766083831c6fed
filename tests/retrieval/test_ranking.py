"""One search ranked in several ways, over a real store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from recalld.records import RecallFilter
from retrieval.evidence import KEYWORD_SLOPE, KEYWORD_TAU, Calibration
from retrieval.ranking import RecallOptions
from retrieval.weights import STANDARD
from tests.fakes import WordEmbedder
from tests.retrieval.asking import Memory


@pytest.fixture
def memory(tmp_path) -> Iterator[Memory]:
    embedder = WordEmbedder(synonyms=[frozenset({"pump", "compressor"})])
    with Memory(tmp_path, embedder=embedder) as made:
        made.take(
            pump="Pump leaks oil since March 2024.\n\nPump has 4 valves.\n",
            oven="Compressor hums.\n",
            cat="Cat sleeps.\n",
        )
        yield made


def test_search_ranked_as_it_is_gives_what_recall_gives(memory):
    searched = memory.recall.search("pump oil", limits=RecallFilter())
    again, facts = memory.recall.rank(searched, limit=8, max_chars=4000)
    whole = memory.ask("pump oil")
    assert again.hits == whole.hits != ()
    assert len(facts) == len([hit for hit in again.hits if hit.kind == "fact"])


def test_search_ranked_otherwise_asks_the_model_nothing(memory):
    searched = memory.recall.search("pump", limits=RecallFilter())
    asked = list(memory.embedder.queries)
    only_words = RecallOptions(weights=replace(STANDARD, vector=False))
    texts = [
        [hit.text for hit in memory.recall.rank(searched, limit=8, max_chars=4000, min_relevance=0, options=each)[0].hits]
        for each in (RecallOptions(), only_words)
    ]  # fmt: skip
    assert "Compressor hums." in texts[0]
    assert "Compressor hums." not in texts[1]
    assert memory.embedder.queries == asked


def test_threshold_given_with_the_ranking_decides(memory):
    searched = memory.recall.search("pump", limits=RecallFilter())
    strict = Calibration(tau=1.9, slope=12.0, keyword_tau=KEYWORD_TAU, keyword_slope=KEYWORD_SLOPE)
    # Without a rare word held whole, words alone are no evidence.
    weak = memory.recall.search("compressor or cat", limits=RecallFilter())
    assert memory.recall.rank(searched, limit=8, max_chars=4000)[0].hits
    assert not memory.recall.rank(weak, limit=8, max_chars=4000, calibration=strict)[0].hits


def test_day_of_asking_can_be_given(memory):
    memory.set("UPDATE fact SET stated_on = '2026-05-31', category = 'timeline'")
    decays = []
    for day in (memory.today, memory.today.replace(year=2030)):
        searched = memory.recall.search("pump", limits=RecallFilter(), today=day)
        story = memory.recall.rank(searched, limit=8, max_chars=4000, explain=True)[0].explanation
        assert story is not None
        decays.append(story["candidates"][0]["parts"]["prior.decay"])
    assert decays[1] < decays[0] <= 0


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("decay", "prior.decay"),
        ("importance", "prior.importance"),
        ("frequency", "prior.frequency"),
        ("when", "prior.when"),
        ("number", "prior.number"),
        ("neighbour_share", "neighbour"),
    ],
)
def test_weight_of_nothing_leaves_its_part_out(memory, name, part):
    memory.set("UPDATE fact SET importance = 1, recall_count = 50, stated_on = '2020-01-01', category = 'timeline'")  # fmt: skip
    query = "since when and how many pump valves"
    searched = memory.recall.search(query, limits=RecallFilter())
    off = RecallOptions(weights=replace(STANDARD, **{name: 0.0}))
    parts = []
    for each in (RecallOptions(), off):
        story = memory.recall.rank(searched, limit=8, max_chars=4000, explain=True, options=each)[
            0
        ].explanation
        assert story is not None
        parts.append([one["parts"][part] for one in story["candidates"]])
    assert any(parts[0])
    assert not any(parts[1])
