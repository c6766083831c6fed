"""Notes through a real small model to recall: the shape is asserted, as such a model says what it likes."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest.agreement.links import veto_between
from ingest.agreement.question import PROMPT_VERSION
from recalld.models.chat import ChatReply, ChatRequest
from recalld.models.opening import open_chat_model
from recalld.settings.loading import load_settings
from recalld.store.agreement import comparables
from recalld.store.verdicts import verdict_counts
from retrieval.grounding.verdict import Grounded, ground
from tests.fakes import WordEmbedder
from tests.ingest.agreement.judges import Memory
from tests.llm.serving import MODEL, Unavailable, served
from tests.running import RunningDaemon, is_at_rest

# On a busy machine a small model takes minutes for a block, and may be asked three times.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

NOTES = {
    "database.md": "# Database\n\nThe production database listens on port 5432.\n",
    "boiler.md": "# Boiler\n\nThe boiler failed on 3 March 2026 because a fuse had blown.\n",
    "kantoor.md": "# Kantoor\n\nDe sleutel van het kantoor ligt in de bovenste la.\n",
    "部署.md": "# 部署\n\n网关运行在服务器 thor 上。\n",
    "coffee.md": "# Coffee\n\nAnna prefers tea, and she never drinks coffee after noon.\n",
}
QUESTIONS = {
    "which port does the production database listen on": "database.md",
    "why did the boiler fail": "boiler.md",
    "sleutel van het kantoor": "kantoor.md",
    "网关 服务器": "部署.md",
    "does Anna drink coffee after noon": "coffee.md",
}
# Pairs that rules leave open, some of which no model may merge.
PAIRS = (
    ("Ana is the owner of the billing service.", "The owner of the billing service is Ana."),
    ("`gemma3:4b` is installed on `felix`.", "There are no models on `felix` at all."),
    ("Ana from billing never works late.", "Ana works late in billing."),
    ("Relays of the pump were made by hand in the north.", "In the north relays of the fan were crafted by hand."),
    ("De sleutel van de kelder hangt bij de deur.", "Bij de deur hangt geen sleutel, die van de kelder ligt boven."),
    ("网关运行在服务器 thor 上。", "服务器 thor 上没有网关。"),
)  # fmt: skip
# Without anything moving; and for one answer.
_DEADLINE_S = 1500.0
_ANSWER_S = 600


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    if not os.environ.get("RECALLD_TEST_LLM"):
        pytest.skip("a real model is only installed by `make test-llm`")
    try:
        with served() as address:
            yield address
    except Unavailable as error:
        pytest.skip(f"no real model here: {error}")


def flags_for(url: str) -> dict[str, object]:
    """The settings that name the model."""
    return {
        "llm.provider": "ollama",
        "llm.host": url,
        "llm.model": MODEL,
        "llm.timeout_s": _ANSWER_S,
    }


def tell(name: str, value: object) -> None:
    """What the model made of it, for whoever runs this by hand."""
    sys.stdout.write(f"{name}: {value}\n")


def test_five_notes_go_through_extraction_to_recall(tmp_path, url):
    settings = flags_for(url)
    with RunningDaemon(tmp_path, embedder=WordEmbedder(), settings=settings) as daemon:
        for path, text in NOTES.items():
            daemon.write(path, text)
        daemon.call("sync")
        status = daemon.wait_for(is_at_rest, _DEADLINE_S)
        assert status["models"]["llm"]["state"] == "ok", status["models"]["llm"]
        assert status["queue"]["extract"] == 0
        blocks = daemon.rows("SELECT text, extraction, parked_reason, refused FROM block")
        tell("blocks", blocks)
        assert {state for _, state, _, _ in blocks} <= {"done", "parked"}
        assert all(bool(reason) == (state == "parked") for _, state, reason, _ in blocks)
        # It answered with what could be read for one note at least.
        assert any(state == "done" or refused != "{}" for _, state, _, refused in blocks)
        facts = daemon.rows(
            "SELECT fact.text, block.text, note.title, fact.extractor FROM fact"
            " JOIN fact_source ON fact_id = fact.id JOIN passage ON passage.id = passage_id"
            " JOIN block ON block.id = block_id JOIN note ON note.id = block.note_id"
        )
        tell("facts", [(text, by) for text, _, _, by in facts])
        for text, source, title, extractor in facts:
            if extractor.startswith("llm:"):
                assert isinstance(ground(text, source=source, heading_path=(title,)), Grounded)
        for question, path in QUESTIONS.items():
            assert path in {hit["source"]["path"] for hit in daemon.recall(question)}, question
        tell("refused", status["extraction"]["refused"])
        assert status["verdicts"]["pending"] == 0


class Listening:
    """A ChatModel that keeps what was asked and said."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.said: list[ChatReply] = []

    def complete(self, request: ChatRequest) -> ChatReply:
        reply: ChatReply = self._model.complete(request)
        self.said.append(reply)
        return reply

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


def test_verdicts_of_a_real_model_are_kept_and_never_merge_what_rules_forbid(
    tmp_path: Path, url: str
) -> None:
    settings = load_settings(flags=flags_for(url), env={}, file=None, home=tmp_path).settings
    memory = Memory(tmp_path, embedder=WordEmbedder())
    model = Listening(open_chat_model(settings.llm, {}))
    memory.model = model
    memory.restart()
    for number, pair in enumerate(PAIRS):
        for day, text in zip(("2026-01-10", "2026-05-10"), pair, strict=True):
            memory.write(f"{number}/{day}.md", f"{text}\n")
    done = memory.settle()
    connection = memory.store.database.writer
    told = memory.rows("SELECT one, other, judge, verdict, refused FROM verdict")
    tell("answers", [reply.text for reply in model.said])
    tell("verdicts", Counter((verdict, refused) for *_, verdict, refused in told))
    assert model.said
    assert sum(step.pairs for step in done) == sum(row[3] != "met" for row in told) > 0
    # Its answers have the shape that was asked for, so most can be read.
    assert sum(step.failed for step in done) * 2 < sum(step.pairs for step in done)
    assert {judge for _, _, judge, *_ in told} == {memory.judge}
    assert memory.judge.endswith(PROMPT_VERSION)
    refused = Counter(reason for *_, reason in told if reason)
    assert verdict_counts(connection).refused == dict(refused)
    ids = dict(memory.rows("SELECT uid, id FROM fact"))
    facts = comparables(connection, list(ids.values()))
    for one, other, _, verdict, reason in told:
        if verdict == "duplicate":
            assert reason == veto_between(facts[ids[one]], facts[ids[other]])
    for kind, from_uid, to_uid in memory.rows(
        "SELECT kind, a.uid, b.uid FROM fact_link JOIN fact AS a ON a.id = from_fact"
        " JOIN fact AS b ON b.id = to_fact WHERE origin = 'llm'"
    ):
        if kind == "similar":
            assert veto_between(facts[ids[from_uid]], facts[ids[to_uid]]) is None
    memory.store.close()
