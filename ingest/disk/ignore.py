"""What is a note and what is ignored: by name, as recalld's own, and by `.recallignore` files.

A Markdown file is a note unless its name, or a folder above it, is hidden or some program's working
name. A sync tool's conflict copy (`a.sync-conflict-….md`) is a note: it may hold the only copy of
what somebody wrote, and what it repeats collapses later. `.recallignore` has gitignore's syntax; in
a sub-folder it adds to those above. It cannot bring back what is always ignored. Knows nothing of
what notes say.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from pathspec import GitIgnoreSpec

from ingest.disk.reader import stat_of
from ingest.disk.records import Walk, is_valid_name, parents_of
from recalld.records import FileStat

RULES_NAME = ".recallignore"
NOTE_SUFFIXES = (".md", ".markdown")

# Hidden names, `.git`, `.obsidian`, `.trash`, `.stversions`, `.stfolder`, `.#x`, `.~lock.x#` and
# `.syncthing.x.tmp` among them, need no list.
_FOLDERS = frozenset({"node_modules"})
_WORKING_STARTS = (".", "~$", "~syncthing~")
_WORKING_ENDS = ("~", "#", ".tmp", ".swp", ".swo", ".swx", ".part", ".crdownload")
_MAX_RULES_BYTES = 1 << 20


class IgnoreRules:
    """The rules of one root as they were when loaded. Asking never touches the disk.

    `files` are the `.recallignore` files that count, read or not; when they change, load
    anew. `unreadable` are folders whose `.recallignore` could not be read: what it keeps private is
    not known, so nothing new below them may be indexed. `problems` are for their owner: the file, and what is
    wrong with it.
    """

    def __init__(
        self,
        *,
        specs: Mapping[str, GitIgnoreSpec],
        files: Mapping[str, FileStat],
        own: frozenset[str] = frozenset(),
        unreadable: frozenset[str] = frozenset(),
        problems: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self._specs = specs
        self._own = own
        self.files = files
        self.unreadable = unreadable
        self.problems = problems

    @classmethod
    def load(cls, root: Path, own_paths: Iterable[Path] = ()) -> IgnoreRules:
        """Reads every `.recallignore` of a root, except below ignored folders.

        Args:
            root: The watched folder; a missing one has no rules.
            own_paths: recalld's data, state and log folders or files and its socket. Those that lie
                below the root are ignored; a root inside one of them is not.
        """
        return _load(root, _below(root, own_paths))

    def ignores(self, relative: str, is_dir: bool) -> bool:
        """Whether a path is no note, or a folder that no note is looked for in.

        The folders above it count too, so any path may be asked about, even one that is gone.
        """
        if not is_valid_name(relative):
            return True
        if any(self.ignores_within(parent, is_dir=True) for parent in parents_of(relative)):
            return True
        return self.ignores_within(relative, is_dir=is_dir)

    def ignores_within(self, relative: str, *, is_dir: bool) -> bool:
        """As `ignores`, for a path whose folder is known not to be ignored."""
        name = relative[relative.rfind("/") + 1 :]
        if relative in self._own or name.startswith(_WORKING_STARTS):
            return True
        if is_dir:
            return name in _FOLDERS or self._matches(relative + "/")
        lower = name.lower()
        if not lower.endswith(NOTE_SUFFIXES) or lower.endswith(_WORKING_ENDS):
            return True
        return self._matches(relative)

    def makes_rules(self, relative: str) -> bool:
        """Whether a path is a `.recallignore` that counts: when it changes, load the rules anew."""
        folder, _, name = relative.rpartition("/")
        return name == RULES_NAME and not (folder and self.ignores(folder, is_dir=True))

    def are_current(self, walk: Walk) -> bool:
        """Whether the rules' files are still as `walk` found them, as far as its scope goes."""
        covered = {path: seen for path, seen in self.files.items() if walk.scope.covers(path)}
        return covered == walk.ignore_files

    def _matches(self, relative: str) -> bool:
        """The verdict of the nearest `.recallignore` that has one, as in git."""
        if not self._specs:
            return False
        for folder in (*parents_of(relative.rstrip("/")), ""):
            spec = self._specs.get(folder)
            if spec is None:
                continue
            verdict = spec.check_file(relative[len(folder) + 1 :] if folder else relative).include
            if verdict is not None:
                return verdict
        return False


def _below(root: Path, own_paths: Iterable[Path]) -> frozenset[str]:
    top = os.path.realpath(root).rstrip("/") + "/"
    real = (os.path.realpath(path) for path in own_paths)
    return frozenset(path.removeprefix(top) for path in real if path.startswith(top))


def _load(root: Path, own: frozenset[str]) -> IgnoreRules:
    specs: dict[str, GitIgnoreSpec] = {}
    files: dict[str, FileStat] = {}
    unreadable: set[str] = set()
    problems: list[tuple[str, str]] = []
    rules = IgnoreRules(specs=specs, files=files, own=own)
    pending = [""]
    while pending:
        folder = pending.pop()
        rules_path = f"{folder}/{RULES_NAME}" if folder else RULES_NAME
        try:
            read = _read_rules(root / rules_path)
        except OSError as error:
            found = _stat(root / rules_path)
            if found is not None:
                files[rules_path] = found
                unreadable.add(folder)
                problems.append((rules_path, f"it can't be read: {error.strerror}"))
            # Else the folder itself is shut: a walk will say so, and find its rules once it is open.
            continue
        if read is not None:
            text, files[rules_path] = read
            specs[folder] = _spec(text, rules_path, problems)
        names = _subfolders(root / folder)
        paths = (f"{folder}/{name}" if folder else name for name in names)
        pending += [
            p for p in paths if is_valid_name(p) and not rules.ignores_within(p, is_dir=True)
        ]
    return IgnoreRules(
        specs=specs,
        files=files,
        own=own,
        unreadable=frozenset(unreadable),
        problems=tuple(problems),
    )


def _read_rules(path: Path) -> tuple[str, FileStat] | None:
    """The text and stat of a `.recallignore`; None where there is none.

    Links are followed, as reading rules gives nothing away; a pipe never blocks.

    Raises:
        OSError: It is there and can't be read, or is not a file of a sensible size.
    """
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    with os.fdopen(opened, "rb") as file:
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MAX_RULES_BYTES:
            raise OSError(0, "not a regular file of a sensible size")
        return file.read().decode("utf-8-sig", errors="replace"), stat_of(found)


def _stat(path: Path) -> FileStat | None:
    try:
        return stat_of(path.stat())
    except OSError:
        return None


def _spec(text: str, rules_path: str, problems: list[tuple[str, str]]) -> GitIgnoreSpec:
    """The patterns of a file; a line that is none is left out and told, and spoils no other."""
    good: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            GitIgnoreSpec.from_lines([line])
        except (ValueError, re.error):
            # The library makes an expression of a line, and finds some of its mistakes only there.
            problems.append((rules_path, f"line {number} is not a pattern and hides nothing"))
        else:
            good.append(line)
    return GitIgnoreSpec.from_lines(good)


def _subfolders(folder: Path) -> list[str]:
    """Names of a folder's folders, links left out; none where it can't be listed."""
    try:
        with os.scandir(folder) as entries:
            return [e.name for e in entries if e.is_dir(follow_symlinks=False)]
    except OSError:
        return []
