"""An embedding model that is asked: what is made with it, and how it fares.

It must not know whether its space is the one in use or the coming one.
"""

from __future__ import annotations

from collections.abc import Callable

from ingest.embedding import Embedded, EmbeddingStage
from ingest.refining import RefiningStage
from recalld.errors import ModelError
from recalld.models.breaker import Breaker, failed, succeeded, wait_s
from recalld.models.embedder import Embedder
from recalld.models.server_embedder import ServerEmbedder
from recalld.store.connection import Database
from recalld.store.writers import Writes


class ServedModel:
    """A model with the stages that ask it. One thread steps; the rest may be read from any."""

    def __init__(
        self,
        embedder: Embedder,
        *,
        database: Database,
        writes: Writes,
        batch: int,
        clock: Callable[[], float],
    ) -> None:
        """Asks nothing yet. `batch` is how many statements go to the model at once."""
        self.embedder = embedder
        self.stage = EmbeddingStage(
            database=database, writes=writes, embedder=embedder, batch=batch
        )
        self.refining = RefiningStage(database=database, writes=writes, embedder=embedder)
        # Why the last step failed; None when it did not.
        self.problem: ModelError | None = None
        self._clock = clock
        self._breaker = Breaker(longest_s=60.0)

    @property
    def name(self) -> str:
        """Of the model, for people."""
        return self.embedder.space.name

    def wait_s(self) -> float:
        """Seconds until it is worth asking again; 0 = now."""
        return wait_s(self._breaker, self._clock())

    def step(self) -> Embedded:
        """Embeds the next batch.

        Raises:
            TransientModelError, PermanentModelError: the model did not answer; nothing is changed.
        """
        try:
            done = self.stage.step()
        except ModelError as error:
            self.problem = error
            self._breaker = failed(self._breaker, self._clock())
            raise
        self.problem, self._breaker = None, succeeded(self._breaker)
        return done

    def close(self) -> None:
        """Cuts its calls, and refuses later ones."""
        close_model(self.embedder)


def close_model(embedder: Embedder) -> None:
    """Closes the line to a model at a server; one within this process has none."""
    if isinstance(embedder, ServerEmbedder):
        embedder.close()
