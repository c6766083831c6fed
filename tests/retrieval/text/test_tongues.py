"""Which language a question is told to be in, and when none is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.foreign import foreign_questions
from retrieval.text.tongues import LATIN, tongue_of


@pytest.mark.parametrize("language", foreign_questions())
def test_nearly_every_question_is_told_to_be_in_its_language(language):
    told = [tongue_of(question) for question in foreign_questions()[language]]
    assert told.count(language) >= len(told) - 1, told


@pytest.mark.parametrize(
    "text", ["Kubernetes ingress", "E1234", "backup", "zweite Wasserpumpe", "PostgreSQL 16"]
)
def test_latin_words_that_mean_something_alone_tell_no_language(text):
    assert tongue_of(text) == "latin"


@pytest.mark.parametrize("text", ["", " ", "42?", "🐑", "->", "שלום עולם", "नमस्ते दुनिया"])
def test_no_letters_or_a_script_of_none_of_them_tell_nothing(text):
    assert tongue_of(text) is None


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("备份 backup server 什么时候运行？", "zh"),
        ("バックアップ", "ja"),
        ("백업", "ko"),
        ("สำรองข้อมูล", "th"),
        ("Коли працює сервер?", "ru"),
        ("پشتیبان", "ar"),
        ("Wie is de baas van Anna?", "nl"),
        ("Where is the do list of Maria?", "en"),
        ("Chi ha le chiavi della cantina?", "it"),
        ("Onde estão as chaves da adega?", "pt"),
    ],
)
def test_script_and_function_words_tell_the_language(text, language):
    assert tongue_of(text) == language


@given(st.text())
def test_any_text_has_one_of_the_known_answers(text):
    assert tongue_of(text) in {None, "latin", *LATIN, *foreign_questions()}
