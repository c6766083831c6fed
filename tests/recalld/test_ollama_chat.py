"""What Ollama does to its clients, and what comes of it: a reply, or an error that says what helps."""

import threading
from dataclasses import replace

import httpx
import ollama
import pytest

from recalld.errors import PermanentModelError, PromptCut, TransientModelError
from recalld.models.chat import ChatRequest, is_outage
from recalld.models.loopback import OLLAMA_PORT, read_address
from recalld.models.ollama_chat import OllamaChat
from recalld.models.ollama_server import runs_elsewhere
from recalld.models.replies import Parsed, Rejected, read_json
from recalld.models.wire import WireLimits
from tests.fake_ollama import DIGEST, FACTS, FakeOllama, Listed, Step, fails, prose
from tests.waiting import DEADLINE_S, not_held_up

SCHEMA = {"type": "object", "properties": {"facts": {"type": "array"}}, "required": ["facts"]}
QUICK = WireLimits(connect_s=0.5, silence_s=0.3, total_s=0.6)
STEADY = WireLimits(connect_s=DEADLINE_S, silence_s=2 * DEADLINE_S, total_s=3 * DEADLINE_S)


@pytest.fixture
def fake():
    with FakeOllama() as server:
        yield server


@pytest.fixture
def chat_with(fake):
    made = []

    def make(*, model="gemma3:4b", url=fake.url, limits=STEADY, **rest):
        address = read_address(url, port=OLLAMA_PORT, allow_remote=False, setting="llm.host")
        made.append(OllamaChat(address, model=model, limits=limits, **rest))
        return made[-1]

    yield make
    for chat in made:
        chat.close()


def request(user="The database listens on port 5432.", *, schema=SCHEMA, max_tokens=200):
    return ChatRequest(system="List the facts.", user=user, schema=schema, max_tokens=max_tokens)


def error_of(chat, asked=None):
    with pytest.raises((TransientModelError, PermanentModelError)) as raised:
        chat.complete(asked or request())
    return raised.value


# ---------------------------------------------------------------- a good answer


def test_good_answer_is_text_with_model_digest_and_count(chat_with):
    reply = chat_with().complete(request())
    assert read_json(reply.text) == Parsed(value=FACTS)
    assert (reply.model, reply.digest, reply.finished) == ("gemma3:4b", DIGEST, "stop")
    assert reply.prompt_tokens > 5


def test_every_call_states_window_limit_chance_schema_and_stay(fake, chat_with):
    chat = chat_with(window=4096)
    for length in (200, 50, 100_000):
        chat.complete(request(max_tokens=length))
    for body, limit in zip(fake.calls("/api/chat"), (200, 50, 2048), strict=True):
        options = {"num_ctx": 4096, "num_predict": limit, "temperature": 0.0, "seed": 0}
        assert body["options"] == options
        assert body["format"] == SCHEMA
        assert body["keep_alive"] == "10m"
        assert "think" not in body
        assert [each["role"] for each in body["messages"]] == ["system", "user"]


def test_no_schema_asks_for_none(fake, chat_with):
    chat_with().complete(request(schema=None))
    assert "format" not in fake.calls("/api/chat")[0]


def test_the_official_client_is_what_talks(fake, chat_with):
    chat_with().complete(request())
    agents = {each.headers["user-agent"] for each in fake.asked if each.path != "/api/show"}
    assert all(agent.startswith("ollama-python/") for agent in agents)


@pytest.mark.parametrize(
    ("capabilities", "family", "said"),
    [
        (("completion",), "gemma3", None),
        (("completion", "thinking"), "qwen3", False),
        (("completion", "thinking"), "gptoss", "low"),
    ],
)
def test_thinking_is_kept_down_only_where_there_is_any(fake, chat_with, capabilities, family, said):
    fake.models = [Listed(capabilities=capabilities, family=family)]
    fake.script.append(Step(thinking="Let me see {"))
    reply = chat_with().complete(request())
    assert fake.calls("/api/chat")[0].get("think") == said
    assert read_json(reply.text) == Parsed(value=FACTS)


