from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ingest.disk.ignore import IgnoreRules
from ingest.disk.reader import NoteText, read_note
from ingest.disk.records import RootIdentity, Scope, Walk
from ingest.disk.walk import root_identity, walk
from ingest.reconcile import (
    DeletionGuard,
    KnownNote,
    Move,
    Plan,
    RootState,
    match_arrivals,
    match_moves,
    reconcile,
)
from recalld.records import FileStat, NoteId

OLD_ROOT = RootIdentity(device=1, inode=2)
NEW_ROOT = RootIdentity(device=1, inode=77)
WHOLE = Scope()
GUARD = DeletionGuard()


def note(number: int, content: bytes | None = None, **stat: int) -> KnownNote:
    known = KnownNote(
        note_id=NoteId(number),
        size=100 + number,
        mtime_ns=1000 + number,
        ctime_ns=1000 + number,
        inode=number,
        content_hash=content or b"hash%d" % number,
    )
    return replace(known, **stat)


def file(number: int, **stat: int) -> FileStat:
    """The file of `note(number)`, untouched unless told otherwise."""
    of = note(number, None)
    found = FileStat(
        size=of.size, mtime_ns=of.mtime_ns, ctime_ns=of.ctime_ns, inode=of.inode, device=1
    )
    return replace(found, **stat)


def plan_of(
    known: Mapping[str, KnownNote],
    files: Mapping[str, FileStat],
    *,
    scope: Scope = WHOLE,
    trust_stat: bool = True,
    guard: DeletionGuard = GUARD,
    stored: RootIdentity | None = OLD_ROOT,
    present: RootIdentity | None = OLD_ROOT,
    unreadable: tuple[str, ...] = (),
) -> Plan:
    found = {path: stat for path, stat in files.items() if scope.covers(path)}
    return reconcile(
        known,
        Walk(identity=present, scope=scope, files=found, unreadable=unreadable, ignore_files={}),
        scope=scope,
        trust_stat=trust_stat,
        guard=guard,
        root=RootState(stored=stored, present=present),
    )


def thirty() -> dict[str, KnownNote]:
    return {f"{n}.md": note(n) for n in range(1, 31)}


def test_nothing_changed_gives_an_empty_plan() -> None:
    assert plan_of({"a.md": note(1)}, {"a.md": file(1)}) == Plan()


def test_new_edited_and_deleted_notes_are_told() -> None:
    known = {"a.md": note(1), "b.md": note(2), "c.md": note(3)}
    plan = plan_of(known, {"a.md": file(1, size=5), "c.md": file(3), "d.md": file(4)})
    assert plan == Plan(changed=("a.md", "d.md"), arrived=("d.md",), gone=(NoteId(2),))


@pytest.mark.parametrize("field", ["size", "mtime_ns", "ctime_ns", "inode"])
def test_any_difference_in_stat_has_the_file_read(field: str) -> None:
    assert plan_of({"a.md": note(1)}, {"a.md": file(1, **{field: 0})}).changed == ("a.md",)


def test_without_trust_in_stats_every_file_is_read() -> None:
    known = {"a.md": note(1), "b.md": note(2)}
    plan = plan_of(known, {"a.md": file(1), "b.md": file(2)}, trust_stat=False)
    assert plan == Plan(changed=("a.md", "b.md"))


def test_a_file_that_the_scope_names_is_read_whatever_its_stat() -> None:
    known = {"x/a.md": note(1), "x/b.md": note(2)}
    files = {"x/a.md": file(1), "x/b.md": file(2)}
    assert plan_of(known, files, scope=Scope.of(["x", "x/a.md"])).changed == ("x/a.md",)


def test_scope_leaves_the_rest_alone() -> None:
    known = {"a.md": note(1), "x/b.md": note(2), "xx/c.md": note(3)}
    assert plan_of(known, {}, scope=Scope.of(["x"])) == Plan(gone=(NoteId(2),))


def test_renamed_folder_moves_its_notes_and_reads_none() -> None:
    known = {f"p/{n}.md": note(n) for n in range(1, 51)}
    plan = plan_of(known, {f"q/{n}.md": file(n) for n in range(1, 51)})
    assert {(m.note_id, m.old, m.new) for m in plan.moved} == {
        (n, f"p/{n}.md", f"q/{n}.md") for n in range(1, 51)
    }
    assert replace(plan, moved=()) == Plan()


