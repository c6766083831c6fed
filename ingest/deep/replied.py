"""What a model's answer is worth: each fact validated, grounded in its block, or refused with a reason. Pure."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date

from ingest.deep.covering import say_the_same
from ingest.deep.dating import believed
from ingest.deep.prompt import EXAMPLE_MARKERS, Piece
from ingest.deep.triples import relations_said
from ingest.deep.wholeness import find_lack, stands_in
from ingest.masking.controls import drop_controls
from ingest.rules.categories import find_category
from recalld.records import BlockId, Category, DateInterval, Entity, Relation
from retrieval.grounding.verdict import Grounded, ground

# More from one block is not extraction but a runaway.
_MOST_FACTS = 60
_LONGEST = 600
# Marks of a prompt, and an answer ready-made: what follows them in a note is addressed to the model.
_FRAME = re.compile(
    r"<<<NOTE TEXT|NOTE TEXT>>|</(?:section|notes?|document|system|context|data|text|user)>"
    r"|(?!(?<=`)[^`\s]{1,24}`)"  # A mark that is all of a code span is spoken of, not used.
    r"(?:<\|?(?:im_start|im_end|system|assistant|user|endoftext|(?:start|end)_header_id|eot_id)\|?>"
    r"|</?(?:start|end)_of_turn>|<</?SYS>>|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS)\]"
    r"|^#{2,}\s*(?:System|Instructions?|Response)\s*:)"
    r"|[{\[]\s*\"(?:facts|statement)\"\s*:",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A fact of a model that its block supports."""

    statement: str
    category: Category
    confidence: float
    happened: DateInterval | None
    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockReply:
    """What the answer gives for one block: facts, and how many were refused, by reason."""

    found: tuple[Found, ...]
    refused: Mapping[str, int]

    @property
    def said(self) -> int:
        """How many facts the model gave for it."""
        return len(self.found) + sum(self.refused.values())


def facts_of(value: object) -> Sequence[object] | None:
    """The list of facts in an answer; None when it has none."""
    if isinstance(value, Mapping):
        facts = value.get("facts")
        return facts if isinstance(facts, list) else None
    return value if isinstance(value, list) else None


def judge(facts: Sequence[object], pieces: Sequence[Piece]) -> dict[BlockId, BlockReply]:
    """Every piece's block with what the answer is worth for it.

    A fact belongs to the block it names; when that does not support it, to the first other that does.
    """
    found: dict[BlockId, dict[str, Found]] = {piece.block.block_id: {} for piece in pieces}
    refused: dict[BlockId, Counter[str]] = {piece.block.block_id: Counter() for piece in pieces}
    for raw in facts:
        named = _named_piece(raw, pieces)
        statement = _statement(raw)
        if statement is None:
            refused[named.block.block_id]["shape"] += 1
            continue
        reason = None
        for piece in (named, *(other for other in pieces if other is not named)):
            lack = _find_refusal(statement, piece)
            if lack is None:
                mine = found[piece.block.block_id]
                if any(say_the_same(statement, one.statement) for one in mine.values()):
                    break
                if len(mine) < _MOST_FACTS:
                    mine[statement] = _found(raw, statement, piece)
                else:
                    refused[piece.block.block_id]["too_many"] += 1
                break
            reason = reason or lack
        else:
            refused[named.block.block_id][reason or "words"] += 1
    return {
        block_id: BlockReply(found=tuple(mine.values()), refused=dict(refused[block_id]))
        for block_id, mine in found.items()
    }


def _find_refusal(statement: str, piece: Piece) -> str | None:
    """Why a piece does not say it, in what of it speaks to the reader and not to the model; None where it does."""
    frame = _FRAME.search(piece.text)
    told = piece.text[: frame.start()] if frame else piece.text
    verdict = ground(statement, source=told, heading_path=_context(piece), markers=EXAMPLE_MARKERS)
    if isinstance(verdict, Grounded):
        return find_lack(statement, told)
    if frame:
        whole = ground(statement, source=piece.text, heading_path=_context(piece))
        return "instruction" if isinstance(whole, Grounded) else verdict.reason
    return verdict.reason


def _context(piece: Piece) -> tuple[str, ...]:
    block = piece.block
    return (block.title, *block.heading_path, *((block.lead_in,) if block.lead_in else ()))


def _named_piece(raw: object, pieces: Sequence[Piece]) -> Piece:
    number = raw.get("block") if isinstance(raw, Mapping) else None
    if isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= len(pieces):
        return pieces[number - 1]
    return pieces[0]


def _statement(raw: object) -> str | None:
    text = raw.get("statement") if isinstance(raw, Mapping) else None
    if not isinstance(text, str):
        return None
    plain = " ".join(drop_controls(text).split())
    return plain if 3 <= len(plain) <= _LONGEST else None


def _found(raw: object, statement: str, piece: Piece) -> Found:
    fields = raw if isinstance(raw, Mapping) else {}
    block = piece.block
    return Found(
        statement=statement,
        category=_category(fields.get("category"), statement),
        confidence=_confidence(fields.get("confidence")),
        happened=believed(
            fields.get("date"),
            statement,
            above=(*reversed(block.heading_path), block.lead_in),
            dated=date.fromisoformat(block.dated) if block.dated else None,
        ),
        entities=tuple(_entities(fields.get("entities"), statement)),
        relations=tuple(relations_said(fields.get("relations"), statement)),
    )


def _category(value: object, statement: str) -> Category:
    """What a model takes it for; what rules take for a lesson stays one, as no newer fact may hide it."""
    if find_category(statement, has_date=False) is Category.ERROR:
        return Category.ERROR
    try:
        return Category(str(value))
    except ValueError:
        return Category.KNOWLEDGE


def _confidence(value: object) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    return 0.5


def _entities(value: object, statement: str) -> list[Entity]:
    """The names that stand in the statement as whole words, and not only within a longer one."""
    given = (
        [one.strip() for one in value if isinstance(one, str)] if isinstance(value, list) else []
    )
    names = [name for name in dict.fromkeys(given) if len(name) > 1]
    return [
        Entity(name=name, kind="name")
        for name in names
        if stands_in(name, statement, beside=[one for one in names if one != name])
    ]


def joined(replies: Sequence[BlockReply]) -> BlockReply:
    """What the pieces of a block gave, together."""
    found: dict[str, Found] = {}
    refused: Counter[str] = Counter()
    for reply in replies:
        for one in reply.found:
            found.setdefault(one.statement, one)
        refused.update(reply.refused)
    return BlockReply(found=tuple(found.values()), refused=dict(refused))


def kept(reply: BlockReply) -> str:
    """A reply as the cache keeps it."""
    found = [
        asdict(one)
        | {
            "happened": [one.happened.first.isoformat(), one.happened.last.isoformat()]
            if one.happened
            else None
        }
        for one in reply.found
    ]
    return json.dumps({"found": found, "refused": dict(reply.refused)}, ensure_ascii=False)


def restored(text: str) -> BlockReply:
    """A reply that the cache kept."""
    value = json.loads(text)
    return BlockReply(
        found=tuple(
            Found(
                statement=one["statement"],
                category=Category(one["category"]),
                confidence=one["confidence"],
                happened=DateInterval(
                    first=date.fromisoformat(one["happened"][0]),
                    last=date.fromisoformat(one["happened"][1]),
                )
                if one["happened"]
                else None,
                entities=tuple(Entity(**entity) for entity in one["entities"]),
                relations=tuple(Relation(**relation) for relation in one["relations"]),
            )
            for one in value["found"]
        ),
        refused=value["refused"],
    )
