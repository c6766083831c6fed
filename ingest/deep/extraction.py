"""The deep tier: a language model reads blocks, and what is grounded takes the place of the rules' facts that it says.

The block table is the queue: an outage loses nothing and uses up no attempt. A call that fails while the model
answers other questions is the text's fault: it is tried alone, then in pieces, then parked with the reason, and its
rules' facts stay.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ingest.deep.covering import bare, unsaid
from ingest.deep.dating import tells_date
from ingest.deep.mentions import all_named
from ingest.deep.prompt import (
    PROMPT_VERSION,
    SCHEMA,
    Piece,
    Prompt,
    chunk,
    fits_examples,
    halved,
    parts_of,
    prompt_for,
    room_chars,
)
from ingest.deep.replied import BlockReply, Found, facts_of, joined, judge
from ingest.deep.reuse import cache_key, former_keys, kept_answer, reused
from ingest.deep.trial import Trial
from ingest.plan import digest, embed_prefix, fact_uid, statement_words
from ingest.rules.facts import stands_alone
from recalld.errors import ModelError, PromptCut
from recalld.models.chat import ChatModel, ChatReply, ChatRequest, ModelHealth, is_outage
from recalld.models.identity import mark_of, said_by
from recalld.models.replies import Rejected, read_json
from recalld.records import (
    BlockId,
    DateInterval,
    ExtractedFact,
    ExtractedStatement,
)
from recalld.store.changes import NewFact, NewStatement
from recalld.store.connection import Connection, Database
from recalld.store.deep import (
    BlockSentence,
    DeepFact,
    RulesFact,
    ToExtract,
    cached_extraction,
    extractors,
    next_try_ms,
    passages_of_block,
    rules_facts_of_block,
    sentences_of_block,
    to_extract,
)
from recalld.store.writers import Writes
from retrieval.text.words import tokens

# Blocks looked at for one call.
_LOOK_AHEAD = 24
# An answer without facts for a text this long is asked for once more.
_SUSPICIOUS_LENGTH = 300
# The first try is with the blocks round it, the second alone, the third in pieces; both without examples.
_MAX_ATTEMPTS = 3
_IN_PIECES = 2
# Facts that do not hold are not worth a third try.
_MAX_REFUSED = 2
_FIRST_PAUSE_MS = 500
_NOTHING_HOLDS = "nothing that the model said holds"
# A model that copies what is no statement, such as an embed or a lead-in, has found nothing: there may be nothing.
_SAYS_NOTHING = frozenset(("fragment", "task"))

_PROBE = ChatRequest(
    system="You answer with JSON.",
    user='Answer {"facts": []}.',
    schema=SCHEMA,
    max_tokens=32,
    is_private=False,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deepened:
    """What one step did. `nothing`: no block's turn has come."""

    outcome: Literal["nothing", "cached", "accepted", "failed"]
    blocks: int = 0
    facts: int = 0
    refused: int = 0
    reason: str | None = None
    # What a server said of a text that it refused, which it may have quoted: for the debug log alone.
    said: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Useless:
    """Why there is no answer to work with; `too_long`: a smaller piece may get one."""

    reason: str
    too_long: bool = False
    said: str | None = None


_Replies = Mapping[BlockId, BlockReply]


def extractor_of(health: ModelHealth) -> str:
    """Model, weights and prompt version: facts by other weights, or another prompt, are stale."""
    return mark_of(health, PROMPT_VERSION)


