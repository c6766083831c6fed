from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.fakes import WordEmbedder
from tests.retrieval.asking import Memory


@pytest.fixture
def memory(tmp_path) -> Iterator[Memory]:
    with Memory(tmp_path, embedder=WordEmbedder()) as made:
        made.take(**{f"note{n}": f"Pump number{n} leaks oil.\n" for n in range(5)})
        yield made


def test_story_is_plain_and_its_numbers_add_up(memory):
    found = memory.ask("pump leaks oil", limit=2, explain=True)
    story = found.explanation
    assert json.loads(json.dumps(story)) == story
    for one in story["candidates"]:
        parts = one["parts"]
        priors = sum(value for name, value in parts.items() if name.startswith("prior."))
        assert parts["total"] == pytest.approx(
            parts["fused"] + parts["neighbour"] + priors, abs=1e-3
        )
    assert [one["rank"] for one in story["candidates"]] == [1, 2, 3, 4, 5]
    assert [one["anchor"] for one in story["candidates"] if one["returned"]] == [
        hit.anchor for hit in found.hits
    ]


def test_story_of_nothing_says_how_far_it_was_from_evidence(memory):
    found = memory.ask("zeppelin leaks", explain=True, min_relevance=0.99)
    assert found.hits == ()
    evidence = found.explanation["evidence"]
    assert evidence["threshold"] == 0.99
    assert evidence["strongest"] < 0.99
    assert not any(one["returned"] for one in found.explanation["candidates"])
    assert memory.ask("zeppelin", explain=True).explanation["evidence"]["threshold"] == 0.5


def test_story_names_the_words_that_counted_and_those_that_did_not(memory):
    query = memory.ask("what does the pump leak?", explain=True).explanation["query"]
    assert query["terms"] == ["pump", "leak"]
    assert "the" in query["left_out"]
    assert query["language"] == "en"