def test_what_a_model_can_is_asked_once_for_each_set_of_weights(fake, chat_with):
    chat = chat_with()
    chat.complete(request())
    chat.complete(request())
    assert len(fake.calls("/api/show")) == 1
    fake.models = [Listed(digest="b" * 64)]
    assert chat.complete(request()).digest == "b" * 64
    assert len(fake.calls("/api/show")) == 2


@pytest.mark.parametrize(
    ("asked", "there"),
    [
        ("gemma3", "gemma3:latest"),
        ("gemma3:latest", "gemma3:latest"),
        ("Gemma3:4B", "gemma3:4b"),
        ("library/gemma3:4b", "gemma3:4b"),
        ("hf.co/user/model-GGUF:Q4_K_M", "hf.co/user/model-GGUF:Q4_K_M"),
    ],
)
def test_names_are_compared_with_their_tags(fake, chat_with, asked, there):
    fake.models = [Listed(name="other:1b"), Listed(name=there)]
    assert chat_with(model=asked).complete(request()).model == there


# ---------------------------------------------------------------- what a model says


def test_prose_round_the_answer_is_read_through(fake, chat_with):
    fake.script.append(prose())
    assert read_json(chat_with().complete(request()).text) == Parsed(value=FACTS)


def test_answer_only_in_the_thinking_field_is_empty(fake, chat_with):
    fake.script.append(Step(text="", thinking='{"facts": []}'))
    reply = chat_with().complete(request())
    assert read_json(reply.text) == Rejected(reason="empty")


def test_answer_cut_at_the_limit_says_so(fake, chat_with):
    fake.script.append(Step(text='{"facts": [{"te', reason="length"))
    reply = chat_with().complete(request())
    assert reply.finished == "length"
    assert read_json(reply.text) == Rejected(reason="cut")


def test_endless_blanks_are_not_heard_to_their_end(fake, chat_with):
    fake.script.append(Step(how="endless"))
    reply = chat_with().complete(request())
    assert reply.finished == "length"
    assert len(reply.text) < 5000
    assert fake.left.wait(DEADLINE_S), "the server goes on generating"


# ---------------------------------------------------------------- prompts that do not fit


def test_prompt_over_half_the_window_is_not_sent(fake, chat_with):
    error = error_of(chat_with(window=2048), request("部署失败的原因是磁盘已满。" * 200))
    assert isinstance(error, PromptCut)
    assert error.counted_tokens is None
    assert not is_outage(error)
    assert fake.calls("/api/chat") == []


def test_prompt_of_which_the_front_was_dropped_is_noticed(fake, chat_with):
    fake.script.append(Step(counted=200))
    error = error_of(
        chat_with(), request("The backup of the second server ran on Monday night. " * 60)
    )
    assert isinstance(error, PromptCut)
    assert error.counted_tokens == 200
    assert error.estimated_tokens > 500


def test_refusal_of_a_long_prompt_is_one_too(fake, chat_with):
    fake.script.append(fails(400, "the prompt is longer than the context length (2048)"))
    assert isinstance(error_of(chat_with()), PromptCut)


def test_server_that_does_not_count_is_believed(fake, chat_with):
    raw = b'{"model":"m","message":{"role":"assistant","content":"{}"},"done":true,"done_reason":"stop"}\n'
    fake.script.append(Step(raw=raw))
    assert chat_with().complete(request()).prompt_tokens is None


