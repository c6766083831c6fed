"""Measures how fast the real daemon is: starts, saves, deletions, renames, idling and recalls, over its socket.

    python -m bench latency [--vault FOLDER] [--only first,restart,saves,deletions,rename,idle,recall,cli]

The vault is copied, and its data folder kept in the user's cache, since the vectors of a first run cost minutes.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from bench.corpus import Corpus, open_corpus
from bench.daemon_process import RECALLD, DaemonProcess
from bench.report import OUT, Figure, commit, keep, machine, show, spread
from bench.sentences import SAYINGS, name_of

_DEFAULT = Path("data") / "vaults" / "til-jbranchaud"
_FULL_RUN_S = 5400.0
_FOUND_S = 10.0
_POLL_S = 0.01
_SAVES = 50
_QUESTIONS = 300
_IDLE_S = 60.0
_PROCESSES = 20
_FAILURES = 3


# ---------------------------------------------------------------- what is measured


def first_start(corpus: Corpus) -> list[Figure]:
    """From nothing to an answer, and to every note found by the words of its title."""
    corpus.restore()
    sample = corpus.titles(50)
    states: dict[str, None] = {}
    with tempfile.TemporaryDirectory() as data, DaemonProcess(corpus.vault, Path(data)) as daemon:
        ping = daemon.wait_ready()
        first = daemon.call("recall", query=sample[0][1])
        answered = time.perf_counter() - daemon.began

        def words_done() -> bool:
            status = daemon.call("status")
            said = daemon.call("recall", query=sample[0][1])["degraded"]
            states.setdefault(f"{status['state']} {'+'.join(said) or '-'}")
            return status["queue"]["dirty"] == 0

        daemon.wait_for(words_done, 300.0, every_s=0.1)
        words = time.perf_counter() - daemon.began
        found = sum(_is_found(daemon, path, title) for path, title in sample)
        checked = time.perf_counter() - daemon.began
        waiting = daemon.call("status")["queue"]["embed"]
    return [
        Figure(name="answers ping after", value=round(ping, 2), unit="s"),
        Figure(name="answers its first recall after", value=round(answered, 2), unit="s"),
        Figure(name="that answer says", value="+".join(first["degraded"]) or "-"),
        Figure(
            name="words of all notes searchable after", value=round(words, 2), unit="s", target=30
        ),
        Figure(name=f"of {len(sample)} notes, found by their titles then", value=found),
        Figure(name="checked after", value=round(checked, 2), unit="s"),
        Figure(name="statements still without a vector then", value=waiting),
        Figure(name="state and degraded meanwhile", value=", ".join(states)),
    ]


def restart(corpus: Corpus) -> list[Figure]:
    """A start with nothing changed, and what it reads."""
    _make_ready(corpus)
    before = _last_vector(corpus)
    with DaemonProcess(corpus.vault, corpus.data) as daemon:
        ready = daemon.wait_ready()
        daemon.call("recall", query="restart")
        answered = time.perf_counter() - daemon.began
        settled = daemon.wait_settled(120)
        embedded = daemon.call("status")["stages"]["vectors"]["last_ok"]
        cpu = daemon.counters().cpu_s
        stopped = daemon.stop()
    computed = _vectors_since(corpus, before)
    return [
        Figure(name="ready after", value=round(ready, 2), unit="s", target=2),
        Figure(name="answers a recall after", value=round(answered, 2), unit="s"),
        Figure(name="settled after", value=round(settled, 2), unit="s"),
        Figure(name="CPU until settled", value=round(cpu, 2), unit="s"),
        Figure(name="embeddings computed", value=computed or int(embedded is not None), target=0),
        Figure(
            name="notes opened (a second restart, traced)", value=_notes_opened(corpus), target=0
        ),
        Figure(name="stopped within", value=round(stopped, 2), unit="s", target=5),
    ]


def saves(corpus: Corpus) -> list[Figure]:
    """From a save to recalled, by keyword and by meaning; half are renames into place, half written in place."""
    _make_ready(corpus)
    notes = random.Random(1).sample(corpus.notes(), min(_SAVES, len(corpus.notes())))
    seed = int(time.time()) % 1_000_000
    by_word: list[float] = []
    by_meaning: list[float] = []
    missed = 0
    with DaemonProcess(corpus.vault, corpus.data) as daemon:
        _warm(daemon, corpus)
        for index, path in enumerate(notes):
            saying, question = SAYINGS[index % len(SAYINGS)]
            name = name_of(index, seed)
            # Both questions are asked once before: their vectors are not what is measured here.
            _recalled(daemon, name, name)
            _recalled(daemon, question, name)
            file = corpus.vault / path
            text = file.read_text("utf-8", "surrogateescape") + f"\n\n{saying.format(name=name)}\n"
            saved = _save(file, text, in_place=bool(index % 2))
            word = _seconds_until(lambda name=name: _recalled(daemon, name, name), saved)
            meaning = _seconds_until(
                lambda question=question, name=name: _recalled(daemon, question, name), saved
            )
            by_word += [word] if word is not None else []
            by_meaning += [meaning] if meaning is not None else []
            missed += (word is None) + (meaning is None)
            if word is None or meaning is None:
                print(f"  not recalled: {saying} by {name} or {question}", file=sys.stderr)
    corpus.restore()
    return [
        *spread("save to recalled by keyword", by_word, "s", p95=1.0),
        *spread("save to recalled by meaning", by_meaning, "s", p95=1.0),
        Figure(
            name=f"of {2 * len(notes)}, not recalled within {_FOUND_S:g} s", value=missed, target=0
        ),
    ]


def deletions(corpus: Corpus) -> list[Figure]:
    """From the save of a note without a sentence until that sentence is recalled no more."""
    _make_ready(corpus)
    notes = random.Random(2).sample(corpus.notes(), min(_SAVES, len(corpus.notes())))
    seed = int(time.time()) % 1_000_000
    names = {path: name_of(index, seed) for index, path in enumerate(notes)}
    before = {path: (corpus.vault / path).read_text("utf-8", "surrogateescape") for path in notes}
    took: list[float] = []
    late = 0
    with DaemonProcess(corpus.vault, corpus.data) as daemon:
        _warm(daemon, corpus)
        for index, path in enumerate(notes):
            saying = SAYINGS[index % len(SAYINGS)][0].format(name=names[path])
            _save(corpus.vault / path, f"{before[path]}\n\n{saying}\n", in_place=True)
        for path in notes:
            name = names[path]
            found = lambda name=name: _recalled(daemon, name, name)  # noqa: E731 - asked many times
            daemon.wait_for(found, 60, every_s=0.05)
        daemon.wait_settled(120)
        for index, path in enumerate(notes):
            name = names[path]
            saved = _save(corpus.vault / path, before[path], in_place=bool(index % 2))
            gone = _seconds_until(lambda name=name: not _recalled(daemon, name, name), saved)
            took += [gone] if gone is not None else []
            late += gone is None
    corpus.restore()
    return [
        *spread("deletion of a sentence to its fact gone", took, "s", p95=1.0),
        Figure(name=f"of {len(notes)}, still there after {_FOUND_S:g} s", value=late, target=0),
    ]


def rename(corpus: Corpus) -> list[Figure]:
    """A folder of about 50 notes under another name, until every note is found there."""
    _make_ready(corpus)
    folder, notes = corpus.folder_of_about(50)
    titles = {path: title for path, title in corpus.titles(1_000_000) if path in set(notes)}
    target = f"{folder}-renamed"
    with DaemonProcess(corpus.vault, corpus.data) as daemon:
        _warm(daemon, corpus)
        daemon.wait_settled(120)
        # A note without words of its own is found by none.
        found = {p: t for p, t in titles.items() if _is_found(daemon, p, t, only=f"{folder}/**")}
        before = _last_vector(corpus)
        (corpus.vault / folder).rename(corpus.vault / target)
        renamed = time.perf_counter()
        moved = _seconds_until(
            lambda: all(
                _is_found(daemon, target + path.removeprefix(folder), title, only=f"{target}/**")
                for path, title in found.items()
            ),
            renamed,
            deadline_s=60,
        )
        settled = daemon.wait_settled(120) - (renamed - daemon.began)
        computed = _vectors_since(corpus, before)
        embedded = daemon.call("status")["stages"]["vectors"]["last_ok"]
        (corpus.vault / target).rename(corpus.vault / folder)
        time.sleep(1)
        daemon.wait_settled(120)
    corpus.restore()
    return [
        Figure(name=f"{len(found)} of {len(notes)} notes found under the new path after",
               value=None if moved is None else round(moved, 2), unit="s"),
        Figure(name="settled after", value=round(settled, 2), unit="s"),
        Figure(name="embeddings computed", value=computed or int(embedded is not None), target=0),
    ]  # fmt: skip


def idle(corpus: Corpus) -> list[Figure]:
    """What the daemon does in a minute without anything to do and without anybody asking."""
    _make_ready(corpus)
    with DaemonProcess(corpus.vault, corpus.data) as daemon:
        daemon.wait_ready()
        daemon.wait_settled(120)
        time.sleep(2)
        before, began = daemon.counters(), time.perf_counter()
        time.sleep(_IDLE_S)
        after, seconds = daemon.counters(), time.perf_counter() - began
        memory = _resident_mb(daemon.pid)
    share = 100 * (after.cpu_s - before.cpu_s) / seconds
    return [
        Figure(name="of one core", value=round(share, 2), unit="%", target=1),
        Figure(name="read calls", value=after.reads - before.reads, target=0),
        Figure(name="bytes read", value=after.read_bytes - before.read_bytes, target=0),
        Figure(name="bytes written", value=after.written_bytes - before.written_bytes, target=0),
        Figure(name="memory resident", value=memory, unit="MB"),
    ]


def recall(corpus: Corpus) -> list[Figure]:
    """Questions made from titles, each for the first time and then again."""
    _make_ready(corpus)
    questions = [f"how do I {title.lower()}?" for _, title in corpus.titles(_QUESTIONS, seed=3)]
    with DaemonProcess(corpus.vault, corpus.data) as daemon:
        _warm(daemon, corpus)
        daemon.wait_settled(120)
        began = daemon.counters().cpu_s
        computed = [_milliseconds(daemon, question) for question in questions]
        between = daemon.counters().cpu_s
        cached = [_milliseconds(daemon, question) for question in questions]
        ended = daemon.counters().cpu_s
    first, again = (
        round(1000 * seconds / len(questions), 1) for seconds in (between - began, ended - between)
    )
    return [
        *spread(f"{len(questions)} questions, first time", computed, "ms", p50=40),
        *spread(f"{len(questions)} questions, asked again", cached, "ms", p50=10),
        Figure(name="CPU of the daemon a question, first time", value=first, unit="ms"),
        Figure(name="CPU of the daemon a question, asked again", value=again, unit="ms"),
    ]


def cli(corpus: Corpus) -> list[Figure]:
    """`recalld recall` as a process of its own."""
    _make_ready(corpus)
    took = []
    with DaemonProcess(corpus.vault, corpus.data) as daemon:
        _warm(daemon, corpus)
        daemon.wait_settled(120)
        for _, title in corpus.titles(_PROCESSES, seed=4):
            command = [str(RECALLD), "recall", title, "--socket", str(daemon.socket)]
            began = time.perf_counter()
            ran = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
            if ran.returncode not in (0, 1):  # 1: nothing was found
                raise RuntimeError(f"recalld recall failed: {ran.stderr}")
            took.append((time.perf_counter() - began) * 1000)
    return spread(f"`recalld recall`, {len(took)} processes", took, "ms", p50=300)


ITEMS: dict[str, Callable[[Corpus], list[Figure]]] = {
    "first": first_start,
    "restart": restart,
    "saves": saves,
    "deletions": deletions,
    "rename": rename,
    "idle": idle,
    "recall": recall,
    "cli": cli,
}


# ---------------------------------------------------------------- how


def _make_ready(corpus: Corpus) -> None:
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


def _warm(daemon: DaemonProcess, corpus: Corpus) -> None:
    daemon.wait_ready()
    for _, title in corpus.titles(10, seed=5):
        daemon.call("recall", query=title)


def _save(path: Path, text: str, *, in_place: bool) -> float:
    """Writes a note as editors do; the instant at which it was saved."""
    content = text.encode("utf-8", "surrogateescape")
    if in_place:
        path.write_bytes(content)
    else:
        beside = path.with_name(f".{path.name}.tmp")
        beside.write_bytes(content)
        beside.replace(path)
    return time.perf_counter()


def _recalled(daemon: DaemonProcess, query: str, name: str) -> bool:
    """Whether a hit holds `name`; no threshold, as time is measured here and not judgement."""
    result = daemon.call("recall", query=query, limit=50, max_chars=200_000, min_relevance=0)
    return any(name in hit["text"] for hit in result["hits"])


def _is_found(daemon: DaemonProcess, path: str, title: str, only: str | None = None) -> bool:
    paths = [only] if only else []
    anyhow = {"min_relevance": 0} if only else {}
    result = daemon.call("recall", query=title, limit=50, max_chars=200_000, paths=paths, **anyhow)
    return any(hit["source"]["path"] == path for hit in result["hits"])


def _seconds_until(
    holds: Callable[[], bool], since: float, *, deadline_s: float = _FOUND_S
) -> float | None:
    """Seconds from an instant until something holds; None = not in time."""
    while not holds():
        if time.perf_counter() - since > deadline_s:
            return None
        time.sleep(_POLL_S)
    return time.perf_counter() - since


def _milliseconds(daemon: DaemonProcess, question: str) -> float:
    began = time.perf_counter()
    daemon.call("recall", query=question)
    return (time.perf_counter() - began) * 1000


def _rows(corpus: Corpus, sql: str, *bindings: object) -> int:
    place = f"file:{corpus.data / 'memory.db'}?mode=ro"
    with closing(sqlite3.connect(place, uri=True)) as connection:
        return int(connection.execute(sql, bindings).fetchone()[0] or 0)


def _last_vector(corpus: Corpus) -> int:
    return _rows(corpus, "SELECT max(statement_id) FROM vector")


def _vectors_since(corpus: Corpus, last: int) -> int:
    return _rows(corpus, "SELECT count(*) FROM vector WHERE statement_id > ?", last)


def _notes_opened(corpus: Corpus) -> int | None:
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


def _resident_mb(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1_000_000


def _default_vault() -> Path:
    shared = os.environ.get("RECALLD_SHARED")
    return (Path(shared) if shared else Path(__file__).parents[2] / "shared") / _DEFAULT


def main(words: list[str]) -> int:
    """Runs what was chosen, prints each table as it comes, and keeps the figures. 1 when a target was missed."""
    parser = argparse.ArgumentParser(
        prog="python -m bench latency", description=__doc__.split("\n")[0]
    )
    parser.add_argument(
        "--vault", type=Path, help="default: $RECALLD_SHARED/data/vaults/til-jbranchaud"
    )
    parser.add_argument("--only", default=",".join(ITEMS), help="items, separated by commas")
    parser.add_argument("--out", type=Path, default=OUT / "latency.json")
    asked = parser.parse_args(words)
    chosen = asked.only.split(",")
    if unknown := set(chosen) - set(ITEMS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known are {', '.join(ITEMS)}")
    vault = (asked.vault or _default_vault()).resolve()
    if not vault.is_dir():
        print(f"There is no vault at {vault}: nothing is measured. Try --vault FOLDER.")
        return 0
    corpus = open_corpus(vault)
    here = machine()
    print(f"{vault.name}: {len(corpus.notes())} notes; {here['cores']} cores, {here['model']},"
          f" load {here['load_1min']}; commit {commit()}; {time.strftime('%Y-%m-%d %H:%M')}")  # fmt: skip
    missed = False
    for item in chosen:
        figures = ITEMS[item](corpus)
        show(item, figures)
        keep(asked.out, item, vault.name, figures)
        missed = missed or any(one.misses for one in figures)
    return int(missed)
