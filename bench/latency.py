"""Measures how fast the real daemon is: starts, saves, deletions, renames, idling and recalls, over its socket.

    python -m bench latency [--vault FOLDER] [--only first,restart,saves,deletions,rename,idle,recall,cli]

The vault is copied, and its data folder kept in the user's cache, since the vectors of a first run cost minutes.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.corpus import Corpus, open_corpus
from bench.daemon_process import RECALLD, DaemonProcess
from bench.probes import (
    FOUND_S,
    is_found,
    last_vector,
    make_ready,
    milliseconds,
    notes_opened,
    recalled,
    resident_mb,
    save,
    seconds_until,
    vectors_since,
    warm,
)
from bench.report import OUT, Figure, commit, keep, machine, show, spread
from bench.sentences import SAYINGS, name_of

_DEFAULT = Path("data") / "vaults" / "til-jbranchaud"
_SAVES = 50
_QUESTIONS = 300
_IDLE_S = 60.0
_PROCESSES = 20


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

        # Seldom: each look takes as long as half a note.
        daemon.wait_for(words_done, 300.0, every_s=0.5)
        words = time.perf_counter() - daemon.began
        found = sum(is_found(daemon, path, title) for path, title in sample)
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
    make_ready(corpus)
    before = last_vector(corpus)
    with DaemonProcess(corpus.vault, corpus.data) as daemon:
        ready = daemon.wait_ready()
        daemon.call("recall", query="restart")
        answered = time.perf_counter() - daemon.began
        settled = daemon.wait_settled(120)
        embedded = daemon.call("status")["stages"]["vectors"]["last_ok"]
        cpu = daemon.counters().cpu_s
        stopped = daemon.stop()
    computed = vectors_since(corpus, before)
    return [
        Figure(name="ready after", value=round(ready, 2), unit="s", target=2),
        Figure(name="answers a recall after", value=round(answered, 2), unit="s"),
        Figure(name="settled after", value=round(settled, 2), unit="s"),
        Figure(name="CPU until settled", value=round(cpu, 2), unit="s"),
        Figure(name="embeddings computed", value=computed or int(embedded is not None), target=0),
        Figure(
            name="notes opened (a second restart, traced)", value=notes_opened(corpus), target=0
        ),
        Figure(name="stopped within", value=round(stopped, 2), unit="s", target=5),
    ]


def saves(corpus: Corpus) -> list[Figure]:
    """From a save to recalled, by keyword and by meaning; half are renames into place, half written in place."""
    make_ready(corpus)
    notes = random.Random(1).sample(corpus.notes(), min(_SAVES, len(corpus.notes())))
    seed = int(time.time()) % 1_000_000
    by_word: list[float] = []
    by_meaning: list[float] = []
    missed = 0
    with DaemonProcess(corpus.vault, corpus.data) as daemon:
        warm(daemon, corpus)
        for index, path in enumerate(notes):
            saying, question = SAYINGS[index % len(SAYINGS)]
            name = name_of(index, seed)
            # Both questions are asked once before: their vectors are not what is measured here.
            recalled(daemon, name, name)
            recalled(daemon, question, name)
            file = corpus.vault / path
            text = file.read_text("utf-8", "surrogateescape") + f"\n\n{saying.format(name=name)}\n"
            saved = save(file, text, in_place=bool(index % 2))
            word = seconds_until(lambda name=name: recalled(daemon, name, name), saved)
            meaning = seconds_until(
                lambda question=question, name=name: recalled(daemon, question, name), saved
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
            name=f"of {2 * len(notes)}, not recalled within {FOUND_S:g} s", value=missed, target=0
        ),
    ]


def deletions(corpus: Corpus) -> list[Figure]:
    """From the save of a note without a sentence until that sentence is recalled no more."""
    make_ready(corpus)
    notes = random.Random(2).sample(corpus.notes(), min(_SAVES, len(corpus.notes())))
    seed = int(time.time()) % 1_000_000
    names = {path: name_of(index, seed) for index, path in enumerate(notes)}
    before = {path: (corpus.vault / path).read_text("utf-8", "surrogateescape") for path in notes}
    took: list[float] = []
    late = 0
    with DaemonProcess(corpus.vault, corpus.data) as daemon:
        warm(daemon, corpus)
        for index, path in enumerate(notes):
            saying = SAYINGS[index % len(SAYINGS)][0].format(name=names[path])
            save(corpus.vault / path, f"{before[path]}\n\n{saying}\n", in_place=True)
        for path in notes:
            name = names[path]
            found = lambda name=name: recalled(daemon, name, name)  # noqa: E731 - asked many times
            daemon.wait_for(found, 60, every_s=0.05)
        daemon.wait_settled(120)
        for index, path in enumerate(notes):
            name = names[path]
            saved = save(corpus.vault / path, before[path], in_place=bool(index % 2))
            gone = seconds_until(lambda name=name: not recalled(daemon, name, name), saved)
            took += [gone] if gone is not None else []
            late += gone is None
    corpus.restore()
    return [
        *spread("deletion of a sentence to its fact gone", took, "s", p95=1.0),
        Figure(name=f"of {len(notes)}, still there after {FOUND_S:g} s", value=late, target=0),
    ]


def rename(corpus: Corpus) -> list[Figure]:
    """A folder of about 50 notes under another name, until every note is found there."""
    make_ready(corpus)
    folder, notes = corpus.folder_of_about(50)
    titles = {path: title for path, title in corpus.titles(1_000_000) if path in set(notes)}
    target = f"{folder}-renamed"
    with DaemonProcess(corpus.vault, corpus.data) as daemon:
        warm(daemon, corpus)
        daemon.wait_settled(120)
        # A note without words of its own is found by none.
        found = {p: t for p, t in titles.items() if is_found(daemon, p, t, only=f"{folder}/**")}
        before = last_vector(corpus)
        (corpus.vault / folder).rename(corpus.vault / target)
        renamed = time.perf_counter()
        moved = seconds_until(
            lambda: all(
                is_found(daemon, target + path.removeprefix(folder), title, only=f"{target}/**")
                for path, title in found.items()
            ),
            renamed,
            deadline_s=60,
        )
        settled = daemon.wait_settled(120) - (renamed - daemon.began)
        computed = vectors_since(corpus, before)
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
    make_ready(corpus)
    with DaemonProcess(corpus.vault, corpus.data) as daemon:
        daemon.wait_ready()
        daemon.wait_settled(120)
        time.sleep(2)
        before, began = daemon.counters(), time.perf_counter()
        time.sleep(_IDLE_S)
        after, seconds = daemon.counters(), time.perf_counter() - began
        memory = resident_mb(daemon.pid)
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
    make_ready(corpus)
    questions = [f"how do I {title.lower()}?" for _, title in corpus.titles(_QUESTIONS, seed=3)]
    with DaemonProcess(corpus.vault, corpus.data) as daemon:
        warm(daemon, corpus)
        daemon.wait_settled(120)
        began = daemon.counters().cpu_s
        computed = [milliseconds(daemon, question) for question in questions]
        between = daemon.counters().cpu_s
        cached = [milliseconds(daemon, question) for question in questions]
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
    make_ready(corpus)
    took = []
    with DaemonProcess(corpus.vault, corpus.data) as daemon:
        warm(daemon, corpus)
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
