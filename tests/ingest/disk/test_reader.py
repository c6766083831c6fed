from __future__ import annotations

import os
import socket
from hashlib import blake2b
from pathlib import Path

import pytest

from ingest.disk.reader import NoteText, Unread, hash_content, read_note, stat_of
from tests.ingest.writing import writing
from tests.waiting import soon

LIMIT = 1_000_000
NOBODY = 65534


def reason(result: NoteText | Unread) -> str:
    assert isinstance(result, Unread), result
    result.message.encode()
    return result.reason


def test_note_is_read_with_hash_and_stat_of_its_bytes(tmp_path: Path) -> None:
    note = tmp_path / "a" / "Café #1 [x] 100%.md"
    note.parent.mkdir()
    note.write_bytes(b"\xef\xbb\xbfThe port is 5432.\r\n")
    result = read_note(tmp_path, "a/Café #1 [x] 100%.md", max_bytes=LIMIT)
    assert result == NoteText(
        text="The port is 5432.\r\n",
        content_hash=blake2b(note.read_bytes(), digest_size=16).digest(),
        stat=stat_of(note.stat()),
    )


def test_empty_note_is_text(tmp_path: Path) -> None:
    (tmp_path / "a.md").touch()
    result = read_note(tmp_path, "a.md", max_bytes=LIMIT)
    assert isinstance(result, NoteText)
    assert result.text == ""


@pytest.mark.parametrize(
    "relative", ["no.md", "no/such.md", "n" * 300 + ".md", "nul\0.md", "a.md/b.md"]
)
def test_what_is_not_there_is_missing(tmp_path: Path, relative: str) -> None:
    (tmp_path / "a.md").touch()
    assert reason(read_note(tmp_path, relative, max_bytes=LIMIT)) == "missing"


def test_missing_root_is_missing(tmp_path: Path) -> None:
    assert reason(read_note(tmp_path / "gone", "a.md", max_bytes=LIMIT)) == "missing"


@pytest.mark.parametrize(
    "relative", ["../secret.md", "/etc/hostname", "a/../../secret.md", "", "a//b.md", "./a.md"]
)
def test_paths_that_are_not_below_the_root_are_refused(tmp_path: Path, relative: str) -> None:
    root = tmp_path / "V"
    (root / "a").mkdir(parents=True)
    (tmp_path / "secret.md").write_text("secret")
    assert reason(read_note(root, relative, max_bytes=LIMIT)) == "outside_root"


def test_links_are_not_read(tmp_path: Path) -> None:
    root, outside = tmp_path / "V", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "s.md").write_text("secret")
    (root / "a.md").write_text("a")
    (root / "file.md").symlink_to(outside / "s.md")
    (root / "folder").symlink_to(outside)
    (root / "alias.md").symlink_to("a.md")
    (root / "loop.md").symlink_to("loop.md")
    assert reason(read_note(root, "file.md", max_bytes=LIMIT)) == "outside_root"
    assert reason(read_note(root, "folder/s.md", max_bytes=LIMIT)) == "outside_root"
    assert reason(read_note(root, "alias.md", max_bytes=LIMIT)) == "not_regular"
    assert reason(read_note(root, "loop.md", max_bytes=LIMIT)) == "not_regular"


def test_root_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "V").mkdir()
    (tmp_path / "V" / "a.md").write_text("a")
    (tmp_path / "link").symlink_to("V")
    assert isinstance(read_note(tmp_path / "link", "a.md", max_bytes=LIMIT), NoteText)


def test_pipes_sockets_and_folders_are_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.md")
        for name in ("pipe.md", "folder.md", "socket.md"):
            assert reason(read_note(tmp_path, name, max_bytes=LIMIT)) == "not_regular"


def test_limit_is_inclusive_and_nothing_is_cut(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"x" * 100)
    assert reason(read_note(tmp_path, "a.md", max_bytes=99)) == "too_large"
    result = read_note(tmp_path, "a.md", max_bytes=100)
    assert isinstance(result, NoteText)
    assert len(result.text) == 100


def test_damaged_and_undecodable_names_are_told(tmp_path: Path) -> None:
    (tmp_path / "nul.md").write_bytes(bytes(4096))
    (tmp_path / os.fsdecode(b"\xff.md")).touch()
    assert reason(read_note(tmp_path, "nul.md", max_bytes=LIMIT)) == "damaged"
    assert (
        reason(read_note(tmp_path, os.fsdecode(b"\xff.md"), max_bytes=LIMIT)) == "undecodable_name"
    )


def test_a_file_that_grows_or_shrinks_while_read_is_refused() -> None:
    # /proc's files have size 0 and content: what is read never agrees with the stat.
    assert (
        reason(read_note(Path("/proc/self"), "status", max_bytes=LIMIT)) == "changed_while_reading"
    )
    found = read_note(Path("/proc/self"), "status", max_bytes=LIMIT, may_grow=True)
    assert reason(found) == "changed_while_reading"


@pytest.mark.slow
def test_of_a_note_that_keeps_growing_the_whole_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    lines = "".join(f"Line {n} says café.\n" for n in range(20))
    path.write_text(lines + "Half a li")
    with writing(path, "f.seek(0, 2); f.write(b'ne.\\nHalf a li'); time.sleep(0.001)"):
        # Between two writes that are far apart it is steady, and its half line is all there is of it.
        grown: list[NoteText] = []

        def is_read_growing() -> bool:
            result = read_note(tmp_path, "a.md", max_bytes=LIMIT, may_grow=True)
            if isinstance(result, NoteText) and result.text.endswith("\n"):
                grown.append(result)
            return bool(grown)

        soon(is_read_growing)
    for result in grown:
        assert result.text.startswith(lines)
        assert result.content_hash == hash_content(result.text.encode())
        assert result.stat.size > len(result.text.encode())
        assert result.stat != stat_of(path.stat())


@pytest.mark.slow
def test_a_note_under_constant_writing_is_read_whole_in_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("1" * 300_000)
    with writing(path, "f.seek(0); f.write(str(i % 10).encode() * 300_000)"):
        results = [read_note(tmp_path, "a.md", max_bytes=LIMIT) for _ in range(50)]
    assert {r.reason for r in results if isinstance(r, Unread)} <= {"changed_while_reading"}
    # A writer that the system holds up in the middle of a write shows no sign of it; when it goes on,
    # that is another change, and the note is read again.
    path.write_text("2" * 300_000)
    whole = read_note(tmp_path, "a.md", max_bytes=LIMIT)
    assert isinstance(whole, NoteText)
    assert set(whole.text) == {"2"}


def test_unreadable_file_is_told_from_a_missing_one(tmp_path: Path) -> None:
    if os.getuid() != 0:
        (tmp_path / "a.md").touch(mode=0)
        assert reason(read_note(tmp_path, "a.md", max_bytes=LIMIT)) == "unreadable"
        return
    # Root may read everything: look as somebody else.
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & 0o005 != 0o005 and folder.name.startswith(
            ("pytest-", "popen-", "test_")
        ):
            folder.chmod(0o755)
    (tmp_path / "a.md").touch(mode=0)
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "b.md").touch()
    (tmp_path / "s").chmod(0)
    os.seteuid(NOBODY)
    try:
        results = [read_note(tmp_path, name, max_bytes=LIMIT) for name in ("a.md", "s/b.md")]
    finally:
        os.seteuid(0)
    assert [reason(result) for result in results] == ["unreadable", "unreadable"]
