from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recalld.errors import StoreUnusable
from tests.ingest.keeping import Vault, outcomes
from tests.ingest.writing import writing
from tests.waiting import soon


@pytest.fixture
def vault(tmp_path) -> Iterator[Vault]:
    with Vault(tmp_path) as made:
        yield made


def uids(vault: Vault) -> dict[str, str]:
    return dict(vault.rows("SELECT path, uid FROM note"))


def test_look_takes_what_is_new_and_leaves_what_is_known(vault):
    vault.write("a.md", "Pump one leaks oil.\n")
    vault.write("map/厨房.md", "烤箱在十点关闭。\n")
    assert outcomes(vault.look()) == {"a.md": "taken", "map/厨房.md": "taken"}
    before = vault.writes.count
    assert vault.look() == []
    assert vault.facts() == {"Pump one leaks oil.", "烤箱在十点关闭。"}
    assert vault.writes.count <= before + 1, "only the root's identity may be written"


def test_renamed_note_keeps_its_identity_and_facts(vault):
    path = vault.write("a.md", "Pump one leaks oil.\n")
    vault.look()
    before, facts = uids(vault)["a.md"], vault.rows("SELECT id, uid FROM fact")
    (vault.path / "deep").mkdir()
    path.rename(vault.path / "deep/b.md")
    assert vault.look()[0].outcome == "moved"
    assert uids(vault) == {"deep/b.md": before}
    assert vault.rows("SELECT id, uid FROM fact") == facts


def test_removed_note_and_removed_sentence_leave_nothing(vault):
    path = vault.write("a.md", "Pump one leaks oil.\n")
    vault.write("b.md", "Fan is loud.\n\nDisk is full.\n")
    vault.look()
    path.unlink()
    vault.write("b.md", "Disk is full.\n")
    assert outcomes(vault.look()) == {"a.md": "gone", "b.md": "taken"}
    assert vault.facts() == {"Disk is full."}


def test_a_head_that_says_it_matters_changes_facts_and_no_ids(vault):
    shown = "SELECT id, uid, text, importance FROM fact ORDER BY text"
    text = "Pump one leaks oil.\n\n> [!warning]\n> Fan two is loud.\n"
    vault.write("a.md", text)
    vault.look()
    before = vault.rows(shown)
    assert [row[3] for row in before] == [0.8, 0.5]
    for head, values in (
        ("importance: 0.9", [0.9, 0.9]),
        ("tags: [archived]", [0.5, 0.3]),
        ("pinned: true", [0.8, 0.8]),
        ("x: y", [0.8, 0.5]),
    ):
        vault.write("a.md", f"---\n{head}\n---\n{text}")
        vault.look()
        stated = [
            row
            for row in vault.rows(shown)
            if row[2] in ("Pump one leaks oil.", "Fan two is loud.")
        ]
        assert [row[3] for row in stated] == values, head
        assert [row[:3] for row in stated] == [row[:3] for row in before]


def test_root_that_is_gone_keeps_its_facts_and_says_so(vault):
    vault.write("a.md", "Pump one leaks oil.\n")
    vault.look()
    shutil.rmtree(vault.path)
    vault.look()
    assert vault.facts() == {"Pump one leaks oil."}
    assert vault.keeper.report().state == "unavailable"
    assert vault.keeper.report().hint


@pytest.mark.slow
def test_note_that_is_written_to_without_a_pause_is_read_as_far_as_it_goes(vault):
    path = vault.write("a.md", "Pump one leaks oil.\n\n")
    step = "f.seek(0, 2); f.write(b'The log goes on.\\n\\nHalf a'); time.sleep(0.001)"
    with writing(path, step):
        # A read between two writes that are far apart finds the note steady.
        soon(lambda: outcomes(vault.look("a.md")) == {"a.md": "waiting"})
        vault.now += 4
        assert outcomes(vault.look("a.md")) == {"a.md": "taken"}
    assert "Pump one leaks oil." in vault.facts()
    vault.look()
    assert vault.rows("SELECT size FROM note") == [(path.stat().st_size,)], "it has grown since"


def test_emptied_note_is_not_waited_for_longer_by_a_clock_that_was_put_back(vault):
    vault.write("a.md", "Pump one leaks oil.\n")
    vault.look()
    vault.write("a.md", "")
    vault.look("a.md")
    vault.now -= 86_400
    assert outcomes(vault.look("a.md")) == {"a.md": "waiting"}
    vault.now += 6
    assert outcomes(vault.look("a.md")) == {"a.md": "taken"}
    assert vault.facts() == set()


