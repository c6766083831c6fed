"""Which known facts a fact is worth a question about: alike in words, near in meaning, or naming the same and not far.

What stands in one paragraph does not disagree, and hardly what stands in one note of one day. A question costs a
language model seconds, so most facts are worth none. What was asked before is not known here, so the same facts are
found in every run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from ingest.agreement.keys import Profile, profile, unpacked
from ingest.agreement.links import series_of
from recalld.records import BlockId, FactId, NoteId
from recalld.store.agreement import Comparable, comparables
from recalld.store.connection import Connection
from recalld.store.succession import crowded
from recalld.store.verdicts import (
    alike_in_words,
    naming_the_same,
    near_in_meaning,
    nearness,
    places_of,
)

Pair = tuple[Comparable, Comparable]

# What is looked at in each way.
_LOOKED_AT = 8
# Of all words that either of two facts has.
_LEAST_SHARE = 0.25
# Cosines of statements. Paraphrases lie above .85 and what has nothing in common below .5; conflicts that wording hides
# lie round .53, among much else, so those that lie lower are asked about only where words or a name lead to them.
_SAME = 0.85
_NEAR = 0.6
_NOT_FAR = 0.45
# With nothing to tell how near they are, of many that name the same.
_MOST_UNSEEN = 2
# The weight of a thing that three facts name.
_TELLING = 0.33


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """Two facts that somebody may have something to say about."""

    pair: Pair
    # Whether that may be a model, which takes seconds; rules take no time.
    is_worth_a_question: bool


def promising_pairs(connection: Connection, fact_id: FactId, *, with_vectors: bool) -> list[Met]:
    """A fact with each of the known ones that it may say the same as, more than, or the opposite of.

    They come by turns from common words, common names and nearness in meaning. Two numbers of one list or log are none.
    """
    alike = _alike(connection, fact_id)
    naming = naming_the_same(connection, fact_id, _LOOKED_AT)
    near = near_in_meaning(connection, fact_id, _LOOKED_AT) if with_vectors else []
    others = dict.fromkeys(_by_turns((alike, [*naming], near)))
    facts = comparables(connection, {fact_id, *others})
    if fact_id not in facts:
        return []
    cosines = nearness(connection, fact_id, set(others)) if with_vectors else {}
    places = places_of(connection, facts)
    mine = facts.pop(fact_id)
    series = crowded(connection, series_of(mine.text))
    unseen = [other for other in naming if other not in cosines][:_MOST_UNSEEN]
    led_to = {*alike, *naming} & {*alike, *cosines, *unseen}
    return [
        Met(
            pair=(mine, facts[other]),
            is_worth_a_question=_is_worth(
                cosines.get(other),
                is_led_to=other in led_to,
                is_telling=naming.get(other, 0.0) >= _TELLING,
                apart=_apart(mine, facts[other], places),
            ),
        )
        for other in others
        if other in facts and not series & {*series_of(facts[other].text)}
    ]


def _is_worth(
    cosine: float | None,
    *,
    is_led_to: bool,
    is_telling: bool,
    apart: Literal["paragraph", "note", "notes"],
) -> bool:
    """Whether a question is worth its seconds.

    Args:
        cosine: None where one has no vector.
        is_led_to: Whether words or names lead from one to the other.
        is_telling: Whether both name what few others do.
        apart: What both were written in. Who writes a paragraph does not contradict it, and hardly a note.
    """
    if apart == "paragraph":
        return False
    is_not_far = cosine is None or cosine >= _NOT_FAR
    if apart == "note":
        return (is_telling and is_not_far) or (cosine or 0.0) >= _SAME
    return (is_led_to and is_not_far) or (cosine or 0.0) >= _NEAR


def _apart(
    one: Comparable, other: Comparable, places: Mapping[FactId, frozenset[tuple[NoteId, BlockId]]]
) -> Literal["paragraph", "note", "notes"]:
    """What was written at once: a paragraph, or what a note says of one day."""
    both = places[one.fact_id] | places[other.fact_id]
    if len(both) == 1:
        return "paragraph"
    is_one_note = len({note for note, _ in both}) == 1
    return "note" if is_one_note and one.happened == other.happened else "notes"


def _alike(connection: Connection, fact_id: FactId) -> list[FactId]:
    """The facts with most words in common, relative to all that either has."""
    facts = comparables(connection, [fact_id])
    if not facts:
        return []
    mine = profile(facts[fact_id].text)
    shares = {
        other: _share(mine, unpacked(words))
        for other, words in alike_in_words(connection, fact_id).items()
    }
    near = [other for other, share in shares.items() if share >= _LEAST_SHARE]
    return sorted(near, key=lambda other: (-shares[other], other))[:_LOOKED_AT]


def _share(mine: Profile, theirs: Profile) -> float:
    return len(mine.words & theirs.words) / max(len(mine.words | theirs.words), 1)


def _by_turns(ranked: Sequence[Sequence[FactId]]) -> Iterator[FactId]:
    return (one for row in zip_longest(*ranked) for one in row if one is not None)
