"""A language model or an embedding model at any server that speaks OpenAI's dialect: llama.cpp, LM Studio, vLLM.

Such a server has its window from its own command line, so what it read is compared with what was sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from recalld.errors import ModelError, PermanentModelError, TransientModelError
from recalld.models.calls import Calls, Seen
from recalld.models.chat import (
    ChatReply,
    ChatRequest,
    ModelHealth,
    answer_tokens,
    check_fits,
    check_read,
    prompt_budget_chars,
)
from recalld.models.loopback import ServerAddress
from recalld.models.refusals import About, Mending, reason_of, refusal, refuses_text
from recalld.models.server_embedder import AnswerUnreadable, TextRefused
from recalld.models.spoken import Spoken
from recalld.models.tokens import most_tokens
from recalld.models.wire import Answer, JsonLine, Wire, WireHints, WireLimits


class OpenAIServer:
    """The calls that both models make."""

    def __init__(
        self,
        address: ServerAddress,
        *,
        model: str,
        limits: WireLimits,
        key: str | None,
        table: Literal["llm", "embedding"],
    ) -> None:
        """Opens nothing yet. `table` is where its settings are, for hints."""
        self.model = model
        self._table = table
        self.address = address
        self.mending = Mending(
            missing=f"`curl {address.url}{self._path('models')}` lists the models there are",
            busy="the server is busy or loads its model; nothing needs to be done",
            broken="see the server's log, or take a smaller model",
            denied="name the variable that holds the key in llm.api_key_env",
            elsewhere=f"no `{self._path('models')}` is at {address.url}: mend {table}.host,"
            f' or for Ollama set {table}.provider = "ollama"',
        )
        hints = WireHints(
            down=f"start the server, as `llama-server -m MODEL.gguf --port 8080`; none is at {address.url}",
            slow="take a smaller model" + (", or raise llm.timeout_s" if table == "llm" else ""),
        )
        self.wire = Wire(address, limits=limits, hints=hints, key=key)
        self._quick_wire = Wire(address, limits=limits.quick(), hints=hints, key=key)
        self._line = JsonLine(self.wire)
        self._quick = JsonLine(self._quick_wire)

    def close(self) -> None:
        """Cuts what is under way and refuses what comes."""
        self.wire.close()
        self._quick_wire.close()

    def find(self) -> str:
        """The model's name as the server lists it.

        Raises:
            PermanentModelError: It has no such model.
            TransientModelError: It doesn't answer, or loads the model.
        """
        answer = self._quick.get(self._path("models"))
        if answer.status != 200:
            reason = reason_of(answer.body)
            raise refusal(answer.status, reason, self.mending, prompt_tokens=0, about="server")
        listed = answer.body.get("data") if isinstance(answer.body, dict) else None
        if not isinstance(listed, list):
            raise PermanentModelError(
                f"{self.address.url} answers, but lists no models",
                hint=f'for Ollama set {self._table}.provider = "ollama"',
                state="down",
            )
        names = [str(each.get("id")) for each in listed if isinstance(each, dict)]
        for name in names:
            if name.lower() == self.model.lower():
                return name
        raise PermanentModelError(
            f"{self.address.url} has no model {self.model}",
            hint=f"set {self._table}.model to one of those there: {', '.join(names[:5]) or 'none'}",
            state="missing",
        )

    def post(self, name: str, body: object) -> Answer:
        """The answer of a method."""
        return self._line.post(self._path(name), body)

    def stream(
        self, body: Mapping[str, object], *, prompt_tokens: int, about: About
    ) -> Iterator[Mapping[str, object]]:
        """The parts of a chat answer, as they come; ends where the server says so.

        Raises:
            TransientModelError, PermanentModelError: also when the stream breaks off.
        """
        with self._line.stream(self._path("chat/completions"), body) as answer:
            if isinstance(answer, Answer):
                raise self._refused(answer.status, answer.body, prompt_tokens, about)
            for line in answer:
                field, _, value = line.partition(":")
                if field != "data" or value.strip() == "[DONE]":
                    continue
                part = self._part(value)
                if "error" in part:
                    raise self._refused(500, part, prompt_tokens, about)
                yield part

    def _refused(self, status: int, body: object, prompt_tokens: int, about: About) -> ModelError:
        return refusal(
            status, reason_of(body), self.mending, prompt_tokens=prompt_tokens, about=about
        )

    def _part(self, text: str) -> Mapping[str, object]:
        try:
            part = json.loads(text)
        except (ValueError, RecursionError):
            part = None
        if not isinstance(part, dict):
            raise TransientModelError(
                f"{self.address.url} answers in no known way",
                hint=self.mending.broken,
                state="down",
            )
        return part

    def _path(self, name: str) -> str:
        return f"/{name}" if self.address.url.endswith("/v1") else f"/v1/{name}"


class OpenAIChat:
    """A language model at an OpenAI-compatible server; see ChatModel."""

    def __init__(
        self,
        address: ServerAddress,
        *,
        model: str,
        window: int = 8192,
        limits: WireLimits = WireLimits(),  # noqa: B008 - frozen
        key: str | None = None,
    ) -> None:
        """Opens nothing yet. `window` is in tokens, and what the server was started with or less."""
        self._server = OpenAIServer(address, model=model, limits=limits, key=key, table="llm")
        self._window = window
        # Some servers know no schemas; asked once, they are spared them.
        self._takes_schema = True
        self._calls = Calls(model)

    @property
    def prompt_budget_chars(self) -> int:
        """See ChatModel."""
        return prompt_budget_chars(self._window)

    def complete(self, request: ChatRequest) -> ChatReply:
        """See ChatModel."""
        check_fits(request, self._window)
        with self._calls.one():
            reply = self._complete(request)
        check_read(request, reply.prompt_tokens)
        return reply

    def _complete(self, request: ChatRequest) -> ChatReply:
        name = self._server.find()
        if request.schema is not None and self._takes_schema:
            try:
                return self._hear(request, name, schema=True)
            except PermanentModelError as error:
                if error.state is not None:
                    raise
            reply = self._hear(request, name, schema=False)
            self._takes_schema = False
            return reply
        return self._hear(request, name, schema=False)

    def _hear(self, request: ChatRequest, name: str, *, schema: bool) -> ChatReply:
        prompt_tokens = most_tokens(request.system) + most_tokens(request.user)
        spoken = Spoken()
        for part in self._server.stream(
            self._body(request, name, schema),
            prompt_tokens=prompt_tokens,
            about="text" if request.is_private else "model",
        ):
            usage = part.get("usage")
            counted = usage.get("prompt_tokens") if isinstance(usage, dict) else None
            if isinstance(counted, int):
                spoken.prompt_tokens = counted
            choices = part.get("choices")
            choice = choices[0] if isinstance(choices, list) and choices else {}
            if not isinstance(choice, dict):
                continue
            if choice.get("finish_reason"):
                spoken.end(choice["finish_reason"] == "length", None)
            delta = choice.get("delta")
            content = delta.get("content") if isinstance(delta, dict) else None
            if isinstance(content, str) and not spoken.add(content):
                break
        if not spoken.ended:
            raise TransientModelError(
                "the answer broke off", hint=self._server.mending.broken, state="down"
            )
        return ChatReply(
            text=spoken.text,
            prompt_tokens=spoken.prompt_tokens,
            finished=spoken.finished,
            model=name,
            digest=None,
        )

    def _body(self, request: ChatRequest, name: str, schema: bool) -> dict[str, object]:
        body: dict[str, object] = {
            "model": name,
            "messages": [
                {"role": "system", "content": request.system},
                {"role": "user", "content": request.user},
            ],
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": request.temperature,
            "seed": request.seed,
            "max_tokens": answer_tokens(request, self._window),
        }
        if schema and request.schema is not None:
            named = {"name": "answer", "strict": True, "schema": dict(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        return body

    def health(self) -> ModelHealth:
        """See ChatModel."""
        return self._calls.health(self._look)

    def _look(self) -> Seen:
        self._server.find()
        return Seen(digest=None)

    def cancel(self) -> None:
        """See ChatModel."""
        self._server.wire.cut()

    def close(self) -> None:
        """See ChatModel."""
        self._server.close()


class OpenAIVectors:
    """Vectors from an OpenAI-compatible server, for a ServerEmbedder."""

    kind = "openai"

    def __init__(
        self,
        address: ServerAddress,
        *,
        model: str,
        limits: WireLimits = WireLimits(),  # noqa: B008 - frozen
        key: str | None = None,
    ) -> None:
        """Opens nothing yet."""
        self._server = OpenAIServer(address, model=model, limits=limits, key=key, table="embedding")
        self.model = model

    def digest(self) -> str | None:
        """See VectorSource; such servers tell none, so only the model's name is checked."""
        self._server.find()
        return None

    def vectors(self, texts: Sequence[str]) -> list[list[float | None]]:
        """See VectorSource; brought into the order of the texts."""
        answer = self._server.post("embeddings", {"model": self.model, "input": list(texts)})
        if answer.status != 200:
            reason = reason_of(answer.body)
            if refuses_text(answer.status, reason):
                raise TextRefused(reason)
            raise refusal(answer.status, reason, self._server.mending, prompt_tokens=0)
        listed = answer.body.get("data") if isinstance(answer.body, dict) else None
        if not isinstance(listed, list):
            raise AnswerUnreadable("the answer has no list of vectors")
        rows: dict[int, list[float | None]] = {}
        for place, each in enumerate(listed):
            row = each.get("embedding") if isinstance(each, dict) else None
            index = each.get("index", place) if isinstance(each, dict) else None
            if not isinstance(row, list) or not isinstance(index, int):
                raise AnswerUnreadable("something in the list is no vector")
            rows[index] = [_number(value) for value in row]
        if sorted(rows) != list(range(len(listed))):
            raise AnswerUnreadable("the vectors' places do not fit the texts")
        return [rows[index] for index in sorted(rows)]

    def close(self) -> None:
        """See VectorSource."""
        self._server.close()


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
