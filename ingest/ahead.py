"""Has the next notes understood by another process while one is written.

Of a first start, reading and writing take about as long, and in one process one of them waits for the interpreter.
This is the other process, too: `python -m ingest.ahead` answers on its standard output until its input ends, which it
does when the daemon goes, however it goes. Without it everything works, slower.
"""

from __future__ import annotations

import contextlib
import pickle
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import IO, NamedTuple

from ingest.disk.reader import NoteText, Unread
from ingest.understanding import Understood, understand

# `-P`: the folder that it is started in may have modules of the same names.
_COMMAND = (sys.executable, "-P", "-m", "ingest.ahead")
# Notes at hand: neither process waits for the other when one note is long, or a third has the processor.
_DEPTH = 8


class _Task(NamedTuple):
    path: str
    content_hash: bytes


class ReadAhead:
    """One other process with some notes at hand. Used from one thread."""

    def __init__(
        self,
        paths: Sequence[str],
        read: Callable[[str], NoteText | Unread],
        command: Sequence[str] = _COMMAND,
    ) -> None:
        """Starts nothing yet. `paths` are the notes in their order, each once; what can't be read is left out."""
        self._paths = paths
        self._places = {path: place for place, path in enumerate(paths)}
        # The place of the first that was not yet given.
        self._next = 0
        self._read = read
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        # In the order in which they were given, which is that of the answers.
        self._at_hand: deque[_Task] = deque()
        self._answers: SimpleQueue[Understood | Exception | None] = SimpleQueue()
        # Why it does nothing any more; None while it works.
        self.problem: str | None = None

    def result(self, path: str, text: NoteText) -> Understood | None:
        """What it made of this note, once it is done; None where it was not given exactly this text, or failed.

        The notes after it are begun; those before it are not asked for any more.
        """
        self._next = max(self._next, self._places.get(path, -1) + 1)
        understood = self._answer(path, text)
        while (
            self.problem is None and len(self._at_hand) < _DEPTH and self._next < len(self._paths)
        ):
            self._begin(self._paths[self._next])
            self._next += 1
        return understood

    def _answer(self, path: str, text: NoteText) -> Understood | None:
        if all(task.path != path for task in self._at_hand):
            return None
        while True:
            task, answer = self._at_hand.popleft(), self._answers.get()
            if isinstance(answer, Exception):
                self._give_up(answer)
                return None
            if task.path == path:
                return answer if task.content_hash == text.content_hash else None

    def _begin(self, path: str) -> None:
        text = self._read(path)
        if isinstance(text, Unread):
            return
        try:
            target = self._started()
            pickle.dump((text.text, path, text.stat), target, pickle.HIGHEST_PROTOCOL)
            target.flush()
        except OSError as error:
            self._give_up(error)
        else:
            self._at_hand.append(_Task(path, text.content_hash))

    def close(self) -> None:
        """Ends the process."""
        process, self._process = self._process, None
        self._at_hand.clear()
        if process is None:
            return
        # Whatever it is at: nobody waits for that any more.
        process.kill()
        process.wait()
        if process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()

    def _give_up(self, error: Exception) -> None:
        self.problem = f"notes are not read ahead: {error or type(error).__name__}"
        self.close()

    def _started(self) -> IO[bytes]:
        """The process's input."""
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603 - this very module
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            # Answers are taken as they come: else both sides might wait for the other to read.
            threading.Thread(
                target=_collect,
                args=(self._process.stdout, self._answers),
                name="ahead",
                daemon=True,
            ).start()
        if self._process.stdin is None:
            raise BrokenPipeError("the process has no input")
        return self._process.stdin


def _collect(source: IO[bytes], answers: SimpleQueue[Understood | Exception | None]) -> None:
    """Passes answer after answer on, and at last why there are no more."""
    with source:
        while True:
            try:
                answers.put(pickle.load(source))  # noqa: S301 - from our own process
            except (OSError, EOFError, ValueError, pickle.UnpicklingError) as error:
                answers.put(error)
                return


def _serve(source: IO[bytes], target: IO[bytes]) -> None:
    """Understands note after note until there are no more; None for one that can't be."""
    while True:
        try:
            text, path, stat = pickle.load(source)  # noqa: S301 - from our own process
        except EOFError:
            return
        try:
            understood: Understood | None = understand(text, path, stat)
        except Exception:  # noqa: BLE001 - the one who asked meets the same, and tells it
            understood = None
        pickle.dump(understood, target, pickle.HIGHEST_PROTOCOL)
        target.flush()


if __name__ == "__main__":
    # The terminal's interrupt is for the daemon, which ends this in its own time.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(BrokenPipeError):
        _serve(sys.stdin.buffer, sys.stdout.buffer)
