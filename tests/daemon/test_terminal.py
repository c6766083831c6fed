"""Colours, bars and live pages on a terminal; plain text anywhere else."""

from __future__ import annotations

import io
import os
import pty
import select
import tty

import pytest

from daemon.render.lines import Span
from daemon.terminal import Screen

LINES = [(Span("[bold]not markup[/bold] :smile: "), Span("rood", "bad")), (), (Span("x" * 300),)]


@pytest.fixture
def terminal(monkeypatch):
    """A real terminal's two ends: a stream to write to, and what came out so far."""
    monkeypatch.setenv("TERM", "xterm")
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    stream = os.fdopen(theirs, "w", encoding="utf-8")

    def seen() -> str:
        stream.flush()
        found = b""
        # What was written is there to be read: a terminal in raw mode holds nothing back.
        while select.select([ours], [], [], 0)[0]:
            found += os.read(ours, 100_000)
        return found.decode()

    yield stream, seen
    stream.close()
    os.close(ours)


def test_piped_lines_are_plain_and_unwrapped():
    stream = io.StringIO()
    screen = Screen(stream, {"TERM": "xterm"})
    screen.show(LINES)
    assert not screen.live
    assert stream.getvalue() == f"[bold]not markup[/bold] :smile: rood\n\n{'x' * 300}\n"


def test_terminal_gets_colours_and_text_as_it_is(terminal):
    stream, seen = terminal
    screen = Screen(stream, {"TERM": "xterm"})
    screen.show(LINES)
    shown = seen()
    assert screen.live
    assert "[bold]not markup[/bold] :smile: \x1b[31mrood\x1b[0m" in shown
    assert "x" * 300 in shown


def test_no_color_is_honoured(terminal, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    stream, seen = terminal
    Screen(stream, {"TERM": "xterm"}).show(LINES)
    assert "\x1b[31m" not in seen()


def test_dumb_terminal_is_not_live(terminal):
    stream, _ = terminal
    assert not Screen(stream, {"TERM": "dumb"}).live


def test_page_replaces_the_page_before(terminal):
    stream, seen = terminal
    with Screen(stream, {"TERM": "xterm"}).refreshed() as show:
        show([(Span("een"),)])
        show([(Span("twee"),)])
    shown = seen()
    assert "een" in shown
    assert "twee" in shown
    assert "\x1b[2K" in shown


def test_piped_pages_follow_each_other():
    stream = io.StringIO()
    with Screen(stream, {}).refreshed() as show:
        show([(Span("een"),)])
        show([(Span("twee"),)])
    assert stream.getvalue() == "een\ntwee\n"


def test_bars_show_what_is_done_of_how_much(terminal):
    stream, seen = terminal
    with Screen(stream, {"TERM": "xterm"}).bars() as show:
        show({"words": (3, 12)})
        show({"words": (12, 12), "vectors": (1, 40)})
    shown = seen()
    assert "words" in shown
    assert "1/40" in shown
