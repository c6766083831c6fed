"""A recall service over a real store with notes on disk, a fake model and a `today` in the test's hands."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ingest.embedding import EmbeddingStage
from recalld.records import Hit, Recalled, RecallFilter
from recalld.store.connection import execute
from recalld.store.vectors import SqliteVectors
from retrieval.evidence import KEYWORD_SLOPE, KEYWORD_TAU, Calibration
from retrieval.query_vectors import QueryVectors
from retrieval.ranking import RecallOptions
from retrieval.recall import Recall
from retrieval.reranking.service import Reranking
from tests.fakes import WordEmbedder
from tests.ingest.keeping import Vault


class Memory:
    """Notes that are embedded, and the service that recalls them."""

    def __init__(
        self,
        base: Path,
        *,
        embedder: WordEmbedder | None = None,
        reranking: Reranking | None = None,
    ) -> None:
        self.vault = Vault(base)
        self.embedder = embedder
        self.today = date(2026, 6, 1)
        self.degraded: tuple[str, ...] = ()
        self.reranking = reranking or Reranking()
        self.recall = Recall(
            database=self.vault.database,
            vectors=SqliteVectors(),
            queries=QueryVectors(embedder),
            calibration=Calibration(
                tau=0.4, slope=12.0, keyword_tau=KEYWORD_TAU, keyword_slope=KEYWORD_SLOPE
            ),
            options=RecallOptions(),
            today=lambda: self.today,
            degraded=lambda: self.degraded,
            space="words" if embedder else None,
            reranking=self.reranking,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.recall.close()
        self.vault.__exit__(kind, error, traceback)

    def take(self, **notes: str) -> None:
        """Notes by name, taken in and embedded."""
        for name, text in notes.items():
            self.vault.write(f"{name}.md", text)
        self.vault.look()
        if self.embedder is not None:
            stage = EmbeddingStage(
                database=self.vault.database,
                writes=self.vault.writes,
                embedder=self.embedder,
                batch=1000,
            )
            stage.adopt()
            stage.step()

    def ask(self, text: str, limits: RecallFilter | None = None, **options: Any) -> Recalled:
        given = {"limit": 8, "max_chars": 4000, **options}
        return self.recall.recall(text, limits=limits or RecallFilter(), **given)[0]

    def texts(self, text: str, limits: RecallFilter | None = None, **options: Any) -> list[str]:
        return [hit.text for hit in self.ask(text, limits, **options).hits]

    def hits(self, text: str, **options: Any) -> tuple[Hit, ...]:
        return self.ask(text, **options).hits

    def set(self, sql: str, *bindings: object) -> None:
        """Changes the store behind the service's back."""
        execute(self.vault.database.writer, sql, bindings)
