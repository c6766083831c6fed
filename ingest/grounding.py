"""Whether a fact that a language model drew from a block is what the block says.

The model is trusted with choosing and shortening, not with wording: a word that the block does not have may
be a lie as well as a synonym, and rules cannot tell. Refusing costs little, as the facts found by rules stay.
It must not know of models, prompts or the store.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from ingest.clauses import Analysed, Clause, Token, analyse
from ingest.references import fits, is_pointed_at, is_pronominal, lends, reference_of
from ingest.swaps import is_swapped
from ingest.wording import listed, modality_of, negation, speech
from retrieval.scripts import fold
from retrieval.words import language_of

Refusal = Literal[
    "words",
    "number",
    "date",
    "name",
    "negation",
    "roles",
    "meta",
    "leak",
    "instruction",
    "modality",
]

# Of the words that carry meaning; the rest must be other forms of the block's words.
MIN_SHARE = 0.8
_SHORTEST_STEM = 4
_KANA_ENDINGS = re.compile(
    "です|でした|ます|ました|ません|している|していた|して|する|した|します|しました|ている|ています|ある|あり|あります|いる|います|から|まで|より"
    "|という|ために|には|では|とは|への|での|との|ので|のは|さん|くん|ちゃん|さま|され|られ|れる|せる|だった|である|こと|もの"
)
_QUOTED = re.compile(r"[\"“”「『«].{4,}[\"“”」』»]")
_PAST = re.compile(r"\b(?:was|were|had|waren|war|hatten?|had|hadden)\b", re.IGNORECASE)
_PRESENT = re.compile(
    r"\b(?:is|are|has|have|zijn|ist|sind|hat|haben|heeft|hebben)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Grounded:
    """The block says so."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The block does not say so; `detail` is what stood out."""

    reason: Refusal
    detail: str


Judgement = Grounded | Refused


@dataclass(frozen=True, slots=True)
class _Case:
    """A statement beside the block that it is said to come from."""

    statement: Analysed
    source: Analysed
    heading: Analysed

    @property
    def known(self) -> frozenset[str]:
        return self.source.keys | self.heading.keys


def ground(
    statement: str,
    *,
    source: str,
    heading_path: Sequence[str] = (),
    markers: frozenset[str] = frozenset(),
) -> Judgement:
    """Whether `source`, read under its headings, supports a statement.

    Args:
        statement: One sentence, as a model gave it.
        source: The block's text, what the model saw of it.
        heading_path: Titles above the block; a subject may be taken from them.
        markers: Words that only the prompt's own examples use.
    """
    case = _Case(
        statement=analyse(statement, language_of(statement)),
        source=_analysed_source(source),
        heading=_analysed_source(" . ".join(heading_path)),
    )
    return (
        _find_leak(case, markers)
        or _find_speech(case)
        or _find_quantity(case)
        or _find_word(case)
        or _judge_clauses(case)
        or Grounded()
    )


@lru_cache(maxsize=32)
def _analysed_source(text: str) -> Analysed:
    """The same block is asked about many times, once for each of its facts."""
    return analyse(text)


# The clauses of a block are looked at once for each of its facts.
@lru_cache(maxsize=1 << 12)
def _negations(text: str) -> int:
    return negation().count(text)


@lru_cache(maxsize=1 << 12)
def _modality(text: str) -> frozenset[str]:
    return modality_of(text)


@lru_cache(maxsize=1 << 12)
def _order_in(text: str) -> str:
    m = speech()["instruction"].first(text)
    return m[0].strip() if m is not None else ""


def _find_leak(case: _Case, markers: frozenset[str]) -> Refused | None:
    leaked = case.statement.plains & frozenset(map(fold, markers)) - case.source.plains
    return Refused("leak", min(leaked)) if leaked else None


def _find_speech(case: _Case) -> Refused | None:
    text = case.statement.text
    meta = speech()["meta"].first(text)
    if meta is not None and meta[0].lower() not in case.source.text.lower():
        return Refused("meta", meta[0])
    order = _order_in(_QUOTED.sub(" ", text))
    return Refused("instruction", order) if order else None


def _find_quantity(case: _Case) -> Refused | None:
    there = (*case.source.quantities, *case.heading.quantities)
    for quantity in case.statement.quantities:
        if not any(quantity.within(other) for other in there):
            said = case.statement.text[quantity.start : quantity.end]
            return Refused(quantity.kind, said)
    return None


