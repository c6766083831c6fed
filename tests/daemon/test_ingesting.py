"""The loop that looks at all roots."""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from daemon.ingesting import IngestLoop, Waiting
from daemon.settle import Settle
from daemon.writer import WriterThread
from ingest.intake import Looked
from ingest.keeper import KeeperOptions, RootKeeper
from recalld.errors import StoreUnusable
from recalld.store.connection import Database
from recalld.store.reading import notes_of_root
from recalld.store.writers import Writes
from tests.waiting import DEADLINE_S, holds, soon

OPTIONS = KeeperOptions(
    max_note_bytes=1_000_000,
    empty_grace_s=5,
    mass_deletion_count=10,
    mass_deletion_share=0.5,
    deletion_grace_s=3600,
    own_paths=(),
)


def test_nothing_counts_as_settled_before_the_first_scan(tmp_path: Path) -> None:
    database = Database(tmp_path / "memory.db")
    writer = WriterThread(database)
    try:
        keeper = RootKeeper(
            name="vault",
            path=tmp_path,
            database=database,
            writes=writer,
            options=OPTIONS,
            now=lambda: 0.0,
            new_uid=lambda: "0" * 32,
        )
        loop = IngestLoop([keeper], make_settle=Settle, on_written=lambda: None)
        waiting = loop.waiting()
        assert waiting.scanning
        assert waiting.dirty == 1
    finally:
        writer.stop()
        database.close()


class Scripted:
    """A keeper whose looks are given: each a list of outcomes, errors, or events to wait for."""

    def __init__(self, name: str, *looks: list[object]) -> None:
        self.name = name
        self.not_ahead: str | None = None
        self._looks = deque(looks)
        # What was asked, and every step taken, in order.
        self.asked: list[tuple[frozenset[str] | None, bool]] = []
        self.steps: list[str] = []

    def look(self, paths: frozenset[str] | None, *, full: bool = False) -> Iterator[Looked]:
        self.asked.append((paths, full))
        return self._steps(paths, self._looks.popleft() if self._looks else [])

    def _steps(self, paths: frozenset[str] | None, script: list[object]) -> Iterator[Looked]:
        of = "scan" if paths is None else ",".join(sorted(paths))
        for number, step in enumerate(script):
            self.steps.append(f"{of} {number}")
            if isinstance(step, threading.Event):
                assert step.wait(DEADLINE_S)
            elif isinstance(step, BaseException):
                raise step
            elif callable(step):
                step()
            left = len(script) - number - 1
            outcome = step if isinstance(step, str) else "taken"
            yield Looked(path=f"{number}.md", outcome=outcome, left=left)


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Loops:
    """Makes loops that look at once when hinted, and stops them however the test ends."""

    def __init__(self) -> None:
        self.clock = Clock()
        self._made: list[IngestLoop] = []
        self.written = 0

    def make(self, *keepers: Scripted, quiet_s: float = 0.0, clock=None) -> IngestLoop:
        def count() -> None:
            self.written += 1

        quiet = timedelta(seconds=quiet_s)
        loop = IngestLoop(
            keepers,  # type: ignore[arg-type] # as far as the loop uses one
            make_settle=lambda: Settle(quiet=quiet, longest_wait=quiet),
            on_written=count,
            clock=clock or self.clock,
        )
        self._made.append(loop)
        return loop

    def start(self, *keepers: Scripted, quiet_s: float = 0.0, clock=None) -> IngestLoop:
        loop = self.make(*keepers, quiet_s=quiet_s, clock=clock)
        loop.start()
        return loop

    def stop(self) -> None:
        for loop in self._made:
            loop.stop()


@pytest.fixture
def loops() -> Iterator[Loops]:
    made = Loops()
    yield made
    made.stop()


def done(loop: IngestLoop, within_s: float = DEADLINE_S) -> bool:
    """Whether nothing is left to do, in time."""
    return holds(lambda: loop.waiting().dirty == 0, within_s)


FULL = StoreUnusable("the disk is full", hint="free some space")


