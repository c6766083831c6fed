"""Takes the notes of one root in: reads a file, has it parsed and extracted, plans the change and writes it.

A long note is taken in steps, so that others may have their turn in between; what became of it meanwhile is looked at
before anything is written. It must not know which notes are to be taken, or why.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from ingest.ahead import ReadAhead
from ingest.disk.reader import NoteText, Unread, read_note
from ingest.disk.records import Walk
from ingest.plan import NoteFile, plan_note
from ingest.redating import keep_days
from ingest.rules.extractor import RULES_VERSION
from ingest.steps import advance, finish
from ingest.understanding import understand_in_steps
from recalld.records import RootId
from recalld.store.changes import StoredNote
from recalld.store.connection import Database
from recalld.store.reading import blocks_of_note, days_of_note, note_at
from recalld.store.writers import Writes


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """One step of a look: what became of a path."""

    path: str
    # `waiting`: it is being written; look again a little later. `reading`: it is long, and this is a pause.
    outcome: Literal["reading", "taken", "unchanged", "moved", "gone", "waiting", "unread"]
    # Notes of this look that still wait for their turn.
    left: int = 0


# What is written to without a pause for so long is read as far as it goes.
_UNSTEADY_S = 3.0
# A longer note is read in its turn only.
_READ_AHEAD_BYTES = 50_000


class Intake:
    """The notes of one root, taken one at a time each. Used from the ingest thread only; `unread`, from any."""

    def __init__(
        self,
        *,
        root_id: RootId,
        path: Path,
        database: Database,
        writes: Writes,
        max_note_bytes: int,
        empty_grace_s: float,
        is_gone: Callable[[str], bool],
        now: Callable[[], float],
        new_uid: Callable[[], str],
    ) -> None:
        """Reads nothing yet.

        Args:
            path: The root's folder.
            empty_grace_s: Seconds that a note must stay empty before its facts go.
            is_gone: Whether a path of the root is certainly no note now.
            now: Gives seconds since 1970.
        """
        self._root_id = root_id
        self._path = path
        self._database = database
        self._writes = writes
        self._max_note_bytes = max_note_bytes
        self._empty_grace_s = empty_grace_s
        self._is_gone = is_gone
        self._now = now
        self._new_uid = new_uid
        self._unread: dict[str, str] = {}
        self._empty_since: dict[str, float] = {}
        self._unsteady_since: dict[str, float] = {}
        # Notes that are being taken in; a long one has pauses in which others are looked at.
        self._reading: set[str] = set()
        # How often taking a note failed, until it succeeds.
        self._failures: dict[str, int] = {}

    @property
    def unread(self) -> Mapping[str, str]:
        """Why a note could not be read, by its path."""
        return self._unread

    def failures(self, path: str) -> int:
        """How often taking a note failed in a row: it comes after all others, lest it keep them out."""
        return self._failures.get(path, 0)

    def remember(self, seen: Walk) -> None:
        """Lets go of what it knows of notes that a walk has missed in the part that it covers."""
        self._unread = {
            path: why
            for path, why in self._unread.items()
            if path in seen.files or not seen.scope.covers(path)
        }

    def in_turns(self, path: str, *, ahead: ReadAhead | None = None) -> Iterator[Looked]:
        """Takes one note. The last step is what became of it; before that come pauses when it is a long one.

        Args:
            ahead: Where the note may have been understood already.
        """
        failures = self._failures.pop(path, 0)
        steps = self._taking(path, ahead=ahead)
        while True:
            try:
                taken = advance(steps)
            except BaseException:
                self._failures[path] = failures + 1
                raise
            if taken is not None:
                yield taken
                return
            yield Looked(path=path, outcome="reading")

    def take(self, path: str, *, moved: bool = False) -> Looked:
        """Takes one note without a pause; one that was `moved` anew, whether its text changed or not."""
        return finish(self._taking(path, moved=moved))

    def _taking(
        self,
        path: str,
        *,
        moved: bool = False,
        ahead: ReadAhead | None = None,
    ) -> Generator[None, None, Looked]:
        """One at a time: who comes while a note is read looks again later, and nobody begins it anew for ever."""
        if path in self._reading:
            return Looked(path=path, outcome="waiting")
        self._reading.add(path)
        try:
            return (yield from self._taking_alone(path, moved, ahead))
        finally:
            self._reading.discard(path)

    def _taking_alone(
        self, path: str, moved: bool, ahead: ReadAhead | None
    ) -> Generator[None, None, Looked]:
        may_grow = (
            path in self._unsteady_since and self._age(self._unsteady_since, path) >= _UNSTEADY_S
        )
        text = read_note(self._path, path, max_bytes=self._max_note_bytes, may_grow=may_grow)
        if isinstance(text, Unread):
            return self._unreadable(path, text)
        self._unsteady_since.pop(path, None)
        self._unread.pop(path, None)
        with self._database.reader() as connection:
            stored = note_at(connection, self._root_id, path)
            blocks = blocks_of_note(connection, stored.note_id) if stored else []
            is_undated = stored and stored.extractor == RULES_VERSION and stored.dated is None
            days = days_of_note(connection, stored.note_id) if stored and is_undated else {}
        if stored and stored.content_hash == text.content_hash and not moved:
            self._empty_since.pop(path, None)
            if stored.extractor == RULES_VERSION:
                return self._untouched(path, stored, text)
        if blocks and not text.text.strip() and self._may_be_halfway(path):
            return Looked(path=path, outcome="waiting")
        self._empty_since.pop(path, None)
        understood = ahead.result(path, text) if ahead else None
        has_paused = False
        steps = understand_in_steps(text.text, path, text.stat)
        while understood is None and (understood := advance(steps)) is None:
            has_paused = True
            yield
        if has_paused and (self._stored(path) != stored or self._is_gone(path)):
            # It went, moved or was moved here while others had their turn.
            return Looked(path=path, outcome="waiting")
        extracted = understood.blocks
        if days and understood.dated is None:
            extracted = keep_days(extracted, blocks, days)
        change = plan_note(
            stored=stored,
            stored_blocks=blocks,
            file=NoteFile(
                root_id=self._root_id,
                path=path,
                content_hash=text.content_hash,
                stat=text.stat,
                problems=text.problems,
            ),
            note=understood.note,
            blocks=extracted,
            extractor=RULES_VERSION,
            new_uid=self._new_uid(),
            now_ms=int(self._now() * 1000),
        )
        self._writes.call(lambda writers: writers.notes.apply(change))
        return Looked(path=path, outcome="taken")

    def read_ahead(self, paths: Sequence[str]) -> ReadAhead:
        """Another process that understands these notes ahead of their turns, in which they are read again.

        A long one it leaves out: there it has pauses.
        """
        return ReadAhead(paths, partial(read_note, self._path, max_bytes=_READ_AHEAD_BYTES))

    def _stored(self, path: str) -> StoredNote | None:
        with self._database.reader() as connection:
            return note_at(connection, self._root_id, path)

    def _unreadable(self, path: str, unread: Unread) -> Looked:
        if unread.reason == "changed_while_reading":
            self._age(self._unsteady_since, path)
            return Looked(path=path, outcome="waiting")
        if unread.reason != "missing":
            self._unread[path] = unread.message
        return Looked(path=path, outcome="unread")

    def _untouched(self, path: str, stored: StoredNote, text: NoteText) -> Looked:
        known = (stored.size, stored.mtime_ns, stored.ctime_ns, stored.inode)
        found = (text.stat.size, text.stat.mtime_ns, text.stat.ctime_ns, text.stat.inode)
        if known != found:
            self._writes.call(lambda writers: writers.notes.touch(stored.note_id, text.stat))
        return Looked(path=path, outcome="unchanged")

    def _may_be_halfway(self, path: str) -> bool:
        """Whether an emptied note may be a save that has not written yet; it is looked at again."""
        return self._age(self._empty_since, path) < self._empty_grace_s

    def _age(self, since: dict[str, float], path: str) -> float:
        """Seconds since this was first asked of a path; a clock that was put back begins anew."""
        now = self._now()
        since[path] = min(since.get(path, now), now)
        return now - since[path]
