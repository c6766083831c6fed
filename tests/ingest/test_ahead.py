"""Notes understood by another process: the same as here, or left to be understood here."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import pytest

from ingest.ahead import ReadAhead
from ingest.disk.reader import NoteText, read_note
from ingest.understanding import understand
from tests.ingest.keeping import Vault

NOTES = {
    "a.md": "---\ndate: 2026-03-02\n---\n# Gateway\n\nThe gateway failed yesterday.\n",
    "b.md": "# 记忆\n\n部署在昨天失败了。\n\n| 名 | 口 |\n|---|---|\n| web | 80 |\n",
    "c.md": "- use tabs\n  - never spaces\n",
    "d.md": "",
    "map/e.md": "See [[a]]. De uitrol faalde.\n",
}


def taken(vault: Vault) -> list[object]:
    vault.look()
    assert vault.keeper.not_ahead is None
    return list(vault.content())


def ahead_of(vault: Vault, *command: str) -> ReadAhead:
    reader = partial(read_note, vault.path, max_bytes=100_000)
    return ReadAhead(sorted(NOTES), reader, *([command] if command else []))


def text_of(vault: Vault, path: str) -> NoteText:
    text = read_note(vault.path, path, max_bytes=100_000)
    assert isinstance(text, NoteText)
    return text


@pytest.fixture
def vault(tmp_path):
    with Vault(tmp_path) as made:
        for path, text in NOTES.items():
            made.write(path, text)
        yield made


@pytest.mark.slow
def test_index_is_the_same_whoever_understands_the_notes(tmp_path):
    contents = []
    for name, least in (("here", 1_000), ("there", 1)):
        with Vault(tmp_path / name, read_ahead_from=least) as vault:
            for path, text in NOTES.items():
                vault.write(path, text)
            contents.append(taken(vault))
    assert contents[0] == contents[1]
    assert len(contents[0]) > len(NOTES)


@pytest.mark.slow
def test_following_notes_are_understood_from_exactly_their_text(vault):
    ahead = ahead_of(vault)
    try:
        first, *others = sorted(NOTES)
        assert ahead.result(first, text_of(vault, first)) is None
        vault.write("b.md", "It has changed meanwhile.\n")
        for path in others:
            text = text_of(vault, path)
            wanted = None if path == "b.md" else understand(text.text, path, text.stat)
            assert ahead.result(path, text) == wanted
    finally:
        ahead.close()
    assert ahead.problem is None


@pytest.mark.slow
def test_note_that_is_passed_over_keeps_no_other_from_being_understood(vault):
    ahead = ahead_of(vault)
    try:
        ahead.result("a.md", text_of(vault, "a.md"))
        text = text_of(vault, "c.md")
        assert ahead.result("c.md", text) == understand(text.text, "c.md", text.stat)
        assert ahead.result("b.md", text_of(vault, "b.md")) is None
        assert ahead.result("elsewhere.md", text) is None
    finally:
        ahead.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "program", ["", "print('nothing that could be read', flush=True)", "raise SystemExit(3)"]
)
def test_process_that_fails_is_told_and_left_alone(vault, program):
    ahead = ahead_of(vault, sys.executable, "-c", program)
    for path in sorted(NOTES):
        assert ahead.result(path, text_of(vault, path)) is None
    assert ahead.problem is not None
    assert "not read ahead" in ahead.problem
    ahead.close()


def test_process_that_can_not_be_started_is_told(vault):
    ahead = ahead_of(vault, "/nowhere/python")
    for path in sorted(NOTES):
        assert ahead.result(path, text_of(vault, path)) is None
    assert "nowhere" in str(ahead.problem)


@pytest.mark.slow
def test_process_ends_when_the_daemon_is_gone():
    done = subprocess.run(
        [sys.executable, "-P", "-m", "ingest.ahead"],
        input=b"",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
