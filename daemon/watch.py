"""Hears of changes below a root, by inotify through watchdog, and passes them on as hints.

A hint says where to look, never what happened: events are lost, late, doubled, and told under paths
that are stale. Linux drops events when too many come at once, watchdog keeps quiet about folders
that it could not watch, and a root that is deleted and made anew is heard of no more; all three are
told here. It never reads a file and knows nothing of notes beyond their names.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import structlog
from watchdog.events import (
    DirAttribEvent,
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers.api import BaseObserver
from watchdog.observers.inotify import InotifyEmitter, InotifyWatchGroup
from watchdog.observers.inotify_c import (
    CallbackId,
    InotifyConstants,
    InotifyEvent,
    InotifyFD,
    Mask,
    WatchCallback,
    WatchDescriptor,
)
from watchdog.utils import BaseThread

from daemon.limits import LIMIT_ERRORS, reached_limit
from ingest.disk.ignore import NOTE_SUFFIXES, IgnoreRules
from ingest.disk.records import RootIdentity, is_valid_name
from ingest.disk.walk import root_identity

_log = structlog.get_logger("watch")

# How long the threads of a watch are waited for; they end in half a second.
_LONGEST_STOP_S = 2.0

# Without opened, closed-unwritten and modified-folder events: reading must not wake us, and what
# happened in a folder is told of the thing in it.
_EVENTS: list[type[FileSystemEvent]] = [
    DirAttribEvent,
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """Something may have happened to these paths, all at once, and to whatever is below them.

    Paths are relative to the root, "" is the root itself. A `.recallignore` may be among them.
    """

    root: Path
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow:
    """Events were lost: anything may have happened."""

    root: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class RootLost:
    """The root was deleted or unmounted; nothing more will be heard until `Watch.renew`."""

    root: Path


Sign = Hint | Overflow | RootLost


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchHealth:
    """How well a root is heard.

    `watching`: all of it. `polling`: not all of it, for want of watches or permission; scan more
    often. `deaf`: nothing, or not for long: `renew`, then scan. `missing`: there is no root.
    `stopped`: nobody asked for it.
    """

    state: Literal["watching", "polling", "deaf", "missing", "stopped"]
    message: str = ""
    hint: str | None = None


class Watch:
    """One root's watch. `check`, `renew` and `stop` may be called from any thread.

    Args:
        root: Need not exist yet, and may be a link.
        on_hint: Called from the watch's own threads; it must be quick, and take no lock that is
        held
            while `renew` or `stop` is called, as these wait for those threads.
        rules: What is ignored is not hinted at.
    """

    def __init__(self, root: Path, on_hint: Callable[[Sign], None], rules: IgnoreRules) -> None:
        self._root = root
        self._on_hint = on_hint
        self._rules = rules
        self._lock = threading.Lock()
        self._is_wanted = False
        self._running: _Running | None = None
        self._failure: WatchHealth | None = None

    def start(self) -> WatchHealth:
        """Begins to watch. What happened before is not told: scan after it, not before.

        Never raises for want of a root, of watches or of permission; the health says so.
        """
        with self._lock:
            self._is_wanted = True
            self._start()
        return self.check()

    def stop(self) -> None:
        """Ends the watch and joins its threads, within about half a second."""
        with self._lock:
            self._is_wanted = False
            self._end()

    def renew(self) -> WatchHealth:
        """Watches anew what the root's path leads to now; scan after it.

        Right when `check` says deaf, and now and then while polling, in case there is room again.
        """
        with self._lock:
            if self._is_wanted:
                self._end()
                self._start()
        return self.check()

    def use_rules(self, rules: IgnoreRules) -> None:
        """Ignores by these rules from now on."""
        self._rules = rules

    def check(self) -> WatchHealth:
        """How well the root is heard now. Costs a few stats and opens no file."""
        running, failure = self._running, self._failure
        if not self._is_wanted:
            return WatchHealth(state="stopped")
        present = root_identity(self._root)
        if present is None:
            return WatchHealth(state="missing", message=f"{self._root} is not there")
        if running is not None:
            return running.health(present)
        if failure is not None:
            return failure
        return WatchHealth(state="deaf", message=f"{self._root} is there again")

    def _start(self) -> None:
        if self._running is not None or root_identity(self._root) is None:
            return
        try:
            self._running = _Running(self._root, self._heard, self._lost, self._ended)
            self._failure = None
        except OSError as error:
            self._failure = _polling(error)

    def _end(self) -> None:
        if self._running is not None:
            self._running.stop()
        self._running = None

    def _heard(self, paths: dict[str, bool]) -> None:
        """Passes on the paths that matter; the value tells folders."""
        wanted = tuple(path for path, is_dir in paths.items() if self._matters(path, is_dir))
        if wanted:
            self._on_hint(Hint(root=self._root, paths=wanted))

    def _lost(self) -> None:
        self._on_hint(Overflow(root=self._root))

    def _ended(self) -> None:
        self._on_hint(RootLost(root=self._root))

    def _matters(self, path: str, is_dir: bool) -> bool:
        if not path:
            return True
        rules = self._rules
        return not rules.ignores(path, is_dir=is_dir) or rules.makes_rules(path)


class _Running(FileSystemEventHandler):
    """The threads that watch one folder, from start to stop, and what went wrong with them."""

    def __init__(
        self,
        root: Path,
        on_paths: Callable[[dict[str, bool]], None],
        on_overflow: Callable[[], None],
        on_root_lost: Callable[[], None],
    ) -> None:
        self._identity = root_identity(root)
        # The real path: a link itself would be watched otherwise, not what it leads to.
        self._top = os.path.realpath(root)
        self._on_paths = on_paths
        self._on_root_lost = on_root_lost
        self._fault: BaseException | None = None
        self._limited: WatchHealth | None = None
        # Folders that may not be read, and so not be watched, until their permissions change.
        self._refused: dict[str, WatchHealth] = {}
        self._inotify = _Inotify(
            name=f"watch-{root.name}",
            on_overflow=on_overflow,
            on_unmounted=on_root_lost,
            on_unwatched=self._note_unwatched,
            on_fault=self._fail,
        )
        self._inotify.start()
        self._observer = _Observer(self._inotify)
        self._observer.schedule(self, self._top, recursive=True, event_filter=_EVENTS)
        try:
            self._observer.start()
        except OSError:
            self._inotify.stop()
            self._inotify.join(_LONGEST_STOP_S)
            raise

    def stop(self) -> None:
        """Ends the threads; one that can't be ended is left behind, deaf, and does not keep the process."""
        threads: list[BaseThread] = [*self._observer.emitters, self._observer, self._inotify]
        for thread in threads:
            _guarded(thread.stop, self._fail)
        ends = time.monotonic() + _LONGEST_STOP_S
        for thread in threads:
            thread.join(max(0.0, ends - time.monotonic()))
        left = [thread.name for thread in threads if thread.is_alive()]
        if left or self._fault is not None:
            _log.warning("watch.broke", root=self._top, left=left, error=repr(self._fault))

    def dispatch(self, event: FileSystemEvent) -> None:
        """Turns an event into the paths it is about."""
        source = os.fsdecode(event.src_path)
        if isinstance(event, DirDeletedEvent) and source == self._top:
            self._on_root_lost()
            return
        ends = [source, os.fsdecode(event.dest_path)] if event.dest_path else [source]
        told = (self._relative(path, is_directory=event.is_directory) for path in ends)
        paths = dict(one for one in told if one is not None)
        if paths:
            self._on_paths(paths)

    def health(self, present: RootIdentity) -> WatchHealth:
        if present != self._identity:
            return WatchHealth(state="deaf", message=f"{self._top} is another folder than before")
        if self._fault is not None:
            return WatchHealth(state="deaf", message=f"the watch broke down: {self._fault!r}")
        if not self._is_alive():
            return WatchHealth(state="deaf", message="the watch has ended")
        for path in tuple(self._refused):
            if not Path(path).is_dir():
                self._refused.pop(path, None)
            elif os.access(path, os.R_OK, effective_ids=True):
                return WatchHealth(state="deaf", message=f"{path} can be watched again")
        return self._limited or next(iter(self._refused.values()), WatchHealth(state="watching"))

    def _is_alive(self) -> bool:
        threads = (self._inotify, self._observer, *self._observer.emitters)
        return len(threads) > 2 and all(thread.is_alive() for thread in threads)

    def _fail(self, error: BaseException) -> None:
        self._fault = error

    def _note_unwatched(self, path: str, error: OSError) -> None:
        if error.errno in LIMIT_ERRORS:
            self._limited = self._limited or _polling(error)
        else:
            self._refused[path] = _polling(error)

    def _relative(self, path: str, *, is_directory: bool) -> tuple[str, bool] | None:
        """A path below the root and whether it is a folder; None for others and for what can't be a note.

        A note whose name is not UTF-8 is never read, but told of: its folder stands for it.
        """
        if path == self._top:
            return "", True
        prefix = self._top.rstrip("/") + "/"
        if not path.startswith(prefix):
            return None
        relative = path.removeprefix(prefix)
        if is_valid_name(relative):
            return relative, is_directory
        folder, _, name = relative.rpartition("/")
        may_be_note = is_valid_name(folder) and name.lower().endswith(NOTE_SUFFIXES)
        return (folder, True) if may_be_note else None


