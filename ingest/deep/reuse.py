"""When a model's answer is used again: for the same text in the same place, read by the same weights and prompt. Pure.

The model is told the note's title, for a sentence may have no other subject. Where that is only the file's name it is
no part of the key, so that a rename, or a copy under another name, costs no call: an answer is used again under the
present name if what it says still holds, with that name in the place of the former where the model had named it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from ingest.deep.prompt import Piece
from ingest.deep.replied import BlockReply, Found, judge, kept, restored
from ingest.plan import digest
from recalld.models.identity import said_by, spellings


def cache_key(piece: Piece, extractor: str) -> bytes:
    """What a model's answer follows from: a text, all or a part of its block's, where it stands, and who reads it."""
    return _key(piece, piece.block.said_title, said_by(extractor))


def former_keys(piece: Piece, extractor: str) -> tuple[bytes, ...]:
    """The keys under which earlier versions kept the same: with the shown title, and the model as it was spelled."""
    return tuple(_key(piece, piece.block.title, mark) for mark in spellings(extractor))


def _key(piece: Piece, title: str, reader: str) -> bytes:
    block = piece.block
    place = (title, *block.heading_path, block.lead_in, block.dated or "")
    return digest(piece.text, *place, reader)


def kept_answer(reply: BlockReply, piece: Piece) -> str:
    """An answer as the cache keeps it, with the title that the model was told."""
    value = {**json.loads(kept(reply)), "title": piece.block.title}
    return json.dumps(value, ensure_ascii=False)


def reused(result: str, piece: Piece) -> BlockReply | None:
    """A kept answer for a piece as it stands now; None where what it says no longer holds."""
    reply, told = restored(result), json.loads(result).get("title", piece.block.title)
    if told == piece.block.title:
        return reply
    found = [_under_title(one, told, piece) for one in reply.found]
    held = tuple(one for one in found if one is not None)
    return replace(reply, found=held) if len(held) == len(found) else None


def _under_title(found: Found, told: str, piece: Piece) -> Found | None:
    """A fact under the present title: as it was said, or with that in the place of the one that was told."""
    if judge([_raw(found)], [piece])[piece.block.block_id].found:
        return found
    raw = _renamed(_raw(found), told, piece.block.title)
    again = judge([raw], [piece])[piece.block.block_id].found
    return again[0] if again else None


def _raw(found: Found) -> Mapping[str, object]:
    """A fact as a model gives it."""
    return {
        "block": 1,
        "statement": found.statement,
        "category": found.category.value,
        "confidence": found.confidence,
        "date": found.happened.first.isoformat() if found.happened else "",
        "entities": [one.name for one in found.entities],
        "relations": [[one.subject, one.predicate, one.object] for one in found.relations],
    }


def _renamed(value: object, told: str, title: str) -> object:
    match value:
        case str():
            return value.replace(told, title)
        case list():
            return [_renamed(one, told, title) for one in value]
        case dict():
            return {key: _renamed(one, told, title) for key, one in value.items()}
        case _:
            return value
