"""The cases of the disk: how notes are saved, moved, lost, found again and left alone.

Each test drives a whole daemon through its socket, and ends with `proven`: the process answers, and what status tells
is what disk and database hold.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from ingest.rules.prototypes import prototype_texts
from recalld.errors import SettingsError
from recalld.models.embedder import Matrix
from tests.fakes import WordEmbedder
from tests.growth import assert_idle
from tests.running import RunningDaemon
from tests.waiting import DEADLINE_S, soon

pytestmark = pytest.mark.slow

_PROTOTYPES = frozenset(text for _, text in prototype_texts())
_TOPICS = [
    "anchor",
    "baker",
    "candle",
    "desert",
    "engine",
    "falcon",
    "garden",
    "hammer",
    "island",
    "jacket",
    "kettle",
    "ladder",
    "magnet",
    "needle",
    "orchid",
    "pepper",
    "quartz",
    "rabbit",
    "saddle",
    "ticket",
    "uncle",
    "velvet",
    "walnut",
    "yogurt",
    "zipper",
    "bridge",
    "copper",
    "dragon",
    "eagle",
    "forest",
]


class SlowEmbedder(WordEmbedder):
    """Takes 300 ms a batch."""

    def embed_statements(self, texts: Sequence[str], starts: Sequence[int] = ()) -> Matrix:
        threading.Event().wait(0.3)
        return super().embed_statements(texts, starts)


def embedded(embedder: WordEmbedder) -> list[str]:
    """Every sentence that went to the model, without the prototypes of the categories."""
    return [text for text in embedder.statements if text not in _PROTOTYPES]


def write_topics(daemon: RunningDaemon, folder: str = "", count: int = 30) -> None:
    """Notes 1.md, 2.md, … each about a word of its own."""
    for number, topic in enumerate(_TOPICS[:count], start=1):
        daemon.write(f"{folder}{number}.md", f"The {topic} is kept in drawer number {number}.\n")


def indexed(daemon: RunningDaemon) -> set[str]:
    """The paths of all notes in the database."""
    return {path for (path,) in daemon.rows("SELECT path FROM note")}


def identities(daemon: RunningDaemon) -> set[tuple[Any, ...]]:
    """What must survive a move or an outage: the notes' and facts' own ids."""
    notes = daemon.rows("SELECT id, uid FROM note")
    return {*notes, *daemon.rows("SELECT id, uid FROM fact")}


def first(daemon: RunningDaemon, query: str) -> str | None:
    """The text of the best hit."""
    return next(iter(daemon.texts(query)), None)


def root_of(status: dict[str, Any]) -> dict[str, Any]:
    """The first root in a status."""
    return status["roots"][0]


def names(entries: list[dict[str, str]]) -> dict[str, str]:
    """Entries of `unreadable` or `skipped` as path to reason."""
    return {entry["path"]: entry["reason"] for entry in entries}


def proven(
    daemon: RunningDaemon,
    *,
    notes: set[str] | None = None,
    state: str = "ok",
    held: int = 0,
) -> dict[str, Any]:
    """Settles, and holds the status against disk and database.

    `notes` are the paths that must be indexed; None = every `.md` on the disk that is a regular file.
    """
    daemon.settle()
    # An event of the watch may still come in after the scan, and be looked at in vain.
    status = daemon.wait_for(lambda one: one["state"] == "idle" and not root_of(one)["pending"])
    assert daemon.call("ping")["pid"] == os.getpid()
    if notes is None:
        notes = {
            str(path.relative_to(daemon.vault))
            for path in daemon.vault.rglob("*.md")
            if path.is_file() and not path.is_symlink() and not path.name.startswith(".")
        }
    assert indexed(daemon) == notes
    root = root_of(status)
    assert (root["state"], root["held"], root["pending"]) == (state, held, 0)
    assert root["notes"] == status["counts"]["notes"] == len(notes)
    assert status["oldest_pending_s"] is None
    assert status["queue"] | {"embed": 0} == {"dirty": 0, "extract": 0, "parked": 0, "embed": 0}
    for table in ("block", "passage", "fact"):
        assert daemon.rows(f"SELECT count(*) FROM {table}") == [(status["counts"][f"{table}s"],)]
    assert all(stage["failed"] == 0 for stage in status["stages"].values()), status["stages"]
    if daemon.embedder is not None:
        assert status["queue"]["embed"] == 0
        bare = "SELECT text FROM statement WHERE id NOT IN (SELECT statement_id FROM vector)"
        assert daemon.rows(bare) == []
    return status


# Saving


@pytest.mark.parametrize("outside", [False, True], ids=["inside", "outside"])
def test_save_by_rename_replaces_every_trace_of_the_old_text(tmp_path: Path, outside: bool) -> None:
    """Case 1."""
    same = frozenset({"build", "assembly"})
    with RunningDaemon(tmp_path, embedder=WordEmbedder(synonyms=[same])) as daemon:
        daemon.write("a.md", "The build server is alpha.")
        proven(daemon)
        temporary = (tmp_path if outside else daemon.vault) / ".a.md.tmp"
        # No sync: the watch alone has to hear of it.
        daemon.replace("a.md", "The build server is beta.", by=temporary)
        daemon.wait_until(lambda: first(daemon, "build server") == "The build server is beta.")
        proven(daemon, notes={"a.md"})
        assert first(daemon, "assembly server") == "The build server is beta."
        for table in ("fact", "statement", "passage", "block"):
            assert daemon.rows(f"SELECT text FROM {table}") == [("The build server is beta.",)]
        assert daemon.rows("SELECT term FROM passage_vocabulary WHERE term LIKE 'alpha%'") == []
        assert daemon.rows("SELECT count(*) FROM vector") == [(1,)]
        # A row of the temporary name would have taken a number.
        assert daemon.rows("SELECT seq FROM sqlite_sequence WHERE name = 'note'") == [(1,)]


def test_forty_quick_saves_are_read_a_few_times_and_end_with_the_last(tmp_path: Path) -> None:
    """Case 3."""
    embedder = SlowEmbedder()
    # Far more than the time between two saves, also where the machine is busy.
    waits = {"ingest.quiet_ms": 1500, "ingest.longest_wait_ms": 1500}
    with RunningDaemon(tmp_path, embedder=embedder, settings=waits) as daemon:
        pace = threading.Event()
        for number in range(1, 41):
            daemon.write("a.md", f"Counter is {number}.")
            pace.wait(0.02)
        proven(daemon)
        assert daemon.rows("SELECT text FROM statement") == [("Counter is 40.",)]
        assert first(daemon, "counter") == "Counter is 40."
        assert len(embedded(embedder)) < 12
        assert len(set(embedded(embedder))) == len(embedded(embedder))


def test_steady_saving_is_still_indexed_meanwhile(tmp_path: Path) -> None:
    """Case 3: a quiet delay that every save restarts must not put a note off for ever."""
    waits = {"ingest.quiet_ms": 900, "ingest.longest_wait_ms": 900}
    with RunningDaemon(tmp_path, embedder=WordEmbedder(), settings=waits) as daemon:
        saves = 0
        seen: set[str] = set()
        # A file that changes while it is read is read again later.
        pace = threading.Event()

        def saved_and_seen() -> bool:
            nonlocal saves
            saves += 1
            daemon.write("a.md", f"Counter is {saves}.")
            pace.wait(0.1)
            seen.update(daemon.texts("counter"))
            return len(seen) >= 3

        soon(saved_and_seen)
        assert saves > len(seen)
        proven(daemon)
        assert first(daemon, "counter") == f"Counter is {saves}."


def test_burst_of_thousands_of_files_ends_equal_to_the_disk(tmp_path: Path) -> None:
    """Case 4."""
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        for number in range(2200):
            folder = daemon.vault / f"f{number % 20}"
            folder.mkdir(exist_ok=True)
            (folder / f"{number}.md").write_text(f"Item {number} is on shelf {number % 7}.")
        for number in range(300):
            (daemon.vault / f"f{number % 20}" / f"{number}.md").unlink()
        for number in range(300, 600):
            old = daemon.vault / f"f{number % 20}" / f"{number}.md"
            old.rename(old.with_name(f"renamed-{number}.md"))
        # No sync: hints, or the scan that replaces too many of them, must do.
        expected = {str(path.relative_to(daemon.vault)) for path in daemon.vault.rglob("*.md")}
        assert len(expected) == 1900
        daemon.wait_for(
            lambda status: status["state"] == "idle" and root_of(status)["notes"] == len(expected),
            4 * DEADLINE_S,
        )
        proven(daemon, notes=expected)
        assert daemon.texts("item 2199")[0] == "Item 2199 is on shelf 1."
        assert not any("Item 17 " in text for text in daemon.texts("item 17"))


def test_lost_events_cause_a_scan_that_status_shows(tmp_path: Path) -> None:
    """Case 4: the overflow itself, as the watch passes it on, and as the schedule mends it."""
    embedder = SlowEmbedder()
    with RunningDaemon(tmp_path, embedder=embedder) as daemon:
        proven(daemon)
        before = embedded(embedder)
        assert daemon.app is not None
        ingest = daemon.app._methods._ingest  # type: ignore[union-attr]
        # What is written while nothing is heard: in a folder that only a scan can find.
        daemon.app._status._watches.stop()  # type: ignore[union-attr]
        write_topics(daemon, "deep/er/")
        assert embedded(embedder) == before
        ingest.overflow("vault")
        status = daemon.call("status")
        assert (status["state"], status["queue"]["dirty"] > 0) == ("busy", True)
        daemon.wait_for(lambda status: status["state"] == "idle")
        assert len(indexed(daemon)) == 30
    with RunningDaemon(
        tmp_path, embedder=embedder, settings={"schedule.scan_every_min": 0.01}
    ) as d:
        d.settle()
        d.app._status._watches.stop()  # type: ignore[union-attr]
        d.write("late.md", "The lighthouse blinks twice.")
        d.wait_until(lambda: first(d, "lighthouse") == "The lighthouse blinks twice.")


# Moves


def test_renamed_folder_keeps_its_notes_without_the_model(tmp_path: Path) -> None:
    """Case 5."""
    embedder = WordEmbedder()
    with RunningDaemon(tmp_path, embedder=embedder) as daemon:
        for number in range(1, 51):
            daemon.write(f"p/{number}.md", f"Shelf {number} holds box {number * 7}.")
        daemon.write("index.md", "See [the seventh](q/7.md) and [[p/8]] for more.")
        proven(daemon)
        before, ids = embedded(embedder), identities(daemon)
        (daemon.vault / "p").rename(daemon.vault / "q")
        daemon.wait_until(lambda: "q/50.md" in indexed(daemon))
        proven(daemon)
        assert indexed(daemon) == {"index.md", *(f"q/{number}.md" for number in range(1, 51))}
        assert (embedded(embedder), identities(daemon)) == (before, ids)
        links = daemon.rows(
            "SELECT target, path FROM note_link LEFT JOIN note ON note.id = to_note ORDER BY line"
        )
        assert dict(links) == {"q/7.md": "q/7.md", "p/8": None}

        daemon.write("q/7.md", "Shelf 7 was emptied by Norbert.")
        daemon.wait_until(lambda: "Shelf 7 was emptied by Norbert." in daemon.texts("Norbert"))
        # Words are found before their vectors are made.
        daemon.wait_until(lambda: len(embedded(embedder)) > len(before))
        assert embedded(embedder) == [*before, "Shelf 7 was emptied by Norbert."]

        (daemon.vault / "q").rename(daemon.vault / "p")
        (daemon.vault / "p").rename(daemon.vault / "r")
        (daemon.vault / "r").rename(daemon.vault / "p")
        proven(daemon)
        daemon.write("p/new.md", "The trapdoor opens inwards.")
        daemon.wait_until(lambda: first(daemon, "trapdoor") == "The trapdoor opens inwards.")
        proven(daemon)
        assert len(embedded(embedder)) == len(before) + 2


def test_notes_that_change_names_with_one_another_keep_their_facts(tmp_path: Path) -> None:
    """Case 5: a swap, and a chain where each takes the place of the next."""
    embedder = WordEmbedder()
    with RunningDaemon(tmp_path, embedder=embedder) as daemon:
        # With headings: what only its file's name explains is another fact under another name.
        for number, topic in enumerate(_TOPICS[:6], start=1):
            sentence = f"The {topic} is kept in drawer number {number}."
            daemon.write(f"{number}.md", f"# About the {topic}\n\n{sentence}\n")
        proven(daemon)
        before, ids = embedded(embedder), identities(daemon)
        (daemon.vault / "1.md").rename(daemon.vault / "spare")
        (daemon.vault / "2.md").rename(daemon.vault / "1.md")
        (daemon.vault / "spare").rename(daemon.vault / "2.md")
        for number in range(6, 2, -1):
            (daemon.vault / f"{number}.md").rename(daemon.vault / f"{number + 1}.md")
        proven(daemon)
        assert (embedded(embedder), identities(daemon)) == (before, ids)
        hit = daemon.recall("anchor drawer")[0]
        assert (hit["text"], hit["source"]["path"]) == (
            "The anchor is kept in drawer number 1.",
            "2.md",
        )


def test_folder_and_file_moved_out_are_gone_and_heard_of_no_more(tmp_path: Path) -> None:
    """Case 6."""
    outside = tmp_path / "outside"
    outside.mkdir()
    embedder = WordEmbedder()
    with RunningDaemon(tmp_path, embedder=embedder) as daemon:
        daemon.write("priv/a.md", "The diary is under the mattress.")
        daemon.write("priv/b.md", "The spare key hangs behind the clock.")
        daemon.write("single.md", "The telescope needs a new lens.")
        daemon.write("stays.md", "The kettle whistles at noon.")
        proven(daemon)
        (daemon.vault / "priv").rename(outside / "priv")
        (daemon.vault / "single.md").rename(outside / "single.md")
        daemon.wait_until(lambda: indexed(daemon) == {"stays.md"})
        before = embedded(embedder)
        for moved in ("priv/a.md", "single.md"):
            with (outside / moved).open("a") as file:
                file.write("\nThe password of the wardrobe is tangerine.\n")
        (outside / "priv" / "c.md").write_text("The tangerine is rotten.")
        proven(daemon, notes={"stays.md"})
        for query in ("tangerine wardrobe password", "diary mattress", "spare key", "telescope"):
            assert daemon.texts(query) == []
        assert embedded(embedder) == before
        words = "SELECT term FROM passage_vocabulary WHERE term IN ('tangerine', 'mattress')"
        assert daemon.rows(words) == []


def test_changes_made_while_stopped_are_found(tmp_path: Path) -> None:
    """Case 8."""
    embedder = WordEmbedder()
    daemon = RunningDaemon(tmp_path, embedder=embedder)
    with daemon:
        daemon.write("a.md", "The antelope sleeps standing.")
        # With a heading: what only its file's name explains is another fact under another name.
        daemon.write("b.md", "# Badgers\n\nThe badger digs at dusk.")
        daemon.write("d.md", "The dolphin weighs 310 kilos.")
        daemon.write("e.md", "The elephant eats grass.")
        daemon.write("f.md", "The flamingo is pink.")
        proven(daemon)
        badger = daemon.recall("badger dusk")[0]["anchor"]
    (daemon.vault / "a.md").unlink()
    (daemon.vault / "b.md").rename(daemon.vault / "c.md")
    d = daemon.vault / "d.md"
    times = d.stat()
    d.write_text("The dolphin weighs 320 kilos.")
    os.utime(d, ns=(times.st_atime_ns, times.st_mtime_ns))
    e = daemon.vault / "e.md"
    e.unlink()
    e.write_text("The elephant eats leaves.")
    os.utime(e, (1_000_000_000, 1_000_000_000))
    before = embedded(embedder)
    with daemon:
        # Before the first scan is over, it does not claim to be up to date.
        status = daemon.call("status")
        assert status["state"] in ("catching_up", "idle")
        proven(daemon)
        assert "antelope" not in (first(daemon, "antelope standing") or "")
        hit = daemon.recall("badger dusk")[0]
        assert (hit["anchor"], hit["source"]["path"]) == (badger, "c.md")
        assert first(daemon, "dolphin weighs") == "The dolphin weighs 320 kilos."
        assert first(daemon, "elephant eats") == "The elephant eats leaves."
        new = embedded(embedder)[len(before) :]
        assert sorted(new) == ["The dolphin weighs 320 kilos.", "The elephant eats leaves."]
    # Restored as they were, with copies in place of the files: known words, so no model.
    daemon.write("a.md", "The antelope sleeps standing.")
    daemon.write("e.md", "The elephant eats grass.")
    copy = daemon.vault / "copy"
    shutil.copy2(daemon.vault / "f.md", copy)
    copy.replace(daemon.vault / "f.md")
    before = embedded(embedder)
    with daemon:
        proven(daemon)
        assert first(daemon, "antelope standing") == "The antelope sleeps standing."
        assert first(daemon, "elephant eats") == "The elephant eats grass."
        assert embedded(embedder) == before
    before = embedded(embedder)
    with daemon:
        proven(daemon)
        assert embedded(embedder) == before


def test_a_change_that_no_stat_shows_is_found_by_the_full_hash(tmp_path: Path) -> None:
    """Case 8: times and inode as before; only the content tells. The store's stat is made to agree."""
    daemon = RunningDaemon(tmp_path, embedder=WordEmbedder())
    with daemon:
        daemon.write("d.md", "The dolphin weighs 310 kilos.")
        proven(daemon)
    d = daemon.vault / "d.md"
    d.write_text("The dolphin weighs 320 kilos.")
    stat = d.stat()
    database = apsw.Connection(str(daemon.data / "memory.db"))
    database.execute(
        "UPDATE note SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?",
        (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino),
    ).fetchall()
    database.close()
    with daemon:
        daemon.settle()
        assert first(daemon, "dolphin weighs") == "The dolphin weighs 310 kilos."
        daemon.call("sync", full=True, wait=True)
        assert first(daemon, "dolphin weighs") == "The dolphin weighs 320 kilos."
        proven(daemon)