def test_renamed_file_is_moved_and_read_as_its_change_time_differs() -> None:
    plan = plan_of({"a.md": note(1)}, {"A.md": file(1, ctime_ns=9)})
    assert plan == Plan(changed=("A.md",), moved=(Move(note_id=NoteId(1), old="a.md", new="A.md"),))


def test_swapped_and_rotated_notes_keep_their_identity() -> None:
    known = {"a.md": note(1), "b.md": note(2), "c.md": note(3)}
    plan = plan_of(known, {"a.md": file(2), "b.md": file(1), "c.md": file(3)})
    assert {(m.old, m.new) for m in plan.moved} == {("a.md", "b.md"), ("b.md", "a.md")}
    plan = plan_of(known, {"b.md": file(1), "c.md": file(2), "d.md": file(3)})
    assert {(m.old, m.new) for m in plan.moved} == {
        ("a.md", "b.md"),
        ("b.md", "c.md"),
        ("c.md", "d.md"),
    }
    assert plan.gone == ()


def test_a_note_overwritten_by_another_stays_and_the_other_is_gone() -> None:
    plan = plan_of({"a.md": note(1), "b.md": note(2)}, {"b.md": file(1)})
    assert plan == Plan(changed=("b.md",), gone=(NoteId(1),))


def test_an_atomic_save_is_a_change_not_a_move() -> None:
    plan = plan_of({"a.md": note(1)}, {"a.md": file(9)})
    assert plan == Plan(changed=("a.md",))


def test_a_hard_link_is_a_second_note_and_either_may_move() -> None:
    known = {"a.md": note(1), "b.md": note(2, inode=1, size=101, mtime_ns=1001)}
    plan = plan_of(known, {"b.md": file(1), "c.md": file(1)})
    assert [(m.old, m.new) for m in plan.moved] == [("a.md", "c.md")]
    assert plan.gone == ()


def test_a_reused_inode_is_no_move() -> None:
    plan = plan_of({"a.md": note(1)}, {"b.md": file(1, size=7)})
    assert (plan.moved, plan.gone, plan.arrived) == ((), (NoteId(1),), ("b.md",))


def test_missing_notes_are_recognised_by_content() -> None:
    known = {"a.md": note(1), "x/b.md": note(2), "c.md": note(3)}
    plan = plan_of(known, {"new.md": file(8), "y/b.md": file(9)})
    hashes = {"new.md": b"hash1", "y/b.md": b"hash2"}
    matched = match_arrivals(
        plan,
        known,
        hashes,
        scope=WHOLE,
        guard=GUARD,
        root=RootState(stored=OLD_ROOT, present=OLD_ROOT),
    )
    assert [(m.old, m.new) for m in matched.moved] == [("a.md", "new.md"), ("x/b.md", "y/b.md")]
    assert (matched.gone, matched.arrived, matched.changed) == (
        (NoteId(3),),
        (),
        ("new.md", "y/b.md"),
    )


def test_equal_contents_are_matched_by_file_name_and_once() -> None:
    gone = {"x/a.md": note(1, b"h"), "x/b.md": note(2, b"h"), "x/c.md": note(3, b"h")}
    moves = match_moves(gone, {"y/b.md": b"h", "y/z.md": b"h"})
    assert [(m.old, m.new) for m in moves] == [("x/a.md", "y/z.md"), ("x/b.md", "y/b.md")]


def test_notes_below_what_cannot_be_read_are_unknown_not_gone() -> None:
    known = {f"s/{n}.md": note(n) for n in range(1, 11)} | {"t.md": note(20), "u.md": note(21)}
    plan = plan_of(known, {}, unreadable=("s", "t.md"))
    assert plan.unknown == (*range(1, 11), 20)
    assert plan.gone == (21,)


# ---------------------------------------------------------------- the guard


def test_missing_or_unreadable_root_deletes_nothing_whatever_is_confirmed() -> None:
    sure = DeletionGuard(confirmed=True, grace_over=True)
    plan = plan_of(thirty(), {}, present=None, guard=sure)
    assert plan == Plan(unknown=tuple(range(1, 31)), root_state="unavailable", reason="missing")
    plan = plan_of(thirty(), {}, unreadable=("",), guard=sure)
    assert plan == Plan(unknown=tuple(range(1, 31)), root_state="unavailable", reason="unreadable")


