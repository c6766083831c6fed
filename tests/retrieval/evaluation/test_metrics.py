"""Figures against values worked out by hand, and what holds of any of them."""

from __future__ import annotations

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.evaluation.metrics import Share, figures, figures_by_category, judge, ndcg
from tests.retrieval.evaluation.making import hit, place, question, ranked, words

ranks = st.none() | st.integers(1, 10)
nothing_or_ranks = st.builds(
    lambda found, hits: ranked(*found, hits=10 if any(found) else hits),
    st.lists(ranks, max_size=3),
    st.integers(0, 10),
)


def test_rank_is_that_of_the_first_right_hit():
    asked = question(words("beta"))
    one = judge(asked, [hit("alpha"), hit("beta one"), hit("beta two")])
    assert one.first == 2
    assert one.reciprocal_rank == 0.5
    assert not one.hit_within(1)
    assert one.hit_within(5)
    assert one.failed


def test_hits_beyond_the_tenth_are_not_looked_at():
    asked = question(words("beta"))
    assert judge(asked, [*(hit(f"no {n}") for n in range(10)), hit("beta")]).first is None


def test_each_piece_has_its_own_rank_and_the_best_counts():
    asked = question(place("a.md", 3), place("b.md", 1))
    one = judge(asked, [hit(path="c.md"), hit(path="b.md"), hit(path="a.md", first=3)])
    assert one.ranks == (3, 2)
    assert one.first == 2


def test_figures_are_those_worked_out_by_hand():
    found = figures(
        [ranked(1), ranked(2), ranked(10), ranked(None), ranked(None, hits=0), ranked(hits=0), ranked(hits=3)]
    )  # fmt: skip
    assert found.n == 7
    assert (found.hit_at_1.part, found.hit_at_1.of) == (1, 5)
    assert (found.hit_at_5.part, found.hit_at_10.part) == (2, 3)
    assert found.mrr == pytest.approx((1 + 1 / 2 + 1 / 10) / 5)
    assert found.ndcg_at_5 == pytest.approx((1 + 1 / log2(3)) / 5)
    assert (found.false_rejections.part, found.false_rejections.of) == (1, 5)
    assert (found.empty.part, found.empty.of) == (1, 2)


def test_ndcg_is_that_worked_out_by_hand():
    # Two pieces, at 1 and 3: gains 1 and 1/2 of the best 1 + 1/log2(3).
    assert ndcg([1, 3]) == pytest.approx((1 + 1 / 2) / (1 + 1 / log2(3)))
    assert ndcg([2]) == pytest.approx(1 / log2(3))
    assert ndcg([6]) == 0
    assert ndcg([None, 1]) == pytest.approx(1 / (1 + 1 / log2(3)))
    assert ndcg([]) == 0


def test_pieces_in_one_hit_are_no_loss():
    assert ndcg([1, 1]) == 1
    assert ndcg([1, 1, 2]) == 1


@pytest.mark.parametrize(
    ("part", "of", "low", "high"),
    [(8, 10, 0.4902, 0.9433), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (50, 100, 0.4038, 0.5962)],
)  # fmt: skip
def test_interval_is_wilsons(part, of, low, high):
    assert Share(part=part, of=of).interval == pytest.approx((low, high), abs=1e-4)


def test_share_of_nothing_is_unknown():
    assert Share(part=0, of=0).value is None
    assert Share(part=0, of=0).interval == (0.0, 1.0)


@given(st.integers(1, 500).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_interval_holds_the_share_and_stays_within_bounds(counts):
    share = Share(part=counts[0], of=counts[1])
    low, high = share.interval
    assert 0 <= low <= share.value <= high <= 1


@given(st.integers(1, 5), st.integers(1, 20))
def test_perfect_ranking_is_one_in_every_figure(pieces, questions):
    found = figures([ranked(*range(1, pieces + 1))] * questions + [ranked(hits=0)])
    assert found.hit_at_1.value == found.hit_at_5.value == found.hit_at_10.value == 1
    assert found.mrr == 1
    assert found.ndcg_at_5 == pytest.approx(1)
    assert found.false_rejections.value == 0
    assert found.empty.value == 1


@given(st.lists(nothing_or_ranks, max_size=12))
def test_figures_stay_in_order_and_within_bounds(judged):
    found = figures(judged)
    assert found.n == len(judged)
    assert found.hit_at_1.part <= found.hit_at_5.part <= found.hit_at_10.part <= found.hit_at_1.of
    for mean in (found.mrr, found.ndcg_at_5):
        assert mean is None or 0 <= mean <= 1 + 1e-9
    if found.mrr is not None:
        assert found.hit_at_1.value <= found.mrr <= found.hit_at_10.value


@given(st.lists(nothing_or_ranks, max_size=12), st.randoms(use_true_random=False))
def test_order_of_questions_changes_no_figure(judged, random):
    shuffled = list(judged)
    random.shuffle(shuffled)
    assert figures(shuffled) == figures(judged)


@given(st.lists(ranks, min_size=1, max_size=6, unique=True))
def test_moving_a_piece_up_never_lowers_ndcg(found):
    better = [rank - 1 if rank is not None and rank > 1 and rank - 1 not in found else rank for rank in found]  # fmt: skip
    assert ndcg(better) >= ndcg(found)


def test_categories_are_counted_apart_and_a_question_may_be_in_two():
    one, two = ranked(1, categories=("en", "dates")), ranked(None, categories=("en",))
    found = figures_by_category([one, two, ranked(1)])
    assert list(found) == ["dates", "en"]
    assert (found["en"].n, found["dates"].n) == (2, 1)
    assert found["en"].hit_at_1.value == 0.5
