"""What every command has: the options that all share, and failures turned into exit codes.

Exit codes: 0 ok, 1 nothing found or the work failed, 2 usage or settings, 3 no daemon running,
4 another daemon holds the data folder.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import click

from daemon.session import Session
from daemon.terminal import standard_screens
from recalld.errors import RecalldError

_P = ParamSpec("_P")
_R = TypeVar("_R")


class CommandLine(click.Group):
    """Turns every failure into a line or two on standard error and an exit code."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Runs the command line with screens of its own; gives the exit code, or exits with it."""
        out, err = standard_screens(os.environ)
        extra["obj"] = Session(out=out, err=err)
        code = _guarded(
            extra["obj"],
            lambda: super(CommandLine, self).main(
                args, prog_name or "recalld", complete_var, standalone_mode=False, **extra
            ),
        )
        if standalone_mode:
            sys.exit(code)
        return code

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; a reader of the output who went away ends it quietly."""
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader has had enough. What is still buffered has no reader either, and the
            # interpreter must not complain of it at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            return 0
        return code


def _guarded(shared: Session, run: Callable[[], object]) -> int:
    """What `run` gives as an exit code, or the failure that it ended in, told."""
    try:
        code = run()
    except click.UsageError as error:
        return _tell_usage(shared, error)
    except click.ClickException as error:
        shared.fail(error.format_message())
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 130
    except RecalldError as error:
        return shared.fail_with(error)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        shared.fail(f"{where}{error.strerror or error}")
        return 1
    return code if isinstance(code, int) else 0


def _tell_usage(shared: Session, error: click.UsageError) -> int:
    if error.ctx and error.message == error.ctx.get_help():
        # A group without a command is answered with its help, which is many lines.
        shared.err.stream.write(error.message + "\n")
    else:
        shared.fail(
            error.format_message(), f"{error.ctx.command_path if error.ctx else 'recalld'} --help"
        )
    return 2


def _keep(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """A callback that puts an option's value into the globals, wherever on the line it stood."""

    def keep(context: click.Context, _parameter: click.Parameter, value: Any) -> None:
        if value:
            setattr(context.find_object(Session), name, value)

    return keep


def shared_options(command: Callable[_P, _R]) -> Callable[_P, _R]:
    """A decorator: the options that stand before or after any command."""
    options = (
        click.option("--socket", metavar="PATH", expose_value=False, callback=_keep("socket"),
                     type=click.Path(), help="The daemon's socket."),
        click.option("--config", metavar="FILE", expose_value=False, callback=_keep("config"),
                     type=click.Path(), help="The settings file."),
        click.option("--json", is_flag=True, expose_value=False, callback=_keep("as_json"),
                     help="Print exactly the method's result."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


pass_session = click.make_pass_decorator(Session)
