"""Whether a statement leaves out what its source puts round it: who says so, that it is not so, when, how far.

`Ana denied that she stole the key` has all the words of `Ana stole the key`. What a statement drops may be a
detail or may be what turns the rest; here are the wordings that turn. How words hang together is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from retrieval.grounding.clauses import Analysed, Clause, analyse
from retrieval.grounding.references import is_relative
from retrieval.grounding.refusals import Refused
from retrieval.grounding.wording import Wording, listed, negation, scopes, words_of
from retrieval.text.scripts import fold

# They turn the clause that they stand in.
_TURNING = ("reported", "denied")
# They turn what follows; the last two only the word that follows.
_AHEAD = ("refused", "decided", "seldom", "partly")
_NEXT = ("seldom", "partly")
# Of such a clause: `says Bo`, `according to the vendor`.
_SLIGHT = 3
# Characters before and after a number in which a bound stands.
_BEFORE, _AFTER = 22, 14
_TOUCHING = 4
_WORD = re.compile(r"\w+")
_NEIGHBOUR_ENDS = re.compile(r"[.,;:!?()|。，、；：！？\n]")
# Of a script without spaces, in one word.
_SIGNS_OF_ONE = 2


def find_scope(
    statement: Clause, drawn: Sequence[Clause], said: Analysed, source: Analysed
) -> Refused | None:
    """Why a sentence says more than the clauses that it is drawn from, with what is round them; None when it does not.

    Args:
        statement: A sentence of the statement, as one clause.
        drawn: The source's clauses that it takes more than a participant from.
        said: The whole statement.
        source: The whole source.
    """
    return (
        _find_turned(statement, drawn, source)
        or _find_not_only(statement, drawn[0])
        or _find_widened(statement, drawn[0])
        or _find_limited(statement, drawn, source)
        or _find_bounded(statement, said, source)
    )


def _find_turned(statement: Clause, drawn: Sequence[Clause], source: Analysed) -> Refused | None:
    around = [*drawn, *_slight_beside(drawn, source)]
    for name in _TURNING:
        wording = scopes()[name]
        if wording.holds(statement.text):
            continue
        if any(wording.holds(clause.text) for clause in around):
            return Refused("modality", name)
    for name in _AHEAD:
        wording = scopes()[name]
        if wording.holds(statement.text):
            continue
        if any(_turns_what_follows(name, clause, statement) for clause in drawn):
            return Refused("modality", name)
    return None


def _turns_what_follows(name: str, clause: Clause, statement: Clause) -> bool:
    """Whether a wording stands in a clause before something that a statement takes from it."""
    wording = scopes()[name]
    if wording.spans_inside(clause.text):
        return True
    for end in wording.ends(clause.text):
        after = [t for t in clause.content if t.at - clause.start >= end]
        taken = [token.key in statement.keys for token in after]
        # `Lena rookt zelden`: at the end it turns what is before it.
        if any(taken[:1] if name in _NEXT else taken) or (name == "seldom" and not after):
            return True
    return False


def _find_not_only(statement: Clause, drawn: Clause) -> Refused | None:
    """`Not only smart` as `not smart`: a denied limit is no denial of what is limited."""
    if not negation().holds(statement.text):
        return None
    there = {token.plain for token in statement.tokens}
    words = frozenset(map(fold, scopes()["limits"].words))
    for end in negation().ends(drawn.text):
        following = next((t for t in drawn.tokens if t.at - drawn.start >= end), None)
        if following is not None and following.plain in words - there:
            return Refused("negation", following.plain)
    return None


def _find_widened(statement: Clause, drawn: Clause) -> Refused | None:
    """`Takes no calls from abroad` as `takes no calls`: what is left out of a denial makes it a wider one."""
    if not negation().holds(statement.text):
        return None
    for end in negation().ends(drawn.text):
        for token in drawn.content:
            is_detail = bool(token.marker) and token.at - drawn.start >= end
            if is_detail and token.key not in statement.keys:
                return Refused("negation", token.plain)
    return None


def _slight_beside(drawn: Sequence[Clause], source: Analysed) -> Iterator[Clause]:
    """The small clauses beside those drawn from, which say who says so: `says Bo`."""
    for before, after in pairwise(source.clauses):
        if before.sentence != after.sentence or is_relative(after):
            continue
        for clause, other in ((before, after), (after, before)):
            if clause in drawn and other not in drawn and len(other.content) <= _SLIGHT:
                yield other


def _find_limited(statement: Clause, drawn: Sequence[Clause], source: Analysed) -> Refused | None:
    """A condition or an exception that is left out."""
    limits, condition = scopes()["limits"], scopes()["condition"]
    if lost := _lost_inside(statement, drawn[0]):
        return Refused("modality", lost)
    for clause in drawn:
        for other in source.clauses:
            if other.sentence != clause.sentence or other in drawn:
                continue
            if _begins(other, condition) and not condition.holds(statement.text):
                return Refused("modality", "condition")
            if other.keys & statement.keys:
                continue
            takes_back = other.start >= clause.end and _denies_at(other, statement)
            if takes_back or (_begins(other, limits) and not limits.holds(statement.text)):
                return Refused("modality", "limits")
    return None


def _begins(clause: Clause, wording: Wording) -> bool:
    """Whether a clause begins with one of some wordings; scripts without spaces have it anywhere."""
    if wording.spans_inside(f"{clause.text}、"):
        return True
    opening = clause.text.strip().lower()
    first = _WORD.match(opening)
    return first is not None and (
        first[0] in wording.words
        or (wording.phrases is not None and wording.phrases.match(opening) is not None)
    )


def _denies_at(clause: Clause, statement: Clause) -> bool:
    """Whether a clause takes back what is before it for a time or a place: `but not on Monday`, `但周六不行`.

    What is likewise in the statement is another case: `is open on Sunday, but not on Monday`.
    """
    words = [token for token in clause.content if token.kind != "run" or len(token.plain) > 1]
    if not 0 < len(words) <= _SLIGHT or not negation().holds(clause.text):
        return False
    first = words[0]
    if any(token.marker and token.marker == first.marker for token in statement.content):
        return False
    return bool(first.marker) or first.kind == "quantity"


def _lost_inside(statement: Clause, clause: Clause) -> str:
    """A limit inside a clause that is left out with what it limits to: `only at night`."""
    limits, condition = scopes()["limits"], scopes()["condition"]
    there = {token.plain for token in statement.tokens}
    words = frozenset(map(fold, limits.words))
    for place, token in enumerate(clause.tokens):
        if token.plain not in words or token.plain in there:
            continue
        limited = next((t for t in clause.tokens[place + 1 :] if t.content), None)
        if limited is None or limited.key in statement.keys:
            continue
        if limited.kind == "quantity" or token.plain not in listed("until"):
            return "limits"
    for name, wording in (("limits", limits), ("condition", condition)):
        if wording.spans_inside(clause.text) and not wording.spans_inside(statement.text):
            return name
    return ""


def _find_bounded(statement: Clause, said: Analysed, source: Analysed) -> Refused | None:
    """A number that stands with `less than` in every place where the source has it, or nowhere there."""
    for quantity in said.quantities:
        if not statement.start <= quantity.start < statement.end:
            continue
        mine = _bounds_beside(said.text, quantity.start, quantity.end)
        theirs = [
            _bounds_beside(source.text, other.start, other.end)
            for other in source.quantities
            if quantity.within(other)
        ]
        is_lost = bool(theirs) and all(bool(mine) != bool(one) for one in theirs)
        # `At most 3` where the source has `at most` beside another number.
        is_others = bool(mine) and not any(mine & one or not one for one in theirs)
        if is_lost or (is_others and any(one in source.text.lower() for one in mine)):
            return Refused(quantity.kind, "bounds")
    return None


def _bounds_beside(text: str, start: int, end: int) -> frozenset[str]:
    """The words beside a number that bound it; in scripts without spaces they touch it."""
    bounds = scopes()["bounds"]
    before = _NEIGHBOUR_ENDS.split(text[max(start - _BEFORE, 0) : start])[-1]
    after = _NEIGHBOUR_ENDS.split(text[end : end + _AFTER])[0]
    touching = (before[-_TOUCHING:], after[:_TOUCHING])
    found = {some[at:to] for some in touching for at, to in bounds.spans_inside(some)}
    for some in (" ".join(before.split()[-3:]).lower(), " ".join(after.split()[:2]).lower()):
        found |= bounds.words & words_of(some)
        found |= set(bounds.phrases.findall(some)) if bounds.phrases is not None else set()
    return frozenset(found)


def says_something(text: str) -> bool:
    """Whether there is more than one thing in a text that can be looked for: not `Yes`, not a bare name."""
    tokens = [token for clause in analyse(text).clauses for token in clause.content]
    words = sum(token.kind not in ("run", "kana") for token in tokens)
    signs = sorted({at for t in tokens if t.kind == "run" for at in range(t.at, t.end)})
    stretches = sum(at - 1 not in signs for at in signs)
    return words + stretches > 1 or len(signs) > _SIGNS_OF_ONE