def test_root_replaced_by_an_empty_folder_is_unavailable_until_it_returns() -> None:
    for guard in (GUARD, DeletionGuard(grace_over=True)):
        plan = plan_of(thirty(), {}, present=NEW_ROOT, guard=guard)
        assert plan == Plan(held=tuple(range(1, 31)), root_state="unavailable", reason="empty")
    assert plan_of(thirty(), {f"{n}.md": file(n) for n in range(1, 31)}) == Plan()


def test_an_empty_root_never_seen_before_proves_nothing() -> None:
    plan = plan_of({"a.md": note(1)}, {}, stored=None)
    assert (plan.root_state, plan.gone) == ("unavailable", ())


def test_recreated_root_has_its_new_notes_indexed_and_the_old_ones_held() -> None:
    new = {f"new{n}.md": file(100 + n) for n in range(3)}
    plan = plan_of(thirty(), new, present=NEW_ROOT)
    assert plan.changed == plan.arrived == ("new0.md", "new1.md", "new2.md")
    assert (plan.held, plan.gone) == (tuple(range(1, 31)), ())
    assert (plan.root_state, plan.reason) == ("held", "replaced")


@pytest.mark.parametrize("lifted", [DeletionGuard(confirmed=True), DeletionGuard(grace_over=True)])
def test_held_notes_go_when_confirmed_or_after_the_grace_period(lifted: DeletionGuard) -> None:
    new = {f"new{n}.md": file(100 + n) for n in range(3)}
    plan = plan_of(thirty(), new, present=NEW_ROOT, guard=lifted)
    assert (plan.gone, plan.held, plan.root_state) == (tuple(range(1, 31)), (), "ok")
    few = {f"{n}.md": file(n) for n in range(26, 31)}
    assert plan_of(thirty(), few).reason == "mass_deletion"
    assert plan_of(thirty(), few, guard=lifted) == Plan(gone=tuple(range(1, 26)))


def test_another_folder_with_all_the_notes_is_the_root() -> None:
    assert plan_of(thirty(), {f"{n}.md": file(n) for n in range(1, 31)}, present=NEW_ROOT) == Plan()


def test_a_hint_in_a_replaced_root_deletes_nothing_and_lifts_no_hold() -> None:
    plan = plan_of(thirty(), {}, scope=Scope.of(["1.md"]), present=NEW_ROOT)
    assert (plan.held, plan.gone, plan.reason) == ((1,), (), "replaced")
    plan = plan_of(thirty(), {"new.md": file(99)}, scope=Scope.of(["new.md"]), present=NEW_ROOT)
    assert (plan.changed, plan.root_state) == (("new.md",), "held")


@given(known=st.integers(1, 60), missing=st.integers(0, 60), recent=st.integers(0, 20))
def test_a_mass_is_more_than_the_count_and_more_than_the_share(
    known: int, missing: int, recent: int
) -> None:
    missing = min(missing, known)
    notes = {f"{n}.md": note(n) for n in range(known)}
    files = {f"{n}.md": file(n) for n in range(missing, known)}
    plan = plan_of(notes, files, guard=DeletionGuard(recent=recent))
    is_mass = missing > 0 and missing + recent > 10 and missing + recent > (known + recent) / 2
    assert len(plan.held) == (missing if is_mass else 0)
    assert len(plan.gone) == (0 if is_mass else missing)


def test_a_small_vault_may_be_emptied() -> None:
    assert plan_of({"a.md": note(1), "b.md": note(2)}, {}).gone == (1, 2)


def test_a_mass_that_proves_to_have_moved_is_not_held() -> None:
    known = thirty()
    plan = plan_of(known, {f"q/{n}.md": file(100 + n) for n in range(1, 31)})
    assert plan.root_state == "held"
    root = RootState(stored=OLD_ROOT, present=OLD_ROOT)
    hashes = {f"q/{n}.md": b"hash%d" % n for n in range(1, 26)}
    matched = match_arrivals(plan, known, hashes, scope=WHOLE, guard=GUARD, root=root)
    assert len(matched.moved) == 25
    assert (matched.gone, matched.held, matched.root_state) == ((26, 27, 28, 29, 30), (), "ok")


