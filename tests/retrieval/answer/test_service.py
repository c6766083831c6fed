"""The answer service over a real store, with a model that follows a script."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recalld.errors import ModelError, PermanentModelError, PromptCut, TransientModelError
from recalld.models.turns import SharedChat
from recalld.records import Answered, RecallFilter
from retrieval.answer.service import LONGEST_S, Answers
from tests.fakes import ScriptedChat, WordEmbedder
from tests.retrieval.asking import Memory

NOTES = {
    "server": "# Servers\n\nThe database runs on server alpha.\n\nThe backup of alpha is not encrypted.\n",
    "uitrol": "# Uitrol\n\nDe uitrol faalde op 2 maart 2026 door een volle schijf.\n",
}
QUESTION = "which server does the database run on?"


class Asking:
    """Answers over some notes, with a clock in the test's hands."""

    def __init__(self, memory: Memory, within_s: float = 5.0) -> None:
        self.memory = memory
        self.model = ScriptedChat()
        self.now = 0.0
        self.shared = SharedChat(self.model)
        self.answers = Answers(
            recall=memory.recall, model=self.shared, within_s=within_s, clock=lambda: self.now
        )

    def ask(self, question: str = QUESTION, *replies: object, **options: Any) -> Answered:
        for reply in replies:
            is_text = isinstance(reply, str | ModelError)
            self.model.replies.append(reply if is_text else json.dumps(reply))
        given = {"limits": RecallFilter(), "limit": 8, "max_chars": 4000, **options}
        return self.answers.answer(question, **given)[0]


def said(*sentences: tuple[str, list[int]]) -> dict[str, object]:
    return {"sentences": [{"text": text, "sources": sources} for text, sources in sentences]}


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[Asking]:
    with Memory(tmp_path, embedder=WordEmbedder()) as memory:
        memory.take(**NOTES)
        yield Asking(memory)


def is_list(answered: Answered) -> bool:
    """Whether the answer is the hits as a list, and marked as one."""
    lines = [f"- {' '.join(hit.text.split())} [{hit.anchor}]" for hit in answered.recalled.hits]
    return answered.text == "\n".join(lines) and "llm" in answered.recalled.degraded


def test_an_answer_is_sentences_with_the_anchors_of_hits(asking):
    done = asking.ask(QUESTION, said(("The database runs on server alpha.", [1])))
    anchor = done.recalled.hits[0].anchor
    assert done.text == f"The database runs on server alpha. [{anchor}]"
    assert done.citations == (anchor,)
    assert done.reason is None
    assert done.recalled.degraded == ()


def test_the_model_sees_the_question_and_what_was_recalled(asking):
    asking.ask(QUESTION, said())
    (request,) = asking.model.asked
    assert "The database runs on server alpha." in request.user
    assert request.user.endswith(f"Question: {QUESTION}")
    assert request.schema is not None


def test_without_evidence_nobody_is_asked(asking):
    done = asking.ask("zeppelin quagmire helium?")
    assert asking.model.asked == []
    assert (done.text, done.citations, done.recalled.hits) == ("", (), ())
    assert done.reason == "no_evidence"
    assert "llm" not in done.recalled.degraded


def test_an_empty_memory_says_so(tmp_path):
    with Memory(tmp_path) as memory:
        asking = Asking(memory)
        assert asking.ask().reason == "empty_memory"
        assert asking.model.asked == []


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (PermanentModelError("none", state="off"), "model_off"),
        (PermanentModelError("none", state="missing"), "model_missing"),
        (TransientModelError("away", state="down"), "model_down"),
        (TransientModelError("away", state="slow"), "model_slow"),
        (TransientModelError("away", state="busy"), "model_busy"),
        (TransientModelError("away", state="loading"), "model_loading"),
        (TransientModelError("odd"), "model_failed"),
    ],
)
def test_when_the_model_fails_the_hits_are_the_answer_and_it_says_why(asking, failure, reason):
    done = asking.ask(QUESTION, failure)
    assert is_list(done)
    assert done.reason == reason


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("Alpha, I think.", "unreadable"),
        ('{"sentences": [{"text": "The data', "unreadable"),
        ({"facts": ["x"]}, "unreadable"),
        (said(), "unsupported"),
        (said(("The database runs on server beta.", [1])), "unsupported"),
        (said(("The database does not run on server alpha.", [1])), "unsupported"),
        (said(("The database runs on server alpha.", [77])), "unsupported"),
    ],
)
def test_when_nothing_that_it_said_holds_the_hits_are_the_answer(asking, reply, reason):
    done = asking.ask(QUESTION, reply)
    assert is_list(done)
    assert done.reason == reason


def test_what_is_dropped_is_told_with_the_answer(asking):
    false = "The database runs on server gamma."
    done = asking.ask(QUESTION, said(("The database runs on server alpha.", [1]), (false, [1])))
    assert "gamma" not in done.text
    assert [text for text, _ in done.dropped] == [false]
    assert done.reason is None


def test_a_model_that_hangs_costs_its_limit_and_the_next_question_nothing(asking):
    quick = Asking(asking.memory, within_s=0.05)
    done = quick.ask(QUESTION, "hang")
    assert is_list(done)
    assert done.reason == "model_slow"
    again = quick.ask()
    assert is_list(again)
    assert again.reason == "model_slow"
    assert len(quick.model.asked) == 1


def test_after_a_pause_a_slow_model_is_asked_again(asking):
    asking.ask(QUESTION, TransientModelError("slow", state="slow"))
    asking.now += 1.5
    assert asking.ask(QUESTION, said(("The database runs on server alpha.", [1]))).reason is None
    assert asking.ask(QUESTION, said(("The database runs on server alpha.", [1]))).reason is None


def test_a_model_that_was_away_is_asked_with_the_next_question(asking):
    asking.ask(QUESTION, TransientModelError("away", state="down"))
    assert asking.ask(QUESTION, said(("The database runs on server alpha.", [1]))).reason is None


def test_a_prompt_that_does_not_fit_is_asked_again_with_less(asking):
    cut = PromptCut("long", estimated_tokens=9, counted_tokens=None)
    done = asking.ask(QUESTION, cut, cut, said(("The database runs on server alpha.", [1])))
    assert done.reason is None
    lengths = [len(request.user) for request in asking.model.asked]
    assert lengths == sorted(lengths, reverse=True)
    assert all(request.user.endswith(QUESTION) for request in asking.model.asked)


def test_a_prompt_that_never_fits_ends_in_the_list(asking):
    cut = PromptCut("long", estimated_tokens=9, counted_tokens=None)
    done = asking.ask(QUESTION, *[cut] * 10)
    assert is_list(done)
    assert done.reason == "model_failed"
    assert len(asking.model.asked) < 10


def test_filters_and_limits_are_those_of_recall(asking):
    only = RecallFilter(paths=("uitrol.md",))
    done = asking.ask("waarom faalde de uitrol?", said(), limits=only, limit=1)
    assert [hit.source.path for hit in done.recalled.hits] == ["uitrol.md"]


def test_no_setting_makes_a_client_wait_over_a_minute(asking):
    assert LONGEST_S < 60
    assert Asking(asking.memory, within_s=3600).answers._within_s == LONGEST_S
