"""What belongs together and what disagrees: nodes and links, pairs of facts, a graph computed again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from daemon.render.lines import (
    Line,
    Span,
    Style,
    date_text,
    mapping,
    place_text,
    printable,
    rows,
)

_NAME_SHOWN = 80


def related_lines(result: Mapping[str, object]) -> Iterator[Line]:
    """The nodes, nearest first, each with the links that lead to it from those above."""
    nodes = rows(result.get("nodes"))
    names = {str(node.get("id")): _node_name(node) for node in nodes}
    placed: set[str] = set()
    for node in nodes:
        node_id = str(node.get("id"))
        yield (Span(names[node_id], "strong"), Span(f"  {printable(node_id)}", "dim"))
        for link in rows(result.get("links")):
            one, other = str(link.get("from")), str(link.get("to"))
            if node_id in (one, other) and placed & {one, other}:
                words = printable(link.get("type", "")).replace("_", " ")
                yield (Span(f"  {names.get(one, one)} – {words} → {names.get(other, other)}"),)
        placed.add(node_id)
    if result.get("more"):
        yield (Span(f"the nearest {len(nodes)}; see --limit and --hops", "dim"),)


def _node_name(node: Mapping[str, object]) -> str:
    name = printable(node.get("name", ""))
    return name if len(name) <= _NAME_SHOWN else f"{name[: _NAME_SHOWN - 1]}…"


def conflict_lines(result: Mapping[str, object]) -> Iterator[Line]:
    """The pairs that disagree, a blank line between two, and how many more there are."""
    pairs = rows(result.get("pairs"))
    for number, pair in enumerate(pairs):
        if number:
            yield ()
        yield from pair_lines(pair)
    total = result.get("total")
    if isinstance(total, int) and total > len(pairs):
        yield ()
        yield (Span(f"{len(pairs)} of {total}; see --limit and --offset", "dim"),)


def pair_lines(pair: Mapping[str, object]) -> Iterator[Line]:
    """Two facts that disagree, the newer first, and how that stands."""
    state = printable(pair.get("state", ""))
    style: Style = "bad" if state == "open" else "dim"
    reason = printable(pair.get("reason", "")).replace("_", " ")
    yield (Span(f"{state} · {reason}", style),)
    for fact in rows(pair.get("facts")):
        yield (Span(f"  {printable(fact.get('text', ''))}", "strong"),)
        parts = [place_text(mapping(fact.get("source"))), date_text({"dates": fact})]
        parts.append(printable(fact.get("anchor", "")))
        yield (Span(f"  {' · '.join(part for part in parts if part)}", "dim"),)


def rebuilt_lines(result: Mapping[str, object]) -> Iterator[Line]:
    """What a rebuild of the graph looked at, and how much it set right."""
    looked = ", ".join(f"{result.get(name, 0)} {name}" for name in ("facts", "notes", "links"))
    changed = result.get("changed", 0)
    yield (
        Span(f"looked at {looked}; "),
        Span("all as it was" if not changed else f"{changed} set right"),
    )
