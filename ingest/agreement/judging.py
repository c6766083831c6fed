"""Where rules can't tell how facts stand to each other, a model is asked: a few pairs for each fact, each once.

The pairs of several facts go into one call. What it says is kept, and comparison makes links of it. An outage uses
nothing up: the facts keep their turn. A pair of which it gives no answer that can be read, in company and alone, is
marked failed, and rules' silence stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ingest.agreement.links import asked_of, claim_of, standing, veto_between
from ingest.agreement.pairing import Pair, promising_pairs
from ingest.agreement.question import MOST_PAIRS, PROMPT_VERSION, answers_in, question, room_chars
from ingest.deep.trial import Trial
from recalld.errors import ModelError, PromptCut
from recalld.models.chat import ChatModel, ModelHealth, is_outage
from recalld.models.identity import mark_of, said_by
from recalld.models.replies import Rejected, read_json
from recalld.records import FactId
from recalld.store.agreement import resolutions
from recalld.store.connection import Connection, Database
from recalld.store.verdicts import (
    Told,
    ToldKind,
    in_force,
    next_to_judge,
    told_of,
)
from recalld.store.verdicts import judge_of as stored_judge
from recalld.store.writers import Writes

# Pairs that are asked about for one fact.
_MOST_OF_ONE = 3
# Facts looked at for one call; most need no question.
_LOOK_AHEAD = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What one step did. `nothing`: no fact's turn has come; `known`: nothing had to be asked."""

    outcome: Literal["nothing", "known", "asked"]
    pairs: int = 0
    refused: int = 0
    failed: int = 0


@dataclass(slots=True)
class _Batch:
    """What goes into one call."""

    facts: list[FactId] = field(default_factory=list)
    pairs: dict[frozenset[str], Pair] = field(default_factory=dict)
    chars: int = 0

    def add(self, fact_id: FactId, pairs: Sequence[Pair], room: int) -> bool:
        """Takes the pairs of a fact. False when there is no room for them beside what is there."""
        more = {frozenset(fact.uid for fact in pair): pair for pair in pairs}
        more = {uids: pair for uids, pair in more.items() if uids not in self.pairs}
        chars = sum(len(fact.text) for pair in more.values() for fact in pair)
        is_full = len(self.pairs) + len(more) > MOST_PAIRS or self.chars + chars > room
        if more and self.pairs and is_full:
            return False
        self.facts.append(fact_id)
        self.pairs |= more
        self.chars += chars
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Open:
    """Pairs that were never asked about, and such with an answer that needs no question."""

    new: tuple[Pair, ...]
    again: tuple[tuple[Pair, ToldKind], ...]


def judge_of(health: ModelHealth) -> str:
    """Model, weights and prompt version: other weights, or another prompt, are asked anew."""
    return mark_of(health, PROMPT_VERSION)


