"""Whatever happened to the notes, the store ends equal to one built from the files that are left.

Rows are compared by what they say and where they stand; row ids, random uids and times of ours are left out.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from ingest.keeper import KeeperOptions, RootKeeper
from recalld.store.connection import Database, execute
from recalld.store.writers import Writers

T = TypeVar("T")

# Thousands of small transactions: in memory where that can be had, else in the usual place.
QUICK_DISK = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

OPTIONS = KeeperOptions(
    max_note_bytes=1_000_000,
    empty_grace_s=0.0,
    mass_deletion_count=1000,
    mass_deletion_share=1.0,
    deletion_grace_s=0.0,
    own_paths=(),
)

# What a store says, without ids. Each must be the same however the store came to be.
TABLES = {
    "notes": "SELECT path, name_key, title, said_title, content_hash, extractor, size, mtime_ns,"
    " inode, dated, problems FROM note",
    "tags": "SELECT path, tag, shown FROM note_tag JOIN note ON note.id = note_id",
    "blocks": "SELECT path, ordinal, kind, text, text_hash, heading_path, lead_in, line_from,"
    " line_to, extraction, block.extractor FROM block JOIN note ON note.id = note_id",
    "passages": "SELECT path, position, passage.text, passage.line_from, passage.line_to, ordinal"
    " FROM passage JOIN note ON note.id = passage.note_id JOIN block ON block.id = block_id",
    # Not what it is embedded with: a renamed note keeps its vectors, so that it costs no model call.
    "statements": "SELECT path, position, ordinal, statement.text, words, statement.line_from,"
    " statement.line_to, embed_state, importance FROM statement"
    " JOIN passage ON passage.id = passage_id JOIN note ON note.id = note_id",
    "facts": "SELECT uid, text, category, category_by, confidence, importance, scope,"
    " happened_from, happened_to, stated_on, extractor FROM fact",
    "sources": "SELECT fact.uid, path, position, ordinal, fact_source.line_from,"
    " fact_source.line_to, wording FROM fact_source JOIN fact ON fact.id = fact_id"
    " JOIN statement ON statement.id = statement_id"
    " JOIN passage ON passage.id = fact_source.passage_id JOIN note ON note.id = note_id",
    "entities": "SELECT key, name, kind FROM entity",
    "spellings": "SELECT key, spelling.name, spelling.kind, facts FROM spelling"
    " JOIN entity ON entity.id = entity_id",
    "names": "SELECT key, path, shown, origin FROM alias JOIN note ON note.id = note_id",
    "mentions": "SELECT fact.uid, key, linked FROM mention JOIN fact ON fact.id = fact_id"
    " JOIN entity ON entity.id = entity_id",
    "relations": "SELECT fact.uid, s.key, predicate, o.key FROM relation"
    " JOIN fact ON fact.id = fact_id JOIN entity AS s ON s.id = subject"
    " JOIN entity AS o ON o.id = object",
    "said links": "SELECT path, from_uid, to_uid, kind, reason FROM said_link"
    " JOIN note ON note.id = note_id",
    "fact links": "SELECT a.uid, b.uid, fact_link.kind, weight, origin, reason FROM fact_link"
    " JOIN fact AS a ON a.id = from_fact JOIN fact AS b ON b.id = to_fact",
    "links": "SELECT note.path, kind, target, note_link.name_key, fragment, label, line,"
    " other.path, ambiguous FROM note_link JOIN note ON note.id = from_note"
    " LEFT JOIN note AS other ON other.id = to_note",
    "words": "SELECT path, position, term, offset FROM temp.instances"
    " JOIN passage ON passage.id = doc JOIN note ON note.id = note_id",
    "words of nothing": "SELECT id FROM passage_fts_docsize"
    " WHERE id NOT IN (SELECT id FROM passage)",
}


class HereWrites:
    """Writes at once, in the caller's thread."""

    def __init__(self, database: Database) -> None:
        self._writers = Writers.over(database.writer)

    def call(self, work: Callable[[Writers], T]) -> T:
        return work(self._writers)

    def post(self, work: Callable[[Writers], object]) -> None:
        work(self._writers)


