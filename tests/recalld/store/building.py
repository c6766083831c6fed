"""Builders that the store's tests share: a database with a root, and notes as ready-made changes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from recalld.models.embedder import EmbeddingSpace
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
    Relation,
    RootId,
)
from recalld.store.changes import (
    KeptBlock,
    NewBlock,
    NewFact,
    NewPassage,
    NewStatement,
    NoteChange,
)
from recalld.store.connection import Connection, Database
from recalld.store.writers import Writers

ONE_LINE = Lines(first=1, last=1)
# 2026-05-28, noon.
MTIME_NS = 1_779_969_600_000_000_000


def model(identity: str, dimension: int = 8) -> EmbeddingSpace:
    return EmbeddingSpace(identity=identity, name=identity, dimension=dimension, tau=0.5, slope=6.0)


MODEL = model("model@1")


def digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


class Shelf:
    """An open database with one root, and its writers."""

    def __init__(self, file: Path, opened: Callable[[Path], Database] = Database) -> None:
        self.database = opened(file)
        self.writers = Writers.over(self.database.writer)
        self.root = self.writers.notes.put_root("notes", Path("/notes"), 1, 2)
        self.space = self.writers.spaces.use(MODEL)

    def rows(self, sql: str, *bindings: object) -> list[tuple[object, ...]]:
        return self.database.writer.execute(sql, bindings).fetchall()

    def put(self, path: str, *blocks: NewBlock, **changes: object) -> NoteId:
        return self.writers.notes.apply(change(self.root, path, *blocks, **changes))

    @contextmanager
    def reader(self) -> Iterator[Connection]:
        with self.database.reader() as connection:
            yield connection


def stat(mtime_ns: int = MTIME_NS) -> FileStat:
    return FileStat(size=1, mtime_ns=mtime_ns, ctime_ns=mtime_ns, inode=7, device=1)


def fact(
    text: str,
    *,
    category: Category | None = Category.KNOWLEDGE,
    confidence: float = 0.5,
    entities: Sequence[str] = (),
    relations: Sequence[tuple[str, str, str]] = (),
    happened: tuple[date, date] | None = None,
    importance: float = NEUTRAL_IMPORTANCE,
) -> NewFact:
    return NewFact(
        uid=digest(text.casefold()).hex(),
        text=text,
        lines=ONE_LINE,
        category=category,
        confidence=confidence,
        entities=tuple(Entity(name=name, kind="name") for name in entities),
        relations=tuple(Relation(subject=s, predicate=p, object=o) for s, p, o in relations),
        happened=DateInterval(first=happened[0], last=happened[1]) if happened else None,
        importance=importance,
    )


def block(
    note: str, text: str, *facts: NewFact, ordinal: int = 0, statements: Sequence[str] | None = None
) -> NewBlock:
    """A one-passage block; its first statement states the facts."""
    said = [text] if statements is None else statements
    return NewBlock(
        ordinal=ordinal,
        kind=BlockKind.PARAGRAPH,
        text=text,
        text_hash=digest(text),
        heading_path=("Part",),
        lead_in="",
        lines=Lines(first=ordinal + 1, last=ordinal + 1),
        passages=(
            NewPassage(
                uid=digest(f"{note}/{ordinal}/{text}").hex(),
                position=ordinal,
                text=text,
                lines=ONE_LINE,
                words=text.casefold().replace(".", ""),
                statements=tuple(
                    NewStatement(
                        text=one,
                        words=one.casefold(),
                        lines=ONE_LINE,
                        embed_prefix="",
                        embed_hash=digest(one),
                        facts=facts if number == 0 else (),
                    )
                    for number, one in enumerate(said)
                ),
            ),
        ),
    )


def change(
    root: RootId,
    path: str,
    *blocks: NewBlock,
    note_id: NoteId | None = None,
    kept: Sequence[KeptBlock] = (),
    removed: Sequence[BlockId] = (),
    tags: Sequence[str] = (),
    links: Sequence[str] = (),
    dated: date | None = None,
    mtime_ns: int = MTIME_NS,
    said_title: str = "",
    changed_at_ms: int = 1,
) -> NoteChange:
    return NoteChange(
        note_id=note_id,
        uid=digest(f"note {path}").hex(),
        root_id=root,
        path=path,
        title=said_title or path,
        said_title=said_title,
        content_hash=digest(path),
        extractor="rules-1",
        stat=stat(mtime_ns),
        dated=dated,
        changed_at_ms=changed_at_ms,
        problems=(),
        tags=tuple(tags),
        links=tuple(
            NoteLink(kind="wikilink", target=target, fragment="", label="", line=1)
            for target in links
        ),
        kept=tuple(kept),
        added=blocks,
        removed=tuple(removed),
    )


def targets(shelf: Shelf) -> Mapping[tuple[str, str], str | None]:
    """Where each link leads: (from path, target as written) to a path."""
    rows = shelf.rows(
        "SELECT note.path, target, other.path FROM note_link JOIN note ON note.id = from_note"
        " LEFT JOIN note AS other ON other.id = to_note"
    )
    return {(row[0], row[1]): row[2] for row in rows}
