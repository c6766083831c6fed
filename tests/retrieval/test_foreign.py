"""The questions that notes hardly answer."""

from __future__ import annotations

from retrieval.foreign import foreign_questions, wording


def test_each_language_has_as_many_questions_and_none_twice():
    questions = foreign_questions()
    assert len(questions) == 13
    assert {len(some) for some in questions.values()} == {16}
    every = [one for some in questions.values() for one in some]
    assert len(set(every)) == len(every)


def test_wording_is_the_same_whenever_it_is_asked_for():
    assert wording() == wording()
    assert len(wording()) == 16