def test_start_looks_at_every_root_whole(loops):
    one, other = Scripted("one", ["taken"]), Scripted("other", ["unchanged"])
    loop = loops.start(one, other)
    assert done(loop)
    assert one.asked == other.asked == [(None, False)]
    assert loop.scan.last_ok is not None
    assert loop.take.last_ok is not None
    assert loop.waiting() == Waiting(dirty=0, oldest_s=None, scanning=False)


def test_fresh_hint_goes_before_the_rest_of_a_long_scan(loops):
    held = threading.Event()
    keeper = Scripted("one", ["taken", held, "taken", "taken"], ["taken"])
    loop = loops.start(keeper)
    soon(lambda: keeper.steps == ["scan 0", "scan 1"])
    loop.hint("one", ["fresh.md"])
    held.set()
    assert done(loop)
    assert keeper.steps == ["scan 0", "scan 1", "fresh.md 0", "scan 2", "scan 3"]


def test_youngest_of_several_hints_goes_first(loops):
    held = threading.Event()
    keeper = Scripted("one", [held, "taken"], ["taken", lambda: None, "taken"], ["taken"])
    loop = loops.start(keeper)
    soon(lambda: keeper.steps)
    loop.hint("one", ["a.md"])

    def later() -> None:
        loops.clock.now += 1
        loop.hint("one", ["b.md"])

    keeper._looks[0][1] = later
    held.set()
    assert done(loop)
    assert keeper.steps == ["scan 0", "a.md 0", "a.md 1", "b.md 0", "a.md 2", "scan 1"]


def test_paths_hinted_together_are_looked_at_together(loops):
    keeper = Scripted("one")
    loop = loops.start(keeper)
    assert done(loop)
    loop.hint("one", ["old.md", "new.md"])
    assert done(loop)
    assert keeper.asked[1:] == [(frozenset({"old.md", "new.md"}), False)]


def test_overflow_and_demand_bring_a_whole_look(loops):
    keeper = Scripted("one")
    loop = loops.start(keeper)
    assert done(loop)
    loop.overflow("one")
    assert done(loop)
    loop.ask_scan("one", full=True)
    assert done(loop)
    assert keeper.asked == [(None, False), (None, False), (None, True)]


def test_scan_asked_for_during_a_scan_follows_it(loops):
    held = threading.Event()
    keeper = Scripted("one", [held])
    loop = loops.start(keeper)
    soon(lambda: keeper.steps)
    loop.ask_scan(full=True)
    loop.ask_scan()
    held.set()
    assert done(loop)
    assert keeper.asked == [(None, False), (None, True)]


def test_hint_for_a_root_that_is_not_kept_does_nothing(loops):
    loop = loops.start(Scripted("one"))
    loop.hint("gone", ["a.md"])
    loop.overflow("gone")
    loop.ask_scan("gone")
    assert loop.pending_of("gone") == 0
    assert done(loop)


def test_look_that_fails_is_told_and_done_again(loops):
    keeper = Scripted("one", ["taken", FULL], ["taken"])
    loop = loops.start(keeper)
    soon(lambda: loop.scan.failed == 1)
    assert loop.scan.reason == "the disk is full"
    assert loop.scan.last_ok is None
    assert loop.waiting().dirty == 1
    assert not done(loop, 0.02)
    loops.clock.now += 1
    loop.ask_scan("nobody")  # only wakes it: its clock is ours
    assert done(loop)
    assert loop.scan.last_ok is not None
    assert len(keeper.asked) == 2


def test_pauses_grow_until_a_whole_look_succeeds(loops):
    keeper = Scripted("one", [FULL], [FULL], [FULL], [], [FULL])
    loop = loops.start(keeper)
    for failed, pause in ((1, 1.0), (2, 2.0), (3, 4.0)):
        soon(lambda failed=failed: loop.scan.failed == failed)
        loops.clock.now += pause - 0.01
        loop.ask_scan("nobody")
        assert not done(loop, 0.02)
        assert len(keeper.asked) == failed
        loops.clock.now += 0.02
        loop.ask_scan("nobody")
    assert done(loop)
    loop.ask_scan()
    soon(lambda: loop.scan.failed == 4)
    loops.clock.now += 1.01
    loop.ask_scan("nobody")
    assert done(loop)


