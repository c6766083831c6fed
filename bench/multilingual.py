"""Whether recall finds a half-remembered fact across languages, and is silent about what no note mentions.

    python -m bench.multilingual [--cache CACHE.db] [--only VAULT,...] [--most-missing N] [--fresh]

Three sets of questions, written by hand, all below `bench/questions`: `multilingual.jsonl` (half remembered) and
`plain.jsonl` (plainly asked, by somebody who knew neither the program nor the other set), each with every line that
answers it, and `nothing.jsonl` (each with words that none of its vaults holds). The vaults are `examples/notes`
and those of `$RECALLD_SHARED/data/vaults` (or `../shared` beside the checkout). One daemon at a time runs on a vault,
in a data folder that is kept below the user's cache for as long as the vault and the code that reads notes stay the
same; a new one is first filled from `--cache` (bench.rawcache). What was asked and what came back goes to
`bench/out/multilingual.json`, where vaults that were not run keep their results.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.quality import ask, running
from bench.rawcache import opened, prefill, statements
from bench.report import OUT, commit, machine
from recalld.client import Client

REPOSITORY = Path(__file__).parents[1]
QUESTIONS = Path(__file__).parent / "questions"
# Of questions that have an answer; the id of each begins with the name of its set.
_SETS = ("multilingual", "plain")
_DEPTHS = (1, 5, 10)
# What changes which facts and vectors a note gives; ranking may change under a data folder that is kept.
_READS_NOTES = ("ingest", "recalld/store", "recalld/models")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What became of a question that has an answer. Ranks are from 1; None = not among the hits."""

    id: str
    language: str
    question_language: str
    category: str
    question: str
    # Of the first hit that shares a line with a right place, and of the first from a right note.
    rank: int | None
    note_rank: int | None
    # The first with no threshold: it tells an answer withheld from one not found.
    rank_unjudged: int | None
    # Nothing came back.
    empty: bool
    # The strongest evidence among all that was found.
    relevance: float
    # Without threshold: path, lines and relevance of each hit, and its text.
    hits: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """What became of a question that no note answers."""

    id: str
    question_language: str
    # About the vault's themes, so that words of it are there.
    near: bool
    question: str
    empty: bool
    relevance: float
    # The hit of the strongest evidence, withheld or not.
    strongest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Figures of some answerable questions; shares of `asked`."""

    name: str
    asked: int
    hit: dict[int, float]
    mrr: float
    note_hit: dict[int, float]
    note_mrr: float
    empty: int


def questions_of(name: str) -> list[dict[str, Any]]:
    """The questions of a set."""
    lines = (QUESTIONS / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line]


def folder_of(vault: str) -> Path:
    """Where a vault's notes are, present or not."""
    if vault.startswith("examples/"):
        return REPOSITORY / vault
    shared = Path(os.environ.get("RECALLD_SHARED", REPOSITORY.parent / "shared"))
    return shared / "data" / "vaults" / vault


def misquoted(folder: Path, question: Mapping[str, Any]) -> list[str]:
    """The right places of a question that no longer hold what they are quoted for."""
    wrong = []
    for place in question["gold"]:
        first, last = place["lines"]
        path = folder / place["file"]
        lines = path.read_text("utf-8").split("\n") if path.is_file() else []
        if place["text"] not in "\n".join(lines[first - 1 : last]):
            wrong.append(f"{question['id']}: {place['file']}:{first}: {place['text']}")
    return wrong


def mentioned(folder: Path, questions: Sequence[Mapping[str, Any]]) -> list[str]:
    """The words that a vault should not hold and does, with the note."""
    found: list[str] = []
    for path in notes(folder):
        text = path.read_text("utf-8", "replace")
        found += [
            f"{question['id']}: {word} in {path.relative_to(folder)}"
            for question in questions
            for word in question["absent"]
            if re.search(word, text, re.IGNORECASE)
        ]
    return found


def notes(folder: Path) -> list[Path]:
    """The notes of a vault, those in hidden folders left out."""
    paths = (path.relative_to(folder) for path in folder.rglob("*.md"))
    return sorted(folder / p for p in paths if not any(part.startswith(".") for part in p.parts))


def judge(
    question: Mapping[str, Any], judged: Mapping[str, Any], unjudged: Mapping[str, Any]
) -> Found:
    """An outcome from the answers with and without the threshold, as `bench.quality.ask` gives them."""
    gold = question["gold"]
    return Found(
        id=question["id"],
        language=question["language"],
        question_language=question["question_language"],
        category=question["category"],
        question=question["question"],
        rank=_rank(_in_place(one, gold) for one in judged["results"]),
        note_rank=_rank(_in_note(one, gold) for one in judged["results"]),
        rank_unjudged=_rank(_in_place(one, gold) for one in unjudged["results"]),
        empty=judged["rejected"],
        relevance=_strongest(unjudged["results"]),
        hits=tuple((_where(one), one["text"]) for one in unjudged["results"]),
    )