def test_status_says_catching_up_until_the_first_scan_is_done(tmp_path: Path) -> None:
    """Case 8."""
    daemon = RunningDaemon(tmp_path, embedder=SlowEmbedder())
    write_topics(daemon)
    with daemon:
        status = daemon.call("status")
        assert status["state"] == "catching_up"
        assert "catching_up" in daemon.call("recall", query="anchor")["degraded"]
        proven(daemon)
        assert daemon.call("recall", query="anchor")["degraded"] == []


# Roots that go away


def test_empty_folder_in_place_of_the_root_deletes_nothing(tmp_path: Path) -> None:
    """Case 9 (a): while stopped, over two starts, until the folder comes back."""
    embedder = WordEmbedder()
    daemon = RunningDaemon(tmp_path, embedder=embedder)
    with daemon:
        write_topics(daemon)
        thirty = indexed_after(daemon)
        before, ids = embedded(embedder), identities(daemon)
    away = tmp_path / "away"
    daemon.vault.rename(away)
    daemon.vault.mkdir()
    for _ in range(2):
        with daemon:
            status = proven(daemon, notes=thirty, state="unavailable", held=30)
            assert root_of(status)["hint"]
            assert first(daemon, "walnut drawer") == "The walnut is kept in drawer number 23."
    daemon.vault.rmdir()
    with daemon:
        proven(daemon, notes=thirty, state="unavailable")
    away.rename(daemon.vault)
    with daemon:
        proven(daemon, notes=thirty)
        assert (embedded(embedder), identities(daemon)) == (before, ids)
        assert root_of(daemon.call("status"))["hint"] is None


