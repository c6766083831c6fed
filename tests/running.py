"""A whole daemon in this process, on a vault in a temporary folder, spoken to through its real socket."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import apsw

from daemon.app import DATABASE_NAME, App, build
from recalld.client import Client
from recalld.settings.loading import load_settings
from tests.fakes import Loader, WordEmbedder
from tests.waiting import DEADLINE_S, soon

QUICK: Mapping[str, object] = {
    "ingest.quiet_ms": 40,
    "ingest.longest_wait_ms": 400,
    "ingest.empty_grace_s": 0.5,
    "schedule.watch_check_every_s": 0.2,
    # No test may find a model that happens to run on the machine.
    "llm.provider": "off",
}


def is_at_rest(status: Mapping[str, Any]) -> bool:
    """Whether everything on disk is in the index, and a language model has nothing left to do."""
    return status["state"] == "idle" and status["refining"] is None


class RunningDaemon:
    """Starts on entering, stops on leaving. The same folders can be entered again: a restart.

    Leaving checks what every case ends with: the files are as the test left them, and the database is whole.
    """

    def __init__(
        self,
        base: Path,
        *,
        embedder: WordEmbedder | None = None,
        former: WordEmbedder | None = None,
        settings: Mapping[str, object] | None = None,
        roots: list[Path] | None = None,
        data: Path | None = None,
    ) -> None:
        self.vault = base / "vault"
        self.data = data or base / "data"
        self.vault.mkdir(exist_ok=True)
        self.embedder = embedder
        self.former = former
        self._socket = base / "s.sock"
        flags = {
            "roots": [str(root) for root in roots or [self.vault]],
            "data_dir": str(self.data),
            "daemon.socket": str(self._socket),
            **QUICK,
            **(settings or {}),
        }
        self._settings = load_settings(flags=flags, env={}, file=None, home=base).settings
        self.app: App | None = None
        self.client: Client | None = None

    def __enter__(self) -> Self:
        models = Loader(self.embedder, self.former)
        self.app = build(self._settings, inherited=None, load=models, reopen=models.reopen)
        self.app.start()
        self.client = Client(self.app.socket_path(), timeout_s=2 * DEADLINE_S).__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        before = self.files()
        if self.client is not None:
            self.client.__exit__(None, None, None)
        if self.app is not None:
            self.app.stop()
        if kind is None:
            assert self.files() == before, "recalld wrote into the vault"
            self.check_database()

    def write(self, path: str, text: str | bytes) -> Path:
        """Writes a note in place, with its folders."""
        target = self.vault / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)
        return target

    def replace(self, path: str, text: str, *, by: Path | None = None) -> None:
        """Saves a note as editors do: a temporary file that is renamed over it."""
        temporary = by or (self.vault / path).with_name("." + Path(path).name + ".tmp")
        temporary.write_text(text, "utf-8")
        temporary.replace(self.vault / path)

    def call(self, method: str, **params: object) -> dict[str, Any]:
        """The result of a method, through the socket."""
        assert self.client is not None
        return self.client.call(method, dict(params))

    def recall(self, query: str, **params: object) -> list[dict[str, Any]]:
        """The hits for a query."""
        return list(self.call("recall", query=query, **params)["hits"])

    def texts(self, query: str, **params: object) -> list[str]:
        """The texts of the hits for a query."""
        return [hit["text"] for hit in self.recall(query, **params)]

    def settle(self) -> dict[str, Any]:
        """Looks at the disk and waits until nothing is left to do, for a model neither. Gives the status."""
        self.call("sync")
        return self.wait_for(is_at_rest)

    def wait_for(self, condition: Any, deadline_s: float = DEADLINE_S) -> dict[str, Any]:
        """Waits until the status fulfils a condition; fails when nothing has moved for so long."""
        end, before = time.monotonic() + deadline_s, None
        while True:
            status = self.call("status")
            if condition(status):
                return status
            if (moved := [status[key] for key in ("counts", "queue", "refining")]) != before:
                end, before = time.monotonic() + deadline_s, moved
            assert time.monotonic() < end, f"not in time: {status}"
            time.sleep(0.02)

    def wait_until(self, condition: Any, deadline_s: float = DEADLINE_S) -> None:
        """Waits until something holds that status does not tell; fails at the deadline."""
        soon(condition, deadline_s)

    def files(self) -> dict[str, bytes]:
        """Every file below the vault that can be read, with its content; recalld's own left out."""
        found = {}
        for path in sorted(self.vault.rglob("*")):
            if path.is_relative_to(self.data):
                continue
            if path.is_file() and os.access(path, os.R_OK):
                found[str(path.relative_to(self.vault))] = path.read_bytes()
        return found

    def rows(self, sql: str, *bindings: object) -> list[tuple[Any, ...]]:
        """Rows of the database, read by a connection of the test's own."""
        connection = apsw.Connection(
            str(self.data / DATABASE_NAME), flags=apsw.SQLITE_OPEN_READONLY
        )
        try:
            return connection.execute(sql, bindings).fetchall()
        finally:
            connection.close()

    def check_database(self) -> None:
        """The database's and the full-text index's own checks, and that no table has ghosts."""
        connection = apsw.Connection(str(self.data / DATABASE_NAME))
        try:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
            connection.execute(
                "INSERT INTO passage_fts (passage_fts, rank) VALUES ('integrity-check', 0)"
            ).fetchall()
            indexed = {row[0] for row in connection.execute("SELECT id FROM passage_fts_docsize")}
            stored = {row[0] for row in connection.execute("SELECT id FROM passage")}
            assert indexed == stored, "full-text rows and passages differ"
            ghosts = connection.execute(
                "SELECT id FROM fact WHERE id NOT IN (SELECT fact_id FROM fact_source)"
            ).fetchall()
            assert ghosts == [], "facts without a source"
        finally:
            connection.close()