def test_a_hold_stays_where_too_little_is_recognised() -> None:
    known = thirty()
    plan = plan_of(known, {"q.md": file(100)})
    root = RootState(stored=OLD_ROOT, present=OLD_ROOT)
    matched = match_arrivals(plan, known, {"q.md": b"hash4"}, scope=WHOLE, guard=GUARD, root=root)
    assert ([m.old for m in matched.moved], len(matched.held)) == (["4.md"], 29)
    assert (matched.root_state, matched.reason) == ("held", "mass_deletion")
    assert match_arrivals(plan, known, {}, scope=WHOLE, guard=GUARD, root=root) == plan


# ---------------------------------------------------------------- any history ends as one scan

_INODES = st.integers(1, 6)
_STATS = st.builds(lambda inode, kind: file(inode, mtime_ns=kind), _INODES, st.integers(1, 2))
_PATHS = st.sampled_from(["a.md", "b.md", "x/a.md", "x/b.md", "y/a.md", "y/c.md"])


@given(
    st.dictionaries(_PATHS, _STATS),
    st.dictionaries(_PATHS, _STATS),
    st.booleans(),
    st.lists(_PATHS),
)
def test_plan_is_complete_and_without_contradiction(
    before: dict[str, FileStat], after: dict[str, FileStat], trust_stat: bool, prefixes: list[str]
) -> None:
    known = {
        path: note(
            number, inode=was.inode, size=was.size, mtime_ns=was.mtime_ns, ctime_ns=was.ctime_ns
        )
        for number, (path, was) in enumerate(before.items())
    }
    for scope in (WHOLE, Scope.of(prefixes)):
        plan = plan_of(known, after, trust_stat=trust_stat, scope=scope)
        ids = [*(m.note_id for m in plan.moved), *plan.gone, *plan.held, *plan.unknown]
        assert len(ids) == len(set(ids))
        assert len({m.new for m in plan.moved}) == len(plan.moved)
        assert set(plan.arrived) <= set(plan.changed)
        left = {k: v for k, v in known.items() if v.note_id not in ids}
        left |= {m.new: known[m.old] for m in plan.moved}
        covered = {path for path in after if scope.covers(path)}
        assert len(left) == len(known) - len(plan.gone)
        assert {p for p in left if scope.covers(p)} | set(plan.arrived) == covered
        for path in covered - set(plan.changed):
            assert file_of(left[path]) == after[path]


def file_of(known: KnownNote) -> FileStat:
    return FileStat(
        size=known.size,
        mtime_ns=known.mtime_ns,
        ctime_ns=known.ctime_ns,
        inode=known.inode,
        device=1,
    )


