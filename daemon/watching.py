"""Looks after the watches of all roots: passes hints on, renews what went deaf, scans where nothing is heard."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import structlog

from daemon.ingesting import IngestLoop
from daemon.watch import Hint, Sign, Watch, WatchHealth
from ingest.keeper import RootKeeper

_log = structlog.get_logger("watch")

# How often a root that can't be watched whole is scanned.
_POLL_S = 30.0


class Watches:
    """One watch a root."""

    def __init__(self, loop: IngestLoop, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Nothing is watched before `start`."""
        self._loop = loop
        self._clock = clock
        # Never changed in place: a new one takes its place, so that others may walk through it.
        self._watches: dict[str, Watch] = {}
        self._lock = threading.Lock()
        self._health: dict[str, WatchHealth] = {}
        self._polled: dict[str, float] = {}

    def start(self) -> None:
        """Watches every root; scan after it, not before."""
        for name in self._loop.keepers:
            self.add(name)

    def add(self, root: str) -> None:
        """Watches a root that the loop keeps; scan after it, not before."""
        keeper = self._loop.keepers[root]
        watch = Watch(keeper.path, self._passer(root), keeper.rules())
        with self._lock:
            self._watches = {**self._watches, root: watch}
        self._took(root, watch.start())

    def remove(self, root: str) -> None:
        """Watches a root no longer; one that is not watched is no error."""
        with self._lock:
            gone = self._watches.get(root)
            self._watches = {name: one for name, one in self._watches.items() if name != root}
            self._health.pop(root, None)
        if gone is not None:
            gone.stop()

    def stop(self) -> None:
        """Ends every watch."""
        with self._lock:
            watches, self._watches = self._watches, {}
        for watch in watches.values():
            watch.stop()

    def health(self, root: str) -> WatchHealth | None:
        """How well a root is heard; None before the first check."""
        return self._health.get(root)

    def check(self) -> None:
        """Renews deaf watches and asks for scans where that is needed. Costs a few stats a root."""
        for name, watch in self._watches.items():
            keeper: RootKeeper | None = self._loop.keepers.get(name)
            if keeper is None or self._watches.get(name) is not watch:
                continue
            watch.use_rules(keeper.rules())
            health = watch.check()
            is_deaf = health.state == "deaf"
            if is_deaf or (health.state == "polling" and self._is_time_to_poll(name)):
                health = watch.renew()
                self._loop.ask_scan(name)
            elif keeper.is_another_folder():
                # Gone, or back before anybody noticed that it was gone.
                self._loop.ask_scan(name)
            self._took(name, health)

    def _took(self, name: str, health: WatchHealth) -> None:
        before = self._health.get(name)
        self._health[name] = health
        if before is None or before.state != health.state:
            tell = _log.info if health.state == "watching" else _log.warning
            tell("root.heard", root=name, state=health.state, reason=health.message or None)

    def _is_time_to_poll(self, name: str) -> bool:
        now = self._clock()
        if now - self._polled.get(name, -_POLL_S) < _POLL_S:
            return False
        self._polled[name] = now
        return True

    def _passer(self, name: str) -> Callable[[Sign], None]:
        def passed(sign: Sign) -> None:
            if isinstance(sign, Hint) and "" not in sign.paths:
                self._loop.hint(name, sign.paths)
            else:
                self._loop.overflow(name)

        return passed
