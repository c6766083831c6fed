"""The third speed: facts whose category no rule could tell get the nearest prototype's, once there is a vector."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ingest.rules.prototypes import PrototypeVectors, nearest_category, prototype_texts
from recalld.errors import TransientModelError
from recalld.models.embedder import Embedder
from recalld.records import Category
from recalld.store.connection import Database
from recalld.store.reading import meta, undecided_facts
from recalld.store.vectors import dequantised
from recalld.store.writers import Writes

_META = "prototypes"
_BATCH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Refined:
    """How many facts one step settled; 0 means that none waits."""

    settled: int


class RefiningStage:
    """Settles categories, a batch a step. The prototypes are embedded once a model and kept."""

    def __init__(self, *, database: Database, writes: Writes, embedder: Embedder) -> None:
        """Nothing is embedded before the first step that needs it."""
        self._database = database
        self._writes = writes
        self._embedder = embedder
        self._prototypes: PrototypeVectors | None = None

    def step(self) -> Refined:
        """Settles the next batch.

        Raises:
            TransientModelError, PermanentModelError: the prototypes could not be embedded.
        """
        with self._database.reader() as connection:
            waiting = undecided_facts(connection, _BATCH)
        if not waiting:
            return Refined(settled=0)
        prototypes = self._known_prototypes()
        categories = [
            (fact_id, nearest_category(dequantised(embedding), prototypes))
            for fact_id, _, embedding in waiting
        ]
        self._writes.call(lambda writers: writers.usage.categorise(categories))
        return Refined(settled=len(categories))

    def _known_prototypes(self) -> PrototypeVectors:
        if self._prototypes is None:
            texts = prototype_texts()
            stored = self._stored()
            vectors = self._embed(texts) if stored is None else stored
            usable = [bool(np.isfinite(vector).all()) for vector in vectors]
            self._prototypes = PrototypeVectors(
                categories=tuple(
                    category for (category, _), good in zip(texts, usable, strict=True) if good
                ),
                vectors=vectors[usable],
            )
        return self._prototypes

    def _stored(self) -> NDArray[np.float32] | None:
        """The prototypes' vectors of this very model and wording, if they are kept."""
        with self._database.reader() as connection:
            kept = meta(connection, f"{_META}/{self._key()}")
        if kept is None:
            return None
        flat = np.frombuffer(base64.b64decode(kept), np.float16).astype(np.float32)
        return flat.reshape(-1, self._embedder.space.dimension)

    def _embed(self, texts: tuple[tuple[Category, str], ...]) -> NDArray[np.float32]:
        vectors = self._embedder.embed_statements([text for _, text in texts])
        if len(vectors) != len(texts) or not np.isfinite(vectors).all(axis=1).any():
            raise TransientModelError("the embedding model gave no usable vectors for the examples")
        kept = base64.b64encode(vectors.astype(np.float16).tobytes()).decode()
        self._writes.call(lambda writers: writers.put_meta(f"{_META}/{self._key()}", kept))
        return vectors

    def _key(self) -> str:
        wording = "\n".join(f"{category}: {text}" for category, text in prototype_texts())
        digest = hashlib.blake2b(wording.encode(), digest_size=8).hexdigest()
        return f"{self._embedder.space.identity}/{digest}"
