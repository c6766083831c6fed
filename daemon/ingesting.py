"""The thread that keeps all roots: gathers hints, lets them settle, and looks where something may have changed.

A look goes note by note, and what somebody just saved goes before the rest of a long scan.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import structlog

from daemon.loop import StageReport
from daemon.settle import Settle
from ingest.intake import Looked
from ingest.keeper import RootKeeper
from recalld.errors import RecalldError, Stopping

_log = structlog.get_logger("ingest")

# After a failed look the root is scanned again, later and later.
_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0
# How long taking a root away waits for the note at hand.
_PATIENCE_S = 5.0


@dataclass(slots=True, kw_only=True)
class _Look:
    work: _RootWork
    steps: Iterator[Looked]
    started: float
    # Instant of the oldest change that it is to find, as far as that is known.
    since: float
    whole: bool
    # Unknown before the first step; at least the look itself is to be done.
    left: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What the ingest thread has before it."""

    dirty: int
    # Age in seconds of the oldest change that is not in the index; None when there is none.
    oldest_s: float | None
    scanning: bool


@dataclass(slots=True, kw_only=True)
class _RootWork:
    keeper: RootKeeper
    settle: Settle
    pause_s: float = _FIRST_PAUSE_S
    # Instant at which a failed look is tried again.
    again_at: float | None = None
    scan_asked: float | None = None
    full: bool = False
    looks: list[_Look] = field(default_factory=list)
    # Instant of the oldest change that a failed look did not bring in.
    missed: float | None = None


