"""What is seen of the disk, as records: stats, a root's identity, a walk and its scope.

Paths are relative to their root, with `/` between names, and always valid UTF-8. Nothing here
opens, lists or stats anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from recalld.records import FileStat


@dataclass(frozen=True, slots=True, kw_only=True)
class RootIdentity:
    """Which folder a root's path led to. Numbers are reused: equality is a strong hint only."""

    device: int
    inode: int


SkipReason = Literal[
    "undecodable_name",  # the name is not UTF-8
    "not_regular",  # a pipe, socket or device with a note's name
    "link_inside",  # its target is counted under its own path, or left out under it
    "link_outside",  # leads out of the root: not followed
    "link_dead",  # leads nowhere
    "link_loop",  # leads to itself
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Something that looks like a note, or may hold notes, and was left out."""

    # Printable and valid UTF-8, whatever the name's bytes are.
    path_printable: str
    reason: SkipReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The part of a root that is looked at: all of it, or some files and folders.

    `prefixes` None is the whole root. A prefix names a file, or a folder with all that is below it;
    nobody needs to know which, as after a deletion nobody could tell.
    """

    prefixes: frozenset[str] | None = None

    @classmethod
    def of(cls, paths: Iterable[str]) -> Scope:
        """The scope of these paths; the root's own path, "", makes it the whole root."""
        prefixes = frozenset(paths)
        return cls(prefixes=None if "" in prefixes else prefixes)

    def covers(self, path: str) -> bool:
        """Whether `path` is one of the prefixes or lies below one."""
        if self.prefixes is None or path in self.prefixes:
            return True
        return any(parent in self.prefixes for parent in parents_of(path))

    def names(self, path: str) -> bool:
        """Whether `path` itself was asked for, not merely a folder above it."""
        return self.prefixes is not None and path in self.prefixes


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """What a walk found below a root, within its scope."""

    # None: the root is not there, or is no folder.
    identity: RootIdentity | None
    scope: Scope
    files: Mapping[str, FileStat]
    # Folders and files that could not be listed or stat'ed, "" for the root itself. What is known
    # below them is unknown now, not gone.
    unreadable: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    # The files that make the ignore rules, as they are now.
    ignore_files: Mapping[str, FileStat]


def parents_of(path: str) -> Iterable[str]:
    """The folders above a path, nearest first, without the root: `a/b/c` gives `a/b`, `a`."""
    end = path.rfind("/")
    while end > 0:
        yield path[:end]
        end = path.rfind("/", 0, end)


def is_valid_name(path: str) -> bool:
    """Whether a path from the file system is UTF-8; other bytes come as lone surrogates."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def printable(path: str) -> str:
    """A path as valid UTF-8; control characters and undecodable bytes are shown escaped."""
    readable = path.encode(errors="surrogateescape").decode(errors="backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in readable)
