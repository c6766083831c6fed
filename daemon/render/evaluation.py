"""The page of an evaluation: figures, what each step adds, curves, the verdict, and the questions that failed."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from daemon.render.lines import Line, Span, Style, mapping, place_text, printable, rows, texts

_SHOWN = 90
_FAILED_SHOWN = 30
_SHARES = (
    ("hit_at_1", "Hit@1"),
    ("hit_at_5", "Hit@5"),
    ("hit_at_10", "Hit@10"),
)
_VERDICTS: dict[object, Style] = {"PASS": "good", "HOLD": "busy", "FAIL": "bad"}


def evaluation_lines(result: Mapping[str, object]) -> Iterator[Line]:
    """The whole page, what needs attention last."""
    yield from _figures_lines(result)
    if stages := rows(result.get("stages")):
        yield ()
        yield from _stage_lines(stages)
    for sweep in rows(result.get("sweeps")):
        yield ()
        yield from _sweep_lines(sweep)
    if comparison := mapping(result.get("comparison")):
        yield ()
        yield from _comparison_lines(comparison)
    if failed := rows(result.get("failed")):
        yield ()
        yield from _failed_lines(failed)
    told = texts(result.get("warnings"))
    if told:
        yield ()
        yield from ((Span("warning  ", "bad"), Span(each)) for each in told)


# ---------------------------------------------------------------- figures


def _figures_lines(result: Mapping[str, object]) -> Iterator[Line]:
    figures = mapping(result.get("figures"))
    asked = figures.get("questions", 0)
    model = printable(result.get("model") or "no embedding model")
    yield (
        Span(f"{asked} questions", "strong"),
        Span(f" · {model} · {result.get('took_s')} s", "dim"),
    )
    for key, name in (*_SHARES, ("false_rejections", "false rejections")):
        yield _share_line(name, mapping(figures.get(key)))
    for key, name in (("mrr", "MRR"), ("ndcg_at_5", "nDCG@5")):
        yield (Span(f"  {name:<18}{_number(figures.get(key))}"),)
    yield _share_line("empty, no answer", mapping(figures.get("empty_without_answer")))
    categories = mapping(result.get("categories"))
    if categories:
        yield ()
        head = ("category", "n", "Hit@1", "Hit@5", "Hit@10", "MRR", "nDCG@5", "rejected", "empty")
        body = [_category_row(name, mapping(each)) for name, each in categories.items()]
        yield from _table(head, body)


def _share_line(name: str, share: Mapping[str, object]) -> Line:
    if not share.get("of"):
        return (Span(f"  {name:<18}-", "dim"),)
    counted = f"{share.get('part')} of {share.get('of')}"
    return (
        Span(f"  {name:<18}{_number(share.get('value'))}"),
        Span(f"  {counted}, 95 % {_interval(share.get('interval'))}", "dim"),
    )


def _category_row(name: object, figures: Mapping[str, object]) -> tuple[str, ...]:
    shares = [_part(figures.get(key)) for key, _ in _SHARES]
    return (
        printable(name),
        printable(figures.get("questions", "")),
        *shares,
        _number(figures.get("mrr")),
        _number(figures.get("ndcg_at_5")),
        _part(figures.get("false_rejections")),
        _part(figures.get("empty_without_answer")),
    )


# ---------------------------------------------------------------- stages, curves, verdict


def _stage_lines(stages: Sequence[Mapping[str, object]]) -> Iterator[Line]:
    channels = [one for one in stages if one.get("kind") == "channel"]
    head = ("channel", "found for", "alone: Hit@1", "MRR", "without: Hit@1", "MRR", "adds", "first")
    yield from _table(
        head,
        [
            (
                printable(one.get("name")),
                printable(one.get("found_for")),
                _number(one.get("hit_at_1_alone")),
                _number(one.get("mrr_alone")),
                _number(one.get("hit_at_1_without")),
                _number(one.get("mrr_without")),
                _signed(one.get("adds_mrr")),
                printable(one.get("first_hit_changed")),
            )
            for one in channels
        ],
    )
    yield ()
    yield from _table(
        ("step", "adds to MRR", "first hit changed", "hits changed"),
        [
            (
                printable(one.get("name")),
                _signed(one.get("adds_mrr")),
                printable(one.get("first_hit_changed")),
                printable(one.get("hits_changed")),
            )
            for one in stages
            if one.get("kind") != "channel"
        ],
    )


def _sweep_lines(sweep: Mapping[str, object]) -> Iterator[Line]:
    now, switch = sweep.get("now"), sweep.get("switch")
    body = []
    for point in rows(sweep.get("points")):
        value = point.get("value")
        shown = ("on" if value else "off") if switch else _bare(value)
        body.append(
            (
                f"{shown} ←" if value == now else shown,
                _number(mapping(point.get("hit_at_1")).get("value")),
                _number(point.get("mrr")),
                _part(point.get("false_rejections")),
                _part(point.get("empty_without_answer")),
            )
        )
    name = printable(sweep.get("setting"))
    yield from _table((name, "Hit@1", "MRR", "rejected", "empty, no answer"), body)


def _comparison_lines(comparison: Mapping[str, object]) -> Iterator[Line]:
    verdict = comparison.get("verdict")
    yield (
        Span(printable(verdict), _VERDICTS.get(verdict, "plain")),
        Span(
            f" · other settings against the present ones, margin {_bare(comparison.get('margin'))}"
        ),
        Span(f" · {comparison.get('resamples')} resamples", "dim"),
    )
    body = [
        (
            printable(name),
            _signed(mapping(one).get("mean")),
            _interval(mapping(one).get("interval"), signed=True),
            printable(mapping(one).get("questions")),
            printable(mapping(one).get("verdict")),
        )
        for name, one in mapping(comparison.get("differences")).items()
    ]
    yield from _table(("figure", "difference", "95 %", "n", "verdict"), body)
    for one in rows(comparison.get("changed")):
        before = _outcome(one.get("rank"), one.get("empty"))
        after = _outcome(one.get("rank_other"), one.get("empty_other"))
        yield (
            Span(f"  {printable(one.get('id'))}: {before} → {after}  "),
            Span(_cut(printable(one.get("question"))), "dim"),
        )


def _outcome(rank: object, empty: object) -> str:
    if rank is not None:
        return f"rank {rank}"
    return "empty" if empty else "wrong"


# ---------------------------------------------------------------- what failed


def _failed_lines(failed: Sequence[Mapping[str, object]]) -> Iterator[Line]:
    yield (Span(f"{len(failed)} questions without the right first hit", "strong"),)
    for one in failed[:_FAILED_SHOWN]:
        yield (
            Span(f"  {printable(one.get('id'))}  {_cut(printable(one.get('question')))}"),
            Span(f"  {printable(one.get('problem'))}", "bad"),
        )
        if wanted := texts(one.get("wanted")):
            yield (Span(f"    wanted    {_cut(' + '.join(wanted))}", "dim"),)
        if came := mapping(one.get("came")):
            yield (Span(f"    came      {_hit_text(came)}", "dim"),)
        if withheld := mapping(one.get("withheld")):
            rank = one.get("withheld_rank")
            where = (
                f"right at rank {rank}" if rank else f"not among the hits: {_hit_text(withheld)}"
            )
            strongest = _number(withheld.get("relevance"))
            yield (Span(f"    withheld  {where}; its first has relevance {strongest}", "dim"),)
    if len(failed) > _FAILED_SHOWN:
        yield (Span(f"  and {len(failed) - _FAILED_SHOWN} more, see --json", "dim"),)


def _hit_text(hit: Mapping[str, object]) -> str:
    place = place_text(mapping(hit.get("source")))
    return f"{_cut(printable(hit.get('text')))}  {place} · {_number(hit.get('relevance'))}"


# ---------------------------------------------------------------- pieces


def _table(head: Sequence[str], body: Sequence[Sequence[str]]) -> Iterator[Line]:
    """Columns as wide as their widest cell; the first to the left, numbers to the right."""
    widths = [max(map(_width, column)) for column in zip(head, *body, strict=True)]
    yield (Span(_row(head, widths), "dim"),)
    yield from ((Span(_row(each, widths)),) for each in body)


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = cells[0] + " " * (widths[0] - _width(cells[0]))
    rest = (
        " " * (width - _width(cell)) + cell
        for cell, width in zip(cells[1:], widths[1:], strict=True)
    )
    return "  " + "  ".join((first, *rest)).rstrip()


def _width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    return sum(
        0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in text
    )


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _part(share: object) -> str:
    counted = mapping(share)
    return f"{counted.get('part')}/{counted.get('of')}" if counted.get("of") else "-"


def _number(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, int | float) else "-"


def _signed(value: object) -> str:
    return f"{value:+.3f}" if isinstance(value, int | float) else "-"


def _bare(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) else "-"


def _interval(value: object, *, signed: bool = False) -> str:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return "-"
    low, high = (_signed(each) if signed else _number(each) for each in value)
    return f"{low} to {high}" if signed else f"{low}–{high}"
