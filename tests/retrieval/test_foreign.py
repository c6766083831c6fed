"""The questions that notes hardly answer."""

from __future__ import annotations

from retrieval.foreign import foreign_questions, foreign_texts, wording


def test_each_language_has_as_many_questions_and_none_twice():
    questions = foreign_questions()
    assert len(questions) == 13
    assert {len(some) for some in questions.values()} == {16}
    every = [one for some in questions.values() for one in some]
    assert len(set(every)) == len(every)


def test_what_is_no_word_is_put_to_a_memory_beside_the_questions():
    words = foreign_texts()["unknown"]
    assert {**foreign_questions(), "unknown": words} == foreign_texts()
    assert len(words) == 16
    assert all(len(one.split()) <= 2 for one in words)


def test_wording_is_the_same_whenever_it_is_asked_for():
    assert wording() == wording()
    assert len(wording()) == 16
