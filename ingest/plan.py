"""What must be written so that the store equals a note. Pure: what is stored and what was read in, a change out.

A block that is stored with the same text, headings and lead-in keeps its facts, ids and vectors, wherever it now
stands; every other one is new. So is one whose facts name something else now, as another block of the note may show
what is a name, or one that matters more or less now, as the note's head may say; its facts keep their ids, as their
words are the same. A changed title or date makes all blocks new, as statements are embedded with the one and
"yesterday" counts from the other; vectors come from the cache where the wording is known.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import PurePosixPath

from ingest.masking.controls import drop_controls
from ingest.masking.redaction import redact
from recalld.records import (
    DateInterval,
    ExtractedBlock,
    ExtractedFact,
    ExtractedPassage,
    ExtractedStatement,
    FileStat,
    ParsedNote,
    Problem,
    RootId,
)
from recalld.store.changes import (
    KeptBlock,
    NewBlock,
    NewFact,
    NewPassage,
    NewSaidLink,
    NewStatement,
    NoteChange,
    PassageWords,
    StoredBlock,
    StoredNote,
)
from recalld.store.facts import Wording
from retrieval.text.words import index_words

_DATE_TITLE = re.compile(
    r"\W*\d{4}[-./年]\d{1,2}([-./月]\d{1,2}日?)?(\W+\w{2,12}\.?)?\W*|\W*\d{1,2}[-./]\d{1,2}[-./]\d{4}\W*"
)
_ISO_DAY = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_ISO_MONTH = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])")
_HEADING_LENGTH = 100
# File names that name no matter.
_NO_TITLES = frozenset({"readme", "index", "untitled", "home", "inbox", "notes", "note", "todo"})
_LEAST_LETTERS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteFile:
    """A note's file as it was read."""

    root_id: RootId
    path: str
    content_hash: bytes
    stat: FileStat
    problems: tuple[Problem, ...]


def digest(*parts: str) -> bytes:
    """16 bytes that stand for these texts, in this order."""
    return hashlib.blake2b("\x1f".join(parts).encode("utf-8", "replace"), digest_size=16).digest()


def is_date_title(title: str) -> bool:
    """Whether a title or heading is a date and nothing else."""
    return _DATE_TITLE.fullmatch(title) is not None


def said_title(note: ParsedNote) -> str:
    """The title that the note itself gives, where it says more than a date."""
    return "" if _DATE_TITLE.fullmatch(note.title) else note.title


def embed_title(note: ParsedNote, path: str) -> str:
    """The title that statements are embedded with: the note's own, else what the file name says besides a day.

    A renamed note keeps the vectors it has, so that a rename costs no model call.
    """
    said = said_title(note)
    stem = redact(PurePosixPath(path).stem)[0]
    words = _ISO_DAY.sub(" ", stem).replace("_", " ").replace("-", " ").split()
    named = " ".join(words)
    if said or named.casefold() in _NO_TITLES or _DATE_TITLE.fullmatch(stem):
        return said
    return named if sum(character.isalpha() for character in named) >= _LEAST_LETTERS else ""


def shown_title(note: ParsedNote, path: str) -> str:
    """The note's own title, else its file name, on one line, without secrets and what acts on a terminal."""
    return note.title or " ".join(redact(drop_controls(PurePosixPath(path).stem))[0].split())


def note_date(note: ParsedNote, path: str) -> date | None:
    """The day a note is from: its front matter, else its file name, else its title; never the file's time.

    A name or title that is a month is its first day.
    """
    if note.date:
        return note.date
    for text in (PurePosixPath(path).stem, note.title):
        found = _ISO_DAY.search(text)
        month = _ISO_MONTH.fullmatch(text)
        if found or month:
            try:
                if found:
                    return date(*(int(part) for part in found.groups()))
                return date(int(text[:4]), int(text[-2:]), 1)
            except ValueError:
                continue
    return None


def spoken_date(dated: date | None, stat: FileStat) -> date:
    """The day that "yesterday" in the note counts from: its own, else the day the file was last written."""
    return dated or datetime.fromtimestamp(stat.mtime_ns / 1e9, UTC).date()


def passage_words(title: str, block: ExtractedBlock, passage: ExtractedPassage) -> str:
    """The words by which a passage is found: its own, its headings', its lead-in's, the title's twice."""
    headings = [heading for heading in block.block.heading_path if heading != title]
    return index_words("\n".join((title, title, *headings, block.lead_in, passage.text)))