class AnyHistory(RuleBasedStateMachine):
    """A folder that is changed at will, hints of which are lost at random, and a model of the store."""

    paths = st.sampled_from(["a.md", "A.md", "b.md", "x/a.md", "x/b.md", "x/y/c.md", "z/b.md"])
    folders = st.sampled_from(["x", "x/y", "z", "w"])
    texts = st.sampled_from(["", "one", "two", "drei", "四つ"])

    @initialize()
    def start(self) -> None:
        self.top = Path(tempfile.mkdtemp())
        self.root = self.top / "V"
        self.root.mkdir()
        self.known: dict[str, KnownNote] = {}
        self.hints: set[str] = set()
        self.clock = 1_700_000_000_000_000_000
        self.next_id = 0
        self.identity = root_identity(self.root)
        self.rules = IgnoreRules.load(self.root)

    def teardown(self) -> None:
        if hasattr(self, "top"):
            shutil.rmtree(self.top)

    def hint(self, *paths: str, lost: bool) -> None:
        if not lost:
            self.hints.update(paths)

    @rule(path=paths, text=texts, lost=st.booleans())
    def write(self, path: str, text: str, lost: bool) -> None:
        self._write(self.root / path, text)
        self.hint(path, lost=lost)

    @rule(path=paths, text=texts, lost=st.booleans())
    def replace(self, path: str, text: str, lost: bool) -> None:
        self._write(self.root / ".new.tmp", text)
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / ".new.tmp").replace(self.root / path)
        self.hint(path, lost=lost)

    @rule(old=paths, new=paths, lost=st.booleans())
    def rename(self, old: str, new: str, lost: bool) -> None:
        if (self.root / old).is_file():
            (self.root / new).parent.mkdir(parents=True, exist_ok=True)
            (self.root / old).replace(self.root / new)
            self.hint(old, new, lost=lost)

    @rule(one=paths, other=paths, lost=st.booleans())
    def swap(self, one: str, other: str, lost: bool) -> None:
        if one != other and (self.root / one).is_file() and (self.root / other).is_file():
            (self.root / one).replace(self.root / ".swap")
            (self.root / other).replace(self.root / one)
            (self.root / ".swap").replace(self.root / other)
            self.hint(one, other, lost=lost)

    @rule(path=paths, lost=st.booleans())
    def delete(self, path: str, lost: bool) -> None:
        (self.root / path).unlink(missing_ok=True)
        self.hint(path, lost=lost)

    @rule(old=folders, new=folders, lost=st.booleans())
    def move_folder(self, old: str, new: str, lost: bool) -> None:
        inside = new.startswith(old + "/")
        if (self.root / old).is_dir() and not (self.root / new).exists() and not inside:
            (self.root / new).parent.mkdir(parents=True, exist_ok=True)
            (self.root / old).rename(self.root / new)
            self.hint(old, new, lost=lost)

    @rule(folder=folders, lost=st.booleans())
    def move_out(self, folder: str, lost: bool) -> None:
        if (self.root / folder).is_dir():
            (self.root / folder).rename(Path(tempfile.mkdtemp(dir=self.top)) / "out")
            self.hint(folder, lost=lost)

    @rule()
    def settle(self) -> None:
        self._scan(Scope.of(self.hints), trust_stat=True)
        self.hints.clear()

    @rule(trust_stat=st.booleans())
    def full_scan_gives_what_is_on_the_disk(self, trust_stat: bool) -> None:
        self._scan(WHOLE, trust_stat=trust_stat)
        on_disk = {
            str(path.relative_to(self.root)): path.read_bytes() for path in self.root.rglob("*.md")
        }
        fresh = {p: read_note(self.root, p, max_bytes=1000) for p in on_disk}
        assert {p: note.content_hash for p, note in self.known.items()} == {
            p: read.content_hash for p, read in fresh.items() if isinstance(read, NoteText)
        }
        assert len(fresh) == len(self.known)

    @invariant()
    def ids_are_unique(self) -> None:
        ids = [note.note_id for note in getattr(self, "known", {}).values()]
        assert len(ids) == len(set(ids))

    def _write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.clock += 1_000_000_000
        os.utime(path, ns=(self.clock, self.clock))

    def _scan(self, scope: Scope, *, trust_stat: bool) -> None:
        found = walk(self.root, self.rules, scope=scope)
        root = RootState(stored=self.identity, present=found.identity)
        guard = DeletionGuard(count=100)
        plan = reconcile(
            self.known, found, scope=scope, trust_stat=trust_stat, guard=guard, root=root
        )
        reads = {path: read_note(self.root, path, max_bytes=1000) for path in plan.changed}
        texts = {path: read for path, read in reads.items() if isinstance(read, NoteText)}
        assert len(texts) == len(reads)
        hashes = {path: texts[path].content_hash for path in plan.arrived}
        plan = match_arrivals(plan, self.known, hashes, scope=scope, guard=guard, root=root)
        self._apply(plan, texts)

    def _apply(self, plan: Plan, texts: dict[str, NoteText]) -> None:
        moved = {move.new: self.known.pop(move.old) for move in plan.moved}
        assert not set(moved) & set(self.known)
        self.known |= moved
        self.known = {p: n for p, n in self.known.items() if n.note_id not in plan.gone}
        for path, read in texts.items():
            self.next_id += 1
            note_id = self.known[path].note_id if path in self.known else NoteId(self.next_id)
            self.known[path] = KnownNote(
                note_id=note_id,
                size=read.stat.size,
                mtime_ns=read.stat.mtime_ns,
                ctime_ns=read.stat.ctime_ns,
                inode=read.stat.inode,
                content_hash=read.content_hash,
            )


TestAnyHistory = pytest.mark.slow(AnyHistory.TestCase)
TestAnyHistory.settings = settings(
    max_examples=60,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
