"""Fusion: order of input never matters, a missing leg never hurts, numbers stay finite."""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.records import PassageId
from retrieval.fusion import GRAPH_GAIN, VECTOR_SHARE, add_graph, add_neighbours, fuse
from retrieval.records import Fused, Pool, Scores


class Candidate(NamedTuple):
    number: int
    keyword: float | None = None
    vector: float | None = None
    note: int = 1
    length: int = 100


def pool(*candidates: Candidate) -> Pool:
    """Places in the note are their numbers."""
    scores = [(one.keyword, one.vector) for one in candidates]
    return Pool(
        [PassageId(one.number) for one in candidates],
        np.array([one.note for one in candidates], np.int64),
        np.array([one.number for one in candidates], np.int64),
        np.array([one.length for one in candidates], np.int64),
        # None becomes NaN.
        *np.array(scores, np.float64).reshape(-1, 2).T,
    )


def by_number(of: Pool, scores: Scores) -> dict[int, Fused]:
    return {number: scores.of(place) for place, number in enumerate(of.passages)}


def fused(*candidates: Candidate, weight: float = VECTOR_SHARE) -> dict[int, Fused]:
    of = pool(*candidates)
    return by_number(of, fuse(of, vector_weight=weight))


def gained(*candidates: Candidate, weight: float = VECTOR_SHARE) -> dict[int, Fused]:
    of = pool(*candidates)
    return by_number(of, add_neighbours(fuse(of, vector_weight=weight), of))


keyword_scores = st.none() | st.floats(min_value=0, max_value=1e6)
cosines = st.none() | st.floats(min_value=-1, max_value=1)


