from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from watchdog.observers.inotify import InotifyEmitter
from watchdog.observers.inotify_c import InotifyConstants, InotifyEvent, Mask, WatchDescriptor

from daemon.settle import Settle
from daemon.watch import Hint, Overflow, RootLost, Sign, Watch
from ingest.disk.ignore import IgnoreRules
from ingest.disk.records import Scope
from ingest.disk.walk import walk
from tests.waiting import DEADLINE_S, soon

NOBODY = 65534


class Ears:
    """What a watch said, in order, with waiting."""

    def __init__(self) -> None:
        self.signs: list[Sign] = []
        self._changed = threading.Condition()

    def __call__(self, sign: Sign) -> None:
        with self._changed:
            self.signs.append(sign)
            self._changed.notify_all()

    def wait_for(self, heard: Callable[[list[Sign]], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: heard(self.signs), DEADLINE_S), self.signs

    def wait_for_path(self, path: str) -> None:
        self.wait_for(lambda signs: path in paths_of(signs))

    def wait_for_sign(self, kind: type[Sign]) -> None:
        self.wait_for(lambda signs: any(isinstance(sign, kind) for sign in signs))


def paths_of(signs: list[Sign]) -> set[str]:
    return {path for sign in signs if isinstance(sign, Hint) for path in sign.paths}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "V").mkdir()
    return tmp_path / "V"


@pytest.fixture
def ears() -> Ears:
    return Ears()


@pytest.fixture
def watch(root: Path, ears: Ears) -> Iterator[Watch]:
    watch = Watch(root, ears, IgnoreRules.load(root))
    yield watch
    watch.stop()
    assert [
        thread.name for thread in threading.enumerate() if thread.name.startswith("watch-")
    ] == []


def heard_until_now(root: Path, ears: Ears) -> set[str]:
    """Everything hinted at so far: signs keep their order, so the last one ends the list."""
    (root / "last.md").touch()
    ears.wait_for_path("last.md")
    return paths_of(ears.signs) - {"last.md"}


def test_created_changed_and_deleted_notes_are_hinted_at(
    root: Path, ears: Ears, watch: Watch
) -> None:
    assert watch.start().state == "watching"
    (root / "a.md").write_text("a")
    ears.wait_for_path("a.md")
    ears.signs.clear()
    with (root / "a.md").open("a") as note:
        note.write("b")
    ears.wait_for_path("a.md")
    heard_until_now(root, ears)
    ears.signs.clear()
    (root / "a.md").unlink()
    ears.wait_for_path("a.md")


def test_events_that_come_while_it_stops_are_no_error(
    root: Path, watch: Watch, caplog: pytest.LogCaptureFixture
) -> None:
    watch.start()
    (emitter,) = (thread for thread in threading.enumerate() if isinstance(thread, InotifyEmitter))
    watch.stop()
    emitter.queue_events(0.1)
    assert caplog.records == []


def test_save_by_temporary_file_hints_at_the_note_alone(
    root: Path, ears: Ears, watch: Watch
) -> None:
    (root / "a.md").write_text("alpha")
    watch.start()
    (root / ".a.md.tmp").write_text("beta")
    (root / ".a.md.tmp").replace(root / "a.md")
    assert heard_until_now(root, ears) == {"a.md"}
    ears.signs.clear()
    (root.parent / "outside.tmp").write_text("gamma")
    (root.parent / "outside.tmp").replace(root / "a.md")
    ears.wait_for_path("a.md")


def test_both_ends_of_a_rename_come_in_one_hint(root: Path, ears: Ears, watch: Watch) -> None:
    (root / "p").mkdir()
    (root / "p" / "a.md").touch()
    (root / "b.md").touch()
    watch.start()
    (root / "b.md").rename(root / "c.md")
    ears.wait_for(lambda signs: Hint(root=root, paths=("b.md", "c.md")) in signs)
    (root / "p").rename(root / "q")
    ears.wait_for(lambda signs: Hint(root=root, paths=("p", "q")) in signs)
    heard_until_now(root, ears)
    ears.signs.clear()
    (root / "q" / "a.md").write_text("later")
    ears.wait_for_path("q/a.md")


def test_a_new_tree_is_hinted_at_whole_and_watched(root: Path, ears: Ears, watch: Watch) -> None:
    watch.start()
    (root / "x" / "y" / "z").mkdir(parents=True)
    (root / "x" / "y" / "z" / "a.md").touch()
    ears.wait_for(lambda signs: Scope.of(paths_of(signs)).covers("x/y/z/a.md"))
    heard_until_now(root, ears)
    ears.signs.clear()
    # The innermost folder is watched a moment after it was hinted at, well before anybody looks there.

    def heard() -> bool:
        (root / "x" / "y" / "z" / "a.md").write_text("later")
        return "x/y/z/a.md" in paths_of(ears.signs)

    soon(heard)


