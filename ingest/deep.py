"""The deep tier: a language model reads blocks, and what is grounded replaces the rules' facts.

One step is one call of the model at most. The block table is the queue: an outage loses nothing and uses up no
attempt; what keeps failing is parked with its reason, and its rules' facts stay.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Literal

from ingest.keys import fact_keys
from ingest.plan import digest, embed_prefix, fact_uid, statement_words
from ingest.prompt import PROMPT_VERSION, SCHEMA, Piece, Prompt, chunk, prompt_for
from ingest.replied import BlockReply, Found, facts_of, judge
from recalld.errors import PermanentModelError, PromptCut, TransientModelError
from recalld.models.chat import ChatModel, ChatReply, ChatRequest, ModelHealth, is_outage
from recalld.models.replies import Rejected, read_json
from recalld.records import (
    BlockId,
    Category,
    DateInterval,
    Entity,
    ExtractedFact,
    ExtractedStatement,
    Lines,
    PassageId,
    Relation,
)
from recalld.store.changes import NewFact, NewStatement
from recalld.store.connection import Database
from recalld.store.deep import (
    DeepFact,
    ToExtract,
    cached_extraction,
    sentences_of_block,
    to_extract,
)
from recalld.store.writers import Writes
from retrieval.words import tokens

# Blocks looked at for one call.
_LOOK_AHEAD = 12
# An answer without facts for a text this long is asked for once more.
_SUSPICIOUS_LENGTH = 300
_MAX_ATTEMPTS = 3
_FIRST_PAUSE_MS = 30_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Deepened:
    """What one step did. `nothing`: no block's turn has come."""

    outcome: Literal["nothing", "cached", "accepted", "failed"]
    blocks: int = 0
    facts: int = 0
    refused: int = 0
    reason: str | None = None


def extractor_of(health: ModelHealth) -> str:
    """Model, weights and prompt version: facts by another one are stale."""
    return f"llm:{health.name}:{health.digest or ''}@{PROMPT_VERSION}"


class DeepStage:
    """Extracts facts with a model, a chunk a step."""

    def __init__(
        self,
        *,
        database: Database,
        writes: Writes,
        model: ChatModel,
        chunk_chars: int,
        now_ms: Callable[[], int],
    ) -> None:
        """`chunk_chars` is what one prompt may hold of note text."""
        self._database = database
        self._writes = writes
        self._model = model
        self._chunk_chars = chunk_chars
        self._now_ms = now_ms

    def queue(self, extractor: str, *, only_parked: bool = False) -> int:
        """Queues what `extractor` has not read yet. Returns how many blocks."""
        return self._writes.call(
            lambda writers: writers.deep.queue_all(extractor=extractor, only_parked=only_parked)
        )

    def step(self, extractor: str) -> Deepened:
        """Extracts the next chunk.

        Args:
            extractor: Model and prompt version (`extractor_of`), which facts are marked with.

        Raises:
            TransientModelError: the model is away; nothing is changed and no attempt used up.
        """
        with self._database.reader() as connection:
            waiting = to_extract(connection, _LOOK_AHEAD, self._now_ms())
        if not waiting:
            return Deepened(outcome="nothing")
        cached = self._use_cache(waiting, extractor)
        if cached:
            return cached
        blocks = chunk(waiting, self._chunk_chars)
        pieces = [piece for block in blocks for piece in _pieces(block, self._chunk_chars)]
        if len(blocks) == 1 and len(pieces) > 1:
            return self._extract_long(blocks[0], pieces, extractor)
        return self._extract(blocks, pieces, extractor)

    def _use_cache(self, waiting: Sequence[ToExtract], extractor: str) -> Deepened | None:
        for block in waiting:
            key = _cache_key(block, extractor)
            with self._database.reader() as connection:
                kept = cached_extraction(connection, key)
            if kept is not None:
                self._accept(block, _restored(kept), extractor)
                return Deepened(outcome="cached", blocks=1)
        return None

    def _extract(
        self, blocks: Sequence[ToExtract], pieces: Sequence[Piece], extractor: str
    ) -> Deepened:
        replies = self._ask(pieces)
        if isinstance(replies, str):
            return self._failed(blocks, replies)
        return self._take(blocks, replies, extractor)

    def _extract_long(self, block: ToExtract, pieces: Sequence[Piece], extractor: str) -> Deepened:
        """A block over the budget: each piece by itself, and nothing is accepted before the last."""
        found: dict[str, Found] = {}
        refused: dict[str, int] = {}
        for piece in pieces:
            replies = self._ask([piece])
            if isinstance(replies, str):
                return self._failed([block], replies)
            reply = replies[block.block_id]
            found |= {one.statement.casefold(): one for one in reply.found}
            for reason, count in reply.refused.items():
                refused[reason] = refused.get(reason, 0) + count
        whole = BlockReply(found=tuple(found.values()), refused=refused)
        return self._take([block], {block.block_id: whole}, extractor)

    def _ask(self, pieces: Sequence[Piece]) -> dict[BlockId, BlockReply] | str:
        """The judged answer for each block, or why there is none."""
        prompt = prompt_for(pieces)
        try:
            reply = self._model.complete(_request(prompt))
        except PromptCut:
            return "the prompt did not fit the model's context"
        except (TransientModelError, PermanentModelError) as error:
            if is_outage(error):
                raise
            return error.message
        return _judged(reply, pieces)

    def _take(
        self,
        blocks: Sequence[ToExtract],
        replies: dict[BlockId, BlockReply],
        extractor: str,
    ) -> Deepened:
        facts = refused = 0
        for block in blocks:
            reply = replies[block.block_id]
            doubt = _doubt(block, reply)
            if doubt is not None and block.attempts + 1 < _MAX_ATTEMPTS:
                self._postpone(block, attempt=True)
                continue
            if doubt == "refused":
                self._writes.call(
                    lambda writers, one=block: writers.deep.park(
                        one, "everything the model said was refused"
                    )
                )
                continue
            self._accept(block, reply, extractor)
            facts += len(reply.found)
            refused += sum(reply.refused.values())
        return Deepened(outcome="accepted", blocks=len(blocks), facts=facts, refused=refused)

    def _failed(self, blocks: Sequence[ToExtract], reason: str) -> Deepened:
        """A useless answer: the blocks go one by one next time, and are parked after the last try."""
        for block in blocks:
            alone = len(blocks) == 1
            if alone and block.attempts + 1 >= _MAX_ATTEMPTS:
                self._writes.call(lambda writers, one=block: writers.deep.park(one, reason))
            else:
                self._postpone(block, attempt=True, soon=not alone)
        return Deepened(outcome="failed", blocks=len(blocks), reason=reason)

    def _postpone(self, block: ToExtract, *, attempt: bool, soon: bool = False) -> None:
        pause = 0 if soon else _FIRST_PAUSE_MS * 2**block.attempts
        next_try = self._now_ms() + pause
        self._writes.call(
            lambda writers: writers.deep.postpone(
                block.block_id, next_try_ms=next_try, counts_as_attempt=attempt
            )
        )

    def _accept(self, block: ToExtract, reply: BlockReply, extractor: str) -> None:
        with self._database.reader() as connection:
            sentences = sentences_of_block(connection, block.block_id)
        if not sentences:
            return
        facts = [_deep_fact(block, found, sentences) for found in reply.found]
        now_ms = self._now_ms()
        self._writes.call(
            lambda writers: writers.deep.accept(
                block,
                facts,
                extractor=extractor,
                refused=reply.refused,
                cache_key=_cache_key(block, extractor),
                result=_kept(reply),
                now_ms=now_ms,
            )
        )


