"""A status becomes the error that says what helps."""

import pytest

from recalld.errors import PermanentModelError, PromptCut, TransientModelError
from recalld.models.refusals import Mending, reason_of, refusal, refuses_text

MENDING = Mending(
    missing="pull it",
    busy="wait",
    broken="read the log",
    denied="set the key",
    elsewhere="mend the address",
)


@pytest.mark.parametrize(
    ("status", "reason", "kind", "state", "hint"),
    [
        (404, "", PermanentModelError, "missing", "pull it"),
        (401, "no key", PermanentModelError, "down", "llm.api_key_env"),
        (400, "it does not support chat", PermanentModelError, "missing", "set the key"),
        (403, "cloud disabled", PermanentModelError, "missing", "set the key"),
        (400, "bad option", PermanentModelError, None, "set the key"),
        (429, "slow down", TransientModelError, "busy", "wait"),
        (503, "server busy", TransientModelError, "busy", "wait"),
        (503, "Loading model", TransientModelError, "loading", "wait"),
        (499, "cancelled", TransientModelError, "down", "read the log"),
        (500, "out of memory", TransientModelError, "down", "read the log"),
        (502, "", TransientModelError, "down", "read the log"),
        (400, "request exceeds the available context size", PromptCut, None, None),
        (500, "input is too large to process", PromptCut, None, None),
    ],
)
def test_status_says_what_helps(status, reason, kind, state, hint):
    error = refusal(status, reason, MENDING, prompt_tokens=7)
    assert type(error) is kind
    assert error.state == state
    assert hint is error.hint is None or hint in error.hint
    assert (error.message, error.said) == (f"the model server refused ({status})", reason)


def test_what_a_server_says_is_told_where_no_text_was_sent():
    error = refusal(500, "out of memory", MENDING, prompt_tokens=7, about="model")
    assert error.message == "the model server refused (500): out of memory"
    assert (error.hint, error.said) == (f"{error.message}; read the log", None)


def test_path_that_is_not_there_is_no_missing_model():
    error = refusal(404, "page not found", MENDING, prompt_tokens=0, about="server")
    assert (error.state, error.hint) == ("down", "mend the address")


def test_refusal_of_a_text_is_told_from_an_outage():
    assert refuses_text(400, "anything")
    assert refuses_text(500, "json: unsupported value: NaN")
    assert refuses_text(500, "input is too large to process")
    assert not refuses_text(500, "the nanny process died")
    assert not refuses_text(503, "input is too large")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"error": "no\nmodel"}, "no model"),
        ({"error": {"message": "too long", "code": 400}}, "too long"),
        ({"detail": "x"}, "x"),
        ("plain text", "plain text"),
        (None, "None"),
    ],
)
def test_reason_is_found_in_every_known_body(body, reason):
    assert reason_of(body) == reason


def test_reason_is_short():
    assert len(reason_of("x" * 10_000)) == 200
