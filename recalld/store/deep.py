"""The queue of the deep extraction, and writing what a model found in a block.

The block table is the queue: it survives any crash. A result for a text that has changed meanwhile is dropped; the
rules' facts of a block stay until a model's valid result comes, and then those that it does not say; all in one
transaction.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recalld.records import BlockId, BlockKind, DateInterval, Lines, NoteId, PassageId, StatementId
from recalld.store.changes import NewFact, NewStatement
from recalld.store.connection import Connection, execute, transaction
from recalld.store.facts import add_fact, restate, settle_facts, touched_facts
from recalld.store.statements import add_statement, drop_unused_statements, renumber_wordings

# What these say is for rules alone: fields, headings that stand above what they name, and code.
_RULES_ALONE = (BlockKind.FRONT_MATTER, BlockKind.HEADING, BlockKind.FENCE)


def first_state(kind: BlockKind) -> str:
    """The state of extraction in which a block of this kind begins."""
    return "done" if kind in _RULES_ALONE else "pending"


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
    # As shown: the note's own, else its file's name.
    title: str
    # The note's own, where it says more than a date.
    said_title: str = ""
    # ISO day the note is from, None when it says none.
    dated: str | None
    attempts: int
    lines: Lines


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockSentence:
    """A sentence of a block, as rules read it."""

    passage_id: PassageId
    text: str
    # Relative to the block.
    lines: Lines
    # 0..1
    importance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesFact:
    """A fact that the rules found in a block, whether it stands now or a model's facts say it."""

    uid: str
    statement_id: StatementId
    text: str
    happened: DateInterval | None


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
    # Facts of the rules that stand beside a model's.
    beside: int


def to_extract(connection: Connection, limit: int, now_ms: int) -> list[ToExtract]:
    """Blocks whose turn it is: those that never failed first, then by the time of their note's last change."""
    rows = execute(
        connection,
        "SELECT block.id, note_id, kind, text, text_hash, heading_path, lead_in, title, dated,"
        " attempts, line_from, line_to, said_title FROM block JOIN note ON note.id = note_id"
        # `<> 'done'` is said as the partial index says it, or SQLite would read every block.
        " WHERE extraction <> 'done' AND extraction = 'pending' AND coalesce(next_try, 0) <= ?"
        " ORDER BY attempts, changed_at DESC, note_id, ordinal LIMIT ?",
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
            said_title=row[12],
        )
        for row in rows
    ]


def sentences_of_block(connection: Connection, block_id: BlockId) -> list[BlockSentence]:
    """A block's own sentences, in order."""
    rows = execute(
        connection,
        "SELECT passage_id, statement.text, statement.line_from, statement.line_to, importance"
        " FROM passage JOIN statement ON passage_id = passage.id"
        " WHERE block_id = ? AND of_fact = 0 ORDER BY position, ordinal",
        (block_id,),
    )
    return [
        BlockSentence(
            passage_id=PassageId(row[0]),
            text=row[1],
            lines=Lines(first=row[2], last=row[3]),
            importance=row[4],
        )
        for row in rows
    ]


def rules_facts_of_block(connection: Connection, block_id: BlockId) -> list[RulesFact]:
    """What the rules found in a block, in the order of its text."""
    rows = execute(
        connection,
        "WITH found AS MATERIALIZED (SELECT statement_id, uid, line_from, wording, happened_from,"
        " happened_to FROM rules_source"
        " WHERE passage_id IN (SELECT id FROM passage WHERE block_id = :block)"
        " UNION ALL SELECT statement_id, fact.uid, line_from, wording, happened_from, happened_to"
        " FROM fact_source JOIN fact ON fact.id = fact_id"
        " WHERE passage_id IN (SELECT id FROM passage WHERE block_id = :block)"
        " AND (SELECT beside FROM block WHERE id = :block) IS NULL)"
        " SELECT found.uid, statement_id, wording ->> 0, happened_from, happened_to FROM found"
        " JOIN statement ON statement.id = statement_id JOIN passage ON passage.id = passage_id"
        " ORDER BY position, ordinal, found.line_from, found.uid",
        {"block": block_id},
    )
    return [
        RulesFact(
            uid=row[0],
            statement_id=StatementId(row[1]),
            text=row[2],
            happened=DateInterval.from_iso(row[3], row[4]),
        )
        for row in rows
    ]


