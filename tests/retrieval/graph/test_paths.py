"""What a path is worth, which path is kept, and when it counts as evidence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.records import FactId
from recalld.store.graph import Edge, Thing
from retrieval.graph.names import NameSpan
from retrieval.graph.paths import (
    HOP_FACTOR,
    KEPT,
    begin,
    damping,
    joined,
    lent_words,
    likeliest,
    plain_ends,
    said,
    step,
)
from retrieval.query import understand
from retrieval.text.words import tokens

A, B, C, NOTE = Thing("entity", 1), Thing("entity", 2), Thing("entity", 3), Thing("note", 1)
NAMES = {A: "deploy pipeline", B: "Vercel", C: "GitHub webhook", NOTE: "Vercel"}


def start(name: str = "deploy pipeline"):
    span = NameSpan(key=name, text=name, start=0, end=1)
    return begin({name: [A]}, [span])


def edge(one: Thing, other: Thing, kind="relation", predicate="runs_on", **more) -> Edge:
    return Edge(
        source=one,
        target=other,
        kind=kind,
        predicate=predicate if kind == "relation" else "",
        **more,
    )


def test_a_path_reads_as_names_with_what_is_said_between_them():
    reached = start()
    reached |= step(reached, [edge(A, B)], NAMES, {})
    reached |= step(reached, [edge(B, C, predicate="triggers")], NAMES, {})
    assert reached[C].path == (
        "deploy pipeline",
        "runs on",
        "Vercel",
        "triggers",
        "GitHub webhook",
    )
    assert reached[C].score == HOP_FACTOR**2
    assert (reached[C].hops, reached[C].asked) == (2, "deploy pipeline")


def test_a_relation_counts_before_a_link_before_a_mention():
    kinds = ("relation", "link", "mention")
    scores = [step(start(), [edge(A, B, kind=kind)], NAMES, {})[B].score for kind in kinds]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 3
    forth = step(start(), [edge(A, B, kind="link")], NAMES, {})[B].score
    back = step(start(), [edge(A, B, kind="link", forward=False)], NAMES, {})[B].score
    assert back < forth


def test_what_is_touched_by_much_counts_less():
    few = step(start(), [edge(A, B)], NAMES, {B: 8})[B].score
    many = step(start(), [edge(A, B)], NAMES, {B: 64})[B].score
    assert (few, many) == (0.5, 0.25)
    assert [damping(n) for n in (0, 1, 8)] == [1.0, 1.0, 1.0]


def test_the_best_way_is_kept_and_what_is_reached_stays():
    ways = [edge(A, B, kind="mention", fact_id=FactId(9)), edge(A, B, fact_id=FactId(1))]
    for edges in (ways, ways[::-1]):
        assert step(start(), edges, NAMES, {})[B].path[1] == "runs on"
    assert step(start(), [edge(A, A)], NAMES, {}) == {}
    assert step(start(), [edge(B, C)], NAMES, {}) == {}


def test_a_hop_goes_on_from_the_best_only():
    many = {Thing("entity", n): str(n) for n in range(10, 10 + 3 * KEPT)}
    edges = [edge(A, thing, kind="mention") for thing in many]
    edges.append(edge(A, max(many)))
    kept = step(start(), edges, many, {})
    assert len(kept) == KEPT
    assert max(many) in kept


def test_the_likeliest_are_new_and_few_and_the_best_are_among_them():
    many = [Thing("entity", n) for n in range(10, 10 + 3 * KEPT)]
    edges = [edge(A, thing, kind="mention") for thing in many] + [edge(A, many[0]), edge(A, A)]
    found = likeliest(start(), edges)
    assert len(found) == KEPT
    assert many[0] in found
    assert A not in found
    assert likeliest(start(), [edge(B, C)]) == set()


@pytest.mark.parametrize("kind", ["relation", "link", "mention"])
@pytest.mark.parametrize("touched", [1, 100])
def test_only_relations_between_what_little_touches_end_plainly(kind, touched):
    reached = start()
    reached |= step(reached, [edge(A, B)], NAMES, {B: touched})
    reached |= step(reached, [edge(B, C, kind=kind)], NAMES, {})
    ends = plain_ends(reached.values(), hops=2)
    assert ends == ([C] if kind == "relation" and touched == 1 else [])
    assert plain_ends(reached.values(), hops=3) == []


def test_the_note_of_an_entity_is_reached_with_it_and_costs_no_hop():
    reached = start() | step(start(), [edge(A, B)], NAMES, {})
    found = joined(reached, [(B, NOTE)], NAMES)
    assert (found[NOTE].score, found[NOTE].hops) == (reached[B].score, 1)
    assert found[NOTE].path == reached[B].path
    other = joined(start("dp"), [(A, NOTE)], NAMES)[NOTE]
    assert other.path == ("dp", "also called", "Vercel")
    assert other.by_other_name
    assert other.worth == HOP_FACTOR


def test_a_relation_walked_backwards_is_told_so():
    assert said(edge(A, B, forward=False)) == "← runs on"


@pytest.mark.parametrize(
    ("question", "statement", "lends"),
    [
        ("Which port does the deploy pipeline use?", "The port of it is 8443.", True),
        ("Which colour has the deploy pipeline?", "The port of it is 8443.", False),
        ("Where is the deploy pipeline?", "It is green.", False),
        # The path itself holds one more word of the question.
        ("Why does the deploy pipeline need Vercel?", "It is green.", True),
    ],
)
def test_a_path_lends_its_name_only_where_one_more_word_is_held(question, statement, lends):
    way = step(start(), [edge(A, B)], NAMES, {})[B]
    lent = lent_words(understand(question), way, [frozenset(tokens(statement))])
    assert bool(lent) is lends
    if lends:
        assert lent >= {*tokens("deploy pipeline"), *tokens("Vercel")}


things = st.builds(Thing, st.sampled_from(("entity", "note")), st.integers(1, 6))
edges_of_any_kind = st.lists(
    st.builds(
        Edge,
        source=things,
        target=things,
        kind=st.sampled_from(("relation", "link", "mention")),
        predicate=st.just("p"),
        forward=st.booleans(),
        fact_id=st.integers(1, 9).map(FactId),
    ),
    max_size=30,
)


@given(
    edges_of_any_kind,
    st.randoms(use_true_random=False),
    st.dictionaries(things, st.integers(0, 300)),
)
def test_order_of_edges_does_not_matter_and_scores_only_fall(edges, random, degrees):
    names = {Thing(kind, n): f"{kind} {n}" for kind in ("entity", "note") for n in range(1, 7)}
    shuffled = list(edges)
    random.shuffle(shuffled)

    def scores(found):
        return {thing: (one.score, one.path) for thing, one in found.items()}

    found = step(start(), edges, names, degrees)
    assert scores(found) == scores(step(start(), shuffled, names, degrees))
    assert all(0 < one.score <= HOP_FACTOR and one.hops == 1 for one in found.values())
