"""The daemon itself, in the foreground."""

from __future__ import annotations

import gc
import os

import click

from daemon.commands.frame import pass_session, shared_options
from daemon.session import Session
from recalld.errors import SettingsError
from recalld.threads import limit_threads

# Made and still alive before the youngest are looked through for garbage.
_YOUNG_OBJECTS = 10_000


@click.command()
@click.argument("roots", nargs=-1, metavar="[ROOT]…", type=click.Path())
@click.option("--data", metavar="DIR", type=click.Path(), help="The data folder.")
@click.option("--once", is_flag=True, help="Ingest, settle and exit.")
@click.option("--ask", "questions", metavar="QUESTION", multiple=True,
              help="Once settled, ask and print the answer. May be repeated.")  # fmt: skip
@click.option("--ask-titles", metavar="N", type=click.IntRange(0, 100), default=0,
              help="Once settled, ask for the N notes that changed last, by their titles.")  # fmt: skip
@click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]))
@click.option("--log-format", type=click.Choice(["auto", "json", "console"]))
@shared_options
@pass_session
def run(
    shared: Session,
    roots: tuple[str, ...],
    data: str | None,
    once: bool,
    questions: tuple[str, ...],
    ask_titles: int,
    log_level: str | None,
    log_format: str | None,
) -> int:
    """Run in the foreground; the folders named add to those in the settings."""
    flags = {
        "roots": roots,
        "data_dir": data,
        "log.level": log_level,
        "log.format": log_format,
    }
    settings = shared.load_settings(flags).settings
    if not settings.roots:
        raise SettingsError(
            ("there is no folder to watch",),
            hint=f"`recalld run ROOT`, or set roots in {shared.settings_file}",
        )
    # Before anything that computes is loaded.
    limit_threads(os.environ)
    from daemon.logging import configure_logging
    from daemon.run import Console, run_daemon

    # A recall makes some thousand objects that do not outlive it: the default looks for garbage three times in each.
    gc.set_threshold(_YOUNG_OBJECTS)
    configure_logging(level=settings.log.level, log_format=settings.log.format)
    return run_daemon(
        settings,
        once=once,
        questions=questions,
        titles=ask_titles,
        console=Console(out=shared.out, err=shared.err, as_json=shared.as_json),
        reload=lambda: shared.load_settings(flags).settings,
        # What was loaded stays, so that no full collection need go through it: a recall would wait 50 ms for one.
        on_started=gc.freeze,
    )


COMMANDS: tuple[click.Command, ...] = (run,)
