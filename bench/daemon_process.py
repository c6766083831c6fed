"""The real daemon as a process of its own, and what the system counts of it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from recalld.client import Client
from recalld.errors import Busy, NotRunning

RECALLD = Path(sys.executable).with_name("recalld")
_STOP_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """What a process has used since it began. Reads and writes are calls and bytes of any file or socket."""

    cpu_s: float
    reads: int
    read_bytes: int
    writes: int
    written_bytes: int


class DaemonProcess:
    """`recalld run` on one vault, with settings of its own; stopped on exit."""

    def __init__(self, vault: Path, data: Path, *, trace: Path | None = None) -> None:
        """With `trace` it runs under strace, and the files it opens are written there."""
        self._folder = Path(tempfile.mkdtemp(prefix="recalld-bench-"))
        self.socket = self._folder / "s.sock"
        self._log = self._folder / "log"
        settings = self._folder / "config.toml"
        settings.write_text("")
        self._command = [
            *(["strace", "-f", "-qq", "-e", "trace=openat", "-o", str(trace)] if trace else []),
            *(str(RECALLD), "run", str(vault), "--data", str(data), "--socket", str(self.socket)),
            *("--config", str(settings), "--log-format", "json"),
        ]
        self._client: Client | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self.began = 0.0

    def __enter__(self) -> Self:
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("RECALLD_")
        }
        self.began = time.perf_counter()
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._client is not None:
            self._client.__exit__(kind, error, trace)
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def stop(self) -> float:
        """Ends it politely; seconds until it had gone."""
        process = self._running()
        began = time.perf_counter()
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGTERM)
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        return time.perf_counter() - began

    @property
    def pid(self) -> int:
        """The daemon's process, also where strace runs it."""
        process = self._running()
        if self._command[0] != "strace":
            return process.pid
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        return int(children[0]) if children else process.pid

    def call(self, method: str, **params: object) -> dict[str, Any]:
        """The result of a method, over one kept connection."""
        if self._client is None:
            client = Client(self.socket, timeout_s=60.0)
            client.__enter__()
            self._client = client
        return self._client.call(method, dict(params))

    def wait_ready(self, deadline_s: float = 60.0) -> float:
        """Waits until it answers; seconds since it was started."""
        self.wait_for(self._answers, deadline_s, every_s=0.005)
        return time.perf_counter() - self.began

    def wait_settled(self, deadline_s: float) -> float:
        """Waits until everything is in the index, vectors included; seconds since it was started."""
        self.wait_for(lambda: self.call("status")["state"] == "idle", deadline_s, every_s=0.02)
        return time.perf_counter() - self.began

    def wait_for(self, holds: Callable[[], bool], deadline_s: float, *, every_s: float) -> None:
        """Waits until something holds.

        Raises:
            TimeoutError: it did not in time.
            RuntimeError: the daemon ended meanwhile; its log's end is in the message.
        """
        end = time.perf_counter() + deadline_s
        while not holds():
            if self._running().poll() is not None:
                raise RuntimeError(f"the daemon ended: {self._log.read_text()[-2000:]}")
            if time.perf_counter() > end:
                raise TimeoutError(f"not within {deadline_s:g} s")
            time.sleep(every_s)

    def counters(self) -> Counters:
        """What it has used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        ticks = int(fields[11]) + int(fields[12])
        lines = Path(f"/proc/{self.pid}/io").read_text().splitlines()
        io = {name: int(value) for name, value in (line.split(": ") for line in lines)}
        return Counters(
            cpu_s=ticks / os.sysconf("SC_CLK_TCK"),
            reads=io["syscr"],
            read_bytes=io["rchar"],
            writes=io["syscw"],
            written_bytes=io["wchar"],
        )

    def _answers(self) -> bool:
        try:
            self.call("ping")
        except (NotRunning, Busy):
            return False
        return True

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise RuntimeError("the daemon has not been started")
        return self._process
