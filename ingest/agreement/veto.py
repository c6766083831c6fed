"""What forbids to merge two facts whatever anybody says of them: a difference in what cannot be a matter of wording.

It errs on the side of two facts: who merges wrongly loses one of them. It must not know who wants to merge.
"""

from __future__ import annotations

import re

from ingest.agreement.claims import Side, take_apart
from ingest.agreement.keys import words_in_order
from ingest.agreement.relation import Claim
from retrieval.grounding.quantities import find_quantities
from retrieval.text.scripts import fold

# Versions, hosts, codes: whatever has a digit in it.
_FUNCTION = frozenset("的了是为為在有はがのをにで은는이가을를")
_NUMBERED = re.compile(r"[^\W_]*\d[\w.:/-]*(?<![.:/-])")


def merge_veto(one: Claim, other: Claim) -> str | None:
    """The first difference that forbids it: `negation`, `number`, `date`, `name`, `subject`, `time`, `modality`."""
    a, b = take_apart(one.text, one.entities), take_apart(other.text, other.entities)
    if a.negations != b.negations:
        return "negation"
    if one.happened != other.happened:
        return "date"
    if _amounts(one.text) != _amounts(other.text):
        return "number"
    if a.cues != b.cues:
        return "time"
    if a.modality != b.modality:
        return "modality"
    if not (_says_names_of(a, b) and _says_names_of(b, a)):
        return "name"
    return None if _same_matter(one.text, other.text) else "subject"


def _amounts(text: str) -> frozenset[str]:
    """Measures and dates in one unit, and what else has digits."""
    rest, measures = _split_at_measures(text)
    return frozenset(measures | {fold(m[0]) for m in _NUMBERED.finditer(rest)})


def _split_at_measures(text: str) -> tuple[str, set[str]]:
    """The text without its measures and dates, and these in one unit."""
    rest: list[str] = []
    at, found = 0, set()
    for quantity in find_quantities(text):
        rest.append(text[at : quantity.start])
        found.add(quantity.key)
        at = quantity.end
    return " ".join((*rest, text[at:])), found


def _says_names_of(side: Side, other: Side) -> bool:
    """Whether one side says every name in the other; the word that opens a sentence looks like one."""
    named = {sign.casefold() for name in other.names for sign in name}
    return other.capitals & other.content <= side.content and named <= {
        sign.casefold() for sign in side.signs
    }


def _same_matter(one: str, other: str) -> bool:
    """Whether one says all the words of the other, beginning with the same one where it matters who comes first.

    `Ana pays Bo` is not `Bo pays Ana`, though all their words are the same.
    """
    mine, theirs = _words(one), _words(other)
    shared = {*mine} & {*theirs}
    if not shared or not (shared >= {*mine} or shared >= {*theirs}):
        return False
    first, second = (next(word for word in words if word in shared) for words in (mine, theirs))
    return first == second or not (_has_names(one) and _has_names(other))


def _words(text: str) -> tuple[str, ...]:
    """The content words in order, without measures, which were compared by what they come to.

    Single characters where a script has no spaces, as any two that meet make a pair.
    """
    words = words_in_order(_split_at_measures(text)[0])
    plain = (word for word in words if word.isascii() or len(word) == 1)
    return tuple(word for word in plain if word not in _FUNCTION)


def _has_names(text: str) -> bool:
    """Whether two names may stand in it."""
    side = take_apart(text, ())
    return len(side.capitals & side.content) > 1 or not text.isascii()
