"""The graph's leg: from the names in a question to passages, inside the filter.

It asks the store hop by hop; what a path is worth is decided by the pure walk.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from recalld.records import PassageId, RecallFilter
from recalld.store.connection import Connection
from recalld.store.filtering import Allowed, allowed_passages
from recalld.store.graph import (
    HUB,
    Edge,
    Thing,
    Within,
    degrees,
    link_edges,
    mention_edges,
    namesakes,
    passages_of_things,
    relation_edges,
    thing_names,
    things_named,
)
from recalld.store.searching import WordCounts, word_counts
from retrieval.evidence import is_rare
from retrieval.graph.names import name_spans, names_in
from retrieval.graph.paths import (
    DEFAULT_HOPS,
    KEPT,
    Reached,
    begin,
    joined,
    likeliest,
    plain_ends,
    step,
)
from retrieval.query import Query
from retrieval.text.words import tokens

# Passages that the leg brings up.
MOST_PASSAGES = 50
# Of what a walk came to, the best are looked into for passages, and fewer are gone on from.
_LOOKED_INTO = 40
_GONE_ON_FROM = 20
# By relations alone, one hop more; and what that comes to.
_GONE_FURTHER_FROM = 4
_KEPT_FURTHER = 8
_AT_A_TIME = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphFound:
    """The passages that the graph brings up, best first, each with the thing it is about."""

    reached: dict[PassageId, Reached] = field(default_factory=dict)
    # False when the leg could not run.
    ran: bool = True

    @property
    def strongest(self) -> float:
        """The best score, 0 when there is none."""
        return max((one.worth for one in self.reached.values()), default=0.0)


def graph_leg(
    connection: Connection, query: Query, limits: RecallFilter, counts: WordCounts
) -> GraphFound:
    """Walks from the names in a query; what carries the very name is left to the other legs.

    Args:
        counts: Of the query's words.
    """
    spans = name_spans(query.text)
    if not spans:
        return GraphFound()
    places = places_within(connection, limits)
    named = things_named(connection, {span.key for span in spans}, places)
    if not named:
        return GraphFound()
    names = names_in(
        spans, named, is_rare=partial(_is_rare, connection, counts), language=query.language
    )
    reached = walk(connection, begin(named, names), places, hops=DEFAULT_HOPS)
    reached = _one_hop_more(connection, reached, places)
    return GraphFound(reached=_passages(connection, reached.values(), limits, places))


def places_within(connection: Connection, limits: RecallFilter) -> Within:
    """What a walk may pass through: the filter's places, whatever kind of fact stands there."""
    anything = replace(
        limits,
        kinds=("fact", "passage"),
        categories=(),
        scopes=(),
        since=None,
        until=None,
        as_of=None,
    )
    return Within(allowed=_allowed(connection, anything), superseded=limits.as_of is not None)


def _allowed(connection: Connection, limits: RecallFilter) -> Allowed | None:
    allowed = allowed_passages(connection, limits)
    return allowed and allowed.listed_if_few(connection)


def walk(
    connection: Connection,
    start: dict[Thing, Reached],
    within: Within,
    *,
    hops: int,
    most: int = KEPT,
    all_of_start: bool = False,
) -> dict[Thing, Reached]:
    """Everything reached in `hops` steps, the start included.

    Args:
        connection: A reading one.
        start: What the walk sets out from.
        within: What it may use.
        hops: How many steps.
        most: Things that a hop comes to.
        all_of_start: Whether the start is gone on from in each way, though it be a hub.
    """
    reached = _with_namesakes(connection, start, within)
    frontier = reached
    for hop in range(hops):
        if not frontier:
            break
        onwards = sorted(frontier.values(), key=lambda one: (-one.score, one.thing))
        edges = edges_of(
            connection,
            [one.thing for one in onwards[:_GONE_ON_FROM]],
            within,
            also_hubs=all_of_start and not hop,
        )
        targets = likeliest(reached, edges, most=most)
        new = step(
            reached,
            edges,
            thing_names(connection, targets),
            degrees(connection, targets),
            most=most,
        )
        frontier = {
            thing: one
            for thing, one in _with_namesakes(connection, new, within).items()
            if thing not in reached
        }
        reached = {**reached, **frontier}
    return reached


