"""Lists the notes below a root with their stats. It never opens a file.

Links are never followed: what one inside the root leads to is met under its own path, so a note is
counted once, a loop ends, and nothing outside is reached. What cannot be listed is told apart from
what is not there. Knows nothing of the store.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from ingest.disk.ignore import NOTE_SUFFIXES, RULES_NAME, IgnoreRules
from ingest.disk.reader import stat_of
from ingest.disk.records import (
    RootIdentity,
    Scope,
    Skipped,
    SkipReason,
    Walk,
    is_valid_name,
    parents_of,
    printable,
)
from recalld.records import FileStat

_WHOLE = Scope()
_GONE = (FileNotFoundError, NotADirectoryError)


def root_identity(path: Path) -> RootIdentity | None:
    """Which folder `path` leads to now; None where there is none or it can't be reached."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISDIR(found.st_mode):
        return None
    return RootIdentity(device=found.st_dev, inode=found.st_ino)


def walk(root: Path, rules: IgnoreRules, *, scope: Scope = _WHOLE) -> Walk:
    """Finds every note of a root, or of the part of it that `scope` covers. Never raises.

    A root that is replaced during the walk counts as unreadable: what was found is not the whole of
    either folder.
    """
    before = root_identity(root)
    search = _Search(root, rules)
    if before is not None:
        search.enter_all(scope)
    if root_identity(root) != before:
        search.unreadable.append("")
    return Walk(
        identity=before,
        scope=scope,
        files=search.files,
        unreadable=tuple(sorted(set(search.unreadable))),
        skipped=tuple(search.skipped),
        ignore_files=search.ignore_files,
    )


class _Search:
    """One walk in progress. `entries` are what `os.scandir` gives."""

    def __init__(self, root: Path, rules: IgnoreRules) -> None:
        self._root = root
        self._real_root = os.path.realpath(root)
        self._rules = rules
        self._pending: list[str] = []
        self.files: dict[str, FileStat] = {}
        self.unreadable: list[str] = []
        self.skipped: list[Skipped] = []
        self.ignore_files: dict[str, FileStat] = {}

    def enter_all(self, scope: Scope) -> None:
        if scope.prefixes is None:
            self._pending.append("")
        for prefix in sorted(scope.prefixes or ()):
            if scope.prefixes is not None and scope.prefixes.isdisjoint(parents_of(prefix)):
                self._enter(prefix)
        while self._pending:
            self._list(self._pending.pop())

    def _enter(self, prefix: str) -> None:
        """Goes to a prefix name by name: by real folders only, and names spelt exactly."""
        names = set(prefix.split("/"))
        if not is_valid_name(prefix) or "\0" in prefix or not names.isdisjoint({"", ".", ".."}):
            return
        for folder in (*reversed(tuple(parents_of(prefix))), prefix):
            if _parent(folder) in self._rules.unreadable:
                self.unreadable.append(prefix)
                return
            try:
                found = os.lstat(self._path(folder))
                exact = self._is_exact(folder, found)
            except _GONE:
                return
            except OSError as error:
                if error.errno != errno.ENAMETOOLONG:
                    self.unreadable.append(prefix)
                return
            if not exact:
                return
            if folder == prefix:
                self._take(prefix, found)
            elif not stat.S_ISDIR(found.st_mode) or self._rules.ignores_within(folder, is_dir=True):
                return

    def _list(self, folder: str) -> None:
        """Takes everything in a folder and puts its folders on the pile."""
        if folder in self._rules.unreadable:
            self.unreadable.append(folder)
            self._take_by_name(_join(folder, RULES_NAME))
            return
        try:
            with os.scandir(self._path(folder)) as entries:
                found = list(entries)
        except _GONE:
            return
        except OSError:
            self.unreadable.append(folder)
            return
        for entry in found:
            self._take_entry(_join(folder, entry.name), entry)

    def _take_entry(self, path: str, entry: os.DirEntry[str]) -> None:
        try:
            if entry.is_dir(follow_symlinks=False):
                self._take_folder(path)
            elif entry.is_symlink() or self._may_be_note(path) or entry.name == RULES_NAME:
                self._take(path, entry.stat(follow_symlinks=False))
        except _GONE:
            return
        except OSError:
            self.unreadable.append(path)

    def _take_by_name(self, path: str) -> None:
        try:
            self._take(path, os.lstat(self._path(path)))
        except OSError:
            return

    def _take(self, path: str, found: os.stat_result) -> None:
        """Puts one thing where it belongs, by its stat without following links."""
        if path.rpartition("/")[2] == RULES_NAME:
            self._take_rules(path)
        elif stat.S_ISDIR(found.st_mode):
            self._take_folder(path)
        elif stat.S_ISLNK(found.st_mode):
            self._take_link(path)
        elif not self._may_be_note(path):
            return
        elif not is_valid_name(path):
            self._skip(path, "undecodable_name")
        elif stat.S_ISREG(found.st_mode):
            self.files[path] = stat_of(found)
        else:
            self._skip(path, "not_regular")

    def _take_folder(self, path: str) -> None:
        if not is_valid_name(path):
            if not path.rpartition("/")[2].startswith("."):
                self._skip(path, "undecodable_name")
        elif not self._rules.ignores_within(path, is_dir=True):
            self._pending.append(path)

    def _take_rules(self, path: str) -> None:
        try:
            self.ignore_files[path] = stat_of(self._path(path).stat())
        except OSError:
            return

    def _take_link(self, path: str) -> None:
        """Lists a link that looks like a note or leads to a folder; its target is not counted."""
        reason, is_folder = self._led_by(path)
        if not is_valid_name(path):
            ignored = path.rpartition("/")[2].startswith(".")
        else:
            ignored = self._rules.ignores_within(path, is_dir=is_folder)
        if not ignored:
            self._skip(path, reason)

    def _led_by(self, path: str) -> tuple[SkipReason, bool]:
        """Where a link leads, and whether that is a folder."""
        try:
            target = os.path.realpath(self._path(path), strict=True)
        except OSError as error:
            return ("link_loop" if error.errno == errno.ELOOP else "link_dead"), False
        is_folder = Path(target).is_dir()
        if target == self._real_root or target.startswith(self._real_root.rstrip("/") + "/"):
            return "link_inside", is_folder
        return "link_outside", is_folder

    def _may_be_note(self, path: str) -> bool:
        """Whether a file is a note by its name; a name that isn't UTF-8 can meet no pattern."""
        if is_valid_name(path):
            return not self._rules.ignores_within(path, is_dir=False)
        name = path.rpartition("/")[2].lower()
        return name.endswith(NOTE_SUFFIXES) and not name.startswith(".")

    def _is_exact(self, path: str, found: os.stat_result) -> bool:
        """Whether the last name is spelt as on the disk.

        A disk that ignores case (a FAT stick, say) finds `A.md` under `a.md` too, which would be
        two notes. The folder is listed only where another spelling leads to the same file.
        """
        parent, _, name = path.rpartition("/")
        other = name.swapcase()
        if other == name:
            return True
        try:
            if not os.path.samestat(os.lstat(self._path(_join(parent, other))), found):
                return True
        except OSError:
            return True
        return any(entry.name == name for entry in self._path(parent).iterdir())

    def _skip(self, path: str, reason: SkipReason) -> None:
        self.skipped.append(Skipped(path_printable=printable(path), reason=reason))

    def _path(self, relative: str) -> Path:
        return self._root / relative


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