def test_pause_never_exceeds_a_minute(loops):
    keeper = Scripted("one", *[[FULL]] * 12)
    loop = loops.start(keeper)
    for failed in range(1, 13):
        soon(lambda failed=failed: loop.scan.failed == failed)
        loops.clock.now += 60.01
        loop.ask_scan("nobody")
    assert done(loop)


def test_hint_whose_look_fails_ends_in_a_whole_look(loops):
    keeper = Scripted("one", [], [FULL], [])
    loop = loops.start(keeper)
    assert done(loop)
    loop.hint("one", ["a.md"])
    soon(lambda: loop.take.failed == 1)
    assert loop.take.reason == "the disk is full"
    loops.clock.now += 1
    loop.ask_scan("nobody")
    assert done(loop)
    assert keeper.asked[-1] == (None, False)


def test_root_that_fails_does_not_keep_others_waiting(loops):
    bad, good = Scripted("bad", [FULL]), Scripted("good", ["taken"], ["taken"])
    loop = loops.start(bad, good)
    soon(lambda: loop.scan.failed == 1 and good.steps == ["scan 0"])
    loop.hint("good", ["a.md"])
    soon(lambda: good.steps == ["scan 0", "a.md 0"])


def test_fault_in_a_look_does_not_end_the_thread(loops):
    keeper = Scripted("one", [ZeroDivisionError("a fault")], ["taken"])
    loop = loops.start(keeper)
    soon(lambda: loop.scan.failed == 1)
    loop.hint("one", ["a.md"])
    soon(lambda: "a.md 0" in keeper.steps)


def test_age_is_that_of_the_oldest_change_until_it_is_in_the_index(loops):
    keeper = Scripted("one", [])
    loop = loops.start(keeper, quiet_s=5)
    assert done(loop)
    assert loop.waiting().oldest_s is None
    loop.hint("one", ["a.md"])
    loops.clock.now += 3
    loop.hint("one", ["b.md"])
    assert loop.waiting().oldest_s == 3
    held = threading.Event()
    keeper._looks.append([held])
    loops.clock.now += 3
    loop.ask_scan("nobody")
    soon(lambda: keeper.steps)
    assert loop.waiting().oldest_s == 6, "being looked at is not being in the index"
    held.set()


def test_age_outlives_a_look_that_fails(loops):
    keeper = Scripted("one", [], [FULL], [FULL], [])
    loop = loops.start(keeper)
    assert done(loop)
    loop.hint("one", ["a.md"])
    soon(lambda: loop.take.failed == 1)
    loops.clock.now += 1
    assert loop.waiting().oldest_s == 1
    loop.ask_scan("nobody")
    soon(lambda: loop.scan.failed == 1)
    assert loop.waiting().oldest_s == 1
    loops.clock.now += 2
    assert loop.waiting().oldest_s == 3
    loop.ask_scan("nobody")
    assert done(loop)
    assert loop.waiting().oldest_s is None


