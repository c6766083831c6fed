"""`recalld eval` as a whole: over a real memory, with and without a daemon, through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from daemon.cli import cli
from daemon.evaluating import Wishes, evaluate, only_of, questions_of
from recalld.errors import SettingsError, StoreUnusable
from recalld.settings.loading import load_settings
from recalld.settings.tables import Settings
from tests.fakes import Loader, WordEmbedder
from tests.running import RunningDaemon

pytestmark = pytest.mark.slow

NOTES = {
    "pump.md": "---\ndate: 2026-01-05\n---\nThe compressor hums at night.\n",
    "oven.md": "Oven E1234 is broken.\n",
    "servers.md": "The wiki runs on [[alder]].\n",
    "alder.md": "# alder\n\nThe restart window is Tuesday.\n",
    "中文.md": "我喜欢喝龙井茶。\n",
}
QUESTIONS = """
[[questions]]
id = "oven"
question = "What is wrong with oven E1234?"
words = "broken"
category = "machines"

[[questions]]
id = "meaning"
question = "compressor noise night"
source = "pump.md:4"
category = ["machines", "meaning"]

[[questions]]
id = "tea"
question = "喜欢喝什么茶？"
words = "龙井"
category = "中文"

[[questions]]
id = "wrong"
question = "Which tea does the oven like?"
words = "jasmine"

[[questions]]
id = "none"
question = "zeppelin over Bodensee"
nothing = true
"""
SYNONYMS = [frozenset({"hum", "nois"})]


def embedder() -> WordEmbedder:
    return WordEmbedder(synonyms=SYNONYMS)


def settings_of(base: Path, **others: object) -> Settings:
    flags = {"data_dir": str(base / "data"), "llm.provider": "off", **others}
    return load_settings(flags=flags, env={}, file=None, home=base).settings


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with a settled memory and a file of questions; its daemon has stopped."""
    base = tmp_path_factory.mktemp("eval")
    (base / "questions.toml").write_text(QUESTIONS, "utf-8")
    with RunningDaemon(base, embedder=embedder()) as daemon:
        for path, text in NOTES.items():
            daemon.write(path, text)
        daemon.settle()
    return base


def run(base: Path, **wishes: object) -> dict:
    questions = questions_of(base / "questions.toml")
    return evaluate(settings_of(base), questions, Wishes(**wishes), Loader(embedder()))


def test_figures_failures_and_stages_come_out(place):
    result = run(place)
    figures = result["figures"]
    assert figures["questions"] == 5
    assert (figures["hit_at_1"]["part"], figures["hit_at_1"]["of"]) == (3, 4)
    assert figures["mrr"] == 0.75
    assert figures["empty_without_answer"]["value"] == 1
    assert set(result["categories"]) == {"machines", "meaning", "中文"}
    assert [one["id"] for one in result["failed"]] == ["wrong"]
    assert result["failed"][0]["wanted"] == ["jasmine"]
    names = [one["name"] for one in result["stages"]]
    assert names[:3] == ["keyword", "vector", "graph"]
    json.dumps(result)


def test_answers_are_the_daemons_own_and_leave_no_count(tmp_path):
    (tmp_path / "questions.toml").write_text(QUESTIONS, "utf-8")
    with RunningDaemon(tmp_path, embedder=embedder()) as daemon:
        for path, text in NOTES.items():
            daemon.write(path, text)
        daemon.settle()
        counts = daemon.rows("SELECT uid, recall_count, last_recalled_at FROM fact ORDER BY uid")
        result = run(tmp_path)
        assert (
            daemon.rows("SELECT uid, recall_count, last_recalled_at FROM fact ORDER BY uid")
            == counts
        )
        asked = {one.id: one.text for one in questions_of(tmp_path / "questions.toml")}
        for one in result["failed"]:
            hits = daemon.recall(asked[one["id"]])
            came = one["came"] and one["came"]["anchor"]
            assert came == (hits[0]["anchor"] if hits else None)
        assert not any("changed meanwhile" in one for one in result["warnings"])
        daemon.write("late.md", "A note that came later.\n")
        daemon.settle()
        assert daemon.texts("note that came later")


