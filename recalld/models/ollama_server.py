"""What both models at Ollama share: the server, the model on it, and the library with its errors turned into ours.

The only place where `ollama` is imported. Nothing is ever pulled, and no model that runs elsewhere is used without
leave.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from recalld.errors import PermanentModelError, TransientModelError
from recalld.models.loopback import ServerAddress
from recalld.models.refusals import About, Mending, reason_of, refusal, refuses_text
from recalld.models.server_embedder import AnswerUnreadable, TextRefused
from recalld.models.wire import JsonLine, Wire, WireHints, WireLimits

if TYPE_CHECKING:
    import ollama

# Long enough for the pauses between notes, short enough to give the memory back.
KEEP_ALIVE = "10m"
_FOR_ITS_CLIENT = re.compile(r"(?i:\w+_proxy)|SSL_CERT_(?:FILE|DIR)|OLLAMA_HOST|OLLAMA_API_KEY")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """A model as the server lists it."""

    name: str
    digest: str


def full_name(model: str) -> str:
    """The name with its tag, as the server lists it: `gemma3` is `gemma3:latest`."""
    name = model.strip().removeprefix("registry.ollama.ai/").removeprefix("library/")
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def runs_elsewhere(model: str) -> bool:
    """Whether the name is one of a model that Ollama forwards to its makers: `…-cloud`, `…:cloud`."""
    return full_name(model).lower().removesuffix(":latest").endswith(("-cloud", ":cloud"))


class OllamaServer:
    """The calls that both models make, with the errors turned into ours."""

    def __init__(
        self,
        address: ServerAddress,
        *,
        model: str,
        limits: WireLimits,
        allow_cloud: bool,
        key: str | None,
        table: Literal["llm", "embedding"],
    ) -> None:
        """Opens nothing yet. `table` is where its settings are, for hints.

        Raises:
            PermanentModelError: The model runs elsewhere and that is not allowed.
        """
        self.model = model
        self.address = address
        self._table = table
        self._allow_cloud = allow_cloud
        self._mending = Mending(
            missing=f"`ollama pull {model}`",
            busy="too many requests wait at the server; `ollama ps` shows what runs",
            broken="see the server's log (`journalctl -u ollama`), or take a smaller model",
            denied=f"see the server's log (`journalctl -u ollama`), or take another model ({table}.model)",
            elsewhere=_elsewhere(address, table),
        )
        hints = WireHints(
            down=f"`ollama serve`, or set {table}.host if it is not {address.url}",
            slow="`ollama ps` shows what runs; take a smaller model"
            + (", or raise llm.timeout_s" if table == "llm" else ""),
        )
        # Two lines: questions about the model are answered while a call hangs, and a cut spares them.
        self.wire = Wire(address, limits=limits, hints=hints, key=key)
        self._quick_wire = Wire(address, limits=limits.quick(), hints=hints, key=key)
        self.client = _client(self.wire)
        self._quick = _client(self._quick_wire)
        self._line = JsonLine(self._quick_wire)
        # Digest to what `show` says of it.
        self._shown: dict[str, Mapping[str, object]] = {}
        if runs_elsewhere(model):
            self._refuse_cloud("by its name")

    def close(self) -> None:
        """Cuts what is under way and refuses what comes."""
        self.wire.close()
        self._quick_wire.close()

    def find(self) -> Tag:
        """The model as the server has it.

        Raises:
            PermanentModelError: It has not; the hint is the command that brings it.
            TransientModelError: The server does not answer.
        """
        wanted = full_name(self.model)
        with self.translated(about="server"):
            for listed in self._quick.list().models:
                name = listed.model or ""
                if full_name(name).lower() == wanted.lower():
                    return Tag(name=name, digest=(listed.digest or "").removeprefix("sha256:"))
        raise PermanentModelError(
            f"{self.address.url} has no model {self.model}",
            hint=self._mending.missing,
            state="missing",
        )

    def thinking(self, tag: Tag) -> bool | Literal["low"] | None:
        """What to say about thinking so that the model does as little as it can; None: nothing.

        Raises:
            PermanentModelError: The model runs elsewhere and that is not allowed, or it writes nothing.
        """
        shown = self._show(tag)
        capabilities = shown.get("capabilities")
        if isinstance(capabilities, list) and capabilities and "completion" not in capabilities:
            raise PermanentModelError(
                f"{self.model} writes no text ({', '.join(map(str, capabilities))})",
                hint=f"{self.model} writes no text; take another model ({self._table}.model)",
                state="missing",
            )
        if not isinstance(capabilities, list) or "thinking" not in capabilities:
            return None
        details = shown.get("details")
        family = str(details.get("family")) if isinstance(details, dict) else ""
        # This family cannot be told not to think, only how much.
        return "low" if family.startswith(("gptoss", "gpt-oss")) else False

    def loaded_window(self, tag: Tag) -> int | None:
        """Tokens of the window that the loaded model really has; None when it isn't loaded or nobody tells."""
        with self.translated(about="server"):
            for running in self._quick.ps().models:
                if (running.digest or "").removeprefix("sha256:") == tag.digest:
                    return running.context_length
        return None

    def loaded(self, tag: Tag) -> bool:
        """Whether the model is in memory."""
        with self.translated(about="server"):
            running = self._quick.ps().models
        return any((each.digest or "").removeprefix("sha256:") == tag.digest for each in running)

    def embed(self, name: str, texts: Sequence[str], *, window: int) -> list[list[float | None]]:
        """The vectors of some texts, none of which has more than `window` tokens read.

        Raises:
            TextRefused, AnswerUnreadable: Of one of these texts.
            TransientModelError, PermanentModelError: Of the model or its server.
        """
        with self.translated(about="text"):
            try:
                answer = self.client.embed(
                    name,
                    list(texts),
                    truncate=True,
                    options={"num_ctx": window},
                    keep_alive=KEEP_ALIVE,
                )
            except _library().ResponseError as error:
                reason = reason_of(error.error)
                if refuses_text(error.status_code, reason):
                    raise TextRefused(reason) from error
                raise
            except json.JSONDecodeError:
                raise
            except ValueError as error:
                # A null for a number: the library refuses the whole answer for it.
                raise AnswerUnreadable(str(error)) from error
        return [list(row) for row in answer.embeddings]

    def _show(self, tag: Tag) -> Mapping[str, object]:
        if tag.digest in self._shown:
            return self._shown[tag.digest]
        # Not the library's `show`: its record lacks `remote_host`, and fails where `model_info` is absent.
        answer = self._line.post("/api/show", {"model": tag.name})
        if answer.status != 200 or not isinstance(answer.body, dict):
            reason = reason_of(answer.body)
            raise refusal(answer.status, reason, self._mending, prompt_tokens=0, about="model")
        if answer.body.get("remote_host") or answer.body.get("remote_model"):
            self._refuse_cloud(f"at {answer.body.get('remote_host')}")
        self._shown[tag.digest] = answer.body
        return answer.body

    def _refuse_cloud(self, where: str) -> None:
        if not self._allow_cloud:
            raise PermanentModelError(
                f"{self.model} does not run on this machine ({where})",
                hint=f"take a local model ({self._table}.model), or set llm.allow_cloud = true to send notes there",
                state="off",
            )

    @contextmanager
    def translated(self, *, about: About, prompt_tokens: int = 0) -> Iterator[None]:
        """Turns the library's exceptions into ours; those of the line are ours already."""
        try:
            yield
        except _library().ResponseError as error:
            reason = reason_of(error.error)
            # An error within a stream whose status was 200: what ran the model gave up.
            status = 500 if error.status_code == -1 else error.status_code
            raise refusal(
                status, reason, self._mending, prompt_tokens=prompt_tokens, about=about
            ) from error
        except ValueError as error:
            # Not JSON, or not the fields that the library wants.
            raise TransientModelError(
                f"{self.address.url} answers, but not as Ollama does",
                hint=f'for another kind of server set {self._table}.provider = "openai"',
                state="down",
            ) from error


def _elsewhere(address: ServerAddress, table: str) -> str:
    """What to do where the address answers, but not as Ollama does."""
    split = urlsplit(address.url)
    where = "to where it is"
    if split.path.strip("/"):
        where = f'= "{split.scheme}://{split.netloc}", without {split.path}'
    other = f'or, for another kind of server, {table}.provider = "openai"'
    return f"no Ollama is at {address.url}: set {table}.host {where}, {other}"


def _client(wire: Wire) -> ollama.Client:
    # The wire has the time limits, and takes off the key that the library adds from its environment.
    client: ollama.Client = _library().Client(
        host=wire.address.url, transport=wire, trust_env=False, follow_redirects=False
    )
    return client


@cache
def _library() -> Any:
    """The library, imported without the environment that it would make a client of its own from.

    A proxy or certificate file in it that is not sound would end the import, and with it the daemon.
    """
    unwanted = [name for name in os.environ if _FOR_ITS_CLIENT.fullmatch(name)]
    kept = {name: os.environ.pop(name) for name in unwanted}
    try:
        return import_module("ollama")
    finally:
        os.environ.update(kept)
