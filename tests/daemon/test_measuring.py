"""When the threshold of evidence is measured, what comes of it, and what it leaves alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from daemon.measuring import VECTORS, MeasureLoop, MeasuringStage
from daemon.recalling import EVIDENCE, open_recall
from ingest.embedding import EmbeddingStage
from recalld.errors import TransientModelError
from recalld.records import RecallFilter
from recalld.settings.loading import load_settings
from recalld.store.connection import execute
from retrieval.foreign import foreign_questions, foreign_texts
from retrieval.recall import Recall
from retrieval.thresholds import GROWTH, LEAST_STATEMENTS, floor_and_ceiling
from tests.fakes import WordEmbedder
from tests.ingest.keeping import Vault
from tests.running import RunningDaemon

# A few of them, as most tests are about when they are asked.
ASKED = {one: foreign_texts()[one][:5] for one in ("en", "nl", "th", "unknown")}
QUESTIONS = [one for some in ASKED.values() for one in some]
pytestmark = pytest.mark.slow

TODAY = date(2026, 3, 4)


def notes(count: int) -> str:
    """So many sentences about one thing each."""
    return "".join(f"- Parcel number{n} weighs gram{n} stone{n}.\n" for n in range(count))


def talk(count: int) -> str:
    """So many sentences that speak of everything in passing, in the words of questions."""
    every = foreign_questions()["en"]
    return "".join(
        f"- {every[n % 16].rstrip('?')}, asked friend{n} once more yesterday.\n"
        for n in range(count)
    )


class Memory:
    """A store with notes, recall over it and what measures it. `restart` makes the latter two anew."""

    def __init__(self, base: Path, embedder: WordEmbedder | None = None) -> None:
        self._base = base
        self.vault = Vault(base)
        self.embedder = embedder or WordEmbedder()
        self.recall: Recall | None = None
        self.restart()

    def restart(self) -> None:
        self.close_recall()
        settings = load_settings(
            flags={"data_dir": str(self._base / "data")}, env={}, file=None, home=self._base
        ).settings
        self.recall = open_recall(
            self.vault.database, self.embedder, settings.recall, degraded=tuple
        )
        self.stage = MeasuringStage(
            database=self.vault.database,
            writes=self.vault.writes,
            recall=self.recall,
            embedder=lambda: self.embedder,
            today=lambda: TODAY,
            questions=ASKED,
        )

    def close_recall(self) -> None:
        if self.recall is not None:
            self.recall.close()

    def take(self, text: str, name: str = "a.md", *, embedded: bool = True) -> None:
        stage = EmbeddingStage(
            database=self.vault.database,
            writes=self.vault.writes,
            embedder=self.embedder,
            batch=1000,
        )
        stage.adopt()
        self.vault.write(name, text)
        self.vault.look(full=True)
        while embedded and stage.step().asked:
            pass
        if embedded:
            self.vault.writes.call(lambda writers: writers.spaces.call_whole(stage.space))

    def measure(self) -> int:
        """Works all of it off; how many steps that took."""
        steps = 0
        while self.stage.step():
            steps += 1
        return steps

    @property
    def calibration(self):
        return self.recall.meaning.calibration

    def tau(self, language: str | None = "en") -> float:
        return self.calibration.of(language).tau

    def kept(self, key: str = EVIDENCE) -> dict | None:
        rows = self.vault.rows("SELECT value FROM meta WHERE key = ?", key)
        return json.loads(rows[0][0]) if rows else None


@pytest.fixture
def memory(tmp_path) -> Iterator[Memory]:
    made = Memory(tmp_path)
    yield made
    made.close_recall()
    made.vault.database.close()


def test_new_space_is_measured_once(memory):
    memory.take(notes(60))
    assert memory.calibration.thresholds is None
    assert memory.measure() > len(QUESTIONS)
    kept = memory.kept()
    assert (kept["statements"], kept["day"]) == (60, "2026-03-04")
    assert set(kept["foreign"]) == set(ASKED)
    assert memory.calibration.thresholds.measured.statements == 60
    assert memory.measure() == 0


def test_small_memory_is_left_with_the_shipped_threshold(memory):
    memory.take(notes(LEAST_STATEMENTS - 1))
    assert memory.measure() == 0
    assert memory.embedder.queries == []
    assert memory.tau() == memory.embedder.space.tau
    memory.take(notes(LEAST_STATEMENTS))
    assert memory.measure() > 0


def test_memory_is_measured_again_when_it_has_grown_or_shrunk(memory):
    memory.take(notes(100))
    memory.measure()
    memory.take(notes(int(100 * GROWTH) - 1))
    assert memory.measure() == 0
    memory.take(notes(int(100 * GROWTH)))
    assert memory.measure() > 0
    assert memory.kept()["statements"] == 150
    memory.take(notes(100))
    assert memory.measure() > 0
    assert memory.kept()["statements"] == 100


def test_memory_that_became_small_goes_by_the_shipped_threshold_again(memory):
    memory.take(talk(100))
    memory.measure()
    assert memory.tau() > memory.embedder.space.tau
    memory.take(talk(10))
    assert memory.measure() == 0
    assert memory.tau() == memory.embedder.space.tau
    memory.restart()
    assert memory.tau() == memory.embedder.space.tau


def test_nothing_is_measured_while_statements_wait_for_vectors(memory):
    memory.take(notes(60))
    memory.take(notes(60), "b.md")
    memory.take(talk(5), "c.md", embedded=False)
    assert memory.measure() == 0
    memory.take(talk(5), "c.md")
    assert memory.measure() > 0


def test_restart_takes_what_was_measured_and_asks_nothing(memory):
    memory.take(talk(100))
    memory.measure()
    before, asked = memory.calibration, len(memory.embedder.queries)
    memory.restart()
    assert memory.calibration == before
    assert memory.measure() == 0
    assert len(memory.embedder.queries) == asked


def test_questions_are_embedded_once_a_model(memory):
    memory.take(notes(60))
    memory.measure()
    assert sorted(memory.embedder.queries) == sorted(QUESTIONS)
    memory.take(notes(200))
    assert memory.measure() > 0
    memory.restart()
    memory.take(notes(60))
    assert memory.measure() > 0
    assert len(memory.embedder.queries) == len(QUESTIONS)


def test_another_models_space_is_measured_for_itself(memory):
    memory.take(talk(60))
    memory.measure()
    memory.embedder = WordEmbedder(identity="words@2", dimension=64)
    memory.take(talk(60))
    memory.restart()
    assert memory.calibration.thresholds is None
    assert memory.measure() > 0
    assert memory.kept()["identity"] == "words@2"
    assert memory.kept(VECTORS)["of"][1] == "words@2"


def test_space_that_changes_meanwhile_leaves_nothing_behind(memory):
    memory.take(notes(60))
    while memory.stage.step() and len(memory.embedder.queries) < len(QUESTIONS):
        pass
    for _ in range(8):
        assert memory.stage.step()
    memory.embedder = WordEmbedder(identity="words@2", dimension=64)
    memory.take(notes(60))
    # Recall does not go by the new model yet.
    assert memory.measure() == 0
    assert memory.kept() is None
    assert memory.calibration.thresholds is None


def test_memory_that_grows_meanwhile_is_measured_anew(memory):
    memory.take(notes(60))
    for _ in range(len(QUESTIONS) + 8):
        assert memory.stage.step()
    memory.take(notes(300))
    memory.measure()
    assert memory.kept()["statements"] == 300


def test_it_comes_to_the_same_each_time_and_after_a_restart(memory):
    memory.take(talk(40) + notes(60))
    memory.measure()
    first = memory.kept()
    execute(memory.vault.database.writer, "DELETE FROM meta WHERE key = ?", (EVIDENCE,))
    memory.restart()
    memory.measure()
    assert memory.kept() == first


def test_talk_of_everything_gets_a_higher_threshold_than_notes_of_one_thing(tmp_path):
    found = {}
    for name, text in (("notes", notes(200)), ("talk", talk(200))):
        one = Memory(tmp_path / name)
        one.take(text)
        one.measure()
        found[name] = one.tau()
        low, high = floor_and_ceiling(one.embedder.space.tau)
        assert all(low <= value <= high for value in one.calibration.thresholds.told().values())
        one.close_recall()
        one.vault.database.close()
    assert found["talk"] > found["notes"]


def test_nothing_changes_before_all_is_asked_and_no_recall_is_counted(memory):
    memory.take(talk(100))
    answer = [hit.text for hit in ask(memory, "friend3 sheep")]
    before = memory.vault.rows("SELECT id, recall_count FROM fact ORDER BY id")
    while memory.stage.step():
        if memory.calibration.thresholds is None:
            assert memory.tau() == memory.embedder.space.tau
    assert memory.vault.rows("SELECT id, recall_count FROM fact ORDER BY id") == before
    assert answer


def ask(memory: Memory, text: str):
    return memory.recall.recall(text, limits=RecallFilter(), limit=8, max_chars=4000)[0].hits


def test_explain_names_the_threshold_and_why(memory):
    memory.take(talk(100))

    def told(text: str) -> dict:
        got, _ = memory.recall.recall(
            text, limits=RecallFilter(), limit=8, max_chars=4000, explain=True
        )
        return got.explanation["evidence"]

    assert told("Who has the harp?")["tau"] == 0.4
    assert told("Who has the harp?")["tau_by"]["source"] == "shipped"
    memory.measure()
    english, bare, hebrew = (
        told(text) for text in ("Who has the harp?", "harp", "איפה נבל גדול שלי")
    )
    measured = {"source": "measured", "measured": "2026-03-04", "statements": 100}
    assert english["tau_by"] == {**measured, "language": "en"}
    assert english["tau"] == memory.tau("en") > 0.4
    assert bare["tau_by"] == {**measured, "language": "latin"}
    assert bare["tau"] == max(memory.tau(one) for one in ("en", "nl"))
    assert hebrew["tau_by"] == {**measured, "language": "other"}
    # No note has one of these words.
    assert told("zorvekpyr mubblest grindal")["tau_by"] == {**measured, "language": "other"}
    assert told("zorvekpyr")["tau_by"] == {**measured, "language": "unknown"}
    assert told("zorvekpyr")["tau"] == memory.tau("unknown")
    assert told("睡眠")["tau_by"]["language"] == "unknown"
    assert told("在里斯本住的那间房一晚多少钱")["tau_by"]["language"] == "other"


def test_model_that_fails_is_asked_on_from_where_it_failed(memory):
    memory.take(notes(60))
    for _ in range(8):
        memory.stage.step()
    asked = len(memory.embedder.queries)
    memory.embedder.failure = TransientModelError("away")
    with pytest.raises(TransientModelError):
        memory.stage.step()
    memory.embedder.failure = None
    memory.measure()
    assert memory.kept() is not None
    assert len(memory.embedder.queries) == len(QUESTIONS) > asked > 0


def test_question_without_a_usable_vector_is_left_out(memory):
    class Gaps(WordEmbedder):
        def embed_query(self, text):
            vector = super().embed_query(text)
            return vector * float("nan") if text in foreign_questions()["th"] else vector

    memory.embedder = Gaps()
    memory.take(notes(60))
    memory.restart()
    memory.measure()
    assert set(memory.kept()["foreign"]) == {*ASKED} - {"th"}
    assert memory.tau("th") == memory.tau(None)


def test_kept_vectors_that_can_not_be_read_are_made_again(memory):
    memory.take(notes(60))
    memory.measure()
    first = memory.kept()
    for broken in ("{", '{"of": 1}', '{"vectors": "AA=="}'):
        execute(
            memory.vault.database.writer,
            "UPDATE meta SET value = ? WHERE key = ?",
            (broken, VECTORS),
        )
        execute(memory.vault.database.writer, "DELETE FROM meta WHERE key = ?", (EVIDENCE,))
        memory.restart()
        memory.measure()
        assert memory.kept() == first


class Scripted:
    def __init__(self, *steps: bool) -> None:
        self._steps = list(steps)

    def step(self) -> bool:
        return self._steps.pop(0)


def test_loop_rests_after_each_question_as_long_as_it_took():
    now = iter([0.0, 0.0, 5.0, 5.05, 5.05, 5.05, 5.05, 5.05, 5.05, 5.05])
    loop = MeasureLoop(
        Scripted(True, False),
        give_way=lambda: False,
        clock=lambda: next(now),
        wall_clock=lambda: 7.0,
    )
    turn = loop._turn()
    assert (turn.more, loop.report.last_ok) == (True, 7.0)
    assert turn.rest_s >= 0
    assert not loop._turn().more


def test_daemon_measures_behind_the_answers_and_tells_it(tmp_path):
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        daemon.write("a.md", talk(100))
        status = daemon.settle()
        assert status["state"] == "idle"
        status = daemon.wait_for(lambda now: not now["evidence"]["measuring"], 300)
        assert status["evidence"]["measured"]
        assert status["evidence"]["statements"] == 100
        assert status["evidence"]["threshold"]["en"] > 0.4
        assert set(status["evidence"]["threshold"]) == {*foreign_texts(), "other"}
        assert status["stages"]["evidence"]["failed"] == 0
        asked = len(daemon.embedder.queries)
        counts = daemon.rows("SELECT sum(recall_count) FROM fact")
        assert counts == [(0,)]
    with RunningDaemon(tmp_path, embedder=(again := WordEmbedder())) as daemon:
        daemon.settle()
        again_told = daemon.wait_for(lambda now: not now["evidence"]["measuring"], 300)
        assert again_told["evidence"] == status["evidence"]
        assert again.queries == []
    assert asked == sum(map(len, foreign_texts().values()))


def test_small_vault_keeps_the_shipped_threshold(tmp_path):
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        daemon.write("a.md", notes(5))
        daemon.settle()
        told = daemon.wait_for(lambda now: not now["evidence"]["measuring"], 300)["evidence"]
        assert told["threshold"] == {"other": 0.4}
        assert (told["measured"], told["statements"]) == (None, None)
