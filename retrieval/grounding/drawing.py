"""Whether a statement puts a block's words together as the block does.

A statement is drawn from one or more clauses of its block. Each predicate must keep its subject, its denial,
its modality and the parts of its participants. Whether the words are there at all is decided before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from retrieval.grounding.clauses import Analysed, Clause, Token
from retrieval.grounding.governing import find_governor
from retrieval.grounding.orders import QUOTED, order_in, overridden_from
from retrieval.grounding.pairing import find_mispaired
from retrieval.grounding.references import (
    fits,
    is_pointed_at,
    is_pronominal,
    is_relative,
    lends,
    reference_of,
)
from retrieval.grounding.refusals import Refused
from retrieval.grounding.scope import find_scope
from retrieval.grounding.swaps import is_swapped
from retrieval.grounding.wording import listed, modality_of, negation
from retrieval.text.scripts import RUN

SHORTEST_STEM = 4
_FINAL = ".!。！ "
# What stands before a whole sentence, and after it.
_BEGINS = re.compile(r"^\s*|[.!?]\s+|[。！？]\s*|[^:：,，、\s]\s*\n\s*")
_ENDS = re.compile(r"\s*(?:[.!]+(?:\s|\Z)|[。！]|\Z|\n)")
_PAST = re.compile(r"\b(?:was|were|had|waren|war|hatten?|had|hadden)\b", re.IGNORECASE)
_PRESENT = re.compile(
    r"\b(?:is|are|has|have|zijn|ist|sind|hat|haben|heeft|hebben)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Case:
    """A statement beside the block that it is said to come from."""

    statement: Analysed
    source: Analysed
    heading: Analysed

    @property
    def known(self) -> frozenset[str]:
        """Every key of the block and its headings."""
        return self.source.keys | self.heading.keys


# The clauses of a block are looked at once for each of its facts.
@lru_cache(maxsize=1 << 12)
def _negations(text: str) -> int:
    return negation().count(text)


@lru_cache(maxsize=1 << 12)
def _modality(text: str) -> frozenset[str]:
    return modality_of(text)


def shared_prefix(one: str, other: str) -> int:
    """How many characters two words begin with alike."""
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return place
    return min(len(one), len(other))


def judge_clauses(case: Case) -> Refused | None:
    """Why a statement whose words are all in the block does not say what they say there; None when it does."""
    for clause in _joined(case):
        if not clause.content:
            return Refused("words", clause.text.strip())
        if _is_told_to_a_model(clause, case):
            return Refused("instruction", clause.text.strip())
        if _is_word_for_word(clause.text, case.source.text):
            continue
        drawn = _drawn_from(clause, case)
        if not drawn:
            continue
        refused = (
            _find_order(clause, drawn, case)
            or _find_borrowed(clause, drawn, case)
            or _find_verb(clause, drawn[0])
            or _find_negation(clause, drawn, case)
            or _find_modality(clause, drawn, case)
            or _find_left_out(clause, drawn, case)
            or _find_roles(clause, drawn, case)
            or find_mispaired(clause, [part.clause for part in drawn], case.statement, case.source)
        )
        if refused is not None:
            return refused
    return None


def _is_word_for_word(sentence: str, source: str) -> bool:
    """Whether a sentence is one of the source's, whole: there is nothing that it could have changed."""
    words = sentence.strip().rstrip(_FINAL).split()
    if not words or not all(word in source for word in words):
        return False
    # A sentence may go over lines, each with the mark of a quote before it.
    said = re.compile(r"[\s>]+".join(map(re.escape, words)))
    begins = {m.end() for m in _BEGINS.finditer(source)}
    return any(m.start() in begins and _ENDS.match(source, m.end()) for m in said.finditer(source))


def _joined(case: Case) -> Iterator[Clause]:
    """The statement's sentences, each as one clause."""
    sentences: dict[int, list[Clause]] = {}
    for clause in case.statement.clauses:
        sentences.setdefault(clause.sentence, []).append(clause)
    for number, held in sentences.items():
        start, end = held[0].start, held[-1].end
        tokens = tuple(token for clause in held for token in clause.tokens)
        keys = frozenset(token.key for token in tokens if token.content)
        yield Clause(number, start, end, case.statement.text[start : end + 1], tokens, keys)


@dataclass(frozen=True, slots=True)
class _Part:
    """What a statement takes from one clause of the block."""

    clause: Clause
    taken: frozenset[str]

    @property
    def is_main(self) -> bool:
        """Whether more than a subject is taken from it."""
        return len(self.taken) >= 2 or len(self.taken) * 2 > len(self.clause.keys)

    @property
    def subject(self) -> str:
        """The key of its first token with a meaning that is no time; empty when there is none."""
        kinds, times = ("date:", "weekday:", "clock:"), listed("times")
        return next(
            (
                t.key
                for t in self.clause.content
                if not t.key.startswith(kinds) and t.plain not in times
            ),
            "",
        )


