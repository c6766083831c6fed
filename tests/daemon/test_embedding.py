"""The embedding thread: by itself with stages that do as they are told, and as `status` shows it."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from daemon.embedding import EmbedLoop
from daemon.loop import Pauses
from ingest.embedding import Embedded
from ingest.refining import Refined
from recalld.errors import PermanentModelError, Stopping, StoreUnusable, TransientModelError
from recalld.models.embedder import Matrix
from tests.fakes import WordEmbedder
from tests.running import RunningDaemon
from tests.waiting import DEADLINE_S, holds, soon


class HeldEmbedder(WordEmbedder):
    """Embeds no statement before it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.released = threading.Event()

    def embed_statements(self, texts: Sequence[str], starts: Sequence[int] = ()) -> Matrix:
        assert self.released.wait(DEADLINE_S)
        return super().embed_statements(texts, starts)


def test_status_counts_down_what_waits_for_a_vector(tmp_path: Path) -> None:
    embedder = HeldEmbedder()
    with RunningDaemon(tmp_path, embedder=embedder) as daemon:
        try:
            daemon.write("tea.md", "# Tea\n\nThe kettle of Mira holds two litres of water.\n")
            daemon.wait_for(lambda s: s["queue"]["dirty"] == 0 and s["queue"]["embed"] > 0)
        finally:
            embedder.released.set()
        daemon.wait_for(lambda s: s["state"] == "idle" and s["queue"]["embed"] == 0)


NOTHING = Embedded(asked=0, stored=0, refused=0)
SOME = Embedded(asked=3, stored=3, refused=0)
DOWN = TransientModelError("the model does not answer", hint="start it")


class Scripted:
    """A stage whose steps are given: results, errors, or an event to wait for; then nothing is left."""

    def __init__(self, *steps: object, rest: object = NOTHING) -> None:
        self._steps = deque(steps)
        self._rest = rest
        self.at: list[float] = []

    def step(self):
        self.at.append(time.monotonic())
        step = self._steps.popleft() if self._steps else self._rest
        if isinstance(step, threading.Event):
            assert step.wait(DEADLINE_S)
            step = NOTHING
        if isinstance(step, BaseException):
            raise step
        return step

    def more(self, *steps: object) -> None:
        self._steps.extend(steps)


class Loops:
    """Makes loops, and stops them however the test ends."""

    def __init__(self) -> None:
        self._made: list[EmbedLoop] = []
        self.written = 0
        self.busy = False

    def start(self, *steps: object, refining: Scripted | None = None, pause_s: float = 0.01):
        stage = Scripted(*steps)

        def count() -> None:
            self.written += 1

        loop = EmbedLoop(
            embedding=stage,
            refining=refining or Scripted(rest=Refined(settled=0)),
            give_way=lambda: self.busy,
            on_written=count,
            pauses=Pauses(first_s=pause_s),
        )
        self._made.append(loop)
        loop.start()
        return loop, stage

    def stop(self) -> None:
        for loop in self._made:
            loop.stop()


@pytest.fixture
def loops() -> Iterator[Loops]:
    made = Loops()
    yield made
    made.stop()


def test_works_off_what_waits_and_then_is_idle(loops):
    loop, stage = loops.start(SOME, SOME)
    assert holds(lambda: loop.idle)
    assert loop.idle
    assert len(stage.at) == 3
    assert loops.written == 2
    assert loop.report.last_ok is not None
    assert loop.report.failed == 0


def test_categories_come_once_no_vector_is_wanted(loops):
    refining = Scripted(Refined(settled=4), rest=Refined(settled=0))
    loop, stage = loops.start(SOME, refining=refining)
    assert holds(lambda: loop.idle)
    assert refining.at[0] > stage.at[1]
    assert loop.refine.last_ok is not None
    assert loops.written == 2


def test_sleeps_until_it_is_woken(loops):
    loop, stage = loops.start()
    assert holds(lambda: loop.idle)
    assert len(stage.at) == 1
    stage.more(SOME)
    loop.wake()
    assert holds(lambda: loop.idle)
    assert len(stage.at) == 3


def test_steps_aside_while_notes_wait_for_their_words(loops):
    loops.busy = True
    loop, stage = loops.start(SOME)
    assert not holds(lambda: loop.idle, 0.1)
    assert stage.at == []
    loops.busy = False
    assert holds(lambda: loop.idle)
    assert len(stage.at) == 2


def test_steps_aside_between_two_batches(loops):
    held = threading.Event()
    loop, stage = loops.start(held, SOME)
    soon(lambda: stage.at)
    loops.busy = True
    stage.more(SOME)
    held.set()
    loop.wake()
    assert not holds(lambda: loop.idle, 0.1)
    assert len(stage.at) == 1
    loops.busy = False
    assert holds(lambda: loop.idle)


@pytest.mark.parametrize("error", [DOWN, PermanentModelError("no such model")])
def test_model_that_fails_is_told_and_recovers_by_itself(loops, error):
    loop, stage = loops.start(error, error)
    soon(lambda: loop.problem is error)
    assert not loop.idle
    assert holds(lambda: loop.idle)
    assert loop.problem is None
    assert loop.report.failed == 2
    assert loop.report.reason == error.message
    assert len(stage.at) == 3


