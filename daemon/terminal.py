"""Where lines for people go: styled on a terminal, plain anywhere else; with bars and live pages.

The only place that knows `rich`. It must not know what the lines say. Nothing of `rich` is imported
until something goes to a terminal: a piped `recalld recall` has no use for it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from daemon.render.lines import Line, Style, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_STYLES: dict[Style, str] = {
    "plain": "", "strong": "bold", "dim": "dim", "good": "green", "bad": "red", "busy": "yellow",
}  # fmt: skip


class Screen:
    """A stream for people; `live` when it is a terminal whose cursor can be moved."""

    def __init__(self, stream: TextIO, env: Mapping[str, str]) -> None:
        self.stream = stream
        self.live = stream.isatty() and env.get("TERM") not in ("dumb", "unknown")

    def show(self, lines: Iterable[Line]) -> None:
        """Writes lines, unwrapped, so that what is copied is what was said."""
        if not self.live:
            for line in lines:
                self.stream.write("".join(span.text for span in line) + "\n")
            self.stream.flush()
            return
        console = self._console()
        for line in lines:
            console.print(_text(line), soft_wrap=True)

    @contextmanager
    def refreshed(self) -> Iterator[Callable[[list[Line]], None]]:
        """Gives a function that shows a page in place of the one before; piped, after it."""
        if not self.live:
            yield self.show
            return
        from rich.live import Live  # noqa: PLC0415 - see the module's docstring
        from rich.text import Text  # noqa: PLC0415

        with Live(console=self._console(), auto_refresh=False) as live:

            def replace(lines: list[Line]) -> None:
                live.update(Text("\n").join(map(_text, lines)), refresh=True)

            yield replace

    @contextmanager
    def bars(self) -> Iterator[Callable[[Mapping[str, tuple[int, int]]], None]]:
        """Gives a function that shows `{name: (done, total)}` as bars, which vanish at the end.

        Only for a live screen. Log lines written to standard error meanwhile stand above the bars.
        """
        from rich.progress import (  # noqa: PLC0415 - see the module's docstring
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TaskID,
            TextColumn,
            TimeElapsedColumn,
        )

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        tasks: dict[str, TaskID] = {}
        with Progress(*columns, console=self._console(), transient=True) as progress:

            def update(amounts: Mapping[str, tuple[int, int]]) -> None:
                for name, (done, total) in amounts.items():
                    if name not in tasks:
                        tasks[name] = progress.add_task(printable(name), total=total)
                    progress.update(tasks[name], completed=done, total=total)

            yield update

    def _console(self) -> Console:
        from rich.console import Console  # noqa: PLC0415 - see the module's docstring

        # rich itself honours NO_COLOR; it must not look for markup, links or emoji codes in notes.
        return Console(file=self.stream, markup=False, highlight=False, emoji=False)


def standard_screens(env: Mapping[str, str]) -> tuple[Screen, Screen]:
    """Screens for standard output and standard error, which then never fail on a character."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    return Screen(sys.stdout, env), Screen(sys.stderr, env)


def _text(line: Line) -> Text:
    from rich.text import Text  # noqa: PLC0415 - see the module's docstring

    text = Text()
    for span in line:
        text.append(span.text, style=_STYLES[span.style] or None)
    return text
