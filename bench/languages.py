"""Whether recall finds the right lines in real notes of several languages, and is silent where they say nothing.

    python -m bench.languages [--cache CACHE.db] [--only VAULT,...]

The questions stand in `bench/questions/<vault>.jsonl`, each with the lines that answer it; the notes are read from
`$RECALLD_SHARED/data/vaults` (or `../shared` beside the checkout). For each vault a new daemon runs as in
bench.quality. A hit counts when it is from the right note and shares a line with a right place. What was asked and
what came back goes to `bench/out/languages.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.multilingual import misquoted
from bench.quality import ask, running
from bench.rawcache import opened, prefill
from bench.report import OUT, commit, machine
from recalld.client import Client

QUESTIONS = Path(__file__).parent / "questions"
_DEPTHS = (1, 5, 10)
_NO_PLACE = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one question."""

    id: str
    question: str
    category: str
    answerable: bool
    # Nothing came back.
    empty: bool
    # Of the first hit from a right place, from 1; None where there is none among the hits.
    rank: int | None
    # The same with no threshold: it tells an answer withheld from one not found.
    rank_unjudged: int | None
    # The strongest evidence among all that was found.
    relevance: float
    # Path and lines of each hit, without threshold.
    hits: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """A vault's figures, as counts."""

    vault: str
    answerable: int
    found: dict[int, int]
    withheld: int
    unanswerable: int
    empty: int
    near: int
    empty_near: int


def judge(question: dict[str, Any], judged: dict[str, Any], unjudged: dict[str, Any]) -> Outcome:
    """An outcome from the answers with and without the threshold, as `bench.quality.ask` gives them."""
    results = unjudged["results"]
    return Outcome(
        id=question["id"],
        question=question["question"],
        category=question["category"],
        answerable=question["answerable"],
        empty=judged["rejected"],
        rank=_rank(question["gold"], judged["results"]),
        rank_unjudged=_rank(question["gold"], results),
        relevance=max((one["score"] for one in results), default=0.0),
        hits=tuple(f"{one['path']}:{one['lines'][0]}-{one['lines'][1]}" for one in results),
    )


def tally(vault: str, outcomes: Sequence[Outcome]) -> Tally:
    """The figures of one vault."""
    asked = [one for one in outcomes if one.answerable]
    foreign = [one for one in outcomes if not one.answerable]
    near = [one for one in foreign if one.category == "near"]
    return Tally(
        vault=vault,
        answerable=len(asked),
        found={
            depth: sum(_NO_PLACE < (one.rank or _NO_PLACE) <= depth for one in asked)
            for depth in _DEPTHS
        },
        withheld=sum(one.empty for one in asked),
        unanswerable=len(foreign),
        empty=sum(one.empty for one in foreign),
        near=len(near),
        empty_near=sum(one.empty for one in near),
    )


def _rank(places: Sequence[dict[str, Any]], results: Sequence[dict[str, Any]]) -> int | None:
    for rank, one in enumerate(results, 1):
        first, last = one["lines"]
        for place in places:
            begin, end = place["lines"]
            if one["path"] == place["file"] and first <= end and begin <= last:
                return rank
    return None


def questions_of(vault: str) -> list[dict[str, Any]]:
    """The questions put to a vault."""
    lines = (QUESTIONS / f"{vault}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line]


def check(folder: Path, questions: Sequence[dict[str, Any]]) -> None:
    """Raises SystemExit where a right place no longer holds what it is quoted for."""
    wrong = [told for question in questions for told in misquoted(folder, question)]
    if wrong:
        raise SystemExit("\n".join(wrong))


def run(folder: Path, cache: Path | None) -> list[Outcome]:
    """Puts a vault's questions to a new daemon on it."""
    questions = questions_of(folder.name)
    check(folder, questions)
    data = Path(tempfile.mkdtemp(prefix="recalld-languages-"))
    try:
        if cache is not None:
            known, lacking = prefill(opened(cache), folder, data / "memory.db")
            print(f"{folder.name}: {known} embeddings known, {lacking} to make", flush=True)
        with running(folder, data) as client:
            return [_outcome(client, question) for question in questions]
    finally:
        shutil.rmtree(data)


def _outcome(client: Client, question: dict[str, Any]) -> Outcome:
    judged = ask(client, question, max(_DEPTHS))
    return judge(question, judged, ask(client, question, max(_DEPTHS), min_relevance=0.0))


def table(tallies: Sequence[Tally]) -> str:
    """The figures as Markdown."""
    head = " | ".join(f"Hit@{depth}" for depth in _DEPTHS)
    rows = [f"| vault | {head} | withheld | empty, of unanswerable | of these near |"]
    rows.append("|---" * (len(_DEPTHS) + 4) + "|")
    for one in tallies:
        found = " | ".join(f"{one.found[depth]}/{one.answerable}" for depth in _DEPTHS)
        rows.append(
            f"| {one.vault} | {found} | {one.withheld}"
            f" | {one.empty}/{one.unanswerable} | {one.empty_near}/{one.near} |"
        )
    return "\n".join(rows)


def _vaults() -> Path:
    checkout = Path(__file__).parents[1]
    return Path(os.environ.get("RECALLD_SHARED", checkout.parent / "shared")) / "data" / "vaults"


def main() -> int:
    """Runs the sets; prints what was missed and a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path, default=OUT / "languages.json")
    asked = parser.parse_args()
    wanted = (
        asked.only.split(",") if asked.only else sorted(p.stem for p in QUESTIONS.glob("*.jsonl"))
    )
    present = [name for name in wanted if (_vaults() / name).is_dir()]
    if not present:
        print(f"none of {', '.join(wanted)} is in {_vaults()}: set RECALLD_SHARED", file=sys.stderr)
        return 2
    outcomes: dict[str, list[Outcome]] = {}
    for name in present:
        outcomes[name] = run(_vaults() / name, asked.cache)
        for one in outcomes[name]:
            if (one.answerable and one.rank != 1) or (not one.answerable and not one.empty):
                print(
                    f"  {one.id} rank {one.rank}, unjudged {one.rank_unjudged},"
                    f" relevance {one.relevance:.2f}: {one.question}"
                )
    tallies = [tally(name, outcomes[name]) for name in present]
    print(table(tallies))
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    report = {
        "commit": commit(),
        "machine": machine(),
        "tallies": [asdict(one) for one in tallies],
        "outcomes": {name: [asdict(one) for one in some] for name, some in outcomes.items()},
    }
    asked.out.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
