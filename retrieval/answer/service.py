"""The answer service: recall first, then a language model that may only join what was recalled.

Without evidence no model is asked; without a model, or when nothing of what it says holds, the hits are the answer, as
a cited list that is marked as one. It must not know how hits are found or which model there is.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from recalld.errors import ModelError, PromptCut
from recalld.models.breaker import Breaker, asked, failed, succeeded
from recalld.models.chat import ChatReply, ChatRequest
from recalld.models.replies import Rejected, read_json
from recalld.records import Answered, AnswerReason, Around, FactId, Hit, RecallFilter
from retrieval.answer.sentences import (
    MAX_TOKENS,
    SCHEMA,
    SYSTEM,
    Composed,
    as_list,
    compose,
    prompt_for,
    sentences_of,
)
from retrieval.recall import Recall

# Clients wait for a minute; recall and the list need some of it.
LONGEST_S = 45.0
# Characters of question and hits below which it is no use to ask with less.
_LEAST_BUDGET = 500


class FirstInLine(Protocol):
    """A language model for somebody who waits; see recalld.models.turns."""

    @property
    def prompt_budget_chars(self) -> int:
        """Characters that fit in any Latin script."""
        ...

    def complete_first(self, request: ChatRequest, *, within_s: float) -> ChatReply:
        """The answer to a request, or a ModelError within so many seconds."""
        ...


class Answers:
    """Answers questions from what is recalled; calls are safe from several threads."""

    def __init__(
        self,
        *,
        recall: Recall,
        model: FirstInLine,
        within_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`within_s` is how long the model may take, `LONGEST_S` at most."""
        self._recall = recall
        self._model = model
        self._within_s = min(within_s, LONGEST_S)
        self._clock = clock
        self._breaker = Breaker()
        self._lock = threading.Lock()

    def answer(
        self,
        question: str,
        *,
        limits: RecallFilter,
        limit: int,
        max_chars: int,
        min_relevance: float | None = None,
        explain: bool = False,
        around: Around | None = None,
    ) -> tuple[Answered, tuple[FactId, ...]]:
        """An answer with its hits, and the facts among them. Parameters are those of recall."""
        recalled, facts = self._recall.recall(
            question,
            limits=limits,
            limit=limit,
            max_chars=max_chars,
            min_relevance=min_relevance,
            explain=explain,
            around=around,
        )
        if not recalled.hits:
            return Answered(recalled=recalled, reason=recalled.reason), facts
        spoken = self._speak(question, recalled.hits)
        if isinstance(spoken, Composed) and spoken.text:
            return _answered(Answered(recalled=recalled), spoken), facts
        reason: AnswerReason = "unsupported" if isinstance(spoken, Composed) else spoken
        dropped = spoken.dropped if isinstance(spoken, Composed) else ()
        degraded = tuple(dict.fromkeys((*recalled.degraded, "llm")))
        marked = Answered(recalled=replace(recalled, degraded=degraded), reason=reason)
        listed = replace(as_list(recalled.hits), dropped=dropped)
        return _answered(marked, listed), facts

    def _speak(self, question: str, hits: Sequence[Hit]) -> Composed | AnswerReason:
        """What of the model's answer holds, or why there is none."""
        with self._lock:
            may, self._breaker = asked(self._breaker, self._clock())
        if not may:
            # It kept the last one waiting to the end; this one is spared that.
            return "model_slow"
        try:
            reply = self._ask(question, hits)
        except ModelError as error:
            with self._lock:
                # Only waiting costs; a model that is gone says so at once, and is asked again each time.
                is_slow = error.state == "slow"
                self._breaker = failed(self._breaker, self._clock()) if is_slow else Breaker()
            return _REASONS.get(error.state or "ok", "model_failed")
        with self._lock:
            self._breaker = succeeded(self._breaker)
        read = read_json(reply.text)
        if reply.finished == "length" or isinstance(read, Rejected):
            return "unreadable"
        return compose(read.value, hits) if sentences_of(read.value) is not None else "unreadable"

    def _ask(self, question: str, hits: Sequence[Hit]) -> ChatReply:
        """The model's reply; about fewer hits, or less of one, where they don't fit."""
        end = self._clock() + self._within_s
        budget = self._model.prompt_budget_chars - len(SYSTEM)
        while True:
            request = ChatRequest(
                system=SYSTEM,
                user=prompt_for(question, hits, budget),
                schema=SCHEMA,
                max_tokens=MAX_TOKENS,
            )
            try:
                return self._model.complete_first(request, within_s=end - self._clock())
            except PromptCut:
                # Scripts without an alphabet fit fewer characters than the budget says.
                if budget < _LEAST_BUDGET:
                    raise
                budget //= 2


_REASONS: dict[str, AnswerReason] = {
    "off": "model_off",
    "missing": "model_missing",
    "down": "model_down",
    "slow": "model_slow",
    "busy": "model_busy",
    "loading": "model_loading",
}


def _answered(answered: Answered, composed: Composed) -> Answered:
    return replace(
        answered, text=composed.text, citations=composed.citations, dropped=composed.dropped
    )
