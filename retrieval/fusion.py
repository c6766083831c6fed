"""Two lists of scores become one: z-scores over the union, each leg apart, then neighbours and the graph.

It knows scores and places in a note, never texts, queries or where a score came from.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import fsum, sqrt

from recalld.records import NoteId, PassageId
from retrieval.records import Candidate, Fused

# Of the vector leg, where both legs take part.
VECTOR_SHARE = 0.6
NEIGHBOUR_SHARE = 0.3
# Characters: up to here a passage gains in full, and from there in a falling line to nothing.
SHORT_LENGTH = 250
LONG_LENGTH = 500
# Standard deviations, for the best path from a name in the query.
GRAPH_GAIN = 1.0
# Scores whose range is under this share of the largest are equal but for rounding (cosines are sums in 32 bits), and
# dividing by their deviation would make noise as large as a real difference.
EQUAL_WITHIN = 1e-6


def fuse(
    candidates: Collection[Candidate], *, vector_weight: float = VECTOR_SHARE
) -> dict[PassageId, Fused]:
    """Each candidate's fused score, in no way dependent on the order of the candidates.

    A candidate without a matching word counts as 0 in BM25. One without a vector has none yet, which
    says nothing against it: it counts as the mean of the vectors seen. A leg that brought up nobody
    takes no part, and the other then counts whole. A leg in which all are equal says nothing and
    gives 0.

    Args:
        candidates: The union of the legs' best, each passage once, scores finite.
        vector_weight: Share of the vector leg, 0..1; the keyword leg has the rest.
    """
    keywords = _z_scores([candidate.keyword for candidate in candidates], missing=0.0)
    vectors = _z_scores([candidate.vector for candidate in candidates], missing=None)
    weight = _share_of_vectors(keywords, vectors, vector_weight)
    nothing = [0.0] * len(candidates)
    return {
        candidate.passage_id: Fused(keyword, vector, (1 - weight) * keyword + weight * vector)
        for candidate, keyword, vector in zip(
            candidates, keywords or nothing, vectors or nothing, strict=True
        )
    }


def add_neighbours(
    fused: Mapping[PassageId, Fused],
    candidates: Collection[Candidate],
    *,
    share: float = NEIGHBOUR_SHARE,
) -> dict[PassageId, Fused]:
    """The same scores, with what each short passage gains from its better neighbour.

    A short passage (a turn of a talk, a list item) is often understood by the one beside it.
    It gains a share of the better neighbour's fused score where that is above 0: in full to
    250 characters, nothing from 500. Neighbours stand next to it in the same note and are
    themselves candidates. Gains are taken from scores without gains, so nothing cascades.
    """
    scores: dict[NoteId, dict[int, float]] = {}
    for passage_id, note_id, position, *_ in candidates:
        scores.setdefault(note_id, {})[position] = fused[passage_id].fused
    gained = dict(fused)
    for passage_id, note_id, position, length, *_ in candidates:
        beside = scores[note_id]
        if length >= LONG_LENGTH or len(beside) == 1:
            continue
        better = max(beside.get(position - 1, 0.0), beside.get(position + 1, 0.0))
        if better > 0.0:
            keyword, vector, score = fused[passage_id][:3]
            gained[passage_id] = Fused(keyword, vector, score, share * _shortness(length) * better)
    return gained


def add_graph(
    fused: Mapping[PassageId, Fused],
    reached: Mapping[PassageId, float],
    *,
    most: float = GRAPH_GAIN,
) -> dict[PassageId, Fused]:
    """The same scores, with what the passages gain that the graph came to.

    Args:
        reached: The score of each such passage's best path, above 0; the best of them gains in full.
        most: What gaining in full is, in standard deviations.
    """
    best = max(reached.values(), default=0.0)
    gained = {
        passage_id: fused[passage_id]._replace(graph=most * (worth / best))
        for passage_id, worth in reached.items()
        if passage_id in fused
    }
    return {**fused, **gained}


def _shortness(length: int) -> float:
    """1 to 250 characters, 0 from 500, and a line between."""
    return min(1.0, max(0.0, (LONG_LENGTH - length) / (LONG_LENGTH - SHORT_LENGTH)))


def _share_of_vectors(
    keywords: Sequence[float] | None, vectors: Sequence[float] | None, weight: float
) -> float:
    if vectors is None:
        return 0.0
    return 1.0 if keywords is None else weight


def _z_scores(scores: Sequence[float | None], *, missing: float | None) -> list[float] | None:
    """The scores in standard deviations from their mean; None when nobody has a score.

    `missing` stands in for no score, and None for the mean of those seen. Sums are exact (`fsum`),
    so the order of the scores changes no bit of the result.
    """
    seen = [score for score in scores if score is not None]
    if not seen:
        return None
    stand_in = fsum(seen) / len(seen) if missing is None else missing
    values = [stand_in if score is None else score for score in scores]
    low, high = min(values), max(values)
    spread = high - low
    if spread <= EQUAL_WITHIN * max(abs(low), abs(high)):
        return [0.0] * len(values)
    # Scaled to 0..1 first: squares of very small or large scores would underflow or overflow.
    scaled = [(value - low) / spread for value in values]
    mean = fsum(scaled) / len(scaled)
    apart = [value - mean for value in scaled]
    deviation = sqrt(fsum([value * value for value in apart]) / len(apart))
    return [value / deviation for value in apart]
