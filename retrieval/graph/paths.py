"""Walking from what a question names to what belongs to it: scores of paths, best first. Pure.

A step from a thing to a thing is a hop. Each halves the score and weighs by its kind: a relation counts whole, a link
between notes .7, being named in one fact .5; what is touched by much is divided by the logarithm of how much. A thing
keeps its best path, as words that can be read. Beyond the usual hops only plain chains of relations go on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from recalld.store.graph import Edge, EdgeKind, Thing
from retrieval.graph.names import NameSpan
from retrieval.query import Query
from retrieval.text.words import tokens

DEFAULT_HOPS = 2
HOP_FACTOR = 0.5
WEIGHTS: Mapping[EdgeKind, float] = {"relation": 1.0, "link": 0.7, "mention": 0.5}
# Who links to a note chose it; the note did not choose them.
_BACKWARDS_LINK = 0.5
# Up to this degree a thing counts whole.
_FEW = 8
# Things that a hop comes to.
KEPT = 100
_SAID: Mapping[tuple[EdgeKind, bool], str] = {
    ("link", True): "links to",
    ("link", False): "is linked from",
    ("mention", True): "is named with",
    ("mention", False): "is named with",
}


class Reached(NamedTuple):
    """A thing that a walk came to, by its best path."""

    thing: Thing
    # 1 at the start, and above 0 always.
    score: float
    hops: int
    # The name that the walk started from, as the question has it.
    asked: str
    # Names and what is said between them, in turn: `deploy pipeline`, `runs on`, `Vercel`.
    path: tuple[str, ...]
    # The last step; None at the start.
    edge: Edge | None = None
    # Whether the question calls the start by a name that texts about it need not have.
    by_other_name: bool = False
    # The thing of the same name that it was found by, if any.
    same_as: Thing | None = None

    @property
    def worth(self) -> float:
        """What its passages are worth: another name alone is no more than a hop."""
        return self.score if self.hops else self.score * HOP_FACTOR


def begin(named: Mapping[str, Iterable[Thing]], spans: Iterable[NameSpan]) -> dict[Thing, Reached]:
    """The things that a question names."""
    found: dict[Thing, Reached] = {}
    for span in spans:
        for thing in named.get(span.key, ()):
            start = Reached(thing=thing, score=1.0, hops=0, asked=span.text, path=(span.text,))
            found.setdefault(thing, start)
    return found


def joined(
    reached: Mapping[Thing, Reached],
    same: Iterable[tuple[Thing, Thing]],
    names: Mapping[Thing, str],
) -> dict[Thing, Reached]:
    """The same, with what each thing is besides: a note is the entity of its name. It costs no hop."""
    found = dict(reached)
    for one, other in same:
        known = found.get(one)
        if known is None or other in found:
            continue
        name = names.get(other, known.path[-1])
        elsewise = known.hops == 0 and _plain(name) != _plain(known.path[-1])
        path = (*known.path, "also called", name) if elsewise else known.path
        found[other] = Reached(
            thing=other,
            score=known.score,
            hops=known.hops,
            asked=known.asked,
            path=path,
            edge=known.edge,
            by_other_name=known.by_other_name or elsewise,
            same_as=one,
        )
    return found


def likeliest(
    reached: Mapping[Thing, Reached], edges: Iterable[Edge], *, most: int = KEPT
) -> set[Thing]:
    """The new things that these edges lead to and that may be worth most, so many at most.

    Their degrees, which only lower a score, are not known yet: counting them is the dear part.
    """
    best: dict[Thing, tuple[float, int]] = {}
    for edge in edges:
        source = reached.get(edge.source)
        if source is not None and edge.target not in reached:
            standing = (source.score * weight(edge), edge.fact_id or 0)
            best[edge.target] = max(standing, best.get(edge.target, standing))
    return set(sorted(best, key=lambda thing: (best[thing], thing), reverse=True)[:most])


def plain_ends(reached: Iterable[Reached], *, hops: int) -> list[Thing]:
    """The things at the end of so many hops of which each was a relation to something that little touches.

    No other path keeps that much of its score, and one hop more from here is as sure as a mention one hop nearer.
    """
    whole = HOP_FACTOR**hops
    return sorted(one.thing for one in reached if one.hops == hops and one.score >= whole)


def step(
    reached: Mapping[Thing, Reached],
    edges: Iterable[Edge],
    names: Mapping[Thing, str],
    degrees: Mapping[Thing, int],
    *,
    most: int = KEPT,
) -> dict[Thing, Reached]:
    """The things that one more hop comes to and that were not reached before: the best, so many at most.

    Of several ways to a thing the best counts, then the one of the newer fact; the order of `edges` does not matter.
    """
    best: dict[Thing, tuple[float, int, str, bool, Edge]] = {}
    for edge in edges:
        source = reached.get(edge.source)
        if source is None or edge.target in reached or edge.target not in names:
            continue
        score = source.score * HOP_FACTOR * weight(edge) / damping(degrees.get(edge.target, 0))
        standing = (score, edge.fact_id or 0, edge.predicate, edge.forward, edge)
        known = best.get(edge.target)
        if known is None or standing[:4] > known[:4]:
            best[edge.target] = standing
    kept = sorted(best.items(), key=lambda one: (-one[1][0], one[0]))[:most]
    return {
        thing: _come_to(thing, score, edge, reached[edge.source], names)
        for thing, (score, _, _, _, edge) in kept
    }


def _come_to(
    thing: Thing, score: float, edge: Edge, source: Reached, names: Mapping[Thing, str]
) -> Reached:
    return Reached(
        thing=thing,
        score=score,
        hops=source.hops + 1,
        asked=source.asked,
        path=(*source.path, said(edge), names[thing]),
        edge=edge,
        by_other_name=source.by_other_name,
    )


def said(edge: Edge) -> str:
    """What an edge says, in words; a relation that is walked backwards has an arrow before it."""
    if edge.kind == "relation":
        words = edge.predicate.replace("_", " ")
        return words if edge.forward else f"← {words}"
    return _SAID[edge.kind, edge.forward]


def lent_words(query: Query, way: Reached, statements: Iterable[frozenset[str]]) -> frozenset[str]:
    """The words that a path lends to the statements it leads to, when they are weighed as evidence.

    A path from what the query names stands for the name that they lack. It does so only where they, or the path, hold
    one more content word of the query: what merely lies near a name answers nothing.
    """
    asked = frozenset(tokens(way.asked))
    path = frozenset(token for part in way.path for token in tokens(part))
    more = {token for term in query.terms for token in term.tokens} - asked
    if more.isdisjoint(path) and all(more.isdisjoint(words) for words in statements):
        return frozenset()
    return path | asked


def weight(edge: Edge) -> float:
    """What a step of this kind counts for, 0..1."""
    backwards = edge.kind == "link" and not edge.forward
    return WEIGHTS[edge.kind] * (_BACKWARDS_LINK if backwards else 1.0)


def damping(degree: int) -> float:
    """What the score of a thing is divided by: 1 up to a degree of 8, then its binary logarithm over 3."""
    return 1.0 if degree <= _FEW else math.log2(degree) / math.log2(_FEW)


def _plain(name: str) -> str:
    return "".join(char for char in name.casefold() if char.isalnum())
