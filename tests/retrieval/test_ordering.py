"""The last steps of ranking, over a real store."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fakes import WordEmbedder
from tests.retrieval.asking import Memory

OLD = "Haarlem pump has 4 valves."
NEW = "Haarlem pump has 6 valves."


@pytest.fixture
def memory(tmp_path) -> Iterator[Memory]:
    embedder = WordEmbedder(synonyms=[frozenset({"4", "6"})])
    with Memory(tmp_path, embedder=embedder) as made:
        made.take(
            aa=f"---\ndate: 2024-01-01\n---\n{OLD}\n", bb=f"---\ndate: 2026-01-01\n---\n{NEW}\n"
        )
        yield made


def test_newer_number_stands_above_the_older_one_it_replaces(memory):
    assert memory.texts("how many valves does the Haarlem pump have")[:2] == [NEW, OLD]


def test_every_candidate_keeps_a_place(memory):
    memory.take(cc="Valves are made of brass.\n", dd="Utrecht pump has 3 valves.\n")
    asked = memory.texts("how many valves does the Haarlem pump have", min_relevance=0)
    assert sorted(asked) == sorted({*asked})
    assert {OLD, NEW, "Utrecht pump has 3 valves."} <= set(asked)


def test_ring_of_successors_loses_nobody(memory):
    memory.set("UPDATE fact SET superseded_by = (SELECT id FROM fact AS other WHERE other.id <> fact.id LIMIT 1)")  # fmt: skip
    assert set(memory.texts("Haarlem pump valves")) >= {OLD, NEW}
