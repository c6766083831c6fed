"""Who gets the model when: people at once, work when nobody waits, and nobody for ever."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from recalld.errors import PromptCut, TransientModelError
from recalld.models.chat import ChatRequest, ModelHealth
from recalld.models.turns import MOST_CUTS, SharedChat
from tests.fakes import ScriptedChat
from tests.waiting import DEADLINE_S, soon


def request(text: str) -> ChatRequest:
    return ChatRequest(system="s", user=text, schema=None, max_tokens=10)


@pytest.fixture
def threads():
    with ExitStack() as stack:
        pool = ThreadPoolExecutor(max_workers=8)
        stack.callback(pool.shutdown)
        yield pool


@pytest.fixture
def model():
    chat = ScriptedChat()
    yield chat
    chat.close()


def begun(model: ScriptedChat, count: int) -> None:
    """Waits until so many calls have reached the model."""
    soon(lambda: len(model.asked) >= count)


def asked(model: ScriptedChat) -> list[str]:
    return [each.user for each in model.asked]


def test_alone_it_is_the_model_itself(model):
    shared = SharedChat(model)
    model.replies.append("one")
    assert shared.complete(request("a")).text == "one"
    model.replies.append("two")
    assert shared.complete_first(request("b"), within_s=5).text == "two"
    assert shared.health() == ModelHealth(state="ok", hint=None, name="scripted", digest="d")
    assert shared.prompt_budget_chars == model.prompt_budget_chars


def test_a_question_cuts_work_under_way_which_is_done_after_it(model, threads):
    shared = SharedChat(model)
    model.replies.extend(["hang", "answer", "facts"])
    work = threads.submit(shared.complete, request("work"))
    begun(model, 1)
    assert shared.complete_first(request("question"), within_s=DEADLINE_S).text == "answer"
    assert work.result(DEADLINE_S).text == "facts"
    assert asked(model) == ["work", "question", "work"]


def test_work_that_was_cut_often_is_left_to_end(model, threads):
    shared = SharedChat(model)
    work = threads.submit(shared.complete, request("work"))
    for _ in range(MOST_CUTS):
        model.replies.extend(["hang"])
        soon(lambda: model.hangs)
        model.replies.append("answer")
        assert shared.complete_first(request("question"), within_s=DEADLINE_S).text == "answer"
    model.replies.append("hang")
    soon(lambda: model.hangs)
    with pytest.raises(TransientModelError) as raised:
        shared.complete_first(request("one too many"), within_s=0.05)
    assert raised.value.state == "busy"
    assert "one too many" not in asked(model)
    model.release("facts")
    assert work.result(DEADLINE_S).text == "facts"


def test_a_question_that_hangs_is_cut_at_its_limit_and_the_model_is_free_again(model):
    shared = SharedChat(model)
    model.replies.extend(["hang", "facts"])
    with pytest.raises(TransientModelError) as raised:
        shared.complete_first(request("question"), within_s=0.05)
    assert raised.value.state == "slow"
    assert shared.complete(request("work")).text == "facts"


def test_questions_take_turns_and_none_cuts_another(model, threads):
    shared = SharedChat(model)
    model.replies.append("hang")
    first = threads.submit(shared.complete_first, request("first"), within_s=DEADLINE_S)
    begun(model, 1)
    second: Future = threads.submit(shared.complete_first, request("second"), within_s=DEADLINE_S)
    soon(lambda: shared._first_waiting == 1)
    model.replies.append("two")
    model.release("one")
    assert first.result(DEADLINE_S).text == "one"
    assert second.result(DEADLINE_S).text == "two"


def test_a_failure_of_its_own_is_told_to_each(model):
    shared = SharedChat(model)
    too_long = PromptCut("long", estimated_tokens=9, counted_tokens=None)
    away = TransientModelError("away", state="down")
    for call in (shared.complete, lambda each: shared.complete_first(each, within_s=5)):
        for failure in (too_long, away):
            model.replies.append(failure)
            with pytest.raises(TransientModelError) as raised:
                call(request("x"))
            assert raised.value is failure


def test_cancelled_work_is_not_done_again(model, threads):
    shared = SharedChat(model)
    model.replies.append("hang")
    work = threads.submit(shared.complete, request("work"))
    begun(model, 1)
    soon(lambda: model.hangs)
    shared.cancel()
    with pytest.raises(TransientModelError):
        work.result(DEADLINE_S)
    assert asked(model) == ["work"]


def test_closing_frees_everyone_in_line(model, threads):
    shared = SharedChat(model)
    model.replies.append("hang")
    one = threads.submit(shared.complete_first, request("a"), within_s=60)
    soon(lambda: model.hangs)
    others = [
        threads.submit(shared.complete, request("b")),
        threads.submit(shared.complete_first, request("c"), within_s=60),
    ]
    soon(lambda: shared._first_waiting == 1)
    shared.close()
    for each in (one, *others):
        with pytest.raises(TransientModelError) as raised:
            each.result(DEADLINE_S)
        assert raised.value.state == "off"
    assert asked(model) == ["a"]