class IngestLoop:
    """One thread for all roots. Everything public may be called from any thread."""

    def __init__(
        self,
        keepers: Iterable[RootKeeper],
        *,
        make_settle: Callable[[], Settle],
        on_written: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        """`on_written` is called after notes were written, and when nothing is left to do."""
        self._make_settle = make_settle
        # Never changed in place: a new one takes its place, so that others may walk through it.
        self._roots = {
            # Asked at once: before its first scan no root is settled, whatever the loop's state.
            keeper.name: _RootWork(keeper=keeper, settle=make_settle(), scan_asked=clock())
            for keeper in keepers
        }
        self._at_hand: _Look | None = None
        self._on_written = on_written
        self._clock = clock
        self._wall_clock = wall_clock
        self._changed = threading.Condition()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="ingest")
        self.scan = StageReport()
        self.take = StageReport()

    @property
    def keepers(self) -> Mapping[str, RootKeeper]:
        """The keeper of each root by its name."""
        return {name: work.keeper for name, work in self._roots.items()}

    def start(self) -> None:
        """Starts the thread, which scans every root first."""
        self._thread.start()

    def stop(self) -> None:
        """Finishes the note at hand and joins the thread."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread.ident is not None:
            self._thread.join()

    def add_root(self, keeper: RootKeeper) -> None:
        """Keeps one more root, beginning with a scan. One of the same name is replaced."""
        with self._changed:
            work = _RootWork(keeper=keeper, settle=self._make_settle(), scan_asked=self._clock())
            self._roots = {**self._roots, keeper.name: work}
            self._changed.notify_all()

    def remove_root(self, name: str) -> None:
        """Keeps a root no longer; returns when nothing is written for it any more."""
        with self._changed:
            gone = self._roots.get(name)
            self._roots = {key: work for key, work in self._roots.items() if key != name}
            self._changed.wait_for(
                lambda: self._at_hand is None or self._at_hand.work is not gone, _PATIENCE_S
            )
            self._changed.notify_all()

    def hint(self, root: str, paths: Iterable[str]) -> None:
        """Something may have happened to these paths, together. A root that is not kept is no error."""
        with self._changed:
            if root in self._roots:
                self._roots[root].settle.hint_together(paths, self._clock())
                self._changed.notify_all()

    def overflow(self, root: str) -> None:
        """Hints were lost: everything below the root is to be looked at."""
        with self._changed:
            if root in self._roots:
                self._roots[root].settle.overflow(self._clock())
                self._changed.notify_all()

    def ask_scan(self, root: str | None = None, *, full: bool = False) -> None:
        """Asks for a whole look at a root, or at all; `full` reads every file."""
        with self._changed:
            for name, work in self._roots.items():
                if root in (None, name):
                    work.scan_asked = _earlier(work.scan_asked, self._clock())
                    work.full = work.full or full
            self._changed.notify_all()

    def waiting(self) -> Waiting:
        """What is still to be done."""
        with self._changed:
            return self._waiting()

    def pending_of(self, root: str) -> int:
        """Notes of a root that wait to be looked at."""
        with self._changed:
            return self._dirty(self._roots[root]) if root in self._roots else 0

    def _waiting(self) -> Waiting:
        begun = [one for work in self._roots.values() for one in self._begun(work)]
        return Waiting(
            dirty=sum(self._dirty(work) for work in self._roots.values()),
            oldest_s=self._clock() - min(begun) if begun else None,
            scanning=any(
                work.scan_asked is not None or any(look.whole for look in work.looks)
                for work in self._roots.values()
            ),
        )

    def _begun(self, work: _RootWork) -> list[float]:
        begun = [look.since for look in work.looks]
        rest = (work.settle.oldest(), work.scan_asked, work.missed)
        return begun + [one for one in rest if one is not None]

    def _dirty(self, work: _RootWork) -> int:
        whole = sum(max(1, look.left) for look in work.looks if look.whole)
        parts = sum(max(1, look.left) for look in work.looks if not look.whole)
        # Until its end a whole look has before it what the others look at.
        waiting = work.settle.waiting() + max(whole, parts)
        return waiting + (1 if work.scan_asked is not None or work.again_at is not None else 0)

    def _run(self) -> None:
        while True:
            with self._changed:
                if self._stopping:
                    return
                look = self._next()
                if look is None:
                    self._changed.notify_all()
                    self._changed.wait(self._pause())
                    continue
                self._at_hand = look
            self._advance(look)
            with self._changed:
                self._at_hand = None
                self._changed.notify_all()

    def _pause(self) -> float | None:
        """Seconds until something is due; None = until somebody calls."""
        now = self._clock()
        due = [work.settle.next_due(now) for work in self._roots.values()]
        due += [work.again_at for work in self._roots.values()]
        instants = [one for one in due if one is not None]
        return max(0.0, min(instants) - now) if instants else None

    def _next(self) -> _Look | None:
        """The look whose turn it is: the youngest hint first, scans last."""
        now = self._clock()
        for work in self._roots.values():
            self._begin(work, now)
        looks = [(work, look) for work in self._roots.values() for look in work.looks]
        if not looks:
            return None
        return min(looks, key=lambda pair: (pair[1].whole, -pair[1].started))[1]

    def _begin(self, work: _RootWork, now: float) -> None:
        if work.again_at is not None and work.again_at <= now:
            work.again_at = None
            work.scan_asked = _earlier(work.scan_asked, now)
        since = _earlier(work.settle.oldest(), now)
        due = work.settle.due(now)
        if due.paths:
            steps = work.keeper.look(due.paths)
            work.looks.append(_Look(work=work, steps=steps, started=now, since=since, whole=False))
        if due.paths is None:
            work.scan_asked = _earlier(work.scan_asked, since)
        if work.scan_asked is not None and not any(look.whole for look in work.looks):
            since = _earlier(work.missed, work.scan_asked)
            steps = work.keeper.look(None, full=work.full)
            work.looks.append(_Look(work=work, steps=steps, started=now, since=since, whole=True))
            work.scan_asked, work.full = None, False

    def _advance(self, look: _Look) -> None:
        """One step of a look; its end and its failure are told."""
        try:
            looked = next(look.steps, None)
        except Stopping:
            self._end(look, None)
        except RecalldError as error:
            _log.warning(
                "look.failed", root=look.work.keeper.name, reason=error.message, hint=error.hint
            )
            self._end(look, error)
        except Exception as error:  # noqa: BLE001 - the job loop: a fault in one look must not end the daemon
            _log.exception("look.failed", root=look.work.keeper.name)
            self._end(look, error)
        else:
            self._note(look, looked)

    def _note(self, look: _Look, looked: Looked | None) -> None:
        if looked is None:
            if look.whole:
                self.scan.last_ok = self._wall_clock()
            self._end(look, None)
            return
        root = look.work.keeper.name
        _log.debug("note.looked", root=root, note=looked.path, outcome=looked.outcome)
        with self._changed:
            look.left = looked.left
            if looked.outcome == "waiting":
                look.work.settle.hint(looked.path, self._clock(), look.since)
        if looked.outcome in ("taken", "moved", "gone"):
            self.take.last_ok = self._wall_clock()
            self._on_written()

    def _end(self, look: _Look, error: BaseException | None) -> None:
        not_ahead = look.work.keeper.not_ahead
        if not_ahead is not None:
            _log.warning("look.slower", root=look.work.keeper.name, reason=not_ahead)
        with self._changed:
            work = look.work
            work.looks.remove(look)
            if error is not None:
                report = self.scan if look.whole else self.take
                report.count_failure(str(error))
                work.again_at = self._clock() + work.pause_s
                work.pause_s = min(work.pause_s * 2, _LONGEST_PAUSE_S)
                work.missed = _earlier(work.missed, look.since)
            elif look.whole and work.again_at is None:
                # Only a whole look makes good what another one missed, and only what was missed before it began.
                work.pause_s, work.missed = _FIRST_PAUSE_S, None
            self._changed.notify_all()
        self._on_written()


def _earlier(known: float | None, instant: float) -> float:
    return instant if known is None else min(known, instant)