def statement_words(title: str, heading_path: Sequence[str], statement: ExtractedStatement) -> str:
    """What a statement covers of a query: its words, and those of its title and innermost heading."""
    text = "\n".join((title, *heading_path[-1:], statement.text))
    return " ".join(dict.fromkeys(index_words(text).split()))


def _kept_words(title: str, block: ExtractedBlock, passage: ExtractedPassage) -> PassageWords:
    return PassageWords(
        passage=passage_words(title, block, passage),
        statements=tuple(
            statement_words(title, block.block.heading_path, statement)
            for statement in passage.statements
        ),
    )


def embed_prefix(title: str, heading_path: Sequence[str]) -> str:
    """What a statement is embedded with: the title that says something, and the innermost heading."""
    heading = heading_path[-1] if heading_path else ""
    parts = [title] if title else []
    if heading and heading != title and not _DATE_TITLE.fullmatch(heading):
        parts.append(heading)
    return "".join(f"{part[:_HEADING_LENGTH]}: " for part in parts)


def fact_uid(fact: ExtractedFact, title: str, heading_path: Sequence[str]) -> str:
    """The identity of a fact, 32 hex: its words, its date, and its headings where it needs them to be understood."""
    where = () if fact.stands_alone else tuple(heading_path) or (title,)
    return uid_of(fact.text, fact.happened, where)


def uid_of(text: str, happened: DateInterval | None, where: Sequence[str] = ()) -> str:
    """The identity of these words on these days, under these headings where they lean on them.

    Only white space and a last full stop are no part of it: `-v` is not `-V`, 5 mW not 5 MW, 10² not 102. Whether words
    that are written otherwise say the same is for the comparison of facts to find out.
    """
    plain = " ".join(unicodedata.normalize("NFC", text).split())
    days = f"{happened.first}/{happened.last}" if happened is not None else ""
    return digest(plain.rstrip(" .。"), days, *where).hex()


def plan_note(
    *,
    stored: StoredNote | None,
    stored_blocks: Sequence[StoredBlock],
    file: NoteFile,
    note: ParsedNote,
    blocks: Sequence[ExtractedBlock],
    extractor: str,
    new_uid: str,
    now_ms: int,
) -> NoteChange:
    """The change that makes the store equal to the note.

    Args:
        stored: The note as stored, or None when it is new; `new_uid` is its uid then.
        blocks: All blocks of the note, extracted, in order.
        extractor: The version of the rules that made `blocks`; a note made by another one is new.
        now_ms: Milliseconds since 1970.
    """
    title, said = shown_title(note, file.path), said_title(note)
    named = embed_title(note, file.path)
    uid = stored.uid if stored else new_uid
    dated = note_date(note, file.path)
    comparable = stored is not None and (
        (stored.said_title, stored.extractor, stored.dated) == (said, extractor, dated)
    )
    matches = _Matches(stored_blocks if comparable else ())
    retitled = stored is not None and stored.title != title
    kept: list[KeptBlock] = []
    added: list[tuple[int, int, ExtractedBlock]] = []
    position = 0
    for ordinal, block in enumerate(filter(_is_shown, blocks)):
        match = None if retitled and _leans_on_title(block) else matches.take(block)
        # What a model worded is found by the title too; it says the same again, which costs no call.
        if match and not (retitled and match.is_read):
            words = tuple(_kept_words(title, block, one) for one in block.passages)
            kept.append(
                KeptBlock(
                    block_id=match.block_id,
                    ordinal=ordinal,
                    lines=block.block.lines,
                    position=position,
                    words=words if retitled else None,
                )
            )
        else:
            added.append((ordinal, position, block))
        position += len(block.passages)
    stays = {one.block_id for one in kept}
    removed = tuple(block.block_id for block in stored_blocks if block.block_id not in stays)
    uids = _Uids(
        uid,
        (one for block in stored_blocks if block.block_id in stays for one in block.passage_uids),
    )
    return NoteChange(
        note_id=stored.note_id if stored else None,
        uid=uid,
        root_id=file.root_id,
        path=file.path,
        title=title,
        said_title=said,
        content_hash=file.content_hash,
        extractor=extractor,
        stat=file.stat,
        dated=dated,
        changed_at_ms=now_ms,
        problems=(*file.problems, *note.problems),
        tags=tuple(dict.fromkeys(note.tags)),
        links=note.links,
        kept=tuple(kept),
        added=tuple(
            _new_block(ordinal, first, block, title, named, uids) for ordinal, first, block in added
        ),
        removed=removed,
        aliases=note.aliases,
        said=_said_links(blocks, title),
    )


