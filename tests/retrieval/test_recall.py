from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recalld.errors import NotFound, TransientModelError
from recalld.records import Category, RecallFilter
from retrieval.priors import FLOORS, HALF_LIVES, MAX_DECAY_PENALTY
from retrieval.ranking import RecallOptions
from tests.fakes import WordEmbedder
from tests.retrieval.asking import Memory


@pytest.fixture
def memory(tmp_path) -> Iterator[Memory]:
    with Memory(tmp_path, embedder=WordEmbedder()) as made:
        yield made


WORDS = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot")


@pytest.fixture(scope="module")
def fleet(tmp_path_factory) -> Iterator[Memory]:
    """Six facts of one shape, the second nearest of all, so that ranks are close."""
    with Memory(tmp_path_factory.mktemp("fleet"), embedder=WordEmbedder()) as made:
        made.take(**{word: f"Pump {word} leaks oil at the {word} valve.\n" for word in WORDS})
        yield made


def told(memory: Memory, category: Category, stated: date) -> tuple[int, dict[str, float]]:
    """Rank and score parts of the fact about bravo, once it is of this category and day."""
    memory.set("UPDATE fact SET category = 'knowledge', stated_on = '2026-05-01', category_by = 'user'")  # fmt: skip
    memory.set("UPDATE fact SET category = ?, stated_on = ? WHERE text LIKE '%bravo%'", category.value, stated.isoformat())  # fmt: skip
    story = memory.ask("pump oil valve leaks", explain=True).explanation
    assert story is not None
    anchor = next(hit.anchor for hit in memory.hits("pump oil valve leaks") if "bravo" in hit.text)
    one = next(one for one in story["candidates"] if one["anchor"] == anchor)
    return one["rank"], one["parts"]


@given(st.dates(date(1990, 1, 1), date(2026, 6, 1)), st.dates(date(2026, 6, 1), date(2099, 1, 1)))
@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@pytest.mark.slow
def test_rank_of_an_error_does_not_depend_on_its_age(fleet, stated, today):
    fleet.today = date(2026, 6, 1)
    fresh = told(fleet, Category.ERROR, fleet.today)
    assert told(fleet, Category.ERROR, stated) == fresh
    fleet.today = today
    rank, parts = told(fleet, Category.ERROR, stated)
    assert parts == fresh[1]
    assert rank <= fresh[0], "the others grow older, it does not"


@given(
    st.sampled_from([one for one in Category if one is not Category.ERROR]),
    st.lists(st.integers(0, 40_000), min_size=2, max_size=4),
)
@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@pytest.mark.slow
def test_score_of_any_other_category_falls_with_age_to_its_floor(fleet, category, ages):
    fleet.today = date(2026, 6, 1)
    floor = -MAX_DECAY_PENALTY * (1 - FLOORS[category])
    standing = []
    for age in sorted(ages):
        _, parts = told(fleet, category, fleet.today - timedelta(days=age))
        standing.append(parts["total"])
        assert parts["prior.decay"] >= floor - 1e-4
        if age > 12 * HALF_LIVES[category].days:
            assert parts["prior.decay"] == pytest.approx(floor, abs=1e-3)
    assert standing == sorted(standing, reverse=True)


def test_newer_of_two_equal_facts_stands_first_unless_both_are_errors(tmp_path):
    embedder = WordEmbedder(synonyms=[frozenset({"alpha", "bravo"})])
    with Memory(tmp_path, embedder=embedder) as memory:
        memory.take(alpha="Pump alpha leaks oil.\n", bravo="Pump bravo leaks oil.\n")
        memory.set("UPDATE fact SET category_by = 'user', category = 'timeline'")
        for newer, older in (("alpha", "bravo"), ("bravo", "alpha")):
            memory.set("UPDATE fact SET stated_on = '2026-05-30' WHERE text LIKE ?", f"%{newer}%")
            memory.set("UPDATE fact SET stated_on = '2020-01-01' WHERE text LIKE ?", f"%{older}%")
            assert newer in memory.texts("pump leaks oil")[0]
        memory.set("UPDATE fact SET category = 'error'")
        orders = []
        for newer, older in (("alpha", "bravo"), ("bravo", "alpha")):
            memory.set("UPDATE fact SET stated_on = '2026-05-30' WHERE text LIKE ?", f"%{newer}%")
            memory.set("UPDATE fact SET stated_on = '2020-01-01' WHERE text LIKE ?", f"%{older}%")
            orders.append(memory.texts("pump leaks oil"))
        assert orders[0] == orders[1]


def test_answer_comes_by_meaning_where_no_word_matches(tmp_path):
    embedder = WordEmbedder(synonyms=[frozenset({"kat", "poes"}), frozenset({"slaap", "dut"})])
    with Memory(tmp_path, embedder=embedder) as memory:
        memory.take(a="Poes dut.\n", b="De schijf is vol.\n")
        assert memory.texts("kat slaap")[0] == "Poes dut."


