"""What looks after the memory: its state, the disk, the graph, what models read."""

from __future__ import annotations

from pathlib import Path

import click

from daemon.commands.frame import pass_session, shared_options
from daemon.render.connections import rebuilt_lines
from daemon.render.outline import tree_lines
from daemon.render.status import (
    queued_lines,
    reembedding_lines,
    refining_lines,
    status_lines,
)
from daemon.session import ANSWER_S, Session

# `sync --wait` on a large first run; the daemon's own limits end it before.
_SETTLE_S = 7 * 86_400.0
_WATCH_EVERY_S = 1.0
# A server may have to load the model first.
_REEMBED_S = 120.0


@click.group()
@shared_options
def graph() -> None:
    """Look after the graph of entities and links."""


@graph.command("rebuild")
@shared_options
@pass_session
def graph_rebuild(shared: Session) -> None:
    """Compute the graph again from what is stored; on a whole memory nothing changes."""
    result = shared.ask("rebuild_graph", {}, _SETTLE_S)
    shared.show(result, rebuilt_lines(result))


@click.command()
@click.option("--parked", is_flag=True, help="Only what was given up.")
@shared_options
@pass_session
def reextract(shared: Session, parked: bool) -> None:
    """Have the language model read again what it gave up, or what another model or prompt read."""
    result = shared.ask("reextract", {"parked": parked or None})
    shared.show(result, queued_lines(result))


@click.command()
@click.option("--watch", is_flag=True, help="Show it again each second until ^C.")
@shared_options
@pass_session
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


@click.command()
@click.argument("paths", nargs=-1, type=click.Path())
@click.option("--full", is_flag=True, help="Read every note instead of trusting size and time.")
@click.option("--wait", is_flag=True, help="Return only once everything is in the index.")
@click.option("--refined", is_flag=True,
              help="Return only once the language model, too, has nothing left to do.")  # fmt: skip
@click.option("--confirm-deletions", "confirmed", metavar="ROOT", multiple=True,
              help="Carry out the mass deletion that is held for this root.")  # fmt: skip
@shared_options
@pass_session
def sync(
    shared: Session,
    paths: tuple[str, ...],
    full: bool,
    wait: bool,
    refined: bool,
    confirmed: tuple[str, ...],
) -> None:
    """Look at the notes now, instead of waiting for events."""
    params = {
        # The daemon has a working folder of its own.
        "paths": [str(Path(path).absolute()) for path in paths],
        "full": full or None,
        "wait": wait or None,
        "refined": refined or None,
        "confirm_deletions": list(confirmed),
    }
    result = shared.ask("sync", params, _SETTLE_S if wait or refined else ANSWER_S)
    shared.show(result, tree_lines(result))
    if wait and not refined and not shared.as_json:
        shared.show({}, refining_lines(shared.ask("status", {})))


@click.command()
@shared_options
@pass_session
def reembed(shared: Session) -> None:
    """Make all vectors again, by the embedding model as it is now; recall goes on meanwhile."""
    result = shared.ask("reembed", {}, _REEMBED_S)
    shared.show(result, reembedding_lines(result))


COMMANDS: tuple[click.Command, ...] = (status, sync, graph, reextract, reembed)