@st.composite
def candidate_lists(draw: st.DrawFn) -> list[Candidate]:
    legs = draw(st.lists(st.tuples(keyword_scores, cosines, st.integers(0, 700)), max_size=30))
    return [
        Candidate(number, keyword, vector, note=number // 4, length=length)
        for number, (keyword, vector, length) in enumerate(legs)
    ]


@given(candidate_lists(), st.randoms(use_true_random=False), st.floats(0, 1))
def test_order_of_candidates_changes_no_bit(candidates, random, weight):
    shuffled = list(candidates)
    random.shuffle(shuffled)
    assert gained(*candidates, weight=weight) == gained(*shuffled, weight=weight)


@given(candidate_lists(), st.floats(0, 1))
def test_every_number_is_finite(candidates, weight):
    assert all(isfinite(n) for one in gained(*candidates, weight=weight).values() for n in one)


@given(candidate_lists(), st.floats(0, 1))
def test_better_in_both_legs_is_never_worse_fused(candidates, weight):
    scores = fused(*candidates, weight=weight)

    def legs(c: Candidate) -> tuple[float, float]:
        return (c.keyword or 0.0, -1.0 if c.vector is None else c.vector)

    for one in candidates:
        for other in candidates:
            if (one.vector is None) != (other.vector is None):
                # No vector yet is neither better nor worse.
                continue
            if all(mine >= theirs for mine, theirs in zip(legs(one), legs(other), strict=True)):
                assert scores[one.number].fused >= scores[other.number].fused


@given(candidate_lists(), st.floats(min_value=1e-3, max_value=1e3))
def test_scale_of_a_leg_does_not_matter(candidates, scale):
    plain = [c for c in candidates if not c.keyword or c.keyword > 1e-100]
    scaled = [c._replace(keyword=c.keyword and c.keyword * scale) for c in plain]
    before, after = fused(*plain), fused(*scaled)
    for c in plain:
        assert after[c.number].fused == pytest.approx(before[c.number].fused, abs=1e-4)


def test_z_scores_have_mean_zero_and_deviation_one():
    scores = fuse(pool(*(Candidate(n, keyword=float(n), vector=n / 10) for n in range(5))))
    for leg in (scores.keyword_z, scores.vector_z):
        assert leg.mean() == pytest.approx(0)
        assert leg.std() == pytest.approx(1)


def test_missing_keyword_score_counts_as_zero():
    missing = fused(Candidate(1, keyword=3.0), Candidate(2, keyword=1.0), Candidate(3))
    zero = fused(Candidate(1, keyword=3.0), Candidate(2, keyword=1.0), Candidate(3, keyword=0.0))
    assert missing == zero


def test_missing_vector_counts_as_the_mean_of_those_seen():
    scores = fused(Candidate(1, vector=0.6), Candidate(2, vector=-0.2), Candidate(3))
    assert scores[3].vector_z == 0.0
    assert scores[2].vector_z < 0.0 < scores[1].vector_z


def test_absent_vector_leg_leaves_keywords_whole():
    scores = fused(Candidate(1, keyword=2.0), Candidate(2, keyword=1.0))
    assert scores[1] == Fused(keyword_z=1.0, vector_z=0.0, fused=1.0)


def test_absent_keyword_leg_leaves_vectors_whole():
    scores = fused(Candidate(1, vector=0.2), Candidate(2, vector=0.1))
    assert scores[1] == Fused(keyword_z=0.0, vector_z=1.0, fused=1.0)


def test_legs_share_by_weight():
    candidates = (Candidate(1, keyword=2.0, vector=0.1), Candidate(2, keyword=1.0, vector=0.2))
    assert fused(*candidates, weight=0.5)[1].fused == 0
    assert fused(*candidates, weight=0.75)[2].fused == pytest.approx(0.5)


def test_no_candidates_give_no_scores():
    nobody = pool()
    scores = add_graph(add_neighbours(fuse(nobody), nobody), nobody, {PassageId(1): 0.5})
    assert [len(column) for column in scores] == [0] * 5


def test_single_candidate_scores_zero():
    assert fused(Candidate(1, keyword=4.0, vector=0.5))[1].fused == 0


def test_candidate_of_neither_leg_is_still_placed():
    assert fused(Candidate(1))[1].fused == 0


def test_equal_scores_say_nothing_even_when_they_do_not_sum_exactly():
    scores = fuse(pool(*(Candidate(n, keyword=0.1, vector=0.1 + n * 1e-17) for n in range(7))))
    assert set(scores.fused.tolist()) == {0.0}


def test_tiny_bm25_scores_still_order():
    # A word in more than half of the passages weighs about 1e-6 in FTS5.
    assert fused(Candidate(1, keyword=2e-6), Candidate(2, keyword=1e-6))[1].fused == 1.0


def beside(*candidates: Candidate, scores: list[float]) -> dict[int, Fused]:
    """What those with these fused scores gain from their neighbours."""
    of, nothing = pool(*candidates), np.zeros(len(scores))
    given_scores = Scores(nothing, nothing, np.array(scores), nothing, nothing)
    return by_number(of, add_neighbours(given_scores, of))


def test_short_passage_gains_from_its_better_neighbour():
    after = beside(Candidate(1), Candidate(2), Candidate(3), scores=[1.0, 0.0, 2.0])
    assert after[2].neighbour == pytest.approx(0.6)
    assert after[2].score == pytest.approx(0.6)


def test_gains_do_not_cascade():
    after = beside(Candidate(1), Candidate(2), Candidate(3), scores=[2.0, 0.0, 0.0])
    assert after[3].neighbour == 0


@pytest.mark.parametrize(
    ("length", "gain"), [(0, 0.3), (250, 0.3), (375, 0.15), (500, 0.0), (2000, 0.0)]
)
def test_gain_falls_with_length(length, gain):
    after = beside(Candidate(1), Candidate(2, length=length), scores=[1.0, 0.0])
    assert after[2].neighbour == pytest.approx(gain)


def test_poor_neighbour_takes_nothing_away():
    assert beside(Candidate(1), Candidate(2), scores=[-1.0, 0.0])[2].neighbour == 0


def test_neighbours_are_of_the_same_note_and_next_to_it():
    after = beside(Candidate(1, note=2), Candidate(2), Candidate(4), scores=[5.0, 0.0, 5.0])
    assert after[2].neighbour == 0


@given(candidate_lists())
def test_gain_is_never_negative_and_never_over_its_share(candidates):
    best = max((one.fused for one in fused(*candidates).values()), default=0.0)
    for after in gained(*candidates).values():
        assert 0 <= after.neighbour <= max(0.0, 0.3 * best) + 1e-12


def test_the_best_path_gains_in_full_and_others_by_their_share():
    of = pool(Candidate(1), Candidate(2), Candidate(3))
    before = Scores(*(np.full(3, value) for value in (0.0, 0.0, 0.5, 0.1, 0.0)))
    # One that is gone meanwhile is no measure for the others.
    found = add_graph(before, of, {PassageId(1): 0.5, PassageId(2): 0.125, PassageId(9): 7.0})
    assert found.graph.tolist() == [GRAPH_GAIN, GRAPH_GAIN / 4, 0.0]
    assert found.score[0] == pytest.approx(0.6 + GRAPH_GAIN)
    assert add_graph(before, of, {}) == before


@given(st.dictionaries(st.integers(1, 9), st.floats(1e-9, 1), min_size=1))
def test_the_gain_of_the_graph_is_bounded(reached):
    of = pool(*map(Candidate, reached))
    found = add_graph(fuse(of), of, {PassageId(n): worth for n, worth in reached.items()})
    assert all(0 < gain <= GRAPH_GAIN for gain in found.graph.tolist())
