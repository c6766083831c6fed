"""Keeps the index equal to one root: looks at the disk, decides, and has note by note taken in or let go.

The order is always the same: walk, reconcile, recognise what moved, take in what changed, let go of what is gone. A
look is a generator, so that a hint can be served between two notes of a long scan. Each note is judged by what the
store knows when its turn comes, so interleaved looks are safe and a repeated one changes nothing.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ingest.disk.ignore import IgnoreRules
from ingest.disk.reader import NoteText, read_note
from ingest.disk.records import RootIdentity, Scope, Walk
from ingest.disk.walk import root_identity, walk
from ingest.intake import Intake, Looked
from ingest.reconcile import (
    DeletionGuard,
    KnownNote,
    Plan,
    RootState,
    match_arrivals,
    reconcile,
)
from ingest.rules.extractor import RULES_VERSION
from recalld.records import NoteId, RootId
from recalld.store.changes import StoredNote
from recalld.store.connection import Database
from recalld.store.reading import (
    meta,
    notes_of_root,
    root_named,
)
from recalld.store.reading import root_identity as stored_identity
from recalld.store.writers import Writes

# Deletions within this time count as one.
_RECENT_S = 60.0
# Notes of one look after which the full-text index is worth merging.
_MANY = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class KeeperOptions:
    """How a root is kept, from the settings."""

    max_note_bytes: int
    empty_grace_s: float
    mass_deletion_count: int
    mass_deletion_share: float
    deletion_grace_s: float
    # recalld's own folders, which are never notes.
    own_paths: tuple[Path, ...]
    # Notes to be taken from which another process helps: it takes some tenths of a second to start.
    read_ahead_from: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RootReport:
    """What `status` tells of a root."""

    state: Literal["ok", "unavailable", "held"]
    # Why it is not ok, in a sentence, with what to do; None when it is.
    hint: str | None
    held: int
    unreadable: tuple[tuple[str, str], ...]
    skipped: tuple[tuple[str, str], ...]


_REASONS = {
    "missing": "the folder is not there",
    "unreadable": "the folder can't be read",
    "empty": "the folder is empty and may be another one than before",
    "replaced": "the folder is another one than before",
    "mass_deletion": "many notes are missing at once",
}


class RootKeeper:
    """One root and its notes in the store. Used from the ingest thread only; what tells, from any."""

    def __init__(
        self,
        *,
        name: str,
        path: Path,
        database: Database,
        writes: Writes,
        options: KeeperOptions,
        now: Callable[[], float],
        new_uid: Callable[[], str],
    ) -> None:
        """`now` gives seconds since 1970."""
        self.name = name
        self.path = path
        self._database = database
        self._writes = writes
        self._options = options
        self._now = now
        self._rules: IgnoreRules | None = None
        # The rules that every known note has been held against.
        self._obeyed: IgnoreRules | None = None
        self._skipped: dict[str, str] = {}
        self._unlisted: tuple[str, ...] = ()
        self._removed_at: deque[float] = deque()
        self._plan = Plan()
        self._confirmed = False
        self._not_ahead: str | None = None
        self._present: RootIdentity | None = None
        self.root_id = self._ensure_root()
        self._intake = Intake(
            root_id=self.root_id,
            path=path,
            database=database,
            writes=writes,
            max_note_bytes=options.max_note_bytes,
            empty_grace_s=options.empty_grace_s,
            is_gone=self._is_gone,
            now=now,
            new_uid=new_uid,
        )

    def _ensure_root(self) -> RootId:
        with self._database.reader() as connection:
            known = root_named(connection, self.name)
            device, inode = stored_identity(connection, known) if known else (None, None)
        return self._writes.call(
            lambda writers: writers.notes.put_root(self.name, self.path, device, inode)
        )

    def rules(self) -> IgnoreRules:
        """The ignore rules in force."""
        return self._rules or self._current_rules(None)

    @property
    def not_ahead(self) -> str | None:
        """Why the last look at many notes could not have them read ahead; None when it could."""
        return self._not_ahead

    def confirm_deletions(self) -> None:
        """Lets the next whole look carry out a held mass deletion."""
        self._confirmed = True

    def is_another_folder(self) -> bool:
        """Whether the path leads elsewhere than at the last whole look; costs a stat."""
        return root_identity(self.path) != self._present

    def report(self) -> RootReport:
        """What is known of the root since the last look."""
        plan = self._plan
        hint = _REASONS.get(plan.reason or "")
        if hint and plan.held:
            hint = (
                f"{hint}: {len(plan.held)} notes are kept; if they were deleted on purpose run"
                f" `recalld sync --confirm-deletions {self.name}`"
            )
        unlisted = tuple((path or ".", "can't be listed") for path in self._unlisted)
        return RootReport(
            state=plan.root_state,
            hint=hint,
            held=len(plan.held),
            unreadable=(*unlisted, *sorted(self._intake.unread.items())),
            skipped=(*self._skipped.items(), *(self._rules.problems if self._rules else ())),
        )

    def look(self, paths: frozenset[str] | None, *, full: bool = False) -> Iterator[Looked]:
        """Makes the index equal to the root, or to `paths` and what lies below them.

        Args:
            paths: Relative to the root; None = all of it, and so is a part that raises doubts.
            full: Read every file instead of trusting size and times.
        """
        rules = self._current_rules(paths)
        if paths is not None and any(rules.makes_rules(path) for path in paths):
            paths = None
        scope = Scope() if paths is None else Scope.of(paths)
        seen = walk(self.path, rules, scope=scope)
        if not rules.are_current(seen):
            # A folder came with rules of its own: what they hide must not be taken in meanwhile.
            rules = self._current_rules(None)
            seen = walk(self.path, rules, scope=scope)
        known = self._known()
        if paths is None or rules is not self._obeyed:
            # Rules that a whole look has gone by can hide no note that is known since.
            yield from self._let_ignored_go(known, rules, scope)
        if paths is None:
            self._obeyed = rules
        root = RootState(stored=self._stored_identity(), present=root_identity(self.path))
        guard = self._guard()
        plan = reconcile(
            {path: _known_note(note) for path, note in known.items()},
            seen,
            scope=scope,
            trust_stat=not full,
            guard=guard,
            root=root,
        )
        plan = self._recognise(plan, known, scope, guard, root)
        if paths is not None and (
            self._needs_whole(plan, known, scope) or self._may_have_returned(seen, known)
        ):
            yield from self.look(None, full=full)
            return
        if paths is None:
            self._present = root.present
            self._plan = plan
        self._remember(seen)
        yield from self._move(plan)
        outdated = (
            path
            for path, note in known.items()
            if note.extractor != RULES_VERSION and path in seen.files
        )
        changed = dict.fromkeys((*plan.changed, *outdated))
        failures = self._intake.failures
        yield from self._take_all(
            sorted(changed, key=lambda one: (failures(one), _turn(one, seen)))
        )
        yield from self._let_go(plan)
        if paths is None:
            self._finish_whole(plan, root.present, used=guard.confirmed)
        if len(changed) >= _MANY:
            self._writes.call(lambda writers: writers.merge_words())

    def _take_all(self, paths: Sequence[str]) -> Iterator[Looked]:
        self._not_ahead = None
        ahead = (
            self._intake.read_ahead(paths) if len(paths) >= self._options.read_ahead_from else None
        )
        try:
            for at, path in enumerate(paths, 1):
                for looked in self._intake.in_turns(path, ahead=ahead):
                    left = len(paths) - at + (looked.outcome == "reading")
                    yield replace(looked, left=left)
        finally:
            if ahead is not None:
                self._not_ahead = ahead.problem
                ahead.close()

    def _let_ignored_go(
        self, known: dict[str, StoredNote], rules: IgnoreRules, scope: Scope
    ) -> Iterator[Looked]:
        """Forgets notes that the rules now ignore, and takes them out of `known`.

        That is an order and no accident, however many they are: no guard holds it back.
        """
        ignored = [
            path
            for path in known
            if scope.covers(path) and rules.ignores_within(path, is_dir=False)
        ]
        for path in ignored:
            self._forget(known.pop(path).note_id)
            yield Looked(path=path, outcome="gone")

    def _current_rules(self, paths: frozenset[str] | None) -> IgnoreRules:
        if self._rules is None or paths is None or any(map(self._rules.makes_rules, paths)):
            self._rules = IgnoreRules.load(self.path, self._options.own_paths)
        return self._rules

    def _known(self) -> dict[str, StoredNote]:
        with self._database.reader() as connection:
            return notes_of_root(connection, self.root_id)

    def _stored_identity(self) -> RootIdentity | None:
        with self._database.reader() as connection:
            device, inode = stored_identity(connection, self.root_id)
        if device is None or inode is None:
            return None
        return RootIdentity(device=device, inode=inode)

    def _guard(self) -> DeletionGuard:
        now = self._now()
        while self._removed_at and self._removed_at[0] < now - _RECENT_S:
            self._removed_at.popleft()
        with self._database.reader() as connection:
            since = meta(connection, f"held_since/{self.name}")
        return DeletionGuard(
            count=self._options.mass_deletion_count,
            share=self._options.mass_deletion_share,
            recent=len(self._removed_at),
            confirmed=self._confirmed,
            grace_over=bool(since) and now - float(since or 0) > self._options.deletion_grace_s,
        )

    def _recognise(
        self,
        plan: Plan,
        known: Mapping[str, StoredNote],
        scope: Scope,
        guard: DeletionGuard,
        root: RootState,
    ) -> Plan:
        """The plan with missing notes found again among the new files, by content."""
        if not (plan.arrived and (plan.gone or plan.held)):
            return plan
        hashes = {}
        for path in plan.arrived:
            text = read_note(self.path, path, max_bytes=self._options.max_note_bytes)
            if isinstance(text, NoteText):
                hashes[path] = text.content_hash
        return match_arrivals(
            plan,
            {path: _known_note(note) for path, note in known.items()},
            hashes,
            scope=scope,
            guard=guard,
            root=root,
        )

    def _needs_whole(self, plan: Plan, known: Mapping[str, StoredNote], scope: Scope) -> bool:
        """Whether a part can't tell: the root is in doubt, or what is gone is not all that is gone.

        Hints of one deletion settle one after the other; the first alone would look harmless.
        """
        if plan.root_state == "unavailable" or plan.held:
            return True
        elsewhere = (path for path in known if not scope.covers(path))
        return bool(plan.gone) and not all(os.path.lexists(self.path / path) for path in elsewhere)

    def _may_have_returned(self, seen: Walk, known: Mapping[str, StoredNote]) -> bool:
        """Whether a note that is held for missing is there again, under its name or as a new file."""
        held = set(self._plan.held)
        return bool(held) and any(
            path not in known or known[path].note_id in held for path in seen.files
        )

    def _remember(self, seen: Walk) -> None:
        """What a walk met, in place of what was known of the part of the root that it covers."""
        covers = seen.scope.covers
        unlisted = [path for path in self._unlisted if not covers(path)]
        skipped = {path: why for path, why in self._skipped.items() if not covers(path)}
        self._unlisted = (*unlisted, *filter(covers, seen.unreadable))
        self._skipped = skipped | {one.path_printable: one.reason for one in seen.skipped}
        self._intake.remember(seen)

    def _move(self, plan: Plan) -> Iterator[Looked]:
        if not plan.moved:
            return
        paths = {move.note_id: move.new for move in plan.moved}
        self._writes.call(lambda writers: writers.notes.move(paths))
        for move in plan.moved:
            self._intake.take(move.new, moved=True)
            yield Looked(path=move.new, outcome="moved")

    def _let_go(self, plan: Plan) -> Iterator[Looked]:
        if not plan.gone:
            return
        paths = {note.note_id: path for path, note in self._known().items()}
        for note_id in plan.gone:
            path = paths.get(note_id)
            if path is None or not self._is_gone(path):
                continue
            self._forget(note_id)
            yield Looked(path=path, outcome="gone")

    def _is_gone(self, path: str) -> bool:
        """Whether a path is certainly no note now: not there, ignored, or no longer a file of its own."""
        seen = walk(self.path, self.rules(), scope=Scope.of((path,)))
        return seen.identity is not None and path not in seen.files and not seen.unreadable

    def _forget(self, note_id: NoteId) -> None:
        now_ms = int(self._now() * 1000)
        self._writes.call(lambda writers: writers.notes.remove(note_id, now_ms))
        self._removed_at.append(self._now())

    def _finish_whole(self, plan: Plan, present: RootIdentity | None, *, used: bool) -> None:
        if used:
            # One that came while this look was under way is for the next.
            self._confirmed = False
        held = f"held_since/{self.name}"
        if plan.root_state == "ok" and present is not None:
            self._writes.call(
                lambda writers: writers.notes.put_root(
                    self.name, self.path, present.device, present.inode
                )
            )
        with self._database.reader() as connection:
            since = meta(connection, held)
        wanted = since or str(self._now()) if plan.root_state == "held" else ""
        if wanted != (since or ""):
            self._writes.call(lambda writers: writers.put_meta(held, wanted))


def _known_note(note: StoredNote) -> KnownNote:
    return KnownNote(
        note_id=note.note_id,
        size=note.size,
        mtime_ns=note.mtime_ns,
        ctime_ns=note.ctime_ns,
        inode=note.inode,
        content_hash=note.content_hash,
    )


def _turn(path: str, seen: Walk) -> tuple[bool, int, str]:
    """Big files last, then the most recently written first."""
    found = seen.files.get(path)
    return (found is not None and found.size > 200_000, -(found.mtime_ns if found else 0), path)
