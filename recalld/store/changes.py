"""What the store is asked to write: a note's change as plain records, ready-made by ingest.

Text hashes, words and uids arrive computed; the store adds ids and keeps the tables in step.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

from recalld.records import (
    NEUTRAL_IMPORTANCE,
    BlockId,
    BlockKind,
    Category,
    DateInterval,
    Entity,
    FileStat,
    Lines,
    NoteId,
    NoteLink,
    Problem,
    Relation,
    RootId,
    StatementId,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredNote:
    """A note as the store knows it."""

    note_id: NoteId
    uid: str
    path: str
    title: str
    said_title: str
    content_hash: bytes
    extractor: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    # The day it says it is from.
    dated: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBlock:
    """A block as the store knows it: enough to match it with a parsed one."""

    block_id: BlockId
    ordinal: int
    kind: BlockKind
    text_hash: bytes
    heading_path: tuple[str, ...]
    lead_in: str
    lines: Lines
    passage_uids: tuple[str, ...]
    # How the rules word its facts, as `Wording.dumps` gives it, also where a model's facts say them now.
    wordings: frozenset[str] = frozenset()
    # Of its own statements, in order.
    importances: tuple[float, ...] = ()
    # Whether a model has read it.
    is_read: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFact:
    """A fact to be stored, or one more source of a stored one with the same `uid`."""

    uid: str
    text: str
    # Relative to the block.
    lines: Lines
    # None: undecided until the statement has a vector; stored as knowledge meanwhile.
    category: Category | None
    confidence: float
    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    happened: DateInterval | None
    # 0..1
    importance: float = NEUTRAL_IMPORTANCE


@dataclass(frozen=True, slots=True, kw_only=True)
class NewStatement:
    """A statement to be stored. `embed_hash` covers prefix and text."""

    text: str
    words: str
    lines: Lines
    embed_prefix: str
    embed_hash: bytes
    facts: tuple[NewFact, ...]
    # 0..1: what a model finds in it has it too.
    importance: float = NEUTRAL_IMPORTANCE


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPassage:
    """A passage to be stored; `words` go into the full-text index."""

    uid: str
    position: int
    text: str
    lines: Lines
    words: str
    statements: tuple[NewStatement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBlock:
    """A block that the note did not have before, or had with other headings."""

    ordinal: int
    kind: BlockKind
    text: str
    text_hash: bytes
    heading_path: tuple[str, ...]
    lead_in: str
    lines: Lines
    passages: tuple[NewPassage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageWords:
    """The index words of a passage and of its statements in order."""

    passage: str
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptBlock:
    """A block that stays, perhaps at another place; its facts, ids and vectors stay with it."""

    block_id: BlockId
    ordinal: int
    lines: Lines
    # Position of its first passage; the others follow.
    position: int
    # New words of its passages when the title changed, else None.
    words: tuple[PassageWords, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class NewSaidLink:
    """A link that a note says between two of its facts, by their uids."""

    from_uid: str
    to_uid: str
    kind: Literal["caused_by", "temporal"]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteChange:
    """Everything that one transaction writes for a note."""

    # None = the note is new.
    note_id: NoteId | None
    uid: str
    root_id: RootId
    path: str
    title: str
    said_title: str
    content_hash: bytes
    extractor: str
    stat: FileStat
    dated: date | None
    changed_at_ms: int
    problems: tuple[Problem, ...]
    tags: tuple[str, ...]
    links: tuple[NoteLink, ...]
    kept: tuple[KeptBlock, ...]
    added: tuple[NewBlock, ...]
    removed: tuple[BlockId, ...]
    # Other names that its head gives it, as written.
    aliases: tuple[str, ...] = ()
    # Every link that the note says between its facts, of blocks that stay too; in order, none twice.
    said: tuple[NewSaidLink, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToEmbed:
    """A statement that waits for its vector."""

    statement_id: StatementId
    # With the title and headings that it is embedded with, and where its own words begin.
    text: str
    start: int
    embed_hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVector:
    """A statement's embedding, ready to be stored; dropped when the statement has changed meanwhile."""

    statement_id: StatementId
    embed_hash: bytes
    signs: bytes
    embedding: bytes
