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
# Who does it stands behind one of these, as behind `by`.
_AGENTS = frozenset("由被")
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
    may change places is what stands on both sides of `is`, what takes its small word along, and who does what is done
    by somebody.
    """
    language = language_of(f"{one} {other}")
    mine, theirs = _said(one, language), _said(other, language)
    if mine.when != theirs.when:
        return False
    if mine.words == theirs.words:
        return mine.before == theirs.before and mine.last == theirs.last
    if mine.when and _is_turned_behind_day(mine, theirs):
        return True
    if not mine.words or mine.last or theirs.last or len(mine.words) != len(theirs.words):
        return False
    return (
        _is_turned_about_copula(mine, theirs)
        or _is_carried_along(mine, theirs)
        or _is_passive_of(mine, theirs)
        or _is_passive_of(theirs, mine)
    )


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

    @property
    def parts(self) -> tuple[tuple[str, frozenset[str]], ...]:
        """Each word with the small words before it."""
        return tuple(zip(self.words, self.before, strict=True))


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
    if not at or theirs.copula_at != len(mine.words) - at:
        return False
    return (*mine.parts[at:], *mine.parts[:at]) == theirs.parts


def _is_carried_along(mine: _Said, theirs: _Said) -> bool:
    """`In Utrecht stands the mill` beside `the mill stands in Utrecht`, `tea is what Ana likes` beside `Ana likes tea`.

    What moves has a small word of its own, which it keeps, or is set off by `is`.
    """
    here, there = mine.parts, theirs.parts
    for at in range(1, len(here)):
        first, second = here[:at], here[at:]
        is_set_off = mine.copula_at is None and theirs.copula_at == len(second)
        if (second[0][1] or first[0][1] or is_set_off) and (*second, *first) == there:
            return True
        # The verb stays second.
        verb, moved = here[at : at + 1], here[at + 1 :]
        has_own = moved and (moved[0][1] or first[0][1])
        if has_own and (*moved, *verb, *first) == there:
            return True
    return False


def _is_passive_of(active: _Said, passive: _Said) -> bool:
    """`The mill is owned by Ana` beside `Ana owns the mill`, as `Piet is door Jan aangenomen` of Jan."""
    agents = listed("agents") | _AGENTS
    marked = [at for at, small in enumerate(passive.before) if small & agents]
    if len(marked) != 1 or any(small & agents for small in active.before):
        return False
    at = marked[0]
    told = list(passive.parts)
    told[at] = (told[at][0], told[at][1] - agents)
    ways = [(told[at:], told[at - 1 : at], told[: at - 1])]
    ways += [(told[at:end], told[end:], told[:at]) for end in range(at + 1, len(told))]
    return any(
        active.parts in ((*doer, *verb, *done), (*doer, *done, *verb))
        for doer, verb, done in ways
        if doer and verb and done
    )


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
                signs.append(_Sign(at, plain, plain, plain in _FUNCTION | _AGENTS))
    return sorted(signs)