def _said_links(blocks: Iterable[ExtractedBlock], title: str) -> tuple[NewSaidLink, ...]:
    """The links between facts, in order; what is said of two places with the same words is no link."""
    found = {
        NewSaidLink(
            from_uid=fact_uid(link.from_fact, title, block.block.heading_path),
            to_uid=fact_uid(link.to_fact, title, block.block.heading_path),
            kind=link.kind,
            reason=link.reason,
        )
        for block in blocks
        for link in block.links
    }
    return tuple(sorted(link for link in found if link.from_uid != link.to_uid))


def _is_shown(block: ExtractedBlock) -> bool:
    """Whether a block is stored: all that has words or marks of its own, so that its lines can be shown."""
    return bool(block.passages) or bool(block.block.text.strip())


def _leans_on_title(block: ExtractedBlock) -> bool:
    """Whether facts of the block have their identity from the note's title, as no heading stands above them."""
    if block.block.heading_path:
        return False
    statements = (one for passage in block.passages for one in passage.statements)
    return any(not fact.stands_alone for statement in statements for fact in statement.facts)


class _Matches:
    """Stored blocks by what makes them the same; each is taken once, in order."""

    def __init__(self, stored: Iterable[StoredBlock]) -> None:
        self._waiting: dict[tuple[object, ...], deque[StoredBlock]] = defaultdict(deque)
        for block in stored:
            key = (block.kind, block.text_hash, block.heading_path, block.lead_in)
            self._waiting[key].append(block)

    def take(self, block: ExtractedBlock) -> StoredBlock | None:
        parsed = block.block
        key = (parsed.kind, digest(parsed.text), parsed.heading_path, block.lead_in)
        waiting = self._waiting.get(key)
        if (
            waiting
            and len(waiting[0].passage_uids) == len(block.passages)
            and waiting[0].wordings <= _wordings(block)
            and waiting[0].importances == _importances(block)
        ):
            return waiting.popleft()
        return None


def _wordings(block: ExtractedBlock) -> frozenset[str]:
    return frozenset(
        Wording.of(fact).dumps()
        for passage in block.passages
        for statement in passage.statements
        for fact in statement.facts
    )


def _importances(block: ExtractedBlock) -> tuple[float, ...]:
    """Of its statements: they stand for what a model found in the block too, which no wording here tells of."""
    return tuple(one.importance for passage in block.passages for one in passage.statements)


def _new_block(
    ordinal: int,
    position: int,
    block: ExtractedBlock,
    title: str,
    named: str,
    uids: _Uids,
) -> NewBlock:
    parsed = block.block
    prefix = embed_prefix(named, parsed.heading_path)
    return NewBlock(
        ordinal=ordinal,
        kind=parsed.kind,
        text=parsed.text,
        text_hash=digest(parsed.text),
        heading_path=parsed.heading_path,
        lead_in=block.lead_in,
        lines=parsed.lines,
        passages=tuple(
            NewPassage(
                uid=uids.take(passage.text),
                position=position + offset,
                text=passage.text,
                lines=passage.lines,
                words=passage_words(title, block, passage),
                statements=tuple(
                    _new_statement(statement, prefix, title, parsed.heading_path)
                    for statement in passage.statements
                ),
            )
            for offset, passage in enumerate(block.passages)
        ),
    )


class _Uids:
    """The uids of a note's passages: from the note and the words, numbered where it says the same twice."""

    def __init__(self, note_uid: str, taken: Iterable[str]) -> None:
        self._note_uid = note_uid
        self._taken = frozenset(taken)
        self._next: dict[str, int] = defaultdict(int)

    def take(self, text: str) -> str:
        """The first uid for a passage of these words that is free; it is taken then."""
        while True:
            uid = digest(self._note_uid, text, str(self._next[text])).hex()
            self._next[text] += 1
            if uid not in self._taken:
                return uid


def _new_statement(
    statement: ExtractedStatement,
    prefix: str,
    title: str,
    heading_path: Sequence[str],
) -> NewStatement:
    return NewStatement(
        text=statement.text,
        words=statement_words(title, heading_path, statement),
        lines=statement.lines,
        embed_prefix=prefix,
        embed_hash=digest(prefix, statement.text),
        facts=tuple(
            NewFact(
                uid=fact_uid(fact, title, heading_path),
                text=fact.text,
                lines=fact.lines,
                category=fact.category,
                confidence=fact.confidence,
                entities=fact.entities,
                relations=fact.relations,
                happened=fact.happened,
                importance=fact.importance,
            )
            for fact in statement.facts
        ),
        importance=statement.importance,
    )