class DeepStage:
    """Extracts facts with a model, a chunk a step."""

    def __init__(
        self,
        *,
        database: Database,
        writes: Writes,
        model: ChatModel,
        now_ms: Callable[[], int],
    ) -> None:
        """`now_ms` is in milliseconds since 1970."""
        self._database = database
        self._writes = writes
        self._model = model
        self._now_ms = now_ms
        self.trial = Trial(model)

    def queue_others(self, extractor: str) -> int:
        """Queues what another extractor read or gave up. Returns how many blocks.

        What the same weights read under another name counts as this one's.
        """
        with self._database.reader() as connection:
            same = [one for one in extractors(connection) if said_by(one) == said_by(extractor)]
        others = [one for one in same if one != extractor]
        if others:
            self._writes.call(lambda writers: writers.deep.rename(others, extractor))
        return self._writes.call(lambda writers: writers.deep.queue_others(extractor))

    def queue_parked(self) -> int:
        """Queues what was given up. Returns how many blocks."""
        return self._writes.call(lambda writers: writers.deep.queue_parked())

    def next_try_ms(self) -> int | None:
        """When the next block's turn comes, in ms since 1970; None when none waits."""
        with self._database.reader() as connection:
            return next_try_ms(connection)

    def answers(self) -> bool:
        """Whether the model answers a tiny question now."""
        try:
            self._model.complete(_PROBE)
        except ModelError:
            return False
        return True

    def step(self, extractor: str) -> Deepened:
        """Extracts the next chunk.

        Args:
            extractor: Model and prompt version (`extractor_of`), which facts are marked with.

        Raises:
            ModelError: The model is away; nothing is changed and no attempt used up.
        """
        with self._database.reader() as connection:
            waiting = to_extract(connection, _LOOK_AHEAD, self._now_ms())
        if not waiting:
            return Deepened(outcome="nothing")
        cached = self._use_cache(waiting, extractor)
        if cached:
            return cached
        room = room_chars(self._model.prompt_budget_chars)
        blocks = chunk(waiting, room)
        if len(blocks[0].text) > room or blocks[0].attempts >= _IN_PIECES:
            return self._extract_pieces(blocks[0], extractor, room)
        return self._extract(blocks, extractor)

    def _use_cache(self, waiting: Sequence[ToExtract], extractor: str) -> Deepened | None:
        with self._database.reader() as connection:
            known = [(block, _known(connection, _whole(block), extractor)) for block in waiting]
        used = [(block, reply) for block, reply in known if reply is not None]
        for block, reply in used:
            self._accept(block, reply, extractor)
        return Deepened(outcome="cached", blocks=len(used)) if used else None

    def _extract(self, blocks: Sequence[ToExtract], extractor: str) -> Deepened:
        """Some blocks in one call; fewer where the model reads less."""
        pieces = [_whole(block) for block in blocks]
        replies = self._ask(pieces)
        if not isinstance(replies, _Useless):
            return self._take(blocks, replies, extractor)
        if replies.too_long and len(blocks) > 1:
            return self._extract(blocks[: len(blocks) // 2], extractor)
        if replies.too_long:
            return self._extract_pieces(blocks[0], extractor, len(blocks[0].text) // 2)
        return self._failed(blocks, replies, extractor)

    def _extract_pieces(self, block: ToExtract, extractor: str, room: int) -> Deepened:
        """A long or difficult block: each piece by itself, and nothing is accepted before the last."""
        with self._database.reader() as connection:
            passages = passages_of_block(connection, block.block_id)
        if block.attempts >= _IN_PIECES:
            room = min(room, max(len(block.text) // 2, 1))
        waiting = deque(parts_of(block, passages, room))
        replies: list[BlockReply] = []
        while waiting:
            piece = waiting.popleft()
            reply = self._ask_piece(piece, extractor)
            halves = halved(piece) if isinstance(reply, _Useless) and reply.too_long else None
            if halves:
                waiting.extendleft(reversed(halves))
            elif isinstance(reply, _Useless):
                return self._failed([block], reply, extractor)
            else:
                replies.append(reply)
        return self._take([block], {block.block_id: joined(replies)}, extractor)

    def _ask_piece(self, piece: Piece, extractor: str) -> BlockReply | _Useless:
        """The answer for a piece of a block, kept at once: an outage before the last one costs no second call."""
        with self._database.reader() as connection:
            known = _known(connection, piece, extractor)
        if known is not None:
            return known
        replies = self._ask([piece])
        if isinstance(replies, _Useless):
            return replies
        reply = replies[piece.block.block_id]
        if piece.text == piece.block.text:
            # The whole block's result is kept when it is accepted, not before.
            return reply
        key, result, now_ms = cache_key(piece, extractor), kept_answer(reply, piece), self._now_ms()
        self._writes.call(lambda writers: writers.deep.keep(key, result, now_ms))
        return reply

    def _ask(self, pieces: Sequence[Piece]) -> _Replies | _Useless:
        """The judged answer for each block, or why there is none; a model of no use is away."""
        replies = self._judged_reply(pieces)
        if isinstance(replies, _Useless):
            self.trial.useless(replies.reason)
        elif any(reply.found for reply in replies.values()):
            self.trial.useful()
        elif any(reply.said for reply in replies.values()):
            self.trial.useless(_NOTHING_HOLDS)
        return replies

    def _judged_reply(self, pieces: Sequence[Piece]) -> _Replies | _Useless:
        small = not fits_examples(self._model.prompt_budget_chars)
        prompt = prompt_for(pieces, plain=small or pieces[0].block.attempts > 0)
        try:
            reply = self._model.complete(_request(prompt))
        except PromptCut as error:
            return _Useless(reason=error.message, too_long=True)
        except ModelError as error:
            if not self._blames_text(error):
                raise
            return _Useless(reason=error.message, said=error.said)
        return _judged(reply, pieces)

    def _blames_text(self, error: ModelError) -> bool:
        """Whether what was asked made the call fail: the model answers other questions at the same time.

        Raises:
            ModelError: It does not; what the server says of a question of ours may be told.
        """
        if error.state in (None, "slow", "down"):
            try:
                self._model.complete(_PROBE)
            except ModelError as other:
                raise other from error
            return True
        return not is_outage(error)

    def _take(self, blocks: Sequence[ToExtract], replies: _Replies, extractor: str) -> Deepened:
        facts = refused = 0
        for block in blocks:
            reply = replies[block.block_id]
            doubt = _doubt(block, reply)
            refused += sum(reply.refused.values())
            if doubt == "refused" and block.attempts + 1 >= _MAX_REFUSED:
                self.trial.before_giving_up(block.attempts + 1)
                self._park(block, _NOTHING_HOLDS, extractor, reply.refused)
            elif doubt is not None:
                self._postpone(block)
            else:
                self._accept(block, reply, extractor)
                facts += len(reply.found)
        return Deepened(outcome="accepted", blocks=len(blocks), facts=facts, refused=refused)

    def _failed(self, blocks: Sequence[ToExtract], useless: _Useless, extractor: str) -> Deepened:
        """A useless answer: the blocks go one by one next time, and are parked after the last try."""
        for block in blocks:
            if block.attempts + 1 >= _MAX_ATTEMPTS:
                self.trial.before_giving_up(block.attempts + 1)
                self._park(block, useless.reason, extractor, {})
            else:
                self._postpone(block)
        return Deepened(
            outcome="failed", blocks=len(blocks), reason=useless.reason, said=useless.said
        )

    def _postpone(self, block: ToExtract) -> None:
        next_try = self._now_ms() + _FIRST_PAUSE_MS * 2**block.attempts
        self._writes.call(lambda writers: writers.deep.postpone(block, next_try_ms=next_try))

    def _park(
        self, block: ToExtract, reason: str, extractor: str, refused: Mapping[str, int]
    ) -> None:
        self._writes.call(
            lambda writers: writers.deep.park(block, reason, extractor=extractor, refused=refused)
        )

    def _accept(self, block: ToExtract, reply: BlockReply, extractor: str) -> None:
        with self._database.reader() as connection:
            sentences = sentences_of_block(connection, block.block_id)
            rules = rules_facts_of_block(connection, block.block_id)
        said = [found.statement for found in reply.found]
        beside = [rules[place] for place in unsaid([one.text for one in rules], said)]
        known = bare(said, [one.text for one in beside])
        facts = [
            _deep_fact(block, found, sentences, rules)
            for found in reply.found
            if sentences and found.statement not in known
        ]
        now_ms = self._now_ms()
        self._writes.call(
            lambda writers: writers.deep.accept(
                block,
                facts,
                beside=beside,
                extractor=extractor,
                refused=reply.refused,
                cache_key=cache_key(_whole(block), extractor),
                result=kept_answer(reply, _whole(block)),
                now_ms=now_ms,
            )
        )


def _doubt(block: ToExtract, reply: BlockReply) -> Literal["empty", "refused"] | None:
    """Why an answer should be asked for again: nothing from a long text, or nothing that holds."""
    if reply.found:
        return None
    if reply.said and not reply.refused.keys() <= _SAYS_NOTHING:
        return "refused"
    return "empty" if len(block.text) > _SUSPICIOUS_LENGTH and block.attempts == 0 else None


def _request(prompt: Prompt) -> ChatRequest:
    return ChatRequest(
        system=prompt.system, user=prompt.user, schema=SCHEMA, max_tokens=prompt.max_tokens
    )


def _judged(reply: ChatReply, pieces: Sequence[Piece]) -> _Replies | _Useless:
    if reply.finished == "length":
        return _Useless(reason="the answer did not come to an end")
    read = read_json(reply.text)
    if isinstance(read, Rejected):
        return _Useless(reason=f"the answer is no usable JSON ({read.reason})")
    facts = facts_of(read.value)
    if facts is None:
        return _Useless(reason="the answer has no list of facts")
    return judge(facts, pieces)


def _whole(block: ToExtract) -> Piece:
    return Piece(block=block, text=block.text)


def _known(connection: Connection, piece: Piece, extractor: str) -> BlockReply | None:
    """What the model said of a piece before, under its present key or an earlier version's, where it still holds."""
    for key in (cache_key(piece, extractor), *former_keys(piece, extractor)):
        result = cached_extraction(connection, key)
        reply = reused(result, piece) if result is not None else None
        if reply is not None:
            return reply
    return None


def _days_of(found: Found, rules: Sequence[RulesFact]) -> DateInterval | None:
    """When a found fact happened: as its own words say, else as the rules read the sentence that it comes from.

    They know the day that "yesterday" counts from in a note without a date, and what a heading says of all below it.
    """
    words = set(tokens(found.statement))
    source = max(rules, key=lambda one: len(words & set(tokens(one.text))), default=None)
    if found.happened is not None or source is None:
        return found.happened
    is_told = tells_date(found.statement) or not tells_date(source.text)
    return source.happened if is_told else None


def _deep_fact(
    block: ToExtract,
    found: Found,
    sentences: Sequence[BlockSentence],
    rules: Sequence[RulesFact],
) -> DeepFact:
    """A found fact at the sentence of its block that shares most words with it, and as important.

    One with the very words of a fact of the rules is that fact.
    """
    words = set(tokens(found.statement))
    nearest = max(sentences, key=lambda one: len(words & set(tokens(one.text))))
    lines = nearest.lines
    happened = _days_of(found, rules)
    extracted = ExtractedFact(
        text=found.statement,
        lines=lines,
        category=found.category,
        confidence=found.confidence,
        happened=happened,
        stands_alone=stands_alone(found.statement),
    )
    statement = ExtractedStatement(text=found.statement, lines=lines)
    prefix = embed_prefix("", block.heading_path)
    return DeepFact(
        passage_id=nearest.passage_id,
        statement=NewStatement(
            text=found.statement,
            words=statement_words(block.title, block.heading_path, statement),
            lines=lines,
            embed_prefix=prefix,
            embed_hash=digest(prefix, found.statement),
            facts=(),
            importance=nearest.importance,
        ),
        fact=NewFact(
            uid=next(
                (r.uid for r in rules if (r.text, r.happened) == (found.statement, happened)),
                fact_uid(extracted, block.title, block.heading_path),
            ),
            text=found.statement,
            lines=lines,
            category=found.category,
            confidence=found.confidence,
            entities=all_named(
                found.entities,
                found.statement,
                sentence=nearest.text,
                block=block.text,
                title=block.title,
            ),
            relations=found.relations,
            happened=happened,
            importance=nearest.importance,
        ),
    )
