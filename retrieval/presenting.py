"""Ranked passages as hits: duplicates folded, the budget kept, provenance on each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from recalld.records import GLOBAL_SCOPE, Category, FactId, Hit, Source
from recalld.store.conflicts import Duplicates, disagreeing
from recalld.store.connection import Connection
from recalld.store.details import fact_uids, superseded_by_these, tags_of_notes
from recalld.store.rows import PassageRow
from retrieval.collapse import collapse, fit_budget
from retrieval.ranked import Ranked, fact_anchor, passage_anchor
from retrieval.records import Shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A hit to be, and how many more places say the same."""

    ranked: Ranked
    more: int


def within(
    ranked: Sequence[Ranked], *, limit: int, max_chars: int, duplicates: Duplicates
) -> list[Kept]:
    """The first `limit` different things said, in order, as far as the character budget goes.

    Facts known to say the same in other letters are one, with the places of all of them.
    """
    by_passage = {one.passage.passage_id: one for one in ranked}
    folded = collapse(_shown(one, duplicates) for one in ranked)[:limit]
    fitting = fit_budget([one.kept.text for one in folded], max_chars)
    kept = []
    for place in fitting:
        group = folded[place]
        one = by_passage[group.kept.passage_id]
        stated = 0
        if one.fact is not None:
            stated = one.fact.sources + duplicates.more_places(one.fact.fact_id)
        kept.append(Kept(ranked=one, more=max(stated, len(group.sources)) - 1))
    return kept


def _shown(one: Ranked, duplicates: Duplicates) -> Shown:
    if one.fact is None:
        return Shown(
            passage_id=one.passage.passage_id,
            fact_id=None,
            text=one.passage.text,
            context=one.passage.heading_path,
        )
    # The uid knows whether the words need their headings; two facts with the same words are two.
    return Shown(
        passage_id=one.passage.passage_id,
        fact_id=duplicates.of(one.fact.fact_id),
        text=one.fact.text,
        context=(one.fact.uid,),
    )


def hits(connection: Connection, kept: Sequence[Kept], *, as_of: date | None = None) -> list[Hit]:
    """The hits with their anchors, sources, dates, tags and successors.

    As of a day, they are what held then: what superseded them later does not count.
    """
    facts = [one.ranked.fact for one in kept if one.ranked.fact is not None]
    successors = [fact.superseded_by for fact in facts if fact.superseded_by and as_of is None]
    newer = fact_uids(connection, successors)
    older = superseded_by_these(connection, [fact.fact_id for fact in facts])
    against = disagreeing(connection, [fact.fact_id for fact in facts])
    tags = tags_of_notes(connection, {one.ranked.passage.note_id for one in kept})
    return [
        _hit(one, newer, older, against, tags.get(one.ranked.passage.note_id, ()), as_of)
        for one in kept
    ]


def context_of(passage: PassageRow) -> tuple[str, ...]:
    """What a text needs to be understood: the note's title, the headings above it, and its lead-in."""
    title = () if passage.title in passage.heading_path[:1] else (passage.title,)
    lead_in = (passage.lead_in,) if passage.lead_in else ()
    return (*title, *passage.heading_path, *lead_in)


def _hit(
    one: Kept,
    newer: dict[FactId, str],
    older: dict[FactId, list[str]],
    against: dict[FactId, tuple[str, ...]],
    tags: tuple[str, ...],
    as_of: date | None,
) -> Hit:
    passage, fact = one.ranked.passage, one.ranked.fact
    stated = fact.stated if fact else passage.dated
    if as_of is not None and stated is not None and stated > as_of:
        # Stated again later, by another note.
        stated = passage.dated if passage.dated <= as_of else None
    successor = newer.get(fact.superseded_by) if fact and fact.superseded_by else None
    context = context_of(passage)
    return Hit(
        anchor=fact_anchor(fact.uid) if fact else passage_anchor(passage.uid),
        kind="fact" if fact else "passage",
        text=fact.text if fact else passage.text,
        context=context,
        category=fact.category if fact else Category.KNOWLEDGE,
        confidence=fact.confidence if fact else 1.0,
        relevance=one.ranked.choice.relevance,
        score=one.ranked.parts.total,
        source=Source(
            root=passage.root,
            path=passage.path,
            lines=fact.lines if fact else passage.lines,
            more=one.more,
        ),
        happened=fact.happened if fact else None,
        stated=stated,
        superseded_by=fact_anchor(successor) if successor else None,
        supersedes=tuple(fact_anchor(uid) for uid in older.get(fact.fact_id, ())) if fact else (),
        conflicts_with=tuple(fact_anchor(uid) for uid in against.get(fact.fact_id, ()))
        if fact
        else (),
        tags=tags,
        scope=fact.scope if fact else GLOBAL_SCOPE,
        path=one.ranked.path,
    )
