from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.disk.ignore import IgnoreRules
from ingest.disk.records import Scope
from ingest.disk.walk import walk


def rules_of(root: Path, **files: str) -> IgnoreRules:
    for name, text in files.items():
        path = (
            root / name.replace("__", "/") / ".recallignore"
            if name != "top"
            else root / ".recallignore"
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return IgnoreRules.load(root)


@pytest.mark.parametrize(
    "path",
    [
        "a.md",
        "A.MD",
        "x/Café.markdown",
        "x/a.sync-conflict-20240101-120000-ABCDEFG.md",
        "日記.md",
        "-a.md",
        "a b.md",
    ],
)
def test_markdown_files_are_notes(tmp_path: Path, path: str) -> None:
    assert not IgnoreRules.load(tmp_path).ignores(path, is_dir=False)


@pytest.mark.parametrize(
    "path",
    [
        "a.txt", "a", "md", "a.md~", "a.md.tmp", ".a.md.tmp", ".a.md.swp", "#a.md#", ".#a.md", "~$a.md",
        ".syncthing.a.md.tmp", "~syncthing~a.md", ".~lock.a.md#", ".hidden.md", ".recallignore",
        ".git/a.md", "x/.obsidian/a.md", ".trash/a.md", ".stversions/x/a.md", "x/node_modules/y/a.md", "\udcff.md",
    ],
)  # fmt: skip
def test_other_files_and_working_names_are_not(tmp_path: Path, path: str) -> None:
    assert IgnoreRules.load(tmp_path).ignores(path, is_dir=False)


def test_folders_are_searched_unless_hidden_or_foreign(tmp_path: Path) -> None:
    rules = IgnoreRules.load(tmp_path)
    assert not rules.ignores("notes", is_dir=True)
    assert not rules.ignores("notes.md", is_dir=True)
    for folder in (".git", "node_modules", "a/.stfolder", "node_modules/a"):
        assert rules.ignores(folder, is_dir=True)


def test_own_paths_below_the_root_are_ignored(tmp_path: Path) -> None:
    root = tmp_path / "V"
    (root / "data" / "memories").mkdir(parents=True)
    (tmp_path / "link").symlink_to(root / "data")
    rules = IgnoreRules.load(root, [tmp_path / "link", root / "log.md", tmp_path / "elsewhere"])
    assert rules.ignores("data", is_dir=True)
    assert rules.ignores("data/memories/a.md", is_dir=False)
    assert rules.ignores("log.md", is_dir=False)
    assert not rules.ignores("data2/a.md", is_dir=False)


def test_a_root_inside_an_own_path_is_not_ignored(tmp_path: Path) -> None:
    rules = IgnoreRules.load(tmp_path / "memories", [tmp_path])
    assert not rules.ignores("a.md", is_dir=False)


def test_recallignore_has_gitignore_syntax(tmp_path: Path) -> None:
    rules = rules_of(tmp_path, top="# comment\nprivate/\n*.draft.md\n!keep.draft.md\n/top.md\n")
    ignored = [p for p in ("private/a.md", "x/private/b.md", "a.draft.md", "x/keep.draft.md", "top.md", "x/top.md")
               if rules.ignores(p, is_dir=False)]  # fmt: skip
    assert ignored == ["private/a.md", "x/private/b.md", "a.draft.md", "top.md"]


def test_nearest_recallignore_wins_but_not_below_an_ignored_folder(tmp_path: Path) -> None:
    rules = rules_of(tmp_path, top="*.md\n!/in/*.md\nshut/\n", a="!b.md\n", shut="!c.md\n")
    assert rules.ignores("x.md", is_dir=False)
    assert not rules.ignores("a/b.md", is_dir=False)
    assert rules.ignores("a/c.md", is_dir=False)
    assert not rules.ignores("in/d.md", is_dir=False)
    assert rules.ignores("shut/c.md", is_dir=False)


def test_hidden_stays_ignored_whatever_recallignore_says(tmp_path: Path) -> None:
    rules = rules_of(tmp_path, top="!.git\n!.git/a.md\n!*\n")
    assert rules.ignores(".git/a.md", is_dir=False)
    assert rules.ignores("a.png", is_dir=False)


@pytest.mark.parametrize("line", ["!", "\\", "[z-a]", "[a-\\d]", "[\\w-a].md"])
def test_a_line_that_is_no_pattern_is_told_and_spoils_no_other(tmp_path: Path, line: str) -> None:
    rules = rules_of(tmp_path, top=f"\n{line}\nsecret.md\n")
    assert rules.ignores("secret.md", is_dir=False)
    assert not rules.ignores("a.md", is_dir=False)
    assert rules.problems == ((".recallignore", "line 2 is not a pattern and hides nothing"),)


@pytest.mark.filterwarnings("ignore:Possible:FutureWarning")
@given(st.text(alphabet="[]!^-\\*?/#{}()|&~ab\n", max_size=30) | st.text(max_size=30))
def test_any_text_makes_rules(text: str) -> None:
    with TemporaryDirectory() as folder:
        (Path(folder) / ".recallignore").write_text(text, "utf-8", "surrogatepass")
        rules = IgnoreRules.load(Path(folder))
    assert rules.ignores("a/b.md", is_dir=False) in (True, False)
    assert rules.ignores(".hidden.md", is_dir=False)


def test_a_changed_rules_file_makes_the_rules_stale(tmp_path: Path) -> None:
    rules = rules_of(tmp_path, top="a.md\n", x="b.md\n")
    assert set(rules.files) == {".recallignore", "x/.recallignore"}
    assert rules.are_current(walk(tmp_path, rules))
    (tmp_path / "x" / ".recallignore").write_text("b.md\nc.md\n")
    assert not rules.are_current(walk(tmp_path, rules))
    assert not rules.are_current(walk(tmp_path, rules, scope=Scope.of(["x/.recallignore"])))
    assert rules.are_current(walk(tmp_path, rules, scope=Scope.of(["y.md", ".recallignore"])))
    rules = IgnoreRules.load(tmp_path)
    assert rules.are_current(walk(tmp_path, rules))
    (tmp_path / ".recallignore").unlink()
    assert not rules.are_current(walk(tmp_path, rules))
    (tmp_path / "x" / "y").mkdir()
    rules = IgnoreRules.load(tmp_path)
    (tmp_path / "x" / "y" / ".recallignore").touch()
    assert not rules.are_current(walk(tmp_path, rules))


def test_only_rules_files_that_count_make_rules(tmp_path: Path) -> None:
    rules = rules_of(tmp_path, top="private/\n")
    assert rules.makes_rules(".recallignore")
    assert rules.makes_rules("a/b/.recallignore")
    assert not rules.makes_rules("private/.recallignore")
    assert not rules.makes_rules(".git/.recallignore")
    assert not rules.makes_rules("a.md")


def test_what_unreadable_rules_keep_private_stays_unknown(tmp_path: Path) -> None:
    (tmp_path / "s" / "t").mkdir(parents=True)
    os.mkfifo(tmp_path / "s" / ".recallignore")
    for name in ("a.md", "s/b.md", "s/t/c.md"):
        (tmp_path / name).touch()
    rules = IgnoreRules.load(tmp_path)
    assert rules.unreadable == {"s"}
    assert [path for path, _ in rules.problems] == ["s/.recallignore"]
    for scope in (Scope(), Scope.of(["a.md", "s/t/c.md"])):
        found = walk(tmp_path, rules, scope=scope)
        assert set(found.files) == {"a.md"}
        assert len(found.unreadable) == 1
    assert rules.are_current(walk(tmp_path, rules))
    (tmp_path / "s" / ".recallignore").unlink()
    (tmp_path / "s" / ".recallignore").write_text("t\n")
    assert not rules.are_current(walk(tmp_path, rules))
    assert set(walk(tmp_path, IgnoreRules.load(tmp_path)).files) == {"a.md", "s/b.md"}
