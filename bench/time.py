"""Whether recall reads the time in a question, and finds what is of that time.

    python -m bench.time [--cache CACHE.db] [--data FOLDER] [--without]

The questions stand in `bench/questions/time.jsonl`, each with the day on which it counts as asked, the lines that
answer it and, mostly, the days that it names. The notes are `bench/vaults/time`: several of one matter, which only
their dates tell apart. A daemon in a process of its own takes the notes in; as its clock cannot be set, the questions
are then put to the same recall on its database, in this process. `--data` keeps that database for the next run;
`--without` reads the
time and lets it count for nothing, to show what the interval adds.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from bench.languages import QUESTIONS, check
from bench.quality import running
from bench.rawcache import opened, prefill
from bench.report import OUT, commit, machine
from daemon.recalling import open_recall
from recalld.models.embedded import EmbeddedModel
from recalld.paths import DATABASE_NAME
from recalld.records import Hit, RecallFilter
from recalld.settings.loading import load_settings
from recalld.store.connection import Database
from retrieval.dates.asked import FIRST_DAY, LAST_DAY, AskedTime
from retrieval.ranking import RecallOptions
from retrieval.recall import Recall
from retrieval.weights import STANDARD

VAULT = Path(__file__).parent / "vaults" / "time"
_DEPTHS = (1, 3, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one question."""

    id: str
    half: str
    kind: str
    language: str
    question: str
    # Of the first hit from a right place, from 1; None where there is none among the hits.
    rank: int | None
    is_empty: bool
    # Whether the days read are those expected; None where nothing is expected.
    is_read: bool | None
    asked: list[str | None] | None
    hits: tuple[str, ...]


def main() -> int:
    """Runs the set; prints what was missed and a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--without", action="store_true")
    parser.add_argument("--out", type=Path, default=OUT / "time.json")
    given = parser.parse_args()
    lines = (QUESTIONS / "time.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line) for line in lines if line]
    check(VAULT, questions)
    with _recall(given.data, given.cache) as recall:
        outcomes = [ask(recall, one, with_interval=not given.without) for one in questions]
    for one in outcomes:
        if one.rank != 1 or one.is_read is False:
            print(f"  {one.id} {one.half} rank {one.rank}, {one.asked}: {one.question}")
    print(table(outcomes))
    given.out.parent.mkdir(parents=True, exist_ok=True)
    report = {
        "commit": commit(),
        "machine": machine(),
        "with_interval": not given.without,
        "outcomes": [asdict(one) for one in outcomes],
    }
    given.out.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", "utf-8")
    return 0


@contextmanager
def _recall(data: Path | None, cache: Path | None) -> Iterator[Recall]:
    folder = data or Path(tempfile.mkdtemp(prefix="recalld-time-"))
    try:
        if not (folder / DATABASE_NAME).exists():
            folder.mkdir(parents=True, exist_ok=True)
            if cache is not None:
                prefill(opened(cache), VAULT, folder / DATABASE_NAME)
            with running(VAULT, folder):
                pass
        settings = load_settings(env={}, file=None, home=folder).settings
        database = Database(folder / DATABASE_NAME)
        recall = open_recall(database, EmbeddedModel(threads=1), settings.recall, degraded=tuple)
        try:
            yield recall
        finally:
            recall.close()
            database.close()
    finally:
        if data is None:
            shutil.rmtree(folder)


def ask(recall: Recall, question: dict[str, Any], *, with_interval: bool) -> Outcome:
    """What becomes of one question on its day."""
    day = date.fromisoformat(question["today"])
    searched = recall.search(question["question"], limits=RecallFilter(), today=day)
    weights = STANDARD if with_interval else replace(STANDARD, interval=0.0)
    options = RecallOptions(weights=weights)
    recalled, _ = recall.rank(searched, limit=max(_DEPTHS), max_chars=1_000_000, options=options)
    asked = _days(searched.query.asked)
    return Outcome(
        id=question["id"],
        half=question["half"],
        kind=question["kind"],
        language=question["language"],
        question=question["question"],
        rank=_rank(question["gold"], recalled.hits),
        is_empty=not recalled.hits,
        is_read=asked == question["asked"] if "asked" in question else None,
        asked=asked,
        hits=tuple(
            f"{hit.source.path}:{hit.source.lines.first} {hit.text}" for hit in recalled.hits
        ),
    )


def _days(asked: AskedTime | None) -> list[str | None] | None:
    if asked is None:
        return None
    first, last = asked.hull.first, asked.hull.last
    return [
        None if first == FIRST_DAY else first.isoformat(),
        None if last == LAST_DAY else last.isoformat(),
    ]


def _rank(places: Sequence[dict[str, Any]], hits: Sequence[Hit]) -> int | None:
    for rank, hit in enumerate(hits, 1):
        span = hit.source.lines
        for place in places:
            first, last = place["lines"]
            if hit.source.path == place["file"] and span.first <= last and first <= span.last:
                return rank
    return None


def table(outcomes: Sequence[Outcome]) -> str:
    """The figures as Markdown: both halves, and all; by kind and by language."""
    head = " | ".join(f"Hit@{depth}" for depth in _DEPTHS)
    rows = [
        f"| questions | n | {head} | empty | days read right |",
        "|---" * (len(_DEPTHS) + 4) + "|",
    ]
    timed = [one for one in outcomes if one.kind == "time"]
    rows += [
        _row(f"time, {half}", [one for one in timed if one.half == half])
        for half in ("dev", "held")
    ]
    for language in dict.fromkeys(one.language for one in timed):
        rows.append(_row(f"time, {language}", [one for one in timed if one.language == language]))
    rows.append(_row("time, all", timed))
    rows.append(_row("plain", [one for one in outcomes if one.kind == "plain"]))
    return "\n".join(rows)


def _row(name: str, some: Sequence[Outcome]) -> str:
    found = [sum(one.rank is not None and one.rank <= depth for one in some) for depth in _DEPTHS]
    shares = " | ".join(f"{count / max(1, len(some)):.2f}" for count in found)
    judged = [one.is_read for one in some if one.is_read is not None]
    empty = sum(one.is_empty for one in some)
    return f"| {name} | {len(some)} | {shares} | {empty} | {sum(judged)}/{len(judged)} |"


if __name__ == "__main__":
    sys.exit(main())
