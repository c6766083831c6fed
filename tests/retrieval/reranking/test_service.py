"""What a reranker may change in a recall, and what it may not, over a real store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recalld.errors import ModelError, PermanentModelError, PromptCut, TransientModelError
from recalld.models.chat import ModelHealth
from recalld.records import RecallFilter
from recalld.store.connection import execute
from retrieval.reranking.service import NoReranker, Reranking
from tests.fakes import WordEmbedder
from tests.retrieval.asking import Memory

QUERY = "which pump leaks oil?"
OLD = "Haarlem pump leaks oil weekly."
NEW = "Haarlem pump leaks oil monthly."
PUMPS = [f"Pump {name} leaks oil." for name in ("alpha", "bravo", "charlie", "delta", "echo")]

Order = Callable[[Sequence[str]], Sequence[int]]


class Scripted:
    """Orders by a function of the texts, or raises; keeps what it was shown."""

    name = "scripted"

    def __init__(self, order: Order | ModelError = lambda texts: range(len(texts))) -> None:
        self.does = order
        self.shown: list[tuple[str, ...]] = []
        self.closed = False

    def order(self, query: str, texts: Sequence[str]) -> tuple[int, ...]:
        assert query == QUERY
        self.shown.append(tuple(texts))
        if isinstance(self.does, ModelError):
            raise self.does
        return tuple(self.does(texts))

    def health(self) -> ModelHealth:
        return ModelHealth(state="ok", hint=None, name=self.name, digest=None)

    def close(self) -> None:
        self.closed = True


def backwards(texts: Sequence[str]) -> Sequence[int]:
    return range(len(texts))[::-1]


def first(word: str) -> Order:
    """What holds a word goes first."""
    return lambda texts: sorted(range(len(texts)), key=lambda place: word not in texts[place])


class Clock:
    """Stands until a test moves it."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def memory(tmp_path_factory, clock: Clock) -> Iterator[Memory]:
    reranking = Reranking(clock=clock)
    base = tmp_path_factory.mktemp("m")
    with Memory(base, embedder=WordEmbedder(), reranking=reranking) as made:
        made.take(
            **{f"n{number}": f"# Cellar\n\n{text}\n" for number, text in enumerate(PUMPS)},
            old=f"---\ndate: 2024-01-01\n---\n{OLD}\n",
            new=f"---\ndate: 2026-01-01\n---\n{NEW}\n",
            far="The library opens at nine.\n",
        )
        made.set("UPDATE fact SET superseded_by = (SELECT id FROM fact AS other WHERE other.text = ?) WHERE text = ?", NEW, OLD)  # fmt: skip
        yield made


@pytest.fixture(autouse=True)
def _off_again(memory: Memory) -> Iterator[None]:
    yield
    memory.reranking.use(None, depth=20)


def asked(memory: Memory, order: Order | ModelError, *, depth: int = 20, **options: Any) -> Any:
    reranker = Scripted(order)
    memory.reranking.use(reranker, depth=depth)
    recalled = memory.ask(QUERY, limit=50, max_chars=10**6, **options)
    return recalled, reranker


def texts(recalled: Any) -> list[str]:
    return [hit.text for hit in recalled.hits]


def test_without_one_nothing_says_so(memory):
    plain = memory.ask(QUERY, explain=True)
    assert plain.degraded == ()
    assert "rerank" not in plain.explanation
    assert all("rerank" not in one for one in plain.explanation["candidates"])
    assert memory.reranking.health().state == "off"


def test_its_order_becomes_the_order(memory):
    before = memory.ask(QUERY).hits
    recalled, reranker = asked(memory, first("echo"))
    assert texts(recalled)[0] == "Pump echo leaks oil."
    assert recalled.degraded == ()
    assert len(reranker.shown) == 1
    # What is not moved keeps its order.
    rest = [hit.text for hit in before if hit.text in PUMPS and "echo" not in hit.text]
    assert [text for text in texts(recalled)[1:] if text in PUMPS] == rest


def test_it_is_shown_what_a_hit_shows_below_its_headings(memory):
    _, reranker = asked(memory, backwards)
    assert "Cellar\nPump alpha leaks oil." in reranker.shown[0]
    assert not any("library" in text for text in reranker.shown[0])


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.randoms(use_true_random=False), st.integers(2, 10))
def test_any_order_gives_the_same_hits_and_successors_above(memory, random, depth):
    memory.reranking.use(None, depth=20)
    before = memory.ask(QUERY, limit=50, max_chars=10**6)

    def shuffled(shown: Sequence[str]) -> Sequence[int]:
        return random.sample(range(len(shown)), len(shown))

    after, _ = asked(memory, shuffled, depth=depth)
    # The same numbers on the same hits: relevance, score, sources.
    assert sorted(after.hits, key=lambda hit: hit.anchor) == sorted(
        before.hits, key=lambda hit: hit.anchor
    )
    said = texts(after)
    assert said.index(OLD) == said.index(NEW) + 1
    assert (after.reason, after.unknown_words, after.degraded) == (
        before.reason,
        before.unknown_words,
        before.degraded,
    )


def test_superseded_fact_that_it_prefers_lifts_its_successor(memory):
    recalled, _ = asked(memory, first("weekly"))
    assert texts(recalled)[:2] == [NEW, OLD]


def test_only_the_depth_from_the_top_is_shown(memory):
    before = texts(memory.ask(QUERY, limit=50))
    recalled, reranker = asked(memory, backwards, depth=2)
    assert len(reranker.shown[0]) == 2
    assert texts(recalled)[2:] == before[2:]
    assert set(texts(recalled)[:2]) == set(before[:2])