def _find_word(case: _Case) -> Refused | None:
    tokens = [token for clause in case.statement.clauses for token in clause.tokens]
    words = [token for token in tokens if token.kind != "quantity"]
    if not words:
        return Refused("words", case.statement.text.strip())
    telling = listed("telling") & {token.plain for token in words} - case.source.plains
    if missing := telling - case.heading.plains:
        return Refused("words", min(missing))
    foreign: list[Token] = []
    counted = 0
    light = listed("light") if _is_fragment_whole(case) else frozenset()
    for token in words:
        if token.content and token.kind not in ("run", "kana"):
            counted += 1
            if not _is_known(token, case):
                if token.kind == "identifier" or (token.capital and not _is_opening(token, case)):
                    return Refused("name", token.plain)
                foreign.append(token)
    for token in foreign:
        if token.plain in light:
            counted -= 1
        elif not _is_other_form(token.plain, case):
            return Refused("words", token.plain)
    strange = [token for token in foreign if token.plain not in light]
    if counted and 1 - len(strange) / counted < MIN_SHARE and len(strange) > 1:
        return Refused("words", strange[0].plain)
    return _find_strange_run(case)


def _is_fragment_whole(case: _Case) -> bool:
    """Whether some clause of the block is in the statement whole, so that no verb was exchanged."""
    return any(clause.keys <= case.statement.keys for clause in case.source.clauses)


def _is_opening(token: Token, case: _Case) -> bool:
    return token.at == next(clause.tokens[0].at for clause in case.statement.clauses)


def _is_known(token: Token, case: _Case) -> bool:
    if token.key in case.known or token.plain in case.source.plains | case.heading.plains:
        return True
    if "-" in token.plain:
        return all(
            part in case.source.plains or part in case.heading.plains
            for part in token.plain.split("-")
        )
    # A genitive without an apostrophe.
    return token.capital and token.plain[-1:] == "s" and token.plain[:-1] in case.source.plains


def _is_other_form(plain: str, case: _Case) -> bool:
    """Whether the block has the word with another ending, or as part of a compound with a hyphen."""
    endings = listed("endings") | {""}
    for other in case.source.plains | case.heading.plains:
        if plain in other.split("-"):
            return True
        shared = _shared_prefix(plain, other)
        if (
            shared >= _SHORTEST_STEM
            and plain[shared:] in endings
            and other[shared:] in endings
            and other.isalpha()
        ):
            return True
    return False


def _shared_prefix(one: str, other: str) -> int:
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return place
    return min(len(one), len(other))


def _find_strange_run(case: _Case) -> Refused | None:
    """Characters of a script without spaces that stand in no pair, and no word, of the block."""
    texts = (fold(case.source.text), fold(case.heading.text))
    tokens = [t for c in case.statement.clauses for t in c.tokens if t.kind in ("run", "kana")]
    held = {
        at
        for token in tokens
        for start in (token.at - 1, token.at)
        for at in range(max(start, 0), start + max(len(token.plain), 2))
        if any(_said(case.statement.text, start, start + max(len(token.plain), 2), texts))
    } | {t.at for t in tokens if len(t.plain) == 1 and any(t.plain in text for text in texts)}
    strange = [t for t in tokens if t.kind == "run" and not held.issuperset(range(t.at, t.end))]
    if strange:
        return Refused("words", strange[0].plain)
    for token in tokens:
        rest = _KANA_ENDINGS.sub(" ", token.plain) if token.kind == "kana" else ""
        if any(len(part) > 2 and not any(part in text for text in texts) for part in rest.split()):
            return Refused("words", token.plain)
    pairs = {t.key for t in tokens if t.kind == "run" and len(t.key) > 1}
    if len(pairs) > 4 and len(pairs - case.known) > (1 - MIN_SHARE) * len(pairs) + 2:
        return Refused("words", min(pairs - case.known))
    return None


def _said(text: str, start: int, end: int, others: tuple[str, ...]) -> Iterator[bool]:
    piece = fold(text[max(start, 0) : end])
    return (len(piece) > 1 and piece in other for other in others)


# ---------------------------------------------------------------- clause by clause


def _judge_clauses(case: _Case) -> Refused | None:
    for clause in _joined(case):
        drawn = _drawn_from(clause, case)
        if not drawn:
            continue
        refused = (
            _find_order(clause, drawn, case)
            or _find_borrowed(clause, drawn, case)
            or _find_verb(clause, drawn[0])
            or _find_negation(clause, drawn)
            or _find_modality(clause, drawn, case)
            or _find_roles(clause, drawn, case)
        )
        if refused is not None:
            return refused
    return None


