"""The page of an evaluation."""

from __future__ import annotations

import unicodedata

from daemon.render.evaluation import evaluation_lines

SHARE = {"value": 0.5, "part": 1, "of": 2, "interval": [0.0945, 0.9055]}
NONE = {"value": None, "part": 0, "of": 0, "interval": [0.0, 1.0]}
FIGURES = {
    "questions": 3,
    "hit_at_1": SHARE,
    "hit_at_5": SHARE,
    "hit_at_10": SHARE,
    "mrr": 0.75,
    "ndcg_at_5": 0.8,
    "false_rejections": SHARE,
    "empty_without_answer": NONE,
}


def page(**parts: object) -> list[str]:
    lines = evaluation_lines({"figures": FIGURES, "took_s": 1.2, **parts})
    return ["".join(span.text for span in line) for line in lines]


def columns(text: str) -> int:
    return sum(1 + (unicodedata.east_asian_width(char) in "WF") for char in text)


def test_shares_come_with_counts_and_intervals_and_none_where_none_was_asked():
    shown = page()
    assert any(line.split() == ["Hit@1", "0.500", "1", "of", "2,", "95", "%", "0.095–0.905"] for line in shown)  # fmt: skip
    assert any(line.split() == ["empty,", "no", "answer", "-"] for line in shown)


def test_columns_stand_under_one_another_in_wide_scripts_too():
    shown = page(categories={"中文": FIGURES, "English": FIGURES})
    start = next(at for at, line in enumerate(shown) if "category" in line)
    assert len({columns(line) for line in shown[start : start + 3]}) == 1


def test_failed_question_tells_what_came_and_what_was_withheld():
    hit = {
        "text": "Oven \x1b[31mhums",
        "source": {"path": "a.md", "lines": [3, 3]},
        "relevance": 0.44,
    }
    shown = "\n".join(
        page(
            failed=[
                {"id": "a", "question": "why?", "problem": "right at rank 2", "wanted": ["x", "y"], "came": hit},
                {"id": "b", "question": "how?", "problem": "nothing came", "wanted": [], "withheld": hit, "withheld_rank": 1},
            ]
        )
    )  # fmt: skip
    assert "wanted    x + y" in shown
    assert "a.md:3" in shown
    assert "right at rank 1; its first has relevance 0.440" in shown
    assert "\x1b" not in shown


def test_sweep_marks_the_value_that_is_set():
    points = [{"value": value, **FIGURES} for value in (0.4, 0.48)]
    shown = page(sweeps=[{"setting": "tau", "now": 0.48, "switch": False, "points": points}])
    assert [line.split()[0] for line in shown if "←" in line] == ["0.48"]
    switch = [{"value": value, **FIGURES} for value in (0.0, 1.0)]
    shown = page(sweeps=[{"setting": "graph", "now": 1.0, "switch": True, "points": switch}])
    assert [line.split()[0] for line in shown if "←" in line] == ["on"]


def test_verdict_shows_each_figure_and_what_changed():
    shown = "\n".join(
        page(
            comparison={
                "verdict": "HOLD",
                "margin": 0.02,
                "resamples": 2000,
                "differences": {"MRR": {"mean": -0.1, "interval": [-0.3, 0.1], "questions": 3, "verdict": "HOLD"}},
                "changed": [{"id": "a", "question": "why?", "rank": 1, "rank_other": None, "empty": False, "empty_other": True}],
            }
        )
    )  # fmt: skip
    assert "HOLD · other settings" in shown
    assert "-0.300 to +0.100" in shown
    assert "a: rank 1 → empty" in shown


def test_warnings_come_last():
    assert page(warnings=["the graph gave nothing"])[-1] == "warning  the graph gave nothing"


def test_result_of_another_shape_is_no_error():
    assert list(evaluation_lines({"figures": [], "failed": "x", "stages": [1], "sweeps": [{}], "comparison": 3}))  # fmt: skip
