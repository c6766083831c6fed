"""Writing notes: one transaction a note, all tables in step.

It runs on the writer's thread only. A crash at any line leaves the old note or the new one; writing the same change
again changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from recalld.records import BlockId, FileStat, NoteId, RootId
from recalld.store.carrying import carry_words, spoken_of
from recalld.store.changes import (
    KeptBlock,
    NewBlock,
    NewPassage,
    NoteChange,
    PassageWords,
)
from recalld.store.connection import Connection, execute, transaction
from recalld.store.deep import first_state
from recalld.store.fact_links import replace_said, settle_said
from recalld.store.facts import add_fact, restate, settle_facts, touched_facts
from recalld.store.linking import name_key
from recalld.store.links import relink, replace_links
from recalld.store.naming import replace_names
from recalld.store.statements import add_statement
from recalld.store.succession import compare_again


class NoteWriter:
    """The writing side of the store for notes and roots."""

    def __init__(self, connection: Connection) -> None:
        """`connection` is the database's only writing one."""
        self._connection = connection

    def put_root(self, name: str, path: Path, device: int | None, inode: int | None) -> RootId:
        """The id of a root, made or brought up to date; a path that another root had is taken over."""
        with transaction(self._connection):
            execute(
                self._connection,
                "UPDATE root SET path = '/moving/' || id WHERE path = ? AND name <> ?",
                (str(path), name),
            )
            execute(
                self._connection,
                "INSERT INTO root (name, path, device, inode) VALUES (:name, :path, :device, :inode)"
                " ON CONFLICT (name) DO UPDATE SET path = :path, device = :device, inode = :inode",
                {"name": name, "path": str(path), "device": device, "inode": inode},
            )
        return RootId(
            execute(self._connection, "SELECT id FROM root WHERE name = ?", (name,))[0][0]
        )

    def drop_roots_except(self, names: Sequence[str], now_ms: int) -> int:
        """Forgets the notes of roots that are no longer watched. Returns how many roots went."""
        gone = execute(
            self._connection,
            "SELECT id FROM root WHERE name NOT IN (SELECT value FROM json_each(?))",
            (json.dumps(list(names)),),
        )
        for (root_id,) in gone:
            notes = execute(self._connection, "SELECT id FROM note WHERE root_id = ?", (root_id,))
            for (note_id,) in notes:
                self.remove(NoteId(note_id), now_ms)
            execute(self._connection, "DELETE FROM root WHERE id = ?", (root_id,))
        return len(gone)

    def apply(self, change: NoteChange) -> NoteId:
        """Writes one note's change. Returns its id."""
        with transaction(self._connection):
            stands_elsewhere = self._stands_elsewhere(change)
            note_id = self._put_note(change)
            removed = list(change.removed)
            lost = touched_facts(self._connection, removed)
            spoken = spoken_of(self._connection, lost)
            touched = set(lost)
            # Out first: vectors pass through the cache, passages give their uids free. Facts wait
            # for settle_facts, so that one which is stated again keeps its row.
            self._remove_blocks(removed, change.changed_at_ms)
            for block in change.added:
                touched |= self._add_block(note_id, change, block)
            for kept in change.kept:
                self._keep_block(kept)
            linked = replace_said(self._connection, note_id, change.said)
            settle_facts(self._connection, touched, lost=lost)
            carry_words(self._connection, spoken, touched)
            settle_said(self._connection, linked)
            restate(self._connection, touched | self._facts_of(note_id))
            if stands_elsewhere:
                compare_again(self._connection, self._facts_of(note_id))
            self._put_tags(note_id, change.tags)
            replace_names(
                self._connection,
                note_id,
                title=change.title,
                path=change.path,
                aliases=change.aliases,
            )
            replace_links(self._connection, note_id, change.links)
            relink(self._connection, change.root_id, {name_key(change.path)})
        return note_id

    def move(self, paths: Mapping[NoteId, str]) -> None:
        """Gives notes other paths, all at once, so that two may swap; their content stays.

        What follows from a path, such as a title, is written when the note is applied. Until then it counts as
        changed, so that a crash between the two leaves it to the next look.
        """
        with transaction(self._connection):
            for note_id in paths:
                execute(
                    self._connection,
                    "UPDATE note SET path = '/moving/' || id WHERE id = ?",
                    (note_id,),
                )
            for note_id, path in paths.items():
                self._move_one(note_id, path)

    def _move_one(self, note_id: NoteId, path: str) -> None:
        root_id, old_key = execute(
            self._connection, "SELECT root_id, name_key FROM note WHERE id = ?", (note_id,)
        )[0]
        execute(
            self._connection,
            "UPDATE note SET path = ?, name_key = ?, content_hash = x'', ctime_ns = -1 WHERE id = ?",
            (path, name_key(path), note_id),
        )
        targets = execute(
            self._connection, "SELECT name_key FROM note_link WHERE from_note = ?", (note_id,)
        )
        keys = {old_key, name_key(path), *(row[0] for row in targets)}
        relink(self._connection, root_id, keys)

    def touch(self, note_id: NoteId, stat: FileStat) -> None:
        """Records a new stat of an unchanged file; facts are as new as the file that states them."""
        with transaction(self._connection):
            execute(
                self._connection,
                "UPDATE note SET size = :size, mtime_ns = :mtime_ns, ctime_ns = :ctime_ns,"
                " inode = :inode WHERE id = :id",
                {"id": note_id, **_columns(stat)},
            )
            restate(self._connection, self._facts_of(note_id))

    def remove(self, note_id: NoteId, now_ms: int) -> None:
        """Takes a note out with everything that only it states. Unknown ids are no error."""
        with transaction(self._connection):
            found = execute(
                self._connection, "SELECT root_id, path FROM note WHERE id = ?", (note_id,)
            )
            if not found:
                return
            rows = execute(self._connection, "SELECT id FROM block WHERE note_id = ?", (note_id,))
            blocks = [BlockId(row[0]) for row in rows]
            touched = touched_facts(self._connection, blocks)
            self._remove_blocks(blocks, now_ms)
            execute(self._connection, "DELETE FROM note WHERE id = ?", (note_id,))
            settle_facts(self._connection, touched, lost=touched)
            restate(self._connection, touched)
            root_id, path = found[0]
            relink(self._connection, root_id, {name_key(path)})

    def _stands_elsewhere(self, change: NoteChange) -> bool:
        """Whether facts of blocks that stay have another day, or another title above them."""
        dated = change.dated.isoformat() if change.dated else None
        rows = execute(
            self._connection,
            "SELECT 1 FROM note WHERE id = ? AND (title, dated) IS NOT (?, ?)",
            (change.note_id, change.title, dated),
        )
        return bool(rows)

    def _put_note(self, change: NoteChange) -> NoteId:
        values = {
            "uid": change.uid,
            "root_id": change.root_id,
            "path": change.path,
            "name_key": name_key(change.path),
            "title": change.title,
            "said_title": change.said_title,
            "content_hash": change.content_hash,
            "extractor": change.extractor,
            "dated": change.dated.isoformat() if change.dated else None,
            "changed_at": change.changed_at_ms,
            "problems": json.dumps([asdict(problem) for problem in change.problems]),
            **_columns(change.stat),
        }
        columns = ", ".join(values)
        if change.note_id is None:
            marks = ", ".join(f":{name}" for name in values)
            execute(self._connection, f"INSERT INTO note ({columns}) VALUES ({marks})", values)
            return NoteId(self._connection.last_insert_rowid())
        sets = ", ".join(f"{name} = :{name}" for name in values)
        execute(
            self._connection,
            f"UPDATE note SET {sets} WHERE id = :id",
            {**values, "id": change.note_id},
        )
        return change.note_id

    def _add_block(self, note_id: NoteId, change: NoteChange, block: NewBlock) -> set[int]:
        execute(
            self._connection,
            "INSERT INTO block (note_id, ordinal, kind, text, text_hash, heading_path, lead_in,"
            " line_from, line_to, extraction, extractor) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                note_id,
                block.ordinal,
                block.kind.value,
                block.text,
                block.text_hash,
                json.dumps(block.heading_path, ensure_ascii=False),
                block.lead_in,
                block.lines.first,
                block.lines.last,
                first_state(block.kind) if block.passages else "done",
                change.extractor,
            ),
        )
        block_id = self._connection.last_insert_rowid()
        touched: set[int] = set()
        for passage in block.passages:
            touched |= self._add_passage(note_id, block_id, change, passage)
        return touched

    def _add_passage(
        self, note_id: NoteId, block_id: int, change: NoteChange, passage: NewPassage
    ) -> set[int]:
        execute(
            self._connection,
            "INSERT INTO passage (uid, block_id, note_id, position, text, line_from, line_to)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                passage.uid,
                block_id,
                note_id,
                passage.position,
                passage.text,
                passage.lines.first,
                passage.lines.last,
            ),
        )
        passage_id = self._connection.last_insert_rowid()
        execute(
            self._connection,
            "INSERT INTO passage_fts (rowid, words) VALUES (?, ?)",
            (passage_id, passage.words),
        )
        touched: set[int] = set()
        for ordinal, statement in enumerate(passage.statements):
            statement_id = add_statement(self._connection, passage_id, statement, ordinal=ordinal)
            for fact in statement.facts:
                touched.add(
                    add_fact(
                        self._connection,
                        fact,
                        statement_id=statement_id,
                        passage_id=passage_id,
                        extractor=change.extractor,
                        now_ms=change.changed_at_ms,
                    )
                )
        return touched

    def _keep_block(self, kept: KeptBlock) -> None:
        execute(
            self._connection,
            "UPDATE block SET ordinal = :ordinal, line_from = :first, line_to = :last"
            " WHERE id = :id AND (ordinal, line_from, line_to) IS NOT (:ordinal, :first, :last)",
            {
                "id": kept.block_id,
                "ordinal": kept.ordinal,
                "first": kept.lines.first,
                "last": kept.lines.last,
            },
        )
        rows = execute(
            self._connection,
            "SELECT id, position FROM passage WHERE block_id = ? ORDER BY position",
            (kept.block_id,),
        )
        for offset, (passage_id, position) in enumerate(rows):
            if position != kept.position + offset:
                execute(
                    self._connection,
                    "UPDATE passage SET position = ? WHERE id = ?",
                    (kept.position + offset, passage_id),
                )
        if kept.words is not None:
            self._reword((row[0], words) for row, words in zip(rows, kept.words, strict=True))

    def _reword(self, words: Iterable[tuple[int, PassageWords]]) -> None:
        for passage_id, new in words:
            execute(self._connection, "DELETE FROM passage_fts WHERE rowid = ?", (passage_id,))
            execute(
                self._connection,
                "INSERT INTO passage_fts (rowid, words) VALUES (?, ?)",
                (passage_id, new.passage),
            )
            for ordinal, text in enumerate(new.statements):
                execute(
                    self._connection,
                    "UPDATE statement SET words = ? WHERE passage_id = ? AND ordinal = ?",
                    (text, passage_id, ordinal),
                )

    def _remove_blocks(self, blocks: Sequence[BlockId], now_ms: int) -> None:
        """Takes blocks out; vectors go into the cache, what lies below goes by cascade."""
        if not blocks:
            return
        ids = {"ids": json.dumps(blocks), "now": now_ms}
        passages = "SELECT id FROM passage WHERE block_id IN (SELECT value FROM json_each(:ids))"
        execute(
            self._connection,
            "INSERT OR REPLACE INTO embedding_cache (space, embed_hash, signs, embedding, used_at)"
            " SELECT space, embed_hash, signs, embedding, :now FROM statement"
            f" JOIN vector ON statement_id = id WHERE passage_id IN ({passages})",
            ids,
        )
        execute(self._connection, f"DELETE FROM passage_fts WHERE rowid IN ({passages})", ids)
        execute(
            self._connection,
            "DELETE FROM block WHERE id IN (SELECT value FROM json_each(:ids))",
            ids,
        )

    def _facts_of(self, note_id: NoteId) -> set[int]:
        rows = execute(
            self._connection,
            "SELECT DISTINCT fact_id FROM fact_source JOIN passage ON passage.id = passage_id"
            " WHERE note_id = ?",
            (note_id,),
        )
        return {row[0] for row in rows}

    def _put_tags(self, note_id: NoteId, tags: Iterable[str]) -> None:
        execute(self._connection, "DELETE FROM note_tag WHERE note_id = ?", (note_id,))
        for tag in tags:
            execute(
                self._connection,
                "INSERT OR IGNORE INTO note_tag (note_id, tag, shown) VALUES (?, ?, ?)",
                (note_id, tag.casefold(), tag),
            )


def _columns(stat: FileStat) -> dict[str, int]:
    """The part of a stat that the note's row keeps; the device is the root's."""
    return {
        "size": stat.size,
        "mtime_ns": stat.mtime_ns,
        "ctime_ns": stat.ctime_ns,
        "inode": stat.inode,
    }