class Store:
    """A database file with the keeper of one root."""

    def __init__(self, file: Path, vault: Path) -> None:
        self.database = Database(file)
        self.keeper = RootKeeper(
            name="vault",
            path=vault,
            database=self.database,
            writes=HereWrites(self.database),
            options=OPTIONS,
            now=lambda: 1_790_000_000.0,
            new_uid=lambda: uuid4().hex,
        )

    def look(self, paths: frozenset[str] | None, *, full: bool = False) -> None:
        for _ in self.keeper.look(paths, full=full):
            pass

    def says(self) -> dict[str, list[tuple[object, ...]]]:
        """Every table's rows, sorted."""
        connection = self.database.writer
        execute(
            connection,
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.instances"
            " USING fts5vocab ('main', 'passage_fts', 'instance')",
        )
        found = {name: execute(connection, sql) for name, sql in TABLES.items()}
        return {name: sorted(rows, key=repr) for name, rows in found.items()}

    def close(self) -> None:
        self.database.close()


PATHS = ("a.md", "b.md", "sub/a.md", "sub/c.md", "2026-03-04.md", "sub/deep/Über uns.md", "笔记.md")
# What says of itself why, or after what, it was.
SAID = (
    "The pump was broken.\n\nConsequently, the water rose.\n\nAfter that, we bought another pump.",
    "Der Keller stand unter Wasser.\n\nDie Ursache war eine kaputte Pumpe.",
    "## Steps\n\n1. Stop the old pump.\n2. Start the new pump.",
)
# None names a day by its distance, as "yesterday" does: in a note without a date that stays the day it was when first
# read, which a fresh index of the same files can't know.
BLOCKS = (
    "The port of the staging database is 5432.",
    "The PORT of the staging database is 5432.",
    "[[Alpha]] runs the staging database of the office.",
    "Alpha runs the staging database of the office.",
    "- The port of the staging database is 5432.\n- The port of the staging database is 5432.",
    "De ketel heeft code F28 gegeven op 2026-03-02.",
    "Der Server [[b]] läuft auf `Debian 12`. Er wird von [[sub/a|Anna]] betreut.",
    "La sauvegarde échoue depuis le 3 mars 2026.",
    "部署在东京的服务器上。重启以后恢复正常。",
    "Er läuft nicht.",
    # The second shows that the first begins with a name.
    "Marlow repairs the boiler each spring.",
    "After lunch we met Marlow in the office.",
    "It is 5433.",
    "# Deploy",
    "## Incidents",
    "# Other title",
    "- restart the proxy\n- port is 8080\n- see [c](sub/c.md)",
    "Set these:\n\n- `TIMEOUT` is 30\n- `RETRIES` is 5",
    "| host | port |\n| --- | --- |\n| alpha | 22 |\n| beta | 23 |",
    "```sh\nrecalld run notes\n```",
    "> [!warning] Never reboot the NAS on Sunday.",
    "Never reboot the NAS on Sunday.",
    "> [!warning]\n> The port of the staging database is 5432.",
    "Let op: de ketel heeft code F28 gegeven op 2026-03-02.",
    "#archived",
    "The port of the staging database is 5432. #important",
    ":::danger",
    ":::",
    "See [[a]], ![[c#Part|that]] and [[#Deploy]]. Tags: #ops/db #Ops",
    "<!-- private: the code is 1234 -->",
    "المنفذ هو 5432.",
    SAID[0],
    "Consequently, the water rose.",
    SAID[1],
    "水泵又一次坏了。\n\n因此地下室进了很多水。",
    SAID[2],
    "long " * 400 + "end.",
)
# Enough to make a thing common that few facts name besides.
CROWD = "\n\n".join(f"Room {number} of the [[Old Mill]] has `pump-one`." for number in range(5))
# Two notes with one each have related facts.
PAIRS = (
    ("The [[Old Mill]] has a new wheel.", "We met the miller at the [[Old Mill]]."),
    ("`pump-one` feeds `pump-two`.", "Beside `pump-one` stands `pump-two`."),
)
HEADS = (
    "",
    "---\ntitle: Named\ndate: 2026-02-01\ntags: [x, Y]\n---\n",
    "---\ntitle: 2026-02-03\n---\n",
    "---\naliases: [Alpha, a]\nauthor: '[[b]]'\n---\n",
    "---\ntitle: [broken\n---\n",
    "---\nimportance: 0.9\n---\n",
    "---\ntags: [archived]\n---\n",
)