def indexed_after(daemon: RunningDaemon) -> set[str]:
    """The paths of all notes once everything has settled."""
    proven(daemon)
    return indexed(daemon)


def test_root_swapped_while_running_is_unavailable_and_then_as_before(tmp_path: Path) -> None:
    """Case 9 (b)."""
    embedder = WordEmbedder()
    with RunningDaemon(tmp_path, embedder=embedder) as daemon:
        write_topics(daemon)
        thirty = indexed_after(daemon)
        before, ids = embedded(embedder), identities(daemon)
        away = tmp_path / "away"
        daemon.vault.rename(away)
        daemon.wait_for(lambda status: root_of(status)["state"] == "unavailable")
        daemon.vault.mkdir()
        proven(daemon, notes=thirty, state="unavailable", held=30)
        # What happens in the folder that was moved away is none of our business now.
        (away / "1.md").write_text("The anchor is kept by the harbour master.")
        proven(daemon, notes=thirty, state="unavailable", held=30)
        assert first(daemon, "anchor drawer") == "The anchor is kept in drawer number 1."
        (away / "1.md").write_text("The anchor is kept in drawer number 1.\n")
        daemon.vault.rmdir()
        away.rename(daemon.vault)
        daemon.wait_for(lambda status: root_of(status)["state"] == "ok")
        proven(daemon, notes=thirty)
        assert (embedded(embedder), identities(daemon)) == (before, ids)
        # And it is heard again.
        daemon.write("1.md", "The anchor was sold to Wilhelmina.")
        daemon.wait_until(
            lambda: first(daemon, "Wilhelmina") == "The anchor was sold to Wilhelmina."
        )
        proven(daemon, notes=thirty)


