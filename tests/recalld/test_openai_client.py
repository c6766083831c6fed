"""A language model behind OpenAI's dialect: the same replies and the same words for what goes wrong."""

import threading

import pytest

from recalld.errors import PermanentModelError, PromptCut, TransientModelError
from recalld.models.chat import ChatRequest
from recalld.models.loopback import OPENAI_PORT, read_address
from recalld.models.openai_client import OpenAIChat
from recalld.models.replies import Parsed, read_json
from recalld.models.wire import WireLimits
from tests.fake_ollama import FACTS, FakeOllama, Step, fails
from tests.waiting import DEADLINE_S

SCHEMA = {"type": "object", "properties": {"facts": {"type": "array"}}}
LIMITS = WireLimits(connect_s=DEADLINE_S, silence_s=2 * DEADLINE_S, total_s=3 * DEADLINE_S)


@pytest.fixture
def fake():
    with FakeOllama() as server:
        yield server


@pytest.fixture
def chat(fake):
    made = chat_at(fake.url)
    yield made
    made.close()


def chat_at(url, *, model="gemma3:4b", limits=LIMITS):
    address = read_address(url, port=OPENAI_PORT, allow_remote=False, setting="llm.host")
    return OpenAIChat(address, model=model, limits=limits)


def request(user="The database listens on port 5432.", schema=SCHEMA):
    return ChatRequest(system="List the facts.", user=user, schema=schema, max_tokens=200)


def error_of(chat, asked=None):
    with pytest.raises((TransientModelError, PermanentModelError)) as raised:
        chat.complete(asked or request())
    return raised.value


def test_good_answer_is_text_with_the_count(fake, chat):
    reply = chat.complete(request())
    assert read_json(reply.text) == Parsed(value=FACTS)
    assert (reply.model, reply.digest, reply.finished) == ("gemma3:4b", None, "stop")
    assert reply.prompt_tokens > 5
    body = fake.calls("/v1/chat/completions")[0]
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0, 0, 200)
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
def test_address_may_end_with_the_version(fake, path):
    chat = chat_at(fake.url + path)
    assert chat.complete(request()).text
    chat.close()


def test_answer_cut_at_the_limit_says_so(fake, chat):
    fake.script.append(Step(text='{"fa', reason="length"))
    assert chat.complete(request()).finished == "length"


def test_server_that_knows_no_schemas_is_asked_without_from_then_on(fake, chat):
    fake.script.append(fails(400, "response_format is not supported"))
    assert read_json(chat.complete(request()).text) == Parsed(value=FACTS)
    chat.complete(request())
    sent = ["response_format" in body for body in fake.calls("/v1/chat/completions")]
    assert sent == [True, False, False]


def test_prompt_that_was_cut_is_noticed(fake, chat):
    fake.script.append(Step(counted=200))
    long = request("The backup of the second server ran on Monday night. " * 60)
    assert isinstance(error_of(chat, long), PromptCut)
    fake.script.append(fails(400, "the request exceeds the available context size"))
    assert isinstance(error_of(chat), PromptCut)


@pytest.mark.parametrize(
    ("step", "state"),
    [
        (fails(503, "Loading model"), "loading"),
        (fails(503, "busy"), "busy"),
        (fails(500, "died"), "down"),
        (fails(404, "no such model"), "missing"),
        (fails(401, "unauthorized"), "down"),
        (Step(how="drop"), "down"),
        (Step(how="eof"), "down"),
        (Step(how="html"), "down"),
        (Step(raw=b"data: {broken\n\n"), "down"),
        (Step(raw=b'data: {"error": {"message": "slot died"}}\n\n'), "down"),
    ],
    ids=lambda value: getattr(value, "error", None) or getattr(value, "how", None),
)
def test_failure_says_what_helps_and_shows_in_health(fake, chat, step, state):
    fake.script.append(step)
    error = error_of(chat)
    assert error.state == state
    assert error.hint
    if isinstance(error, TransientModelError):
        assert chat.health().state == state
    chat.complete(request())
    assert chat.health().state == "ok"


def test_text_that_a_server_tells_back_is_in_no_message(fake, chat):
    fake.answer = lambda body: fails(400, f"cannot read: {body['messages'][-1]['content']}")
    error = error_of(chat, request("Zanzibar, 日记, дневник"))
    assert "Zanzibar" in error.said
    assert "Zanzibar" not in f"{error} {error.hint}"


def test_address_without_a_list_of_models_is_no_missing_model(fake):
    chat = chat_at(fake.url + "/api")
    health = chat.health()
    assert (health.state, 'llm.provider = "ollama"' in health.hint) == ("down", True)
    chat.close()


def test_missing_model_names_those_that_are_there(fake):
    chat = chat_at(fake.url, model="qwen3")
    assert chat.health().state == "missing"
    assert "gemma3:4b" in chat.health().hint
    assert isinstance(error_of(chat), PermanentModelError)
    chat.close()


def test_server_that_is_something_else_is_told(fake, chat):
    fake.busy_listing = Step(how="html")
    health = chat.health()
    assert health.state == "down"
    assert 'llm.provider = "ollama"' in health.hint


def test_nobody_there_is_down():
    with FakeOllama() as gone:
        chat = chat_at(gone.url)
    assert error_of(chat).state == "down"
    assert chat.health().state == "down"
    chat.close()


def test_call_that_hangs_is_cut_from_another_thread(fake, chat):
    fake.script.append(Step(how="hang_after_head"))
    met = []

    def call():
        try:
            chat.complete(request())
        except TransientModelError as error:
            met.append(error.state)

    caller = threading.Thread(target=call, name="caller")
    caller.start()
    assert fake.hanging.wait(DEADLINE_S)
    chat.cancel()
    caller.join(DEADLINE_S)
    assert met == ["off"]
    assert chat.complete(request()).text