notes = st.builds(
    lambda head, blocks, end: head + "\n\n".join(blocks) + end,
    st.sampled_from(HEADS),
    st.lists(st.sampled_from(BLOCKS), max_size=5),
    st.sampled_from(("\n", "", "\r\n")),
)
paths = st.sampled_from(PATHS)


class Notes(RuleBasedStateMachine):
    """Files come, change, move and go; looks happen or don't, whole or in part, and get cut short."""

    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp(prefix="recalld-", dir=QUICK_DISK))
        self.vault = self.base / "vault"
        self.vault.mkdir()
        # So that the root is never empty, which would rightly keep everything.
        (self.vault / "stays.md").write_text("This note stays. See [[a]] and [[sub/c]].\n")
        self.store = Store(self.base / "memory.db", self.vault)
        self.store.look(None)
        self.day = 0

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.base)

    def _there(self) -> list[str]:
        return [path for path in PATHS if (self.vault / path).exists()]

    @rule(path=paths, text=notes, hinted=st.booleans())
    def write(self, path: str, text: str, hinted: bool) -> None:
        target = self.vault / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
        if hinted:
            self.store.look(frozenset({path}))

    @rule(path=paths, text=notes)
    def save_over(self, path: str, text: str) -> None:
        target = self.vault / path
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(".saving.tmp")
        temporary.write_text(text)
        temporary.replace(target)

    @rule(where=st.permutations(PATHS[:4]), texts=st.sampled_from(PAIRS))
    def write_of_one_thing(self, where: list[str], texts: tuple[str, str]) -> None:
        for path, text in zip(where[:2], texts, strict=True):
            target = self.vault / path
            target.parent.mkdir(parents=True, exist_ok=True)
            before = target.read_text() if target.exists() else ""
            target.write_text(f"{before}\n\n{text}\n")
        self.store.look(None)

    @rule(
        path=st.sampled_from(PATHS[:2]),
        between=st.sampled_from(("", "```sh\nls\n```\n\n")),
    )
    def write_of_a_cause(self, path: str, between: str) -> None:
        """Two facts that stay, with and without what joins them."""
        target = self.vault / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"The pump was broken.\n\n{between}Consequently, the water rose.\n")
        self.store.look(None)

    @rule()
    def crowd_comes_or_goes(self) -> None:
        target = self.vault / "crowd.md"
        if target.exists():
            target.unlink()
        else:
            target.write_text(CROWD)
        self.store.look(None)

    @precondition(lambda self: self._there())
    @rule(data=st.data(), block=st.sampled_from(BLOCKS), drop=st.booleans())
    def edit_inside(self, data: st.DataObject, block: str, drop: bool) -> None:
        """A paragraph comes between two that stay, or goes from there."""
        target = self.vault / data.draw(st.sampled_from(self._there()))
        pieces = target.read_text().split("\n\n")
        at = data.draw(st.integers(0, len(pieces) - 1))
        pieces[at : at + drop] = [] if drop else [block]
        target.write_text("\n\n".join(pieces))
        self.store.look(None)

    @precondition(lambda self: self._there())
    @rule(data=st.data(), block=st.sampled_from(BLOCKS), first=st.booleans())
    def edit(self, data: st.DataObject, block: str, first: bool) -> None:
        target = self.vault / data.draw(st.sampled_from(self._there()))
        text = target.read_text()
        target.write_text(f"{block}\n\n{text}" if first else f"{text}\n\n{block}")

    @precondition(lambda self: self._there())
    @rule(data=st.data(), hinted=st.booleans())
    def delete(self, data: st.DataObject, hinted: bool) -> None:
        path = data.draw(st.sampled_from(self._there()))
        (self.vault / path).unlink()
        if hinted:
            self.store.look(frozenset({path}))

    @precondition(lambda self: self._there())
    @rule(data=st.data(), new=paths, hinted=st.booleans())
    def move(self, data: st.DataObject, new: str, hinted: bool) -> None:
        old = data.draw(st.sampled_from(self._there()))
        target = self.vault / new
        target.parent.mkdir(parents=True, exist_ok=True)
        (self.vault / old).replace(target)
        if hinted:
            self.store.look(frozenset({old, new}))

    @precondition(lambda self: len(self._there()) > 1)
    @rule(data=st.data())
    def swap(self, data: st.DataObject) -> None:
        one, two = data.draw(st.permutations(self._there()))[:2]
        aside = self.vault / ".aside"
        (self.vault / one).replace(aside)
        (self.vault / two).replace(self.vault / one)
        aside.replace(self.vault / two)

    @precondition(lambda self: (self.vault / "sub").exists())
    @rule()
    def rename_folder(self) -> None:
        away = self.vault / "archive"
        if away.exists():
            shutil.rmtree(away)
        (self.vault / "sub").replace(away)

    @precondition(lambda self: self._there())
    @rule(data=st.data())
    def touch(self, data: st.DataObject) -> None:
        self.day += 1
        when = 1_780_000_000 + 86_400 * self.day
        os.utime(self.vault / data.draw(st.sampled_from(self._there())), (when, when))

    @rule(full=st.booleans())
    def look(self, full: bool) -> None:
        self.store.look(None, full=full)

    @rule(steps=st.integers(0, 3))
    def restart(self, steps: int) -> None:
        """Stops in the middle of a look."""
        looking = self.store.keeper.look(None)
        for _ in range(steps):
            next(looking, None)
        looking.close()
        self.store.close()
        self.store = Store(self.base / "memory.db", self.vault)

    @invariant()
    def whole(self) -> None:
        connection = self.store.database.writer
        assert execute(connection, "PRAGMA foreign_key_check") == []
        lone = "SELECT uid FROM fact WHERE id NOT IN (SELECT fact_id FROM fact_source)"
        assert execute(connection, lone) == []