def _drawn_from(clause: Clause, case: Case) -> tuple[_Part, ...]:
    """The fewest clauses of the block that together hold what the statement says, the fullest first.

    What stands in the headings is looked for in the block first, but need not be there.
    """
    wanted = {key: _known_as(key, case) for key in clause.keys}
    left = {known for known in wanted.values() if known in case.source.keys}
    parts: list[_Part] = []
    while left:
        best = max(case.source.clauses, key=lambda c: _fit(c, left, clause))
        taken = best.keys & left
        if not taken:
            break
        parts.append(_Part(best, frozenset(best.keys & {*wanted.values()})))
        left -= taken
        if not parts[1:] and best.keys <= {*wanted.values()}:
            left -= _light_keys(clause)
        if left <= case.heading.keys:
            break
    return tuple(parts)


def _light_keys(clause: Clause) -> set[str]:
    return {token.key for token in clause.tokens if token.plain in listed("light")}


def _fit(clause: Clause, left: set[str], statement: Clause) -> tuple[int, bool, int]:
    """How well a clause serves: what it gives, whether it denies alike, how little else it says."""
    given = len(clause.keys & left)
    if not given:
        return 0, False, 0
    alike = (_negations(clause.text) > 0) == (_negations(statement.text) > 0)
    return given, alike, -len(clause.keys)


def _known_as(key: str, case: Case) -> str:
    """The block's own key for what a statement says: of a date its full form, of a word its other form."""
    if key in case.source.keys or key in case.heading.keys:
        return key
    if key.startswith("date:"):
        mine = next(q for q in case.statement.quantities if q.key == key)
        return next((q.key for q in case.source.quantities if mine.within(q)), key)
    endings = listed("endings") | {""}
    for other in case.source.keys:
        shared = shared_prefix(key, other)
        if shared >= SHORTEST_STEM and {key[shared:], other[shared:]} <= endings:
            return other
    return key


def _find_order(clause: Clause, drawn: Sequence[_Part], case: Case) -> Refused | None:
    """An order to the reader in the sentence that a statement is drawn from, unless it is quoted."""
    if QUOTED.search(clause.text):
        return None
    for part in drawn:
        sentence = case.source.sentence_text(part.clause.sentence)
        order = order_in(sentence)
        is_taken = part is drawn[0] or not is_pronominal(drawn[0].clause)
        if order and part.is_main and is_taken:
            return Refused("instruction", order)
    return None


def _is_told_to_a_model(clause: Clause, case: Case) -> bool:
    """Whether what a statement is drawn from stands behind `Ignore all previous instructions`."""
    start = overridden_from(case.source.text)
    if start > len(case.source.text):
        return False
    return any(part.clause.end > start for part in _drawn_from(clause, case)[:1])


def _find_borrowed(clause: Clause, drawn: Sequence[_Part], case: Case) -> Refused | None:
    """A predicate given to another subject than its own."""
    main = drawn[0]
    said = {_known_as(key, case) for key in clause.keys}
    # `The cv-boiler` speaks of the boiler.
    parts = {part for t in clause.content if "-" in t.plain for part in t.plain.split("-")}
    said |= {t.key for part in drawn for t in part.clause.content if t.plain in parts}
    if main.clause.keys <= said:
        said -= _light_keys(clause) - main.clause.keys
    strange = said - main.clause.keys
    if not strange:
        return None
    for part in drawn:
        if not part.subject or part.subject in said or is_pronominal(part.clause):
            continue
        # In a script without spaces a topic may have grown together with what begins the clause.
        if (
            not part.subject.isascii()
            and RUN.fullmatch(part.subject)
            and part.subject in clause.text
        ):
            continue
        if any(
            lends(part.clause, part.taken, other.clause, said, case.source.text)
            for other in drawn
            if other is not part
        ):
            continue
        return Refused("name", part.subject)
    for part in drawn[1:]:
        is_lent = lends(part.clause, part.taken, main.clause, said, case.source.text)
        if not is_lent and not part.taken <= case.heading.keys:
            refused = _find_misplaced(clause, part, main)
            if refused is not None:
                return refused
    return None


