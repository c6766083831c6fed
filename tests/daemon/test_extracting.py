"""The loop of the deep tier, turn by turn with a clock in the test's hands, and as the thread that it is."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from daemon.extracting import ExtractLoop
from ingest.deep.extraction import Deepened
from recalld.errors import PermanentModelError, Stopping, TransientModelError
from recalld.models.chat import ModelHealth
from tests.waiting import DEADLINE_S, soon

FINE = ModelHealth(state="ok", hint=None, name="m", digest="d" * 64)


def health(state, hint="do this") -> ModelHealth:
    return ModelHealth(state=state, hint=hint, name="m", digest=None)


class Model:
    """Tells the health that it is told; a small question is answered unless it is away."""

    def __init__(self) -> None:
        self.told = FINE
        self.looks = 0
        self.closed = False

    def health(self) -> ModelHealth:
        self.looks += 1
        return self.told

    def close(self) -> None:
        self.closed = True


class Trial:
    """Says that the model is of no use as long as `failure` is set."""

    def __init__(self) -> None:
        self.is_in_doubt = False
        self.failure: TransientModelError | None = None
        self.held = 0

    def hold(self) -> None:
        self.held += 1
        if self.failure is not None:
            raise self.failure
        self.is_in_doubt = False


class Stage:
    """So many chunks of work; `failures` come first."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.trial = Trial()
        self.left = 0
        self.steps = 0
        self.probes = 0
        self.queued_for: list[str] = []
        self.failures: list[Exception] = []
        self.outcomes: list[Deepened] = []
        self.next_try: int | None = None
        # What the model's health becomes once it answers a probe.
        self.answering: ModelHealth | None = None

    def queue_others(self, extractor: str) -> int:
        self.queued_for.append(extractor)
        return 0

    def queue_parked(self) -> int:
        self.left += 1
        return 1

    def next_try_ms(self) -> int | None:
        return self.next_try

    def answers(self) -> bool:
        self.probes += 1
        if self.answering is None:
            return False
        self.model.told = self.answering
        return True

    def step(self, extractor: str) -> Deepened:
        self.steps += 1
        if self.failures:
            raise self.failures.pop(0)
        if self.outcomes:
            return self.outcomes.pop(0)
        if not self.left:
            return Deepened(outcome="nothing")
        self.left -= 1
        return Deepened(outcome="accepted", blocks=1, facts=2)


class Driven:
    """A loop whose turns the test takes, an hour in a moment."""

    def __init__(self, **given: object) -> None:
        self.model = Model()
        self.stage = Stage(self.model)
        self.now = 1000.0
        self.busy = False
        self.written = 0
        self.loop = ExtractLoop(
            stage=self.stage,  # type: ignore[arg-type] # as much of it as the loop uses
            model=self.model,  # type: ignore[arg-type] # as much of it as the loop uses
            give_way=lambda: self.busy,
            on_written=self._wrote,
            clock=lambda: self.now,
            wall_clock=lambda: self.now,
            **given,  # type: ignore[arg-type] # as the test says
        )

    def _wrote(self) -> None:
        self.written += 1

    def for_s(self, seconds: float) -> int:
        """Lets time pass as the thread would; how many turns that were."""
        turns, end = 0, self.now + seconds
        while True:
            pause = self.loop.pause_s()
            if self.now + pause > end:
                self.now = end
                return turns
            self.now += pause
            if pause == 0:
                self.loop.turn()
                turns += 1


@pytest.fixture
def driven() -> Driven:
    return Driven()


def test_works_until_nothing_is_left_and_is_idle_then(driven):
    driven.stage.left = 3
    assert driven.loop.health.state == "loading"
    assert not driven.loop.idle
    driven.for_s(1)
    assert driven.stage.steps == 4
    assert driven.loop.idle
    assert driven.loop.health == FINE
    assert driven.loop.report.last_ok is not None
    assert driven.stage.queued_for == [f"llm:m:{'d' * 12}@facts@1"]


def test_idle_loop_wakes_when_something_was_written(driven):
    driven.for_s(1)
    driven.stage.left = 1
    assert driven.for_s(30) == 0
    driven.loop.wake()
    assert not driven.loop.idle
    driven.for_s(1)
    assert driven.stage.left == 0
    assert driven.loop.idle


def test_idle_model_is_looked_at_once_a_minute(driven):
    driven.for_s(1)
    looks = driven.model.looks
    driven.for_s(600)
    assert driven.model.looks - looks == pytest.approx(10, abs=1)
    driven.model.told = health("down")
    driven.for_s(61)
    assert driven.loop.health.state == "down"


def test_gives_way_to_words_and_vectors_but_not_for_ever(driven):
    driven.stage.left = 5
    driven.busy = True
    driven.for_s(29)
    assert driven.stage.steps == 0
    driven.for_s(2)
    assert driven.stage.steps == 1
    driven.busy = False
    driven.for_s(1)
    assert driven.stage.left == 0


