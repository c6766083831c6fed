"""What a measurement does to a real daemon and sees of it: saves, questions, instants, rows of its file."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from bench.corpus import Corpus
from bench.daemon_process import DaemonProcess

_FULL_RUN_S = 5400.0
FOUND_S = 10.0
_POLL_S = 0.01
_FAILURES = 3


def make_ready(corpus: Corpus) -> None:
    """The copy as the original, all of it in the index; the first time that takes as long as embedding it does."""
    corpus.restore()
    with DaemonProcess(corpus.vault, corpus.data) as daemon:
        daemon.wait_ready()
        told = time.perf_counter()

        def settled() -> bool:
            nonlocal told
            status = daemon.call("status")
            for stage, report in status["stages"].items():
                if report["failed"] >= _FAILURES:
                    raise RuntimeError(
                        f"{stage} fails ({report['reason']}); is {corpus.data} of an older recalld?"
                    )
            if time.perf_counter() - told > 15:
                told = time.perf_counter()
                print(f"  still to embed: {status['queue']['embed']}", file=sys.stderr, flush=True)
            # With the threshold of evidence measured, as in a memory that has been there for a while.
            return bool(status["state"] == "idle" and not status["evidence"]["measuring"])

        daemon.wait_for(settled, _FULL_RUN_S, every_s=0.1)


def warm(daemon: DaemonProcess, corpus: Corpus) -> None:
    daemon.wait_ready()
    for _, title in corpus.titles(10, seed=5):
        daemon.call("recall", query=title)


def save(path: Path, text: str, *, in_place: bool) -> float:
    """Writes a note as editors do; the instant at which it was saved."""
    content = text.encode("utf-8", "surrogateescape")
    if in_place:
        path.write_bytes(content)
    else:
        beside = path.with_name(f".{path.name}.tmp")
        beside.write_bytes(content)
        beside.replace(path)
    return time.perf_counter()


def recalled(daemon: DaemonProcess, query: str, name: str) -> bool:
    """Whether a hit holds `name`; no threshold, as time is measured here and not judgement."""
    result = daemon.call("recall", query=query, limit=50, max_chars=200_000, min_relevance=0)
    return any(name in hit["text"] for hit in result["hits"])


def is_found(daemon: DaemonProcess, path: str, title: str, only: str | None = None) -> bool:
    paths = [only] if only else []
    anyhow = {"min_relevance": 0} if only else {}
    result = daemon.call("recall", query=title, limit=50, max_chars=200_000, paths=paths, **anyhow)
    return any(hit["source"]["path"] == path for hit in result["hits"])


def seconds_until(
    holds: Callable[[], bool], since: float, *, deadline_s: float = FOUND_S
) -> float | None:
    """Seconds from an instant until something holds; None = not in time."""
    while not holds():
        if time.perf_counter() - since > deadline_s:
            return None
        time.sleep(_POLL_S)
    return time.perf_counter() - since


def milliseconds(daemon: DaemonProcess, question: str) -> float:
    began = time.perf_counter()
    daemon.call("recall", query=question)
    return (time.perf_counter() - began) * 1000


def _rows(corpus: Corpus, sql: str, *bindings: object) -> int:
    place = f"file:{corpus.data / 'memory.db'}?mode=ro"
    with closing(sqlite3.connect(place, uri=True)) as connection:
        return int(connection.execute(sql, bindings).fetchone()[0] or 0)


def last_vector(corpus: Corpus) -> int:
    return _rows(corpus, "SELECT max(statement_id) FROM vector")


def vectors_since(corpus: Corpus, last: int) -> int:
    return _rows(corpus, "SELECT count(*) FROM vector WHERE statement_id > ?", last)


def notes_opened(corpus: Corpus) -> int | None:
    """How many notes a start with nothing changed opens; None without strace."""
    if shutil.which("strace") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "opened")
        with DaemonProcess(corpus.vault, corpus.data, trace=trace) as daemon:
            daemon.wait_ready(120)
            daemon.wait_settled(120)
        opened = trace.read_text("utf-8", "replace").splitlines()
    return sum('.md"' in line for line in opened)


def resident_mb(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1_000_000
