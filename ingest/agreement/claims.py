"""One fact's wording, taken apart so that it can be compared with another's.

Two wordings have equal `signs` only when they say the same. What the comparison comes to is not known here.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from retrieval.grounding.clauses import analyse
from retrieval.grounding.quantities import find_quantities
from retrieval.grounding.wording import (
    listed,
    modality_of,
    negation,
    predicates,
    updates,
    without_contractions,
)
from retrieval.text.scripts import RUN, fold, units

_ARTICLES = frozenset(
    (
        "the",
        "a",
        "an",
        "de",
        "het",
        "een",
        "der",
        "die",
        "das",
        "den",
        "dem",
        "des",
        "le",
        "la",
        "les",
    )
)
_EMPHASIS = re.compile(r"(?<!\w)(\*{1,3}|_{1,3})(?=\S)([^*_\n]+?)(?<=\S)\1(?!\w)")
_QUIET = re.compile(r"[,;:](?=\s|$)|[\"“”„«»「」『』]|(?<=[^\x00-\x7f])[,;:]|`")
# `rm -rf .` keeps its point.
_END = re.compile(r"(?<=[^\s./])[.!]+\s*$|[。!]+\s*$|\s+$")
_KEEPS_CASE = re.compile(r"[a-z][A-Z]|[A-Z]{2}")
_SPACED = re.compile(r"\s+")
_ASPECTS = re.compile("已经|已經|已|了|再|过|過|正在|ます|です|した|する|て")
_AUXILIARIES = frozenset(
    (
        "do",
        "does",
        "did",
        "doe",
        "doet",
        "any",
        "anymore",
        "more",
        "longer",
        "meer",
        "langer",
        "mehr",
        "länger",
    )
)


@dataclass(frozen=True, slots=True)
class Side:
    """The wording of one claim, taken apart."""

    # Its words in order in a form that is equal only for what says the same.
    signs: tuple[str, ...]
    # The same without what says since when it holds.
    lasting: tuple[str, ...]
    content: frozenset[str]
    # Stems in order, without what denies or dates it.
    bare: tuple[str, ...]
    capitals: frozenset[str]
    negations: int
    modality: frozenset[str]
    cues: frozenset[str]
    predicate: frozenset[str]
    names: tuple[tuple[str, ...], ...]
    is_pronominal: bool


def cues_in(text: str) -> frozenset[str]:
    """The kinds of words in it that say that something has changed: `moved to`, `replaced by`, `no longer`."""
    return frozenset(name for name, wording in updates().items() if wording.holds(text))


@lru_cache(maxsize=1 << 12)
def take_apart(text: str, entities: tuple[str, ...]) -> Side:
    """A claim's wording taken apart; `entities` are the names in it, as written."""
    analysed = analyse(text)
    tokens = [token for clause in analysed.clauses for token in clause.tokens]
    cues = cues_in(text)
    plain = without_contractions(unicodedata.normalize("NFKC", text))
    return Side(
        signs=signs_of(text),
        lasting=signs_of(_without_since(text)) if "now" in cues else signs_of(text),
        content=frozenset(token.key for token in tokens if token.content),
        bare=_bare(plain),
        capitals=frozenset(t.key for t in tokens if t.capital or t.kind == "identifier"),
        negations=negation().count(plain),
        modality=modality_of(text) - {"former"},
        cues=cues,
        predicate=predicates_in(updates()["now"].without(analysed.text)),
        names=tuple(signs_of(name) for name in entities),
        is_pronominal=_is_pronominal(text),
    )


def predicates_in(text: str) -> frozenset[str]:
    """The kinds of predicate that a text has: `one`, `many`, `held`."""
    text = _SPACED.sub(" ", text)
    return frozenset(name for name, wording in predicates().items() if wording.holds(text))


def signs_of(text: str) -> tuple[str, ...]:
    """The words of a text, without articles and quiet punctuation, with measures in one unit.

    Every other character stays, for `rm -rf /` is not `rm -rf .`. A word keeps its case where the case may
    be its meaning: inside a sentence, unless it is written with a hyphen or a digit.
    """
    text = without_contractions(unicodedata.normalize("NFKC", text)).replace("’", "'")
    text = _END.sub("", text)
    text = _EMPHASIS.sub(r"\2", text)
    pieces: list[str] = []
    at = 0
    for quantity in find_quantities(text):
        pieces.append(text[at : quantity.start])
        pieces.append(f" {quantity.key} ")
        at = quantity.end
    joined = "".join([*pieces, text[at:]])
    joined = _QUIET.sub(" ", joined)
    signs: list[str] = []
    for word in joined.split():
        if word.casefold() not in _ARTICLES:
            signs.extend(_split_runs(_cased(word, is_first=not signs)))
    return tuple(signs)


def _cased(word: str, *, is_first: bool) -> str:
    if _KEEPS_CASE.search(word):
        return word
    keeps = not is_first and word.isalpha()
    return word if keeps else word.casefold()


def _split_runs(word: str) -> list[str]:
    if word.isascii():
        return [word]
    signs: list[str] = []
    at = 0
    for m in RUN.finditer(word):
        signs.extend(part for part in (word[at : m.start()],) if part)
        signs.extend(units(m[0]))
        at = m.end()
    return [*signs, *(part for part in (word[at:],) if part)]


def _without_since(text: str) -> str:
    """The text without the words that say since when it holds, and the date after them."""
    text = unicodedata.normalize("NFKC", text)
    quantities = find_quantities(text)
    for quantity in reversed(quantities):
        before = text[max(quantity.start - 14, 0) : quantity.start].rstrip()
        if quantity.kind == "date" and updates()["now"].holds(before.rpartition(" ")[2]):
            text = text[: quantity.start] + text[quantity.end :]
    return re.sub(r"\s+([.!])", r"\1", updates()["now"].without(text))


def _bare(text: str) -> tuple[str, ...]:
    """What is said without whether it is denied: stems, signs of scripts without spaces."""
    stripped = _ASPECTS.sub(" ", negation().without(updates()["ended"].without(text)))
    signs: list[str] = []
    for clause in analyse(stripped).clauses:
        for token in clause.tokens:
            if token.kind in ("run", "kana"):
                continue
            if token.plain not in _AUXILIARIES and token.plain not in _ARTICLES:
                signs.append(token.key)
    runs = "".join(m[0] for m in RUN.finditer(stripped))
    return (*signs, *(char for char in runs if char not in "的是"))


def _is_pronominal(text: str) -> bool:
    words = [fold(word) for word in re.findall(r"\w+", text[:40])[:1]]
    return bool(
        words and words[0] in listed("pronouns") - {"we", "wij", "wir", "i", "ik", "ich", "you"}
    ) or (text.startswith(tuple(listed("pronouns_inside"))))
