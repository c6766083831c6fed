"""A language model that judges pairs as a test says, and what a store is asked with it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Literal

from ingest.agreement.judging import JudgingStage, judge_of
from ingest.agreement.stage import AgreeingStage
from ingest.deep.trial import SENTENCE
from ingest.embedding import EmbeddingStage
from recalld.errors import ModelError
from recalld.models.chat import ChatReply, ChatRequest, ModelHealth
from recalld.store.connection import execute
from tests.cases.test_equals_rebuild import HereWrites, Store
from tests.copying import say

HEALTH = ModelHealth(state="ok", hint=None, name="m", digest="0123456789abcdef")
_PAIR = re.compile(r"Pair \d+\nA: (.*)\nB: (.*)")


def pairs_asked(request: ChatRequest) -> list[tuple[str, str]]:
    """The two texts of each pair in a request, without headings."""
    return [
        (re.sub(r"^\(.*?\) ", "", one), re.sub(r"^\(.*?\) ", "", other))
        for one, other in _PAIR.findall(request.user)
    ]


def said(*verdicts: str) -> str:
    """An answer as the prompt wants it."""
    return json.dumps({str(number): one for number, one in enumerate(verdicts, 1)})


class ScriptedJudge:
    """A ChatModel that gives each pair the verdict of a function, or what `replies` says first."""

    prompt_budget_chars = 8000

    def __init__(self, verdict: Callable[[str, str], str] = lambda one, other: "independent"):
        self.verdict = verdict
        self.replies: list[str | ModelError] = []
        self.requests: list[ChatRequest] = []
        self.finished = "stop"
        # Whether a tiny question gets an answer.
        self.is_there = True

    @property
    def asked(self) -> list[list[tuple[str, str]]]:
        return [pairs_asked(request) for request in self.requests]

    @property
    def pairs(self) -> set[frozenset[str]]:
        """The texts of all pairs that it was asked about."""
        return {frozenset(pair) for asked in self.asked for pair in asked}

    def complete(self, request: ChatRequest) -> ChatReply:
        if not request.is_private:
            # It is tried out, and is of use.
            return self._reply(say(SENTENCE).text, "stop")
        self.requests.append(request)
        reply = self.replies.pop(0) if self.replies else None
        if isinstance(reply, ModelError):
            raise reply
        text = reply or said(*(self.verdict(*pair) for pair in pairs_asked(request)))
        return self._reply(text, self.finished)

    @staticmethod
    def _reply(text: str, finished: Literal["stop", "length"]) -> ChatReply:
        return ChatReply(text=text, prompt_tokens=None, finished=finished, model="m", digest=None)

    def health(self) -> ModelHealth:
        return HEALTH

    def cancel(self) -> None:
        """Nothing hangs."""

    def close(self) -> None:
        """Nothing hangs."""


class Memory:
    """A vault with both stages over it."""

    def __init__(self, base, policy="supersede", embedder=None):
        self.vault = base / "vault"
        self.vault.mkdir(exist_ok=True)
        (self.vault / "stays.md").write_text("This note stays where it is.\n")
        self.store = Store(base / "memory.db", self.vault)
        self.model = ScriptedJudge()
        self.now_ms = 1
        self.policy = policy
        self.judge = judge_of(HEALTH)
        self.embedder = embedder
        self.restart()

    def restart(self):
        writes = HereWrites(self.store.database)
        self.writes = writes
        self.agreeing = AgreeingStage(
            database=self.store.database, writes=writes, policy=self.policy
        )
        self.judging = JudgingStage(
            database=self.store.database,
            writes=writes,
            model=self.model,
            answers=lambda: self.model.is_there,
            now_ms=self._tick,
            has_embedder=self.embedder is not None,
        )

    def _tick(self):
        self.now_ms += 1
        return self.now_ms

    def write(self, path, text):
        target = self.vault / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def compare(self):
        self.store.look(None)
        while self.agreeing.step() or self.embed():
            pass

    def embed(self):
        """Vectors for what waits for some. How many."""
        if self.embedder is None:
            return 0
        stage = EmbeddingStage(
            database=self.store.database, writes=self.writes, embedder=self.embedder, batch=100
        )
        stage.adopt()
        return stage.step().asked

    def settle(self):
        """Until nothing is left to compare or to ask; what each step of asking did."""
        done = []
        while True:
            self.compare()
            step = self.judging.step(self.judge)
            if step.outcome == "nothing":
                return done
            done.append(step)

    def rows(self, sql, *bindings):
        return execute(self.store.database.writer, sql, bindings)

    def links(self):
        """(kind, reason, origin, from, to) of every edge."""
        return sorted(
            self.rows(
                "SELECT fact_link.kind, reason, origin, a.text, b.text FROM fact_link"
                " JOIN fact AS a ON a.id = from_fact JOIN fact AS b ON b.id = to_fact"
            )
        )

    def kinds(self):
        return sorted((link[0], link[2]) for link in self.links())

    def uid_of(self, text):
        return self.rows("SELECT uid FROM fact WHERE text = ?", text)[0][0]
