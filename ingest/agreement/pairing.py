"""Which known facts a fact is worth a question about: alike in words, near in meaning, or naming the same and not far.

A word that few passages have leads from one fact to another as well, where it is a name or code (`felix-2`), or where
one fact denies and the other does not: `no models on felix` and `gemma3:4b runs on felix` share nothing else.

What stands in one paragraph does not disagree, and hardly what stands in one note of one day. A question costs a
language model seconds, so most facts are worth none. What was asked before is not known here, so the same facts are
found in every run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from ingest.agreement.keys import Profile, content_words, names_in, profile, unpacked
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
    sharing_rare_words,
)
from retrieval.grounding.wording import negation
from retrieval.text.scripts import RUN
from retrieval.text.words import is_stop, iter_words, language_of

Pair = tuple[Comparable, Comparable]

# What is looked at in each way.
_LOOKED_AT = 8
# Of all words that either of two facts has.
_LEAST_SHARE = 0.25
# Facts with some words in common whose wording is looked at, where codes count as many words.
_RECOUNTED = 24
# The weight of a name that five passages have.
_RARE = 0.2
# Content words of a fact in which a rare word is what it is about.
_SHORT = 10
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
    named = naming_the_same(connection, fact_id, _LOOKED_AT)
    # What is named by an entity comes first; a rare word may be no more than a word.
    naming = {**_sharing_rare(connection, fact_id), **named}
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
                is_telling=named.get(other, 0.0) >= _TELLING,
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


def _sharing_rare(connection: Connection, fact_id: FactId) -> dict[FactId, float]:
    """The short facts that have a rare name or code of one, or a rare word that one of both denies, with its weight."""
    mine = comparables(connection, [fact_id]).get(fact_id)
    if mine is None or not _is_short(mine.text):
        return {}
    # Two signs of a script without spaces that meet are rare by chance.
    words = frozenset(word for word in content_words(mine.text) if not RUN.search(word))
    found = sharing_rare_words(connection, fact_id, words, _LOOKED_AT)
    others = comparables(connection, found)
    return {
        other: weight
        for other, weight in found.items()
        if other in others and _may_disagree(mine.text, others[other].text, words, weight)
    }


def _may_disagree(mine: str, theirs: str, words: frozenset[str], weight: float) -> bool:
    """Whether two facts share a name or code, or one of these words of which only one denies something."""
    if not _is_short(theirs):
        return False
    if weight >= _RARE and _names_inside(mine) & _names_inside(theirs):
        return True
    is_denied = negation().holds(mine) != negation().holds(theirs)
    return is_denied and not words.isdisjoint(content_words(theirs))


def _is_short(text: str) -> bool:
    """Whether a fact is about few things: in a long one a rare word is one thing among many."""
    return len(_whole_words(text)) <= _SHORT * (2 if RUN.search(text) else 1)


def _names_inside(text: str) -> frozenset[str]:
    """Words with a capital letter that no sentence begins with, and codes: words with a digit and a sign in them."""
    words = [*iter_words(text)]
    codes = {
        word.exact[0]
        for word in words
        if word.exact and word.parts and any(sign.isdigit() for sign in word.plain)
    }
    begin = {*words[0].exact} if words else set()
    return frozenset(codes | (names_in(text) - begin))


def _alike(connection: Connection, fact_id: FactId) -> list[FactId]:
    """The facts with most words in common, relative to all that either has."""
    facts = comparables(connection, [fact_id])
    if not facts:
        return []
    mine = profile(facts[fact_id].text)
    stored = {
        other: unpacked(words) for other, words in alike_in_words(connection, fact_id).items()
    }
    shares = {other: _share(mine, words) for other, words in stored.items()}
    shares |= _recounted(connection, facts[fact_id], mine, stored, shares)
    near = [other for other, share in shares.items() if share >= _LEAST_SHARE]
    return sorted(near, key=lambda other: (-shares[other], other))[:_LOOKED_AT]


def _share(mine: Profile, theirs: Profile) -> float:
    return len(mine.words & theirs.words) / max(len(mine.words | theirs.words), 1)


def _recounted(
    connection: Connection,
    fact: Comparable,
    mine: Profile,
    stored: Mapping[FactId, Profile],
    shares: Mapping[FactId, float],
) -> dict[FactId, float]:
    """The share of whole words, which is larger where a code such as `gemma3:4b` is kept as eight."""
    far = [other for other, share in shares.items() if 0 < share < _LEAST_SHARE]
    far.sort(key=lambda other: (-len(mine.words & stored[other].words), other))
    whole = _whole_words(fact.text)
    found: dict[FactId, float] = {}
    for other, each in comparables(connection, far[:_RECOUNTED]).items():
        theirs = _whole_words(each.text)
        found[other] = max(shares[other], len(whole & theirs) / max(len(whole | theirs), 1))
    return found


def _whole_words(text: str) -> frozenset[str]:
    """The content words of a text, a code as one; of a script without spaces its pairs of signs."""
    language = language_of(text)
    words = [word for word in iter_words(text) if not is_stop(word.plain, language)]
    return frozenset(
        key for word in words for key in (word.parts if word.is_run else word.exact[:1])
    )


def _by_turns(ranked: Sequence[Sequence[FactId]]) -> Iterator[FactId]:
    return (one for row in zip_longest(*ranked) for one in row if one is not None)