@pytest.mark.parametrize("state", ["off", "down", "missing"])
def test_model_that_is_not_there_is_looked_for_twice_a_minute_and_seldom_called(driven, state):
    driven.model.told = health(state)
    driven.for_s(1)
    assert driven.loop.idle
    driven.for_s(3600)
    assert driven.model.looks == pytest.approx(120, abs=12)
    assert driven.stage.probes < 25
    assert driven.stage.steps == 0
    assert driven.loop.report.failed == 0


@pytest.mark.parametrize("state", ["off", "down", "missing"])
def test_server_that_is_started_after_hours_is_noticed_within_half_a_minute(driven, state):
    driven.model.told = health(state)
    driven.stage.left = 1
    driven.for_s(10_000)
    driven.model.told = FINE
    driven.for_s(31)
    assert driven.loop.health == FINE
    assert driven.stage.left == 0


def test_server_elsewhere_is_asked_ever_less_often():
    driven = Driven(probe_every_s=None)
    driven.model.told = health("off")
    driven.for_s(1)
    driven.for_s(3600)
    assert driven.model.looks < 30
    assert driven.loop.idle


@pytest.mark.parametrize("state", ["slow", "busy", "loading"])
def test_model_that_is_there_and_does_not_answer_is_left_in_peace(driven, state):
    driven.model.told = health(state)
    driven.for_s(3600)
    assert driven.model.looks < 40


def test_an_hour_of_outage_loses_nothing_and_work_resumes_by_itself(driven):
    driven.stage.left = 4
    driven.loop.turn()
    driven.stage.failures = [TransientModelError("refused", state="down")]
    driven.model.told = health("down", "`ollama serve`")
    driven.for_s(3600)
    assert driven.loop.idle
    assert driven.loop.health.hint == "`ollama serve`"
    assert (driven.stage.left, driven.stage.steps) == (3, 2)
    driven.model.told = FINE
    driven.for_s(301)
    assert driven.stage.left == 0
    assert driven.loop.health == FINE


@pytest.mark.parametrize("state", ["slow", "busy", "down"])
def test_failure_that_the_model_remembers_is_forgotten_once_it_answers(driven, state):
    driven.stage.left = 1
    driven.stage.failures = [TransientModelError("no answer", state=state)]
    driven.model.told = health(state)
    driven.for_s(2)
    assert driven.loop.health.state == state
    assert driven.stage.left == 1
    driven.stage.answering = FINE
    driven.for_s(10)
    assert driven.stage.left == 0
    assert driven.loop.health == FINE


def test_failure_that_the_model_remembers_for_hours_is_forgotten_once_it_answers(driven):
    driven.stage.left = 1
    driven.stage.failures = [TransientModelError("no answer", state="down")]
    driven.loop.turn()
    driven.model.told = health("down")
    driven.for_s(10_000)
    driven.stage.answering = FINE
    driven.for_s(301)
    assert driven.stage.left == 0
    assert driven.loop.health == FINE


def test_failure_is_told_even_where_the_server_lists_the_model(driven):
    driven.stage.left = 1
    driven.stage.failures = [PermanentModelError("refused (400)", hint="see its log")]
    driven.loop.turn()
    assert driven.loop.health.state == "down"
    assert driven.loop.health.hint == "see its log"
    assert driven.loop.report.failed == 1
    driven.for_s(2)
    assert driven.loop.health == FINE
    assert driven.stage.left == 0


def test_model_of_no_use_is_told_and_tried_out_ever_less_often_until_it_is_of_use(driven):
    useless = TransientModelError("of no use", hint="of no use; take another model", state="down")
    driven.stage.left = 3
    driven.stage.trial.is_in_doubt, driven.stage.trial.failure = True, useless
    driven.for_s(3600)
    assert (driven.loop.health.state, driven.loop.health.hint) == ("down", useless.hint)
    assert driven.stage.steps == 0
    # 1, 2, 4 … 256 and then 300 s apart, for all the looks in between.
    assert 15 <= driven.stage.trial.held <= 22
    driven.stage.trial.failure = None
    driven.for_s(300)
    assert driven.loop.health.state == "ok"
    assert driven.stage.left == 0


def test_missing_model_is_not_asked(driven):
    driven.model.told = health("missing")
    driven.for_s(600)
    assert driven.stage.probes == 0
    assert driven.loop.health.state == "missing"


def test_fault_of_our_own_does_not_end_the_loop(driven):
    driven.stage.left = 1
    driven.stage.failures = [ValueError("a bug"), OSError("disk")]
    driven.for_s(10)
    assert driven.stage.left == 0
    assert driven.loop.report.failed == 2


