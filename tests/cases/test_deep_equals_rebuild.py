"""Whatever happened to the notes while a model read them, the store ends equal to one that it read from the start.

The model is as models are: it copies a sentence, words it otherwise, gives a part of it, or passes it over; always the
same for the same sentence. Another model, which passes over others, may come in between.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from ingest.deep.extraction import DeepStage
from ingest.rules.extractor import RULES_VERSION
from recalld.models.chat import ChatReply, ChatRequest, ModelHealth
from recalld.store.connection import Database, execute
from tests.cases.test_equals_rebuild import QUICK_DISK, HereWrites, Notes, Store
from tests.copying import answer, asked_blocks, sentences

MODELS = ("llm:one:1@facts@1", "llm:two:2@facts@1")
READ = {
    "read": "SELECT path, ordinal, beside, refused FROM block JOIN note ON note.id = note_id"
    " WHERE extraction <> 'parked'",
    "rules' facts": "SELECT path, position, ordinal, rules_source.uid, rules_source.line_from,"
    " rules_source.line_to, wording, happened_from FROM rules_source"
    " JOIN statement ON statement.id = statement_id"
    " JOIN passage ON passage.id = rules_source.passage_id JOIN note ON note.id = note_id",
}


class Choosy:
    """A ChatModel that treats each sentence in its own way."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def prompt_budget_chars(self) -> int:
        return 8000

    def complete(self, request: ChatRequest) -> ChatReply:
        body = {"messages": [{"content": request.system}, {"content": request.user}]}
        facts = [
            {"block": number, "statement": said, "date": "2026-03-02"}
            for number, text in enumerate(asked_blocks(body), 1)
            for sentence in sentences(text)
            for said in self._said(sentence)
        ]
        return ChatReply(
            text=answer(facts).text, prompt_tokens=1, finished="stop", model="m", digest=None
        )

    def _said(self, sentence: str) -> list[str]:
        way = crc32(f"{self._name}{sentence}".encode()) % 4
        if way == 0:
            return []
        if way == 1:
            return [sentence.removeprefix("The ").replace(" the ", " ")]
        # A piece alone would have the block given up, and what a former model said of it stay.
        return [sentence] if way == 2 else [" ".join(sentence.split()[-4:]), sentence]

    def health(self) -> ModelHealth:
        return ModelHealth(state="ok", hint=None, name=self._name, digest=None)

    def cancel(self) -> None:
        pass

    def close(self) -> None:
        pass


def read(database: Database, model: str, most: int | None = None) -> None:
    """Has a model read what waits, or so many steps of it; each step finds every wait over."""
    clock = iter(range(1_800_000_000_000, 1_900_000_000_000, 60_000))
    stage = DeepStage(
        database=database,
        writes=HereWrites(database),
        model=Choosy(model),
        now_ms=lambda: next(clock),
    )
    stage.queue_others(model)
    steps = 0
    while stage.next_try_ms() is not None and (most is None or steps < most):
        stage.step(model)
        steps += 1


def says(store: Store) -> dict[str, list[tuple[object, ...]]]:
    """What the store says, and how it was read."""
    found = {
        name: sorted(execute(store.database.writer, sql), key=repr) for name, sql in READ.items()
    }
    return {**store.says(), **found}


class ReadNotes(Notes):
    """Notes that models read in between; compared after every few steps, and at the end."""

    @rule(model=st.sampled_from(MODELS), most=st.sampled_from((None, 1, 3)))
    def read(self, model: str, most: int | None) -> None:
        read(self.store.database, model, most)

    @rule(model=st.sampled_from(MODELS))
    def equals_a_fresh_store(self, model: str) -> None:
        self.store.look(None)
        read(self.store.database, model)
        with tempfile.TemporaryDirectory(dir=QUICK_DISK) as folder:
            fresh = Store(Path(folder) / "memory.db", self.vault)
            try:
                fresh.look(None)
                read(fresh.database, model)
                said = says(self.store)
                for name, rows in says(fresh).items():
                    assert said[name] == rows, name
            finally:
                fresh.close()

    def teardown(self) -> None:
        try:
            self.equals_a_fresh_store(MODELS[0])
        finally:
            super().teardown()


TestReadNotes = pytest.mark.slow(ReadNotes.TestCase)
TestReadNotes.settings = settings(
    max_examples=15,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def test_a_fact_that_one_model_says_and_the_next_passes_over_is_the_rules_again(tmp_path):
    vault = tmp_path / "vault"
    vault.mkdir()
    lines = [f"Shelf number {number} holds the boxes of {1980 + number}." for number in range(12)]
    (vault / "a.md").write_text("\n\n".join(lines) + "\n")
    store = Store(tmp_path / "memory.db", vault)
    try:
        store.look(None)
        before = store.says()["sources"]
        for model in (*MODELS, MODELS[0]):
            read(store.database, model)
            by = dict(
                execute(store.database.writer, "SELECT extractor, count(*) FROM fact GROUP BY 1")
            )
            assert set(by) == {model, RULES_VERSION}
            [(beside,)] = execute(store.database.writer, "SELECT sum(beside) FROM block")
            assert beside == by[RULES_VERSION]
        (vault / "b.md").write_text((vault / "a.md").read_text())
        shutil.move(vault / "b.md", vault / "a.md")
        store.look(None, full=True)
        assert len(store.says()["sources"]) >= len(before)
    finally:
        store.close()
