"""A reranker's order put in place of ours among the best, or left out when it fails.

Only its order is taken: its scores mean something else with every model, so relevance, evidence and thresholds never
see them. It must not know which reranker there is, or how it is asked.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

from recalld.errors import ModelError, ModelState, PermanentModelError, PromptCut
from recalld.models.breaker import Breaker, asked, failed, succeeded
from recalld.models.chat import ModelHealth
from recalld.records import PassageId
from retrieval.presenting import context_of
from retrieval.ranked import Ranked

# Somebody waits for each call, so one that was mended is not left out for minutes.
_LONGEST_PAUSE_S = 60.0
# Those of a ranking that are good enough to be hits, in its order.
Permitted = Callable[[list[Ranked]], list[Ranked]]
# What is held round a call, and only then.
Waiting = Callable[[], AbstractContextManager[None]]
_OFF = ModelHealth(state="off", hint=None, name="", digest=None)


class Reranker(Protocol):
    """Reads a question and passages together. Calls are safe from several threads, and end within its time limit."""

    @property
    def name(self) -> str:
        """Of its model."""
        ...

    def order(self, query: str, texts: Sequence[str]) -> tuple[int, ...]:
        """The places of the texts, best first.

        Raises:
            ModelError: there is no order, or none of all texts.
        """
        ...

    def health(self) -> ModelHealth:
        """How it is doing; takes a few seconds at most. Never raises."""
        ...

    def close(self) -> None:
        """Cuts the calls under way."""
        ...


class NoReranker:
    """A reranker that is wanted and can't be had; see Reranker."""

    def __init__(self, name: str, *, state: ModelState, hint: str | None) -> None:
        self.name = name
        self._health = ModelHealth(state=state, hint=hint, name=name, digest=None)

    def order(self, query: str, texts: Sequence[str]) -> tuple[int, ...]:  # noqa: ARG002 - the protocol's
        """Refuses."""
        raise PermanentModelError(
            "there is no reranker", hint=self._health.hint, state=self._health.state
        )

    def health(self) -> ModelHealth:
        """See Reranker."""
        return self._health

    def close(self) -> None:
        """There is nothing to close."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reranked:
    """What a reranker made of one ranking."""

    # Of its model.
    name: str
    # By passage, its place among those that were shown, from 1: before, and after or None where it failed.
    places: Mapping[PassageId, tuple[int, int | None]] = field(default_factory=dict)
    # Why the order is as it was; None: the reranker was heard, or there was nothing to order.
    problem: str | None = None


@dataclass(slots=True)
class _InUse:
    """A reranker with what is known of its failures."""

    reranker: Reranker
    depth: int
    breaker: Breaker = field(default_factory=lambda: Breaker(longest_s=_LONGEST_PAUSE_S))


class Reranking:
    """Has the best of a ranking reordered; calls are safe from several threads. Without a reranker it does nothing."""

    def __init__(
        self,
        reranker: Reranker | None = None,
        *,
        depth: int = 20,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Owns `reranker`; `depth` is how many from the top it is shown."""
        self._in_use = _InUse(reranker, depth) if reranker is not None else None
        self._clock = clock
        self._lock = threading.Lock()

    def use(self, reranker: Reranker | None, *, depth: int) -> None:
        """Goes by another reranker, or none, from the next ranking on; a call of the former is cut."""
        with self._lock:
            former = self._in_use
            self._in_use = _InUse(reranker, depth) if reranker is not None else None
        if former is not None:
            former.reranker.close()

    def health(self) -> ModelHealth:
        """How the reranker is doing; `off` where there is none. Never raises."""
        in_use = self._in_use
        return in_use.reranker.health() if in_use is not None else _OFF

    def close(self) -> None:
        """Cuts the calls under way."""
        in_use = self._in_use
        if in_use is not None:
            in_use.reranker.close()

    def turn(
        self,
        query: str,
        permitted: Permitted,
        while_waiting: Waiting = nullcontext,
    ) -> Turn:
        """For one ranking.

        Args:
            permitted: Those of a ranking that are good enough to be hits.
            while_waiting: What is held round the call of the reranker, and only then.
        """
        return Turn(self, query, permitted, while_waiting)

    def reorder(
        self,
        query: str,
        ranked: list[Ranked],
        permitted: Permitted,
        while_waiting: Waiting = nullcontext,
    ) -> tuple[list[Ranked], Reranked | None]:
        """The same passages with the best of those permitted in the reranker's order, and what it did.

        What is not permitted keeps its place, and costs no call: without evidence nobody is asked. Where the reranker
        fails, or does not give each place once, the order stays whole as it is.
        """
        in_use = self._in_use
        if in_use is None:
            return ranked, None
        shown = permitted(ranked)[: in_use.depth]
        if len(shown) < 2:
            return ranked, Reranked(name=in_use.reranker.name)
        order, problem = self._ask(in_use, query, [_text(one) for one in shown], while_waiting)
        after = {place: rank for rank, place in enumerate(order or (), 1)}
        told = Reranked(
            name=in_use.reranker.name,
            places={
                one.passage.passage_id: (place + 1, after.get(place))
                for place, one in enumerate(shown)
            },
            problem=problem,
        )
        if order is None:
            return ranked, told
        theirs = {one.passage.passage_id for one in shown}
        turns = (shown[place] for place in order)
        return [next(turns) if one.passage.passage_id in theirs else one for one in ranked], told

    def _ask(
        self,
        in_use: _InUse,
        query: str,
        texts: Sequence[str],
        while_waiting: Waiting,
    ) -> tuple[tuple[int, ...] | None, str | None]:
        """Its order and None, or None and why there is none."""
        with self._lock:
            may, in_use.breaker = asked(in_use.breaker, self._clock())
        if not may:
            return None, "it failed shortly before, and is asked again after a pause"
        try:
            with while_waiting():
                order = in_use.reranker.order(query, texts)
        except ModelError as error:
            # A text that is too long says nothing of the next one; all else would keep the next one waiting.
            self._heard(in_use, well=isinstance(error, PromptCut))
            return None, error.message
        is_whole = sorted(order) == list(range(len(texts)))
        self._heard(in_use, well=is_whole)
        return (order, None) if is_whole else (None, "it did not place each passage once")

    def _heard(self, in_use: _InUse, *, well: bool) -> None:
        with self._lock:
            breaker = in_use.breaker
            in_use.breaker = succeeded(breaker) if well else failed(breaker, self._clock())


class Turn:
    """One ranking's reordering, to be handed to where ranking is done; afterwards it tells what came of it."""

    def __init__(
        self,
        reranking: Reranking,
        query: str,
        permitted: Permitted,
        while_waiting: Waiting,
    ) -> None:
        self._reranking = reranking
        self._query = query
        self._permitted = permitted
        self._while_waiting = while_waiting
        # None: there is no reranker, or its turn has not come.
        self.reranked: Reranked | None = None

    def reorder(self, ranked: list[Ranked]) -> list[Ranked]:
        """The same passages, perhaps in another order."""
        order, self.reranked = self._reranking.reorder(
            self._query, ranked, self._permitted, self._while_waiting
        )
        return order

    @property
    def failed(self) -> bool:
        """Whether a reranker should have been heard and was not."""
        return self.reranked is not None and self.reranked.problem is not None


def _text(one: Ranked) -> str:
    """What would be shown, below the headings that it needs to be understood."""
    said = one.fact.text if one.fact is not None else one.passage.text
    context = " > ".join(context_of(one.passage))
    return f"{context}\n{said}" if context else said
