"""A reranker at any server with a `/rerank` of Jina's dialect: llama.cpp, Infinity, vLLM, Jina's own and their like.

It gives places in order and nothing else: such scores are probabilities at one server and logits at the next, so none
leaves here. It must not know what is done with the order.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence

from recalld.errors import ModelError, PermanentModelError, PromptCut, TransientModelError
from recalld.models.chat import ModelHealth
from recalld.models.loopback import ServerAddress
from recalld.models.refusals import Mending, reason_of, refusal, refuses_text
from recalld.models.tokens import cut_to, most_tokens
from recalld.models.wire import Answer, JsonLine, Wire, WireHints, WireLimits

# Together within the 512 tokens that llama.cpp takes at a time unless it is told otherwise.
_MOST_QUERY_TOKENS = 120
_MOST_TEXT_TOKENS = 360
_QUICK_S = 2.0


class OpenAIRerank:
    """A reranking model at a server; see retrieval.reranking.service.Reranker."""

    def __init__(
        self,
        address: ServerAddress,
        *,
        model: str,
        timeout_s: float,
        key: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Opens nothing yet. `timeout_s` is for a whole call."""
        self.name = model
        self._address = address
        self._timeout_s = timeout_s
        self._clock = clock
        # Infinity has it at the root, the others at both; what was found is kept.
        self._paths = _paths(address)
        self._mending = Mending(
            missing=f"start the server with a reranking model, as `llama-server -m MODEL.gguf --rerank`;"
            f" {address.url} has no {model} to rerank by",
            busy="the server is busy or loads its model; nothing needs to be done",
            broken="see the server's log",
            denied="name the variable that holds the key in llm.api_key_env",
            elsewhere=f"no reranking model is at {address.url}; set rerank.host",
        )
        hints = WireHints(
            down=f"start the server, as `llama-server -m MODEL.gguf --rerank --port 8080`;"
            f" none is at {address.url}",
            slow="take a smaller model, lower rerank.depth or raise rerank.timeout_s",
        )
        self._wire = Wire(address, limits=_limits(timeout_s), hints=hints, key=key)
        quick = _limits(min(timeout_s, _QUICK_S))
        self._quick_wire = Wire(address, limits=quick, hints=hints, key=key)
        self._line, self._quick = JsonLine(self._wire), JsonLine(self._quick_wire)
        self._last_error: ModelError | None = None
        self._has_answered = False

    def order(self, query: str, texts: Sequence[str]) -> tuple[int, ...]:
        """The places of the texts, best first, each once; equals keep their order.

        Raises:
            PromptCut: The server found a text too long.
            TransientModelError, PermanentModelError: Also when the answer leaves a text out, names one twice, or has
                a score that is no number.
        """
        body = {
            "model": self.name,
            "query": cut_to(query, _MOST_QUERY_TOKENS),
            "documents": [cut_to(text, _MOST_TEXT_TOKENS) for text in texts],
            "top_n": len(texts),
        }
        try:
            answer = self._post(body)
        except ModelError as error:
            # Whether it is there, `health` sees for itself.
            self._last_error = None if error.state == "down" else error
            raise
        try:
            scores = self._scores(answer, body, len(texts))
        except ModelError as error:
            self._last_error = error
            raise
        self._last_error, self._has_answered = None, True
        return tuple(sorted(range(len(texts)), key=lambda place: (-scores[place], place)))

    def _post(self, body: Mapping[str, object]) -> Answer:
        """The answer of the first path that there is."""
        began = self._clock()
        while True:
            answer = self._line.post(self._paths[0], body)
            if not self._lacks_path(answer) or len(self._paths) == 1:
                return answer
            self._paths = self._paths[1:]
            if self._clock() - began > self._timeout_s / 2:
                # Two calls may not take twice the time; the next one begins at the other path.
                return answer

    def _lacks_path(self, answer: Answer) -> bool:
        # A server that lacks the model says so by the same number, with its name.
        return (
            answer.status in (404, 405) and self.name.lower() not in reason_of(answer.body).lower()
        )

    def _scores(
        self, answer: Answer, body: Mapping[str, object], count: int
    ) -> Mapping[int, float]:
        if answer.status != 200:
            raise self._refused(answer, body)
        scores = read_scores(answer.body, count)
        if scores is None:
            raise TransientModelError(
                f"{self._address.url} does not give each passage its score",
                hint=f"is {self.name} a reranking model? {self._mending.broken}",
                state="down",
            )
        return scores

    def _refused(self, answer: Answer, body: Mapping[str, object]) -> ModelError:
        reason = reason_of(answer.body)
        error = refusal(
            answer.status, reason, self._mending, prompt_tokens=most_tokens(str(body["query"]))
        )
        if isinstance(error, PromptCut):
            error.hint = "let the server take more tokens at a time, as llama-server's `-ub 2048`"
            return error
        # llama.cpp that was not started for it, vLLM with a model that only writes.
        if answer.status == 501 or refuses_text(answer.status, reason):
            return PermanentModelError(error.message, hint=self._mending.missing, state="missing")
        return error

    def health(self) -> ModelHealth:
        """How it is doing, by its last call or by a look of at most 2 seconds. Never raises."""
        if self._last_error is not None:
            return self._told(self._last_error)
        try:
            listed = self._listed()
        except ModelError as error:
            return self._told(error)
        # llama.cpp lists a file's name and answers by any.
        if self._has_answered or listed is None or self.name.lower() in listed:
            return ModelHealth(state="ok", hint=None, name=self.name, digest=None)
        hint = f"set rerank.model to one of those there: {', '.join(listed[:5]) or 'none'}"
        return ModelHealth(state="missing", hint=hint, name=self.name, digest=None)

    def _listed(self) -> list[str] | None:
        """The models that the server lists, in lower case; None where it lists none."""
        for path in (one.replace("rerank", "models") for one in self._paths):
            answer = self._quick.get(path)
            listed = answer.body.get("data") if isinstance(answer.body, dict) else None
            if answer.status == 200 and isinstance(listed, list):
                return [str(each.get("id")).lower() for each in listed if isinstance(each, dict)]
        return None

    def _told(self, error: ModelError) -> ModelHealth:
        return ModelHealth(
            state=error.state or "down",
            hint=error.hint or error.message,
            name=self.name,
            digest=None,
        )

    def close(self) -> None:
        """Cuts the calls under way, and refuses every later one."""
        self._wire.close()
        self._quick_wire.close()


def read_scores(body: object, count: int) -> Mapping[int, float] | None:
    """The score of each of `count` places, higher is better; None unless every place has exactly one, a finite number.

    The rows are `results` (Jina, llama.cpp, Infinity, vLLM) or `data` (Voyage, LiteLLM), or the body is the list
    (text-embeddings-inference); the score is `relevance_score` or `score`. Rows come in any order, so one without its
    `index` could belong to any text.
    """
    rows = body
    if isinstance(body, Mapping):
        rows = body["results"] if "results" in body else body.get("data")
    if not isinstance(rows, list) or len(rows) != count:
        return None
    scores: dict[int, float] = {}
    for row in rows:
        index = row.get("index") if isinstance(row, Mapping) else None
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < count:
            return None
        score = _number(row.get("relevance_score", row.get("score")))
        if score is None or index in scores:
            return None
        scores[index] = score
    return scores


def _number(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _paths(address: ServerAddress) -> tuple[str, ...]:
    return ("/rerank",) if address.url.endswith("/v1") else ("/v1/rerank", "/rerank")


def _limits(timeout_s: float) -> WireLimits:
    return WireLimits(
        connect_s=min(WireLimits().connect_s, timeout_s), silence_s=timeout_s, total_s=timeout_s
    )
