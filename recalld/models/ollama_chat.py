"""Ollama as a language model.

Every call says how large the window is, how long the answer may be and how long the model stays loaded: what is left to
the server's defaults is cut without a word, runs without an end, or loads the model anew.
"""

from __future__ import annotations

import re
from contextlib import closing
from typing import Any, Literal

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
from recalld.models.ollama_server import KEEP_ALIVE, OllamaServer, Tag
from recalld.models.refusals import About
from recalld.models.spoken import Spoken
from recalld.models.tokens import most_tokens
from recalld.models.wire import WireLimits

# Words in a refusal of the schema itself.
_ABOUT_SCHEMAS = re.compile(r"format|schema|grammar|json", re.IGNORECASE)


class OllamaChat:
    """A language model at Ollama; see ChatModel."""

    def __init__(
        self,
        address: ServerAddress,
        *,
        model: str,
        window: int = 8192,
        limits: WireLimits = WireLimits(),  # noqa: B008 - frozen
        allow_cloud: bool = False,
        key: str | None = None,
    ) -> None:
        """Opens nothing yet. `window` is in tokens and the same for every call: another one loads the model anew.

        Raises:
            PermanentModelError: The model runs elsewhere and that is not allowed.
        """
        self._server = OllamaServer(
            address, model=model, limits=limits, allow_cloud=allow_cloud, key=key, table="llm"
        )
        self._asked_window = window
        # What the model really has, once it is known: never more than was asked for.
        self._window = window
        self._measured: str | None = None
        # Weights that refuse a schema; asked once, they are spared it.
        self._without_schema: set[str] = set()
        self._calls = Calls(model)

    @property
    def prompt_budget_chars(self) -> int:
        """See ChatModel; it may shrink after the first answer, when the model's own window is smaller."""
        return prompt_budget_chars(self._window)

    def complete(self, request: ChatRequest) -> ChatReply:
        """See ChatModel."""
        check_fits(request, self._window)
        with self._calls.one():
            reply = self._complete(request)
        check_read(request, reply.prompt_tokens)
        return reply

    def _complete(self, request: ChatRequest) -> ChatReply:
        tag = self._server.find()
        think = self._server.thinking(tag)
        if request.schema is not None and tag.digest not in self._without_schema:
            try:
                return self._reply(request, tag, think, schema=True)
            except PermanentModelError as error:
                if error.state is not None or not _ABOUT_SCHEMAS.search(error.said or str(error)):
                    raise
            reply = self._reply(request, tag, think, schema=False)
            self._without_schema.add(tag.digest)
            return reply
        return self._reply(request, tag, think, schema=False)

    def _reply(
        self, request: ChatRequest, tag: Tag, think: bool | Literal["low"] | None, *, schema: bool
    ) -> ChatReply:
        prompt_tokens = most_tokens(request.system) + most_tokens(request.user)
        about: About = "text" if request.is_private else "model"
        with self._server.translated(about=about, prompt_tokens=prompt_tokens):
            spoken = self._hear(request, tag, think, schema=schema)
        self._measure(tag)
        return ChatReply(
            text=spoken.text,
            prompt_tokens=spoken.prompt_tokens,
            finished=spoken.finished,
            model=tag.name,
            digest=tag.digest or None,
        )

    def _hear(
        self, request: ChatRequest, tag: Tag, think: bool | Literal["low"] | None, *, schema: bool
    ) -> Spoken:
        parts: Any = self._server.client.chat(
            tag.name,
            [
                {"role": "system", "content": request.system},
                {"role": "user", "content": request.user},
            ],
            stream=True,
            think=think,
            format=dict(request.schema) if schema and request.schema is not None else None,
            options={
                "num_ctx": self._asked_window,
                "num_predict": answer_tokens(request, self._window),
                "temperature": request.temperature,
                "seed": request.seed,
            },
            keep_alive=KEEP_ALIVE,
        )
        spoken = Spoken()
        # Closing the stream ends the generation at the server.
        with closing(parts):
            for part in parts:
                if part.done:
                    spoken.end(part.done_reason == "length", part.prompt_eval_count)
                if not spoken.add(part.message.content or ""):
                    break
        if not spoken.ended:
            raise TransientModelError(
                "the answer broke off",
                hint="see the server's log (`journalctl -u ollama`)",
                state="down",
            )
        return spoken

    def _measure(self, tag: Tag) -> None:
        """Learns the loaded model's own window, once for each set of weights."""
        if self._measured == tag.digest:
            return
        try:
            window = self._server.loaded_window(tag)
        except ModelError:
            return
        self._measured = tag.digest
        self._window = min(self._asked_window, window or self._asked_window)

    def health(self) -> ModelHealth:
        """See ChatModel."""
        return self._calls.health(self._look)

    def _look(self) -> Seen:
        tag = self._server.find()
        self._server.thinking(tag)  # refuses a model that runs elsewhere
        is_loading = self._calls.under_way and not self._server.loaded(tag)
        hint = "`ollama ps` lists it once it is loaded" if is_loading else None
        return Seen(digest=tag.digest or None, loading=hint)

    def cancel(self) -> None:
        """See ChatModel."""
        self._server.wire.cut()

    def close(self) -> None:
        """See ChatModel."""
        self._server.close()