def test_root_deleted_and_made_anew_is_watched_and_its_old_notes_held(tmp_path: Path) -> None:
    """Case 9 (c)."""
    embedder = WordEmbedder()
    daemon = RunningDaemon(tmp_path, embedder=embedder)
    with daemon:
        write_topics(daemon)
        thirty = indexed_after(daemon)
        before = embedded(embedder)
        # At once: where they go slowly, the first few are notes that somebody deleted.
        daemon.vault.rename(tmp_path / "gone")
        shutil.rmtree(tmp_path / "gone")
        daemon.wait_for(lambda status: root_of(status)["state"] in ("unavailable", "held"))
        proven(daemon, notes=thirty, state="unavailable")
        daemon.vault.mkdir()
        for name, sentence in (
            ("x", "The xylophone has 44 bars."),
            ("y", "The yacht leaks at the bow."),
            ("z", "The zebra limps."),
        ):
            daemon.write(f"{name}.md", sentence)
        daemon.wait_until(lambda: first(daemon, "zebra limps") == "The zebra limps.")
        proven(daemon, notes={*thirty, "x.md", "y.md", "z.md"}, state="held", held=30)
        assert first(daemon, "walnut drawer") == "The walnut is kept in drawer number 23."
        # The watch is a new one: heard without a sync.
        daemon.write("z.md", "The zebra gallops.")
        daemon.wait_until(lambda: first(daemon, "zebra") == "The zebra gallops.")
    with daemon:
        proven(daemon, notes={*thirty, "x.md", "y.md", "z.md"}, state="held", held=30)
        assert len(embedded(embedder)) == len(before) + 4
        daemon.call("sync", confirm_deletions=["vault"], wait=True)
        proven(daemon, notes={"x.md", "y.md", "z.md"})
        assert "walnut" not in (first(daemon, "walnut drawer") or "")


