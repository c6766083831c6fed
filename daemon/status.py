"""What `status` tells, gathered from the store and the running parts. Nothing here is guessed or remembered as fine."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

from daemon.agreeing import AgreeLoop
from daemon.embedding import EmbedLoop
from daemon.extracting import ExtractLoop
from daemon.ingesting import IngestLoop, Waiting
from daemon.loop import StageReport
from daemon.watching import Watches
from recalld import __version__
from recalld.errors import ModelError, ModelState
from recalld.models.chat import ModelHealth
from recalld.models.embedder import EmbeddingSpace
from recalld.store.agreement import count_to_compare
from recalld.store.connection import Database
from recalld.store.deep import extraction_counts, parked_blocks
from recalld.store.embedding import count_to_embed
from recalld.store.links import ambiguous_links
from recalld.store.reading import count_undecided, counts, notes_by_root, problems
from recalld.store.spaces import count_coming
from recalld.store.verdicts import verdict_counts
from retrieval.evidence import Calibration

# A model that takes longer for one batch hangs, or may as well.
_SLOW_S = 30.0
_PARKED_SHOWN = 20

# So many notes that wait are no save but a copy, a checkout or a sync: an answer says what it may lack.
_MANY = 20
State = Literal["starting", "catching_up", "busy", "idle", "stopping"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """The embedding model as it came up: its space, or why there is none."""

    space: EmbeddingSpace | None
    state: ModelState
    hint: str | None
    # Why it makes no vectors after all, as far as is known without asking it for one.
    problem: Callable[[], ModelError | None] = lambda: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """How far all vectors are being made again."""

    # By which model, and by which recall goes meanwhile; None: by keywords, where a vector lacks.
    model: str
    recall_uses: str | None
    # Statements.
    done: int
    total: int

    def told(self) -> str:
        """As a phrase."""
        meanwhile = self.recall_uses or "keywords where vectors lack"
        return (
            f"re-embedding {self.done} of {self.total} for {self.model},"
            f" recall uses {meanwhile} meanwhile"
        )


class Embedding(Protocol):
    """The vectors that recall goes by, and those that are made beside them."""

    @property
    def model(self) -> EmbeddingModel:
        """The model of the settings."""
        ...

    @property
    def is_changing(self) -> bool:
        """Whether vectors of another model are made beside those in use."""
        ...

    def answers(self) -> bool:
        """Whether recall has its vectors, and a model that it can ask in them; costs nothing."""
        ...

    def change(self) -> Change | None:
        """How far all vectors are being made again, if they are."""
        ...


@dataclass(slots=True)
class _Counted:
    """Numbers from the store, good until something is written."""

    generation: int = -1
    values: Mapping[str, Any] | None = None


class StatusReport:
    """Gathers `status`. An idle daemon answers it without a query, as nothing can have changed."""

    def __init__(
        self,
        *,
        database: Database,
        ingest: IngestLoop,
        embed: EmbedLoop | None,
        extract: ExtractLoop | None,
        agree: AgreeLoop,
        watches: Watches,
        embedding: Embedding,
        evidence: Callable[[], Calibration],
        measuring: Callable[[], bool],
        reranker: Callable[[], ModelHealth],
        generation: Callable[[], int],
        stages: Mapping[str, StageReport],
    ) -> None:
        """`generation` counts writes.

        `evidence` gives what answers are judged by now, and `measuring` says whether that may change soon.
        """
        self._database = database
        self._ingest = ingest
        self._embed = embed
        self._extract = extract
        self._agree = agree
        self._watches = watches
        self._embedding = embedding
        self._evidence = evidence
        self._measuring = measuring
        self._reranker = reranker
        self._generation = generation
        self._stages = stages
        self._started = time.monotonic()
        self._counted = _Counted()
        self._lock = threading.Lock()
        self._caught_up = False
        self.stopping = False

    def settled(self) -> bool:
        """Whether the index equals the notes: words, vectors, categories, and what rules say of any two facts.

        A language model may be refining it for hours yet: see `refined`.
        """
        return self._settled(self._ingest.waiting())

    def refined(self) -> bool:
        """Whether it has settled, and the language model has nothing left to do, or is not there to do it."""
        before = self._generation()
        is_done = self.settled() and not self._is_refining()
        # What one of them wrote meanwhile may be work for another.
        return is_done and self._generation() == before

    def refining(self) -> dict[str, int] | None:
        """What the language model has still to read and to compare; None where that is nothing, or it is not there."""
        if not self._is_refining():
            return None
        numbers = self._numbers()
        return {"blocks": self._waiting_blocks(numbers), "facts": self._waiting_facts(numbers)}

    def _is_refining(self) -> bool:
        return self._extract is not None and not self._extract.idle

    def _settled(self, waiting: Waiting) -> bool:
        loops = (self._embed, self._agree)
        settled = waiting.dirty == 0 and all(loop is None or loop.idle for loop in loops)
        self._caught_up = self._caught_up or settled
        return settled

    def state(self) -> State:
        """The one word: `catching_up` until it has settled once, then `busy` or `idle`."""
        return self._state(self._ingest.waiting())

    def _state(self, waiting: Waiting) -> State:
        if self.stopping:
            return "stopping"
        if self._settled(waiting):
            return "idle"
        return "busy" if self._caught_up else "catching_up"

    def degraded(self) -> tuple[str, ...]:
        """What does not take part in recall at the moment."""
        missing = [] if self._has_vectors() else ["vectors"]
        waiting = self._ingest.waiting()
        behind = waiting.scanning or waiting.dirty > _MANY or self._state(waiting) == "catching_up"
        return (*missing, *(["catching_up"] if behind else []))

    def _has_vectors(self) -> bool:
        """Whether vectors take their full part in recall."""
        if self._embed is None or self._database.vectors_problem is not None:
            return False
        # While other vectors are made, the model that fails is perhaps not the one that recall uses.
        is_fine = self._embed.problem is None or self._embedding.is_changing
        return is_fine and self._embedding.answers()

    def result(self) -> dict[str, object]:
        """The result of the method."""
        waiting = self._ingest.waiting()
        # Before the numbers: what was idle then is whole in them.
        state, refining = self._state(waiting), self.refining()
        numbers = self._numbers()
        return {
            "version": __version__,
            "pid": os.getpid(),
            "uptime_s": round(time.monotonic() - self._started, 1),
            "ready": state != "stopping",
            "state": state,
            "oldest_pending_s": None if waiting.oldest_s is None else round(waiting.oldest_s, 1),
            "refining": refining,
            "roots": self._roots(numbers),
            "counts": numbers["counts"],
            "queue": {
                "dirty": waiting.dirty,
                "extract": numbers["undecided"]
                + numbers["uncompared"]
                + self._waiting_blocks(numbers),
                "parked": numbers["embed"][1] + numbers["extraction"].parked,
                "embed": self._waiting_statements(numbers),
            },
            "models": {
                "embedding": self._embedding_model(),
                "llm": self._llm(),
                "reranker": _told(self._reranker()),
            },
            "evidence": _evidence(self._evidence(), is_measuring=self._measuring()),
            "extraction": {
                "pending": self._waiting_blocks(numbers),
                "parked": numbers["parked"],
                "refused": numbers["extraction"].refused,
                "beside": numbers["extraction"].beside,
            },
            "verdicts": {
                "pending": self._waiting_facts(numbers),
                "failed": numbers["verdicts"].failed,
                "refused": numbers["verdicts"].refused,
            },
            "database": {
                "path": str(self._database.path),
                "bytes": self._database.size(),
                "schema": self._database.schema,
                "problem": self._database.vectors_problem,
            },
            "stages": {name: _stage(report) for name, report in self._stages.items()},
        }

    def _waiting_statements(self, numbers: Mapping[str, Any]) -> int:
        """Statements that wait for vectors; none do where no model is wanted."""
        if self._embedding.model.state == "off":
            return 0
        return int(numbers["embed"][0] + numbers["coming"])

    def _waiting_blocks(self, numbers: Mapping[str, Any]) -> int:
        """Blocks that wait for the model; none do while there is none to wait for."""
        return 0 if self._has_no_model() else int(numbers["extraction"].pending)

    def _waiting_facts(self, numbers: Mapping[str, Any]) -> int:
        """Facts that the model may still be asked about."""
        return 0 if self._has_no_model() else int(numbers["verdicts"].pending)

    def _has_no_model(self) -> bool:
        """Whether nothing waits for a model: there is none, or it was not looked for yet and has no name so far."""
        if self._extract is None:
            return True
        health = self._extract.health
        return health.state == "off" or (health.state == "loading" and not health.name)

    def _llm(self) -> dict[str, object]:
        if self._extract is None:
            return {
                "name": None,
                "state": "off",
                "hint": 'facts come from rules; set llm.provider = "auto" to use a language model',
            }
        return _told(self._extract.health)

    def _numbers(self) -> Mapping[str, Any]:
        generation = self._generation()
        with self._lock:
            if self._counted.values is not None and self._counted.generation == generation:
                return self._counted.values
        with self._database.reader() as connection:
            values: dict[str, Any] = {
                "counts": counts(connection),
                "embed": count_to_embed(connection),
                "coming": count_coming(connection)[0],
                "undecided": count_undecided(connection) if self._embed else 0,
                "uncompared": count_to_compare(connection),
                "extraction": extraction_counts(connection),
                "verdicts": verdict_counts(connection),
                "parked": parked_blocks(connection, _PARKED_SHOWN),
                "notes": notes_by_root(connection),
                "problems": {
                    name: problems(connection, keeper.root_id)
                    for name, keeper in self._ingest.keepers.items()
                },
                "ambiguous_links": ambiguous_links(connection),
            }
        with self._lock:
            self._counted = _Counted(generation=generation, values=values)
        return values

    def _roots(self, numbers: Mapping[str, Any]) -> list[dict[str, object]]:
        roots = []
        for name, keeper in self._ingest.keepers.items():
            report = keeper.report()
            health = self._watches.health(name)
            polled = health if health is not None and health.state == "polling" else None
            is_polled = report.state == "ok" and polled is not None
            roots.append(
                {
                    "name": name,
                    "path": str(keeper.path),
                    "state": "polling" if is_polled else report.state,
                    "notes": numbers["notes"].get(name, 0),
                    "pending": self._ingest.pending_of(name),
                    "held": report.held,
                    "hint": report.hint or (polled.hint or polled.message if polled else None),
                    "unreadable": [
                        {"path": path, "reason": reason} for path, reason in report.unreadable
                    ],
                    "skipped": [
                        {"path": path, "reason": reason} for path, reason in report.skipped
                    ],
                    "problems": numbers["problems"].get(name, []),
                }
            )
        return roots

    def _embedding_model(self) -> dict[str, object]:
        model, change = self._embedding.model, self._embedding.change()
        state, hint = self._health_of_model()
        told = [one for one in (change.told() if change else None, hint) if one]
        return {
            "name": model.space.name if model.space else None,
            "dimension": model.space.dimension if model.space else None,
            "state": state,
            "hint": "; ".join(told) or None,
            "reembedding": None if change is None else asdict(change),
        }

    def _health_of_model(self) -> tuple[str, str | None]:
        """The model's state and what to do about it."""
        if self._embed is None:
            return self._embedding.model.state, self._embedding.model.hint
        if self._database.vectors_problem is not None:
            return "down", self._database.vectors_problem
        problem = self._embed.problem or self._embedding.model.problem()
        age_s = self._embed.step_age_s
        if age_s > _SLOW_S:
            return (
                "slow",
                f"it has not answered for {age_s:.0f} s; recall goes by keywords meanwhile",
            )
        if problem is not None:
            return problem.state or "down", problem.told
        return self._embedding.model.state, self._embedding.model.hint


def _evidence(calibration: Calibration, *, is_measuring: bool) -> dict[str, object]:
    """The threshold by language, and when and over how many statements it was measured.

    `other` is the one of every language that is not named: of all, as long as it is the one shipped with the model.
    """
    known = calibration.thresholds
    return {
        "threshold": {"other": calibration.tau} if known is None else known.told(),
        "measured": None if known is None else known.measured.day,
        "statements": None if known is None else known.measured.statements,
        # Whether it is looked at just now if they should be others.
        "measuring": is_measuring,
    }


def _told(health: ModelHealth) -> dict[str, object]:
    return {"name": health.name or None, "state": health.state, "hint": health.hint}


def _stage(report: StageReport) -> dict[str, object]:
    when = None
    if report.last_ok is not None:
        when = datetime.fromtimestamp(report.last_ok, UTC).isoformat(timespec="seconds")
    return {"last_ok": when, "failed": report.failed, "reason": report.reason}
