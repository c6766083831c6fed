"""What asks the memory: recall, answer, get, explain, related, and the facts that disagree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

import click

from daemon.commands.frame import pass_session, shared_options
from daemon.render.connections import conflict_lines, pair_lines, related_lines
from daemon.render.hits import answer_lines, nothing_found, recall_lines, thing_lines
from daemon.render.lines import Line, Span
from daemon.render.outline import tree_lines
from daemon.session import Session
from recalld.errors import NotFound

_P = ParamSpec("_P")
_R = TypeVar("_R")

_CATEGORIES = ("knowledge", "error", "timeline", "preference", "tool")
_ANCHOR = re.compile(r"(?:fact|passage|note):[0-9a-f]{4,32}")
_RECALL_ID = re.compile(r"r-[0-9A-Za-z_-]+")


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


@click.command()
@click.argument("query", nargs=-1, required=True)
@_recall_options
@click.option("--passages", is_flag=True, help="With each hit the passage that it was taken from.")
@click.option(
    "--lines-around", type=click.IntRange(0), metavar="N", help="With each hit the note's lines."
)
@click.option("--explain", is_flag=True, help="Say how each hit got its place.")
@shared_options
@pass_session
def recall(
    shared: Session, /, query: tuple[str, ...], passages: bool, explain: bool, **options: Any
) -> int:
    """Find what the notes know; words need no quotes."""
    flags = {"passages": passages or None, "explain": explain or None}
    params = {**_recall_params(query, options), **flags}
    result = shared.ask("recall", params)
    return _told(shared, result, recall_lines, is_found=bool(result.get("hits")))


@click.command()
@click.argument("query", nargs=-1, required=True)
@_recall_options
@click.option("--explain", is_flag=True, help="Say how each hit got its place.")
@shared_options
@pass_session
def answer(shared: Session, /, query: tuple[str, ...], explain: bool, **options: Any) -> int:
    """Answer in sentences from what the notes say, each with its source; needs a language model."""
    params = {**_recall_params(query, options), "explain": explain or None}
    result = shared.ask("answer", params)
    return _told(shared, result, answer_lines, is_found=bool(result.get("text")))


def _told(
    shared: Session,
    result: dict[str, Any],
    lines: Callable[[dict[str, Any]], Iterable[Line]],
    *,
    is_found: bool,
) -> int:
    """Shows what came, or why nothing did; gives the exit code."""
    if is_found or shared.as_json:
        shared.show(result, lines(result))
    else:
        shared.err.show([(Span(nothing_found(result)),)])
        explanation = result.get("explanation")
        shared.out.show(tree_lines(explanation) if explanation else ())
    return 0 if is_found else 1


@click.command()
@click.argument("anchor")
@click.option(
    "--lines-around", type=click.IntRange(0), metavar="N", help="Lines of the note about it."
)
@shared_options
@pass_session
def get(shared: Session, anchor: str, lines_around: int | None) -> None:
    """Show a fact or passage whole, with its sources and links."""
    result = shared.ask("get", {"anchor": anchor, "lines_around": lines_around})
    shared.show(result, thing_lines(result))


@click.command()
@click.argument("query", nargs=-1, required=True, metavar="QUERY|RECALL_ID")
@_recall_options
@shared_options
@pass_session
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


@click.command("related")
@click.argument("what", nargs=-1, required=True, metavar="ANCHOR|ENTITY")
@click.option("--hops", type=click.IntRange(1, 3), help="How far to walk; 1 by default.")
@click.option("-n", "--limit", type=click.IntRange(1, 200), help="At most so many nodes.")
@shared_options
@pass_session
def related(shared: Session, what: tuple[str, ...], hops: int | None, limit: int | None) -> None:
    """Show what belongs to an entity, a fact or a note; a name needs no quotes."""
    told = " ".join(what)
    key = "anchor" if _ANCHOR.fullmatch(told) else "entity"
    result = shared.ask("related", {key: told, "hops": hops, "limit": limit})
    shared.show(result, related_lines(result))


@click.command("conflicts")
@click.option("-n", "--limit", type=click.IntRange(1, 200), help="At most so many pairs.")
@click.option("--offset", type=click.IntRange(0), metavar="N", help="Leave out the first N.")
@shared_options
@pass_session
def conflicts(shared: Session, limit: int | None, offset: int | None) -> int:
    """Show the facts that disagree, those that nobody has settled first."""
    result = shared.ask("conflicts", {"limit": limit, "offset": offset})
    if result.get("pairs") or shared.as_json:
        shared.show(result, conflict_lines(result))
    else:
        shared.err.show([(Span("no facts disagree"),)])
    return 0 if result.get("pairs") else 1


@click.command()
@click.argument("anchor", metavar="A")
@click.argument("over", metavar="B")
@click.option("--both", is_flag=True, help="Both hold; neither supersedes the other.")
@shared_options
@pass_session
def resolve(shared: Session, anchor: str, over: str, both: bool) -> None:
    """Say that fact A supersedes fact B, or that both hold."""
    verdict = "both" if both else "supersedes"
    result = shared.ask("resolve", {"anchor": anchor, "over": over, "verdict": verdict})
    shared.show(result, pair_lines(result))


COMMANDS: tuple[click.Command, ...] = (recall, answer, get, explain, related, conflicts, resolve)
