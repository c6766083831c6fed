"""What each channel and step adds, over a small memory where it can be told beforehand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from retrieval.evaluation.asking import Asked, ask, judged
from retrieval.evaluation.knobs import Variant, turned
from retrieval.evaluation.metrics import figures
from retrieval.evaluation.stages import CHANNELS, STEPS, Effect, effects, warnings
from retrieval.evidence import KEYWORD_SLOPE, KEYWORD_TAU, Calibration
from retrieval.ranking import RecallOptions
from tests.fakes import WordEmbedder
from tests.retrieval.asking import Memory
from tests.retrieval.evaluation.making import question, words

STANDING = Variant(
    options=RecallOptions(),
    calibration=Calibration(
        tau=0.4, slope=12.0, keyword_tau=KEYWORD_TAU, keyword_slope=KEYWORD_SLOPE
    ),
)


@pytest.fixture
def memory(tmp_path) -> Iterator[Memory]:
    embedder = WordEmbedder(
        synonyms=[frozenset({"pump", "compressor"}), frozenset({"hum", "nois"})]
    )
    with Memory(tmp_path, embedder=embedder) as made:
        made.take(one="Compressor hums.\n", two="Oven E1234 is broken.\n", three="Cat sleeps.\n")
        yield made


def asked(memory: Memory, text: str, word: str) -> tuple[Asked, ...]:
    one = question(words(word))
    return ask(memory.recall, [type(one)(id=one.id, text=text, pieces=one.pieces)])


def made(memory: Memory, questions: tuple[Asked, ...]) -> dict[str, Effect]:
    return effects(
        questions,
        STANDING,
        judged(memory.recall, questions, STANDING),
        lambda other: judged(memory.recall, questions, other),
    )


def test_vectors_alone_answer_what_shares_no_word(memory):
    questions = asked(memory, "pump noise", "compressor")
    found = made(memory, questions)
    assert list(found) == [*CHANNELS, *STEPS]
    assert found["vector"].alone.mrr == 1
    assert found["keyword"].alone.mrr == 0
    assert found["vector"].without.mrr == 0
    assert found["vector"].adds(figures(judged(memory.recall, questions, STANDING))) == 1
    assert found["vector"].first_changed == 1
    assert found["vector"].found_for == 1
    assert found["keyword"].found_for == 0


def test_idle_channels_and_steps_are_named(memory):
    told = warnings(made(memory, asked(memory, "pump noise", "compressor")), 1)
    assert "the keyword channel gave no candidate in 1 questions" in told
    assert "the graph channel gave no candidate in 1 questions" in told
    assert not any("vector" in one for one in told)
    for step in STEPS:
        assert any(one.startswith(f"{step} (") for one in told), step


def test_model_is_asked_once_a_question_whatever_is_tried(memory):
    memory.embedder.queries.clear()
    questions = asked(memory, "pump noise", "compressor")
    made(memory, questions)
    for tau in ("0.1", "0.9", "1.4"):
        judged(memory.recall, questions, turned(STANDING, f"tau={tau}"))
    assert memory.embedder.queries == ["pump noise"]


def test_threshold_can_be_turned_after_the_search(memory):
    questions = asked(memory, "pump noise", "compressor")
    ranks = [
        judged(memory.recall, questions, turned(STANDING, f"tau={tau}"))[0].first
        for tau in ("0.1", "1.4")
    ]
    assert ranks == [1, None]
