from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.disk.ignore import IgnoreRules
from ingest.disk.reader import stat_of
from ingest.disk.records import RootIdentity, Scope, Walk
from ingest.disk.walk import root_identity, walk

NOBODY = 65534


def touch(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def walked(root: Path, *paths: str) -> Walk:
    scope = Scope.of(paths) if paths else Scope()
    return walk(root, IgnoreRules.load(root), scope=scope)


def skips(found: Walk) -> dict[str, str]:
    return {skip.path_printable: skip.reason for skip in found.skipped}


@pytest.fixture
def as_nobody(tmp_path: Path) -> Iterator[Path]:
    """A root as seen by somebody whom permissions hold back, whoever runs the tests."""
    root = tmp_path / "V"
    root.mkdir()
    yield root
    if os.geteuid() != os.getuid():
        os.seteuid(os.getuid())
    for folder, _, _ in os.walk(root):
        Path(folder).chmod(0o755)


def below_temporary(root: Path) -> list[Path]:
    """The test's own folders above a root, which only their owner may enter by default."""
    top = Path(tempfile.gettempdir()).resolve()
    return [folder for folder in root.parents if top in folder.parents]


def become_nobody(root: Path) -> None:
    if os.getuid() == 0:
        for folder in below_temporary(root):
            folder.chmod(0o755)
        os.seteuid(NOBODY)


def test_notes_are_found_with_their_stats(tmp_path: Path) -> None:
    touch(tmp_path, "a.md", "x/y/b.markdown", "x/c.txt", ".git/d.md", "x/.e.md.tmp")
    found = walked(tmp_path)
    assert found.files == {
        name: stat_of((tmp_path / name).stat()) for name in ("a.md", "x/y/b.markdown")
    }
    assert found.identity == root_identity(tmp_path)
    assert (found.unreadable, found.skipped) == ((), ())


def test_missing_root_has_no_identity(tmp_path: Path) -> None:
    touch(tmp_path, "file")
    for path in (tmp_path / "gone", tmp_path / "file", tmp_path / "nul\0"):
        assert root_identity(path) is None
    found = walked(tmp_path / "gone")
    assert (found.identity, found.files, found.unreadable) == (None, {}, ())


def test_identity_is_that_of_the_folder_a_link_leads_to(tmp_path: Path) -> None:
    (tmp_path / "V").mkdir()
    (tmp_path / "link").symlink_to("V")
    seen = (tmp_path / "V").stat()
    assert root_identity(tmp_path / "link") == RootIdentity(device=seen.st_dev, inode=seen.st_ino)


def test_loops_aliases_and_dead_links_end_and_are_listed(tmp_path: Path) -> None:
    root, outside = tmp_path / "V", tmp_path / "out"
    touch(root, "a.md", "x/c.md")
    touch(outside, "private.md")
    (root / "loop").symlink_to(".")
    (root / "self.md").symlink_to("self.md")
    (root / "b.md").symlink_to("a.md")
    (root / "y").symlink_to("x")
    (root / "out").symlink_to(outside)
    (root / "p.md").symlink_to(outside / "private.md")
    (root / "dead.md").symlink_to("missing")
    (root / "dead.png").symlink_to("missing")
    (root / ".#a.md").symlink_to("user@host.123")
    found = walked(root)
    assert set(found.files) == {"a.md", "x/c.md"}
    assert skips(found) == {
        "loop": "link_inside", "self.md": "link_loop", "b.md": "link_inside", "y": "link_inside",
        "out": "link_outside", "p.md": "link_outside", "dead.md": "link_dead",
    }  # fmt: skip


def test_a_path_by_way_of_a_link_finds_nothing(tmp_path: Path) -> None:
    root, outside = tmp_path / "V", tmp_path / "out"
    touch(root, "x/c.md")
    touch(outside, "private.md")
    (root / "y").symlink_to("x")
    (root / "out").symlink_to(outside)
    assert walked(root, "y/c.md", "out/private.md", "out").files == {}


def test_hard_links_are_two_notes(tmp_path: Path) -> None:
    touch(tmp_path, "a.md")
    os.link(tmp_path / "a.md", tmp_path / "A.md")
    assert set(walked(tmp_path).files) == {"a.md", "A.md"}
    assert set(walked(tmp_path, "a.md").files) == {"a.md"}


def test_odd_names_are_notes_and_undecodable_ones_are_listed(tmp_path: Path) -> None:
    names = [
        "Cafe\u0301.md",
        "Café.md",
        "new\nline.md",
        "q\"u'o.md",
        "x#[%.md",
        "-dash.md",
        "😀" * 63 + ".md",
    ]
    touch(tmp_path, *names)
    for raw in (b"\xff.md", b"\xfe.txt", b".\xff.md"):
        (tmp_path / os.fsdecode(raw)).touch()
    (tmp_path / os.fsdecode(b"dir\xff")).mkdir()
    touch(tmp_path, os.fsdecode(b"dir\xff/in.md"))
    found = walked(tmp_path)
    assert set(found.files) == set(names)
    assert skips(found) == {"\\xff.md": "undecodable_name", "dir\\xff": "undecodable_name"}


def test_what_is_no_regular_file_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.md")
        assert skips(walked(tmp_path)) == {"pipe.md": "not_regular", "socket.md": "not_regular"}


def test_scope_limits_the_walk_to_files_and_folders(tmp_path: Path) -> None:
    touch(tmp_path, "a.md", "b.md", "x/c.md", "x/y/d.md", "xx/e.md", "x/.git/f.md", "c.txt")
    assert set(walked(tmp_path, "a.md", "gone.md", "c.txt").files) == {"a.md"}
    assert set(walked(tmp_path, "x").files) == {"x/c.md", "x/y/d.md"}
    assert set(walked(tmp_path, "x", "x/y", "x/c.md").files) == {"x/c.md", "x/y/d.md"}
    assert walked(tmp_path, "x/.git/f.md", "x/.git", "a.md/b.md", "../a.md").files == {}
    assert len(walked(tmp_path, "").files) == 5


def test_a_folder_that_cannot_be_listed_is_unreadable(as_nobody: Path) -> None:
    touch(as_nobody, "a.md", "s/b.md", "t/c.md")
    (as_nobody / "s").chmod(0)
    (as_nobody / "t").chmod(0o444)
    become_nobody(as_nobody)
    found = walked(as_nobody)
    part = walked(as_nobody, "s/b.md", "a.md")
    assert (set(found.files), found.unreadable) == ({"a.md"}, ("s", "t/c.md"))
    assert (set(part.files), part.unreadable) == ({"a.md"}, ("s/b.md",))


def test_a_folder_that_can_be_listed_again_is_found_by_the_same_rules(as_nobody: Path) -> None:
    touch(as_nobody, "s/b.md", "s/t/c.md")
    (as_nobody / "s").chmod(0)
    become_nobody(as_nobody)
    rules = IgnoreRules.load(as_nobody)
    assert walk(as_nobody, rules).unreadable == ("s",)
    os.seteuid(os.getuid())
    (as_nobody / "s").chmod(0o755)
    become_nobody(as_nobody)
    found = walk(as_nobody, rules)
    assert (set(found.files), found.unreadable) == ({"s/b.md", "s/t/c.md"}, ())
    assert rules.are_current(found)


def test_a_scope_of_impossible_paths_is_empty(tmp_path: Path) -> None:
    touch(tmp_path, "V/x/a.md", "b.md")
    paths = [
        os.fsdecode(b"\xff.md"),
        "nul\0.md",
        "n" * 300,
        "x/a.md/y.md",
        f"{tmp_path}/b.md",
        "../b.md",
        "x//a.md",
        "x/./a.md",
    ]
    found = walked(tmp_path / "V", *paths)
    assert (found.files, found.unreadable) == ({}, ())


def test_links_with_odd_names_and_hidden_folders_are_handled(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.md")).symlink_to("missing")
    (tmp_path / os.fsdecode(b".\xff")).symlink_to(".")
    (tmp_path / os.fsdecode(b".dir\xff")).mkdir()
    (tmp_path / ".recallignore").symlink_to("missing")
    found = walked(tmp_path)
    assert skips(found) == {"\\xff.md": "link_dead"}
    assert found.ignore_files == {}


def test_rules_may_be_a_link(tmp_path: Path) -> None:
    root = tmp_path / "V"
    touch(root, "a.md", "b.md")
    (tmp_path / "rules").write_text("b.md\n")
    (root / ".recallignore").symlink_to(tmp_path / "rules")
    rules = IgnoreRules.load(root)
    found = walk(root, rules)
    assert set(found.files) == {"a.md"}
    assert rules.are_current(found)


def test_a_root_that_cannot_be_listed_is_unreadable(as_nobody: Path) -> None:
    touch(as_nobody, "a.md")
    as_nobody.chmod(0)
    become_nobody(as_nobody)
    assert walked(as_nobody).unreadable == ("",)
