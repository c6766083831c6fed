"""The life of the process: from the lock to the last thread, and what signals mean meanwhile.

It must not know how the application works, only that it starts, settles, answers and stops.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, Protocol, runtime_checkable

import structlog

from daemon.lock import InstanceLock
from daemon.notify import Notifier, inherited_socket
from daemon.render.hits import nothing_found, recall_lines
from daemon.render.lines import Span, json_text, mapping, printable
from daemon.render.status import failures, status_phrase
from daemon.signals import SignalInbox
from daemon.terminal import Screen
from recalld.errors import RecalldError

if TYPE_CHECKING:
    from recalld.settings.tables import Settings

_POLL_S = 0.1
_SHOW_EVERY_S = 0.5
# Where nobody looks on; counting what there is takes its share of a core.
_TELL_EVERY_S = 2.5
_LOG_EVERY_S = 5.0
_IDLE_TICK_S = 5.0
# Hits of an answer to `--ask`: a person reads them in passing.
_SHOWN = 3
# The queue's name, and what people call what is done with it.
_WORK = {
    "dirty": "words",
    "embed": "vectors",
    "extract": "refinements",
    "judge": "comparisons by the model",
}

log = structlog.get_logger()


class Application(Protocol):
    """What runs. `start` raises a RecalldError where it can't; `stop` may be called at any time."""

    def start(self) -> None:
        """Returns when recall works."""

    def settled(self) -> bool:
        """Whether everything on disk is in the index."""

    def refined(self) -> bool:
        """Whether it has settled, and the language model has nothing left to do, or is not there to do it."""

    def status(self) -> dict[str, object]:
        """The result of the method `status`."""

    def recall(self, params: dict[str, object]) -> dict[str, object]:
        """The result of the method `recall`."""

    def titles(self, limit: int) -> list[str]:
        """Titles of the notes that changed last."""

    def stop(self) -> None:
        """Ends all work within its stop time; a second call does nothing."""