def _doubt(block: ToExtract, reply: BlockReply) -> Literal["empty", "refused"] | None:
    """Why an answer should be asked for again: nothing from a long text, or nothing that holds."""
    if reply.found:
        return None
    if reply.said:
        return "refused"
    return "empty" if len(block.text) > _SUSPICIOUS_LENGTH and block.attempts == 0 else None


def _request(prompt: Prompt) -> ChatRequest:
    return ChatRequest(
        system=prompt.system, user=prompt.user, schema=SCHEMA, max_tokens=prompt.max_tokens
    )


def _judged(reply: ChatReply, pieces: Sequence[Piece]) -> dict[BlockId, BlockReply] | str:
    if reply.finished == "length":
        return "the answer did not come to an end"
    read = read_json(reply.text)
    if isinstance(read, Rejected):
        return f"the answer is no usable JSON ({read.reason})"
    facts = facts_of(read.value)
    if facts is None:
        return "the answer has no list of facts"
    return judge(facts, pieces)


def _pieces(block: ToExtract, budget: int) -> list[Piece]:
    """The block whole, or cut at line ends into parts that fit."""
    if len(block.text) <= budget:
        return [Piece(block=block, text=block.text)]
    parts: list[str] = [""]
    for line in block.text.splitlines(keepends=True):
        for start in range(0, len(line), budget):
            piece = line[start : start + budget]
            if len(parts[-1]) + len(piece) > budget:
                parts.append("")
            parts[-1] += piece
    return [Piece(block=block, text=part) for part in parts if part.strip()]


def _cache_key(block: ToExtract, extractor: str) -> bytes:
    return digest(
        block.text, block.title, *block.heading_path, block.lead_in, block.dated or "", extractor
    )


def _deep_fact(
    block: ToExtract, found: Found, sentences: Sequence[tuple[PassageId, str, Lines]]
) -> DeepFact:
    """A found fact at the sentence of its block that shares most words with it."""
    words = set(tokens(found.statement))
    passage_id, _, lines = max(sentences, key=lambda one: len(words & set(tokens(one[1]))))
    extracted = ExtractedFact(
        text=found.statement,
        lines=lines,
        category=found.category,
        confidence=found.confidence,
        happened=found.happened,
    )
    statement = ExtractedStatement(text=found.statement, lines=lines)
    prefix = embed_prefix("", block.heading_path)
    return DeepFact(
        passage_id=passage_id,
        statement=NewStatement(
            text=found.statement,
            words=statement_words(block.title, block.heading_path, statement),
            lines=lines,
            embed_prefix=prefix,
            embed_hash=digest(prefix, found.statement),
            facts=(),
        ),
        fact=NewFact(
            uid=fact_uid(extracted, block.title, block.heading_path),
            text=found.statement,
            lines=lines,
            category=found.category,
            confidence=found.confidence,
            entities=found.entities,
            relations=found.relations,
            happened=found.happened,
            keys=fact_keys(found.statement),
        ),
    )


def _kept(reply: BlockReply) -> str:
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


def _restored(kept: str) -> BlockReply:
    value = json.loads(kept)
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