def test_notes_that_are_ignored_from_now_on_go_at_once_however_many(vault):
    for number in range(12):
        vault.write(f"old/{number}.md", f"Pump number{number} leaks oil.\n")
    vault.write("a.md", "Fan is loud.\n")
    vault.look()
    vault.write(".recallignore", "old/\n")
    vault.look()
    assert vault.facts() == {"Fan is loud."}
    assert vault.keeper.report().state == "ok"


def test_mass_deletion_is_held_until_it_is_confirmed(vault):
    for number in range(12):
        vault.write(f"{number}.md", f"Pump number{number} leaks oil.\n")
    vault.look()
    for path in vault.path.iterdir():
        if path.name != "0.md":
            path.unlink()
    vault.look()
    report = vault.keeper.report()
    assert (report.state, report.held) == ("held", 11)
    assert "--confirm-deletions vault" in (report.hint or "")
    assert len(vault.facts()) == 12
    vault.keeper.confirm_deletions()
    vault.look()
    assert vault.facts() == {"Pump number0 leaks oil."}
    assert vault.keeper.report().state == "ok"


@pytest.mark.parametrize("folder", ["", "moved/"])
def test_notes_that_are_back_are_held_no_more(vault, folder):
    for number in range(12):
        vault.write(f"{number}.md", f"Pump number{number} leaks oil.\n")
    vault.write("a.md", "Fan is loud.\n")
    vault.look()
    for number in range(12):
        (vault.path / f"{number}.md").unlink()
    vault.look()
    assert vault.keeper.report().state == "held"
    for number in range(12):
        vault.write(f"{folder}{number}.md", f"Pump number{number} leaks oil.\n")
    vault.look(*(f"{folder}{number}.md" for number in range(12)))
    assert (vault.keeper.report().state, vault.keeper.report().held) == ("ok", 0)
    assert len(vault.facts()) == 13


def test_held_deletion_is_carried_out_after_its_grace(vault):
    for number in range(12):
        vault.write(f"{number}.md", f"Pump number{number} leaks oil.\n")
    vault.look()
    for path in vault.path.iterdir():
        if path.name != "0.md":
            path.unlink()
    vault.look()
    vault.now += 3599
    vault.look()
    assert len(vault.facts()) == 12
    vault.now += 2
    vault.look()
    assert len(vault.facts()) == 1


def test_change_that_size_and_times_hide_is_found_by_a_full_look(vault):
    path = vault.write("a.md", "Pump one leaks oil.\n")
    vault.look()
    stat = path.stat()
    with path.open("r+b") as file:
        file.write(b"Pump two")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    vault.look(full=True)
    assert vault.facts() == {"Pump two leaks oil."}


def test_look_that_fails_changes_nothing_and_the_next_makes_it_good(vault):
    vault.write("a.md", "Pump one leaks oil.\n")
    vault.writes.failure = StoreUnusable("the disk is full")
    with pytest.raises(StoreUnusable):
        vault.look()
    assert vault.facts() == set()
    vault.writes.failure = None
    vault.look()
    assert vault.facts() == {"Pump one leaks oil."}


def test_interleaved_looks_end_as_one(vault):
    for number in range(4):
        vault.write(f"{number}.md", f"Pump number{number} leaks oil.\n")
    scan = vault.keeper.look(None)
    next(scan)
    vault.write("0.md", "Pump zero was mended.\n")
    vault.look("0.md")
    list(scan)
    assert "Pump zero was mended." in vault.facts()
    assert "Pump number0 leaks oil." not in vault.facts()


NAMES = ("a.md", "b.md", "d/c.md")
TEXTS = ("Pump one leaks oil.\n", "Fan is loud.\n\nDisk is full.\n", "# 厨房\n\n烤箱在十点关闭。\n")
STEPS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(NAMES), st.sampled_from(TEXTS)),
    st.tuples(st.just("remove"), st.sampled_from(NAMES), st.none()),
    st.tuples(st.just("rename"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("look"), st.sampled_from(NAMES), st.none()),
    st.tuples(st.just("scan"), st.none(), st.none()),
)