@runtime_checkable
class Reloadable(Protocol):
    """An application that can take other settings while it runs."""

    def reload(self, settings: Settings) -> None:
        """Takes what can be changed while running, and says in the log what can't."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Console:
    """Where people read: answers go to `out`, progress to `err`; `as_json` makes answers JSON."""

    out: Screen
    err: Screen
    as_json: bool = False


def run_daemon(
    settings: Settings,
    *,
    once: bool,
    questions: tuple[str, ...],
    titles: int = 0,
    console: Console,
    reload: Callable[[], Settings] | None = None,
    on_started: Callable[[], object] | None = None,
) -> int:
    """Runs recalld until it is told to stop, or with `once` until nothing is left to do; an exit code.

    Takes systemd's variables out of the environment, holds the data folder's lock throughout.

    Args:
        settings: All of them.
        once: Ingest, settle, let the language model finish, and stop. 1 when something could not be ingested.
        questions: Asked once settled, their answers printed.
        titles: Of so many notes, asked like the questions.
        console: Where to.
        reload: Reads the settings anew on SIGHUP; a RecalldError leaves the old ones in force.
        on_started: Called once everything runs.

    Raises:
        AlreadyRunning: Another daemon holds the data folder.
        RecalldError: It could not start.
    """
    notifier = Notifier.from_environment(os.environ)
    inherited: socket.socket | None = inherited_socket(os.environ)
    with InstanceLock(settings.data_dir):
        from daemon.app import build  # noqa: PLC0415 - the composition root imports everything

        app = build(settings, inherited=inherited)
        life = Life(app, console=console, notifier=notifier, reload=reload, on_started=on_started)
        return life.run(once=once, questions=questions, titles=titles)


class Life:
    """One run of an application, in the main thread."""

    def __init__(
        self,
        app: Application,
        *,
        console: Console,
        notifier: Notifier,
        reload: Callable[[], Settings] | None = None,
        on_started: Callable[[], object] | None = None,
    ) -> None:
        self._app = app
        self._on_started = on_started
        self._console = console
        self._notifier = notifier
        self._reload = reload
        self._inbox = SignalInbox()
        self._next_beat_s = 0.0

    def run(self, *, once: bool, questions: tuple[str, ...] = (), titles: int = 0) -> int:
        """Starts, settles, answers, waits and stops; an exit code. Stops too when it raises."""
        with self._inbox:
            try:
                self._notifier.status("starting")
                self._app.start()
                if self._on_started is not None:
                    self._on_started()
                self._notifier.ready()
                log.info("daemon.started", pid=os.getpid())
                code = self._work(once=once, questions=questions, titles=titles)
            finally:
                self._notifier.stopping()
                self._app.stop()
        log.info("daemon.stopped", code=code)
        return code

    def _work(self, *, once: bool, questions: tuple[str, ...], titles: int) -> int:
        if not self._wait_until(self._app.settled):
            return 1 if once else 0
        if titles:
            questions += tuple(self._app.titles(titles))
        answered = [self._answer(question) for question in questions]
        if not once:
            while not self._told_to_stop(self._tick_s()):
                self._beat()
            return 0
        # Nobody else goes on with what a language model has begun.
        if not self._wait_until(self._app.refined):
            return 1
        failed = failures(self._app.status())
        self._console.err.show((Span(f"recalld: {each}"),) for each in failed)
        return 0 if all(answered) and not failed else 1

    def _wait_until(self, is_done: Callable[[], bool]) -> bool:
        """Waits for the application, and shows how far it is; False when told to stop before."""
        with self._progress() as show:
            while not self._inbox.stopping:
                if is_done():
                    self._next_beat_s = 0.0
                    self._beat()
                    return True
                self._beat(show)
                if self._told_to_stop(_POLL_S):
                    break
        return False

    @contextmanager
    def _progress(self) -> Iterator[Callable[[Mapping[str, object]], None]]:
        backlog = Backlog()
        if self._console.err.live:
            with self._console.err.bars() as bars:
                yield lambda status: bars(backlog.amounts(status))
            return
        last = time.monotonic()

        def say(status: Mapping[str, object]) -> None:
            nonlocal last
            amounts = backlog.amounts(status)
            if time.monotonic() - last >= _LOG_EVERY_S:
                last = time.monotonic()
                log.info(
                    "backlog.progressed",
                    **{name: f"{done}/{total}" for name, (done, total) in amounts.items()},
                )

        yield say

    def _beat(self, show: Callable[[Mapping[str, object]], None] | None = None) -> None:
        """Tells the manager and the screen how things are; no sign of life without a status."""
        if time.monotonic() < self._next_beat_s:
            return
        every_s = _SHOW_EVERY_S if self._console.err.live else _TELL_EVERY_S
        self._next_beat_s = time.monotonic() + every_s
        try:
            status = self._app.status()
        except RecalldError as error:
            log.warning("daemon.unhealthy", reason=error.message, hint=error.hint)
            return
        self._notifier.status(status_phrase(status))
        if status.get("state") != "stopping":
            self._notifier.alive()
        if show:
            show(status)

    def _tick_s(self) -> float | None:
        """Half of what the watchdog allows; without a manager nobody waits for a sign."""
        if not self._notifier.present:
            return None
        return min(_IDLE_TICK_S, (self._notifier.watchdog_s or _IDLE_TICK_S * 2) / 2)

    def _told_to_stop(self, timeout_s: float | None) -> bool:
        number = self._inbox.wait(timeout_s)
        if number == signal.SIGHUP:
            self._take_new_settings()
        return self._inbox.stopping

    def _take_new_settings(self) -> None:
        self._notifier.reloading()
        try:
            if self._reload is None or not isinstance(self._app, Reloadable):
                log.warning("settings.kept", reason="this run can't take other settings")
            else:
                self._app.reload(self._reload())
                log.info("settings.reloaded")
        except RecalldError as error:
            log.error("settings.rejected", reason=error.message, hint=error.hint)  # noqa: TRY400
        finally:
            self._notifier.ready()

    def _answer(self, question: str) -> bool:
        """Asks, prints, and says whether there was an answer."""
        out, err = self._console.out, self._console.err
        try:
            result = self._app.recall({"query": question, "limit": _SHOWN})
        except RecalldError as error:
            err.show([(Span(f"recalld: {printable(question)}: {printable(error.message)}"),)])
            return False
        if self._console.as_json:
            out.show([(Span(json_text(result)),)])
        elif result.get("hits"):
            out.show([(Span(f"? {printable(question)}", "busy"),), *recall_lines(result), ()])
        else:
            err.show([(Span(f"recalld: {printable(question)}: {nothing_found(result)}"),)])
        return bool(result.get("hits"))


class Backlog:
    """Turns what waits into what is done and how much there was: every fall of a queue is done."""

    def __init__(self) -> None:
        self._done = dict.fromkeys(_WORK, 0)
        self._waiting = dict.fromkeys(_WORK, 0)

    def amounts(self, status: Mapping[str, object]) -> dict[str, tuple[int, int]]:
        """`{work: (done, total)}` for each kind of work that there has been since the first call."""
        waiting = {
            **mapping(status.get("queue")),
            "judge": mapping(status.get("refining")).get("facts"),
        }
        for name in _WORK:
            now = waiting.get(name) or 0
            if isinstance(now, int):
                self._done[name] += max(0, self._waiting[name] - now)
                self._waiting[name] = now
        return {
            work: (self._done[name], self._done[name] + self._waiting[name])
            for name, work in _WORK.items()
            if self._done[name] + self._waiting[name]
        }


def leave(code: int) -> NoReturn:
    """Ends the process even where a thread outlived its application: stopping must not hang.

    The interpreter would wait for it, perhaps for the time-out of a model's call.
    """
    left = [
        thread.name
        for thread in threading.enumerate()
        if thread is not threading.main_thread() and not thread.daemon
    ]
    if not left:
        sys.exit(code)
    log.warning("daemon.threads_left", threads=left)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)
