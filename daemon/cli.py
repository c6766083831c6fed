"""The command line: words to a method's parameters, its result to the screen, failures to exit codes.

Everything slow is imported inside the command that needs it, so that `recalld recall` answers at
once. It must not know how the daemon works; only `run` loads it.

Exit codes: 0 ok, 1 nothing found or the work failed, 2 usage or settings, 3 no daemon running,
4 another daemon holds the data folder.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

import recalld
from daemon.render import (
    Span,
    answer_lines,
    conflict_lines,
    nothing_found,
    pair_lines,
    printable,
    queued_lines,
    rebuilt_lines,
    recall_lines,
    related_lines,
    status_lines,
    thing_lines,
    tree_lines,
)
from daemon.session import ANSWER_S, Session
from daemon.terminal import standard_screens
from recalld.errors import NotFound, RecalldError, SettingsError
from recalld.threads import limit_threads

if TYPE_CHECKING:
    from daemon.service import Report, Service

_P = ParamSpec("_P")
_R = TypeVar("_R")

# `sync --wait` on a large first run; the daemon's own limits end it before.
_SETTLE_S = 7 * 86_400.0
_WATCH_EVERY_S = 1.0
_CATEGORIES = ("knowledge", "error", "timeline", "preference", "tool")
_ANCHOR = re.compile(r"(?:fact|passage|note):[0-9a-f]{4,32}")
_RECALL_ID = re.compile(r"r-[0-9A-Za-z_-]+")


class _Cli(click.Group):
    """Turns every failure into a line or two on standard error and an exit code."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        out, err = standard_screens(os.environ)
        extra["obj"] = Session(out=out, err=err)
        code = _guarded(
            extra["obj"],
            lambda: super(_Cli, self).main(
                args, prog_name or "recalld", complete_var, standalone_mode=False, **extra
            ),
        )
        if standalone_mode:
            sys.exit(code)
        return code

    def invoke(self, ctx: click.Context) -> Any:
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


# ---------------------------------------------------------------- options that all commands share