def test_without_evidence_nobody_is_asked(memory):
    recalled, reranker = asked(memory, backwards, min_relevance=1.0)
    assert (recalled.hits, recalled.reason, recalled.degraded) == ((), "no_evidence", ())
    assert reranker.shown == []


def test_one_hit_needs_no_order(memory):
    recalled, reranker = asked(memory, backwards, limits=RecallFilter(paths=("n1.md",)))
    assert texts(recalled) == ["Pump bravo leaks oil."]
    assert reranker.shown == []


def test_note_that_vanishes_while_it_thinks_keeps_nobody_from_an_answer(memory):
    memory.take(gone="Pump foxtrot leaks oil.\n")
    before = memory.ask(QUERY, limit=50, max_chars=10**6)

    def deleting(shown: Sequence[str]) -> Sequence[int]:
        (memory.vault.path / "gone.md").unlink()
        memory.vault.look()
        # No reader is left in the old state meanwhile.
        assert execute(memory.vault.database.writer, "PRAGMA wal_checkpoint(TRUNCATE)")[0][0] == 0
        return backwards(shown)

    recalled, reranker = asked(memory, deleting)
    assert sorted(texts(recalled)) == sorted(texts(before))
    reranker.does = backwards
    assert "Pump foxtrot leaks oil." not in memory.texts(QUERY)


# ---------------------------------------------------------------- failures

FAILURES: dict[str, Order | ModelError] = {
    "down": TransientModelError("nothing answers", state="down"),
    "slow": TransientModelError("longer than 2 s", state="slow"),
    "missing": PermanentModelError("no such model", state="missing"),
    "unreadable": TransientModelError("no order in it"),
    "too long": PromptCut("too long", estimated_tokens=900, counted_tokens=None),
    "partial": lambda texts: range(len(texts) - 1),
    "nobody": lambda _: (),
    "one twice": lambda texts: [0] * len(texts),
    "too many": lambda texts: [*range(len(texts)), 0],
    "out of range": lambda texts: [len(texts) - place for place in range(len(texts))],
    "below zero": lambda texts: [-place for place in range(len(texts))],
}


@pytest.mark.parametrize("kind", FAILURES)
def test_failure_leaves_the_order_and_is_told(memory, kind):
    before = memory.ask(QUERY, limit=50, max_chars=10**6)
    recalled, _ = asked(memory, FAILURES[kind], explain=True)
    assert recalled.hits == before.hits
    assert recalled.degraded == ("reranker",)
    told = recalled.explanation["rerank"]
    assert (told["model"], told["shown"]) == ("scripted", len(before.hits))
    assert told["problem"]


def test_story_has_each_place_before_and_after(memory):
    recalled, reranker = asked(memory, backwards, explain=True)
    story = recalled.explanation
    count = len(reranker.shown[0])
    assert story["rerank"] == {"model": "scripted", "shown": count, "problem": None}
    places = [one["rerank"] for one in story["candidates"] if one["rerank"] is not None]
    assert sorted(place["before"] for place in places) == list(range(1, count + 1))
    assert all(place["before"] + place["after"] == count + 1 for place in places)
    for one in story["candidates"]:
        assert (one["rerank"] is None) == (not one["returned"])


def test_story_of_a_failure_has_the_places_before_alone(memory):
    recalled, _ = asked(memory, FAILURES["down"], explain=True)
    assert recalled.explanation["rerank"]["problem"] == "nothing answers"
    places = [one["rerank"] for one in recalled.explanation["candidates"] if one["rerank"]]
    assert {place["after"] for place in places} == {None}


# ---------------------------------------------------------------- pauses


def problem(memory: Memory) -> str | None:
    recalled = memory.ask(QUERY, explain=True)
    assert (recalled.degraded == ("reranker",)) == bool(recalled.explanation["rerank"]["problem"])
    return recalled.explanation["rerank"]["problem"]


@pytest.mark.parametrize("kind", ["down", "slow", "unreadable", "partial", "one twice"])
def test_one_that_failed_is_spared_for_a_pause_that_grows(memory, clock, kind):
    _, reranker = asked(memory, FAILURES[kind])
    assert "pause" in problem(memory)
    clock.now += 1.1
    assert "pause" not in problem(memory)
    assert len(reranker.shown) == 2
    clock.now += 1.1
    assert "pause" in problem(memory), "the second pause is longer"
    clock.now += 1.1
    reranker.does = backwards
    assert problem(memory) is None
    assert problem(memory) is None
    assert len(reranker.shown) == 4


def test_pauses_grow_to_a_minute(memory, clock):
    _, reranker = asked(memory, FAILURES["down"])
    for _ in range(20):
        clock.now += 60.1
        problem(memory)
    assert len(reranker.shown) == 21


def test_text_that_is_too_long_says_nothing_of_the_next_question(memory):
    _, reranker = asked(memory, FAILURES["too long"])
    reranker.does = backwards
    assert problem(memory) is None


def test_another_one_begins_without_the_pauses_of_the_former(memory):
    _, former = asked(memory, FAILURES["down"])
    recalled, _ = asked(memory, first("echo"))
    assert former.closed
    assert recalled.degraded == ()
    assert texts(recalled)[0] == "Pump echo leaks oil."


def test_one_that_cannot_be_had_says_why(memory):
    memory.reranking.use(NoReranker("bge", state="off", hint="write rerank.host so"), depth=20)
    assert problem(memory)
    health = memory.reranking.health()
    assert (health.name, health.state, health.hint) == ("bge", "off", "write rerank.host so")


def test_closing_closes_it():
    reranker = Scripted()
    reranking = Reranking(reranker)
    assert reranking.health().name == "scripted"
    reranking.close()
    assert reranker.closed
