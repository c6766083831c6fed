"""Which facts of the rules a model's facts of the same block leave unsaid. Pure; it knows their words alone.

A model may add, split and reword, and what it passes over must not be lost: a fact of the rules gives way where the
model's facts drawn from it say, together, its numbers and names, and its other words to the share that grounding asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from retrieval.grounding.clauses import Analysed, Token, analyse
from retrieval.grounding.drawing import SHORTEST_STEM, shared_prefix
from retrieval.grounding.swaps import is_swapped
from retrieval.grounding.verdict import MIN_SHARE
from retrieval.grounding.wording import listed, negation
from retrieval.text.words import language_of

# Of a model's fact, that some fact of the rules must hold for it to be drawn from there.
_LEAST_DRAWN = 1 / 3
# Where what stands above a list item ends.
_ABOVE = re.compile(r" › |[:：…]\s+")


@dataclass(frozen=True, slots=True)
class _Words:
    """A fact taken apart: what it says, and every word it has."""

    analysed: Analysed
    content: tuple[Token, ...]
    keys: frozenset[str]
    denies: bool


def unsaid(rules: Sequence[str], said: Sequence[str]) -> tuple[int, ...]:
    """The places in `rules` of the facts that `said` together do not say, in order.

    Args:
        rules: The facts of the rules in a block.
        said: A model's facts of the same block.
    """
    facts = [_words(text) for text in rules]
    apart = dict(zip(rules, facts, strict=True))
    drawn: dict[str, list[_Words]] = {text: [] for text in apart}
    for text in said:
        words = _words(text)
        for source in _drawn_from(words, apart):
            drawn[source].append(words)
    return tuple(
        place
        for place, (text, fact) in enumerate(zip(rules, facts, strict=True))
        if not _is_said(fact, drawn[text])
    )


def bare(said: Sequence[str], rules: Sequence[str]) -> frozenset[str]:
    """Those of a model's facts that one of `rules` says as well, below the parents or the lead-in that they leave out.

    Beside `Network › The port is 8080.`, `The port is 8080.` tells nothing more, and less of what it is about.
    """
    below = [
        _words(text[border.end() :])
        for text in rules
        for border in _ABOVE.finditer(text)
        if text[border.end() :].strip()
    ]
    return frozenset(text for text in said if _is_any_of(_words(text), below))


def _is_any_of(words: _Words, others: Sequence[_Words]) -> bool:
    return any(
        words.denies == other.denies and _is_said(words, [other]) and _is_said(other, [words])
        for other in others
    )


def say_the_same(one: str, other: str) -> bool:
    """Whether two facts that were drawn from one block are one fact in two wordings.

    Each says every word of the other, both deny or neither does, and nobody has another's part in it.
    """
    if one == other:
        return True
    a, b = _words(one), _words(other)
    return (
        a.denies == b.denies
        and bool(a.content)
        and _says_all(a, b)
        and _says_all(b, a)
        and len(a.analysed.clauses) == len(b.analysed.clauses) == 1
        and not is_swapped(a.analysed.clauses[0], b.analysed.clauses[0])
    )


def _says_all(one: _Words, other: _Words) -> bool:
    return _is_said(other, [one]) and not any(True for _ in _missing(other.content, [one]))


def _words(text: str) -> _Words:
    analysed = analyse(text, language_of(text))
    content = tuple(token for clause in analysed.clauses for token in clause.content)
    return _Words(analysed, content, frozenset(t.key for t in content), negation().holds(text))


def _drawn_from(words: _Words, sources: dict[str, _Words]) -> Iterator[str]:
    """The facts that a model's fact puts together: the nearest, and what holds words that this one lacks."""
    left = set(words.keys)
    while left and sources:
        nearest = max(sources, key=lambda text: _nearness(sources[text], left, words))
        taken = sources[nearest].keys & left
        is_first = len(left) == len(words.keys)
        if len(taken) < (_LEAST_DRAWN * len(words.keys) if is_first else 2):
            return
        yield nearest
        left -= taken


def _nearness(source: _Words, left: set[str], words: _Words) -> tuple[int, bool, int]:
    """How much of what is left it holds; of equals what denies alike and differs least stands nearer."""
    differs = len(source.analysed.plains ^ words.analysed.plains)
    return len(source.keys & left), source.denies == words.denies, -differs


def _is_said(fact: _Words, drawn: Sequence[_Words]) -> bool:
    if not drawn or (fact.denies and not any(one.denies for one in drawn)):
        return False
    told = [quantity for one in drawn for quantity in one.analysed.quantities]
    if not all(any(q.within(other) for other in told) for q in fact.analysed.quantities):
        return False
    missing = list(_missing(fact.content, drawn))
    opening = fact.content[0] if fact.content else None
    if any(_is_telling(token, opening) for token in missing):
        return False
    return 1 - len(missing) / max(len(fact.content), 1) >= MIN_SHARE


def _missing(content: Sequence[Token], drawn: Sequence[_Words]) -> Iterator[Token]:
    """What a model's facts lack; of a script without spaces, what has a character that stands in no pair of theirs."""
    known = [token for token in content if _has(token, drawn)]
    held = {at for token in known for at in range(token.at, token.end)}
    for token in content:
        is_held = token.kind == "run" and held.issuperset(range(token.at, token.end))
        if token.kind != "quantity" and token not in known and not is_held:
            yield token


def _has(token: Token, drawn: Sequence[_Words]) -> bool:
    return any(
        token.key in one.analysed.keys
        or token.plain in one.analysed.plains
        or any(_is_form_of(token.plain, other) for other in one.analysed.plains)
        for one in drawn
    )


def _is_form_of(one: str, other: str) -> bool:
    """Whether two words differ by their endings alone."""
    shared = shared_prefix(one, other)
    endings = listed("endings") | {""}
    return shared >= SHORTEST_STEM and {one[shared:], other[shared:]} <= endings


def _is_telling(token: Token, opening: Token | None) -> bool:
    """Whether it is a name, which nothing makes up for. The first word has its capital from where it stands."""
    return token.kind == "identifier" or (token.capital and token is not opening)
