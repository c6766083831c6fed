"""Gathers hints of changes until they have settled, so that a save is looked at once and whole.

A path is due when nothing was heard of it for a quiet while, or when it has waited too long: steady
saving must not put it off for ever. Paths hinted together (both ends of a rename) are due together,
as each alone would look like a deletion or a new note. Too many paths become one scan of
everything. Pure but for its own memory: instants are given, in seconds of one monotonic clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What is to be scanned now: these paths; None stands for everything, no paths for nothing."""

    paths: frozenset[str] | None

    @property
    def is_nothing(self) -> bool:
        """Whether there is nothing to scan."""
        return self.paths is not None and not self.paths


@dataclass(slots=True, kw_only=True)
class _Group:
    """Paths that are due together, with the instants of their first and latest hint, and of the oldest change."""

    first: float
    last: float
    since: float
    paths: set[str] = field(default_factory=set)


class Settle:
    """The hints of one root that are waiting. Not thread-safe: its owner holds a lock.

    Args:
        quiet: How long nothing may be heard of a path before it is due.
        longest_wait: How long after its first hint a path is due whatever is heard; not below
        `quiet`. max_paths: With more paths than this waiting, everything is scanned instead.
    """

    def __init__(
        self,
        quiet: timedelta = timedelta(milliseconds=300),
        longest_wait: timedelta = timedelta(seconds=3),
        max_paths: int = 2000,
    ) -> None:
        self._quiet = quiet.total_seconds()
        self._longest_wait = max(longest_wait.total_seconds(), self._quiet)
        self._max_paths = max_paths
        self._group_by_path: dict[str, _Group] = {}
        # Set once everything is to be scanned; then no single path is kept.
        self._everything: _Group | None = None

    def hint(self, path: str, now: float, since: float | None = None) -> None:
        """Something may have happened to `path`; at `since`, where that was told and looked at in vain before."""
        self._add({path}, now, now if since is None else since)

    def hint_together(self, paths: Iterable[str], now: float) -> None:
        """Something may have happened that concerns all of `paths` at once, such as a rename."""
        self._add(set(paths), now, now)

    def _add(self, paths: set[str], now: float, since: float) -> None:
        if self._everything is not None:
            self._everything.last = now
            self._everything.since = min(self._everything.since, since)
            return
        group = _Group(first=now, last=now, since=since, paths=paths)
        for path in tuple(group.paths):
            other = self._group_by_path.get(path)
            if other is not None:
                group.paths |= other.paths
                group.first = min(group.first, other.first)
                group.since = min(group.since, other.since)
        for path in group.paths:
            self._group_by_path[path] = group
        if len(self._group_by_path) > self._max_paths:
            self.overflow(now)

    def overflow(self, now: float) -> None:
        """Hints were lost, or are too many: everything is to be scanned, once it is quiet."""
        since = self.oldest()
        first = min((group.first for group in self._waiting()), default=now)
        self._everything = _Group(first=first, last=now, since=now if since is None else since)
        self._group_by_path.clear()

    def due(self, now: float) -> Due:
        """What is due at `now`; it is given once, and waits no longer."""
        if self._everything is not None:
            if self._due_at(self._everything) > now:
                return Due(paths=frozenset())
            self._everything = None
            return Due(paths=None)
        paths = {p for p, group in self._group_by_path.items() if self._due_at(group) <= now}
        for path in paths:
            del self._group_by_path[path]
        return Due(paths=frozenset(paths))

    def next_due(self, now: float) -> float | None:
        """When something is due next, never before `now`; None when nothing waits."""
        instants = [self._due_at(group) for group in self._waiting()]
        return max(now, min(instants)) if instants else None

    def oldest(self) -> float | None:
        """The instant of the oldest change that still waits."""
        return min((group.since for group in self._waiting()), default=None)

    def waiting(self) -> int:
        """How many hints wait; a scan of everything counts as one."""
        return 1 if self._everything is not None else len(self._group_by_path)

    def _waiting(self) -> Iterable[_Group]:
        if self._everything is not None:
            return (self._everything,)
        return self._group_by_path.values()

    def _due_at(self, group: _Group) -> float:
        return min(group.last + self._quiet, group.first + self._longest_wait)
