"""Rerankers at servers: one order out of every dialect, and none out of an answer that is not whole."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.errors import ModelError, PermanentModelError, PromptCut, TransientModelError
from recalld.models.loopback import OPENAI_PORT, read_address
from recalld.models.rerank_client import OpenAIRerank, read_scores
from recalld.models.tokens import most_tokens
from tests.fake_ollama import FakeOllama, Listed, Step, fails
from tests.waiting import DEADLINE_S

MODEL = "bge-reranker-v2-m3"
QUERY = "which port does the database listen on?"
TEXTS = ("The cat sleeps.", "The database listens on port 5432.", "The port of Rotterdam is large.")
GOOD = (1, 2, 0)


@pytest.fixture
def fake() -> Iterator[FakeOllama]:
    with FakeOllama(models=[Listed(name=MODEL)]) as server:
        yield server


def client_at(
    url: str, *, timeout_s: float = 2 * DEADLINE_S, key: str | None = None
) -> OpenAIRerank:
    address = read_address(url, port=OPENAI_PORT, allow_remote=False, setting="rerank.host")
    return OpenAIRerank(address, model=MODEL, timeout_s=timeout_s, key=key)


@pytest.fixture
def client(fake: FakeOllama) -> Iterator[OpenAIRerank]:
    made = client_at(fake.url)
    yield made
    made.close()


def error_of(client: OpenAIRerank) -> ModelError:
    with pytest.raises(ModelError) as raised:
        client.order(QUERY, TEXTS)
    return raised.value


def answering(value: Any) -> Step:
    return Step(raw=json.dumps(value).encode())


def rows(*scores: float, name: str = "relevance_score") -> list[dict[str, Any]]:
    return [{"index": place, name: score} for place, score in enumerate(scores)]


# ---------------------------------------------------------------- shapes

SHAPES = {
    "jina": {
        "model": MODEL,
        "usage": {"total_tokens": 815},
        "results": [
            {"index": 1, "document": {"text": TEXTS[1]}, "relevance_score": 0.97},
            {"index": 2, "document": {"text": TEXTS[2]}, "relevance_score": 0.31},
            {"index": 0, "document": {"text": TEXTS[0]}, "relevance_score": 0.02},
        ],
    },
    "llama.cpp: logits in the order sent": {
        "model": MODEL,
        "object": "list",
        "usage": {"prompt_tokens": 50, "total_tokens": 50},
        "results": rows(-11.016427993774414, 7.741800308227539, -2.33689022064209),
    },
    "infinity": {
        "object": "rerank",
        "id": "infinity-1",
        "created": 1,
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
        "results": [{"document": None, **row} for row in rows(0.0001, 0.99, 0.2)],
    },
    "vllm": {
        "id": "rerank-1",
        "model": MODEL,
        "results": [
            {"index": 1, "document": {"text": TEXTS[1], "multi_modal": None}, "relevance_score": 1},
            {"index": 2, "document": {"text": TEXTS[2], "multi_modal": None}, "relevance_score": 1e-5},
            {"index": 0, "document": {"text": TEXTS[0], "multi_modal": None}, "relevance_score": 1e-9},
        ],
    },
    "data": {"object": "list", "data": rows(0.1, 0.9, 0.2), "model": MODEL},
    "data with score": {"object": "list", "data": rows(-3, 2, -1, name="score")},
    "results with score": {"results": rows(0.1, 0.9, 0.2, name="score")},
    "a list, as text-embeddings-inference": rows(0.1, 0.9, 0.2, name="score"),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_every_dialect_gives_the_same_order(fake, client, shape):
    fake.script.append(answering(SHAPES[shape]))
    assert client.order(QUERY, TEXTS) == GOOD


def test_request_is_the_one_that_all_of_them_take(fake, client):
    assert client.order(QUERY, TEXTS) == GOOD
    assert fake.calls("/v1/rerank") == [
        {"model": MODEL, "query": QUERY, "documents": list(TEXTS), "top_n": 3}
    ]


def test_equal_scores_keep_the_order(fake, client):
    fake.script.append(answering({"results": rows(0.5, 0.5, 0.5)[::-1]}))
    assert client.order(QUERY, TEXTS) == (0, 1, 2)


NONSENSE = {
    "partial": {"results": rows(0.1, 0.9)},
    "top_n not heeded the other way": {"results": rows(0.1, 0.9, 0.2, 0.3)},
    "one twice": {"results": [*rows(0.1, 0.9), {"index": 1, "relevance_score": 0.5}]},
    "an index that is none": {"results": [*rows(0.1, 0.9), {"index": 3, "relevance_score": 0.5}]},
    "below zero": {"results": [*rows(0.1, 0.9), {"index": -1, "relevance_score": 0.5}]},
    "no indices": {"results": [{"relevance_score": score} for score in (0.9, 0.5, 0.1)]},
    "index as text": {"results": [{**row, "index": str(row["index"])} for row in rows(1, 2, 3)]},
    "index as truth": {"results": [{**row, "index": bool(row["index"])} for row in rows(1, 2, 3)]},
    "no score": {"results": [{"index": place} for place in range(3)]},
    "score as text": {"results": rows("0.1", "0.9", "0.2")},
    "score null": {"results": rows(0.1, None, 0.2)},
    "not a number": {"results": rows(0.1, float("nan"), 0.2)},
    "without end": {"results": rows(0.1, float("inf"), 0.2)},
    "too large": {"results": rows(0.1, 10**400, 0.2)},
    "texts alone": {"results": list(TEXTS)},
    "empty": {"results": []},
    "null": {"results": None},
    "something else": {"choices": [{"message": {"content": "1, 2, 0"}}]},
    "a word": "ok",
}


@pytest.mark.parametrize("kind", NONSENSE)
def test_answer_that_is_not_whole_gives_no_order(fake, client, kind):
    fake.script.append(answering(NONSENSE[kind]))
    error = error_of(client)
    assert isinstance(error, TransientModelError)
    assert (error.state, client.health().state) == ("down", "down")
    assert MODEL in client.health().hint
    assert client.order(QUERY, TEXTS) == GOOD
    assert client.health().state == "ok"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["results", "data", "index", "relevance_score", "score", "x"]),
                inner,
                max_size=4,
            )
        ),
    ),
    st.integers(0, 4),
)
def test_any_answer_is_whole_or_none(body, count):
    scores = read_scores(body, count)
    assert scores is None or sorted(scores) == list(range(count))


@given(st.permutations(range(6)), st.lists(st.floats(-50, 50), min_size=6, max_size=6))
def test_order_of_the_rows_does_not_count(places, scores):
    body = {"results": [{"index": place, "relevance_score": scores[place]} for place in places]}
    assert read_scores(body, 6) == dict(enumerate(scores))


# ---------------------------------------------------------------- where it is


def test_server_with_its_rerank_at_the_root_is_found_once(fake, client):
    fake.paths = {"/rerank", "/models"}
    assert client.order(QUERY, TEXTS) == GOOD
    assert client.order(QUERY, TEXTS) == GOOD
    assert client.health().state == "ok"
    asked = [each.path for each in fake.asked if "rerank" in each.path]
    assert asked == ["/v1/rerank", "/rerank", "/rerank"]


@pytest.mark.parametrize("path", ["/v1", "/v1/"])
def test_address_may_end_with_the_version(fake, path):
    client = client_at(fake.url + path)
    assert client.order(QUERY, TEXTS) == GOOD
    assert [each.path for each in fake.asked] == ["/v1/rerank"]
    client.close()


def test_other_path_is_left_for_the_next_call_where_the_first_took_its_time(fake):
    fake.paths = {"/rerank"}
    address = read_address(fake.url, port=OPENAI_PORT, allow_remote=False, setting="rerank.host")
    instants = iter([0.0, 1.5 * DEADLINE_S, 0.0, 0.0])
    client = OpenAIRerank(
        address, model=MODEL, timeout_s=2 * DEADLINE_S, clock=lambda: next(instants)
    )
    assert error_of(client).state == "missing"
    assert client.order(QUERY, TEXTS) == GOOD
    client.close()


def test_long_texts_are_cut_to_what_small_servers_take_at_a_time(fake, client):
    texts = ["The database listens on port 5432. " * 100, "数据库在五四三二端口上监听。" * 100]
    client.order("端口 " * 500, texts)
    body = fake.calls("/v1/rerank")[0]
    for sent, text in zip(body["documents"], texts, strict=True):
        assert text.startswith(sent)
        assert 0.8 * 360 < most_tokens(sent) <= 360
    assert most_tokens(body["query"]) + 360 < 512


def test_key_is_sent_where_there_is_one():
    with FakeOllama(models=[Listed(name=MODEL)]) as fake:
        client = client_at(fake.url, key="s3cret")
        error_of(client)
        assert fake.asked[0].headers["authorization"] == "Bearer s3cret"
        client.close()
        # The fake takes no credentials, which is what it found.
        fake.faults.clear()


def test_proxies_of_the_environment_are_not_used(fake, client, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert client.order(QUERY, TEXTS) == GOOD


# ---------------------------------------------------------------- failures


@pytest.mark.parametrize(
    ("step", "state", "kind"),
    [
        (fails(501, "This server does not support reranking. Start it with `--reranking`"), "missing", PermanentModelError),
        (fails(400, "The model does not support Score API"), "missing", PermanentModelError),
        (fails(422, "documents: field required"), "missing", PermanentModelError),
        (fails(401, "Invalid API Key"), "down", PermanentModelError),
        (fails(503, "Loading model"), "loading", TransientModelError),
        (fails(503, "busy"), "busy", TransientModelError),
        (fails(429, "too many requests"), "busy", TransientModelError),
        (fails(500, "died"), "down", TransientModelError),
        (Step(how="html"), "down", TransientModelError),
    ],
    ids=lambda value: getattr(value, "error", None) or getattr(value, "how", None),
)  # fmt: skip
def test_refusal_says_what_helps_and_shows_in_health_until_one_succeeds(
    fake, client, step, state, kind
):
    fake.script.append(step)
    error = error_of(client)
    assert (type(error), error.state) == (kind, state)
    assert error.hint
    assert (client.health().state, client.health().hint) == (state, error.hint)
    assert client.order(QUERY, TEXTS) == GOOD
    assert client.health().state == "ok"


def test_text_that_is_too_long_for_the_server_is_told_apart(fake, client):
    fake.script.append(
        fails(500, "input is too large to process. increase the physical batch size")
    )
    error = error_of(client)
    assert isinstance(error, PromptCut)
    assert "-ub" in error.hint


def test_model_that_is_not_there_is_missing_and_no_other_path_is_tried(fake):
    fake.models = [Listed(name="jina-reranker-v2")]
    client = client_at(fake.url)
    assert client.health().state == "missing"
    assert "jina-reranker-v2" in client.health().hint
    assert error_of(client).state == "missing"
    assert [each.path for each in fake.asked if "rerank" in each.path] == ["/v1/rerank"]
    client.close()


def test_server_that_answers_by_another_name_than_it_lists_is_ok(fake, client):
    fake.script.append(answering({"results": rows(0.1, 0.9, 0.2)}))
    fake.models = [Listed(name="/models/bge-reranker.gguf")]
    assert client.health().state == "missing"
    assert client.order(QUERY, TEXTS) == GOOD
    assert client.health().state == "ok"


def test_server_without_a_rerank_is_missing(fake, client):
    fake.paths = {"/v1/models"}
    error = error_of(client)
    assert error.state == "missing"
    assert "--rerank" in error.hint


def test_broken_line_is_down_until_the_server_is_seen_again(fake, client):
    fake.script.append(Step(how="drop"))
    assert error_of(client).state == "down"
    assert client.health().state == "ok"


def test_nobody_there_is_down_and_somebody_later_is_seen():
    with FakeOllama() as gone:
        url = gone.url
    client = client_at(url)
    assert error_of(client).state == "down"
    assert client.health().state == "down"
    assert "--rerank" in client.health().hint
    with FakeOllama(models=[Listed(name=MODEL)], port=int(url.rpartition(":")[2])):
        assert client.health().state == "ok"
        assert client.order(QUERY, TEXTS) == GOOD
    client.close()


def test_redirect_is_refused(fake, client):
    fake.script.append(Step(how="redirect", to="http://example.com/rerank"))
    assert isinstance(error_of(client), PermanentModelError)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["hang", "hang_after_head", "trickle", "trickle_head"])
def test_server_that_takes_longer_than_the_limit_is_slow(fake, how):
    client = client_at(fake.url, timeout_s=0.3)
    fake.script.append(Step(how=how))
    error = error_of(client)
    assert error.state == "slow"
    assert "rerank.timeout_s" in error.hint
    # Told without another wait.
    asked = len(fake.asked)
    assert client.health().state == "slow"
    assert len(fake.asked) == asked
    client.close()


def test_closing_cuts_a_call_that_hangs_and_refuses_later_ones(fake, client):
    fake.script.append(Step(how="hang"))
    met: list[object] = []
    caller = threading.Thread(target=lambda: met.append(error_of(client).state), name="caller")
    caller.start()
    assert fake.hanging.wait(DEADLINE_S)
    client.close()
    caller.join(DEADLINE_S)
    assert met == ["off"]
    assert error_of(client).state == "off"
