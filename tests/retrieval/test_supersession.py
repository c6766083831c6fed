"""Supersession: the new above the old, everything else where it was, and always an end."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.records import Category, FactId, NoteId, PassageId, StatementId
from retrieval.records import FactView, Standing
from retrieval.supersession import (
    MAX_SCORE_GAP,
    MIN_COSINE,
    order_superseded,
    swap_stale,
    written_at,
)


def fact(number: int, superseded_by: int | None = None) -> FactView:
    return FactView(
        fact_id=FactId(number),
        anchor=f"fact:{number:08x}",
        statement_id=StatementId(number),
        passage_id=PassageId(number),
        text=f"Fact {number}.",
        category=Category.KNOWLEDGE,
        confidence=0.9,
        importance=0.5,
        recall_count=0,
        happened=None,
        stated=None,
        superseded_by=None if superseded_by is None else FactId(superseded_by),
        scope="global",
    )


def facts_of(**superseded_by: int | None) -> dict[str, FactView]:
    """`a=3` is fact 1 under the name a, superseded by fact 3; numbers follow the order of the names."""
    return {name: fact(number, by) for number, (name, by) in enumerate(superseded_by.items(), 1)}


def test_superseded_fact_above_its_successor_gives_it_its_place():
    facts = facts_of(old=3, other=None, new=None)
    assert order_superseded(["old", "other", "new"], facts) == ("new", "old", "other")


def test_superseded_fact_far_below_comes_directly_below():
    facts = facts_of(old=3, other=None, new=None)
    assert order_superseded(["new", "other", "old"], facts) == ("new", "old", "other")


def test_successor_that_is_absent_moves_nothing():
    facts = facts_of(old=9, other=None)
    assert order_superseded(["old", "other"], facts) == ("old", "other")


def test_chain_stands_from_newest_to_oldest():
    facts = facts_of(a=2, b=3, c=None, x=None)
    assert order_superseded(["a", "x", "b", "c"], facts) == ("c", "b", "a", "x")


def test_chain_holds_over_a_fact_that_is_not_ranked():
    facts = facts_of(a=7, c=None)
    hidden = {FactId(7): FactId(8), FactId(8): FactId(2)}
    assert order_superseded(["a", "c"], facts, hidden=hidden) == ("c", "a")


def test_hidden_ring_moves_nothing():
    facts = facts_of(a=7, c=None)
    hidden = {FactId(7): FactId(8), FactId(8): FactId(7)}
    assert order_superseded(["a", "c"], facts, hidden=hidden) == ("a", "c")


def test_several_superseded_by_one_keep_their_order():
    facts = facts_of(a=3, b=3, c=None)
    assert order_superseded(["b", "a", "c"], facts) == ("c", "b", "a")


def test_ring_keeps_its_best_ranked_first():
    facts = facts_of(a=2, b=3, c=1, x=None)
    assert order_superseded(["b", "x", "a", "c"], facts) == ("b", "a", "c", "x")


def test_fact_that_supersedes_itself_stays():
    assert order_superseded(["a", "x"], facts_of(a=1, x=None)) == ("a", "x")


def test_items_without_a_fact_stay():
    assert order_superseded(["p", "q"], {}) == ("p", "q")


def test_of_two_items_showing_the_successor_the_better_one_counts():
    facts = {"old": fact(1, 2), "new": fact(2), "copy": fact(2)}
    assert order_superseded(["new", "copy", "old"], facts) == ("new", "old", "copy")


@st.composite
def rankings(draw: st.DrawFn) -> tuple[list[int], dict[int, FactView], dict[FactId, FactId]]:
    numbers = st.integers(0, 12)
    ranked = draw(st.lists(numbers, unique=True))
    facts = {
        item: fact(draw(numbers), draw(numbers | st.none()))
        for item in ranked
        if draw(st.integers(0, 5))
    }
    hidden = draw(st.dictionaries(numbers.map(FactId), numbers.map(FactId), max_size=4))
    return ranked, facts, hidden


@given(rankings())
def test_order_loses_nothing_and_adds_nothing(ranking):
    ranked, facts, hidden = ranking
    ordered = order_superseded(ranked, facts, hidden=hidden)
    assert sorted(ordered) == sorted(ranked)


@given(rankings())
def test_items_outside_any_supersession_keep_their_order(ranking):
    ranked, facts, hidden = ranking
    touched = {f.superseded_by for f in facts.values()} | set(hidden.values())
    apart = [
        item
        for item in ranked
        if item not in facts
        or (facts[item].superseded_by is None and facts[item].fact_id not in touched)
    ]
    ordered = order_superseded(ranked, facts, hidden=hidden)
    assert [item for item in ordered if item in apart] == apart


@st.composite
def acyclic_rankings(draw: st.DrawFn) -> tuple[list[int], dict[int, FactView]]:
    count = draw(st.integers(0, 15))
    facts = {
        n: fact(n, draw(st.none() | st.integers(n + 1, count))) if n < count else fact(n)
        for n in range(1, count + 1)
    }
    return draw(st.permutations(list(facts))), facts


@given(acyclic_rankings())
def test_every_superseded_fact_stands_directly_below_its_successor_and_its_fellows(ranking):
    ranked, facts = ranking
    ordered = order_superseded(ranked, facts)

    def supersedes(newer: int, older: int) -> bool:
        while (by := facts[older].superseded_by) is not None:
            older = by
            if older == newer:
                return True
        return False

    for item in ranked:
        successor = facts[item].superseded_by
        if successor is not None:
            between = ordered[ordered.index(successor) + 1 : ordered.index(item)]
            assert ordered.index(successor) < ordered.index(item)
            assert all(supersedes(successor, other) for other in between)


@given(acyclic_rankings())
def test_ordering_twice_changes_nothing_more(ranking):
    ranked, facts = ranking
    once = order_superseded(ranked, facts)
    assert order_superseded(once, facts) == once


WEIGHTS = {"cats": 2.0, "own": 1.0}


def standing(
    number: int,
    *,
    score: float | None = None,
    note: int | None = None,
    day: int | None = 1,
    has_number: bool = True,
    is_question: bool = False,
    words: tuple[str, ...] = ("cats", "own"),
) -> Standing:
    return Standing(
        passage_id=PassageId(number),
        note_id=NoteId(number if note is None else note),
        statement_id=StatementId(number),
        score=-0.1 * number if score is None else score,
        written=None if day is None else (date(2026, 1, day), 0, ()),
        has_number=has_number,
        is_question=is_question,
        query_words=frozenset(words),
    )


def alike(one: StatementId, other: StatementId) -> float | None:
    return 0.9


def swapped(*ranked: Standing, weights: dict[str, float] = WEIGHTS, cosine=alike, depth: int = 20):
    return list(swap_stale(ranked, word_weights=weights, cosine=cosine, depth=depth))


def test_newer_number_rises_just_above_the_older():
    assert swapped(
        standing(1, words=()), standing(2, day=1), standing(3, words=()), standing(4, day=2)
    ) == [
        1,
        4,
        2,
        3,
    ]


def test_newer_number_that_is_above_already_stays():
    assert swapped(standing(1, day=2), standing(2, day=1)) == [1, 2]


def test_the_newest_of_three_comes_first():
    assert swapped(standing(1, day=1), standing(2, day=2), standing(3, day=3)) == [3, 2, 1]


@pytest.mark.parametrize(
    "newer",
    [
        standing(2, day=2, note=1),
        standing(2, day=2, has_number=False),
        standing(2, day=2, is_question=True),
        standing(2, day=1),
        standing(2, day=None),
        standing(2, day=2, score=-0.1 - MAX_SCORE_GAP - 0.01),
        standing(2, day=2, words=("own",)),
        standing(2, day=2, words=()),
    ],
    ids=[
        "same note",
        "no number",
        "a question",
        "same day",
        "no date",
        "too far",
        "too few words",
        "no words",
    ],
)
def test_what_does_not_replace_stays_below(newer):
    assert swapped(standing(1, day=1), newer) == [1, 2]


@pytest.mark.parametrize(
    "older", [standing(1, has_number=False), standing(1, is_question=True), standing(1, day=None)]
)
def test_what_cannot_be_replaced_stays_above(older):
    assert swapped(older, standing(2, day=2)) == [1, 2]


@pytest.mark.parametrize(("value", "order"), [(MIN_COSINE, [2, 1]), (0.44, [1, 2]), (None, [1, 2])])
def test_statements_must_be_alike(value, order):
    assert swapped(standing(1, day=1), standing(2, day=2), cosine=lambda _a, _b: value) == order


def test_words_that_the_query_does_not_weigh_count_for_nothing():
    pair = (standing(1, day=1, words=("dogs",)), standing(2, day=2, words=("dogs",)))
    assert swapped(*pair) == [1, 2]
    assert swapped(*pair, weights={}) == [1, 2]


def test_below_the_depth_nothing_moves():
    assert swapped(standing(1, day=1), standing(2, day=2), depth=1) == [1, 2]


def test_nothing_ranked_gives_nothing():
    assert swapped() == []


standings = st.lists(
    st.builds(
        dict,
        score=st.floats(-3, 3),
        note=st.integers(1, 6),
        day=st.none() | st.integers(1, 9),
        has_number=st.sampled_from([True, True, False]),
        words=st.sampled_from([("cats", "own"), ("cats",), ("own",), ()]),
    ),
    max_size=25,
)


@given(standings, st.integers(0, 25), st.floats(0, 1))
def test_after_swapping_no_newer_number_stands_below_the_one_it_replaces(drawn, depth, value):
    ranked = [standing(n, **fields) for n, fields in enumerate(drawn)]
    order = swapped(*ranked, cosine=lambda a, b: value if (a + b) % 2 else 0.9, depth=depth)
    assert sorted(order) == list(range(len(ranked)))
    assert order[depth:] == list(range(depth, len(ranked)))
    by_id = {s.passage_id: s for s in ranked}
    again = swapped(
        *(by_id[p] for p in order), cosine=lambda a, b: value if (a + b) % 2 else 0.9, depth=depth
    )
    assert again == order


@given(standings)
def test_unlike_statements_leave_every_order_alone(drawn):
    ranked = [standing(n, **fields) for n, fields in enumerate(drawn)]
    assert swapped(*ranked, cosine=lambda _a, _b: 0.2) == [s.passage_id for s in ranked]


def test_written_order_within_a_day():
    day = date(2023, 5, 25)
    in_order = [
        written_at(date(2023, 5, 24), 86_399, "log/2023-05-24-9.md"),
        written_at(day, 0, "log/2023-05-25.md"),
        written_at(day, 0, "log/2023-05-25-2.md"),
        written_at(day, 0, "log/2023-05-25 (3).md"),
        written_at(day, 0, "log/2023-05-25_10.md"),
        written_at(day, 3600, "log/2023-05-25.md"),
    ]
    assert sorted(in_order) == in_order


@pytest.mark.parametrize(
    ("path", "numbers"),
    [
        ("2023-05-25.md", ()),
        ("20230525.md", ()),
        ("20230525-2.md", (2,)),
        ("a.b/2023-05-25 meeting.md", ()),
        ("meeting 2023-05-25.md", ()),
        ("session_12.md", (12,)),
        ("2023-05-25T14-30.md", (14, 30)),
        ("٢.md", (2,)),
        ("", ()),
    ],
)
def test_numbers_at_the_end_of_a_name_are_read_as_numbers(path, numbers):
    assert written_at(date(2023, 5, 25), 0, path) == (date(2023, 5, 25), 0, numbers)


@given(st.text())
def test_any_path_has_a_written_order(path):
    assert written_at(date(2023, 5, 25), 7, path)[:2] == (date(2023, 5, 25), 7)
