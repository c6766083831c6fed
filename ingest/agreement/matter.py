"""Whether two facts are about one matter, by where they stand and by what their own words name. Pure.

Most words are definite only inside their note. So facts of two notes are compared only where both stand under the same
title and headings, or their own words name what they are about. Facts that one note states side by side are all meant.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import product

from ingest.agreement.subjects import is_object_telling, is_told_of_once, subject_of
from ingest.plan import is_date_title
from recalld.store.agreement import Comparable, Place
from retrieval.text.scripts import fold

_DAY = re.compile(r"(?<!\d)\d{4}-\d{2}(?:-\d{2})?(?!\d)")


def are_side_by_side(one: Comparable, other: Comparable) -> bool:
    """Whether a note states both of one day: who writes it means both."""
    return one.happened == other.happened and not _sections(one).isdisjoint(_sections(other))


def is_one_name(one: Comparable, other: Comparable) -> bool:
    """Whether both are about one thing that they call by its name."""
    mine, theirs = (subject_of(fact.text, fact.entities) for fact in (one, other))
    if mine is None or theirs is None or mine.words != theirs.words:
        return False
    return mine.is_name or theirs.is_name


def is_one_matter(one: Comparable, other: Comparable, *, is_of_state: bool) -> bool:
    """Whether what the two are about is said to be the same.

    Args:
        is_of_state: Whether it matters that both tell how something is. Who ran 5 km and then 8 did both.
    """
    if is_one_name(one, other):
        return True
    mine, theirs = (subject_of(fact.text, fact.entities) for fact in (one, other))
    is_same = mine is not None and theirs is not None and mine.words == theirs.words
    shared = _matters(one) & _matters(other)
    if shared and not is_of_state:
        return True
    is_once = is_told_of_once(one.text) or is_told_of_once(other.text)
    # Orders have no subject; those of one title are of one thing. A diary has no title, but tells of one life.
    return bool(shared) and not is_once and (is_same or (any(shared) and mine is theirs is None))


def is_likely_one(one: Comparable, other: Comparable, *, is_told: bool) -> bool:
    """Whether both say of what they speak in words that most often mean one thing: `the production database`.

    Args:
        is_told: Whether one tells of a change. If not, what a thing is or measures may be another thing's as well.
    """
    mine, theirs = (subject_of(fact.text, fact.entities) for fact in (one, other))
    if mine is None or theirs is None or mine.words != theirs.words:
        return False
    if not is_told and (mine.is_attribute or theirs.is_attribute):
        return False
    return (mine.is_naming or theirs.is_naming) and not _are_of_one_kind(one, other)


def is_held_by_one(one: Comparable, other: Comparable) -> bool:
    """The same where the two name different holders of a thing: `Bo leads the platform team`."""
    if not _matters(one).isdisjoint(_matters(other)):
        return True
    return is_object_telling(one.text) and is_object_telling(other.text)


def _are_of_one_kind(one: Comparable, other: Comparable) -> bool:
    """Whether they stand under two things of one kind, such as `Trip to Rome` and `Trip to Oslo`."""
    return any(
        mine & theirs and mine - theirs and theirs - mine
        for mine, theirs in product(_words_above(one), _words_above(other))
    )


def _words_above(fact: Comparable) -> list[frozenset[str]]:
    return [frozenset(" ".join(matter).split()) for matter in _matters(fact)]


def _sections(fact: Comparable) -> frozenset[tuple[int, str]]:
    """The notes that state it, with the day that a heading there gives."""
    return frozenset((place.note_id, _day(place)) for place in fact.places)


def _day(place: Place) -> str:
    return next((one for one in reversed(place.heading_path) if is_date_title(one)), "")


def _matters(fact: Comparable) -> frozenset[tuple[str, ...]]:
    return frozenset(_matter(place) for place in fact.places)


@lru_cache(maxsize=1 << 12)
def _matter(place: Place) -> tuple[str, ...]:
    """The title and the headings that say what is spoken of; none in a diary."""
    headings = (place.title, *place.heading_path)
    said = (
        " ".join(fold(_DAY.sub(" ", one)).split()) for one in headings if not is_date_title(one)
    )
    return tuple(dict.fromkeys(one for one in said if one))