def passages_of_block(connection: Connection, block_id: BlockId) -> list[str]:
    """The texts of a block's passages, in order."""
    rows = execute(
        connection, "SELECT text FROM passage WHERE block_id = ? ORDER BY position", (block_id,)
    )
    return [row[0] for row in rows]


def next_try_ms(connection: Connection) -> int | None:
    """When the next waiting block may be tried, in ms since 1970; None when none waits."""
    rows = execute(
        connection,
        "SELECT min(coalesce(next_try, 0)) FROM block"
        " WHERE extraction <> 'done' AND extraction = 'pending'",
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
    beside = execute(connection, "SELECT coalesce(sum(beside), 0) FROM block WHERE beside > 0")
    return ExtractionCounts(
        pending=states.get("pending", 0),
        parked=states.get("parked", 0),
        refused=dict(refused),
        beside=beside[0][0],
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


def extractors(connection: Connection) -> list[str]:
    """Everybody by whom blocks were read: rules of each version, models."""
    return [row[0] for row in execute(connection, "SELECT DISTINCT extractor FROM block")]


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
        beside: Sequence[RulesFact] = (),
        extractor: str,
        refused: Mapping[str, int],
        cache_key: bytes,
        result: str,
        now_ms: int,
    ) -> bool:
        """Puts a model's facts, and `beside` them those of the rules that they do not say, in the place of the block's.

        False when the block has changed meanwhile.
        """
        with transaction(self._connection):
            self._cache(cache_key, result, now_ms)
            self._set_rules_facts_aside(block)
            same = execute(
                self._connection,
                "UPDATE block SET extraction = 'done', extractor = :extractor, attempts = 0,"
                " next_try = NULL, parked_reason = NULL, refused = :refused, beside = :beside"
                " WHERE id = :id AND text_hash = :hash AND extraction <> 'done' RETURNING id",
                {
                    "extractor": extractor,
                    "refused": json.dumps(dict(refused)),
                    "beside": len(beside),
                    "id": block.block_id,
                    "hash": block.text_hash,
                },
            )
            if same:
                self._replace_facts(block.block_id, facts, beside, extractor, now_ms)
        return bool(same)

    def keep(self, cache_key: bytes, result: str, now_ms: int) -> None:
        """Keeps the result of a part of a long block, so that an outage costs no second call for it."""
        with transaction(self._connection):
            self._cache(cache_key, result, now_ms)

    def _cache(self, key: bytes, result: str, now_ms: int) -> None:
        execute(
            self._connection,
            "INSERT OR REPLACE INTO extraction_cache (key, result, used_at) VALUES (?, ?, ?)",
            (key, result, now_ms),
        )

    def _set_rules_facts_aside(self, block: ToExtract) -> None:
        """Copies a block's facts to where the rules' are kept, unless a model has read it before."""
        execute(
            self._connection,
            "INSERT INTO rules_source (statement_id, uid, passage_id, line_from, line_to, wording,"
            " happened_from, happened_to) SELECT statement_id, fact.uid, passage_id,"
            " fact_source.line_from, fact_source.line_to, wording, happened_from, happened_to"
            " FROM block JOIN passage ON block_id = block.id"
            " JOIN fact_source ON passage_id = passage.id JOIN fact ON fact.id = fact_id"
            " WHERE block.id = ? AND text_hash = ? AND extraction <> 'done' AND beside IS NULL",
            (block.block_id, block.text_hash),
        )

    def _replace_facts(
        self,
        block_id: BlockId,
        facts: Sequence[DeepFact],
        beside: Sequence[RulesFact],
        extractor: str,
        now_ms: int,
    ) -> None:
        lost = touched_facts(self._connection, [block_id])
        execute(
            self._connection,
            "DELETE FROM fact_source WHERE passage_id IN (SELECT id FROM passage WHERE block_id = ?)",
            (block_id,),
        )
        for one in beside:
            self._put_back(one, now_ms)
        touched = lost | touched_facts(self._connection, [block_id])
        worded: dict[PassageId, dict[int, None]] = {}
        for deep in facts:
            statement_id = add_statement(self._connection, deep.passage_id, deep.statement)
            worded.setdefault(deep.passage_id, {})[statement_id] = None
            touched.add(
                add_fact(
                    self._connection,
                    deep.fact,
                    statement_id=statement_id,
                    passage_id=deep.passage_id,
                    extractor=extractor,
                    now_ms=now_ms,
                    by_model=True,
                )
            )
        drop_unused_statements(self._connection, block_id)
        for statements in worded.values():
            renumber_wordings(self._connection, list(statements))
        settle_facts(self._connection, touched, lost=lost)
        restate(self._connection, touched)

    def _put_back(self, one: RulesFact, now_ms: int) -> None:
        """States a fact of the rules at its place again, as it was there."""
        key = {"statement": one.statement_id, "uid": one.uid, "now": now_ms}
        execute(
            self._connection,
            "INSERT INTO fact (uid, text, category, category_by, confidence, happened_from,"
            " happened_to, extractor, created_at) SELECT rules_source.uid, '', 'knowledge',"
            " 'undecided', 0, happened_from, happened_to, note.extractor, :now FROM rules_source"
            " JOIN passage ON passage.id = passage_id JOIN note ON note.id = note_id"
            " WHERE statement_id = :statement AND rules_source.uid = :uid"
            " ON CONFLICT (uid) DO NOTHING",
            key,
        )
        execute(
            self._connection,
            "INSERT OR IGNORE INTO fact_source (fact_id, statement_id, passage_id, line_from,"
            " line_to, wording) SELECT fact.id, statement_id, passage_id, line_from, line_to,"
            " wording FROM rules_source JOIN fact ON fact.uid = rules_source.uid"
            " WHERE statement_id = :statement AND rules_source.uid = :uid",
            {"statement": one.statement_id, "uid": one.uid},
        )

    def postpone(self, block: ToExtract, *, next_try_ms: int) -> None:
        """Uses up an attempt of a block, and lets it wait until then."""
        with transaction(self._connection):
            execute(
                self._connection,
                "UPDATE block SET attempts = attempts + 1, next_try = ?"
                " WHERE id = ? AND text_hash = ? AND extraction = 'pending'",
                (next_try_ms, block.block_id, block.text_hash),
            )

    def park(
        self, block: ToExtract, reason: str, *, extractor: str, refused: Mapping[str, int]
    ) -> None:
        """Gives a block up until its text, the model or the prompt changes; its facts stay."""
        with transaction(self._connection):
            execute(
                self._connection,
                "UPDATE block SET extraction = 'parked', parked_reason = ?, next_try = NULL,"
                " extractor = ?, refused = ? WHERE id = ? AND text_hash = ? AND extraction = 'pending'",
                (reason, extractor, json.dumps(dict(refused)), block.block_id, block.text_hash),
            )

    def rename(self, former: Sequence[str], extractor: str) -> None:
        """Calls what these extractors read this one's: they are the same one."""
        names = {"former": json.dumps(list(former)), "extractor": extractor}
        with transaction(self._connection):
            for table in ("block", "fact"):
                execute(
                    self._connection,
                    f"UPDATE {table} SET extractor = :extractor"
                    " WHERE extractor IN (SELECT value FROM json_each(:former))",
                    names,
                )

    def queue_others(self, extractor: str) -> int:
        """Queues what another extractor than this model and prompt read or gave up. Returns how many blocks."""
        return self._queue("extraction <> 'pending' AND extractor <> :extractor", extractor)

    def queue_parked(self) -> int:
        """Queues every block that was given up. Returns how many."""
        return self._queue("extraction <> 'done' AND extraction = 'parked'", "")

    def _queue(self, which: str, extractor: str) -> int:
        kinds = ", ".join(f"'{kind.value}'" for kind in _RULES_ALONE)
        with transaction(self._connection):
            rows = execute(
                self._connection,
                "UPDATE block SET extraction = 'pending', attempts = 0, next_try = NULL,"
                f" parked_reason = NULL WHERE kind NOT IN ({kinds}) AND {which} AND EXISTS"
                " (SELECT 1 FROM passage WHERE block_id = block.id) RETURNING 1",
                {"extractor": extractor},
            )
        return len(rows)

    def prune_cache(self, older_than_ms: int, keep: int) -> int:
        """Drops cached results last used before, and all beyond the newest `keep`. Returns how many."""
        with transaction(self._connection):
            rows = execute(
                self._connection,
                "DELETE FROM extraction_cache WHERE used_at < :old OR key NOT IN"
                " (SELECT key FROM extraction_cache ORDER BY used_at DESC LIMIT :keep) RETURNING 1",
                {"old": older_than_ms, "keep": keep},
            )
        return len(rows)
