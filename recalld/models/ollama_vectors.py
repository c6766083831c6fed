"""Ollama as an embedding model."""

from __future__ import annotations

from collections.abc import Sequence

from recalld.models.loopback import ServerAddress
from recalld.models.ollama_server import OllamaServer, full_name
from recalld.models.wire import WireLimits

# Statements and questions are short; a larger window costs memory for each input of a batch.
_EMBED_WINDOW = 2048


class OllamaVectors:
    """Vectors from Ollama, for a ServerEmbedder."""

    kind = "ollama"

    def __init__(
        self,
        address: ServerAddress,
        *,
        model: str,
        limits: WireLimits = WireLimits(),  # noqa: B008 - frozen
        allow_cloud: bool = False,
        key: str | None = None,
    ) -> None:
        """Opens nothing yet.

        Raises:
            PermanentModelError: The model runs elsewhere and that is not allowed.
        """
        self._server = OllamaServer(
            address, model=model, limits=limits, allow_cloud=allow_cloud, key=key, table="embedding"
        )
        self.model = full_name(model)

    def digest(self) -> str | None:
        """See VectorSource."""
        tag = self._server.find()
        self._server.thinking(tag)  # refuses a model that runs elsewhere
        return tag.digest or None

    def vectors(self, texts: Sequence[str]) -> list[list[float | None]]:
        """See VectorSource."""
        return self._server.embed(self.model, texts, window=_EMBED_WINDOW)

    def close(self) -> None:
        """See VectorSource."""
        self._server.close()