@pytest.mark.parametrize("restart", [False, True], ids=["running", "restarted"])
def test_mass_deletion_is_held_until_it_is_confirmed(tmp_path: Path, restart: bool) -> None:
    """Case 9 (d): by the command."""
    embedder = WordEmbedder()
    daemon = RunningDaemon(tmp_path, embedder=embedder)
    with daemon:
        write_topics(daemon)
        thirty = indexed_after(daemon)
        if not restart:
            delete_25(daemon)
            daemon.wait_for(lambda status: root_of(status)["state"] == "held")
            proven(daemon, notes=thirty, state="held", held=25)
    if restart:
        delete_25(daemon)
    with daemon:
        status = proven(daemon, notes=thirty, state="held", held=25)
        assert "--confirm-deletions vault" in root_of(status)["hint"]
        assert first(daemon, "anchor drawer") == "The anchor is kept in drawer number 1."
        # Held notes do not hold up the others.
        daemon.write("30.md", "The forest burned down.")
        daemon.wait_until(lambda: first(daemon, "forest burned") == "The forest burned down.")
        daemon.call("sync", confirm_deletions=["vault"], wait=True)
        status = proven(daemon, notes={f"{number}.md" for number in range(26, 31)})
        assert root_of(status)["hint"] is None
        assert "anchor" not in (first(daemon, "anchor drawer") or "")
        before = embedded(embedder)
        write_topics(daemon, count=25)
        proven(daemon, notes=thirty)
        assert embedded(embedder) == before


