"""The command line: the commands put together, and the entry point.

Everything slow is imported inside the command that needs it, so that `recalld recall` answers at
once. It must not know how the daemon works; only `run` loads it.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import click

import recalld
from daemon.commands import asking, evaluation, installation, running, upkeep
from daemon.commands.frame import CommandLine, shared_options
from daemon.session import Session
from daemon.terminal import standard_screens


@click.group(
    "recalld",
    cls=CommandLine,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(recalld.__version__, prog_name="recalld", message="%(prog)s %(version)s")
@shared_options
def cli() -> None:
    """A memory that watches folders of Markdown notes and answers questions about them."""


for _subject in (running, asking, evaluation, upkeep, installation):
    for _command in _subject.COMMANDS:
        cli.add_command(_command)


def main() -> None:
    """The entry point `recalld`."""
    sys.excepthook = _tell_bug
    code = cli.main(standalone_mode=False)
    if "daemon.run" in sys.modules:
        from daemon.run import leave

        leave(code)
    sys.exit(code)


def _tell_bug(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    """An error that nobody foresaw: a line for people, its place only for who asks."""
    if os.environ.get("RECALLD_TRACEBACK"):
        sys.__excepthook__(kind, error, trace)
        return
    _, err = standard_screens(os.environ)
    Session(out=err, err=err).fail(
        f"internal error: {kind.__name__}: {error}",
        "RECALLD_TRACEBACK=1 shows where; please report it",
    )
