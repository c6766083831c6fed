"""Two lists of scores become one: z-scores over the union, each leg apart, then neighbours and the graph.

It knows scores and places in a note, never texts, queries or where a score came from. All is done in columns: a union
has two hundred passages, of which a tenth is looked at afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum, sqrt

import numpy as np
from numpy.typing import NDArray

from recalld.records import PassageId
from retrieval.records import Pool, Scores

Column = NDArray[np.float64]

# Of the vector leg, where both legs take part.
VECTOR_SHARE = 0.65
NEIGHBOUR_SHARE = 0.3
# Characters: up to here a passage gains in full, and from there in a falling line to nothing.
SHORT_LENGTH = 250
LONG_LENGTH = 500
# Standard deviations, for the best path from a name in the query.
GRAPH_GAIN = 1.0
# Scores whose range is under this share of the largest are equal but for rounding (cosines are sums in 32 bits), and
# dividing by their deviation would make noise as large as a real difference.
EQUAL_WITHIN = 1e-6


def fuse(pool: Pool, *, vector_weight: float = VECTOR_SHARE) -> Scores:
    """Each candidate's fused score, in no way dependent on the order of the candidates.

    A candidate without a matching word counts as 0 in BM25. One without a vector has none yet, which
    says nothing against it: it counts as the mean of the vectors seen. A leg that brought up nobody
    takes no part, and the other then counts whole. A leg in which all are equal says nothing and
    gives 0.

    Args:
        pool: Its scores are finite, or NaN.
        vector_weight: Share of the vector leg, 0..1; the keyword leg has the rest.
    """
    keywords = _z_scores(pool.keyword, missing=0.0)
    vectors = _z_scores(pool.vector, missing=None)
    weight = _share_of_vectors(keywords, vectors, vector_weight)
    nothing = np.zeros(len(pool.passages))
    keyword = nothing if keywords is None else keywords
    vector = nothing if vectors is None else vectors
    return Scores(keyword, vector, (1 - weight) * keyword + weight * vector, nothing, nothing)


def add_neighbours(scores: Scores, pool: Pool, *, share: float = NEIGHBOUR_SHARE) -> Scores:
    """The same scores, with what each short passage gains from its better neighbour.

    A short passage (a turn of a talk, a list item) is often understood by the one beside it.
    It gains a share of the better neighbour's fused score where that is above 0: in full to
    250 characters, nothing from 500. Neighbours stand next to it in the same note and are
    themselves candidates. Gains are taken from scores without gains, so nothing cascades.
    """
    along = np.lexsort((pool.positions, pool.notes))
    notes, positions, fused = pool.notes[along], pool.positions[along], scores.fused[along]
    is_next = (notes[1:] == notes[:-1]) & (positions[1:] == positions[:-1] + 1)
    better = np.zeros(len(along))
    better[1:] = np.where(is_next, fused[:-1], 0.0)
    better[:-1] = np.maximum(better[:-1], np.where(is_next, fused[1:], 0.0))
    gains = np.empty(len(along))
    gains[along] = share * _shortness(pool.lengths[along]) * np.maximum(better, 0.0)
    return scores._replace(neighbour=gains)


def add_graph(
    scores: Scores, pool: Pool, reached: Mapping[PassageId, float], *, most: float = GRAPH_GAIN
) -> Scores:
    """The same scores, with what the passages gain that the graph came to.

    Args:
        reached: The score of each such passage's best path, above 0; the best of those in the pool gains in full.
        most: What gaining in full is, in standard deviations.
    """
    worth = np.array([reached.get(one, 0.0) for one in pool.passages])
    best = float(worth.max(initial=0.0))
    return scores._replace(graph=most * (worth / best)) if best else scores


def _shortness(lengths: NDArray[np.int64]) -> Column:
    """1 to 250 characters, 0 from 500, and a line between."""
    return np.clip((LONG_LENGTH - lengths) / (LONG_LENGTH - SHORT_LENGTH), 0.0, 1.0)


def _share_of_vectors(keywords: Column | None, vectors: Column | None, weight: float) -> float:
    if vectors is None:
        return 0.0
    return 1.0 if keywords is None else weight


def _z_scores(scores: Column, *, missing: float | None) -> Column | None:
    """The scores in standard deviations from their mean; None when nobody has a score.

    `missing` stands in for no score, and None for the mean of those seen. Sums are exact (`fsum`),
    so the order of the scores changes no bit of the result.
    """
    none = np.isnan(scores)
    if none.all():
        return None
    stand_in = _mean(scores[~none]) if missing is None else missing
    values = np.where(none, stand_in, scores)
    low, high = float(values.min()), float(values.max())
    spread = high - low
    if spread <= EQUAL_WITHIN * max(abs(low), abs(high)):
        return np.zeros(len(values))
    # Scaled to 0..1 first: squares of very small or large scores would underflow or overflow.
    scaled = (values - low) / spread
    apart = scaled - _mean(scaled)
    return apart / sqrt(_mean(apart * apart))


def _mean(values: Column) -> float:
    return fsum(values.tolist()) / len(values)
