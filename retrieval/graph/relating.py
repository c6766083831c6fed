"""What `related` gives: the things round an entity or an anchor, and what joins them, each link with what says so."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from recalld.errors import NotFound
from recalld.records import FactId, NoteId, PassageId, RecallFilter
from recalld.store.connection import Connection, Database
from recalld.store.details import fact_uids
from recalld.store.facts import entity_key
from recalld.store.graph import (
    Edge,
    Thing,
    Within,
    fact_texts,
    facts_linked,
    facts_of_things,
    note_uids,
    thing_names,
    things_named,
    things_of_fact,
)
from recalld.store.rows import passage_rows
from retrieval.fetching import resolve_anchor
from retrieval.graph.leg import places_within, walk
from retrieval.graph.paths import KEPT, Reached, said
from retrieval.ranked import fact_anchor


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """Where a walk sets out: things, and the fact whose anchor was given."""

    things: list[Thing]
    fact: FactId | None = None


@dataclass(slots=True)
class _Drawing:
    """The nodes and links so far."""

    ids: dict[Thing | FactId, str] = field(default_factory=dict)
    nodes: list[dict[str, object]] = field(default_factory=list)
    links: dict[tuple[str, str, str], str | None] = field(default_factory=dict)

    def add(self, key: Thing | FactId, node_id: str, kind: str, name: str) -> None:
        if key not in self.ids:
            self.ids[key] = node_id
            self.nodes.append({"id": node_id, "kind": kind, "name": name})

    def join(self, one: Thing | FactId, other: Thing | FactId, kind: str, why: str | None) -> None:
        if one in self.ids and other in self.ids and one != other:
            self.links.setdefault((self.ids[one], self.ids[other], kind), why)

    def result(self, *, more: bool) -> dict[str, object]:
        return {
            "more": more,
            "nodes": self.nodes,
            "links": [
                {"from": one, "to": other, "type": kind, "because": why}
                for (one, other, kind), why in self.links.items()
            ],
        }


def related(
    database: Database, *, anchor: str | None, entity: str | None, hops: int, limit: int
) -> dict[str, object]:
    """Nodes, what was asked about first and then the nearest, and the links between them.

    `more` says that there are others, for which `limit` had no room.

    Raises:
        InvalidParams, AmbiguousAnchor: the anchor is none, or stands for several things.
        NotFound: nothing has this anchor or this name.
    """
    with database.reader() as connection:
        # One more than can be shown, so that it can be told.
        within = replace(places_within(connection, RecallFilter()), fan_out=limit + 1)
        start = (
            _by_anchor(connection, anchor) if anchor else _by_name(connection, entity or "", within)
        )
        begun = {
            thing: Reached(thing=thing, score=1.0, hops=0, asked=name, path=(name,))
            for thing, name in thing_names(connection, start.things).items()
        }
        reached = walk(
            connection, begun, within, hops=hops, most=max(KEPT, limit + 1), all_of_start=True
        )
        asked = set(start.things)
        ordered = sorted(
            reached.values(),
            key=lambda one: (one.hops, one.thing not in asked, -one.score, one.thing),
        )
        return _draw(connection, start, ordered, within, limit)


def _by_anchor(connection: Connection, anchor: str) -> _Start:
    kind, row_id = resolve_anchor(connection, anchor)
    if kind == "fact":
        return _Start(things=things_of_fact(connection, FactId(row_id)), fact=FactId(row_id))
    if kind == "passage":
        passage = passage_rows(connection, [PassageId(row_id)])[PassageId(row_id)]
        return _Start(things=[Thing("note", passage.note_id)])
    return _Start(things=[Thing("note", NoteId(row_id))])


def _by_name(connection: Connection, name: str, within: Within) -> _Start:
    key = entity_key(name)
    things = things_named(connection, [key], within).get(key, [])
    if not things:
        raise NotFound(
            f"no note names {name.strip()[:80]!r}",
            hint="give a name as notes write it, or an anchor that recall gave",
        )
    return _Start(things=things)


def _draw(
    connection: Connection, start: _Start, ordered: list[Reached], within: Within, limit: int
) -> dict[str, object]:
    beginning = [one.thing for one in ordered if not one.hops]
    linked = facts_linked(connection, [start.fact]) if start.fact else []
    stated = [] if start.fact else facts_of_things(connection, beginning, within)
    facts = [
        *([start.fact] if start.fact else []),
        *(fact for pair in linked for fact in pair[:2]),
        *(fact for _, fact in stated),
    ]
    facts = list(dict.fromkeys(facts))
    found = len(facts) + len(ordered)
    # First of all what was asked about; then half of the room is for facts, unless there are fewer.
    room = max(limit // 2, limit - len(facts), 0 if start.fact else min(len(start.things), limit))
    shown = ordered[:room]
    facts = facts[: limit - len(shown)]
    drawing = _Drawing()
    _add_facts(connection, drawing, facts[:1] if start.fact else [])
    _add_things(connection, drawing, shown)
    _add_facts(connection, drawing, facts)
    for thing, fact in stated:
        kind = "mentioned_in" if thing.kind == "entity" else "states"
        drawing.join(thing, fact, kind, drawing.ids.get(fact))
    if start.fact:
        for thing in beginning:
            drawing.join(start.fact, thing, "names", drawing.ids.get(start.fact))
    for one, other, kind, why in linked:
        drawing.join(one, other, kind, why)
    _join_things(connection, drawing, shown)
    return drawing.result(more=found > limit)


def _add_facts(connection: Connection, drawing: _Drawing, facts: Collection[FactId]) -> None:
    texts, uids = fact_texts(connection, facts), fact_uids(connection, facts)
    for fact in facts:
        if fact in texts:
            drawing.add(fact, fact_anchor(uids[fact]), "fact", texts[fact])


def _add_things(connection: Connection, drawing: _Drawing, shown: Iterable[Reached]) -> None:
    things = [one.thing for one in shown]
    names, uids = thing_names(connection, things), note_uids(connection, things)
    for thing in things:
        name = names[thing]
        is_note = thing.kind == "note"
        node_id = f"note:{uids[thing][:8]}" if is_note else f"entity:{entity_key(name)}"
        drawing.add(thing, node_id, thing.kind, name)


def _join_things(connection: Connection, drawing: _Drawing, shown: list[Reached]) -> None:
    facts = [one.edge.fact_id for one in shown if one.edge and one.edge.fact_id]
    uids = fact_uids(connection, facts)
    for one in shown:
        if one.same_as is not None:
            drawing.join(one.same_as, one.thing, "same", None)
        elif one.edge is not None:
            edge = one.edge
            ends = (edge.source, edge.target) if edge.forward else (edge.target, edge.source)
            why = fact_anchor(uids[edge.fact_id]) if edge.fact_id in uids else None
            why = why or drawing.ids.get(ends[0])
            drawing.join(*ends, _type_of(edge), why)


def _type_of(edge: Edge) -> str:
    if edge.kind == "relation":
        return edge.predicate
    return "links_to" if edge.kind == "link" else said(edge).replace(" ", "_")
