"""The second speed: statements that wait for a vector in a space get one, those of the newest notes first.

The model is called outside every transaction; a result for a statement that changed meanwhile is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recalld.models.embedder import Embedder
from recalld.store.changes import NewVector, ToEmbed
from recalld.store.connection import Database
from recalld.store.embedding import knows_any, to_embed_for
from recalld.store.spaces import SpaceId, spaces
from recalld.store.vectors import quantise
from recalld.store.writers import Writes


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """What one step did."""

    asked: int
    stored: int
    refused: int
    # What was put in order without a model: vectors of a space that was left, a change that is over.
    tidied: int = 0


class EmbeddingStage:
    """Embeds waiting statements of one space, a batch a step."""

    def __init__(
        self, *, database: Database, writes: Writes, embedder: Embedder, batch: int
    ) -> None:
        """`batch` statements at most go to the model at once."""
        self._database = database
        self._writes = writes
        self._embedder = embedder
        self._batch = batch
        # Whose statements are worked off; None before it is adopted or begun.
        self._space: SpaceId | None = None

    @property
    def space(self) -> SpaceId:
        """Whose statements are worked off, once it is adopted or begun."""
        if self._space is None:
            raise AssertionError("the space was neither adopted nor begun")
        return self._space

    def adopt(self, *, anew: bool = False) -> bool:
        """Makes the embedder's space the one in use. Returns whether another one was left for it.

        What the model refused before gets another chance: it may be another state of it now.

        Args:
            anew: Take no vector that is known of this space: the model would make others now.
        """
        model = self._embedder.space
        with self._database.reader() as connection:
            before = spaces(connection).in_use
        self._writes.call(lambda writers: writers.vectors.retry_refused())
        self._space = self._writes.call(lambda writers: writers.spaces.use(model, anew=anew))
        return before is not None and before.space_id != self._space

    def begin(self, *, anew: bool = False) -> None:
        """Has the embedder's space made beside the one in use, or goes on with that. `anew` as for `adopt`."""
        model = self._embedder.space
        self._writes.call(lambda writers: writers.vectors.retry_refused())
        self._space = self._writes.call(lambda writers: writers.spaces.begin(model, anew=anew))

    def step(self) -> Embedded:
        """Embeds the next batch. `asked` 0 means that nothing waits.

        Raises:
            TransientModelError, PermanentModelError: the model did not answer; nothing is changed.
        """
        space = self._space
        if space is None:
            return Embedded(asked=0, stored=0, refused=0)
        with self._database.reader() as connection:
            found = to_embed_for(connection, space, self._batch)
            is_known = knows_any(connection, space, found)
        if not found:
            return Embedded(asked=0, stored=0, refused=0)
        known = (
            self._writes.call(lambda writers: writers.vectors.reuse(found, space))
            if is_known
            else frozenset()
        )
        waiting = [one for one in found if one.statement_id not in known]
        vectors, refused = self._embed(waiting) if waiting else ([], [])
        stored = self._writes.call(lambda writers: writers.vectors.put(vectors, space))
        if refused:
            self._writes.call(
                lambda writers: writers.vectors.refuse([one.statement_id for one in refused], space)
            )
        return Embedded(asked=len(found), stored=len(known) + stored, refused=len(refused))

    def _embed(self, waiting: list[ToEmbed]) -> tuple[list[NewVector], list[ToEmbed]]:
        """Each different text goes to the model once."""
        by_hash = {one.embed_hash: one for one in waiting}
        computed: dict[bytes, tuple[bytes, bytes]] = {}
        asked = list(by_hash.values())
        rows = self._embedder.embed_statements(
            [one.text for one in asked], [one.start for one in asked]
        )
        if len(rows) != len(asked):
            return [], waiting
        for embed_hash, row in zip(by_hash, rows, strict=True):
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
