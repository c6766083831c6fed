"""Watches of all roots on real folders, with a loop that writes down what it is told."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from daemon.watching import Watches
from ingest.disk.ignore import IgnoreRules
from ingest.disk.walk import root_identity
from tests.waiting import soon


class Keeper:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.looked_at = root_identity(path)

    def is_another_folder(self) -> bool:
        return root_identity(self.path) != self.looked_at

    def rules(self) -> IgnoreRules:
        return IgnoreRules.load(self.path, ())


class Loop:
    """What watches tell, in order."""

    def __init__(self, **roots: Path) -> None:
        self.keepers = {name: Keeper(path) for name, path in roots.items()}
        self.hints: list[tuple[str, str]] = []
        self.overflows: list[str] = []
        self.scans: list[str] = []

    def hint(self, root: str, paths: Iterable[str]) -> None:
        self.hints += [(root, path) for path in paths]

    def overflow(self, root: str) -> None:
        self.overflows.append(root)

    def ask_scan(self, root: str) -> None:
        self.scans.append(root)
        keeper = self.keepers[root]
        keeper.looked_at = root_identity(keeper.path)


@pytest.fixture
def roots(tmp_path) -> dict[str, Path]:
    made = {name: tmp_path / name for name in ("one", "other")}
    for path in made.values():
        path.mkdir()
    return made


@pytest.fixture
def watched(roots) -> Iterator[tuple[Watches, Loop]]:
    loop = Loop(**roots)
    watches = Watches(loop)
    watches.start()
    yield watches, loop
    watches.stop()


def test_changes_are_hinted_under_the_name_of_their_root(roots, watched):
    _, loop = watched
    (roots["one"] / "a.md").write_text("a")
    (roots["other"] / "b.md").write_text("b")
    soon(lambda: {("one", "a.md"), ("other", "b.md")} <= set(loop.hints))
    assert not {("one", "b.md"), ("other", "a.md")} & set(loop.hints)


def test_health_is_known_from_the_start(watched):
    watches, _ = watched
    assert watches.health("one").state == "watching"
    assert watches.health("nobody") is None


def test_root_that_goes_is_scanned_once_and_heard_again_when_it_comes_back(roots, watched):
    watches, loop = watched
    shutil.rmtree(roots["one"])
    soon(lambda: (watches.check(), watches.health("one").state == "missing")[1])
    asked = loop.scans.count("one")
    assert asked >= 1
    watches.check()
    assert loop.scans.count("one") == asked, "nothing is new"
    roots["one"].mkdir()
    soon(lambda: (watches.check(), loop.scans.count("one") > asked)[1])

    # It may have the old one's number: then the old watch passes for its own until that has ended.
    def heard() -> bool:
        watches.check()
        (roots["one"] / "a.md").write_text("a")
        return ("one", "a.md") in loop.hints

    soon(heard)
    assert watches.health("one").state == "watching"
    assert "other" not in loop.scans


def test_root_that_is_another_folder_is_scanned(watched):
    watches, loop = watched
    loop.keepers["one"].looked_at = None
    watches.check()
    assert loop.scans == ["one"]


def test_ignore_rules_follow_the_keeper(roots, watched):
    watches, loop = watched
    (roots["one"] / ".recallignore").write_text("secret*\n")
    soon(lambda: ("one", ".recallignore") in loop.hints)
    watches.check()
    (roots["one"] / "secret.md").write_text("a")
    (roots["one"] / "open.md").write_text("a")
    soon(lambda: ("one", "open.md") in loop.hints)
    assert ("one", "secret.md") not in loop.hints


def test_root_may_be_added_and_removed(tmp_path, roots, watched):
    watches, loop = watched
    (tmp_path / "late").mkdir()
    loop.keepers["late"] = Keeper(tmp_path / "late")
    watches.add("late")
    (tmp_path / "late" / "a.md").write_text("a")
    soon(lambda: ("late", "a.md") in loop.hints)
    watches.remove("one")
    watches.remove("nobody")
    assert watches.health("one") is None
    (roots["one"] / "a.md").write_text("a")
    (roots["other"] / "a.md").write_text("a")
    soon(lambda: ("other", "a.md") in loop.hints)
    assert ("one", "a.md") not in loop.hints


def test_root_that_the_loop_no_longer_keeps_is_passed_over(watched):
    watches, loop = watched
    del loop.keepers["one"]
    watches.check()
    assert watches.health("other").state == "watching"


def test_stop_joins_every_thread(roots):
    before = set(threading.enumerate())
    watches = Watches(Loop(**roots))
    watches.start()
    assert set(threading.enumerate()) > before
    watches.stop()
    watches.stop()
    assert set(threading.enumerate()) == before
