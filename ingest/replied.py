"""What a model's answer is worth: each fact validated, grounded in its block, or refused with a reason. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from ingest.prompt import EXAMPLE_MARKERS, Piece
from recalld.records import BlockId, Category, DateInterval, Entity, Relation
from retrieval.grounding import Grounded, ground

# More from one block is not extraction but a runaway.
_MOST_FACTS = 40
_LONGEST = 600
_SNAKE = re.compile(r"[\W_]+")


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
            verdict = ground(
                statement,
                source=piece.text,
                heading_path=_context(piece),
                markers=EXAMPLE_MARKERS,
            )
            if isinstance(verdict, Grounded):
                mine = found[piece.block.block_id]
                if len(mine) < _MOST_FACTS:
                    mine.setdefault(statement.casefold(), _found(raw, statement))
                break
            reason = reason or verdict.reason
        else:
            refused[named.block.block_id][reason or "words"] += 1
    return {
        block_id: BlockReply(found=tuple(mine.values()), refused=dict(refused[block_id]))
        for block_id, mine in found.items()
    }


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
    plain = " ".join(text.split())
    return plain if 3 <= len(plain) <= _LONGEST else None


def _found(raw: object, statement: str) -> Found:
    fields = raw if isinstance(raw, Mapping) else {}
    return Found(
        statement=statement,
        category=_category(fields.get("category")),
        confidence=_confidence(fields.get("confidence")),
        happened=_day(fields.get("date"), statement),
        entities=tuple(_entities(fields.get("entities"), statement)),
        relations=tuple(_relations(fields.get("relations"), statement)),
    )


def _category(value: object) -> Category:
    try:
        return Category(str(value))
    except ValueError:
        return Category.KNOWLEDGE


def _confidence(value: object) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    return 0.5


def _day(value: object, statement: str) -> DateInterval | None:
    """The day a model gives, believed only where its year or its day stands in the statement."""
    try:
        day = date.fromisoformat(str(value))
    except ValueError:
        return None
    numbers = set(re.findall(r"\d+", statement))
    known = str(day.year) in numbers or {str(day.day), f"{day.day:02}"} & numbers
    return DateInterval(first=day, last=day) if known else None


def _entities(value: object, statement: str) -> list[Entity]:
    """The names that really stand in the statement."""
    names = [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
    held = statement.casefold()
    return [
        Entity(name=name.strip(), kind="name")
        for name in dict.fromkeys(names)
        if len(name.strip()) > 1 and name.strip().casefold() in held
    ]


def _relations(value: object, statement: str) -> list[Relation]:
    """Triples whose ends stand in the statement; the predicate becomes one snake_case word."""
    held = statement.casefold()
    made = []
    for triple in value if isinstance(value, list) else []:
        if not (isinstance(triple, list) and len(triple) == 3):
            continue
        if not all(isinstance(part, str) and part.strip() for part in triple):
            continue
        subject, predicate, thing = (" ".join(part.split()) for part in triple)
        if subject.casefold() in held and thing.casefold() in held and subject != thing:
            word = _SNAKE.sub("_", predicate.casefold()).strip("_")
            if word:
                made.append(Relation(subject=subject, predicate=word, object=thing))
    return made
