"""One daemon a data folder: a kernel lock that dies with its holder.

The lock decides, never a process id on disk: a number may be stale or belong to somebody else by
now. It must not know what the data folder holds.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from recalld.errors import AlreadyRunning, StoreUnusable


class InstanceLock:
    """Holds `lock` in a data folder from `__enter__` to `__exit__`, or to the process's end.

    Symlinks are resolved first, so two names of one folder are one lock. The file stays behind:
    removing it would let a third process lock a new file beside the holder of the old one.
    """

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._fd: int | None = None

    def __enter__(self) -> Self:
        """Takes the lock without waiting, and creates the folder (0700) where it is missing.

        Raises:
            AlreadyRunning: Another process holds it; `holder` is the process id that it wrote.
            StoreUnusable: The folder can't be made or locked.
        """
        try:
            folder = self._data_dir.resolve()
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._fd = _locked(folder / "lock", self._data_dir)
        except OSError as error:
            raise StoreUnusable(
                f"the data folder {self._data_dir} cannot be locked: {error.strerror}",
                hint="it must be a folder that you may write to, on a file system with locks",
            ) from error
        # For people and messages only; nothing trusts it.
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._fd is not None:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = None


def _locked(path: Path, data_dir: Path) -> int:
    """A locked descriptor of `path`, which Python closes in every program that we start."""
    while True:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _holder(fd)
            os.close(fd)
            raise _already_running(data_dir, holder) from None
        except OSError:
            os.close(fd)
            raise
        if _is_still(path, fd):
            return fd
        # Somebody removed the file between our opening and locking it.
        os.close(fd)


def _is_still(path: Path, fd: int) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), path.lstat())
    except FileNotFoundError:
        return False


def _holder(fd: int) -> int | None:
    text = os.pread(fd, 32, 0).strip()
    return int(text) if text.isdigit() else None


def _already_running(data_dir: Path, holder: int | None) -> AlreadyRunning:
    who = f"process {holder}" if holder else "another process"
    return AlreadyRunning(
        f"another daemon holds the data folder {data_dir} ({who})",
        holder=holder,
        hint="`recalld status` asks it; stop it first, or choose another folder with --data",
    )
