"""Any result as an indented outline, for what has no page of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from daemon.render.lines import Line, Span, printable


def tree_lines(value: object, depth: int = 0) -> Iterator[Line]:
    """Any JSON as an indented outline; what is empty is left out."""
    pairs: Iterable[tuple[str, object]]
    if isinstance(value, Mapping):
        pairs = [(printable(key), each) for key, each in value.items()]
    elif isinstance(value, list):
        pairs = [("-", each) for each in value]
    else:
        pairs = [("", value)]
    margin = "  " * depth
    for name, each in pairs:
        if each is None or each in ([], {}):
            continue
        label = name if name in ("-", "") else f"{name}:"
        if (short := _short(each)) is not None:
            yield from _labelled(margin, label, short)
        else:
            yield (Span(f"{margin}{label}", "dim"),)
            yield from tree_lines(each, depth + 1)


def _labelled(margin: str, label: str, text: str) -> Iterator[Line]:
    first, *others = text.split("\n")
    lead = f"{margin}{label} " if label else margin
    yield (Span(lead, "dim"), Span(first))
    for line in others:
        yield (Span(margin + "  "), Span(line))


def _short(value: object) -> str | None:
    """What fits behind its name: a scalar, or a list or object of scalars that is not long."""
    if isinstance(value, Mapping):
        parts = [
            f"{printable(key)} {_scalar(each)}" for key, each in value.items() if each is not None
        ]
        flat = not any(isinstance(each, Mapping | list) for each in value.values())
        joined = " · ".join(parts)
        return joined if flat and len(joined) <= 100 and "\n" not in joined else None
    if isinstance(value, list):
        flat = not any(isinstance(each, Mapping | list) for each in value)
        joined = ", ".join(_scalar(each) for each in value)
        return joined if flat and len(joined) <= 100 and "\n" not in joined else None
    return _scalar(value)


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return printable(value, one_line=False)