def _find_misplaced(clause: Clause, part: _Part, main: _Part) -> Refused | None:
    """What another sentence, or another place of it, gives to the main clause without standing for a pronoun."""
    lent = [t for t in part.clause.content if t.key in part.taken - main.clause.keys]
    if not lent:
        return None
    reference = reference_of(main.clause)
    places = {token.key: token.at for token in clause.content}
    lent_at = min((places[t.key] for t in lent if t.key in places), default=None)
    own = [places[t.key] for t in main.clause.content if t.key in places]
    if part.clause.sentence != main.clause.sentence:
        if any(token.kind == "quantity" for token in lent):
            return Refused("number", lent[0].plain)
        is_next = main.clause.sentence - part.clause.sentence == 1
        if is_next and is_pointed_at(main.clause, part.clause, part.taken):
            return None
        if reference is None or not is_next:
            return Refused("name", lent[0].plain)
    is_behind = lent_at is not None and bool(own) and own[0] < lent_at
    if reference is None and is_behind and _is_cut_off(part, lent, clause):
        return Refused("roles", lent[0].plain)
    if reference is None or lent_at is None or not own or part.clause.start >= main.clause.start:
        return None
    return None if fits(reference, lent_at, own) else Refused("roles", lent[0].plain)


def _is_cut_off(part: _Part, lent: Sequence[Token], clause: Clause) -> bool:
    """Whether a subject is taken without its verb: `Frank manages Gina` in `Dora manages Eve and Frank`."""
    if part.clause.content[: len(lent)] != tuple(lent) or is_pronominal(part.clause):
        return False
    tokens = [token for token in part.clause.tokens if token.plain not in listed("articles")]
    at = tokens.index(lent[0])
    verb = next(iter(tokens[at + len(lent) :]), None)
    if verb is None or tokens[at : at + len(lent)] != [*lent]:
        return False
    is_verb = verb.content or verb.plain in listed("copulas") | listed("light")
    last = max(token.at for token in clause.content if token.key == lent[-1].key)
    return is_verb and not any(t.key == verb.key for t in clause.tokens if t.at > last)


def _find_verb(clause: Clause, main: _Part) -> Refused | None:
    """`Ana has the car`, where the block has another verb in that place: `Ana sold the car`."""
    verbs = listed("light") | listed("copulas")
    there = {token.plain for token in main.clause.tokens}
    added = [token.plain for token in clause.tokens if token.plain in verbs - there]
    taken = [token.at for token in main.clause.content if token.key in main.taken]
    if not added or not taken or there & verbs:
        return None
    for token in main.clause.content:
        is_between = taken[0] < token.at < taken[-1]
        if is_between and token.kind == "word" and token.key not in main.taken:
            return Refused("words", added[0])
    return None


def _find_negation(clause: Clause, drawn: Sequence[_Part], case: Case) -> Refused | None:
    main = drawn[0].clause
    said = _negations(clause.text)
    there = _negations(main.text)
    for part in drawn[1:]:
        # `Except the finance share, which is kept for 7 years` denies nothing of how long that is.
        is_antecedent = is_relative(main) and lends(
            part.clause, part.taken, main, clause.keys, case.source.text
        )
        if part.is_main and not is_antecedent:
            there += _negations(part.clause.text)
    return None if said == there else Refused("negation", clause.text.strip())


def _find_modality(clause: Clause, drawn: Sequence[_Part], case: Case) -> Refused | None:
    said = _modality(clause.text)
    there: set[str] = set()
    for part in drawn:
        if part.is_main or part is drawn[0]:
            there |= _modality(part.clause.text)
            whole = _modality(case.source.sentence_text(part.clause.sentence))
            there |= whole & {"conditional", "question"}
    if said != there:
        return Refused("modality", min(said ^ there))
    main = drawn[0].clause.text
    is_present = _PRESENT.search(clause.text) and not _PAST.search(clause.text)
    if is_present and _PAST.search(main) and not _PRESENT.search(main):
        return Refused("modality", "past")
    return None


def _find_left_out(clause: Clause, drawn: Sequence[_Part], case: Case) -> Refused | None:
    """What stands round the words that were taken, and turns them."""
    said = {_known_as(key, case): key for key in clause.keys}
    main = [
        part.clause for part in drawn if part is drawn[0] or (part.is_main and part.subject in said)
    ]
    if refused := find_scope(clause, main, case.statement, case.source):
        return refused
    found = (find_governor(clause, one, case.source, said) for one in main)
    return next((refused for refused in found if refused is not None), None)


def _find_roles(clause: Clause, drawn: Sequence[_Part], case: Case) -> Refused | None:
    whole = (
        replace(
            drawn[0].clause,
            tokens=tuple(
                token
                for other in case.source.clauses
                if other.sentence == sentence and other in [part.clause for part in drawn]
                for token in other.tokens
            ),
        )
        for sentence in dict.fromkeys(part.clause.sentence for part in drawn[:2])
        if len(drawn) > 1
    )
    for other in (*(part.clause for part in drawn if part.is_main), *whole):
        if swapped := is_swapped(clause, other):
            return Refused("roles", swapped)
    return None
