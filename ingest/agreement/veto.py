"""What forbids to merge two facts whatever anybody says of them: a difference in what cannot be a matter of wording.

It errs on the side of two facts: who merges wrongly loses one of them. It must not know who wants to merge.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ingest.agreement.claims import Side, take_apart
from ingest.agreement.relation import Claim
from retrieval.grounding.clauses import analyse
from retrieval.grounding.quantities import find_quantities
from retrieval.grounding.wording import listed
from retrieval.text.scripts import RUN, fold
from retrieval.text.words import Language, language_of

# Signs of scripts without spaces that turn nothing, and those that do the same as another.
_FUNCTION = frozenset("的了是")
_ALIKE = {"は": "が", "为": "是", "為": "是", "은": "이", "는": "가", "를": "을"}
# Behind an article they say another number: `few` is hardly any, `a few` is some.
_COUNTED = frozenset(
    ("few", "little", "bit", "weinig", "paar", "beetje", "wenig", "bisschen", "peu")
)
# Versions, hosts, codes: whatever has a digit in it.
_DAY = re.compile("date:|weekday:|clock:")
_SIGNED = re.compile(r"[/\\~$&|<>=+#@%^{}]|(?<!\w)[-.!:]\w|\w[.:]\w")
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
    if _code(one.text) != _code(other.text):
        return "subject"
    return None if _same_matter(one.text, other.text) else "subject"


def _code(text: str) -> list[str]:
    """What is written with signs inside or before it, in which every sign counts: `./build` is not `/build`."""
    pieces = (
        piece.strip("\"'`*_()[],;").rstrip(".:!?") for piece in _split_at_measures(text)[0].split()
    )
    return sorted(piece for piece in pieces if _SIGNED.search(piece))


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
    """Whether both say the same content words in the same order, each behind the same small words.

    A small word more or less may turn a statement, and so may an order: `from Ana to Bo`, `alpha calls beta`. What
    may change places is only what stands on both sides of `is`.
    """
    language = language_of(f"{one} {other}")
    mine, theirs = _said(one, language), _said(other, language)
    if mine.when != theirs.when:
        return False
    if mine.words == theirs.words:
        return mine.before == theirs.before and mine.last == theirs.last
    if mine.when and _is_turned_behind_day(mine, theirs):
        return True
    return bool(mine.words) and _is_turned_about_copula(mine, theirs)


@dataclass(frozen=True, slots=True)
class _Said:
    """A text as what decides whether another says the same."""

    # Content words in order, measures as what they come to; signs of scripts without spaces one by one.
    words: tuple[str, ...]
    # The small words before each of them, and those at the end.
    before: tuple[frozenset[str], ...]
    last: frozenset[str]
    # How many words stand before `is`; None without one.
    copula_at: int | None
    # The one day or time in it, with its small words: it may stand anywhere.
    when: tuple[str, frozenset[str]] | None


def _is_turned_behind_day(mine: _Said, theirs: _Said) -> bool:
    """`Op woensdag werkt iedereen thuis` beside `Iedereen werkt op woensdag thuis`: the verb stands second."""
    if mine.last != theirs.last or any(mine.before[:2]) or any(theirs.before[:2]):
        return False
    return min(map(len, mine.words[:2]), default=0) > 1 and (
        mine.words[:2] == theirs.words[1::-1]
        and mine.words[2:] == theirs.words[2:]
        and mine.before == theirs.before
    )


def _is_turned_about_copula(mine: _Said, theirs: _Said) -> bool:
    """`Ana is the owner` beside `the owner is Ana`."""
    at = mine.copula_at
    if not at or theirs.copula_at != len(mine.words) - at or mine.last or theirs.last:
        return False
    turned = (*zip(mine.words, mine.before, strict=True),)
    return (*turned[at:], *turned[:at]) == (*zip(theirs.words, theirs.before, strict=True),)


@lru_cache(maxsize=1 << 12)
def _said(text: str, language: Language) -> _Said:
    signs = _signs(text, language)
    days = [sign for sign in signs if sign.is_day]
    words: list[str] = []
    before: list[frozenset[str]] = []
    small: set[str] = set()
    copula_at: int | None = None
    when: tuple[str, frozenset[str]] | None = None
    for last, sign in zip((None, *signs), signs, strict=False):
        if sign.plain in _COUNTED and last is not None and last.plain in listed("articles"):
            small.add("a")
        if sign.plain in listed("copulas") and copula_at is None:
            copula_at = len(words)
        if sign.is_small:
            small |= {sign.plain} - _FUNCTION - listed("harmless")
            continue
        if days == [sign]:
            when = (sign.key, frozenset(small))
        else:
            words.append(sign.key)
            before.append(frozenset(small))
        small = set()
    return _Said(tuple(words), tuple(before), frozenset(small), copula_at, when)


class _Sign(NamedTuple):
    """A word, a measure, or a sign of a script without spaces."""

    at: int
    key: str
    plain: str
    is_small: bool
    is_day: bool = False


def _signs(text: str, language: Language) -> list[_Sign]:
    analysed = analyse(text, language if language in ("fr", "es") else None)
    tokens = [token for clause in analysed.clauses for token in clause.tokens]
    taken = [(q.start, q.end) for q in analysed.quantities]
    signs = [
        _Sign(
            t.at,
            t.key,
            t.plain,
            not t.content or t.plain in listed("telling"),
            t.kind == "quantity" and _DAY.match(t.key) is not None,
        )
        for t in tokens
        if t.kind not in ("run", "kana")
    ]
    for m in RUN.finditer(analysed.text):
        for at, char in enumerate(m[0], m.start()):
            if not any(start <= at < end for start, end in taken):
                plain = _ALIKE.get(char, char)
                signs.append(_Sign(at, plain, plain, plain in _FUNCTION))
    return sorted(signs)
