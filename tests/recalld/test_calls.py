"""What a model's calls met decides how it is doing, whatever its server lists."""

from __future__ import annotations

import threading

import pytest

from recalld.errors import PermanentModelError, PromptCut, TransientModelError
from recalld.models.calls import Calls, Seen
from tests.waiting import DEADLINE_S, soon

LISTED = Seen(digest="d")


def failing(calls: Calls, error: Exception) -> None:
    with pytest.raises(type(error)), calls.one():
        raise error


def test_model_that_is_listed_and_was_not_asked_is_fine():
    health = Calls("m").health(lambda: LISTED)
    assert (health.state, health.hint, health.name, health.digest) == ("ok", None, "m", "d")


@pytest.mark.parametrize("state", ["slow", "busy", "down", "loading"])
def test_what_the_last_call_met_stands_until_one_succeeds(state):
    calls = Calls("m")
    failing(calls, TransientModelError("no answer", hint="wait", state=state))
    health = calls.health(lambda: LISTED)
    assert (health.state, health.hint) == (state, "wait")
    with calls.one():
        pass
    assert calls.health(lambda: LISTED).state == "ok"


@pytest.mark.parametrize(
    "error",
    [
        PromptCut("too long", estimated_tokens=9, counted_tokens=None),
        PermanentModelError("refused (400)"),
        PermanentModelError("no such model", state="missing"),
    ],
)
def test_what_the_text_was_to_blame_for_or_the_server_now_contradicts_does_not_stand(error):
    calls = Calls("m")
    failing(calls, error)
    assert calls.health(lambda: LISTED).state == "ok"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (PermanentModelError("no m", hint="pull m", state="missing"), ("missing", "pull m")),
        (TransientModelError("nobody answers"), ("down", "nobody answers")),
    ],
)
def test_what_the_look_meets_is_told(error, told):
    def look() -> Seen:
        raise error

    health = Calls("m").health(look)
    assert (health.state, health.hint) == told


def test_model_that_is_being_loaded_says_so_before_an_old_failure():
    calls = Calls("m")
    failing(calls, TransientModelError("no answer", state="down"))
    health = calls.health(lambda: Seen(digest="d", loading="see there"))
    assert (health.state, health.hint) == ("loading", "see there")


def test_second_call_waits_for_the_first_and_health_does_not():
    calls = Calls("m")
    entered, held = threading.Event(), threading.Event()
    order: list[str] = []

    def first() -> None:
        with calls.one():
            entered.set()
            assert held.wait(DEADLINE_S)
            order.append("first")

    def second() -> None:
        with calls.one():
            order.append("second")

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    threads[0].start()
    assert entered.wait(DEADLINE_S)
    threads[1].start()
    assert calls.under_way
    assert calls.health(lambda: LISTED).state == "ok"
    held.set()
    for thread in threads:
        thread.join(DEADLINE_S)
    assert order == ["first", "second"]
    soon(lambda: not calls.under_way)