class _Inotify(InotifyFD):
    """watchdog's reader of inotify, telling of lost events and of folders that it can't watch."""

    def __init__(
        self,
        *,
        name: str,
        on_overflow: Callable[[], None],
        on_unmounted: Callable[[], None],
        on_unwatched: Callable[[str, OSError], None],
        on_fault: Callable[[BaseException], None],
    ) -> None:
        super().__init__()
        self.name = name
        self.on_fault = on_fault
        self._on_overflow = on_overflow
        self._on_unmounted = on_unmounted
        self._on_unwatched = on_unwatched

    def run(self) -> None:
        _guarded(super().run, self.on_fault)

    def handle_event(self, event: InotifyEvent) -> None:
        # First watchdog's own part, which watches what was missed: the scan that we ask for then
        # sees everything that nobody told.
        super().handle_event(event)
        if event.is_queue_overflow:
            self._on_overflow()
        elif event.mask & InotifyConstants.IN_UNMOUNT:
            self._on_unmounted()

    def add_callback(
        self, path: bytes, mask: Mask, callback: WatchCallback, id_: CallbackId
    ) -> WatchDescriptor:
        try:
            # watchdog takes a refusal for success, so it has to be foreseen.
            if not os.access(path, os.R_OK, effective_ids=True) and os.path.lexists(path):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fsdecode(path))
            return super().add_callback(path, mask, callback, id_)
        except OSError as error:
            if error.errno not in {errno.ENOENT, errno.ENOTDIR}:
                self._on_unwatched(os.fsdecode(path), error)
            raise

    def _add_callback(
        self, path: bytes, mask: Mask, callback: WatchCallback, id_: CallbackId
    ) -> WatchDescriptor:
        # A new folder is often found twice: by the walk of its parent, and by the parent's watch.
        # watchdog warns of the second time, with all that it knows in one line.
        watch = self._get_or_create_watch(path, mask)
        watch.callbacks[id_] = callback
        return watch.wd


