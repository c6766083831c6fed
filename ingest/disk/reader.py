"""Reads one note from the disk, and only that: a regular file inside its root, whole, in one state.

No link is followed on the way, so a path cannot lead out of the root; a pipe or device is never
opened. Knows nothing of blocks, facts or the store.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Literal

from ingest.disk.encoding import decode
from ingest.disk.records import is_valid_name, printable
from recalld.records import FileStat, Problem

__all__ = ["FileStat", "NoteText", "Unread", "UnreadReason", "hash_content", "read_note", "stat_of"]

UnreadReason = Literal[
    "missing",
    "not_regular",
    "outside_root",
    "too_large",
    "unreadable",
    "changed_while_reading",
    "damaged",
    "undecodable_name",
]

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Non-blocking, in case a pipe takes the file's place between stat and open.
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
# A write stamps the file when it begins, and stamps are some milliseconds coarse: so fresh a file
# may change without its stat, and is read twice, this far apart.
_FRESH_S = 0.02
_REASON_BY_ERRNO: dict[int, UnreadReason] = {
    errno.ENOENT: "missing",
    errno.ENAMETOOLONG: "missing",
    errno.ENXIO: "not_regular",
    errno.EISDIR: "not_regular",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteText:
    """A note as read: its text, and the hash and stat of exactly the bytes it came from."""

    text: str
    # BLAKE2b of the raw bytes, 16 bytes long.
    content_hash: bytes
    stat: FileStat
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """Why a note was not read. Only `missing` says that it is gone; the others stay known."""

    reason: UnreadReason
    # One sentence; printable, without the root's path.
    message: str


def read_note(
    root: Path, relative: str, *, max_bytes: int, may_grow: bool = False
) -> NoteText | Unread:
    """The note at `relative` below `root`, or why it can't be read now. It never raises.

    The file must be the same before and after reading, in stat and by name; else
    `changed_while_reading`, and a later try is right. A file above `max_bytes` is not read at all,
    never cut.

    Args:
        root: The folder.
        relative: Its path below it, with `/`.
        max_bytes: The largest file that is read.
        may_grow: Of a file that is only being added to, the whole lines that stood there at first are
            taken, with the stat of then: that of the file is another one, so it is read again.
    """
    names = relative.split("/")
    if not is_valid_name(relative):
        return _unread("undecodable_name", relative, "its name is not UTF-8")
    if "\0" in relative:
        return _unread("missing", relative, "no file has such a name")
    if any(name in {"", ".", ".."} for name in names):
        return _unread("outside_root", relative, "the path is not one below the root")
    try:
        with _folder_of(root, names[:-1]) as folder:
            return _read_in(folder, names[-1], relative, max_bytes, may_grow=may_grow)
    except OSError as error:
        return _unread_by_error(root, relative, error)


def hash_content(data: bytes) -> bytes:
    """The hash that stands for a note's raw bytes: 16 bytes of BLAKE2b."""
    return blake2b(data, digest_size=16).digest()


def stat_of(result: os.stat_result) -> FileStat:
    """The part of a stat that tells states of a file apart."""
    return FileStat(
        size=result.st_size,
        mtime_ns=result.st_mtime_ns,
        ctime_ns=result.st_ctime_ns,
        inode=result.st_ino,
        device=result.st_dev,
    )


@contextmanager
def _folder_of(root: Path, names: list[str]) -> Iterator[int]:
    """The note's folder, opened name by name from the root, so that no link is followed."""
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in names:
            inner = os.open(name, _FOLDER_FLAGS, dir_fd=folder)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def _read_in(
    folder: int, name: str, relative: str, max_bytes: int, *, may_grow: bool
) -> NoteText | Unread:
    seen = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISLNK(seen.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if not stat.S_ISREG(seen.st_mode):
        return _unread("not_regular", relative, "it is not a regular file")
    with os.fdopen(os.open(name, _FILE_FLAGS, dir_fd=folder), "rb", buffering=0) as file:
        before = os.fstat(file.fileno())
        if not stat.S_ISREG(before.st_mode):
            return _unread("not_regular", relative, "it is not a regular file")
        if before.st_size > max_bytes:
            message = f"it has {before.st_size} bytes, more than the limit of {max_bytes}"
            return _unread("too_large", relative, message)
        data = _read_steady(file.fileno(), before)
        after = os.fstat(file.fileno())
        if data is None or stat_of(before) != stat_of(after):
            data, after = (_read_grown(file.fileno(), before) if may_grow else None), before
    named = os.stat(name, dir_fd=folder, follow_symlinks=False)
    has_grown = may_grow and os.path.samestat(before, named)
    if data is None or not (stat_of(after) == stat_of(named) or has_grown):
        return _unread("changed_while_reading", relative, "it changed while it was read")
    decoded = decode(data)
    if decoded is None:
        return _unread("damaged", relative, "it holds no text: NUL bytes or binary data")
    return NoteText(
        text=decoded.text,
        content_hash=hash_content(data),
        stat=stat_of(after),
        problems=decoded.problems,
    )


def _read_steady(file: int, before: os.stat_result) -> bytes | None:
    """All bytes, or None where they differ in number from the stat or change while we look."""
    data = _read_whole(file, before.st_size)
    if abs(time.time() - before.st_ctime) < _FRESH_S:
        time.sleep(_FRESH_S)
        os.lseek(file, 0, os.SEEK_SET)
        if _read_whole(file, before.st_size) != data:
            return None
    return data if len(data) == before.st_size else None


def _read_grown(file: int, before: os.stat_result) -> bytes | None:
    """The whole lines of what stood there at first; None where not even that stays as it is."""
    heads = []
    for _ in range(2):
        os.lseek(file, 0, os.SEEK_SET)
        heads.append(_read_whole(file, before.st_size)[: before.st_size])
        time.sleep(_FRESH_S)
    first, second = heads
    is_added_to = first == second and os.fstat(file).st_size > before.st_size == len(first)
    return first[: first.rfind(b"\n") + 1] or None if is_added_to else None


def _read_whole(file: int, size: int) -> bytes:
    """All bytes up to one more than `size`: growth shows as a length that differs."""
    pieces = []
    wanted = size + 1
    while wanted > 0 and (piece := os.read(file, wanted)):
        pieces.append(piece)
        wanted -= len(piece)
    return b"".join(pieces)


def _unread_by_error(root: Path, relative: str, error: OSError) -> Unread:
    if error.errno in {errno.ELOOP, errno.ENOTDIR}:
        return _unread_by_link(root, relative)
    reason = _REASON_BY_ERRNO.get(error.errno or 0, "unreadable")
    return _unread(reason, relative, error.strerror or type(error).__name__)


def _unread_by_link(root: Path, relative: str) -> Unread:
    """A link is on the way, or a file where a folder was: the first never counts as gone."""
    path = root
    for name in relative.split("/"):
        path = path / name
        if path.is_symlink():
            target, top = os.path.realpath(path), os.path.realpath(root)
            if target == top or target.startswith(top.rstrip("/") + "/"):
                return _unread("not_regular", relative, "a link is not read, only what it leads to")
            return _unread("outside_root", relative, "a link leads out of the root")
    return _unread("missing", relative, "there is no such file")


def _unread(reason: UnreadReason, relative: str, message: str) -> Unread:
    return Unread(reason=reason, message=f"{printable(relative)}: {message}")