def test_smaller_window_of_the_model_itself_makes_the_budget_smaller(fake, chat_with):
    fake.models = [Listed(context_length=2048)]
    chat = chat_with(window=8192)
    before = chat.prompt_budget_chars
    chat.complete(request())
    assert chat.prompt_budget_chars < before / 3
    assert isinstance(error_of(chat, request("word " * 1500)), PromptCut)
    assert {body["options"]["num_ctx"] for body in fake.calls("/api/chat")} == {8192}


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("step", "kind", "state", "hint"),
    [
        (fails(500, "llama runner process has terminated"), TransientModelError, "down", "log"),
        (fails(502, "bad gateway"), TransientModelError, "down", "log"),
        (
            fails(503, "server busy, please try again. maximum pending requests exceeded"),
            TransientModelError,
            "busy",
            "ollama ps",
        ),
        (
            fails(404, "model 'gemma3:4b' not found"),
            PermanentModelError,
            "missing",
            "ollama pull gemma3:4b",
        ),
        (
            fails(404, 'model "gemma3:4b" not found, try pulling it first'),
            PermanentModelError,
            "missing",
            "ollama pull gemma3:4b",
        ),
        (fails(403, "cloud is disabled"), PermanentModelError, "missing", "another model"),
        (fails(401, "unauthorized"), PermanentModelError, "down", "llm.api_key_env"),
        (
            fails(400, '"nomic-embed-text" does not support chat'),
            PermanentModelError,
            "missing",
            "writes no text",
        ),
        (Step(how="error_line"), TransientModelError, "down", "log"),
        (Step(how="html"), TransientModelError, "down", "openai"),
        (Step(how="drop"), TransientModelError, "down", "ollama serve"),
        (Step(how="eof"), TransientModelError, "down", "log"),
        (Step(raw=b'{"model": 3}\n'), TransientModelError, "down", "openai"),
    ],
    ids=lambda value: getattr(value, "error", None) or getattr(value, "how", None),
)
def test_failure_says_what_helps(fake, chat_with, step, kind, state, hint):
    fake.script.append(step)
    error = error_of(chat_with())
    assert type(error) is kind
    assert error.state == state
    assert hint in error.hint


def test_weights_that_refuse_a_schema_are_asked_without_from_then_on(fake, chat_with):
    def answer(body):
        return fails(400, "format not supported by this model") if body.get("format") else prose()

    fake.answer = answer
    chat = chat_with()
    assert read_json(chat.complete(request()).text) == Parsed(value=FACTS)
    chat.complete(request())
    assert ["format" in body for body in fake.calls("/api/chat")] == [True, False, False]


def test_model_that_refuses_whatever_is_asked_is_told_with_its_reason(fake, chat_with):
    fake.answer = lambda _: fails(400, "invalid option")
    error = error_of(chat_with(), replace(request(), is_private=False))
    assert (error.state, "another model" in error.hint) == (None, True)
    assert "invalid option" in error.message


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503])
def test_text_that_a_server_tells_back_is_in_no_message(fake, chat_with, status):
    fake.answer = lambda body: fails(status, f"cannot read: {body['messages'][-1]['content']}")
    error = error_of(chat_with(), request("Zanzibar, 日记, дневник"))
    assert "Zanzibar" in error.said
    assert "Zanzibar" not in f"{error} {error.hint}"


def test_model_without_writing_is_told_before_it_is_asked(fake, chat_with):
    fake.models = [Listed(capabilities=("embedding",))]
    chat = chat_with()
    assert error_of(chat).state == "missing"
    assert "take another model (llm.model)" in chat.health().hint
    assert fake.calls("/api/chat") == []


@pytest.mark.parametrize(
    ("path", "hint"), [("/v1", "without /v1"), ("/ollama", "without /ollama"), ("", "set llm.host")]
)
def test_address_without_an_ollama_is_no_missing_model(fake, chat_with, path, hint):
    fake.busy_listing = None if path else fails(404, "not found")
    health = chat_with(url=fake.url + path).health()
    assert health.state == "down"
    assert hint in health.hint
    assert "pull" not in health.hint