def test_a_new_folder_that_is_found_before_it_is_told_of_is_heard_on(
    root: Path, ears: Ears, watch: Watch
) -> None:
    watch.start()
    (root / "x").mkdir()
    ears.wait_for_path("x")
    assert watch._running is not None
    inotify = watch._running._inotify
    told_again = Mask(InotifyConstants.IN_CREATE | InotifyConstants.IN_ISDIR)
    inotify.handle_event(InotifyEvent(min(inotify._watch_for_wd), told_again, 0, b"x"))
    assert watch.check().state == "watching"
    (root / "x" / "a.md").touch()
    ears.wait_for_path("x/a.md")


@pytest.mark.slow
def test_a_folder_moved_out_is_hinted_at(root: Path, ears: Ears, watch: Watch) -> None:
    (root / "priv").mkdir()
    (root / "priv" / "a.md").touch()
    watch.start()
    (root / "priv").rename(root.parent / "priv")
    ears.wait_for_path("priv")


@pytest.mark.parametrize("then", ["renamed", "deleted"])
def test_a_name_that_a_folder_moved_out_left_behind_can_be_used_again(
    root: Path, ears: Ears, watch: Watch, then: str
) -> None:
    (root / "sub").mkdir()
    watch.start()
    (root / "sub").rename(root.parent / "out")
    ears.wait_for_path("sub")
    (root / "sub").mkdir()
    (root / "sub" / "b.md").write_text("B.")
    ears.wait_for_path("sub/b.md")
    if then == "renamed":
        (root / "sub").rename(root / "x")
        ears.wait_for_path("x")
    shutil.rmtree(root.parent / "out")
    if then == "deleted":
        shutil.rmtree(root / "sub")
    (root / "c.md").write_text("C.")
    ears.wait_for_path("c.md")
    assert watch.check().state == "watching"
    watch.stop()
    assert not [one for one in threading.enumerate() if one.name.startswith("watch-V")]
    assert watch.start().state == "watching"
    (root / "d.md").write_text("D.")
    ears.wait_for_path("d.md")


