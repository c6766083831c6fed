"""Recall quality through the real daemon: start it on a vault, let it settle, ask over the socket, write results.

    python -m bench.quality SET OUT [--cache CACHE.db] [--limit N] [--foreign 3] [--only VAULT,...]

SET holds `vaults/<name>/` and `queries.jsonl` (id, vault, question, …). For each vault a new daemon runs in a process
of its own, on a data folder of its own; OUT gets `results.jsonl` (one answer a line, as a scorer reads them) and
`foreign.jsonl` (each question put to other vaults, where nothing should come back). The figures of `recalld eval` are
printed at the end. With `--cache` (bench.rawcache)
known embeddings are put into the daemon's cache first.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.judging import judged, table
from bench.rawcache import opened, prefill
from recalld.client import Client
from recalld.errors import RecalldError
from retrieval.evaluation.metrics import Judged, figures, figures_by_category

_SETTLE_S = 3600.0
_MEASURED_S = 600.0


@contextmanager
def running(vault: Path, data: Path) -> Iterator[Client]:
    """A client of a new daemon on `vault`, once it has settled."""
    socket = data / "s.sock"
    command = [str(Path(sys.executable).with_name("recalld")), "run", str(vault)]
    command += ["--data", str(data), "--socket", str(socket), "--config", os.devnull]
    command += ["--log-level", "warning"]
    process = subprocess.Popen(command)
    try:
        with Client(_ready(socket), timeout_s=120) as client:
            end = time.monotonic() + _SETTLE_S
            while client.call("status")["state"] != "idle":
                if time.monotonic() > end or process.poll() is not None:
                    raise SystemExit(f"the daemon did not settle on {vault}")
                time.sleep(0.2)
            _wait_measured(client)
            yield client
    finally:
        process.terminate()
        process.wait(30)


def _wait_measured(client: Client) -> None:
    """Waits until the threshold of evidence is this vault's own; a very small one keeps the shipped one.

    Raises:
        SystemExit: not in time; figures of two thresholds would be mixed.
    """
    end = time.monotonic() + _MEASURED_S
    while _is_measuring(client):
        if time.monotonic() > end:
            raise SystemExit("the threshold of evidence was not measured in time")
        time.sleep(0.2)


def _is_measuring(client: Client) -> bool:
    evidence = client.call("status")["evidence"]
    return isinstance(evidence, dict) and bool(evidence["measuring"])


def _ready(socket: Path) -> Path:
    end = time.monotonic() + 30
    while True:
        try:
            with Client(socket) as client:
                client.call("ping")
        except RecalldError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
        else:
            return socket


def ask(client: Client, query: dict[str, Any], limit: int, **options: object) -> dict[str, Any]:
    """One answer as a scorer reads it; an item's score is its relevance, which is comparable.

    `options` are added to the request, such as `min_relevance`.
    """
    request = {"query": query["question"], "limit": limit, "max_chars": 1_000_000, **options}
    started = time.perf_counter()
    answer: dict[str, Any] = client.call("recall", request)
    took = (time.perf_counter() - started) * 1000
    return {
        "id": query["id"],
        "rejected": not answer["hits"],
        "latency_ms": round(took, 2),
        "results": [
            {
                "path": hit["source"]["path"],
                "lines": hit["source"]["lines"],
                "text": hit["text"],
                "score": hit["relevance"],
            }
            for hit in answer["hits"]
        ],
    }


def main() -> int:
    """Runs the set; prints a line a vault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--limit", type=int, default=10)
    parser.add_argument("--foreign", type=int, default=3)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    lines = (asked.set / "queries.jsonl").read_text("utf-8").splitlines()
    by_vault: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in filter(None, lines):
        query = json.loads(line)
        by_vault[query["vault"]].append(query)
    names = [name for name in by_vault if not asked.only or name in asked.only.split(",")]
    asked.out.mkdir(parents=True, exist_ok=True)
    cache = opened(asked.cache) if asked.cache else None
    seen: list[Judged] = []
    elsewhere: list[Judged] = []
    own = (asked.out / "results.jsonl").open("w", encoding="utf-8")
    others = (asked.out / "foreign.jsonl").open("w", encoding="utf-8")
    with own, others:
        for at, name in enumerate(names):
            vault = asked.set / "vaults" / name
            data = Path(tempfile.mkdtemp(prefix="recalld-quality-"))
            try:
                started = time.monotonic()
                known = prefill(cache, vault, data / "memory.db") if cache else (0, 0)
                with running(vault, data) as client:
                    for query in by_vault[name]:
                        answer = ask(client, query, asked.limit)
                        seen.append(judged(query, answer))
                        own.write(json.dumps(answer, ensure_ascii=False) + "\n")
                    for step in range(1, asked.foreign + 1 if len(names) > asked.foreign else 1):
                        for query in by_vault[names[(at + step) % len(names)]]:
                            answer = ask(client, query, 1) | {"vault": name}
                            elsewhere.append(judged({**query, "answerable": False}, answer))
                            others.write(json.dumps(answer, ensure_ascii=False) + "\n")
                own.flush()
                print(f"{name}: cached {known}, {time.monotonic() - started:.1f} s", flush=True)
            finally:
                shutil.rmtree(data)
    groups = {**figures_by_category(seen), "all, by line": figures(seen)}
    print(table({**groups, "put to other vaults": figures(elsewhere)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
