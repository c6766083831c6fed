"""The last steps of ranking, over a real store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from recalld.records import RecallFilter
from retrieval.ranking import RecallOptions
from retrieval.weights import STANDARD
from tests.fakes import WordEmbedder
from tests.retrieval.asking import Memory

OLD = "Haarlem pump has 4 valves."
NEW = "Haarlem pump has 6 valves."


@pytest.fixture
def memory(tmp_path) -> Iterator[Memory]:
    embedder = WordEmbedder(synonyms=[frozenset({"4", "6"})])
    with Memory(tmp_path, embedder=embedder) as made:
        # One after the other: of equals, what was taken in first stands first.
        made.take(aa=f"---\ndate: 2024-01-01\n---\n{OLD}\n")
        made.take(bb=f"---\ndate: 2026-01-01\n---\n{NEW}\n")
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


@pytest.mark.parametrize("rule", ["newer_numbers", "supersession"])
def test_rule_that_is_off_moves_nothing(memory, rule):
    question = "hoeveel valves heeft de Haarlem pump"
    if rule == "supersession":
        memory.set("UPDATE fact SET superseded_by = (SELECT id FROM fact AS other WHERE other.text = ?) WHERE text = ?", OLD, NEW)  # fmt: skip
        question = "Haarlem pump 6 valves"
    else:
        # No fact is known to supersede another, and none decays: numbers alone speak.
        memory.set("UPDATE fact SET superseded_by = NULL, category = 'error'")
    searched = memory.recall.search(question, limits=RecallFilter())
    orders = []
    for weights in (STANDARD, replace(STANDARD, **{rule: False})):
        options = RecallOptions(weights=weights)
        recalled, _ = memory.recall.rank(searched, limit=8, max_chars=4000, options=options)
        orders.append([hit.text for hit in recalled.hits][:2])
    assert sorted(orders[0]) == sorted(orders[1]) == sorted([OLD, NEW])
    assert orders[0] != orders[1]