def test_empty_memory_filter_and_lack_of_evidence_are_told_apart(memory):
    assert memory.ask("pump").reason == "empty_memory"
    memory.take(a="Pump one leaks oil.\n")
    assert memory.ask("zeppelin over Bodensee").reason == "no_evidence"
    assert memory.ask("pump", RecallFilter(tags=("nobody",))).reason == "nothing_matches_filter"
    assert memory.ask("pump leaks oil").reason is None


@pytest.mark.parametrize("query", ["", " \t", "?", "\u202e\u202e", "\u200b", "\x00", "(((", "。"])
def test_a_question_without_a_word_has_no_answer_and_lacks_nothing(memory, query):
    memory.take(a="The pump leaks oil.\n")
    found = memory.ask(query)
    assert (found.hits, found.reason, found.degraded) == ((), "no_evidence", ())
    assert memory.embedder.queries == []


def test_words_that_no_note_has_are_named(memory):
    memory.take(a="Pump one leaks oil.\n")
    assert memory.ask("does the pump leak petroleum").unknown_words == ("petroleum",)


def test_demanded_relevance_replaces_the_threshold(memory):
    memory.take(a="Pump one leaks oil.\n", b="The oven closes at ten.\n")
    assert memory.texts("zeppelin pump", min_relevance=0)
    strict = memory.hits("pump leaks oil", min_relevance=0.9)
    assert all(hit.relevance >= 0.9 for hit in strict)
    assert all(0 <= hit.relevance <= 1 for hit in memory.hits("pump", min_relevance=0))


def test_keywords_answer_and_say_so_while_the_model_fails(memory):
    memory.take(a="Pump one leaks oil.\n")
    assert memory.embedder is not None
    memory.embedder.failure = TransientModelError("no answer")
    memory.degraded = ("catching_up", "vectors")
    found = memory.ask("pump leaks oil")
    assert [hit.text for hit in found.hits] == ["Pump one leaks oil."]
    assert found.degraded == ("catching_up", "vectors")
    memory.embedder.failure, memory.degraded = None, ()
    assert memory.ask("pump leaks oil").degraded == ()


def test_model_is_not_asked_while_there_is_nothing_to_compare_with(memory):
    assert memory.embedder is not None
    assert memory.ask("pump leaks oil").degraded == ()
    memory.vault.write("b.md", "The oven closes at ten.\n")
    memory.vault.look()
    assert memory.ask("pump leaks oil").degraded == ("vectors",)
    assert memory.embedder.queries == []
    memory.take(a="Pump one leaks oil.\n")
    assert memory.ask("pump leaks oil").hits
    assert memory.embedder.queries == ["pump leaks oil"]


@pytest.mark.parametrize("query", ["", "  ", "?", '"', "AND OR NOT", "a* NEAR(b)", "\0", "\ud800", "🦆", "厨房"])  # fmt: skip
def test_any_query_is_answered(memory, query):
    memory.take(a="Pump one leaks oil.\n", b="厨房的烤箱在十点关闭。\n")
    assert memory.ask(query).took_ms >= 0


def test_options_hold_from_the_next_recall_on(memory):
    memory.take(a="Pump one leaks oil.\n")
    assert memory.texts("pump leaks oil")
    memory.recall.use(RecallOptions(min_relevance=1.0))
    assert memory.ask("pump leaks").reason == "no_evidence"


def test_only_so_many_hits_and_characters_come_but_always_the_first(memory):
    memory.take(**{word: f"Pump {word} leaks oil.\n" for word in WORDS})
    assert len(memory.texts("pump leaks oil", limit=2)) == 2
    assert len(memory.texts("pump leaks oil", max_chars=1)) == 1


def test_superseded_fact_stands_below_its_successor_and_both_say_so(memory):
    memory.take(old="Pump color is blue.\n", new="Pump color is red today.\n")
    memory.set("UPDATE fact SET superseded_by = (SELECT id FROM fact WHERE text LIKE '%red%') WHERE text LIKE '%blue%'")  # fmt: skip
    newer, older = memory.hits("pump color is blue")
    assert (newer.text, older.text) == ("Pump color is red today.", "Pump color is blue.")
    assert older.superseded_by == newer.anchor
    assert newer.supersedes == (older.anchor,)


def test_explanation_is_remembered_for_a_while(memory):
    memory.take(a="Pump one leaks oil.\n")
    first = memory.ask("pump leaks oil").recall_id
    assert memory.recall.explain(first)["candidates"][0]["returned"]
    for _ in range(200):
        memory.ask("")
    with pytest.raises(NotFound):
        memory.recall.explain(first)
