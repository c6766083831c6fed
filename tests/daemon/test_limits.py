from __future__ import annotations

import errno
from pathlib import Path

import pytest

from daemon.limits import LIMIT_ERRORS, reached_limit


@pytest.mark.parametrize(("code", "name"), [(errno.ENOSPC, "watches"), (errno.EMFILE, "instances")])
def test_the_lower_of_two_limits_is_named_with_its_value_and_a_higher_one(
    code: int, name: str
) -> None:
    present = {
        f"fs.inotify.max_user_{name}": f"/proc/sys/fs/inotify/max_user_{name}",
        f"user.max_inotify_{name}": f"/proc/sys/user/max_inotify_{name}",
    }
    values = {
        key: int(Path(path).read_text()) for key, path in present.items() if Path(path).exists()
    }
    lowest = min(values, key=lambda key: values[key])
    limit = reached_limit(code)
    assert limit is not None
    assert f"{lowest} " in limit.message
    assert f"it is {values[lowest]} now" in limit.message
    wanted = int(limit.hint.split(";")[0].rpartition("=")[2])
    assert limit.hint.startswith(f"sudo sysctl {lowest}=")
    assert wanted >= 2 * values[lowest]


def test_other_errors_are_no_limits() -> None:
    assert {errno.ENOSPC, errno.EMFILE} == LIMIT_ERRORS
    assert reached_limit(errno.EACCES) is None
    assert reached_limit(0) is None
