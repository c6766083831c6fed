"""Measuring recall by questions whose answers are known."""

from __future__ import annotations

import os
from pathlib import Path

import click

from daemon.commands.frame import pass_session, shared_options
from daemon.render.evaluation import evaluation_lines
from daemon.session import Session
from recalld.threads import limit_threads

_EXITS = {"PASS": 0, "HOLD": 1, "FAIL": 2}


@click.command("eval")
@click.argument("file", type=click.Path())
@click.option("--data", metavar="DIR", type=click.Path(), help="The data folder.")
@click.option(
    "--sweep",
    "sweeps",
    metavar="SETTING[=FROM:TO:STEP]",
    multiple=True,
    help="The curve of a setting of ranking, such as tau. May be repeated.",
)
@click.option(
    "--compare",
    "others",
    metavar="FILE|SETTING=VALUE",
    multiple=True,
    help="Judge other settings: PASS, HOLD or FAIL; exit code 0, 1 or 2.",
)
@click.option(
    "--set",
    "settings",
    metavar="SETTING=VALUE",
    multiple=True,
    help="A setting of ranking for this run, such as graph=off.",
)
@click.option(
    "--only",
    "categories",
    metavar="CATEGORY",
    multiple=True,
    help="Only the questions of this category.",
)
@click.option("--margin", type=click.FloatRange(0, 1), default=0.02, show_default=True,
              help="A loss up to this counts as none for --compare.")  # fmt: skip
@shared_options
@pass_session
def evaluate_command(
    shared: Session,
    file: str,
    data: str | None,
    sweeps: tuple[str, ...],
    others: tuple[str, ...],
    settings: tuple[str, ...],
    categories: tuple[str, ...],
    margin: float,
) -> int:
    """Put your own questions to recall, and see how well it answers them.

    FILE holds the questions with what should come, in TOML or JSON lines: see docs/evaluation.md. The memory is only
    read, with or without a daemon.
    """
    # Before anything that computes is loaded.
    limit_threads(os.environ)
    from daemon.evaluating import Wishes, evaluate, only_of, questions_of
    from daemon.logging import configure_logging

    present = shared.load_settings({"data_dir": data}).settings
    files, overrides = _sides(others)
    wishes = Wishes(
        settings=settings,
        sweeps=sweeps,
        overrides=overrides,
        other=shared.load_other(Path(files[0]), {"data_dir": data}).settings if files else None,
        margin=margin,
    )
    questions = only_of(questions_of(Path(file)), categories)
    configure_logging(level="warning", log_format=present.log.format)
    result = evaluate(present, questions, wishes)
    shared.show(result, evaluation_lines(result))
    comparison = result.get("comparison")
    return _EXITS[str(comparison["verdict"])] if isinstance(comparison, dict) else 0


def _sides(others: tuple[str, ...]) -> tuple[list[str], tuple[str, ...]]:
    """The settings file among what to compare with, and the single settings."""
    files = [each for each in others if "=" not in each or Path(each).is_file()]
    if len(files) > 1:
        raise click.UsageError("--compare takes one settings file; settings may be added to it")
    return files, tuple(each for each in others if each not in files)


COMMANDS: tuple[click.Command, ...] = (evaluate_command,)
