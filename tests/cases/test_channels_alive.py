"""A canary for every channel and step of ranking: a question over the example notes whose answer it changes.

It says that a step still takes part, not that it helps: that is what `recalld eval` and the benchmarks are for.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import fields
from datetime import date
from pathlib import Path

import pytest

from daemon.evaluating import Memory, opened
from recalld.settings.loading import load_settings
from retrieval.evaluation.asking import ask, judged
from retrieval.evaluation.knobs import KNOBS, switched_off
from retrieval.evaluation.questions import Question
from retrieval.evaluation.stages import CHANNELS, STEPS
from retrieval.weights import Weights
from tests.fakes import Loader, WordEmbedder
from tests.running import RunningDaemon

pytestmark = pytest.mark.slow

NOTES = Path(__file__).parents[2] / "examples" / "notes"
TODAY = date(2026, 10, 10)
# What is recalled often beforehand.
OFTEN = ("storingsdienst 0800 555 09", "klantnummer TR-1904", "每天早上五点半更新", "ferry timetable runs on fairway")  # fmt: skip
# Facts that match a question alike, by words and vectors: one stands out, and one was put away.
CRATES = {
    "fig": "Orchard keepers label crates with fig.\n",
    "lemon": "---\nstatus: archived\n---\n\nOrchard keepers label crates with lemon.\n",
    "mango": "Orchard keepers label crates with mango.\n",
    "melon": "> [!important]\n> Orchard keepers label crates with melon.\n",
    "papaya": "Orchard keepers label crates with papaya.\n",
}
# No fact of the vault stands in several notes.
ONCE = ("gloves", "boots", "ropes", "maps", "chairs", "flags", "lamps", "horns")
AGREED = {
    **{f"z-once-{thing}": f"Regatta volunteers bring their own {thing}.\n" for thing in ONCE},
    **{f"a-often-{number}": "Regatta volunteers bring their own lunch.\n" for number in range(8)},
}
QUESTIONS = {
    "keyword": ("who is on holiday in August", "hoe lang duurt de trein", "林喜欢喝什么茶"),
    "vector": ("guest Wi-Fi code", "how much memory does db2 have", "龙井茶"),
    "graph": ("When may the machine that the tide bulletin runs on be restarted?",),
    "neighbours": ("What do we pay a month for db2?", "How many days are forecasts kept?"),
    "decay": ("the production database runs on", "What happened on 18 May?"),
    "importance": ("what do orchard keepers label",),
    "frequency": ("storingsdienst", "klantnummer", "每天更新", "runs on"),
    "agreement": ("what do regatta volunteers bring",),
    "when": ("wanneer is de ketel nagekeken", "When is acceptance planned?"),
    "number": ("How many days are forecasts kept?", "hoe lang duurt de trein"),
    "interval": ("What happened on 18 May?", "who is on holiday in August"),
    "stated": (
        "call the plumber about the boiler",
        "add the column quality to readings",
        "restore the database",
    ),
    "newer_numbers": ("How many days must an invoice be paid?",),
    "supersession": ("the production database runs on",),
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """The example notes as a daemon took them in, opened as an evaluation opens them."""
    base = tmp_path_factory.mktemp("alive")
    embedder = WordEmbedder(synonyms=(frozenset(CRATES),))
    shutil.copytree(NOTES, base / "vault")
    for name, text in AGREED.items():
        (base / "vault" / f"{name}.md").write_text(text, encoding="utf-8")
    for fruit, text in CRATES.items():
        # No title of its own, so that they differ in nothing else.
        (base / "vault" / fruit).mkdir()
        (base / "vault" / fruit / "note.md").write_text(text, encoding="utf-8")
    with RunningDaemon(base, embedder=embedder) as daemon:
        daemon.settle()
        for text in OFTEN * 30:
            daemon.recall(text, limit=1)
        counted = "SELECT sum(recall_count) FROM fact"
        daemon.wait_until(lambda: daemon.rows(counted)[0][0] >= 30 * len(OFTEN))
    flags = {"data_dir": str(base / "data"), "llm.provider": "off"}
    settings = load_settings(flags=flags, env={}, file=None, home=base).settings
    with opened(settings, Loader(embedder)) as made:
        yield made


def hits(memory: Memory, texts: tuple[str, ...], without: str | None) -> list[list[str]]:
    """The first ten of each question, with no threshold, so that nothing hides a change."""
    questions = [
        Question(id=text, text=text, pieces=(), today=TODAY, min_relevance=0.0) for text in texts
    ]
    variant = switched_off(memory.variant, without) if without else memory.variant
    return [
        [hit.text for hit in one.hits]
        for one in judged(memory.recall, ask(memory.recall, questions), variant)
    ]


def test_every_weight_is_a_step_or_channel_that_a_canary_watches():
    assert QUESTIONS.keys() == {*CHANNELS, *STEPS}
    # These two weigh a step that has a switch of its own, and this one shares between two channels.
    others = {"neighbour_share", "graph_gain", "vector_share"}
    assert {field.name for field in fields(Weights)} - others <= QUESTIONS.keys() <= KNOBS.keys()


@pytest.mark.parametrize("stage", QUESTIONS)
def test_stage_still_changes_an_answer(memory, stage):
    with_it = hits(memory, QUESTIONS[stage], None)
    without = hits(memory, QUESTIONS[stage], stage)
    assert all(with_it), "each question has hits"
    changed = [text for text, one, two in zip(QUESTIONS[stage], with_it, without, strict=True) if one != two]  # fmt: skip
    assert changed, f"leaving out {stage} changes nothing any more"


def test_what_stands_out_comes_first_and_what_was_put_away_last(memory):
    (found,) = hits(memory, QUESTIONS["importance"], None)
    crates = [text for text in found if text.startswith("Orchard keepers")]
    assert len(crates) == len(CRATES)
    assert (crates[0], crates[-1]) == (
        "Orchard keepers label crates with melon.",
        "Orchard keepers label crates with lemon.",
    )


@pytest.mark.parametrize("channel", CHANNELS)
def test_channel_brings_up_candidates_by_itself(memory, channel):
    variant = memory.variant
    for other in CHANNELS:
        variant = variant if other == channel else switched_off(variant, other)
    questions = [
        Question(id=text, text=text, pieces=(), today=TODAY, min_relevance=0.0)
        for text in QUESTIONS[channel]
    ]
    asked = ask(memory.recall, questions)
    assert all(one.hits for one in judged(memory.recall, asked, variant))


def test_what_is_superseded_stands_below_only_with_supersession(memory):
    text = "the production database runs on"
    new, old = (
        "The production database runs on db2 since June.",
        "The production database runs on db1.",
    )
    (with_it,), (without,) = hits(memory, (text,), None), hits(memory, (text,), "supersession")
    assert with_it.index(new) < with_it.index(old)
    assert without.index(old) < without.index(new)
