"""Fusion: order of input never matters, a missing leg never hurts, numbers stay finite."""

from __future__ import annotations

from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.records import NoteId, PassageId
from retrieval.fusion import GRAPH_GAIN, add_graph, add_neighbours, fuse
from retrieval.records import Candidate, Fused


def candidate(
    number: int,
    *,
    keyword: float | None = None,
    vector: float | None = None,
    note: int = 1,
    position: int | None = None,
    length: int = 100,
) -> Candidate:
    return Candidate(
        passage_id=PassageId(number),
        note_id=NoteId(note),
        position=number if position is None else position,
        length=length,
        keyword=keyword,
        vector=vector,
        has_number=False,
        has_time_word=False,
    )


keyword_scores = st.none() | st.floats(min_value=0, max_value=1e6)
cosines = st.none() | st.floats(min_value=-1, max_value=1)


@st.composite
def candidate_lists(draw: st.DrawFn) -> list[Candidate]:
    legs = draw(st.lists(st.tuples(keyword_scores, cosines, st.integers(0, 700)), max_size=30))
    return [
        candidate(number, keyword=keyword, vector=vector, note=number // 4, length=length)
        for number, (keyword, vector, length) in enumerate(legs)
    ]


@given(candidate_lists(), st.randoms(use_true_random=False), st.floats(0, 1))
def test_order_of_candidates_changes_no_bit(candidates, random, weight):
    shuffled = list(candidates)
    random.shuffle(shuffled)
    assert fuse(candidates, vector_weight=weight) == fuse(shuffled, vector_weight=weight)
    assert add_neighbours(fuse(candidates), candidates) == add_neighbours(fuse(shuffled), shuffled)


@given(candidate_lists(), st.floats(0, 1))
def test_every_number_is_finite(candidates, weight):
    for fused in add_neighbours(fuse(candidates, vector_weight=weight), candidates).values():
        assert all(
            isfinite(n) for n in (fused.keyword_z, fused.vector_z, fused.fused, fused.neighbour)
        )


@given(candidate_lists(), st.floats(0, 1))
def test_better_in_both_legs_is_never_worse_fused(candidates, weight):
    fused = fuse(candidates, vector_weight=weight)

    def legs(c: Candidate) -> tuple[float, float]:
        return (c.keyword or 0.0, -1.0 if c.vector is None else c.vector)

    for one in candidates:
        for other in candidates:
            if (one.vector is None) != (other.vector is None):
                # No vector yet is neither better nor worse.
                continue
            if all(mine >= theirs for mine, theirs in zip(legs(one), legs(other), strict=True)):
                assert fused[one.passage_id].fused >= fused[other.passage_id].fused


@given(candidate_lists(), st.floats(min_value=1e-3, max_value=1e3))
def test_scale_of_a_leg_does_not_matter(candidates, scale):
    scaled = [
        candidate(
            c.passage_id,
            keyword=None if c.keyword is None else c.keyword * scale,
            vector=c.vector,
        )
        for c in candidates
        if c.keyword is None or c.keyword == 0 or c.keyword > 1e-100
    ]
    plain = [c for c in candidates if c.keyword is None or c.keyword == 0 or c.keyword > 1e-100]
    before, after = fuse(plain), fuse(scaled)
    for c in plain:
        assert after[c.passage_id].fused == pytest.approx(before[c.passage_id].fused, abs=1e-4)


def test_z_scores_have_mean_zero_and_deviation_one():
    fused = fuse([candidate(n, keyword=float(n), vector=n / 10) for n in range(5)]).values()
    for leg in ([f.keyword_z for f in fused], [f.vector_z for f in fused]):
        assert sum(leg) == pytest.approx(0)
        assert sum(z * z for z in leg) / len(leg) == pytest.approx(1)


def test_missing_keyword_score_counts_as_zero():
    missing = fuse([candidate(1, keyword=3.0), candidate(2, keyword=1.0), candidate(3)])
    zero = fuse([candidate(1, keyword=3.0), candidate(2, keyword=1.0), candidate(3, keyword=0.0)])
    assert missing == zero


def test_missing_vector_counts_as_the_mean_of_those_seen():
    fused = fuse([candidate(1, vector=0.6), candidate(2, vector=-0.2), candidate(3)])
    assert fused[PassageId(3)].vector_z == 0.0
    assert fused[PassageId(2)].vector_z < 0.0 < fused[PassageId(1)].vector_z


def test_absent_vector_leg_leaves_keywords_whole():
    fused = fuse([candidate(1, keyword=2.0), candidate(2, keyword=1.0)])
    assert fused[PassageId(1)] == Fused(keyword_z=1.0, vector_z=0.0, fused=1.0)


def test_absent_keyword_leg_leaves_vectors_whole():
    fused = fuse([candidate(1, vector=0.2), candidate(2, vector=0.1)])
    assert fused[PassageId(1)] == Fused(keyword_z=0.0, vector_z=1.0, fused=1.0)


def test_legs_share_by_weight():
    candidates = [
        candidate(1, keyword=2.0, vector=0.1),
        candidate(2, keyword=1.0, vector=0.2),
    ]
    assert fuse(candidates, vector_weight=0.5)[PassageId(1)].fused == 0
    assert fuse(candidates, vector_weight=0.75)[PassageId(2)].fused == pytest.approx(0.5)


def test_no_candidates_give_no_scores():
    assert fuse([]) == {}
    assert add_neighbours({}, []) == {}


def test_single_candidate_scores_zero():
    assert fuse([candidate(1, keyword=4.0, vector=0.5)])[PassageId(1)].fused == 0


def test_candidate_of_neither_leg_is_still_placed():
    assert fuse([candidate(1)])[PassageId(1)].fused == 0


def test_equal_scores_say_nothing_even_when_they_do_not_sum_exactly():
    fused = fuse([candidate(n, keyword=0.1, vector=0.1 + n * 1e-17) for n in range(7)])
    assert {f.fused for f in fused.values()} == {0.0}


def test_tiny_bm25_scores_still_order():
    # A word in more than half of the passages weighs about 1e-6 in FTS5.
    fused = fuse([candidate(1, keyword=2e-6), candidate(2, keyword=1e-6)])
    assert fused[PassageId(1)].fused == 1.0


def scored(**scores: float) -> dict[PassageId, Fused]:
    return {
        PassageId(int(name[1:])): Fused(keyword_z=0.0, vector_z=0.0, fused=score)
        for name, score in scores.items()
    }


def test_short_passage_gains_from_its_better_neighbour():
    fused = scored(p1=1.0, p2=0.0, p3=2.0)
    gained = add_neighbours(fused, [candidate(1), candidate(2), candidate(3)])
    assert gained[PassageId(2)].neighbour == pytest.approx(0.6)
    assert gained[PassageId(2)].score == pytest.approx(0.6)


def test_gains_do_not_cascade():
    fused = scored(p1=2.0, p2=0.0, p3=0.0)
    gained = add_neighbours(fused, [candidate(1), candidate(2), candidate(3)])
    assert gained[PassageId(3)].neighbour == 0


@pytest.mark.parametrize(
    ("length", "gain"), [(0, 0.3), (250, 0.3), (375, 0.15), (500, 0.0), (2000, 0.0)]
)
def test_gain_falls_with_length(length, gain):
    gained = add_neighbours(scored(p1=1.0, p2=0.0), [candidate(1), candidate(2, length=length)])
    assert gained[PassageId(2)].neighbour == pytest.approx(gain)


def test_poor_neighbour_takes_nothing_away():
    gained = add_neighbours(scored(p1=-1.0, p2=0.0), [candidate(1), candidate(2)])
    assert gained[PassageId(2)].neighbour == 0


def test_neighbours_are_of_the_same_note_and_next_to_it():
    fused = scored(p1=5.0, p2=0.0, p4=5.0)
    elsewhere = [candidate(1, note=2), candidate(2), candidate(4)]
    assert add_neighbours(fused, elsewhere)[PassageId(2)].neighbour == 0


@given(candidate_lists())
def test_gain_is_never_negative_and_never_over_its_share(candidates):
    fused = fuse(candidates)
    best = max((f.fused for f in fused.values()), default=0.0)
    for after in add_neighbours(fused, candidates).values():
        assert 0 <= after.neighbour <= max(0.0, 0.3 * best) + 1e-12


def test_the_best_path_gains_in_full_and_others_by_their_share():
    fused = {
        PassageId(n): Fused(keyword_z=0, vector_z=0, fused=0.5, neighbour=0.1) for n in (1, 2, 3)
    }
    found = add_graph(fused, {PassageId(1): 0.5, PassageId(2): 0.125})
    assert [found[PassageId(n)].graph for n in (1, 2, 3)] == [GRAPH_GAIN, GRAPH_GAIN / 4, 0.0]
    assert found[PassageId(1)].score == pytest.approx(0.6 + GRAPH_GAIN)
    assert add_graph(fused, {}) == fused


@given(st.dictionaries(st.integers(1, 9).map(PassageId), st.floats(1e-9, 1)))
def test_the_gain_of_the_graph_is_bounded(reached):
    fused = {one: Fused(keyword_z=0, vector_z=0, fused=0) for one in reached}
    assert all(0 < one.graph <= GRAPH_GAIN for one in add_graph(fused, reached).values())
