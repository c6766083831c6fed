"""Notes through a real small model to recall: the shape is asserted, as such a model says what it likes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

from retrieval.grounding.verdict import Grounded, ground
from tests.fakes import WordEmbedder
from tests.llm.serving import MODEL, Unavailable, served
from tests.running import RunningDaemon

pytestmark = pytest.mark.slow

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
# Every note may be asked for three times, at about a minute each.
_DEADLINE_S = 1500.0


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    if not os.environ.get("RECALLD_TEST_LLM"):
        pytest.skip("a real model is only installed by `make test-llm`")
    try:
        with served() as address:
            yield address
    except Unavailable as error:
        pytest.skip(f"no real model here: {error}")


def tell(name: str, value: object) -> None:
    """What the model made of it, for whoever runs this by hand."""
    sys.stdout.write(f"{name}: {value}\n")


def test_five_notes_go_through_extraction_to_recall(tmp_path, url):
    settings = {"llm.provider": "ollama", "llm.host": url, "llm.model": MODEL}
    with RunningDaemon(tmp_path, embedder=WordEmbedder(), settings=settings) as daemon:
        for path, text in NOTES.items():
            daemon.write(path, text)
        daemon.call("sync")
        status = daemon.wait_for(lambda status: status["state"] == "idle", _DEADLINE_S)
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
