"""The hand-written questions say what is so, and the runner counts right."""

import re
from collections import Counter

import pytest

from bench.multilingual import (
    folder_of,
    judge,
    mentioned,
    misquoted,
    questions_of,
    tally,
)

ANSWERABLE = questions_of("multilingual")
UNANSWERABLE = questions_of("nothing")
VAULTS = sorted({vault for one in UNANSWERABLE for vault in one["vaults"]})


def vault_folder(vault):
    folder = folder_of(vault)
    if not folder.is_dir():
        pytest.skip(f"{vault} is not here: set RECALLD_SHARED")
    return folder


# ---------------------------------------------------------------- the questions


@pytest.mark.parametrize("vault", VAULTS)
def test_right_places_hold_what_they_are_quoted_for(vault):
    folder = vault_folder(vault)
    asked = [one for one in ANSWERABLE if one["vault"] == vault]
    assert [text for one in asked for text in misquoted(folder, one)] == []


@pytest.mark.slow
@pytest.mark.parametrize("vault", VAULTS)
def test_words_said_to_be_absent_are_in_no_note(vault):
    folder = vault_folder(vault)
    assert mentioned(folder, [one for one in UNANSWERABLE if vault in one["vaults"]]) == []


def test_sets_are_as_large_as_their_bars_ask():
    same = [one for one in ANSWERABLE if not one["cross"]]
    assert len(same) >= 90
    assert len(ANSWERABLE) - len(same) >= 70
    assert {one["vault"] for one in ANSWERABLE} <= set(VAULTS)
    far = [one["question_language"] for one in UNANSWERABLE if not one["near"]]
    assert Counter(far) == dict.fromkeys(("en", "nl", "zh", "de"), 15)


def test_each_question_has_its_own_id_and_words_and_a_right_place():
    every = [*ANSWERABLE, *UNANSWERABLE]
    assert len({one["id"] for one in every}) == len(every)
    assert len({one["question"] for one in every}) == len(every)
    for one in ANSWERABLE:
        assert one["gold"], one["id"]
        assert one["cross"] == (one["language"] != one["question_language"]), one["id"]


@pytest.mark.parametrize("vault", VAULTS)
def test_questions_copy_no_phrase_from_the_lines_that_answer_them(vault):
    folder = vault_folder(vault)
    copied = []
    for one in ANSWERABLE:
        if one["vault"] == vault:
            for place in one["gold"]:
                lines = (folder / place["file"]).read_text("utf-8").split("\n")
                held = phrases("\n".join(lines[place["lines"][0] - 1 : place["lines"][1]]))
                copied += [(one["id"], each) for each in phrases(one["question"]) & held]
    assert copied == []


def phrases(text):
    """Five words in a row; of writing without spaces, nine characters that are not a name."""
    words = re.findall(r"[^\W\d_\u3040-\u30ff\u4e00-\u9fff]+", text.lower())
    found = {tuple(words[at : at + 5]) for at in range(len(words) - 4)}
    for run in re.findall(r"[\u3040-\u30ff\u4e00-\u9fff]+", text):
        pieces = {run[at : at + 9] for at in range(len(run) - 8)}
        found |= {one for one in pieces if len(re.findall(r"[^\u30a0-\u30ff]", one)) >= 6}
    return found


# ---------------------------------------------------------------- the figures


def result(path, first, last, score=0.5):
    return {"path": path, "lines": [first, last], "text": "", "score": score}


QUESTION = {
    "id": "q",
    "language": "en",
    "question_language": "nl",
    "category": "what",
    "question": "?",
    "gold": [{"file": "a.md", "lines": [4, 5], "text": "x"}],
}


def test_hit_counts_where_it_shares_a_line_with_a_right_place():
    hits = [result("b.md", 4, 5), result("a.md", 1, 3), result("a.md", 5, 9)]
    answer = {"results": hits, "rejected": False}
    outcome = judge(QUESTION, answer, answer)
    assert (outcome.rank, outcome.note_rank) == (3, 2)


def test_withheld_answer_is_no_hit_and_keeps_its_rank_without_threshold():
    nothing = {"results": [], "rejected": True}
    outcome = judge(QUESTION, nothing, {"results": [result("a.md", 4, 4)], "rejected": False})
    assert outcome.rank is None
    assert outcome.rank_unjudged == 1
    assert outcome.empty
    assert tally("", [outcome]).empty == 1


def test_tally_counts_what_was_not_found_as_zero():
    right = {"results": [result("b.md", 1, 1), result("a.md", 4, 4)], "rejected": False}
    wrong = {"results": [], "rejected": True}
    figures = tally("", [judge(QUESTION, right, right), judge(QUESTION, wrong, wrong)])
    assert figures.hit == {1: 0.0, 5: 0.5, 10: 0.5}
    assert figures.mrr == 0.25
