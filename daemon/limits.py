"""Says in words which limit of the system keeps a folder from being watched, and how to raise it.

It reads what Linux shows under /proc and changes nothing.
"""

from __future__ import annotations

import errno
import os
import resource
from dataclasses import dataclass
from pathlib import Path

# What inotify fails with when a limit is reached.
LIMIT_ERRORS = frozenset({errno.ENOSPC, errno.EMFILE})

_PROC = Path("/proc/sys")
# What desktop tools with large trees recommend; a kernel default may be as low as 8,192 and 128.
_ENOUGH = {"max_user_watches": 524_288, "max_user_instances": 1024}
_NAMESPACED = {
    "max_user_watches": "user.max_inotify_watches",
    "max_user_instances": "user.max_inotify_instances",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A limit that was reached: a sentence with its name and present value, and how to raise it."""

    message: str
    hint: str


def reached_limit(code: int) -> Limit | None:
    """The limit that an `errno` of inotify speaks of; None when it speaks of something else."""
    if code == errno.ENOSPC:
        return _sysctl_limit("max_user_watches", "folders that may be watched")
    if code == errno.EMFILE and not _may_open_more():
        return _open_file_limit()
    if code == errno.EMFILE:
        return _sysctl_limit("max_user_instances", "programs that may watch folders")
    return None


def _sysctl_limit(name: str, what: str) -> Limit:
    # A container may have a lower limit of its own; the one that was reached is the lower one.
    choices = [f"fs.inotify.{name}", _NAMESPACED[name]]
    present = {choice: value for choice in choices if (value := _value(choice)) is not None}
    key = min(present, key=lambda choice: present[choice], default=choices[0])
    now = f"it is {present[key]} now" if present else "its present value can't be read"
    wanted = max(_ENOUGH[name], 2 * present.get(key, 0))
    return Limit(
        message=f"the limit {key} on the number of {what} is reached; {now}",
        hint=(
            f"sudo sysctl {key}={wanted}; to keep it, put the line {key}={wanted} into"
            " /etc/sysctl.d/60-recalld.conf"
        ),
    )


def _open_file_limit() -> Limit:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return Limit(
        message=f"the limit on files that recalld may have open is reached; it is {soft} now",
        hint=f"set LimitNOFILE={max(4096, 2 * soft)} in the service unit, or use ulimit -n",
    )


def _may_open_more() -> bool:
    try:
        os.close(os.open("/", os.O_RDONLY | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def _value(key: str) -> int | None:
    try:
        return int((_PROC / key.replace(".", "/")).read_text())
    except (OSError, ValueError):
        return None