def test_a_watch_that_can_not_be_ended_is_left_behind_and_another_takes_its_place(
    root: Path, ears: Ears, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daemon.watch._LONGEST_STOP_S", 0.1)
    watch.start()
    emitter = next(one for one in threading.enumerate() if isinstance(one, InotifyEmitter))
    with monkeypatch.context() as patched:
        patched.setattr(InotifyEmitter, "on_thread_stop", lambda _: {}["gone"])
        assert watch.renew().state == "watching"
    assert emitter.is_alive()
    assert emitter.daemon
    (root / "a.md").write_text("A.")
    ears.wait_for_path("a.md")
    # Nobody else can: it is no part of the watch any more.
    emitter.stop()
    emitter.join(DEADLINE_S)


def test_reading_wakes_nobody(root: Path, ears: Ears, watch: Watch) -> None:
    (root / "x").mkdir()
    (root / "x" / "a.md").write_text("a")
    watch.start()
    (root / "x" / "a.md").read_text()
    assert len(list((root / "x").iterdir())) == 1
    assert heard_until_now(root, ears) == set()


def test_our_own_files_and_other_programs_wake_nobody(root: Path, ears: Ears, watch: Watch) -> None:
    (root / "data").mkdir()
    watch.use_rules(IgnoreRules.load(root, [root / "data"]))
    watch.start()
    for name in (
        "data/memory.db",
        "data/memory.db-wal",
        "data/log.md",
        "memory.db",
        "a.md~",
        ".a.md.swp",
        "a.png",
    ):
        (root / name).write_text("x")
    (root / ".git").mkdir()
    (root / ".git" / "a.md").touch()
    (root / "data" / "log.md").unlink()
    assert heard_until_now(root, ears) == set()


def test_a_change_of_rules_is_hinted_at_and_new_rules_count(
    root: Path, ears: Ears, watch: Watch
) -> None:
    watch.start()
    (root / ".recallignore").write_text("private.md\n")
    ears.wait_for_path(".recallignore")
    watch.use_rules(IgnoreRules.load(root))
    (root / "private.md").touch()
    assert heard_until_now(root, ears) == {".recallignore"}


def test_names_that_are_not_utf8_are_survived_and_a_notes_folder_stands_for_it(
    root: Path, ears: Ears, watch: Watch
) -> None:
    (root / "deep").mkdir()
    watch.start()
    (root / os.fsdecode(b"deep/\xff.md")).touch()
    (root / os.fsdecode(b"deep/\xff.md")).rename(root / "Cafe\u0301.md")
    (root / os.fsdecode(b"dir\xff")).mkdir()
    (root / os.fsdecode(b"\xff.log")).touch()
    assert heard_until_now(root, ears) == {"deep", "Cafe\u0301.md"}
    assert watch.check().state == "watching"


def test_a_link_to_the_root_is_watched_as_the_root(root: Path, ears: Ears) -> None:
    link = root.parent / "link"
    link.symlink_to("V")
    watch = Watch(link, ears, IgnoreRules.load(link))
    try:
        assert watch.start().state == "watching"
        (root / "a.md").touch()
        ears.wait_for(lambda signs: Hint(root=link, paths=("a.md",)) in signs)
    finally:
        watch.stop()


# ---------------------------------------------------------------- lost events


def test_an_overflow_that_the_kernel_reports_is_told(root: Path, ears: Ears, watch: Watch) -> None:
    watch.start()
    assert watch._running is not None
    lost = InotifyEvent(WatchDescriptor(-1), Mask(InotifyConstants.IN_Q_OVERFLOW), 0, b"")
    watch._running._inotify.handle_event(lost)
    assert ears.signs == [Overflow(root=root)]
    (root / "a.md").touch()
    ears.wait_for_path("a.md")


@pytest.mark.slow
def test_a_burst_beyond_the_kernels_queue_is_told(root: Path, ears: Ears, watch: Watch) -> None:
    (root / "a.md").touch()
    (root / "b.md").touch()
    watch.start()
    assert watch._running is not None
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if limit > 100_000:
        pytest.skip(f"the queue of {limit} events is too long to be filled in a test")
    with watch._running._inotify._lock:  # The reader waits, as on a busy machine.
        for number in range(2 * limit):
            os.utime(root / ("a.md", "b.md")[number % 2])
        (root / "new").mkdir()
    ears.wait_for_sign(Overflow)
    ears.signs.clear()
    (root / "new" / "c.md").touch()
    ears.wait_for_path("new/c.md")
    assert watch.check().state == "watching"


# ---------------------------------------------------------------- the root


def test_deleted_and_recreated_root_is_heard_again_once_renewed(
    root: Path, ears: Ears, watch: Watch
) -> None:
    watch.start()
    shutil.rmtree(root)
    ears.wait_for_sign(RootLost)
    assert watch.check().state == "missing"
    assert watch.renew().state == "missing"
    root.mkdir()
    assert watch.check().state == "deaf"
    assert watch.renew().state == "watching"
    (root / "a.md").touch()
    ears.wait_for_path("a.md")


def test_root_recreated_at_once_is_known_to_be_unheard(
    root: Path, ears: Ears, watch: Watch
) -> None:
    watch.start()
    shutil.rmtree(root)
    root.mkdir()
    ears.wait_for_sign(RootLost)
    assert watch._running is not None
    for emitter in watch._running._observer.emitters:
        emitter.join(DEADLINE_S)
    assert watch.check().state == "deaf"


def test_replaced_root_is_deaf_and_the_old_one_returns(
    root: Path, ears: Ears, watch: Watch
) -> None:
    watch.start()
    root.rename(root.parent / "away")
    assert watch.check().state == "missing"
    root.mkdir()
    assert watch.check().state == "deaf"
    assert watch.renew().state == "watching"
    root.rmdir()
    (root.parent / "away").rename(root)
    ears.wait_for_sign(RootLost)
    assert watch.renew().state == "watching"
    assert heard_until_now(root, ears) == set()


def test_a_root_that_comes_later_is_waited_for(root: Path, ears: Ears, watch: Watch) -> None:
    root.rmdir()
    assert watch.start().state == "missing"
    root.mkdir()
    assert watch.check().state == "deaf"
    assert watch.renew().state == "watching"


def test_stopping_twice_and_starting_again_are_harmless(
    root: Path, ears: Ears, watch: Watch
) -> None:
    watch.stop()
    assert watch.renew().state == "stopped"
    watch.start()
    watch.start()
    watch.stop()
    watch.stop()
    assert watch.check().state == "stopped"
    assert watch.start().state == "watching"
    assert heard_until_now(root, ears) == set()


def test_a_listener_that_fails_makes_the_watch_deaf_not_the_process(root: Path) -> None:
    called = threading.Event()

    def fail(_: Sign) -> None:
        called.set()
        raise RuntimeError("listener")

    watch = Watch(root, fail, IgnoreRules.load(root))
    try:
        watch.start()
        (root / "a.md").touch()
        assert called.wait(DEADLINE_S)
        assert watch._running is not None
        watch._running._observer.join(DEADLINE_S)
        health = watch.check()
        assert (health.state, "listener" in health.message) == ("deaf", True)
        assert watch.renew().state == "watching"
    finally:
        watch.stop()


def test_a_folder_that_becomes_readable_is_to_be_watched(
    root: Path, ears: Ears, watch: Watch
) -> None:
    for name in ("s", "t"):
        (root / name).mkdir()
        (root / name).chmod(0)
    if os.getuid() == 0:
        top = Path(tempfile.gettempdir()).resolve()
        for folder in (one for one in root.parents if top in one.parents):
            folder.chmod(0o755)
        for folder in (root, root / "s", root / "t"):
            os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        health = watch.start()
        assert (health.state, "Permission denied" in health.message) == ("polling", True)
        (root / "s").chmod(0o755)
        ears.wait_for_path("s")
        assert watch.check().state == "deaf"
        assert watch.renew().state == "polling"
        (root / "s" / "a.md").touch()
        ears.wait_for_path("s/a.md")
        (root / "t").rmdir()
        assert watch.check().state == "watching"
    finally:
        if os.getuid() == 0:
            os.seteuid(0)


# ---------------------------------------------------------------- limits, in a namespace of our own

LIMITED = """
import sys
from pathlib import Path
from daemon.watch import Watch
from ingest.disk.ignore import IgnoreRules
root = Path(sys.argv[1])
watch = Watch(root, print, IgnoreRules.load(root))
for health in (watch.start(), watch.check()):
    print(health.state, health.message, health.hint, sep="|")
if len(sys.argv) > 2:
    Path(sys.argv[2]).write_text("1000")
    print(watch.renew().state)
watch.stop()
"""


def run_limited(root: Path, name: str, limit: int) -> list[str]:
    """The lines of LIMITED in a user namespace whose inotify limit is lowered for it alone."""
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    setting = f"/proc/sys/user/{name}"
    shell = f'echo {limit} > {setting} && exec "$@"'
    program = [sys.executable, "-c", LIMITED, str(root), setting]
    command = ["unshare", "--user", "--map-root-user", "sh", "-c", shell, "sh", *program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    if done.returncode and ("unshare" in done.stderr or "Permission denied" in done.stderr):
        pytest.skip(f"no user namespace here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "limit"),
    [("max_inotify_watches", 10), ("max_inotify_watches", 0), ("max_inotify_instances", 0)],
)
def test_a_reached_limit_is_named_with_its_value_and_remedy(
    root: Path, name: str, limit: int
) -> None:
    for number in range(30):
        (root / str(number)).mkdir()
    started, checked, renewed = run_limited(root, name, limit)
    state, message, hint = started.split("|")
    assert checked == started
    assert state == "polling"
    assert f"user.{name}" in message
    assert f"it is {limit} now" in message
    assert hint.startswith(f"sudo sysctl user.{name}=")
    assert renewed == "watching"


@pytest.mark.slow
def test_open_files_are_told_from_inotify_instances(root: Path) -> None:
    shell = 'ulimit -n 20 && exec "$@"'
    fill = "import os\nheld = []\ntry:\n    while True: held.append(os.open('/', 0))\nexcept OSError: pass\n"
    program = LIMITED.replace("for health", fill + "for health", 1)
    command = ["sh", "-c", shell, "sh", sys.executable, "-c", program, str(root)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=True)
    state, message, hint = done.stdout.splitlines()[0].split("|")
    assert (state, "it is 20 now" in message, "LimitNOFILE" in hint) == ("polling", True, True)


# ---------------------------------------------------------------- with settling and walking


@pytest.mark.slow
def test_a_burst_of_thousands_ends_with_the_notes_on_the_disk(
    root: Path, ears: Ears, watch: Watch
) -> None:
    rules = IgnoreRules.load(root)
    watch.start()
    for number in range(3000):
        folder = root / f"f{number % 20}"
        folder.mkdir(exist_ok=True)
        (folder / f"{number}.md").write_text(str(number))
    for number in range(500):
        (root / f"f{number % 20}" / f"{number}.md").unlink()
    for number in range(500, 1000):
        old = root / f"f{number % 20}" / f"{number}.md"
        old.rename(root / f"f{(number + 1) % 20}" / f"{number}.md")
    heard_until_now(root, ears)
    settle, known, now = Settle(max_paths=10_000), set(), 0.0
    for sign in ears.signs:
        now += 0.01
        if isinstance(sign, Hint):
            settle.hint_together(sign.paths, now)
        else:
            settle.overflow(now)
    while (instant := settle.next_due(now)) is not None:
        now = instant
        due = settle.due(now)
        scope = Scope(prefixes=due.paths)
        known = {path for path in known if not scope.covers(path)}
        known |= set(walk(root, rules, scope=scope).files)
    assert known == {str(path.relative_to(root)) for path in root.rglob("*.md")}
    assert len(known) == 2501