def tally(name: str, outcomes: Sequence[Found]) -> Tally:
    """The figures of some outcomes, at least one."""
    ranks = [one.rank for one in outcomes]
    note_ranks = [one.note_rank for one in outcomes]
    return Tally(
        name=name,
        asked=len(outcomes),
        hit={depth: _share_within(ranks, depth) for depth in _DEPTHS},
        mrr=_mean_reciprocal(ranks),
        note_hit={depth: _share_within(note_ranks, depth) for depth in _DEPTHS},
        note_mrr=_mean_reciprocal(note_ranks),
        empty=sum(one.empty for one in outcomes),
    )


def _share_within(ranks: Sequence[int | None], depth: int) -> float:
    return sum(rank is not None and rank <= depth for rank in ranks) / len(ranks)


def _mean_reciprocal(ranks: Sequence[int | None]) -> float:
    return sum(1 / rank for rank in ranks if rank) / len(ranks)


def _rank(right: Iterable[bool]) -> int | None:
    return next((rank for rank, one in enumerate(right, 1) if one), None)


def _in_note(result: Mapping[str, Any], gold: Sequence[Mapping[str, Any]]) -> bool:
    return any(result["path"] == place["file"] for place in gold)


def _in_place(result: Mapping[str, Any], gold: Sequence[Mapping[str, Any]]) -> bool:
    first, last = result["lines"]
    return any(
        result["path"] == place["file"] and first <= place["lines"][1] and place["lines"][0] <= last
        for place in gold
    )


def _strongest(results: Sequence[Mapping[str, Any]]) -> float:
    return max((one["score"] for one in results), default=0.0)


def _where(result: Mapping[str, Any]) -> str:
    first, last = result["lines"]
    return f"{result['path']}:{first}-{last} {result['score']:.3f}"


def put(client: Client, question: Mapping[str, Any]) -> Found:
    """Asks a question that has an answer, with the threshold and without."""
    asked = dict(question)
    judged = ask(client, asked, max(_DEPTHS))
    return judge(question, judged, ask(client, asked, max(_DEPTHS), min_relevance=0.0))


def put_nothing(client: Client, question: Mapping[str, Any]) -> Silence:
    """Asks a question that has none."""
    asked = dict(question)
    judged = ask(client, asked, max(_DEPTHS))
    results = ask(client, asked, max(_DEPTHS), min_relevance=0.0)["results"]
    best = max(results, key=lambda one: one["score"], default=None)
    return Silence(
        id=question["id"],
        question_language=question["question_language"],
        near=question["near"],
        question=question["question"],
        empty=judged["rejected"],
        relevance=_strongest(results),
        strongest=f"{_where(best)} {best['text']}" if best else "",
    )


def data_folder(vault: str, *, fresh: bool) -> Path:
    """The kept data folder of a vault as it is and as notes are read now; older ones are removed."""
    digest = hashlib.blake2b(digest_size=6)
    sources = [path for name in _READS_NOTES for path in (REPOSITORY / name).rglob("*")]
    for path in sorted([*sources, *notes(folder_of(vault))]):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(hashlib.blake2b(path.read_bytes()).digest())
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    stem = f"multilingual-{vault.replace('/', '-')}"
    folder = cache / "recalld-bench" / f"{stem}.{digest.hexdigest()}"
    for other in folder.parent.glob(f"{stem}.*"):
        if fresh or other != folder:
            shutil.rmtree(other)
    return folder


def ready(vault: str, cache: Path | None, most_missing: int, *, fresh: bool) -> Path | None:
    """The data folder to run with, None where more vectors are missing than may be made."""
    data = data_folder(vault, fresh=fresh)
    if data.is_dir():
        print(f"{vault}: data folder of an earlier run", flush=True)
        return data
    # An interrupted filling must not pass for a whole one.
    part = data.with_name(f"{data.name}.part")
    part.mkdir(parents=True)
    if cache is None:
        known, lacking = 0, len(set(statements(folder_of(vault))))
    else:
        known, lacking = prefill(opened(cache), folder_of(vault), part / "memory.db")
    print(f"{vault}: {known} embeddings known, {lacking} to make", flush=True)
    if lacking > most_missing:
        shutil.rmtree(part)
        return None
    part.rename(data)
    return data


def run(
    vault: str,
    data: Path,
    answerable: Sequence[Mapping[str, Any]],
    unanswerable: Sequence[Mapping[str, Any]],
) -> tuple[list[Found], list[Silence]]:
    """Puts a vault's questions to a daemon on it."""
    with running(folder_of(vault), data) as client:
        found = [put(client, question) for question in answerable]
        return found, [put_nothing(client, question) for question in unanswerable]