def _keep(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """A callback that puts an option's value into the globals, wherever on the line it stood."""

    def keep(context: click.Context, _parameter: click.Parameter, value: Any) -> None:
        if value:
            setattr(context.find_object(Session), name, value)

    return keep


def _shared(command: Callable[_P, _R]) -> Callable[_P, _R]:
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


_pass_globals = click.make_pass_decorator(Session)


@click.group(
    "recalld",
    cls=_Cli,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(recalld.__version__, prog_name="recalld", message="%(prog)s %(version)s")
@_shared
def cli() -> None:
    """A memory that watches folders of Markdown notes and answers questions about them."""


# ---------------------------------------------------------------- the daemon itself


@cli.command()
@click.argument("roots", nargs=-1, metavar="[ROOT]…", type=click.Path())
@click.option("--data", metavar="DIR", type=click.Path(), help="The data folder.")
@click.option("--once", is_flag=True, help="Ingest, settle and exit.")
@click.option("--ask", "questions", metavar="QUESTION", multiple=True,
              help="Once settled, ask and print the answer. May be repeated.")  # fmt: skip
@click.option("--log-level", type=click.Choice(["debug", "info", "warning", "error"]))
@click.option("--log-format", type=click.Choice(["auto", "json", "console"]))
@_shared
@_pass_globals
def run(
    shared: Session,
    roots: tuple[str, ...],
    data: str | None,
    once: bool,
    questions: tuple[str, ...],
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

    configure_logging(level=settings.log.level, log_format=settings.log.format)
    return run_daemon(
        settings,
        once=once,
        questions=questions,
        console=Console(out=shared.out, err=shared.err, as_json=shared.as_json),
        reload=lambda: shared.load_settings(flags).settings,
    )


# ---------------------------------------------------------------- what asks it


def _recall_options(command: Callable[_P, _R]) -> Callable[_P, _R]:
    date = click.DateTime(["%Y-%m-%d"])
    options = (
        click.option("-n", "--limit", type=click.IntRange(1, 50), help="At most so many hits."),
        click.option("--category", "categories", multiple=True, type=click.Choice(_CATEGORIES)),
        click.option("--root", "roots", metavar="NAME", multiple=True),
        click.option("--path", "paths", metavar="GLOB", multiple=True),
        click.option("--tag", "tags", metavar="TAG", multiple=True),
        click.option("--scope", "scope", metavar="SCOPE", multiple=True),
        click.option("--kind", "kinds", multiple=True, type=click.Choice(["fact", "passage"])),
        click.option("--since", type=date, metavar="DATE", help="On this day or later."),
        click.option("--until", type=date, metavar="DATE", help="On this day or before."),
        click.option("--as-of", type=date, metavar="DATE", help="What was held true then."),
        click.option("--min-relevance", type=click.FloatRange(0, 1), help="0 never rejects."),
        click.option("--max-chars", type=click.IntRange(1), help="Characters of text in all."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _recall_params(words: tuple[str, ...], options: Mapping[str, Any]) -> dict[str, object]:
    """Options as the protocol has them: dates as ISO text, tuples as lists."""
    params: dict[str, object] = {"query": " ".join(words)}
    for name, value in options.items():
        if name in ("since", "until", "as_of"):
            params[name] = value.date().isoformat() if value else None
        else:
            params[name] = list(value) if isinstance(value, tuple) else value
    return params


@cli.command()
@click.argument("query", nargs=-1, required=True)
@_recall_options
@click.option("--explain", is_flag=True, help="Say how each hit got its place.")
@_shared
@_pass_globals
def recall(shared: Session, /, query: tuple[str, ...], explain: bool, **options: Any) -> int:
    """Find what the notes know; words need no quotes."""
    params = {**_recall_params(query, options), "explain": explain or None}
    result = shared.ask("recall", params)
    found = bool(result.get("hits"))
    if found or shared.as_json:
        shared.show(result, recall_lines(result))
    else:
        shared.err.show([(Span(nothing_found(result)),)])
        explanation = result.get("explanation")
        shared.out.show(tree_lines(explanation) if explanation else ())
    return 0 if found else 1


@cli.command()
@click.argument("query", nargs=-1, required=True)
@_recall_options
@click.option("--explain", is_flag=True, help="Say how each hit got its place.")
@_shared
@_pass_globals
def answer(shared: Session, /, query: tuple[str, ...], explain: bool, **options: Any) -> int:
    """Answer in sentences from what the notes say, each with its source; needs a language model."""
    params = {**_recall_params(query, options), "explain": explain or None}
    result = shared.ask("answer", params)
    found = bool(result.get("text"))
    if found or shared.as_json:
        shared.show(result, answer_lines(result))
    else:
        shared.err.show([(Span(nothing_found(result)),)])
        explanation = result.get("explanation")
        shared.out.show(tree_lines(explanation) if explanation else ())
    return 0 if found else 1


@cli.command()
@click.argument("anchor")
@click.option(
    "--lines-around", type=click.IntRange(0), metavar="N", help="Lines of the note about it."
)
@_shared
@_pass_globals
def get(shared: Session, anchor: str, lines_around: int | None) -> None:
    """Show a fact or passage whole, with its sources and links."""
    result = shared.ask("get", {"anchor": anchor, "lines_around": lines_around})
    shared.show(result, thing_lines(result))


@cli.command()
@click.argument("query", nargs=-1, required=True, metavar="QUERY|RECALL_ID")
@_recall_options
@_shared
@_pass_globals
def explain(shared: Session, /, query: tuple[str, ...], **options: Any) -> None:
    """Say how a recall came to its hits: a new one, or an earlier one by its id."""
    if len(query) == 1 and _RECALL_ID.fullmatch(query[0]):
        try:
            result = shared.ask("explain", {"recall_id": query[0]})
        except NotFound as error:
            raise NotFound(
                error.message, hint=error.hint or "the daemon keeps recent ones"
            ) from error
    else:
        result = shared.ask("explain", _recall_params(query, options))
    shared.show(result, tree_lines(result))


@cli.command("related")
@click.argument("what", nargs=-1, required=True, metavar="ANCHOR|ENTITY")
@click.option("--hops", type=click.IntRange(1, 3), help="How far to walk; 1 by default.")
@click.option("-n", "--limit", type=click.IntRange(1, 200), help="At most so many nodes.")
@_shared
@_pass_globals
def related_command(
    shared: Session, what: tuple[str, ...], hops: int | None, limit: int | None
) -> None:
    """Show what belongs to an entity, a fact or a note; a name needs no quotes."""
    told = " ".join(what)
    key = "anchor" if _ANCHOR.fullmatch(told) else "entity"
    result = shared.ask("related", {key: told, "hops": hops, "limit": limit})
    shared.show(result, related_lines(result))


@cli.command("conflicts")
@click.option("-n", "--limit", type=click.IntRange(1, 200), help="At most so many pairs.")
@click.option("--offset", type=click.IntRange(0), metavar="N", help="Leave out the first N.")
@_shared
@_pass_globals
def conflicts_command(shared: Session, limit: int | None, offset: int | None) -> int:
    """Show the facts that disagree, those that nobody has settled first."""
    result = shared.ask("conflicts", {"limit": limit, "offset": offset})
    if not result.get("pairs") and not shared.as_json:
        shared.err.show([(Span("no facts disagree"),)])
        return 1
    shared.show(result, conflict_lines(result))
    return 0


@cli.command()
@click.argument("anchor", metavar="A")
@click.argument("over", metavar="B")
@click.option("--both", is_flag=True, help="Both hold; neither supersedes the other.")
@_shared
@_pass_globals
def resolve(shared: Session, anchor: str, over: str, both: bool) -> None:
    """Say that fact A supersedes fact B, or that both hold."""
    verdict = "both" if both else "supersedes"
    result = shared.ask("resolve", {"anchor": anchor, "over": over, "verdict": verdict})
    shared.show(result, pair_lines(result))


@cli.group()
@_shared
def graph() -> None:
    """Look after the graph of entities and links."""


@graph.command("rebuild")
@_shared
@_pass_globals
def graph_rebuild(shared: Session) -> None:
    """Compute the graph again from what is stored; on a whole memory nothing changes."""
    result = shared.ask("rebuild_graph", {}, _SETTLE_S)
    shared.show(result, rebuilt_lines(result))


@cli.command()
@click.option("--parked", is_flag=True, help="Only what was given up.")
@_shared
@_pass_globals
def reextract(shared: Session, parked: bool) -> None:
    """Have the language model read again what it gave up, or what another model or prompt read."""
    result = shared.ask("reextract", {"parked": parked or None})
    shared.show(result, queued_lines(result))


@cli.command()
@click.option("--watch", is_flag=True, help="Show it again each second until ^C.")
@_shared
@_pass_globals
def status(shared: Session, watch: bool) -> None:
    """Say what the daemon is doing, what waits and what doesn't work."""
    if not watch:
        result = shared.ask("status", {})
        shared.show(result, status_lines(result))
        return
    import time
    from contextlib import suppress

    # ^C is how a watch ends.
    with suppress(KeyboardInterrupt), shared.connect() as client, shared.out.refreshed() as show:
        while True:
            result = client.call("status")
            if shared.as_json:
                shared.show(result, ())
            else:
                show(list(status_lines(result)))
            time.sleep(_WATCH_EVERY_S)


@cli.command()
@click.argument("paths", nargs=-1, type=click.Path())
@click.option("--full", is_flag=True, help="Read every note instead of trusting size and time.")
@click.option("--wait", is_flag=True, help="Return only once everything is in the index.")
@click.option("--confirm-deletions", "confirmed", metavar="ROOT", multiple=True,
              help="Carry out the mass deletion that is held for this root.")  # fmt: skip
@_shared
@_pass_globals
def sync(
    shared: Session, paths: tuple[str, ...], full: bool, wait: bool, confirmed: tuple[str, ...]
) -> None:
    """Look at the notes now, instead of waiting for events."""
    params = {
        # The daemon has a working folder of its own.
        "paths": [str(Path(path).absolute()) for path in paths],
        "full": full or None,
        "wait": wait or None,
        "confirm_deletions": list(confirmed),
    }
    result = shared.ask("sync", params, _SETTLE_S if wait else ANSWER_S)
    shared.show(result, tree_lines(result))


# ---------------------------------------------------------------- the installation


@cli.group()
@_shared
def config() -> None:
    """Look at the settings, or begin a settings file."""


@config.command("show")
@_shared
@_pass_globals
def config_show(shared: Session) -> None:
    """Every setting with its value and where it comes from."""
    from recalld.settings import render_settings

    rows = render_settings(shared.load_settings({}))
    result = {key: {"value": value, "origin": origin} for key, value, origin in rows}
    width = max(len(key) for key, _, _ in rows)
    shared.show(
        result,
        (
            (
                Span(f"{key:<{width}} = "),
                Span(printable(value), "strong"),
                Span(f"  ({origin})", "dim"),
            )
            for key, value, origin in rows
        ),
    )


@config.command("path")
@_shared
@_pass_globals
def config_path(shared: Session) -> None:
    """Where the settings file is, or would be."""
    path = shared.settings_file
    shared.show({"path": str(path), "exists": path.exists()}, [(Span(printable(path)),)])


@config.command("init")
@_shared
@_pass_globals
def config_init(shared: Session) -> None:
    """Write a settings file with every key and its default; an existing one is left alone."""
    from recalld.settings import example_settings

    path = shared.settings_file
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(example_settings())
    except FileExistsError:
        raise SettingsError((f"{path}: exists already",), hint="edit it, or move it away") from None
    shared.show({"path": str(path)}, [(Span(f"wrote {printable(path)}"),)])


@cli.group()
@_shared
def service() -> None:
    """Run recalld in the background, as a user service of systemd."""


@service.command("install")
@_shared
@_pass_globals
def service_install(shared: Session) -> int:
    """Write the units, start the service now and at every login."""
    return _tell_service(shared, _service(shared).install())


@service.command("uninstall")
@_shared
@_pass_globals
def service_uninstall(shared: Session) -> int:
    """Stop the service and remove its units; notes, memory and settings stay."""
    return _tell_service(shared, _service(shared).uninstall())


@service.command("status")
@_shared
@_pass_globals
def service_status(shared: Session) -> int:
    """Say whether the service is installed, enabled and running."""
    return _tell_service(shared, _service(shared).status())


def _service(shared: Session) -> Service:
    from daemon.service import Service

    return Service(
        env=os.environ,
        home=shared.home,
        config=shared.config,
        socket=shared.socket_path,
        load=lambda: shared.load_settings({}).settings,
    )


def _tell_service(shared: Session, report: Report) -> int:
    result = {"ok": report.ok, "messages": list(report.messages), **report.facts}
    shared.show(result, ((Span(printable(message)),) for message in report.messages))
    return 0 if report.ok else 1
