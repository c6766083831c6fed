"""A daemon with a language model that is killed again and again: the same facts in the end, and no block read twice.

`RECALLD_KILLED_NOTES=300 RECALLD_KILLS=30` makes it as large as is claimed of it; without them it is quick.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from daemon.app import DATABASE_NAME
from tests.copying import asked_blocks, copied
from tests.fake_ollama import FakeOllama
from tests.fakes import WordEmbedder
from tests.running import RunningDaemon, is_at_rest
from tests.waiting import DEADLINE_S, soon

REPO = Path(__file__).parents[2]
SHARED = Path(os.environ.get("RECALLD_SHARED", REPO.parent / "shared"))
NOTES = int(os.environ.get("RECALLD_KILLED_NOTES", "25"))
# Real notes are longer than made ones.
REAL_NOTES = int(os.environ.get("RECALLD_KILLED_NOTES", "15"))
KILLS = int(os.environ.get("RECALLD_KILLS", "8"))

# What follows from the notes and the model's answers, without ids.
STATE = {
    "blocks": "SELECT path, ordinal, extraction, attempts, block.extractor, refused FROM block"
    " JOIN note ON note.id = note_id ORDER BY 1, 2",
    "facts": "SELECT fact.uid, fact.text, category, confidence, fact.extractor, path, position,"
    " fact_source.line_from FROM fact JOIN fact_source ON fact_id = fact.id"
    " JOIN passage ON passage.id = passage_id JOIN note ON note.id = note_id ORDER BY 1, 6, 7, 8",
    "statements": "SELECT path, position, statement.text, of_fact, embed_state, embedding"
    " FROM statement JOIN passage ON passage.id = passage_id JOIN note ON note.id = note_id"
    " LEFT JOIN vector ON statement_id = statement.id ORDER BY 1, 2, 4, 3",
    "names": "SELECT entity.key, count(*) FROM entity JOIN mention ON entity_id = entity.id"
    " GROUP BY 1 ORDER BY 1",
}


def note(number: int) -> str:
    """A note whose every block is unlike all others."""
    return (
        f"# Machine {number}\n\n"
        f"The machine M{number} runs version {number}.4 of the firmware. It stands in rack {number}.\n\n"
        f"- Port {8000 + number} of M{number} is open.\n"
        f"- Nobody may restart M{number} on day {number}.\n\n"
        f"De ventilator van M{number} is in 20{10 + number} vervangen.\n"
    )


def made_notes() -> dict[str, str]:
    return {f"{number}.md": note(number) for number in range(NOTES)}


def real_notes() -> dict[str, str]:
    """The first notes of a folder of real ones."""
    vault = SHARED / "data" / "vaults" / "til-jbranchaud"
    if not vault.is_dir():
        pytest.skip(f"{vault} is not there: set RECALLD_SHARED")
    paths = sorted(path for path in vault.rglob("*.md") if path.name != "README.md")[:REAL_NOTES]
    return {str(path.relative_to(vault)): path.read_text("utf-8") for path in paths}


def settings(fake: FakeOllama) -> dict[str, object]:
    return {"llm.provider": "ollama", "llm.host": fake.url}


def state_of(daemon: RunningDaemon) -> dict[str, list[tuple[object, ...]]]:
    return {name: daemon.rows(sql) for name, sql in STATE.items()}


def committed(daemon: RunningDaemon) -> set[str]:
    """The texts whose result is in the database, those that stand in one place alone."""
    if not (daemon.data / DATABASE_NAME).exists():
        return set()
    if daemon.rows("PRAGMA user_version") == [(0,)]:
        return set()
    rows = daemon.rows("SELECT text, extraction = 'done' AND extractor LIKE 'llm:%' FROM block")
    often = Counter(text.strip() for text, _ in rows)
    return {text.strip() for text, done in rows if done and often[text.strip()] == 1}


def waiting(daemon: RunningDaemon) -> int:
    return int(daemon.rows("SELECT count(*) FROM block WHERE extraction = 'pending'")[0][0])


def settled(daemon: RunningDaemon) -> dict[str, Any]:
    daemon.call("sync")
    return daemon.wait_for(is_at_rest)


def texts(bodies: list[dict[str, object]]) -> Counter[str]:
    return Counter(text for body in bodies for text in asked_blocks(body))


@pytest.mark.slow
@pytest.mark.timeout(600 + 60 * KILLS + 6 * NOTES)
@pytest.mark.parametrize("notes", [made_notes, real_notes])
def test_killed_while_a_model_reads_it_ends_as_if_undisturbed(tmp_path, notes):
    dice = random.Random(20)
    killed, undisturbed = tmp_path / "killed", tmp_path / "undisturbed"
    killed.mkdir()
    undisturbed.mkdir()
    with FakeOllama() as fake:

        def slowly(body):
            time.sleep(0.03)
            return copied(body)

        fake.answer = slowly
        daemon = RunningDaemon(killed, embedder=WordEmbedder(), settings=settings(fake))
        for path, text in notes().items():
            daemon.write(path, text)
        in_the_middle = 0
        for _ in range(KILLS):
            done, calls = committed(daemon), len(fake.calls("/api/chat"))
            _run_and_kill(killed, fake, calls + dice.randrange(1, 6), dice.uniform(0, 0.1))
            again = texts(fake.calls("/api/chat")[calls:])
            assert not done & set(again), "read twice after its result was committed"
            in_the_middle += bool(again) and waiting(daemon) > 0
        assert in_the_middle >= KILLS // 3, "most kills came when the model had nothing to do"
        done, calls = committed(daemon), len(fake.calls("/api/chat"))
        with daemon:
            status = settled(daemon)
            assert status["queue"]["extract"] == 0
            found = state_of(daemon)
            files = daemon.files()
        assert not done & set(texts(fake.calls("/api/chat")[calls:]))
    with FakeOllama() as fresh:
        fresh.answer = copied
        other = RunningDaemon(undisturbed, embedder=WordEmbedder(), settings=settings(fresh))
        with other:
            for path, content in files.items():
                other.write(path, content)
            settled(other)
            due = state_of(other)
        # What a kill cut short is asked again, and no more than that.
        assert len(fake.calls("/api/chat")) <= len(fresh.calls("/api/chat")) + 4 * KILLS
    for name, rows in due.items():
        assert found[name] == rows, name
    assert "llm" in {str(row[4]).partition(":")[0] for row in due["facts"]}


def _run_and_kill(base: Path, fake: FakeOllama, calls: int, later_s: float) -> None:
    """Kills a daemon a moment after so many calls to the model, or when nothing is left to ask."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.cases.daemon_process", str(base), fake.url],
        cwd=REPO,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        soon(lambda: len(fake.calls("/api/chat")) >= calls or process.poll() is not None)
        time.sleep(later_s)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=DEADLINE_S)
