from __future__ import annotations

import pytest

from ingest.rules.phrases import START, phrases, plain_text, words_of


def found(listed: list[str], text: str, start: str = "") -> list[str]:
    return [match.group() for match in phrases(listed, start).find(text, words_of(text))]


def test_a_phrase_stands_whole():
    assert found(["bug"], "A bug, debugging, bugs and bug-free.") == ["bug"]


def test_a_star_lets_a_word_go_on():
    assert found(["verhuis*"], "We verhuisden, hij verhuist.") == ["verhuisden", "verhuist"]


@pytest.mark.parametrize("gap", ["it", "it all up", "one two three four"])
def test_a_gap_is_one_to_four_words(gap):
    assert found(["fiel … aus"], f"fiel {gap} aus")
    assert not found(["fiel … aus"], "fiel one two three four five aus")


def test_scripts_without_spaces_match_anywhere():
    assert found(["失败"], "部署失败了") == ["失败"]
    assert found(["오류"], "배포오류가") == ["오류"]


def test_a_start_is_where_a_piece_of_a_sentence_begins():
    assert found(["run"], "Then run it, run again and never run.", START) == ["Then run", "run"]


def test_a_list_without_phrases_finds_nothing():
    assert found([], "anything") == []


def test_code_and_addresses_are_no_words():
    assert plain_text("See `error.log` at https://x.org/error now") == "See ` at  now"