def test_age_outlives_looks_at_a_note_that_is_being_written(loops):
    keeper = Scripted("one", [], ["waiting"], ["waiting"], ["taken"])
    loop = loops.start(keeper, quiet_s=5)
    assert done(loop)
    loop.hint("one", ["a.md"])
    for age in (6, 12):
        loops.clock.now += 6
        loop.ask_scan("nobody")
        soon(lambda: len(keeper.steps) == age // 6)  # noqa: B023 - called at once
        assert loop.waiting().oldest_s == age
    loops.clock.now += 6
    loop.ask_scan("nobody")
    assert done(loop)
    assert loop.waiting().oldest_s is None


def test_note_that_is_being_written_is_looked_at_again(loops):
    keeper = Scripted("one", ["waiting"], ["taken"])
    loop = loops.start(keeper, quiet_s=5)
    soon(lambda: not loop.waiting().scanning and loop.waiting().dirty == 1)
    loops.clock.now += 5
    loop.ask_scan("nobody")
    assert done(loop)
    assert keeper.asked[-1] == (frozenset({"0.md"}), False)


def test_writers_are_told_of_what_was_written_and_of_the_end(loops):
    loop = loops.start(Scripted("one", ["taken", "unchanged", "moved", "gone", "unread"]))
    assert done(loop)
    soon(lambda: loops.written == 4)


def test_pending_counts_hints_and_notes_of_a_look(loops):
    held = threading.Event()
    keeper = Scripted("one", ["taken", held, "taken", "taken"])
    loop = loops.start(keeper, quiet_s=60)
    soon(lambda: len(keeper.steps) == 2)
    loop.hint("one", ["a.md", "b.md"])
    assert loop.pending_of("one") == 3 + 2
    assert loop.waiting().scanning
    held.set()


def test_added_root_is_looked_at(loops):
    loop = loops.start(Scripted("one"))
    assert done(loop)
    more = Scripted("more", ["taken"])
    loop.add_root(more)
    assert done(loop)
    assert more.steps == ["scan 0"]
    assert set(loop.keepers) == {"one", "more"}


def test_removed_root_is_left_once_its_note_is_done(loops):
    held = threading.Event()
    keeper = Scripted("one", [held, "taken", "taken"])
    loop = loops.start(keeper, Scripted("other"))
    soon(lambda: keeper.steps)
    threading.Timer(0.05, held.set).start()
    loop.remove_root("one")
    assert held.is_set(), "it waits for the note at hand"
    assert done(loop)
    assert keeper.steps == ["scan 0"]
    assert set(loop.keepers) == {"other"}


def test_root_that_is_replaced_during_its_look_is_looked_at_anew(loops):
    held = threading.Event()
    old, new = Scripted("one", [held, "taken"]), Scripted("one", ["taken"])
    loop = loops.start(old)
    soon(lambda: old.steps)
    loop.add_root(new)
    held.set()
    assert done(loop)
    assert old.steps == ["scan 0"]
    assert new.steps == ["scan 0"]


def test_stop_ends_between_two_notes_of_a_scan(loops):
    held = threading.Event()
    keeper = Scripted("one", [held, *["taken"] * 100])
    loop = loops.start(keeper)
    soon(lambda: keeper.steps)
    stopping = threading.Thread(target=loop.stop)
    stopping.start()
    soon(lambda: loop._stopping)
    held.set()
    stopping.join(DEADLINE_S)
    assert keeper.steps == ["scan 0"]
    assert not any(thread.name == "ingest" for thread in threading.enumerate())


def test_stop_before_the_start_does_nothing(loops):
    loops.make(Scripted("one")).stop()


class FullDisk:
    """Writes that fail as a full disk does, until there is room."""

    def __init__(self, writes: Writes) -> None:
        self._writes = writes
        self.full = False

    def call(self, work):
        if self.full:
            raise FULL
        return self._writes.call(work)

    def post(self, work):
        self._writes.post(work)


@pytest.mark.slow
def test_full_disk_loses_no_note(tmp_path, loops):
    vault = tmp_path / "vault"
    vault.mkdir()
    database = Database(tmp_path / "memory.db")
    writer = WriterThread(database)
    writes = FullDisk(writer)
    numbers = itertools.count()
    try:
        keeper = RootKeeper(
            name="vault",
            path=vault,
            database=database,
            writes=writes,
            options=OPTIONS,
            now=time.time,
            new_uid=lambda: f"{next(numbers):032x}",
        )
        loop = loops.start(keeper, clock=time.monotonic)
        assert done(loop)
        writes.full = True
        for name in "abc":
            (vault / f"{name}.md").write_text(f"Machine {name} has a fan.\n")
        loop.hint("vault", ["a.md", "b.md", "c.md"])
        soon(lambda: loop.take.failed == 1)
        writes.full = False
        assert done(loop)
        with database.reader() as connection:
            assert set(notes_of_root(connection, keeper.root_id)) == {"a.md", "b.md", "c.md"}
    finally:
        loops.stop()
        writer.stop()
        database.close()