def test_nobody_there_is_down_with_the_command_that_starts_it(chat_with):
    with FakeOllama() as gone:
        url = gone.url
    chat = chat_with(url=url)
    error = error_of(chat)
    assert (error.state, is_outage(error)) == ("down", True)
    assert "`ollama serve`" in error.hint
    assert (chat.health().state, chat.health().hint) == ("down", error.hint)


def test_model_that_is_not_there_is_missing_with_the_command_that_brings_it(fake, chat_with):
    chat = chat_with(model="llama3.2")
    error = error_of(chat)
    assert isinstance(error, PermanentModelError)
    assert error.state == "missing"
    assert "`ollama pull llama3.2`" in error.hint
    assert chat.health().state == "missing"
    assert fake.calls("/api/pull") == []


def test_another_kind_of_server_is_no_ollama(fake, chat_with):
    fake.busy_listing = Step(how="html")
    error = error_of(chat_with())
    assert error.state == "down"
    assert 'llm.provider = "openai"' in error.hint


def test_redirect_to_another_host_is_refused(fake, chat_with):
    with FakeOllama() as other:
        fake.script.append(Step(how="redirect", to=f"{other.url}/api/chat"))
        error = error_of(chat_with())
        assert isinstance(error, PermanentModelError)
        assert other.asked == []


def test_outage_ends_without_a_restart(fake, chat_with):
    chat = chat_with()
    fake.script.extend([fails(503, "server busy")] * 10)
    for _ in range(10):
        assert error_of(chat).state == "busy"
    assert chat.health().state == "busy"
    assert read_json(chat.complete(request()).text) == Parsed(value=FACTS)
    assert chat.health().state == "ok"


# ---------------------------------------------------------------- time


@pytest.mark.slow
@pytest.mark.parametrize("how", ["hang", "hang_after_head", "trickle_head", "trickle"])
def test_silence_and_trickle_are_cut_and_told_as_slow(fake, chat_with, how):
    chat = chat_with(limits=QUICK)
    fake.script.append(Step(how=how))
    with not_held_up():
        error = error_of(chat)
    assert isinstance(error, TransientModelError)
    assert error.state == "slow"
    assert "llm.timeout_s" in error.hint
    assert chat.health().state == "slow"
    assert fake.left.wait(DEADLINE_S), "the server still answers nobody"


def test_late_first_answer_within_the_limit_is_an_answer(fake, chat_with):
    chat = chat_with()
    fake.script.append(Step(how="late"))
    caller = threading.Thread(target=chat.complete, args=(request(),), name="caller")
    caller.start()
    assert fake.hanging.wait(DEADLINE_S)
    assert chat.health().state == "loading"
    fake.let_go.set()
    caller.join(DEADLINE_S)
    assert chat.health().state == "ok"


@pytest.mark.parametrize("how", ["hang", "hang_after_head", "trickle_head"])
@pytest.mark.parametrize("way", ["cancel", "close"])
def test_call_that_hangs_is_cut_from_another_thread_at_once(fake, chat_with, how, way):
    chat = chat_with()
    fake.script.append(Step(how=how))
    met = []

    def call():
        try:
            chat.complete(request())
        except TransientModelError as error:
            met.append(error)

    caller = threading.Thread(target=call, name="caller")
    caller.start()
    assert fake.hanging.wait(DEADLINE_S)
    getattr(chat, way)()
    caller.join(DEADLINE_S)
    assert not caller.is_alive()
    assert [error.state for error in met] == ["off"]
    if way == "cancel":
        assert read_json(chat.complete(request()).text) == Parsed(value=FACTS)
    else:
        assert error_of(chat).state == "off"
        assert chat.health().state == "off"


def test_calls_go_out_one_at_a_time(fake, chat_with):
    chat = chat_with()
    fake.script.append(Step(how="late"))
    callers = [
        threading.Thread(target=chat.complete, args=(request(),), name=f"caller-{n}")
        for n in range(3)
    ]
    for caller in callers:
        caller.start()
    assert fake.hanging.wait(DEADLINE_S)
    assert len(fake.calls("/api/chat")) == 1
    fake.let_go.set()
    for caller in callers:
        caller.join(DEADLINE_S)
    assert len(fake.calls("/api/chat")) == 3


