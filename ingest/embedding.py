"""The second speed: statements that wait for a vector get one, those of the newest notes first.

The model is called outside every transaction; a result for a statement that changed meanwhile is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recalld.models.embedder import Embedder
from recalld.store.changes import NewVector, ToEmbed
from recalld.store.connection import Database
from recalld.store.vectors import quantise, to_embed
from recalld.store.writers import Writes


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """What one step did."""

    asked: int
    stored: int
    refused: int


class EmbeddingStage:
    """Embeds waiting statements, a batch a step."""

    def __init__(
        self, *, database: Database, writes: Writes, embedder: Embedder, batch: int
    ) -> None:
        """`batch` statements at most go to the model at once."""
        self._database = database
        self._writes = writes
        self._embedder = embedder
        self._batch = batch

    def adopt(self) -> bool:
        """Makes the embedder's space the store's. Returns whether vectors of another one were dropped.

        What the model refused before gets another chance: it may be another state of it now.
        """
        identity = self._embedder.space.identity
        self._writes.call(lambda writers: writers.vectors.retry_refused())
        return self._writes.call(lambda writers: writers.vectors.adopt_model(identity))

    def step(self) -> Embedded:
        """Embeds the next batch. `asked` 0 means that nothing waits.

        Raises:
            TransientModelError, PermanentModelError: the model did not answer; nothing is changed.
        """
        with self._database.reader() as connection:
            waiting = to_embed(connection, self._batch)
        if not waiting:
            return Embedded(asked=0, stored=0, refused=0)
        vectors, refused = self._embed(waiting)
        stored = self._writes.call(lambda writers: writers.vectors.put(vectors))
        if refused:
            self._writes.call(
                lambda writers: writers.vectors.refuse([one.statement_id for one in refused])
            )
        return Embedded(asked=len(waiting), stored=stored, refused=len(refused))

    def _embed(self, waiting: list[ToEmbed]) -> tuple[list[NewVector], list[ToEmbed]]:
        """Each different text goes to the model once."""
        by_hash = {one.embed_hash: one.text for one in waiting}
        computed: dict[bytes, tuple[bytes, bytes]] = {}
        hashes, texts = list(by_hash), list(by_hash.values())
        rows = self._embedder.embed_statements(texts)
        if len(rows) != len(texts):
            return [], waiting
        for embed_hash, row in zip(hashes, rows, strict=True):
            if np.shape(row) != (self._embedder.space.dimension,):
                continue
            try:
                computed[embed_hash] = quantise(row)
            except ValueError:
                continue
        vectors = [
            NewVector(
                statement_id=one.statement_id,
                embed_hash=one.embed_hash,
                signs=computed[one.embed_hash][0],
                embedding=computed[one.embed_hash][1],
            )
            for one in waiting
            if one.embed_hash in computed
        ]
        return vectors, [one for one in waiting if one.embed_hash not in computed]