@given(st.lists(STEPS, max_size=10))
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@pytest.mark.slow
def test_any_history_ends_as_one_fresh_look(tmp_path_factory, steps):
    base = tmp_path_factory.mktemp("history")
    with Vault(base / "old") as old, Vault(base / "new") as new:
        for vault in (old, new):
            vault.write("anchor.md", "The anchor stays.\n")
        for what, name, other in steps:
            if what == "write":
                old.write(name, other)
            elif what == "remove":
                (old.path / name).unlink(missing_ok=True)
            elif what == "rename" and (old.path / name).exists():
                (old.path / other).parent.mkdir(exist_ok=True)
                (old.path / name).rename(old.path / other)
            elif what == "look":
                old.look(name)
            elif what == "scan":
                old.look()
        old.look()
        shutil.copytree(old.path, new.path, dirs_exist_ok=True)
        new.look()
        assert old.content() == new.content()


def test_notes_that_were_to_be_forgotten_when_the_disk_was_full_are_forgotten_later(vault):
    for name in ("a.md", "b.md", "c.md"):
        vault.write(f"old/{name}", f"The {name} is here.\n")
    vault.look()
    vault.write(".recallignore", "old/\n")
    vault.writes.failure = StoreUnusable("the disk is full")
    with pytest.raises(StoreUnusable):
        vault.look(".recallignore")
    vault.writes.failure = None
    assert outcomes(vault.look("old")) == dict.fromkeys(
        ("old/a.md", "old/b.md", "old/c.md"), "gone"
    )
    assert vault.facts() == set()


def test_note_that_is_ignored_from_now_on_leaves_nothing(vault):
    vault.write("diary.md", "Pump one leaks oil.\n")
    vault.write("plan/a.md", "Fan is loud.\n")
    vault.write("b.md", "Disk is full.\n")
    vault.look()
    vault.write(".recallignore", "diary.md\nplan/\n")
    assert outcomes(vault.look(".recallignore")) == {"diary.md": "gone", "plan/a.md": "gone"}
    assert vault.facts() == {"Disk is full."}
    (vault.path / ".recallignore").unlink()
    assert set(outcomes(vault.look(".recallignore"))) == {"diary.md", "plan/a.md"}


@pytest.mark.parametrize("instead", ["link", "folder", "pipe"])
def test_note_whose_name_now_leads_to_something_else_leaves_nothing(vault, tmp_path, instead):
    path = vault.write("a.md", "Pump one leaks oil.\n")
    vault.write("b.md", "Disk is full.\n")
    vault.look()
    path.unlink()
    if instead == "link":
        (tmp_path / "outside.md").write_text("Pump one leaks oil.\n")
        path.symlink_to(tmp_path / "outside.md")
    elif instead == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    assert outcomes(vault.look("a.md")) == {"a.md": "gone"}
    assert vault.facts() == {"Disk is full."}


def test_a_line_of_the_rules_that_is_no_pattern_is_told(vault):
    vault.write(".recallignore", "[z-a]\nold/\n")
    vault.write("a.md", "Kept here is the pump.")
    vault.write("old/b.md", "Gone is the valve.")
    assert outcomes(vault.look()) == {"a.md": "taken"}
    told = (".recallignore", "line 1 is not a pattern and hides nothing")
    assert vault.keeper.report().skipped == (told,)
    vault.write(".recallignore", "old/\n")
    vault.look(".recallignore")
    assert vault.keeper.report().skipped == ()


def test_look_at_a_part_tells_what_it_met_there_and_forgets_what_is_gone(vault, tmp_path):
    vault.write("b.md", "Disk is full.\n")
    (vault.path / "c.md").symlink_to(tmp_path / "nowhere")
    vault.look()
    (vault.path / "a.md").symlink_to("b.md")
    vault.write("big.md", "Fan is loud. " * 100_000)
    vault.look("a.md", "big.md")
    report = vault.keeper.report()
    assert set(report.skipped) == {("a.md", "link_inside"), ("c.md", "link_dead")}
    assert [path for path, _ in report.unreadable] == ["big.md"]
    (vault.path / "a.md").unlink()
    (vault.path / "big.md").unlink()
    vault.look("a.md", "big.md")
    report = vault.keeper.report()
    assert (report.skipped, report.unreadable) == ((("c.md", "link_dead"),), ())
