"""Where rules can't tell how facts stand to each other, a model is asked: a few pairs for each fact, each once.

What it says is kept, and comparison makes links of it. An outage uses nothing up: the fact keeps its turn. A pair of
which it gives no answer that can be read, in company and alone, is marked failed, and rules' silence stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from ingest.agreement.keys import Profile, profile, unpacked
from ingest.agreement.links import asked_of, claim_of, series_of, standing, veto_between
from ingest.agreement.question import PROMPT_VERSION, answers_in, question
from recalld.errors import ModelError, PromptCut
from recalld.models.chat import ChatModel, ModelHealth, is_outage
from recalld.models.replies import Rejected, read_json
from recalld.records import FactId
from recalld.store.agreement import Comparable, comparables, resolutions
from recalld.store.connection import Connection, Database
from recalld.store.succession import crowded
from recalld.store.verdicts import (
    Told,
    ToldKind,
    alike_in_words,
    in_force,
    naming_the_same,
    near_in_meaning,
    next_to_judge,
    told_of,
)
from recalld.store.writers import Writes

# Pairs that are asked about for one fact, and what is looked at to find them in each way.
_MOST_PAIRS = 4
_LOOKED_AT = 8
# Of all words that either of two facts has; what shares less is asked about only where names or vectors lead to it.
_LEAST_SHARE = 0.25
# Facts that need no question, looked at in one step.
_LOOK_AHEAD = 20

_Pair = tuple[Comparable, Comparable]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What one step did. `nothing`: no fact's turn has come; `known`: nothing had to be asked."""

    outcome: Literal["nothing", "known", "asked"]
    pairs: int = 0
    refused: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Open:
    """Pairs that were never asked about, and such with an answer that needs no question."""

    new: tuple[_Pair, ...]
    again: tuple[tuple[_Pair, ToldKind], ...]


def judge_of(health: ModelHealth) -> str:
    """Model, weights and prompt version: another one is asked anew."""
    return f"llm:{health.name}:{(health.digest or '')[:12]}@{PROMPT_VERSION}"


class JudgingStage:
    """Asks a model about facts that were compared, a fact a step."""

    def __init__(
        self,
        *,
        database: Database,
        writes: Writes,
        model: ChatModel,
        answers: Callable[[], bool],
        now_ms: Callable[[], int],
    ) -> None:
        """`answers` says whether the model answers a tiny question now; `now_ms` is in ms since 1970."""
        self._database = database
        self._writes = writes
        self._model = model
        self._answers = answers
        self._now_ms = now_ms
        self._judge: str | None = None

    def queue_failed(self) -> int:
        """Has the pairs asked about again that came to nothing. Returns how many."""
        return self._writes.call(lambda writers: writers.verdicts.ask_failed_again())

    def step(self, judge: str) -> Judged:
        """Asks about the next fact that rules leave something open about.

        Args:
            judge: Model and prompt version (`judge_of`), by which answers are kept.

        Raises:
            ModelError: The model is away; what it said before is kept, and the fact keeps its turn.
        """
        if self._judge != judge:
            self._writes.call(lambda writers: writers.verdicts.adopt(judge))
            self._judge = judge
        done: list[FactId] = []
        while len(done) < _LOOK_AHEAD:
            with self._database.reader() as connection:
                fact_id = next_to_judge(connection)
                if fact_id is None:
                    break
                pairs = self._to_ask(connection, fact_id, judge)
            for pair, kind in pairs.again:
                self._keep(pair, kind, judge)
            if pairs.new:
                return self._ask(fact_id, pairs.new, judge)
            done.append(fact_id)
            self._done(fact_id)
        return Judged(outcome="known" if done else "nothing")

    def _to_ask(self, connection: Connection, fact_id: FactId, judge: str) -> _Open:
        """The pairs of a fact that count and that nobody spoke of, by whether this judge was asked before."""
        pairs = promising_pairs(
            connection, fact_id, with_vectors=not self._database.vectors_problem
        )
        uids = {fact.uid for pair in pairs for fact in pair}
        told = told_of(connection, uids)
        spoken = {frozenset((word.one, word.other)) for word in resolutions(connection, uids)}
        silent = [pair for pair in pairs if frozenset(fact.uid for fact in pair) not in spoken]
        new: list[_Pair] = []
        again: list[tuple[_Pair, ToldKind]] = []
        for pair in [pair for pair in silent if standing(*pair) == "open"][:_MOST_PAIRS]:
            answers = [one for one in _answers_about(pair, told) if one.verdict != "met"]
            mine = in_force(one for one in answers if one.judge == judge)
            if mine is None:
                new.append(pair)
            elif mine != in_force(answers):
                again.append((pair, mine))
        linked = [pair for pair in silent if standing(*pair) == "linked"]
        again += [(pair, "met") for pair in linked if not _answers_about(pair, told)]
        return _Open(new=tuple(new), again=tuple(again))

    def _ask(self, fact_id: FactId, pairs: Sequence[_Pair], judge: str) -> Judged:
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
            failed += kind == "failed"
            refused += self._keep(pair, kind, judge)
        self._done(fact_id)
        return Judged(outcome="asked", pairs=len(pairs), refused=refused, failed=failed)

    def _answered(self, pairs: Sequence[_Pair]) -> dict[int, ToldKind] | None:
        """The verdicts by place; None when what was asked made the call fail."""
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

    def _keep(self, pair: _Pair, kind: ToldKind, judge: str) -> bool:
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

    def _done(self, fact_id: FactId) -> None:
        self._writes.call(lambda writers: writers.verdicts.done([fact_id]))


def promising_pairs(connection: Connection, fact_id: FactId, *, with_vectors: bool) -> list[_Pair]:
    """A fact with each of the known ones that it may say the same as, more than, or the opposite of.

    They come by turns from common words, common names and nearness in meaning; which they are does not depend on
    what was asked before. Two numbers of one list or log are none.
    """
    near = near_in_meaning(connection, fact_id, _LOOKED_AT) if with_vectors else []
    ranked = (
        _alike(connection, fact_id),
        naming_the_same(connection, fact_id, _LOOKED_AT),
        near,
    )
    others = dict.fromkeys(_by_turns(ranked))
    facts = comparables(connection, {fact_id, *others})
    if fact_id not in facts:
        return []
    mine = facts.pop(fact_id)
    series = crowded(connection, series_of(mine.text))
    found = (facts[other] for other in others if other in facts)
    return [(mine, one) for one in found if not series & {*series_of(one.text)}]


def _alike(connection: Connection, fact_id: FactId) -> list[FactId]:
    """The facts with most words in common, relative to all that either has."""
    facts = comparables(connection, [fact_id])
    if not facts:
        return []
    mine = profile(facts[fact_id].text)
    shares = {
        other: _share(mine, unpacked(words))
        for other, words in alike_in_words(connection, fact_id).items()
    }
    near = [other for other, share in shares.items() if share >= _LEAST_SHARE]
    return sorted(near, key=lambda other: (-shares[other], other))[:_LOOKED_AT]


def _share(mine: Profile, theirs: Profile) -> float:
    return len(mine.words & theirs.words) / max(len(mine.words | theirs.words), 1)


def _by_turns(ranked: Sequence[Sequence[FactId]]) -> Iterator[FactId]:
    return (one for row in zip_longest(*ranked) for one in row if one is not None)


def _answers_about(pair: _Pair, told: Sequence[Told]) -> list[Told]:
    """What anybody said of a pair as it is now."""
    uids, asked = sorted(fact.uid for fact in pair), asked_of(*pair)
    return [one for one in told if [one.one, one.other] == uids and one.asked == asked]
