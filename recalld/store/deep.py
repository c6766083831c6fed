"""The queue of the deep extraction, and writing what a model found in a block.

The block table is the queue: it survives any crash. A result for a text that has changed meanwhile is dropped; the
rules' facts of a block stay until a model's valid result replaces them, in one transaction.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recalld.records import BlockId, BlockKind, Lines, NoteId, PassageId
from recalld.store.changes import NewFact, NewStatement
from recalld.store.connection import Connection, execute, transaction
from recalld.store.facts import add_fact, restate, retract_unsourced, touched_facts
from recalld.store.statements import add_statement, drop_unused_statements


@dataclass(frozen=True, slots=True, kw_only=True)
class ToExtract:
    """A block that waits for a model, with what its prompt needs."""

    block_id: BlockId
    note_id: NoteId
    kind: BlockKind
    text: str
    text_hash: bytes
    heading_path: tuple[str, ...]
    lead_in: str
    title: str
    # ISO day the note is from, None when it says none.
    dated: str | None
    attempts: int
    lines: Lines


@dataclass(frozen=True, slots=True, kw_only=True)
class DeepFact:
    """A fact of a model, grounded, and the passage of the block that it comes from."""

    passage_id: PassageId
    statement: NewStatement
    fact: NewFact


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionCounts:
    """How far the deep extraction is, in blocks, and how many facts were refused, by reason."""

    pending: int
    parked: int
    refused: Mapping[str, int]


def to_extract(connection: Connection, limit: int, now_ms: int) -> list[ToExtract]:
    """Blocks whose turn it is, those of the most recently changed notes first."""
    rows = execute(
        connection,
        "SELECT block.id, note_id, kind, text, text_hash, heading_path, lead_in, title, dated,"
        " attempts, line_from, line_to FROM block JOIN note ON note.id = note_id"
        " WHERE extraction = 'pending' AND coalesce(next_try, 0) <= ?"
        " ORDER BY changed_at DESC, note_id, ordinal LIMIT ?",
        (now_ms, limit),
    )
    return [
        ToExtract(
            block_id=BlockId(row[0]),
            note_id=NoteId(row[1]),
            kind=BlockKind(row[2]),
            text=row[3],
            text_hash=row[4],
            heading_path=tuple(json.loads(row[5])),
            lead_in=row[6],
            title=row[7],
            dated=row[8],
            attempts=row[9],
            lines=Lines(first=row[10], last=row[11]),
        )
        for row in rows
    ]


def sentences_of_block(
    connection: Connection, block_id: BlockId
) -> list[tuple[PassageId, str, Lines]]:
    """(passage, text, lines in the block) of a block's own sentences, in order."""
    rows = execute(
        connection,
        "SELECT passage_id, statement.text, statement.line_from, statement.line_to"
        " FROM passage JOIN statement ON passage_id = passage.id"
        " WHERE block_id = ? AND of_fact = 0 ORDER BY position, ordinal",
        (block_id,),
    )
    return [(PassageId(row[0]), row[1], Lines(first=row[2], last=row[3])) for row in rows]


def next_try_ms(connection: Connection) -> int | None:
    """When the next waiting block may be tried; None when none waits."""
    rows = execute(
        connection, "SELECT min(coalesce(next_try, 0)) FROM block WHERE extraction = 'pending'"
    )
    return None if rows[0][0] is None else int(rows[0][0])


def extraction_counts(connection: Connection) -> ExtractionCounts:
    """The numbers for `status`."""
    states: dict[str, int] = dict(
        execute(
            connection,
            "SELECT extraction, count(*) FROM block WHERE extraction <> 'done' GROUP BY 1",
        )
    )
    refused = execute(
        connection,
        "SELECT each.key, sum(each.value) FROM block, json_each(block.refused) AS each"
        " WHERE block.refused <> '{}' GROUP BY each.key ORDER BY each.key",
    )
    return ExtractionCounts(
        pending=states.get("pending", 0), parked=states.get("parked", 0), refused=dict(refused)
    )


def parked_blocks(connection: Connection, limit: int) -> list[dict[str, object]]:
    """Blocks that were given up, with their places and reasons."""
    rows = execute(
        connection,
        "SELECT root.name, note.path, line_from, line_to, parked_reason FROM block"
        " JOIN note ON note.id = note_id JOIN root ON root.id = root_id"
        " WHERE extraction = 'parked' ORDER BY note.path, line_from LIMIT ?",
        (limit,),
    )
    return [
        {"root": row[0], "path": row[1], "lines": [row[2], row[3]], "reason": row[4]}
        for row in rows
    ]


