"""One daemon a data folder, whoever starts it and by whichever name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from daemon.lock import InstanceLock
from recalld.errors import AlreadyRunning, StoreUnusable
from tests.waiting import DEADLINE_S

# Takes the lock, says so, and holds it until its input ends; 4 when somebody else has it.
HOLDER = """
import sys
from pathlib import Path
from daemon.lock import InstanceLock
from recalld.errors import AlreadyRunning
sys.stdin.readline()
try:
    with InstanceLock(Path(sys.argv[1])):
        print("held", flush=True)
        sys.stdin.read()
except AlreadyRunning as error:
    print(error.holder, flush=True)
    sys.exit(4)
"""


def holder(data_dir: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(data_dir)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    process.stdin.write("go\n")
    process.stdin.flush()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def finish(process: subprocess.Popen[str]) -> int:
    process.communicate(timeout=DEADLINE_S)
    return process.returncode


@pytest.mark.slow
def test_of_processes_started_at_the_same_instant_exactly_one_wins(tmp_path):
    rivals = [holder(tmp_path / "data") for _ in range(4)]
    for rival in rivals:
        go(rival)
    words = [said(rival) for rival in rivals]
    winners = [rival for rival, word in zip(rivals, words, strict=True) if word == "held"]
    assert len(winners) == 1
    codes = [finish(rival) for rival in rivals]
    assert sorted(codes) == [0, 4, 4, 4]


@pytest.mark.slow
def test_second_daemon_is_told_who_holds_the_folder(tmp_path):
    first = holder(tmp_path)
    go(first)
    assert said(first) == "held"
    with (
        pytest.raises(AlreadyRunning, match=f"process {first.pid}") as caught,
        InstanceLock(tmp_path),
    ):
        pass
    assert caught.value.holder == first.pid
    assert caught.value.hint
    finish(first)


@pytest.mark.slow
def test_symlinked_path_is_the_same_folder(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    first = holder(tmp_path / "real")
    go(first)
    assert said(first) == "held"
    with pytest.raises(AlreadyRunning), InstanceLock(tmp_path / "link"):
        pass
    finish(first)


def test_pid_of_a_live_unrelated_process_means_nothing(tmp_path):
    (tmp_path / "lock").write_text(f"{os.getppid()}\n")
    with InstanceLock(tmp_path):
        assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"


@pytest.mark.parametrize("content", ["", "not a number", "99999999999999999999", "-1", "\0\xff"])
def test_odd_lock_file_is_no_obstacle(tmp_path, content):
    (tmp_path / "lock").write_text(content)
    with InstanceLock(tmp_path), pytest.raises(AlreadyRunning) as caught, InstanceLock(tmp_path):
        pass
    assert caught.value.holder == os.getpid()


@pytest.mark.slow
def test_killed_holder_leaves_the_folder_free(tmp_path):
    first = holder(tmp_path)
    go(first)
    assert said(first) == "held"
    first.kill()
    finish(first)
    with InstanceLock(tmp_path):
        pass


@pytest.mark.slow
def test_child_that_outlives_its_daemon_does_not_keep_the_lock(tmp_path):
    with InstanceLock(tmp_path):
        child = subprocess.Popen(
            [sys.executable, "-c", "import sys; print('up', flush=True); sys.stdin.read()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            close_fds=False,
        )
        # The kernel closes descriptors while it loads the program: only now has it.
        assert said(child) == "up"
    with InstanceLock(tmp_path):
        assert child.poll() is None
    child.communicate(timeout=DEADLINE_S)


def test_lock_is_free_again_after_use_and_can_be_taken_twice_in_turn(tmp_path):
    lock = InstanceLock(tmp_path)
    for _ in range(2):
        with lock:
            pass
    assert (tmp_path / "lock").read_text() == ""


def test_missing_folder_is_made_for_its_owner_alone(tmp_path):
    with InstanceLock(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700
        assert (tmp_path / "a" / "b" / "lock").stat().st_mode & 0o777 == 0o600


def test_link_in_place_of_the_lock_file_is_not_followed(tmp_path):
    (tmp_path / "lock").symlink_to(tmp_path / "note.md")
    with pytest.raises(StoreUnusable), InstanceLock(tmp_path):
        pass
    assert not (tmp_path / "note.md").exists()


def test_file_in_place_of_the_folder_is_our_error(tmp_path):
    (tmp_path / "data").write_text("a note")
    with pytest.raises(StoreUnusable, match="cannot be locked"), InstanceLock(tmp_path / "data"):
        pass
    assert (tmp_path / "data").read_text() == "a note"
