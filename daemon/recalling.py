"""From the settings of recall, and the embedding model at hand, to what recall is built with."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

from recalld.models.embedder import Embedder
from recalld.records import Category
from recalld.settings.tables import RecallSettings
from recalld.store.connection import Connection, Readers
from recalld.store.memory_vectors import MemoryVectors
from recalld.store.reading import meta
from recalld.store.standing import vectors_in_use
from retrieval.evidence import KEYWORD_SLOPE, KEYWORD_TAU, Calibration
from retrieval.foreign import wording
from retrieval.meaning import Meaning
from retrieval.query_vectors import QueryVectors
from retrieval.ranking import RecallOptions
from retrieval.recall import Recall
from retrieval.reranking.service import Reranking
from retrieval.thresholds import Standing, Thresholds, from_kept, thresholds

# Under what the last measurement is kept.
EVIDENCE = "evidence"


def open_recall(
    database: Readers,
    embedder: Embedder | None,
    recall: RecallSettings,
    *,
    degraded: Callable[[], tuple[str, ...]],
    reranking: Reranking | None = None,
) -> Recall:
    """Recall over a database, as the daemon answers and as an evaluation asks; to be closed.

    Args:
        degraded: What does not take part at the moment.
        reranking: To be closed by the caller.
    """
    meaning = meaning_of(database, embedder)
    return Recall(
        database=database,
        vectors=meaning.vectors,
        queries=meaning.queries,
        calibration=meaning.calibration,
        options=recall_options(recall),
        today=date.today,
        degraded=degraded,
        space=meaning.space,
        reranking=reranking,
    )


def meaning_of(database: Readers, embedder: Embedder | None) -> Meaning:
    """The space of a model as recall goes by it; by keywords alone without one, or where vectors can't be searched."""
    return Meaning(
        vectors=MemoryVectors(embedder.space.identity if embedder else None),
        queries=QueryVectors(embedder if database.vectors_problem is None else None),
        calibration=calibration_of(embedder, measured_in(database, embedder)),
        space=embedder.space.identity if embedder else None,
    )


def measured_in(database: Readers, embedder: Embedder | None) -> Thresholds | None:
    """The thresholds that were measured of this memory as it is, by this model's vectors; None where none were."""
    if embedder is None:
        return None
    with database.reader() as connection:
        memory, kept = standing_of(connection), from_kept(meta(connection, EVIDENCE))
    if memory is None or kept is None or not kept.is_of(memory):
        return None
    is_own = memory.identity == embedder.space.identity
    return thresholds(kept, embedder.space.tau) if is_own else None


def standing_of(connection: Connection) -> Standing | None:
    """The memory as its thresholds depend on it; None without a space of vectors."""
    found = vectors_in_use(connection)
    if found is None:
        return None
    return Standing(
        space=found.space, identity=found.identity, questions=wording(), statements=found.statements
    )


def calibration_of(embedder: Embedder | None, measured: Thresholds | None = None) -> Calibration:
    """What an answer must reach to count as evidence; by keywords alone where there is no embedding model."""
    space = embedder.space if embedder else None
    return Calibration(
        tau=space.tau if space else 0.0,
        slope=space.slope if space else 1.0,
        keyword_tau=KEYWORD_TAU,
        keyword_slope=KEYWORD_SLOPE,
        shift=space.shift if space else None,
        thresholds=measured if space else None,
    )


def recall_defaults(recall: RecallSettings) -> dict[str, object]:
    """What a request gets that does not say."""
    return {"limit": recall.limit, "max_chars": recall.max_chars}


def recall_options(recall: RecallSettings) -> RecallOptions:
    """The settings as recall takes them."""
    days = recall.half_life_days
    return RecallOptions(
        half_lives={
            Category.KNOWLEDGE: timedelta(days=days.knowledge),
            Category.PREFERENCE: timedelta(days=days.preference),
            Category.TOOL: timedelta(days=days.tool),
            Category.TIMELINE: timedelta(days=days.timeline),
        },
        neighbours=recall.neighbours,
        min_relevance=recall.min_relevance,
    )
