"""What `get` gives: a fact, passage or note whole, with its sources, links and the text round it.

It counts as read, never as recalled. Text comes from the store, so that nothing private and no secret comes back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from recalld.errors import AmbiguousAnchor, InvalidParams, NotFound
from recalld.records import FactId, Lines, NoteId, PassageId
from recalld.store.conflicts import LinkRow, disagreeing, links_of_fact
from recalld.store.connection import Connection, Database
from recalld.store.details import (
    entities_of_fact,
    fact_uids,
    facts_by_prefix,
    note_row,
    relations_of_fact,
    superseded_by_these,
    tags_of_notes,
    uids_by_prefix,
)
from recalld.store.links import note_links
from recalld.store.rows import FactRow, PassageRow, passage_rows, places_of_fact
from retrieval.presenting import context_of
from retrieval.ranked import fact_anchor, passage_anchor
from retrieval.surroundings import kept_lines, lines_round

AnchorKind = Literal["fact", "passage", "note"]
_KINDS: tuple[AnchorKind, ...] = ("fact", "passage", "note")
_ANCHOR = re.compile(r"(?:(fact|passage|note):)?([0-9a-f]{4,32})")
_MATCHES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """The result of `get`, and the facts that were read by it."""

    result: dict[str, object]
    facts: tuple[FactId, ...]


def get(database: Database, anchor: str, *, lines_around: int = 0) -> Fetched:
    """What an anchor stands for.

    Raises:
        InvalidParams: it is no anchor.
        NotFound, AmbiguousAnchor: nothing, or several things, begin so.
    """
    with database.reader() as connection:
        kind, row_id = resolve_anchor(connection, anchor)
        if kind == "fact":
            return _fact(connection, FactId(row_id), lines_around)
        if kind == "passage":
            return _passage(connection, PassageId(row_id), lines_around)
        return _note(connection, NoteId(row_id))


def resolve_anchor(connection: Connection, anchor: str) -> tuple[AnchorKind, int]:
    """The kind and row that an anchor, or any prefix of at least four digits, stands for."""
    parsed = _ANCHOR.fullmatch(anchor.strip().lower())
    if parsed is None:
        raise InvalidParams(
            f"{anchor[:80]!r} is no anchor",
            hint="an anchor looks like fact:a3f1c0d2; recall gives them",
        )
    wanted, prefix = parsed.groups()
    matches: list[tuple[AnchorKind, int, str]] = []
    for kind in _KINDS:
        if wanted in (None, kind):
            found = (
                [(int(one), uid) for one, uid in facts_by_prefix(connection, prefix, _MATCHES)]
                if kind == "fact"
                else uids_by_prefix(connection, kind, prefix, _MATCHES)
            )
            matches += [(kind, row_id, uid) for row_id, uid in found]
    if not matches:
        raise NotFound(f"nothing has the anchor {anchor.strip()}")
    if len(matches) > 1:
        raise AmbiguousAnchor(
            f"{len(matches)} things begin with {anchor.strip()}",
            hint="give more digits",
            data={"matches": [f"{kind}:{uid[:16]}" for kind, _, uid in matches]},
        )
    return matches[0][0], matches[0][1]


def _fact(connection: Connection, fact_id: FactId, lines_around: int) -> Fetched:
    places = places_of_fact(connection, fact_id)
    if not places:
        raise NotFound("the fact has just been retracted")
    fact = places[0]
    passages = passage_rows(connection, [one.passage_id for one in places])
    passage = passages[fact.passage_id]
    newer = fact_uids(connection, [fact.superseded_by] if fact.superseded_by else [])
    older = superseded_by_these(connection, [fact_id]).get(fact_id, [])
    result: dict[str, object] = {
        "anchor": fact_anchor(fact.uid),
        "id": fact.uid,
        "kind": "fact",
        "text": fact.text,
        **_place(passage),
        "category": fact.category.value,
        "confidence": fact.confidence,
        "importance": fact.importance,
        "dates": {
            "happened": [fact.happened.first.isoformat(), fact.happened.last.isoformat()]
            if fact.happened
            else None,
            "stated": fact.stated.isoformat() if fact.stated else None,
        },
        "superseded_by": next((fact_anchor(uid) for uid in newer.values()), None),
        "supersedes": [fact_anchor(uid) for uid in older],
        "conflicts_with": [
            fact_anchor(uid) for uid in disagreeing(connection, [fact_id]).get(fact_id, ())
        ],
        "sources": [_source(one, passages[one.passage_id]) for one in places],
        "entities": [
            {"name": name, "kind": kind} for name, kind in entities_of_fact(connection, fact_id)
        ],
        "relations": [
            {"subject": subject, "predicate": predicate, "object": thing}
            for subject, predicate, thing in relations_of_fact(connection, fact_id)
        ],
        "links": note_links(connection, passage.note_id),
        "fact_links": [_fact_link(one, fact.uid) for one in links_of_fact(connection, fact_id)],
        "tags": list(tags_of_notes(connection, [passage.note_id]).get(passage.note_id, ())),
        "scope": fact.scope,
        "source_text": _text_round(connection, passage, fact.lines, lines_around),
    }
    return Fetched(result=result, facts=(fact_id,))


def _passage(connection: Connection, passage_id: PassageId, lines_around: int) -> Fetched:
    passage = passage_rows(connection, [passage_id])[passage_id]
    result: dict[str, object] = {
        "anchor": passage_anchor(passage.uid),
        "id": passage.uid,
        "kind": "passage",
        "text": passage.text,
        **_place(passage),
        "dates": {"happened": None, "stated": passage.dated.isoformat()},
        "sources": [_place_json(passage, passage.lines)],
        "links": note_links(connection, passage.note_id),
        "tags": list(tags_of_notes(connection, [passage.note_id]).get(passage.note_id, ())),
        "source_text": _text_round(connection, passage, passage.lines, lines_around),
    }
    return Fetched(result=result, facts=())


def _note(connection: Connection, note_id: NoteId) -> Fetched:
    note = note_row(connection, note_id)
    lines = kept_lines(connection, note_id, Lines(first=1, last=2**31))
    result: dict[str, object] = {
        "anchor": f"note:{note.uid[:8]}",
        "id": note.uid,
        "kind": "note",
        "text": "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1)),
        "title": note.title,
        "dates": {"happened": None, "stated": note.dated.isoformat() if note.dated else None},
        "sources": [{"root": note.root, "path": note.path, "lines": None}],
        "links": note_links(connection, note_id),
        "tags": list(tags_of_notes(connection, [note_id]).get(note_id, ())),
        "problems": note.problems,
    }
    return Fetched(result=result, facts=())


def _fact_link(link: LinkRow, uid: str) -> dict[str, object]:
    """An edge of the fact with this uid, with what stands at its other end."""
    text = link.to_text if link.from_uid == uid else link.from_text
    return {
        "type": link.kind,
        "from": fact_anchor(link.from_uid),
        "to": fact_anchor(link.to_uid),
        "reason": link.reason,
        "origin": link.origin,
        "text": text,
    }


def _place(passage: PassageRow) -> dict[str, object]:
    return {"title": passage.title, "context": list(context_of(passage))}


def _source(fact: FactRow, passage: PassageRow) -> dict[str, object]:
    return _place_json(passage, fact.lines) | {"stated": passage.dated.isoformat()}


def _place_json(passage: PassageRow, lines: Lines) -> dict[str, object]:
    return {"root": passage.root, "path": passage.path, "lines": [lines.first, lines.last]}


def _text_round(
    connection: Connection, passage: PassageRow, lines: Lines, around: int
) -> dict[str, object]:
    about = lines_round(connection, passage.note_id, lines, around)
    return {**_place_json(passage, about.lines), "text": about.text}