def test_no_thread_outlives_a_call(fake, chat_with):
    chat_with().complete(request())
    assert "model-limit" not in {thread.name for thread in threading.enumerate()}


# ---------------------------------------------------------------- privacy


def test_neither_key_nor_proxy_of_the_environment_is_used(fake, chat_with, monkeypatch):
    monkeypatch.setenv("OLLAMA_API_KEY", "sk-secret")
    with FakeOllama() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.setenv("NO_PROXY", "")
        assert read_json(chat_with().complete(request()).text) == Parsed(value=FACTS)
        assert proxy.asked == []
    assert all(
        "authorization" not in {name.lower() for name in each.headers} for each in fake.asked
    )


@pytest.mark.parametrize(
    "name", ["gpt-oss:120b-cloud", "qwen3-coder:480b-cloud", "glm:cloud", "kimi-cloud"]
)
def test_model_that_runs_elsewhere_by_its_name_is_refused_before_any_call(fake, chat_with, name):
    assert runs_elsewhere(name)
    with pytest.raises(PermanentModelError, match="does not run on this machine") as raised:
        chat_with(model=name)
    assert "llm.allow_cloud = true" in raised.value.hint
    assert fake.asked == []


def test_model_that_runs_elsewhere_under_another_name_is_refused(fake, chat_with):
    fake.models = [Listed(name="mine:latest", remote_host="https://ollama.com:443")]
    chat = chat_with(model="mine")
    error = error_of(chat)
    assert isinstance(error, PermanentModelError)
    assert "https://ollama.com:443" in error.message
    assert chat.health().state == "off"
    assert fake.calls("/api/chat") == []
    assert chat_with(model="mine", allow_cloud=True).complete(request()).model == "mine:latest"


# ---------------------------------------------------------------- health


def test_health_of_a_model_that_is_there(chat_with):
    health = chat_with().health()
    assert (health.state, health.hint, health.name, health.digest) == (
        "ok",
        None,
        "gemma3:4b",
        DIGEST,
    )


@pytest.mark.slow
def test_health_of_a_server_that_hangs_is_told_soon(fake, chat_with):
    fake.busy_listing = Step(how="hang")
    with not_held_up():
        assert chat_with(limits=QUICK).health().state == "slow"


# ---------------------------------------------------------------- the fake is strict


def test_fake_refuses_what_a_careless_client_sends(fake):
    careless = ollama.Client(host=fake.url)

    def ask(options, keep_alive=None):
        messages = [{"role": "user", "content": "x"}]
        parts = careless.chat(
            "gemma3:4b", messages, stream=True, options=options, keep_alive=keep_alive
        )
        return list(parts)

    for options in ({}, {"num_ctx": 4096}, {"num_predict": 5}, {"num_ctx": 4096, "num_predict": 5}):
        with pytest.raises(ollama.ResponseError, match="missing"):
            ask(options)
    ask({"num_ctx": 4096, "num_predict": 5}, "10m")
    with pytest.raises(ollama.ResponseError, match="anew"):
        ask({"num_ctx": 8192, "num_predict": 5}, "10m")
    key = {"Authorization": "Bearer x"}
    assert httpx.get(f"{fake.url}/api/tags", headers=key, trust_env=False).status_code == 500
    through = httpx.get("http://example.com/api/tags", proxy=fake.url, trust_env=False)
    assert through.status_code == 500
    careless._client.close()
    assert len(fake.faults) == 7
    fake.faults.clear()


def test_client_closes_what_it_opens(fake, chat_with):
    chat = chat_with()
    for how in ("well", "drop", "eof", "error_line"):
        fake.script.append(Step(how=how))
        if how == "well":
            chat.complete(request())
        else:
            error_of(chat)
    assert chat._server.wire._calls == set()
