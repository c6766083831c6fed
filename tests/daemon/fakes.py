"""Stand-ins for what the process and the command line talk to."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Self

from recalld.errors import RecalldError
from tests.waiting import DEADLINE_S

HIT = {
    "anchor": "fact:a3f1c0d2", "kind": "fact", "text": "De uitrol faalt om 03:00.\nTweede regel 部署失败",
    "context": ["Uitrol", "Incidenten"], "category": "error", "confidence": 0.8, "relevance": 0.834,
    "score": 1.42, "source": {"root": "notes", "path": "uitrol/深.md", "lines": [41, 42], "more": 2},
    "dates": {"happened": ["2026-03-02", "2026-03-02"], "stated": "2026-03-04"}, "superseded_by": None,
    "supersedes": [], "conflicts_with": [], "tags": [], "scope": "global",
}  # fmt: skip
FOUND = {
    "hits": [HIT], "reason": None, "unknown_words": [], "degraded": [], "recall_id": "r-1", "took_ms": 7.9,
}  # fmt: skip
ANSWER = {
    "text": "De uitrol faalt om 03:00. [fact:a3f1c0d2]", "citations": ["fact:a3f1c0d2"], "hits": [HIT],
    "reason": None, "degraded": [],
}  # fmt: skip
NOTHING = {**FOUND, "hits": [], "reason": "no_evidence", "unknown_words": ["zeppelin"]}
STATUS = {
    "version": "0.1.0", "pid": 4711, "uptime_s": 7384, "ready": True, "state": "catching_up",
    "oldest_pending_s": 75,
    "roots": [
        {"name": "notes", "path": "/home/ann/notes", "state": "ok", "notes": 120, "pending": 3,
         "unreadable": [{"path": "geheim.md", "reason": "permission denied"}], "skipped": ["groot.md"]},
        {"name": "disk", "path": "/mnt/disk", "state": "unavailable", "notes": 7, "pending": 0,
         "hint": "is the disk mounted?", "unreadable": [], "skipped": []},
    ],
    "counts": {"notes": 127, "blocks": 900, "passages": 700, "facts": 800, "by_category": {"error": 9},
               "entities": 40, "links": 60, "conflicts": 1},
    "queue": {"dirty": 3, "extract": 0, "parked": 2, "embed": 41},
    "models": {"embedding": {"name": "e5", "dimension": 384, "state": "ok", "hint": None},
               "llm": {"name": None, "state": "off", "hint": "set llm.model to refine facts"}},
    "database": {"path": "/home/ann/.local/share/recalld/memory.db", "bytes": 12_345_678, "schema": 1},
    "stages": {"scan": {"last_ok": "2026-03-04T10:00:00Z", "failed": 0},
               "embed": {"last_ok": None, "failed": 4}},
}  # fmt: skip
IDLE = {
    **STATUS, "state": "idle", "oldest_pending_s": None, "roots": [{**STATUS["roots"][1], "state": "ok"}],
    "queue": {"dirty": 0, "extract": 0, "parked": 0, "embed": 0}, "stages": {},
}  # fmt: skip


class FakeApplication:
    """Settles after as many looks as it is told, and writes down what is done to it."""

    def __init__(
        self,
        *,
        looks: int = 2,
        status: dict[str, object] | None = None,
        answers: dict[str, dict[str, object]] | None = None,
        start_error: Exception | None = None,
        on_settled: Callable[[], None] = lambda: None,
        refining: int = 0,
    ) -> None:
        self._looks = looks
        self._status = status or IDLE
        self._answers = answers or {}
        self._start_error = start_error
        self._on_settled = on_settled
        # How often a language model still has something to do.
        self._refining = refining
        self.done: list[str] = []
        self.status_error: RecalldError | None = None
        self.settings: list[object] = []

    def start(self) -> None:
        self.done.append("start")
        if self._start_error:
            raise self._start_error

    def settled(self) -> bool:
        self._looks -= 1
        if self._looks == 0:
            self._on_settled()
        return self._looks <= 0

    def refined(self) -> bool:
        self._refining -= 1
        if self._refining >= 0:
            self.done.append("refine")
        return self._refining < 0

    def status(self) -> dict[str, object]:
        if self.status_error:
            raise self.status_error
        if self._looks > 0:
            return {
                **STATUS,
                "queue": {"dirty": self._looks, "extract": 0, "parked": 0, "embed": 0},
            }
        return self._status

    def recall(self, params: dict[str, object]) -> dict[str, object]:
        self.done.append(f"recall {params}")
        return self._answers.get(str(params["query"]), NOTHING)

    def titles(self, limit: int) -> list[str]:
        return [*self._answers][:limit]

    def stop(self) -> None:
        self.done.append("stop")


class FakeDaemon:
    """A real Unix socket that answers each method with a given result or error, one line a message."""

    def __init__(self, path: Path, results: dict[str, dict[str, object]]) -> None:
        self._results = results
        self._listener = socket.socket(socket.AF_UNIX)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._listener.bind(str(path))
        self._listener.listen()
        self._thread = threading.Thread(target=self._serve, name="fake-daemon")
        self.requests: list[tuple[str, dict[str, object]]] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(DEADLINE_S)
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rwb") as stream:
                for line in stream:
                    request = json.loads(line)
                    self.requests.append((request["method"], request.get("params", {})))
                    found = self._results[request["method"]]
                    part = {"error": found["error"]} if "error" in found else {"result": found}
                    answer = {"jsonrpc": "2.0", "id": request["id"], **part}
                    stream.write(json.dumps(answer).encode() + b"\n")
                    stream.flush()