def test_pause_of_a_block_that_failed_is_waited_for_and_a_new_one_is_not(driven):
    driven.stage.outcomes = [Deepened(outcome="failed", blocks=1, reason="no JSON")]
    driven.stage.next_try = int((driven.now + 5) * 1000)
    driven.for_s(4)
    assert (driven.stage.steps, driven.loop.idle) == (2, False)
    assert driven.loop.report.reason == "no JSON"
    driven.loop.wake()
    driven.for_s(0.5)
    assert driven.stage.steps == 3
    driven.stage.next_try = None
    driven.for_s(6)
    assert driven.loop.idle


def test_other_weights_read_everything_again(driven):
    driven.for_s(1)
    driven.model.told = ModelHealth(state="ok", hint=None, name="m", digest="e" * 64)
    driven.for_s(61)
    weights = [one.split(":")[2].partition("@")[0] for one in driven.stage.queued_for]
    assert weights == ["d" * 12, "e" * 12]


def test_retry_queues_at_once_and_ends_a_pause(driven):
    driven.model.told = health("down")
    driven.for_s(1000)
    driven.model.told = FINE
    assert driven.loop.retry(only_parked=True) == 1
    driven.for_s(0)
    driven.loop.turn()
    assert driven.stage.left == 0
    driven.for_s(1)
    assert driven.loop.idle
    queued = len(driven.stage.queued_for)
    driven.loop.retry(only_parked=False)
    assert len(driven.stage.queued_for) == queued + 1


def test_chunk_that_takes_more_than_a_minute_is_told(driven):
    driven.stage.left = 1
    seen = []

    def step(_extractor: str) -> Deepened:
        driven.now += 70
        seen.append(driven.loop.health)
        return Deepened(outcome="nothing")

    driven.stage.step = step  # type: ignore[method-assign] # the fake's own
    driven.loop.turn()
    assert seen[0].state == "slow"
    assert "70 s" in seen[0].hint
    assert driven.loop.health.state == "ok"


# ---------------------------------------------------------------- the thread


@pytest.fixture
def threaded() -> Iterator[tuple[ExtractLoop, Stage, threading.Event]]:
    model = Model()
    stage = Stage(model)
    worked = threading.Event()
    loop = ExtractLoop(
        stage=stage,  # type: ignore[arg-type] # as much of it as the loop uses
        model=model,  # type: ignore[arg-type] # as much of it as the loop uses
        give_way=lambda: False,
        on_written=worked.set,
    )
    yield loop, stage, worked
    loop.stop()


def test_thread_works_when_it_is_woken_and_ends_when_it_is_told(threaded):
    loop, stage, worked = threaded
    stage.left = 1
    loop.start()
    assert worked.wait(DEADLINE_S)
    assert loop.stop()
    assert stage.model.closed
    assert "extract" not in {thread.name for thread in threading.enumerate()}


def test_call_that_was_cut_by_the_stop_is_no_failure(threaded):
    loop, stage, _ = threaded
    asked, cut = threading.Event(), threading.Event()

    def step(_extractor: str) -> Deepened:
        asked.set()
        assert cut.wait(DEADLINE_S)
        raise TransientModelError("the call was cut", state="off")

    stage.step = step  # type: ignore[method-assign] # the fake's own
    stage.model.close = cut.set  # type: ignore[method-assign] # the fake's own
    loop.start()
    assert asked.wait(DEADLINE_S)
    assert loop.stop()
    assert (loop.report.failed, loop.report.reason) == (0, None)


def test_store_that_is_closing_is_no_failure(driven):
    driven.stage.failures = [Stopping("the daemon is stopping")]
    driven.loop.turn()
    assert driven.loop.report.failed == 0


def test_stop_before_the_start_closes_the_model(driven):
    assert driven.loop.stop()
    assert driven.model.closed


def test_whoever_asks_for_the_status_has_a_missing_model_looked_for_at_once(threaded):
    loop, stage, _ = threaded
    stage.model.told = health("off")
    loop.start()
    soon(lambda: loop.health.state == "off")
    looks = stage.model.looks
    loop.look_now()
    assert stage.model.looks == looks, "the last look is a moment ago"
    stage.model.told = FINE
    soon(lambda: loop.look_now() or loop.health == FINE)


def test_status_never_waits_for_a_model_that_is_there_or_a_loop_that_is_busy(driven):
    driven.for_s(1)
    looks = driven.model.looks
    driven.now += 10
    driven.loop.look_now()
    assert driven.model.looks == looks
    driven.model.told = health("off")
    driven.now += 100
    seen = []
    driven.stage.step = lambda _extractor: Deepened(outcome="nothing")  # type: ignore[method-assign] # the fake's own

    def told() -> ModelHealth:
        driven.loop.look_now()
        seen.append(1)
        return health("off")

    driven.model.health = told  # type: ignore[method-assign] # the fake's own
    driven.loop.turn()
    assert seen