def delete_25(daemon: RunningDaemon) -> None:
    """Deletes the first 25 of 30 notes."""
    for number in range(1, 26):
        (daemon.vault / f"{number}.md").unlink()


def test_mass_deletion_is_done_after_its_grace_period(tmp_path: Path) -> None:
    """Case 9 (d): by time, which a restart does not set back."""
    grace = {"ingest.deletion_grace_h": 3 / 3600, "schedule.scan_every_min": 0.005}
    daemon = RunningDaemon(tmp_path, embedder=WordEmbedder(), settings=grace)
    with daemon:
        write_topics(daemon)
        thirty = indexed_after(daemon)
        delete_25(daemon)
        began = time.time()
        daemon.wait_for(lambda status: root_of(status)["state"] == "held")
        assert indexed(daemon) == thirty
    with daemon:
        daemon.wait_for(lambda status: root_of(status)["notes"] == 5)
        assert 3 < time.time() - began < 6
        proven(daemon, notes={f"{number}.md" for number in range(26, 31)})


def test_deletion_in_portions_counts_as_one(tmp_path: Path) -> None:
    """Case 9 (d): nine, then nine more, then seven."""
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        write_topics(daemon)
        proven(daemon)
        for portion in (range(1, 10), range(10, 19), range(19, 26)):
            for number in portion:
                (daemon.vault / f"{number}.md").unlink()
            daemon.settle()
        status = daemon.settle()
        assert root_of(status)["state"] == "held"
        assert root_of(status)["notes"] == 30 - 9
        assert root_of(status)["held"] == 16


# Links and roots in roots


def test_links_end_are_counted_once_and_lead_nowhere_outside(tmp_path: Path) -> None:
    """Case 11."""
    outside = tmp_path / "other"
    outside.mkdir()
    (outside / "secret.md").write_text("The passport is in the freezer.")
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        daemon.write("a.md", "The ferry leaves at seven.")
        (daemon.vault / "loop").symlink_to(".")
        (daemon.vault / "self.md").symlink_to("self.md")
        (daemon.vault / "b.md").symlink_to("a.md")
        (daemon.vault / "out").symlink_to(outside)
        (daemon.vault / "out.md").symlink_to(outside / "secret.md")
        (daemon.vault / "dead.md").symlink_to("missing")
        (daemon.vault / ".#a.md").symlink_to("user@host.123")
        status = proven(daemon, notes={"a.md"})
        assert names(root_of(status)["skipped"]) == {
            "loop": "link_inside",
            "self.md": "link_loop",
            "b.md": "link_inside",
            "out": "link_outside",
            "out.md": "link_outside",
            "dead.md": "link_dead",
        }
        hits = daemon.recall("ferry seven")
        assert [(hit["source"]["path"], hit["source"]["more"]) for hit in hits] == [("a.md", 0)]
        assert daemon.texts("passport freezer") == []
        # Through a link: only the file itself is looked at.
        (daemon.vault / "b.md").write_text("The ferry leaves at eight.")
        (outside / "secret.md").write_text("The passport is in the oven.")
        daemon.wait_until(lambda: first(daemon, "ferry") == "The ferry leaves at eight.")
        daemon.call("sync", paths=["loop/a.md", "out/secret.md", "b.md"], wait=True)
        proven(daemon, notes={"a.md"})
        assert daemon.texts("passport oven") == []


def test_root_that_is_a_link_is_watched_through_it(tmp_path: Path) -> None:
    """Case 11."""
    (tmp_path / "vault").mkdir()
    link = tmp_path / "link"
    link.symlink_to("vault")
    with RunningDaemon(tmp_path, embedder=WordEmbedder(), roots=[link]) as daemon:
        daemon.write("sub/a.md", "The ferry leaves at seven.")
        daemon.wait_until(lambda: first(daemon, "ferry seven") == "The ferry leaves at seven.")
        proven(daemon)


