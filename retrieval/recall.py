"""The recall service: a query in, hits or nothing out.

It reads the store and asks the embedding model; ranking itself is done by the pure modules beside it. Three numbers
are kept apart: the score orders, the priors nudge the score, and relevance alone is compared with a threshold.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

from recalld.errors import NotFound
from recalld.records import (
    Around,
    FactId,
    PassageId,
    Reason,
    Recalled,
    RecallFilter,
    StatementId,
)
from recalld.store.conflicts import duplicates
from recalld.store.connection import Connection, Readers, let_go
from recalld.store.searching import WordCounts
from recalld.store.standing import any_vector
from recalld.store.vectors import VectorSearch
from retrieval.evidence import Calibration, permits, strength
from retrieval.explaining import because, explanation
from retrieval.legs import Found, only, search
from retrieval.meaning import Meaning
from retrieval.nearness import nearness_to
from retrieval.presenting import hits, within
from retrieval.query import Query, understand
from retrieval.query_vectors import QueryVector, QueryVectors
from retrieval.ranked import Ranked
from retrieval.ranking import Looked, RecallOptions, Ways, rank, taking_part
from retrieval.reranking.service import Reranking
from retrieval.surroundings import surrounded
from retrieval.text.tongues import UNKNOWN, Tongue, tongue_of
from retrieval.thresholds import Thresholds

# Passages whose statements and facts are looked at; hits come from among them. Priors move a passage
# by less than what parts the best from those further down.
LEAST_POOL = 24
POOL_A_HIT = 3
# Beside evidence, what is this weak is noise: of 434 right hits in four languages one lay under it.
LEAST_RELEVANCE = 0.3
_REMEMBERED = 200
# So few words that no note has may be no words of any language.
_FEW = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """What the channels brought up for a query: it can be ranked any number of times."""

    query: Query
    found: Found
    limits: RecallFilter
    # Whether the query has a vector, or no word to have one of.
    has_vector: bool
    # Of the space that the vector is in.
    calibration: Calibration
    # How near the statements of given passages are to the query.
    near: Callable[[Connection, Sequence[PassageId]], Mapping[StatementId, float]]
    # The day on which it was asked.
    today: date
    # When the search began, by `time.perf_counter`.
    started: float


class Recall:
    """Answers recall requests; calls are safe from several threads."""

    def __init__(
        self,
        *,
        database: Readers,
        vectors: VectorSearch,
        queries: QueryVectors,
        calibration: Calibration,
        options: RecallOptions,
        today: Callable[[], date],
        degraded: Callable[[], tuple[str, ...]],
        space: str | None = None,
        reranking: Reranking | None = None,
    ) -> None:
        """`degraded` names what does not take part at the moment, such as `catching_up`; `space` as Meaning.

        `reranking` is somebody else's to close; without one, scores alone order.
        """
        self._database = database
        self._meaning = Meaning(
            vectors=vectors, queries=queries, calibration=calibration, space=space
        )
        self._options = options
        self._today = today
        self._degraded = degraded
        self._reranking = reranking or Reranking()
        self._executor = ThreadPoolExecutor(max_workers=4, thread_name_prefix="recall")
        self._explained: OrderedDict[str, Callable[[], dict[str, object]]] = OrderedDict()
        self._lock = threading.Lock()
        self._compares = False

    def close(self) -> None:
        """Joins the threads of the legs, and those of the model unless it hangs."""
        self._executor.shutdown(wait=True)
        self._meaning.queries.close()

    def use(self, options: RecallOptions) -> None:
        """Ranks by other options from the next recall on."""
        self._options = options

    def go_by(self, meaning: Meaning) -> None:
        """Goes by another space of vectors from the next search on; one under way ends with its own."""
        with self._lock:
            before, self._meaning = self._meaning, meaning
        before.queries.close()

    @property
    def meaning(self) -> Meaning:
        """What it goes by at present."""
        return self._meaning

    def judge_by(self, thresholds: Thresholds | None, *, space: str) -> bool:
        """Judges evidence by what was measured from the next search on; None = by what is shipped with the model.

        False, and nothing is changed, where it goes by another space than the one with this identity.
        """
        with self._lock:
            if self._meaning.space != space:
                return False
            calibration = replace(self._meaning.calibration, thresholds=thresholds)
            self._meaning = replace(self._meaning, calibration=calibration)
        return True

    def recall(
        self,
        text: str,
        *,
        limits: RecallFilter,
        limit: int,
        max_chars: int,
        min_relevance: float | None = None,
        explain: bool = False,
        around: Around | None = None,
    ) -> tuple[Recalled, tuple[FactId, ...]]:
        """The hits for a query, best first, and the facts among them.

        Args:
            limit: Hits at most.
            max_chars: Characters of hit text at most, and of what comes about hits; the first hit always comes.
            min_relevance: What each hit must reach, instead of the calibrated threshold; 0 never rejects.
            around: What comes about each hit; it changes no hit, nor which ones come.
        """
        return self.rank(
            self.search(text, limits=limits),
            limit=limit,
            max_chars=max_chars,
            min_relevance=min_relevance,
            explain=explain,
            around=around,
        )

    def search(
        self,
        text: str,
        *,
        limits: RecallFilter,
        today: date | None = None,
        known: tuple[Meaning, QueryVector] | None = None,
    ) -> Searched:
        """What the channels bring up for a query; `rank` makes an answer of it.

        Args:
            today: The day on which it counts as asked, instead of the present one.
            known: Its vector, with what it is a vector of: no model is asked.
        """
        started = time.perf_counter()
        # What held then is asked as of then.
        day = today or limits.as_of or self._today()
        query = understand(text, day)
        # What a model makes of symbols lies near to anything.
        meaning, vector = known or self._asked("" if query.says_nothing else text)
        found = search(
            database=self._database,
            vectors=meaning.vectors,
            executor=self._executor,
            query=query,
            query_vector=vector,
            limits=limits,
            by_graph=self._options.graph,
        )
        return Searched(
            query=query,
            found=found,
            limits=limits,
            has_vector=vector is not None or query.says_nothing or not found.counts.passages,
            calibration=meaning.calibration,
            near=partial(nearness_to, meaning.vectors, vector, meaning.calibration.shift),
            today=day,
            started=started,
        )

    def _asked(self, text: str) -> tuple[Meaning, QueryVector | None]:
        meaning = self._meaning
        # At the first start nothing has a vector yet: an answer need not wait for the model to be loaded.
        return meaning, None if self._has_nothing_to_compare() else meaning.queries.vector(text)

    def _has_nothing_to_compare(self) -> bool:
        """Whether there is a model, and nothing yet that it made."""
        if self._meaning.space is None or self._compares:
            return False
        with self._database.reader() as connection:
            self._compares = any_vector(connection)
        return not self._compares

    def strongest(self, searched: Searched) -> float | None:
        """The greatest strength of evidence among what a search found; None where none of it has a vector."""
        options = self._options
        with self._database.reader() as connection:
            _, _, evidence = rank(
                connection,
                searched.query,
                taking_part(searched.found, options),
                searched.limits,
                Ways(options=options, calibration=searched.calibration, today=searched.today),
                LEAST_POOL,
                searched.near,
            )
        some = [strength(one) for one in evidence.values() if one.cosine is not None]
        return max(some, default=None)

    def rank(
        self,
        searched: Searched,
        *,
        limit: int,
        max_chars: int,
        min_relevance: float | None = None,
        explain: bool = False,
        around: Around | None = None,
        options: RecallOptions | None = None,
        calibration: Calibration | None = None,
    ) -> tuple[Recalled, tuple[FactId, ...]]:
        """The answer from a search; with other options or another threshold than its own where these are given."""
        options = options or self._options
        query, limits = searched.query, searched.limits
        every = calibration or searched.calibration
        language = _language_of(query, searched.found.counts) if every.thresholds else None
        calibration = every.of(language)
        found = taking_part(searched.found, options)
        threshold = options.min_relevance if min_relevance is None else min_relevance
        with self._database.reader() as connection:
            turn = self._reranking.turn(
                query.text,
                lambda some: _permitted(some, threshold, min_relevance),
                partial(let_go, connection),
            )
            ranked, looked, evidence = rank(
                connection,
                query,
                found,
                limits,
                Ways(options=options, calibration=calibration, today=searched.today),
                max(LEAST_POOL, POOL_A_HIT * limit),
                searched.near,
                turn.reorder,
            )
            permitted = _permitted(ranked, threshold, min_relevance)
            known = [one.fact.fact_id for one in permitted if one.fact is not None]
            kept = within(
                permitted,
                limit=limit,
                max_chars=max_chars,
                duplicates=duplicates(connection, known),
            )
            bare = hits(connection, kept, as_of=limits.as_of)
            shown = surrounded(connection, bare, kept, around, max_chars)
        degraded = [*self._degraded()]
        degraded += [] if searched.has_vector else ["vectors"]
        degraded += [] if found.graph.ran else ["graph"]
        degraded += ["reranker"] if turn.failed else []
        recalled = Recalled(
            hits=shown,
            reason=None if shown else _reason(found, limits, looked),
            unknown_words=_unknown_words(query, looked),
            degraded=tuple(dict.fromkeys(degraded)),
            recall_id=f"r-{uuid.uuid4().hex[:12]}",
            took_ms=(time.perf_counter() - searched.started) * 1000,
        )
        explained = partial(
            explanation,
            query=query,
            found=only(found, [one.passage.passage_id for one in ranked]),
            ranked=ranked,
            evidence=evidence,
            kept=kept,
            calibration=calibration,
            threshold=threshold,
            because=because(every.thresholds, language),
            reranked=turn.reranked,
        )
        self._remember(recalled.recall_id, explained)
        facts = tuple(one.ranked.fact.fact_id for one in kept if one.ranked.fact)
        if explain:
            return replace(recalled, explanation=explained()), facts
        return recalled, facts

    def explain(self, recall_id: str) -> dict[str, object]:
        """How an earlier recall came to its answer.

        Raises:
            NotFound: it is too long ago, or never was.
        """
        with self._lock:
            explained = self._explained.get(recall_id)
        if explained is None:
            raise NotFound(
                f"recall {recall_id} is not remembered",
                hint=f"only the last {_REMEMBERED} are; ask again with explain",
            )
        return explained()

    def _remember(self, recall_id: str, explained: Callable[[], dict[str, object]]) -> None:
        with self._lock:
            self._explained[recall_id] = explained
            while len(self._explained) > _REMEMBERED:
                self._explained.popitem(last=False)


def _language_of(query: Query, counts: WordCounts) -> Tongue | None:
    """The language whose threshold a question is held to.

    Words that no note has are not likely of the notes' language, and cannot be shared with them by chance. A word or
    two of them may be none at all, and lie near to whatever is as short.
    """
    language = tongue_of(query.text)
    if any(counts.passages_with.get(token) for token in query.tokens):
        return language
    # Scripts without spaces run words together, which are told by their parts.
    said = sum(1 if term.exact else len(term.parts) for term in query.terms)
    if 0 < said <= _FEW and query.asked is None:
        return UNKNOWN
    return None if language == "latin" else language


def _permitted(
    ranked: list[Ranked], threshold: float | None, demanded: float | None
) -> list[Ranked]:
    """All hits that are not noise when any of them is evidence; what the asker demands holds for each."""
    if demanded is not None:
        return [one for one in ranked if permits(one.choice.relevance, demanded)]
    strongest = max((one.choice.relevance for one in ranked), default=0.0)
    if not permits(strongest, threshold):
        return []
    # What says next to nothing of the question must not ride along, unless the settings take everything.
    least = 0.0 if threshold == 0 else LEAST_RELEVANCE
    return [one for one in ranked if one.choice.relevance >= least]


def _reason(found: Found, limits: RecallFilter, looked: Looked) -> Reason:
    if not looked.counts.passages:
        return "empty_memory"
    is_impossible = "fact" not in limits.kinds and not limits.takes_passages
    return "no_evidence" if found.anything and not is_impossible else "nothing_matches_filter"


def _unknown_words(query: Query, looked: Looked) -> tuple[str, ...]:
    """Content words of which no note has any form."""
    return tuple(
        dict.fromkeys(
            term.surface
            for term in query.terms
            if not any(looked.counts.passages_with.get(token, 0) for token in term.tokens)
        )
    )