def _one_hop_more(
    connection: Connection, reached: dict[Thing, Reached], within: Within
) -> dict[Thing, Reached]:
    """With what relations lead to from the ends of plain chains; few questions have any, so few pay for it."""
    ends = plain_ends(reached.values(), hops=DEFAULT_HOPS)[:_GONE_FURTHER_FROM]
    edges = relation_edges(connection, ends, within) if ends else []
    targets = likeliest(reached, edges, most=_KEPT_FURTHER)
    if not targets:
        return reached
    new = step(reached, edges, thing_names(connection, targets), degrees(connection, targets))
    return {**_with_namesakes(connection, new, within), **reached}


def edges_of(
    connection: Connection, things: Collection[Thing], within: Within, *, also_hubs: bool = False
) -> list[Edge]:
    """The steps that lead on from these things; what is named everywhere leads on by relations alone."""
    known = {} if also_hubs else degrees(connection, things)
    telling = [thing for thing in things if known.get(thing, 0) <= HUB]
    return [
        *relation_edges(connection, things, within),
        *mention_edges(connection, telling, within),
        *link_edges(connection, telling, within),
    ]


def _with_namesakes(
    connection: Connection, reached: dict[Thing, Reached], within: Within
) -> dict[Thing, Reached]:
    """With the notes of these entities, and the entities of these notes."""
    found = reached
    # Twice: an alias leads to its note, and the note's title to the entity that facts name.
    for _ in range(2):
        same = namesakes(connection, found, within)
        others = {other for _, other in same} - found.keys()
        if not others:
            break
        found = joined(found, same, thing_names(connection, others))
    return found


def _passages(
    connection: Connection, reached: Collection[Reached], limits: RecallFilter, places: Within
) -> dict[PassageId, Reached]:
    """The best passages of what was reached, each by its best way."""
    apart = [one for one in reached if one.hops or one.by_other_name]
    apart.sort(key=lambda one: (-one.worth, one.thing))
    if not apart:
        return {}
    ends = replace(places, allowed=_allowed(connection, limits))
    direct = {one.thing for one in reached if not one.hops and not one.by_other_name}
    named = {passage_id for _, passage_id in passages_of_things(connection, direct, ends)}
    best: dict[PassageId, Reached] = {}
    for some in _worthiest_first(apart[:_LOOKED_INTO]):
        if len(best) >= MOST_PASSAGES:
            # What comes now is worth less than all of these.
            break
        for thing, passage_id in passages_of_things(connection, some, ends):
            known = best.get(passage_id)
            if passage_id not in named and (known is None or some[thing].worth > known.worth):
                best[passage_id] = some[thing]
    ordered = sorted(best.items(), key=lambda one: (-one[1].worth, -one[0]))
    return dict(ordered[:MOST_PASSAGES])


def _worthiest_first(reached: Sequence[Reached]) -> Iterator[dict[Thing, Reached]]:
    """Some at a time, none parted from its equals; few of the first often give all the passages that are wanted."""
    some: dict[Thing, Reached] = {}
    for at, one in enumerate(reached):
        if len(some) >= _AT_A_TIME and one.worth < reached[at - 1].worth:
            yield some
            some = {}
        some[one.thing] = one
    if some:
        yield some


def _is_rare(connection: Connection, counts: WordCounts, word: str) -> bool:
    """Whether a word is rare here; a name may have words that the query's terms have not."""
    found = tokens(word)[:1]
    if not found:
        return False
    known = counts if found[0] in counts.passages_with else word_counts(connection, found)
    return is_rare(known.passages_with[found[0]], known.passages)
