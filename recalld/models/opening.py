"""From settings to models at servers: which server, at which address, with which key.

A language model is not asked for before it is needed; an embedding model is, for its dimension.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from recalld.errors import ModelState, PermanentModelError
from recalld.models.chat import ChatModel, ChatReply, ChatRequest, ModelHealth
from recalld.models.loopback import OLLAMA_PORT, OPENAI_PORT, ServerAddress, read_address
from recalld.models.ollama_chat import OllamaChat
from recalld.models.ollama_vectors import OllamaVectors
from recalld.models.openai_client import OpenAIChat, OpenAIVectors
from recalld.models.server_embedder import ServerEmbedder, VectorSource, named_in
from recalld.models.wire import WireLimits
from recalld.settings.tables import EmbeddingSettings, LlmSettings, RerankSettings

if TYPE_CHECKING:
    from recalld.models.rerank_client import OpenAIRerank

_AUTO_OFF: tuple[ModelState, ...] = ("down", "missing")


class NoChat:
    """A language model that there is not; see ChatModel. Facts are the rules'."""

    prompt_budget_chars = 0

    def __init__(self, *, name: str, state: ModelState, hint: str | None) -> None:
        self._health = ModelHealth(state=state, hint=hint, name=name, digest=None)

    def complete(self, request: ChatRequest) -> ChatReply:  # noqa: ARG002 - the protocol's
        """Refuses."""
        raise PermanentModelError(
            "there is no language model", hint=self._health.hint, state=self._health.state
        )

    def health(self) -> ModelHealth:
        """See ChatModel."""
        return self._health

    def cancel(self) -> None:
        """There is nothing to cut."""

    def close(self) -> None:
        """There is nothing to close."""


class AutoChat:
    """A model that is used whenever it is to be had, and not missed when it is not; see ChatModel."""

    def __init__(self, model: ChatModel, *, address: ServerAddress) -> None:
        self._model = model
        self._address = address

    @property
    def prompt_budget_chars(self) -> int:
        """See ChatModel."""
        return self._model.prompt_budget_chars

    def complete(self, request: ChatRequest) -> ChatReply:
        """See ChatModel."""
        return self._model.complete(request)

    def health(self) -> ModelHealth:
        """See ChatModel; `off` where nobody answers or the model is not there: nothing was promised."""
        health = self._model.health()
        if health.state not in _AUTO_OFF:
            return health
        hint = f"rules extract facts; for a language model at {self._address.url}: {health.hint}"
        return ModelHealth(state="off", hint=hint, name=health.name, digest=None)

    def cancel(self) -> None:
        """See ChatModel."""
        self._model.cancel()

    def close(self) -> None:
        """See ChatModel."""
        self._model.close()


def open_chat_model(llm: LlmSettings, env: Mapping[str, str]) -> ChatModel:
    """The language model of the settings; one that refuses, and says why, where they name none that may be used."""
    if llm.provider == "off":
        return NoChat(name=llm.model, state="off", hint='set llm.provider = "auto" to use one')
    limits = WireLimits(silence_s=llm.timeout_s, total_s=2 * llm.timeout_s)
    try:
        key = _key(llm, env)
        address = _llm_address(llm, env)
        if llm.provider == "openai":
            return OpenAIChat(address, model=llm.model, window=llm.num_ctx, limits=limits, key=key)
        chat = OllamaChat(
            address,
            model=llm.model,
            window=llm.num_ctx,
            limits=limits,
            allow_cloud=llm.allow_cloud,
            key=key,
        )
    except PermanentModelError as error:
        return NoChat(name=llm.model, state="off", hint=error.told)
    return AutoChat(chat, address=address) if llm.provider == "auto" else chat


def open_embedder(
    embedding: EmbeddingSettings, llm: LlmSettings, env: Mapping[str, str]
) -> ServerEmbedder:
    """The embedding model at a server; the provider must be one of `ollama` and `openai`.

    Raises:
        TransientModelError: The server doesn't answer now; ask again later.
        PermanentModelError: The settings, or what the server has, must change first.
    """
    same_kind = (embedding.provider == "openai") == (llm.provider == "openai")
    host = embedding.host or (llm.host if same_kind else "")
    address = _address(host, embedding.provider, llm.allow_remote, env, "embedding.host")
    # The key belongs to the language model's server; no other one gets to see it.
    key = _key(llm, env) if same_kind and address == _llm_address(llm, env) else None
    limits = WireLimits(silence_s=30.0, total_s=60.0)
    source: VectorSource
    if embedding.provider == "openai":
        source = OpenAIVectors(address, model=embedding.model, limits=limits, key=key)
    else:
        source = OllamaVectors(
            address,
            model=embedding.model,
            limits=limits,
            allow_cloud=llm.allow_cloud,
            key=key,
        )
    try:
        return ServerEmbedder(source)
    except BaseException:
        source.close()
        raise


def reopen_server_embedder(
    identity: str, embedding: EmbeddingSettings, llm: LlmSettings, env: Mapping[str, str]
) -> ServerEmbedder | None:
    """The model at a server that a space's identity names, as it is now; None where it names none.

    Raises:
        TransientModelError, PermanentModelError: As `open_embedder`.
    """
    named = named_in(identity)
    if named is None:
        return None
    kind, model = named
    # The address in the settings is that of their own kind of server.
    host = embedding.host if kind == embedding.provider else ""
    former = embedding.model_copy(update={"provider": kind, "model": model, "host": host})
    return open_embedder(former, llm, env)


def open_rerank_client(
    rerank: RerankSettings, llm: LlmSettings, env: Mapping[str, str]
) -> OpenAIRerank:
    """The reranking model at a server; nothing is asked yet.

    Raises:
        PermanentModelError: The settings name no server that may be used.
    """
    # Few have one, and all others do without the module.
    from recalld.models.rerank_client import OpenAIRerank  # noqa: PLC0415

    is_theirs = llm.provider == "openai"
    host = rerank.host or (llm.host if is_theirs else "")
    address = _address(host, "openai", llm.allow_remote, env, "rerank.host")
    # The key belongs to the language model's server; no other one gets to see it.
    key = _key(llm, env) if is_theirs and address == _llm_address(llm, env) else None
    return OpenAIRerank(address, model=rerank.model, timeout_s=rerank.timeout_s, key=key)


def is_on_this_machine(llm: LlmSettings, env: Mapping[str, str]) -> bool:
    """Whether the language model's server is one on this machine; False where the settings name none."""
    try:
        return _llm_address(llm, env).loopback
    except PermanentModelError:
        return False


def _llm_address(llm: LlmSettings, env: Mapping[str, str]) -> ServerAddress:
    return _address(llm.host, llm.provider, llm.allow_remote, env, "llm.host")


def _address(
    host: str, provider: str, allow_remote: bool, env: Mapping[str, str], setting: str
) -> ServerAddress:
    port = OPENAI_PORT if provider == "openai" else OLLAMA_PORT
    if not host.strip() and provider != "openai" and env.get("OLLAMA_HOST", "").strip():
        host, setting = env["OLLAMA_HOST"], "OLLAMA_HOST"
    return read_address(host, port=port, allow_remote=allow_remote, setting=setting)


def _key(llm: LlmSettings, env: Mapping[str, str]) -> str | None:
    if not llm.api_key_env:
        return None
    key = env.get(llm.api_key_env, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        raise PermanentModelError(
            f"the variable {llm.api_key_env} holds no key",
            hint="set it for the daemon, or leave llm.api_key_env empty",
        )
    return key
