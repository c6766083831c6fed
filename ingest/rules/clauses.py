"""Which part a name has in its clause, and whether the clause says that something is so.

It looks at the words beside a name alone; what is said of it is not known here.
"""

from __future__ import annotations

import re
from functools import cache

from retrieval.grounding.wording import listed, modality_of, negation

Place = tuple[int, int]

# As a pattern: an article that may stand before a name, and the space behind it.
ARTICLES = r"(?:(?:the|a|an|our|my|de|het|een|der|die|das|den|dem|ein|eine|einen|einem)\s+)?"
# What ends a clause, for what is said of the one beside it holds of this one no more.
_BORDER = re.compile(r"[,;:，；：。、]|(?<=\S)[.!?](?=\s)")
# What stands between two names that belong together, or between two clauses.
JOINT = re.compile(
    rf"[`\s]*(?:\b(?:and|en|und|et)\b|[&和与與と及])\s*{ARTICLES}[`\s]*", re.IGNORECASE
)
_BORDER_BEHIND = re.compile(
    rf"{_BORDER.pattern}|\b(?:and|en|und|et|but|maar|aber|mais)\b|[但而]", re.IGNORECASE
)
_LEADING = re.compile(rf"(?<!\w){ARTICLES}[`\[\s]*$", re.IGNORECASE)
_LAST_WORD = re.compile(r"([^\W\d_]+)\s*$")
# Before a name: it is then a part of what the clause is about, or of a clause that another word governs.
_LEANING = frozenset(
    """
    that if whether when while whenever where than as like or nor such suppose assuming not no nobody only
    dat of als wanneer waar dan zoals noch tenzij niet geen niemand alleen
    dass daß ob wenn falls wo als wie oder nicht kein niemand nur
    que si quand où comme ou ni ne personne
    """.split()  # noqa: SIM905 - a word list is read more easily as text
)
_LEANING_INSIDE = re.compile(r"(?:通过|透過|搭配|配合|[用在从從把对對以当當经經为為])\s*$")
# Ways in which a clause is less than a fact; a condition, wherever it stands, is one too.
_DOUBTED = frozenset({"possible", "planned", "obliged", "former", "attempted"})
_MADE_UNCERTAIN = ("conditional", "question")


@cache
def prepositions() -> frozenset[str]:
    """Words that say which part in a sentence the words behind them have, in small letters."""
    return listed("markers") | {"via", "per"}


def leans(before: str) -> bool:
    """Whether the words before a name make it a part of something else, or its clause the part of another."""
    ahead = _LEADING.sub("", before[-60:], count=1)
    if _LEANING_INSIDE.search(ahead):
        return True
    last = _LAST_WORD.search(ahead)
    return last is not None and last[1].lower() in _LEANING | prepositions()


def is_behind_a_part(text: str, begin: int) -> bool:
    """Whether the clause of a name holds something before it that it may be about instead: `the end of line A`."""
    ahead = text[_clause_start(text, begin) : begin].lower()
    return not prepositions().isdisjoint(re.findall(r"[^\W\d_]+", _LEADING.sub("", ahead, count=1)))


def is_stated(text: str, one: Place, other: Place, *, said: str = "") -> bool:
    """Whether the clause from one name to another is said to be so: not denied, planned, doubted or on condition.

    Args:
        text: The sentence.
        one: Where the first name stands, from and to.
        other: Where the second stands, behind it.
        said: What is taken from the clause; the doubt in its own words goes with it.
    """
    start = _clause_start(text, one[0])
    stop = _BORDER_BEHIND.search(text, other[1])
    # Without the names: a rainfall plan (排水计划) plans nothing.
    verb = text[one[1] : other[0]]
    behind = text[other[1] : stop.start() if stop else len(text)]
    clause = f"{text[start : one[0]]} {verb} {behind}"
    if negation().holds(clause):
        return False
    whole = modality_of(f"{text[: one[0]]} {verb} {text[other[1] :]}")
    if not whole:
        return True
    doubts = modality_of(clause) & _DOUBTED
    return whole.isdisjoint(_MADE_UNCERTAIN) and not (doubts - modality_of(said))


def places_of(text: str, name: str) -> list[int]:
    """Where a name stands in a text as a whole word, as far as its script has words."""
    places: list[int] = []
    at = text.find(name)
    while at >= 0:
        around = text[max(at - 1, 0) : at], text[at + len(name) : at + len(name) + 1]
        # Beside CJK there are no spaces: only a Latin letter or digit continues a word.
        if not name.isascii() or not any(c.isascii() and c.isalnum() for c in around):
            places.append(at)
        at = text.find(name, at + len(name))
    return places


def _clause_start(text: str, begin: int) -> int:
    return max((m.end() for m in _BORDER.finditer(text, 0, begin)), default=0)