def table(tallies: Sequence[Tally]) -> str:
    """Answerable questions as Markdown."""
    depths = [f"Hit@{depth}" for depth in _DEPTHS]
    head = ["", "asked", *depths, "MRR", *(f"note {one}" for one in depths), "note MRR", "empty"]
    rows = [head, ["---"] * len(head)]
    for one in tallies:
        lines = [f"{one.hit[depth]:.3f}" for depth in _DEPTHS]
        by_note = [f"{one.note_hit[depth]:.3f}" for depth in _DEPTHS]
        middle = [*lines, f"{one.mrr:.3f}", *by_note, f"{one.note_mrr:.3f}"]
        rows.append([one.name, str(one.asked), *middle, str(one.empty)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def silence_table(outcomes: Mapping[str, Sequence[Silence]]) -> str:
    """Unanswerable questions as Markdown: how many came back empty, of how many."""
    rows = ["| | empty | near, empty | strongest relevance |", "|---|---|---|---|"]
    every = [one for some in outcomes.values() for one in some]
    languages = sorted({one.question_language for one in every})
    groups: dict[str, Sequence[Silence]] = {
        **outcomes,
        **{
            f"asked in {name}": [one for one in every if one.question_language == name]
            for name in languages
        },
        "all": every,
    }
    for name, some in groups.items():
        far, near = [one for one in some if not one.near], [one for one in some if one.near]
        strongest = max((one.relevance for one in far), default=0.0)
        shares = [f"{sum(one.empty for one in part)}/{len(part)}" for part in (far, near)]
        rows.append(f"| {name} | {' | '.join(shares)} | {strongest:.3f} |")
    return "\n".join(rows)


def tallies_of(outcomes: Mapping[str, Sequence[Found]]) -> list[Tally]:
    """By vault, by pair of languages (question, note), and in all."""
    every = [one for some in outcomes.values() for one in some]
    pairs = sorted({(one.question_language, one.language) for one in every})
    same = [one for one in every if one.question_language == one.language]
    cross = [one for one in every if one.question_language != one.language]
    groups: list[tuple[str, list[Found]]] = []
    for vault, some in outcomes.items():
        own = [one for one in some if one.question_language == one.language]
        other = [one for one in some if one.question_language != one.language]
        groups += [(f"{vault}, same language", own), (f"{vault}, across", other)]
    groups += [
        (
            f"{asked} on {held}",
            [o for o in every if (o.question_language, o.language) == (asked, held)],
        )
        for asked, held in pairs
    ]
    groups += [("all, same language", same), ("all, across", cross), ("all", every)]
    return [tally(name, some) for name, some in groups if some]


def show(vault: str, found: Sequence[Found], silent: Sequence[Silence]) -> None:
    """Prints what went wrong in a vault."""
    for one in found:
        if one.rank != 1:
            print(
                f"  {one.id} rank {one.rank}, note {one.note_rank}, unjudged {one.rank_unjudged},"
                f" relevance {one.relevance:.3f}: {one.question}"
            )
    for other in silent:
        if not other.empty:
            print(f"  {other.id} {other.relevance:.3f} {other.question} -> {other.strongest[:120]}")
    print(f"{vault}: {len(found)} and {len(silent)} questions put", flush=True)


def main() -> int:
    """Runs the sets on the vaults that are here; prints failures and tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--only", default="", help="vaults, with commas between")
    parser.add_argument("--most-missing", type=int, default=1000, help="vectors a daemon may make")
    parser.add_argument("--fresh", action="store_true", help="use no data folder of an earlier run")
    parser.add_argument("--out", type=Path, default=OUT / "multilingual.json")
    asked = parser.parse_args()
    answerable = [question for name in _SETS for question in questions_of(name)]
    unanswerable = questions_of("nothing")
    every = list(dict.fromkeys(vault for one in unanswerable for vault in one["vaults"]))
    kept = json.loads(asked.out.read_text("utf-8")) if asked.out.exists() else {}
    for vault in asked.only.split(",") if asked.only else every:
        folder = folder_of(vault)
        own = [one for one in answerable if one["vault"] == vault]
        none = [one for one in unanswerable if vault in one["vaults"]]
        if not folder.is_dir() or not (own or none):
            print(f"{vault}: not here, or nothing to ask of it", file=sys.stderr)
            continue
        wrong = [text for one in own for text in misquoted(folder, one)] + mentioned(folder, none)
        if wrong:
            print("\n".join(wrong), file=sys.stderr)
            return 2
        data = ready(vault, asked.cache, asked.most_missing, fresh=asked.fresh)
        if data is None:
            print(f"{vault}: left out, see --cache and --most-missing", file=sys.stderr)
            continue
        found, silent = run(vault, data, own, none)
        show(vault, found, silent)
        kept[vault] = {
            "commit": commit(),
            "date": datetime.now().astimezone().isoformat(timespec="seconds"),
            "machine": machine(),
            "found": [asdict(one) for one in found],
            "silent": [asdict(one) for one in silent],
        }
        asked.out.parent.mkdir(parents=True, exist_ok=True)
        asked.out.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", "utf-8")
    in_order = [vault for vault in every if vault in kept]
    if not in_order:
        return 2
    outcomes = {vault: [Found(**one) for one in kept[vault]["found"]] for vault in in_order}
    for name in _SETS:
        of_set = {v: [o for o in some if o.id.startswith(name)] for v, some in outcomes.items()}
        print(f"{name}\n\n{table(tallies_of(of_set))}\n")
    print(silence_table({v: [Silence(**one) for one in kept[v]["silent"]] for v in in_order}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
