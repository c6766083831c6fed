"""Collapse: true duplicates are one hit with all its sources, and nothing else is ever lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.records import FactId, PassageId
from retrieval.collapse import collapse, fit_budget, normalised
from retrieval.records import Collapsed, Shown


def shown(
    passage: int,
    text: str | None = None,
    *,
    fact: int | None = None,
    sources: tuple[int, ...] = (),
    context: tuple[str, ...] = (),
) -> Shown:
    default = f"Passage {passage}" if fact is None else f"Fact {fact}"
    return Shown(
        passage_id=PassageId(passage),
        fact_id=None if fact is None else FactId(fact),
        text=default if text is None else text,
        context=context,
        sources=tuple(PassageId(source) for source in sources),
    )


def kept(*ranked: Shown) -> list[int]:
    """The passages of the hits that are left."""
    return [collapsed.kept.passage_id for collapsed in collapse(ranked)]


def test_one_fact_in_five_notes_is_one_hit_with_five_sources():
    ranked = [shown(n, fact=7, sources=(1, 2, 3, 4, 5)) for n in (3, 1)]
    assert collapse(ranked) == (
        Collapsed(kept=ranked[0], sources=tuple(PassageId(n) for n in (3, 1, 2, 4, 5))),
    )


def test_same_text_under_another_fact_id_is_one_hit():
    one, other = shown(1, "The port is 5432.", fact=1), shown(2, "the  port is 5432", fact=2)
    assert collapse([one, other]) == (Collapsed(kept=one, sources=(PassageId(1), PassageId(2))),)


def test_same_text_under_headings_it_needs_is_two_hits():
    one = shown(1, "Port is 5432.", fact=1, context=("Staging",))
    other = shown(2, "Port is 5432.", fact=2, context=("Production",))
    assert kept(one, other) == [1, 2]


def test_passage_below_a_fact_that_it_states_goes_with_it():
    assert kept(shown(1, fact=1, sources=(1, 2)), shown(2)) == [1]


def test_fact_below_the_passage_that_states_it_goes_with_it():
    hit = collapse([shown(2), shown(1, fact=1, sources=(1, 2))])
    assert [(h.kept.passage_id, h.sources) for h in hit] == [(2, (2,))]


def test_one_passage_does_not_make_two_facts_one():
    facts = [shown(1, fact=1, sources=(1, 3)), shown(2, fact=2, sources=(2, 3))]
    assert kept(*facts, shown(3)) == [1, 2]


def test_passage_above_two_facts_of_its_own_shows_both():
    assert kept(shown(3), shown(1, fact=1, sources=(1, 3)), shown(2, fact=2, sources=(2, 3))) == [3]


def test_another_passage_stating_a_fact_that_was_taken_in_stays():
    assert kept(shown(2), shown(3, fact=1, sources=(1, 2, 3)), shown(1)) == [2, 1]


def test_fact_taken_in_takes_its_copies_along():
    first = shown(3, fact=1, sources=(2, 3))
    assert kept(shown(2), first, shown(4, fact=9, text="fact 1"), shown(5, fact=1)) == [2]


def test_passage_stating_a_copy_of_the_fact_goes_with_it():
    assert kept(shown(1, fact=1), shown(2, fact=2, text="Fact 1", sources=(2, 5)), shown(5)) == [1]


def test_fact_stated_by_a_copy_of_the_passage_goes_with_it():
    assert kept(shown(1, "Same"), shown(2, "same"), shown(3, fact=1, sources=(2, 3))) == [1]


def test_fact_stated_by_two_hits_goes_with_the_better():
    ranked = [shown(1), shown(2), shown(3, fact=1, sources=(2, 1))]
    assert [(h.kept.passage_id, h.sources) for h in collapse(ranked)] == [(1, (1,)), (2, (2,))]


def test_many_hits_of_one_note_all_stay():
    assert kept(*(shown(n) for n in range(9))) == list(range(9))


def test_nothing_collapses_to_nothing():
    assert collapse([]) == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The port is 5432.", "the port  is\n5432"),
        ("It’s “done”", 'it\'s "done"'),
        ("ﾊﾞｯｸｱｯﾌﾟ", "バックアップ"),
        ("ｐｏｒｔ　５４３２", "port 5432"),
        ("café", "cafe\u0301"),
        ("端口是5432。", "端口是5432"),
        ("a – b", "a - b"),
        ("It's `x`", "It's 'x'"),
    ],
)
def test_same_but_for_writing_is_the_same(one, other):
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("version 1.2", "version 12"),
        ("-5 degrees", "5 degrees"),
        ("It works.", "It works?"),
        ("C++", "C"),
        ("C#", "C"),
        ("git add .", "git add"),
        ("cd ..", "cd"),
        ("x < 5", "x > 5"),
        ("It does not work", "It does work"),
        ("naïve", "naive"),
        ("が", "か"),
        ("an area of 10² metres", "an area of 102 metres"),
        ("tar -x", "tar -X"),
        ("The laser has 5 mW", "The laser has 5 MW"),
        ("I like Polish", "I like polish"),
    ],
)
def test_marks_that_mean_something_stay(one, other):
    assert normalised(one) != normalised(other)


@given(st.text())
def test_normalising_again_or_with_space_round_it_changes_nothing(text):
    assert normalised(f"  {text}\n") == normalised(text)
    assert normalised(normalised(text)).rstrip(".,;:") == normalised(text).rstrip(".,;:")


@st.composite
def rankings(draw: st.DrawFn) -> list[Shown]:
    """Passages, each once, shown as a fact or as themselves; a fact has one text and its true sources."""
    passages = draw(st.permutations(range(8)))[: draw(st.integers(0, 8))]
    # The facts that each passage states, as the bits of a number.
    bits = draw(st.lists(st.integers(0, 31), min_size=8, max_size=8))
    stated = {
        passage: [fact for fact in range(5) if bits[passage] >> fact & 1] for passage in range(8)
    }
    ranked = []
    for passage in passages:
        fact = draw(st.sampled_from([None, *stated[passage]]))
        if fact is None:
            ranked.append(shown(passage, f"Text {draw(st.integers(1, 6))}"))
        else:
            sources = tuple(p for p in stated if fact in stated[p])
            ranked.append(shown(passage, f"Fact {fact % 3}", fact=fact, sources=sources))
    return ranked


@given(rankings())
def test_hits_keep_their_order_and_the_best_rank(ranked):
    left = [hit.kept for hit in collapse(ranked)]
    assert left == [one for one in ranked if one in left]
    assert left[:1] == ranked[:1]


@given(rankings())
def test_no_two_hits_say_the_same(ranked):
    left = [hit.kept for hit in collapse(ranked)]
    texts = [normalised(one.text) for one in left]
    facts = [one.fact_id for one in left if one.fact_id is not None]
    assert len(set(texts)) == len(texts)
    assert len(set(facts)) == len(facts)
    stating = {p for one in left if one.fact_id is not None for p in one.sources}
    assert not any(one.fact_id is None and one.passage_id in stating for one in left)


@given(rankings())
def test_what_is_gone_is_said_by_a_hit_above_it(ranked):
    hits = [hit.kept for hit in collapse(ranked)]

    def is_said_by(gone: Shown, hit: Shown) -> bool:
        same = gone.text == hit.text or (gone.fact_id is not None and gone.fact_id == hit.fact_id)
        return same or gone.passage_id in hit.sources or hit.passage_id in gone.sources

    above: list[Shown] = []
    for one in ranked:
        if one not in hits:
            # Directly, or by way of another that is gone and says the same.
            assert any(is_said_by(one, other) for other in above)
        above.append(one)


@given(st.integers(0, 40))
def test_things_that_share_nothing_all_stay(count):
    apart = [shown(n, f"Text {n}") for n in range(count)]
    assert [hit.kept for hit in collapse(apart)] == apart


@given(rankings())
def test_collapsing_twice_changes_nothing_more(ranked):
    once = [hit.kept for hit in collapse(ranked)]
    assert [hit.kept for hit in collapse(once)] == once


@given(rankings())
def test_sources_are_counted_once_and_start_where_the_hit_stands(ranked):
    for hit in collapse(ranked):
        assert hit.sources[0] == hit.kept.passage_id
        assert len(set(hit.sources)) == len(hit.sources)
        assert set(hit.sources) >= set(hit.kept.sources)


def test_budget_takes_whole_texts_and_passes_over_one_that_is_too_long():
    assert fit_budget(["aaaa", "b" * 50, "cccc", "dddd"], 10) == (0, 2)


def test_first_is_taken_however_long():
    assert fit_budget(["a" * 500, "b"], 10) == (0,)
    assert fit_budget(["a"], 0) == (0,)


def test_budget_of_nothing_takes_nothing():
    assert fit_budget([], 4000) == ()


@given(st.lists(st.text()), st.integers(0, 60))
def test_budget_is_kept_and_nothing_that_fits_is_left_out(texts, max_chars):
    taken = fit_budget(texts, max_chars)
    used = sum(len(texts[place]) for place in taken)
    assert list(taken) == sorted(set(taken))
    assert taken[:1] == ((0,) if texts else ())
    assert used <= max_chars or len([place for place in taken if texts[place]]) == 1
    for place in set(range(len(texts))) - set(taken):
        before = sum(len(texts[other]) for other in taken if other < place)
        assert before + len(texts[place]) > max_chars