def test_sweep_of_the_threshold_trades_answers_for_silence(place):
    (sweep,) = run(place, sweeps=("tau=0:1.5:0.5",))["sweeps"]
    assert [point["value"] for point in sweep["points"]] == [0, 0.5, 1.0, 1.5]
    rejected = [point["false_rejections"]["part"] for point in sweep["points"]]
    assert rejected == sorted(rejected)
    assert rejected[0] == 0 < rejected[-1]


def test_sweep_without_a_range_marks_where_it_stands(place):
    (sweep,) = run(place, sweeps=("tau",))["sweeps"]
    assert sweep["now"] == 0.4
    assert 0.4 in [point["value"] for point in sweep["points"]]


def test_settings_for_the_run_are_used(place):
    result = run(place, settings=("min_relevance=1", "vector=off"))
    assert result["settings"]["vector"] is False
    assert result["figures"]["false_rejections"]["part"] > 0


def test_same_settings_pass_and_a_deaf_one_fails(place):
    assert run(place, overrides=("graph=on",))["comparison"]["verdict"] == "PASS"
    deaf = run(place, overrides=("min_relevance=1",))["comparison"]
    assert deaf["verdict"] == "FAIL"
    assert deaf["differences"]["MRR"]["mean"] < 0
    assert {one["id"] for one in deaf["changed"]} >= {"oven", "meaning", "tea"}


def test_other_settings_with_a_memory_of_their_own_are_asked_there(place, tmp_path):
    with RunningDaemon(tmp_path, embedder=embedder()) as daemon:
        daemon.write("oven.md", NOTES["oven.md"])
        daemon.settle()
    result = run(place, other=settings_of(tmp_path))
    assert [one["id"] for one in result["comparison"]["changed"]] == ["meaning", "tea", "wrong"]


def test_source_that_no_note_is_is_named(place, tmp_path):
    file = tmp_path / "q.jsonl"
    file.write_text('{"question": "oven", "source": "ovens.md"}\n', "utf-8")
    result = evaluate(settings_of(place), questions_of(file), Wishes(), Loader(embedder()))
    assert "q1: the memory has no note ovens.md" in result["warnings"]


def test_vectors_of_another_model_are_not_compared(place):
    other = Loader(WordEmbedder(identity="others@1"))
    result = evaluate(settings_of(place), questions_of(place / "questions.toml"), Wishes(), other)
    assert any("vectors take no part" in one for one in result["warnings"])
    assert result["model"] is None


def test_missing_memory_is_told_and_not_made(tmp_path):
    with pytest.raises(StoreUnusable, match="no memory"):
        evaluate(settings_of(tmp_path), (), Wishes(), Loader(None))
    assert not (tmp_path / "data").exists()


def test_only_the_questions_of_a_category_are_asked(place):
    questions = questions_of(place / "questions.toml")
    assert [one.id for one in only_of(questions, ("meaning",))] == ["meaning"]
    assert only_of(questions, ()) == questions
    with pytest.raises(SettingsError, match="no question has the category"):
        only_of(questions, ("machine",))


def test_wishes_that_are_wrong_are_all_told(place):
    with pytest.raises(SettingsError) as told:
        run(place, settings=("colour=1", "graph=maybe"))
    assert len(told.value.mistakes) == 2
    with pytest.raises(SettingsError, match="did you mean tau"):
        run(place, sweeps=("taut",))


# ---------------------------------------------------------------- the command


@pytest.fixture
def call(place, monkeypatch):
    """`recalld eval` in this process, by keywords alone, on the memory of `place`."""
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.setenv("RECALLD_DATA_DIR", str(place / "data"))
    monkeypatch.setenv("RECALLD_EMBEDDING__PROVIDER", "off")

    def called(*words: str):
        return CliRunner().invoke(cli, ["eval", *words])

    return called