def test_pauses_grow_while_the_model_fails(loops):
    loop, stage = loops.start(*[DOWN] * 4, pause_s=0.02)
    assert holds(lambda: loop.idle)
    pauses = [later - earlier for earlier, later in zip(stage.at, stage.at[1:], strict=False)]
    for pause, least in zip(pauses, (0.02, 0.04, 0.08, 0.16), strict=True):
        assert pause >= least


def test_new_notes_do_not_shorten_the_pause(loops):
    loop, stage = loops.start(DOWN, pause_s=0.3)
    soon(lambda: loop.problem is not None)
    for _ in range(20):
        loop.wake()
    assert holds(lambda: loop.idle)
    assert stage.at[1] - stage.at[0] >= 0.3


def test_after_a_recovery_pauses_are_short_again(loops):
    loop, stage = loops.start(DOWN, DOWN, DOWN, SOME, DOWN, pause_s=0.02)
    assert holds(lambda: loop.idle)
    assert stage.at[5] - stage.at[4] < stage.at[3] - stage.at[2]


@pytest.mark.parametrize("error", [StoreUnusable("the disk is full"), ZeroDivisionError("a fault")])
def test_step_that_fails_is_tried_again_and_is_not_called_idle(loops, error):
    loop, stage = loops.start(error, pause_s=0.1)
    soon(lambda: loop.report.failed == 1)
    assert not loop.idle
    assert loop.problem is None, "the model is not to blame"
    assert holds(lambda: loop.idle)
    assert len(stage.at) == 2
    assert loop.report.reason == str(error)


def test_refused_statements_are_counted(loops):
    loop, _ = loops.start(Embedded(asked=3, stored=1, refused=2))
    assert holds(lambda: loop.idle)
    assert loop.report.failed == 2


def test_a_stopping_store_is_no_failure(loops):
    loop, _ = loops.start(Stopping("the daemon is stopping"))
    assert holds(lambda: loop.idle)
    assert loop.report.failed == 0


def test_stop_does_not_wait_for_the_end_of_a_pause(loops):
    loop, _ = loops.start(DOWN, pause_s=3600)
    soon(lambda: loop.problem is not None)
    assert loop.stop(DEADLINE_S)


def test_stop_that_comes_during_a_failing_step_is_not_slept_over(loops):
    class Failing(Scripted):
        def step(self):
            entered.set()
            assert held.wait(DEADLINE_S)
            raise DOWN

    entered, held = threading.Event(), threading.Event()
    loop = EmbedLoop(
        embedding=Failing(),
        refining=Scripted(),
        give_way=lambda: False,
        on_written=lambda: None,
        pauses=Pauses(first_s=3600),
    )
    loop.start()
    assert entered.wait(DEADLINE_S)
    assert not loop.stop(0.05)
    held.set()
    assert loop.stop(DEADLINE_S)


def test_stop_leaves_a_model_that_hangs_and_says_so(loops):
    held = threading.Event()
    loop, stage = loops.start(held)
    soon(lambda: stage.at)
    assert not loop.stop(0.1)
    held.set()
    assert loop.stop(DEADLINE_S)


def test_age_of_a_step_shows_that_a_model_hangs(loops):
    held = threading.Event()
    loop, _stage = loops.start(held)
    soon(lambda: loop.step_age_s > 0.02)
    held.set()
    assert holds(lambda: loop.idle)
    assert loop.step_age_s == 0


def test_stop_before_the_start_does_nothing():
    loop = EmbedLoop(
        embedding=Scripted(), refining=Scripted(), give_way=lambda: False, on_written=lambda: None
    )
    assert loop.stop()


@pytest.mark.slow
def test_model_that_is_down_leaves_keywords_and_comes_back(tmp_path):
    embedder = WordEmbedder()
    embedder.failure = DOWN
    with RunningDaemon(tmp_path, embedder=embedder) as daemon:
        daemon.write("a.md", "部署在凌晨三点失败。\n\nDe uitrol faalde om drie uur.\n")
        daemon.call("sync")
        status = daemon.wait_for(lambda now: now["models"]["embedding"]["state"] == "down")
        assert status["models"]["embedding"]["hint"] == "the model does not answer: start it"
        assert status["stages"]["vectors"]["reason"] == "the model does not answer"
        daemon.wait_for(lambda now: now["queue"]["dirty"] == 0)
        found = daemon.call("recall", query="uitrol faalde")
        assert [hit["text"] for hit in found["hits"]] == ["De uitrol faalde om drie uur."]
        assert "vectors" in found["degraded"]
        embedder.failure = None
        status = daemon.wait_for(lambda now: now["state"] == "idle")
        assert status["models"]["embedding"]["state"] == "ok"
        assert status["queue"]["embed"] == 0
        found = daemon.call("recall", query="uitrol faalde")
        assert found["degraded"] == []
