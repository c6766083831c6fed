"""What `status` tells, from a store and from running parts that say what they are told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from daemon.ingesting import Waiting
from daemon.loop import StageReport
from daemon.status import Change, EmbeddingModel, StatusReport
from daemon.watch import WatchHealth
from ingest.keeper import RootReport
from recalld.errors import ModelError, TransientModelError
from recalld.models.chat import ModelHealth
from recalld.store.connection import Database
from retrieval.evidence import Calibration
from retrieval.thresholds import thresholds
from tests.fakes import WordEmbedder
from tests.measured import measured
from tests.running import RunningDaemon

DONE = Waiting(dirty=0, oldest_s=None, scanning=False)
FINE = RootReport(state="ok", hint=None, held=0, unreadable=(), skipped=())


@dataclass
class Keeper:
    path: Path = Path("/notes")
    root_id: int = 1
    told: RootReport = FINE

    def report(self) -> RootReport:
        return self.told


@dataclass
class Ingest:
    now: Waiting = DONE
    keepers: dict[str, Keeper] = field(default_factory=lambda: {"notes": Keeper()})

    def waiting(self) -> Waiting:
        return self.now

    def pending_of(self, _root: str) -> int:
        return self.now.dirty


@dataclass
class Embed:
    idle: bool = True
    problem: ModelError | None = None
    step_age_s: float = 0.0


@dataclass
class Watched:
    told: WatchHealth | None = None

    def health(self, _root: str) -> WatchHealth | None:
        return self.told


FIT = ModelHealth(state="ok", hint=None, name="gemma3:4b", digest="d")


@dataclass
class Extract:
    idle: bool = True
    health: ModelHealth = FIT


@dataclass
class Agree:
    idle: bool = True


class Spaces:
    """As the test says."""

    def __init__(self, model: EmbeddingModel) -> None:
        self.model = model
        self.is_changing = False
        self.told: Change | None = None
        self.answering = True

    def answers(self) -> bool:
        return self.answering

    def change(self) -> Change | None:
        return self.told


class Parts:
    """A report over a real, empty store."""

    def __init__(self, database: Database) -> None:
        self.ingest, self.embed, self.watches = Ingest(), Embed(), Watched()
        self.extract: Extract | None = None
        self.agree = Agree()
        self.reranker = ModelHealth(state="off", hint=None, name="", digest=None)
        self.stages = {"scan": StageReport()}
        self.measuring = False
        self.calibration = Calibration(tau=0.38, slope=6, keyword_tau=0.5, keyword_slope=6)
        self.generation = 0
        self._database = database
        self.report = self.over(embed=self.embed)

    def over(self, *, embed: Embed | None, model: EmbeddingModel | None = None) -> StatusReport:
        fine = EmbeddingModel(space=WordEmbedder().space, state="ok", hint=None)
        return StatusReport(
            database=self._database,
            ingest=self.ingest,
            embed=embed,
            extract=self.extract,
            agree=self.agree,
            watches=self.watches,
            embedding=Spaces(model or fine),
            evidence=lambda: self.calibration,
            measuring=lambda: self.measuring,
            reranker=lambda: self.reranker,
            generation=lambda: self.generation,
            stages=self.stages,
        )

    def root(self) -> dict[str, object]:
        return self.report.result()["roots"][0]


@pytest.fixture
def parts(tmp_path) -> Iterator[Parts]:
    database = Database(tmp_path / "memory.db")
    yield Parts(database)
    database.close()


def test_idle_is_only_when_words_and_vectors_are_done(parts):
    assert parts.report.state() == "idle"
    parts.embed.idle = False
    assert parts.report.state() == "busy"
    parts.embed.idle, parts.agree.idle = True, False
    assert parts.report.state() == "busy"
    parts.agree.idle = True
    parts.ingest.now = Waiting(dirty=1, oldest_s=0.2, scanning=False)
    assert parts.report.state() == "busy"


def test_idle_does_not_wait_for_the_language_model_which_is_told(parts):
    parts.extract = Extract(idle=False)
    report = parts.over(embed=parts.embed)
    assert (report.state(), report.settled(), report.refined()) == ("idle", True, False)
    assert report.degraded() == ()
    assert report.result()["refining"] == report.refining() == {"blocks": 0, "facts": 0}
    parts.extract.idle = True
    assert (report.state(), report.refined()) == ("idle", True)
    assert report.result()["refining"] is None
    parts.agree.idle = False
    assert not report.refined()
    parts.agree.idle = True
    assert report.result()["models"]["llm"] == {"name": "gemma3:4b", "state": "ok", "hint": None}
    parts.extract.health = ModelHealth(
        state="missing", hint="`ollama pull gemma3:4b`", name="gemma3:4b", digest=None
    )
    assert report.result()["models"]["llm"]["hint"] == "`ollama pull gemma3:4b`"
    nothing = {"pending": 0, "parked": [], "refused": {}, "beside": 0}
    assert report.result()["extraction"] == nothing


def test_until_it_has_settled_once_it_is_catching_up(parts):
    parts.ingest.now = Waiting(dirty=900, oldest_s=3.0, scanning=True)
    assert parts.report.state() == "catching_up"
    assert parts.report.degraded() == ("catching_up",)
    parts.ingest.now = DONE
    assert parts.report.state() == "idle"
    parts.ingest.now = Waiting(dirty=1, oldest_s=0.1, scanning=False)
    assert parts.report.state() == "busy"
    assert parts.report.degraded() == ()
    parts.ingest.now = Waiting(dirty=1, oldest_s=0.1, scanning=True)
    assert parts.report.degraded() == ("catching_up",)
    parts.ingest.now = Waiting(dirty=500, oldest_s=0.1, scanning=False)
    assert parts.report.degraded() == ("catching_up",)
    parts.ingest.now = Waiting(dirty=3, oldest_s=0.1, scanning=False)
    assert parts.report.degraded() == ()


def test_stopping_says_so_and_is_not_ready(parts):
    parts.report.stopping = True
    told = parts.report.result()
    assert (told["state"], told["ready"]) == ("stopping", False)


def test_age_of_the_oldest_change_is_told(parts):
    assert parts.report.result()["oldest_pending_s"] is None
    parts.ingest.now = Waiting(dirty=2, oldest_s=75.26, scanning=False)
    assert parts.report.result()["oldest_pending_s"] == 75.3


def test_model_that_fails_is_down_with_what_to_do(parts):
    parts.embed.problem = TransientModelError("no answer", hint="start it")
    told = parts.report.result()["models"]["embedding"]
    assert (told["state"], told["hint"]) == ("down", "no answer: start it")
    assert parts.report.degraded() == ("vectors",)
    parts.embed.problem = TransientModelError("no answer")
    assert parts.report.result()["models"]["embedding"]["hint"] == "no answer"
    parts.embed.problem = None
    told = parts.report.result()["models"]["embedding"]
    assert told == {
        "name": "words",
        "dimension": 128,
        "state": "ok",
        "hint": None,
        "reembedding": None,
    }


def test_model_that_hangs_is_slow(parts):
    parts.embed.step_age_s = 20
    assert parts.report.result()["models"]["embedding"]["state"] == "ok"
    parts.embed.step_age_s = 31
    told = parts.report.result()["models"]["embedding"]
    assert told["state"] == "slow"
    assert "31 s" in told["hint"]


@pytest.mark.parametrize("state", ["off", "missing"])
def test_absent_model_says_why_and_does_not_keep_it_from_idling(parts, state):
    report = parts.over(embed=None, model=EmbeddingModel(space=None, state=state, hint="why"))
    told = report.result()
    assert told["state"] == "idle"
    assert told["models"]["embedding"] == {
        "name": None,
        "dimension": None,
        "state": state,
        "hint": "why",
        "reembedding": None,
    }
    assert report.degraded() == ("vectors",)


def test_nothing_waits_for_vectors_that_nobody_wants(tmp_path):
    with RunningDaemon(tmp_path, embedder=None) as daemon:
        daemon.write("a.md", "The pump of the boiler leaks.\n")
        daemon.settle()
        assert daemon.rows("SELECT count(*) FROM statement WHERE embed_state = 'pending'")[0][0] > 0
        assert daemon.call("status")["queue"]["embed"] == 0


def test_root_tells_what_its_keeper_knows(parts):
    parts.ingest.keepers["notes"].told = RootReport(
        state="held",
        hint="many notes are missing at once",
        held=12,
        unreadable=(("geheim.md", "permission denied"),),
        skipped=(("groot.md", "too large"),),
    )
    root = parts.root()
    assert root["state"] == "held"
    assert root["held"] == 12
    assert root["hint"] == "many notes are missing at once"
    assert root["unreadable"] == [{"path": "geheim.md", "reason": "permission denied"}]
    assert root["skipped"] == [{"path": "groot.md", "reason": "too large"}]


def test_root_that_cannot_be_watched_whole_is_polling(parts):
    parts.watches.told = WatchHealth(state="polling", message="no watches left", hint="raise it")
    assert (parts.root()["state"], parts.root()["hint"]) == ("polling", "raise it")
    parts.ingest.keepers["notes"].told = RootReport(
        state="unavailable", hint="not there", held=0, unreadable=(), skipped=()
    )
    assert (parts.root()["state"], parts.root()["hint"]) == ("unavailable", "not there")


def test_stages_tell_their_last_success_in_utc_and_their_failures(parts):
    assert parts.report.result()["stages"]["scan"] == {"last_ok": None, "failed": 0, "reason": None}
    parts.stages["scan"].last_ok = 1_000_000_000.4
    parts.stages["scan"].failed = 2
    parts.stages["scan"].reason = "the disk is full"
    assert parts.report.result()["stages"]["scan"] == {
        "last_ok": "2001-09-09T01:46:40+00:00",
        "failed": 2,
        "reason": "the disk is full",
    }


def test_numbers_are_counted_anew_only_after_a_write(parts, tmp_path):
    assert parts.report.result()["roots"][0]["notes"] == 0
    first = parts.report._numbers()
    assert parts.report._numbers() is first
    parts.generation += 1
    assert parts.report._numbers() is not first


@pytest.mark.slow
def test_counts_are_those_of_the_notes(tmp_path):
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        daemon.write(
            "a.md", "---\ntags: [x]\n---\n# Servers\n\nThe gateway listens on port 9090.\n"
        )
        daemon.write("b.md", "See [[a]].\n\n- Always use tabs.\n")
        daemon.write("bad.md", b"\xff\xfe\x00\xd8 not text at all \x00")
        status = daemon.settle()
        counts = status["counts"]
        assert counts["notes"] == status["roots"][0]["notes"] == daemon.rows("SELECT count(*) FROM note")[0][0]  # fmt: skip
        assert counts["facts"] == sum(counts["by_category"].values()) > 0
        assert counts["links"] >= 1
        assert status["queue"] == {"dirty": 0, "extract": 0, "parked": 0, "embed": 0}
        assert status["database"]["bytes"] > 0
        assert status["database"]["problem"] is None
        (daemon.vault / "a.md").unlink()
        status = daemon.settle()
        assert status["counts"]["notes"] == counts["notes"] - 1


CHANGE = Change(model="bge-m3", recall_uses="e5", done=1200, total=4600)


def changing(parts: Parts, change: Change, *, answering: bool = True) -> StatusReport:
    report = parts.over(embed=parts.embed)
    spaces = report._embedding
    assert isinstance(spaces, Spaces)
    spaces.told, spaces.is_changing, spaces.answering = change, True, answering
    return report


def test_change_of_the_model_is_told_with_what_recall_uses_meanwhile(parts):
    report = changing(parts, CHANGE)
    told = report.result()["models"]["embedding"]
    assert told["hint"] == "re-embedding 1200 of 4600 for bge-m3, recall uses e5 meanwhile"
    assert told["reembedding"] == {
        "model": "bge-m3",
        "recall_uses": "e5",
        "done": 1200,
        "total": 4600,
    }
    assert report.degraded() == ()


def test_new_model_that_fails_does_not_degrade_recall_by_the_old_one(parts):
    parts.embed.problem = TransientModelError("no answer", hint="start it")
    report = changing(parts, CHANGE)
    told = report.result()["models"]["embedding"]
    assert (told["state"], told["hint"].endswith("; no answer: start it")) == ("down", True)
    assert report.degraded() == ()
    gone = changing(parts, CHANGE, answering=False)
    assert gone.degraded() == ("vectors",)


def test_keywords_that_stand_in_are_told(parts):
    change = Change(model="bge-m3", recall_uses=None, done=0, total=9)
    report = changing(parts, change, answering=False)
    hint = report.result()["models"]["embedding"]["hint"]
    assert (
        hint == "re-embedding 0 of 9 for bge-m3, recall uses keywords where vectors lack meanwhile"
    )


def test_reranker_is_told_in_the_same_words(parts):
    off = {"name": None, "state": "off", "hint": None}
    assert parts.report.result()["models"]["reranker"] == off
    parts.reranker = ModelHealth(state="slow", hint="take a smaller one", name="bge", digest=None)
    told = {"name": "bge", "state": "slow", "hint": "take a smaller one"}
    assert parts.report.result()["models"]["reranker"] == told


def test_shipped_threshold_is_told_until_one_is_measured(parts):
    assert parts.report.result()["evidence"] == {
        "threshold": {"other": 0.38},
        "measured": None,
        "statements": None,
        "measuring": False,
    }
    parts.measuring = True
    parts.calibration = replace(parts.calibration, thresholds=thresholds(measured(en=0.3), 0.38))
    assert parts.report.result()["evidence"] == {
        "threshold": {"en": 0.48, "other": 0.48},
        "measured": "2026-03-04",
        "statements": 70,
        "measuring": True,
    }