class JudgingStage:
    """Asks a model about facts that were compared, a call a step."""

    def __init__(
        self,
        *,
        database: Database,
        writes: Writes,
        model: ChatModel,
        answers: Callable[[], bool],
        now_ms: Callable[[], int],
        has_embedder: bool,
        trial: Trial | None = None,
    ) -> None:
        """`answers` says whether the model answers a tiny question now; `now_ms` is in ms since 1970.

        `trial` counts the model's useless answers, also those to other questions.

        With an embedder a fact waits for its vector, which tells what lies near it.
        """
        self._database = database
        self._writes = writes
        self._model = model
        self._answers = answers
        self._trial = trial or Trial(model)
        self._now_ms = now_ms
        self._has_embedder = has_embedder
        self._judge: str | None = None

    def queue_failed(self) -> int:
        """Has the pairs asked about again that came to nothing. Returns how many."""
        return self._writes.call(lambda writers: writers.verdicts.ask_failed_again())

    def step(self, judge: str) -> Judged:
        """Asks about the next facts that rules leave something open about, in one call.

        Args:
            judge: Model and prompt version (`judge_of`), by which answers are kept.

        Raises:
            ModelError: The model is away; what it said before is kept, and the facts keep their turn.
        """
        judge = self._adopted(judge)
        batch = self._gathered(judge)
        if batch.pairs:
            return self._ask(batch.facts, [*batch.pairs.values()], judge)
        self._done(batch.facts)
        return Judged(outcome="known" if batch.facts else "nothing")

    def _adopted(self, judge: str) -> str:
        """The judge as answers are kept under it: the same weights may have been asked under another name."""
        if self._judge is None or said_by(self._judge) != said_by(judge):
            with self._database.reader() as connection:
                former = stored_judge(connection)
            if former is None or said_by(former) != said_by(judge):
                self._writes.call(lambda writers: writers.verdicts.adopt(judge))
                former = judge
            self._judge = former
        return self._judge

    def _gathered(self, judge: str) -> _Batch:
        """The newest facts whose turn it is, with what is to be asked about them."""
        batch, room = _Batch(), room_chars(self._model.prompt_budget_chars)
        with_vectors = self._has_embedder and not self._database.vectors_problem
        known: list[tuple[Pair, ToldKind]] = []
        with self._database.reader() as connection:
            for fact_id in next_to_judge(connection, _LOOK_AHEAD, with_vectors=with_vectors):
                pairs = self._to_ask(connection, fact_id, judge)
                if not batch.add(fact_id, pairs.new, room):
                    break
                known += pairs.again
        for pair, kind in known:
            self._keep(pair, kind, judge)
        return batch

    def _to_ask(self, connection: Connection, fact_id: FactId, judge: str) -> _Open:
        """The pairs of a fact that count and that nobody spoke of, by whether this judge was asked before."""
        met = promising_pairs(connection, fact_id, with_vectors=not self._database.vectors_problem)
        uids = {fact.uid for one in met for fact in one.pair}
        told = told_of(connection, uids)
        spoken = {frozenset((word.one, word.other)) for word in resolutions(connection, uids)}
        silent = [one for one in met if frozenset(fact.uid for fact in one.pair) not in spoken]
        worth = [one.pair for one in silent if one.is_worth_a_question]
        new: list[Pair] = []
        again: list[tuple[Pair, ToldKind]] = []
        for pair in [pair for pair in worth if standing(*pair) == "open"][:_MOST_OF_ONE]:
            answers = [one for one in _answers_about(pair, told) if one.verdict != "met"]
            mine = in_force(one for one in answers if said_by(one.judge) == said_by(judge))
            if mine is None:
                new.append(pair)
            elif mine != in_force(answers):
                again.append((pair, mine))
        linked = [one.pair for one in silent if standing(*one.pair) == "linked"]
        again += [(pair, "met") for pair in linked if not _answers_about(pair, told)]
        return _Open(new=tuple(new), again=tuple(again))

    def _ask(self, facts: Sequence[FactId], pairs: Sequence[Pair], judge: str) -> Judged:
        answers = self._answered(pairs)
        refused = failed = 0
        if answers is not None:
            for place, kind in answers.items():
                refused += self._keep(pairs[place], kind, judge)
        left = [pair for place, pair in enumerate(pairs) if place not in (answers or {})]
        for pair in left:
            # A pair that spoils its company's answer is known by being asked about alone.
            alone = self._answered([pair]) if len(pairs) > 1 else None
            kind = (alone or {}).get(0, "failed")
            if kind == "failed":
                # In company and alone.
                self._trial.before_giving_up(min(len(pairs), 2))
                failed += 1
            refused += self._keep(pair, kind, judge)
        self._done(facts)
        return Judged(outcome="asked", pairs=len(pairs), refused=refused, failed=failed)

    def _answered(self, pairs: Sequence[Pair]) -> dict[int, ToldKind] | None:
        """The verdicts by place; None when what was asked made the call fail. A model of no use is away."""
        answers = self._verdicts(pairs)
        if answers:
            self._trial.useful()
        else:
            self._trial.useless("no usable answer about two facts")
        return answers

    def _verdicts(self, pairs: Sequence[Pair]) -> dict[int, ToldKind] | None:
        asked = question([(claim_of(one), claim_of(other)) for one, other in pairs])
        try:
            reply = self._model.complete(asked)
        except PromptCut:
            return None
        except ModelError as error:
            if not self._blames_text(error):
                raise
            return None
        read = read_json(reply.text)
        if reply.finished == "length" or isinstance(read, Rejected):
            return None
        return answers_in(read.value, len(pairs))

    def _blames_text(self, error: ModelError) -> bool:
        """Whether what was asked made the call fail: the model answers other questions at the same time."""
        if error.state in (None, "slow", "down"):
            return self._answers()
        return not is_outage(error)

    def _keep(self, pair: Pair, kind: ToldKind, judge: str) -> bool:
        """Keeps an answer at once, so that an outage costs no second call. Whether it is refused."""
        one, other = sorted(pair, key=lambda fact: fact.uid)
        refused = veto_between(one, other) if kind == "duplicate" else None
        told = Told(
            one=one.uid,
            other=other.uid,
            asked=asked_of(one, other),
            judge=judge,
            verdict=kind,
            refused=refused,
            told_at=self._now_ms(),
        )
        facts = (one.fact_id, other.fact_id)
        self._writes.call(lambda writers: writers.verdicts.keep(told, facts))
        return refused is not None

    def _done(self, facts: Sequence[FactId]) -> None:
        if facts:
            self._writes.call(lambda writers: writers.verdicts.done(facts))


def _answers_about(pair: Pair, told: Sequence[Told]) -> list[Told]:
    """What anybody said of a pair as it is now."""
    uids, asked = sorted(fact.uid for fact in pair), asked_of(*pair)
    return [one for one in told if [one.one, one.other] == uids and one.asked == asked]