@pytest.mark.parametrize("second", ["vault/inner", "link", "."])
def test_overlapping_roots_are_refused_with_both_names(tmp_path: Path, second: str) -> None:
    """Case 11: one inside the other, the same through a link, one around the other."""
    (tmp_path / "vault" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to("vault")
    roots = [tmp_path / "vault", tmp_path / second]
    with pytest.raises(SettingsError) as refused:
        RunningDaemon(tmp_path, roots=roots)
    told = str(refused.value)
    assert str(roots[0]) in told
    assert str(roots[1]) in told


# Idleness


class Activity:
    """What this process opened and listed, and the SQL that ran, while `recording`."""

    def __init__(self) -> None:
        self.recording = False
        self.files: list[tuple[str, str]] = []
        self.sql: list[str] = []

    def heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.recording and event in ("open", "os.scandir", "os.listdir"):
            self.files.append((event, str(arguments[0])))

    def watch(self, connection: apsw.Connection) -> None:
        def ran(told: dict[str, Any]) -> None:
            if self.recording:
                self.sql.append(str(told.get("sql")))

        connection.trace_v2(apsw.SQLITE_TRACE_STMT, ran)


_ACTIVITY = Activity()
_AUDITED = threading.Event()


@contextmanager
def all_connections_traced() -> Iterator[Activity]:
    """Traces every SQLite connection that is opened within, and every file this process opens."""
    # An audit hook can't be taken away, so it is added once and listens only when asked to.
    if not _AUDITED.is_set():
        sys.addaudithook(_ACTIVITY.heard)
        _AUDITED.set()
    _ACTIVITY.files, _ACTIVITY.sql = [], []
    apsw.connection_hooks.append(_ACTIVITY.watch)
    try:
        yield _ACTIVITY
    finally:
        _ACTIVITY.recording = False
        apsw.connection_hooks.remove(_ACTIVITY.watch)


def test_idle_daemon_reads_nothing_asks_nothing_and_queues_nothing(tmp_path: Path) -> None:
    """Case 14: with database, log and socket inside the watched root."""
    vault = tmp_path / "vault"
    embedder = WordEmbedder()
    settings = {
        "schedule.watch_check_every_s": 0.2,
        "daemon.socket": str(vault / "run.md.sock"),
    }
    with all_connections_traced() as activity:
        daemon = RunningDaemon(tmp_path, embedder=embedder, settings=settings, data=vault / "data")
        for number in range(100):
            daemon.write(f"{number % 7}/{number}.md", f"Parcel {number} weighs {number} grams.")
        with daemon:
            daemon.settle()
            daemon.wait_for(lambda status: status["evidence"]["measured"], 300)
            (daemon.data / "recalld.log").write_text("a line\n")
            (daemon.data / "copy.md").write_text("The database is no note.")
            daemon.texts("parcel 7")
            status = proven(daemon, notes={f"{n % 7}/{n}.md" for n in range(100)})
            assert status["database"]["path"].startswith(str(vault))
            assert daemon.app is not None
            ingest = daemon.app._methods._ingest  # type: ignore[union-attr]
            # The instruments work: a file opened and a statement run are heard.
            activity.recording = True
            daemon.files()
            daemon.texts("parcel 8")
            assert activity.files
            assert activity.sql
            daemon.wait_until(lambda: any("UPDATE fact" in sql for sql in activity.sql))
            # The count of that recall is committed behind the answer: let it end.
            daemon.app._methods._writes.call(lambda _: None)  # type: ignore[union-attr]

            def idles() -> bool:
                """Whether nothing at all happens in a while, in which the watch is checked some ten times."""
                scanned, took = ingest.scan.last_ok, ingest.take.last_ok
                activity.files, activity.sql = [], []
                calls = len(embedder.statements)
                assert_idle(2)
                assert ingest.waiting().dirty == 0
                return (activity.files, activity.sql) == ([], []) and (
                    (ingest.scan.last_ok, ingest.take.last_ok, len(embedder.statements))
                    == (scanned, took, calls)
                )

            handles = len(list(Path("/proc/self/fd").iterdir()))
            # What came before may still have an end, and the watch an event that is looked at in vain.
            soon(idles)
            activity.recording = False
            assert len(list(Path("/proc/self/fd").iterdir())) <= handles
            assert daemon.texts("database is no note") == []
    assert not _ACTIVITY.recording


def test_status_of_an_idle_daemon_costs_no_query(tmp_path: Path) -> None:
    """Case 14: whoever watches the status must not keep the disk busy."""
    with (
        all_connections_traced() as activity,
        RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon,
    ):
        write_topics(daemon)
        proven(daemon)

        def costs_nothing() -> bool:
            activity.sql = []
            daemon.call("status")
            activity.recording = True
            for _ in range(5):
                assert daemon.call("status")["state"] == "idle"
            activity.recording = False
            return not activity.sql

        # An event of the watch may still come in, and be looked at in vain.
        soon(costs_nothing)


# Half-written notes


def test_emptied_note_that_comes_back_within_the_grace_costs_no_model(tmp_path: Path) -> None:
    """Case 15."""
    embedder = WordEmbedder()
    with RunningDaemon(
        tmp_path, embedder=embedder, settings={"ingest.empty_grace_s": 3600}
    ) as daemon:
        daemon.write("a.md", "The ferry leaves at seven.\n\nThe harbour is closed on Sunday.\n")
        proven(daemon)
        before, ids = embedded(embedder), identities(daemon)
        with (daemon.vault / "a.md").open("w") as file:
            # It is looked at while empty, and left alone.
            daemon.wait_for(lambda status: root_of(status)["pending"] == 1)
            for _ in range(3):
                daemon.call("sync")
                assert first(daemon, "harbour Sunday") == "The harbour is closed on Sunday."
            status = daemon.wait_for(lambda status: root_of(status)["pending"] == 1)
            assert status["oldest_pending_s"] is not None
            file.write("The ferry leaves at seven.\n\nThe harbour is closed on Sunday.\n")
        proven(daemon)
        assert (embedded(embedder), identities(daemon)) == (before, ids)


def test_emptied_note_that_comes_back_later_costs_no_model(tmp_path: Path) -> None:
    """Case 15: after the grace its facts go, and come back from what is kept of them."""
    embedder = WordEmbedder()
    with RunningDaemon(tmp_path, embedder=embedder) as daemon:
        daemon.write("a.md", "The ferry leaves at seven.\n")
        proven(daemon)
        before = embedded(embedder)
        daemon.write("a.md", "")
        proven(daemon)
        assert daemon.texts("ferry seven") == []
        daemon.write("a.md", "The ferry leaves at seven.\n")
        proven(daemon)
        assert first(daemon, "ferry seven") == "The ferry leaves at seven."
        assert embedded(embedder) == before


def test_note_written_in_pieces_ends_whole(tmp_path: Path) -> None:
    """Case 15: five pieces with pauses longer than the quiet delay."""
    embedder = WordEmbedder()
    sentences = [
        f"The {topic} is kept in drawer number {n}." for n, topic in enumerate(_TOPICS[:20])
    ]
    text = "\n\n".join(sentences)
    with RunningDaemon(tmp_path, embedder=embedder) as daemon:
        daemon.write("a.md", text)
        proven(daemon)
        before = embedded(embedder)
        pace = threading.Event()
        size = len(text) // 5 + 1
        with (daemon.vault / "a.md").open("w") as file:
            for start in range(0, len(text), size):
                pace.wait(0.3)
                file.write(text[start : start + size])
                file.flush()
        proven(daemon)
        assert {row[0] for row in daemon.rows("SELECT text FROM statement")} == set(sentences)
        assert {row[0] for row in daemon.rows("SELECT text FROM fact")} == set(sentences)
        # Nothing that was known went to the model again; torn sentences may have.
        assert not set(embedded(embedder)[len(before) :]) & set(sentences)


# An emptied note


def test_old_facts_go_whatever_little_a_note_still_says(tmp_path: Path) -> None:
    """Case 32."""
    facts = ["The ferry leaves at seven.", "The harbour closes on Sunday.", "The pilot is Ingrid."]
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        for little in ("", "# Only a heading\n", "   \n\n", "---\ntitle: t\n---\n", "Bees sleep."):
            daemon.write("a.md", "\n\n".join(facts))
            proven(daemon)
            assert first(daemon, "ferry seven") == facts[0]
            daemon.write("a.md", little)
            proven(daemon)
            for query in ("ferry seven", "harbour Sunday", "pilot Ingrid"):
                assert daemon.texts(query) == []
            stored = {row[0] for row in daemon.rows("SELECT text FROM fact")}
            assert stored <= {little}
            stored = {row[0] for row in daemon.rows("SELECT text FROM statement")}
            assert not stored & set(facts)
        assert first(daemon, "bees sleep") == "Bees sleep."


def test_only_an_emptied_note_waits_for_its_grace(tmp_path: Path) -> None:
    """Case 32: a note that was always empty, and one with a heading only, settle at once."""
    with RunningDaemon(tmp_path, embedder=None, settings={"ingest.empty_grace_s": 3600}) as daemon:
        daemon.write("empty.md", "")
        daemon.write("heading.md", "# Alone\n")
        proven(daemon)