def test_command_prints_a_page(place, call):
    done = call(str(place / "questions.toml"))
    assert done.exit_code == 0, done.output
    for piece in ("5 questions", "Hit@1", "MRR", "nDCG@5", "empty, no answer", "keyword", "supersession", "wrong", "中文"):  # fmt: skip
        assert piece in done.output, piece


def test_command_gives_all_as_json(place, call):
    done = call(str(place / "questions.toml"), "--json", "--sweep", "keyword_tau=0.2,0.9")
    result = json.loads(done.stdout)
    assert result["figures"]["questions"] == 5
    assert [point["value"] for point in result["sweeps"][0]["points"]] == [0.2, 0.9]


@pytest.mark.parametrize(
    ("change", "code"), [("graph=on", 0), ("keyword_tau=1", None), ("keyword=off", 2)]
)
def test_exit_code_is_the_verdict(place, call, change, code):
    done = call(str(place / "questions.toml"), "--compare", change, "--json")
    verdict = json.loads(done.stdout)["comparison"]["verdict"]
    assert done.exit_code == {"PASS": 0, "HOLD": 1, "FAIL": 2}[verdict]
    assert code in (None, done.exit_code)


def test_other_settings_file_is_compared(place, call, tmp_path):
    other = tmp_path / "other.toml"
    other.write_text("[recall]\nmin_relevance = 0.99\n", "utf-8")
    done = call(str(place / "questions.toml"), "--compare", str(other))
    assert done.exit_code == 2
    assert "FAIL" in done.output
    done = call(str(place / "questions.toml"), "--compare", str(other), "--compare", str(other))
    assert "one settings file" in done.output


def test_mistakes_in_the_file_are_told_with_their_lines(place, call, tmp_path):
    file = tmp_path / "bad.jsonl"
    file.write_text(
        '{"question": "q"}\nno json\n{"question": "q", "words": "a", "wrods": "b"}\n', "utf-8"
    )
    done = call(str(file))
    assert done.exit_code == 2
    for piece in (
        "line 1: it needs",
        "line 2: is not JSON",
        "line 3: `wrods` is no key here",
        "hint: ",
    ):
        assert piece in done.output, piece


def test_file_that_is_not_there_or_not_text_is_told(place, call, tmp_path):
    for missing, why in (("none.toml", "No such file"), (".", "Is a directory")):
        done = call(str(tmp_path / missing))
        assert done.exit_code == 2
        assert why in done.output
    (tmp_path / "latin.toml").write_bytes(b"\n# caf\xe9\n")
    done = call(str(tmp_path / "latin.toml"))
    assert done.exit_code == 2
    assert "line 2: is not UTF-8" in done.output


def test_memory_that_is_not_there_is_told(place, call, tmp_path):
    done = call(str(place / "questions.toml"), "--data", str(tmp_path / "none"))
    assert done.exit_code == 1
    assert "there is no memory" in done.output


def test_thresholds_that_the_daemon_measured_are_used(tmp_path):
    (tmp_path / "questions.toml").write_text(QUESTIONS, "utf-8")
    with RunningDaemon(tmp_path, embedder=embedder()) as daemon:
        for path, text in NOTES.items():
            daemon.write(path, text)
        lines = (f"- Parcel number{n} weighs gram{n}.\n" for n in range(60))
        daemon.write("parcels.md", "".join(lines))
        daemon.settle()
        told = daemon.wait_for(lambda status: status["evidence"]["measured"], 300)["evidence"]
    assert run(tmp_path)["settings"]["thresholds"] == told["threshold"]
    assert "thresholds" not in run(tmp_path, settings=("tau=0.4",))["settings"]
    (sweep,) = run(tmp_path, sweeps=("tau",))["sweeps"]
    assert sweep["now"] is None
    rejected = [point["false_rejections"]["part"] for point in sweep["points"]]
    assert rejected == sorted(rejected)
