"""The thread that measures which threshold of evidence this memory needs, when its vectors or its size are new.

It asks questions that notes hardly answer, one a turn, through the same search and evidence as recall. Nothing waits
for it, and nothing is changed before all of them are asked.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from daemon.loop import Loop, Pauses, Turn
from daemon.recalling import EVIDENCE, standing_of
from recalld.models.embedder import Embedder
from recalld.records import RecallFilter
from recalld.store.connection import Database
from recalld.store.reading import meta
from recalld.store.standing import vectors_in_use
from recalld.store.vectors import is_usable
from recalld.store.writers import Writes
from retrieval.foreign import foreign_texts
from retrieval.meaning import Meaning
from retrieval.recall import Recall
from retrieval.text.tongues import Tongue
from retrieval.thresholds import (
    LEAST_STATEMENTS,
    Measured,
    Standing,
    Thresholds,
    as_kept,
    foreign,
    from_kept,
    thresholds,
)

# Under what the questions' vectors are kept: those of one model.
VECTORS = "foreign_vectors"
# On a day on which no note is, a question after the winter is one of words, whenever it is asked.
_ASKED_ON = date(1970, 1, 1)
# A rest after each question as long as it took, at most so long: what a user asks meanwhile comes first.
_LONGEST_REST_S = 0.05
_STOP_S = 1.5
_PAUSES = Pauses(yield_s=0.25, longest_yield_s=30.0)

Vector = NDArray[np.float32]


@dataclass(slots=True, kw_only=True)
class _Run:
    """A measurement under way."""

    memory: Standing
    embedder: Embedder
    # The vectors of the first so many questions; None where the model gave no usable one.
    vectors: list[Vector | None]
    are_kept: bool
    # By what recall went when it began: of another space it finds nothing.
    meaning: Meaning
    asked: int = 0
    strengths: dict[Tongue, list[float]] = field(default_factory=dict)


class MeasuringStage:
    """Measures, a question a step. All calls on one thread."""

    def __init__(
        self,
        *,
        database: Database,
        writes: Writes,
        recall: Recall,
        embedder: Callable[[], Embedder | None],
        today: Callable[[], date] = date.today,
        questions: Mapping[Tongue, Sequence[str]] | None = None,
    ) -> None:
        """`embedder` gives the model of the space in use; without `questions` all that is foreign is asked."""
        self._database = database
        self._writes = writes
        self._recall = recall
        self._embedder = embedder
        self._today = today
        self._run: _Run | None = None
        self._questions = [
            (language, question)
            for language, some in (questions or foreign_texts()).items()
            for question in some
        ]

    def step(self) -> bool:
        """Does the next bit; whether there is more to do.

        Raises:
            TransientModelError, PermanentModelError: the model did not answer; the next step tries again.
        """
        run = self._run
        if run is not None and self._embedder() is not run.embedder:
            run = self._run = None
        if run is None:
            self._run = self._begun()
            return self._run is not None
        if len(run.vectors) < len(self._questions):
            run.vectors.append(_vector(run.embedder, self._questions[len(run.vectors)][1]))
        elif not run.are_kept:
            self._keep(run)
        elif run.asked < len(self._questions):
            self._ask(run)
        else:
            self._run = None
            self._finish(run)
        return True

    def _begun(self) -> _Run | None:
        """A new measurement, where one is due and can be made."""
        embedder, meaning = self._embedder(), self._recall.meaning
        if embedder is None or meaning.space != embedder.space.identity:
            return None
        with self._database.reader() as connection:
            found, memory = vectors_in_use(connection), standing_of(connection)
            kept = from_kept(meta(connection, EVIDENCE))
            is_due = memory is not None and (kept is None or not kept.is_of(memory))
            if found is None or memory is None or not is_due:
                return None
            stored = meta(connection, VECTORS) if found.whole else None
        if memory.identity != embedder.space.identity:
            return None
        if memory.statements < LEAST_STATEMENTS:
            # It was larger: what was measured then holds no more.
            self._judge_by(None, memory)
            return None
        if not found.whole or self._database.vectors_problem is not None:
            return None
        vectors = _from_kept(stored, memory, len(self._questions), embedder.space.dimension)
        return _Run(
            memory=memory,
            embedder=embedder,
            vectors=vectors or [],
            are_kept=vectors is not None,
            meaning=meaning,
        )

    def _keep(self, run: _Run) -> None:
        text = _as_kept(run.vectors, run.memory, run.embedder.space.dimension)
        self._writes.call(lambda writers: writers.put_meta(VECTORS, text))
        # As they are after a restart, so that it makes no difference.
        run.vectors = (
            _from_kept(text, run.memory, len(self._questions), run.embedder.space.dimension) or []
        )
        run.are_kept = True

    def _ask(self, run: _Run) -> None:
        (language, question), vector = self._questions[run.asked], run.vectors[run.asked]
        if vector is not None:
            searched = self._recall.search(
                question, limits=RecallFilter(), today=_ASKED_ON, known=(run.meaning, vector)
            )
            strongest = self._recall.strongest(searched)
            if strongest is not None:
                run.strengths.setdefault(language, []).append(strongest)
        run.asked += 1

    def _finish(self, run: _Run) -> None:
        with self._database.reader() as connection:
            memory = standing_of(connection)
        measured = Measured(
            space=run.memory.space,
            identity=run.memory.identity,
            questions=run.memory.questions,
            statements=run.memory.statements,
            day=self._today().isoformat(),
            foreign=foreign(run.strengths),
        )
        # What was asked of another space, or while the memory became another, is of no use.
        if memory is None or not measured.is_of(memory):
            return
        self._writes.call(lambda writers: writers.put_meta(EVIDENCE, as_kept(measured)))
        self._judge_by(thresholds(measured, run.embedder.space.tau), run.memory)

    def _judge_by(self, measured: Thresholds | None, memory: Standing) -> None:
        self._recall.judge_by(measured, space=memory.identity)


class MeasureLoop(Loop):
    """Measures when it is due and nothing is being written; see MeasuringStage."""

    def __init__(
        self,
        stage: MeasuringStage,
        *,
        give_way: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
        pauses: Pauses = _PAUSES,
    ) -> None:
        """`give_way` as Loop."""
        super().__init__(
            "measure", give_way=give_way, pauses=pauses, clock=clock, wall_clock=wall_clock
        )
        self._stage = stage

    def stop(self, deadline_s: float | None = _STOP_S) -> bool:
        """See Loop."""
        return super().stop(deadline_s)

    def _turn(self) -> Turn:
        begun = self._clock()
        if not self._stage.step():
            return Turn(more=False)
        self.report.last_ok = self._wall_clock()
        return Turn(more=True, rest_s=min(self._clock() - begun, _LONGEST_REST_S))


def _vector(embedder: Embedder, question: str) -> Vector | None:
    vector = np.asarray(embedder.embed_query(question), np.float32)
    return vector if vector.shape == (embedder.space.dimension,) and is_usable(vector) else None


def _as_kept(vectors: list[Vector | None], memory: Standing, dimension: int) -> str:
    rows = [np.zeros(dimension, np.float32) if one is None else one for one in vectors]
    packed = np.stack(rows).astype("<f2").tobytes()
    return json.dumps({"of": _key(memory), "vectors": base64.b64encode(packed).decode()})


def _from_kept(
    text: str | None, memory: Standing, count: int, dimension: int
) -> list[Vector | None] | None:
    """The vectors of these questions in this space; None where they are not kept."""
    try:
        kept: Any = json.loads(text or "null")
        if kept["of"] != _key(memory):
            return None
        flat = np.frombuffer(base64.b64decode(kept["vectors"]), "<f2").astype(np.float32)
        rows = flat.reshape(count, dimension)
    except (ValueError, TypeError, KeyError):
        return None
    return [row / np.linalg.norm(row) if is_usable(row) else None for row in rows]


def _key(memory: Standing) -> list[object]:
    return [memory.space, memory.identity, memory.questions]