class _Group(InotifyWatchGroup):
    """watchdog's watches of one tree, without its faith that each path has one watch, and each watch a path.

    A folder that was moved out of the tree is still watched, under its old path. When that path is another folder's,
    and that one is moved or deleted, the path is gone for both.
    """

    def _remove_watch_internally(self, wd: WatchDescriptor) -> None:
        path = self._active_callbacks_by_watch.pop(wd, None)
        if path is not None and self._active_callbacks_by_path.get(path) == wd:
            del self._active_callbacks_by_path[path]

    def deactivate(self) -> None:
        try:
            super().deactivate()
        finally:
            # Somebody waits for the next event, and for nothing else.
            self._move_event_grouper.close()


class _Emitter(InotifyEmitter):
    """watchdog's maker of events, in a thread that is named and that fails audibly."""

    _inotify_fd: _Inotify

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]  # passed on untouched
        self.name = f"{self._inotify_fd.name}-events"

    def on_thread_start(self) -> None:
        self._inotify = _Group(
            self._inotify_fd,
            os.fsencode(self.watch.path),
            is_recursive=self.watch.is_recursive,
            event_mask=self.get_event_mask_from_filter(),
        )

    def run(self) -> None:
        _guarded(super().run, self._inotify_fd.on_fault)

    def queue_events(
        self,
        timeout: float,  # noqa: ARG002 - the library's signature
        *,
        full_events: bool = False,
    ) -> None:
        """The library's own, without the error that it logs of a thread that is just being stopped."""
        with self._lock:
            group = self._inotify
        event = group.read_event() if group is not None else None
        with self._lock:
            if event is not None and self._inotify is not None:
                self.build_and_queue_event(event, full_events=full_events)


class _Observer(BaseObserver):
    """watchdog's observer of one folder with one inotify instance of its own."""

    def __init__(self, inotify: _Inotify) -> None:
        super().__init__(_Emitter, inotify_fd=inotify)
        self.name = f"{inotify.name}-hints"
        self._on_fault = inotify.on_fault

    def on_thread_stop(self) -> None:
        """Leaves the emitter to whoever ends both: the library's own waits for it for as long as it takes."""

    def run(self) -> None:
        _guarded(super().run, self._on_fault)


def _guarded(run: Callable[[], None], on_fault: Callable[[BaseException], None]) -> None:
    """Runs a thread's work; an error ends the thread and is told, as `check` has it renewed."""
    try:
        run()
    except Exception as error:  # noqa: BLE001 - a foreign library's thread, and nobody to raise to
        on_fault(error)


def _polling(error: OSError) -> WatchHealth:
    limit = reached_limit(error.errno or 0)
    if limit is not None:
        return WatchHealth(state="polling", message=limit.message, hint=limit.hint)
    return WatchHealth(state="polling", message=f"it can't be watched: {error}")