def cached_extraction(connection: Connection, key: bytes) -> str | None:
    """The result that was accepted for this very chunk, model and prompt."""
    rows = execute(connection, "SELECT result FROM extraction_cache WHERE key = ?", (key,))
    return str(rows[0][0]) if rows else None


class DeepWriter:
    """The writing side of the deep extraction; runs on the writer's thread."""

    def __init__(self, connection: Connection) -> None:
        """`connection` is the database's only writing one."""
        self._connection = connection

    def accept(
        self,
        block: ToExtract,
        facts: Sequence[DeepFact],
        *,
        extractor: str,
        refused: Mapping[str, int],
        cache_key: bytes,
        result: str,
        now_ms: int,
    ) -> bool:
        """Puts a model's facts in the place of the block's facts. False when the block has changed meanwhile."""
        with transaction(self._connection):
            execute(
                self._connection,
                "INSERT OR REPLACE INTO extraction_cache (key, result, used_at) VALUES (?, ?, ?)",
                (cache_key, result, now_ms),
            )
            same = execute(
                self._connection,
                "UPDATE block SET extraction = 'done', extractor = ?, attempts = 0,"
                " next_try = NULL, parked_reason = NULL, refused = ?"
                " WHERE id = ? AND text_hash = ? AND extraction <> 'done' RETURNING id",
                (extractor, json.dumps(dict(refused)), block.block_id, block.text_hash),
            )
            if same:
                self._replace_facts(block.block_id, facts, extractor, now_ms)
        return bool(same)

    def _replace_facts(
        self, block_id: BlockId, facts: Sequence[DeepFact], extractor: str, now_ms: int
    ) -> None:
        touched = touched_facts(self._connection, [block_id])
        execute(
            self._connection,
            "DELETE FROM fact_source WHERE passage_id IN (SELECT id FROM passage WHERE block_id = ?)",
            (block_id,),
        )
        for deep in facts:
            statement_id = add_statement(self._connection, deep.passage_id, deep.statement)
            touched.add(
                add_fact(
                    self._connection,
                    deep.fact,
                    statement_id=statement_id,
                    passage_id=deep.passage_id,
                    extractor=extractor,
                    now_ms=now_ms,
                )
            )
        drop_unused_statements(self._connection, block_id)
        retract_unsourced(self._connection, touched)
        restate(self._connection, touched)

    def postpone(
        self, block_id: BlockId, *, next_try_ms: int | None, counts_as_attempt: bool
    ) -> None:
        """Lets a block wait. An outage counts as no attempt."""
        with transaction(self._connection):
            execute(
                self._connection,
                "UPDATE block SET attempts = attempts + ?, next_try = ?"
                " WHERE id = ? AND extraction = 'pending'",
                (int(counts_as_attempt), next_try_ms, block_id),
            )

    def park(self, block: ToExtract, reason: str) -> None:
        """Gives a block up until its text, the model or the prompt changes; its facts stay."""
        with transaction(self._connection):
            execute(
                self._connection,
                "UPDATE block SET extraction = 'parked', parked_reason = ?, next_try = NULL"
                " WHERE id = ? AND text_hash = ? AND extraction = 'pending'",
                (reason, block.block_id, block.text_hash),
            )

    def queue_all(self, *, extractor: str, only_parked: bool = False) -> int:
        """Queues every block that another extractor than this model's made. Returns how many.

        Args:
            extractor: The model and prompt version in force. Kinds that rules alone read are left to them.
            only_parked: Queue just those that were given up.
        """
        parked = "extraction = 'parked'"
        other = f"(extraction = 'done' AND extractor <> :extractor) OR {parked}"
        with transaction(self._connection):
            rows = execute(
                self._connection,
                "UPDATE block SET extraction = 'pending', attempts = 0, next_try = NULL,"
                " parked_reason = NULL WHERE kind NOT IN ('front_matter', 'heading', 'fence')"
                f" AND ({parked if only_parked else other}) RETURNING 1",
                {} if only_parked else {"extractor": extractor},
            )
        return len(rows)

    def unqueue_all(self) -> None:
        """Nothing waits any more: there is no model, the rules' facts stand."""
        with transaction(self._connection):
            execute(
                self._connection,
                "UPDATE block SET extraction = 'done', next_try = NULL WHERE extraction = 'pending'",
            )
