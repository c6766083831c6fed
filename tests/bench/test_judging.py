"""Sets and answers of the benchmarks, judged as `recalld eval` judges."""

from __future__ import annotations

from bench.judging import judged, question_of, table
from retrieval.evaluation.metrics import figures

QUERY = {
    "id": "a",
    "question": "why?",
    "category": "reason",
    "answerable": True,
    "gold": [
        {"file": "a.md", "lines": [3, 4], "text": "one"},
        {"file": "b.md", "lines": [9, 9], "text": "one"},
        {"file": "c.md", "lines": [1, 1], "text": "two"},
    ],
}


def answer(*places: tuple[str, int]) -> dict:
    return {
        "id": "a",
        "results": [
            {"path": f"vault/{path}", "lines": [line, line], "text": "x", "score": 0.9}
            for path, line in places
        ],
    }


def test_same_words_in_two_places_are_one_piece_of_evidence():
    assert [len(piece.places) for piece in question_of(QUERY).pieces] == [2, 1]
    assert judged(QUERY, answer(("b.md", 9), ("c.md", 1))).ranks == (1, 2)


def test_lines_decide_within_the_right_note():
    assert judged(QUERY, answer(("a.md", 5), ("a.md", 4))).first == 2


def test_query_without_an_answer_wants_nothing():
    query = {**QUERY, "answerable": False}
    assert not question_of(query).answerable
    assert judged(query, answer(("a.md", 3))).failed
    assert not judged(query, answer()).failed


def test_table_has_a_row_a_group():
    found = figures([judged(QUERY, answer(("a.md", 3)))])
    rows = table({"all": found, "others": figures([])}).splitlines()
    assert len(rows) == 4
    assert len({row.count("|") for row in rows}) == 1
    assert "| all | 1 | 1.000 |" in rows[2]