def _joined(case: _Case) -> Iterator[Clause]:
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
        content = [key for key in dict.fromkeys(t.key for t in self.clause.content)]
        return len(self.taken) >= 2 or len(self.taken) * 2 > len(content)

    @property
    def subject(self) -> str:
        """The key of its first token with a meaning that is no time; empty when there is none."""
        times = ("date:", "weekday:", "clock:")
        return next((t.key for t in self.clause.content if not t.key.startswith(times)), "")


def _drawn_from(clause: Clause, case: _Case) -> tuple[_Part, ...]:
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


def _known_as(key: str, case: _Case) -> str:
    """The block's own key for what a statement says: of a date its full form, of a word its other form."""
    if key in case.source.keys or key in case.heading.keys:
        return key
    if key.startswith("date:"):
        mine = next(q for q in case.statement.quantities if q.key == key)
        return next((q.key for q in case.source.quantities if mine.within(q)), key)
    endings = listed("endings") | {""}
    for other in case.source.keys:
        shared = _shared_prefix(key, other)
        if shared >= _SHORTEST_STEM and {key[shared:], other[shared:]} <= endings:
            return other
    return key


def _find_order(clause: Clause, drawn: Sequence[_Part], case: _Case) -> Refused | None:
    """An order to the reader in the sentence that a statement is drawn from, unless it is quoted."""
    if _QUOTED.search(clause.text):
        return None
    for part in drawn:
        sentence = case.source.sentence_text(part.clause.sentence)
        order = _order_in(sentence)
        if order and part.is_main:
            return Refused("instruction", order)
    return None


def _find_borrowed(clause: Clause, drawn: Sequence[_Part], case: _Case) -> Refused | None:
    """A predicate given to another subject than its own."""
    main = drawn[0]
    said = {_known_as(key, case) for key in clause.keys}
    if main.clause.keys <= said:
        said -= _light_keys(clause) - main.clause.keys
    strange = said - main.clause.keys
    if not strange:
        return None
    for part in drawn:
        if not part.subject or part.subject in said or is_pronominal(part.clause):
            continue
        if any(
            lends(part.clause, part.taken, other.clause, said, case.source.text)
            for other in drawn
            if other is not part
        ):
            continue
        is_elliptic = part is main and strange <= case.heading.keys
        if not is_elliptic or _begins_with_name(part.clause):
            return Refused("name", part.subject)
    for part in drawn[1:]:
        if not part.taken <= case.heading.keys:
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
    if part.clause.sentence != main.clause.sentence:
        if any(token.kind == "quantity" for token in lent):
            return Refused("number", lent[0].plain)
        is_next = main.clause.sentence - part.clause.sentence == 1
        if is_next and is_pointed_at(main.clause, part.clause, part.taken):
            return None
        if reference is None or not is_next:
            return Refused("name", lent[0].plain)
    if reference is not None and part.clause.start < main.clause.start:
        places = {token.key: token.at for token in clause.content}
        lent_at = min((places[t.key] for t in lent if t.key in places), default=None)
        own = [places[t.key] for t in main.clause.content if t.key in places]
        if lent_at is not None and own and not fits(reference, lent_at, own):
            return Refused("roles", lent[0].plain)
    return None


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


def _begins_with_name(clause: Clause) -> bool:
    first = next((t for t in clause.tokens if t.content and t.kind != "quantity"), None)
    return first is not None and (
        first.kind == "identifier" or first.capital or first.kind == "run"
    )


def _find_negation(clause: Clause, drawn: Sequence[_Part]) -> Refused | None:
    said = _negations(clause.text)
    there = sum(_negations(part.clause.text) for part in drawn if part.is_main)
    if said == there:
        return None
    return Refused("negation", clause.text.strip())


def _find_modality(clause: Clause, drawn: Sequence[_Part], case: _Case) -> Refused | None:
    said = _modality(clause.text)
    there: set[str] = set()
    for part in drawn:
        if part.is_main:
            there |= _modality(part.clause.text)
            whole = _modality(case.source.sentence_text(part.clause.sentence))
            there |= whole & {"conditional", "question"}
    if said != there:
        return Refused("modality", min(said ^ there))
    main = drawn[0].clause.text
    if _PRESENT.search(clause.text) and not _PAST.search(clause.text):
        if _PAST.search(main) and not _PRESENT.search(main):
            return Refused("modality", "past")
    return None


def _find_roles(clause: Clause, drawn: Sequence[_Part], case: _Case) -> Refused | None:
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