class Compared(Notes):
    """Compares after every few steps; apart from the base so that pytest runs one of them."""

    @rule()
    def equals_a_fresh_store(self) -> None:
        self.store.look(None)
        with tempfile.TemporaryDirectory(dir=QUICK_DISK) as folder:
            fresh = Store(Path(folder) / "memory.db", self.vault)
            try:
                fresh.look(None)
                said = self.store.says()
                for name, rows in fresh.says().items():
                    assert said[name] == rows, name
            finally:
                fresh.close()

    def teardown(self) -> None:
        try:
            self.equals_a_fresh_store()
        finally:
            super().teardown()


def test_moves_that_a_crash_cut_short_are_finished_by_the_next_look():
    """Both notes have their new paths, one of them still the title of its old one."""
    notes = Compared()
    try:
        for path in ("a.md", "b.md"):
            (notes.vault / path).write_text(f"The port of {path} is 5432.\n")
        notes.store.look(None)
        aside = notes.vault / ".aside"
        (notes.vault / "a.md").replace(aside)
        (notes.vault / "b.md").replace(notes.vault / "a.md")
        aside.replace(notes.vault / "b.md")
        notes.restart(1)
    finally:
        notes.teardown()


TestEqualsRebuild = pytest.mark.slow(Compared.TestCase)
TestEqualsRebuild.settings = settings(
    max_examples=30,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
