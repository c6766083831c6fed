"""How the daemon is: a page, a short line for a service manager, and what did not work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from daemon.render.lines import Line, Span, Style, mapping, place_text, printable, rows, state_span

_PROBLEMS_SHOWN = 10
# Stages that fail with the language model alone.
_OF_THE_MODEL = ("facts", "verdicts")


def status_lines(status: Mapping[str, object]) -> Iterator[Line]:
    """The status as a page: state, roots, queue, models, database, stages."""
    yield (
        Span(f"recalld {printable(status.get('version', '?'))}", "strong"),
        Span(f" · process {status.get('pid')} · up {span_of(status.get('uptime_s'))}", "dim"),
    )
    state = str(status.get("state"))
    waiting = status.get("oldest_pending_s")
    line: list[Span] = [Span("state      "), state_span(state)]
    if isinstance(waiting, int | float):
        line.append(Span(f" · the oldest change has waited {span_of(waiting)}"))
    if refining := refining_text(status):
        line.append(Span(f" · {refining}", "dim"))
    if status.get("ready") is False:
        line.append(Span(" · not answering yet", "bad"))
    yield tuple(line)
    yield from _root_lines(rows(status.get("roots")))
    yield from _count_lines(mapping(status.get("counts")))
    yield (Span("queue      "), Span(queue_text(status)))
    yield from _model_lines(mapping(status.get("models")))
    yield from _evidence_lines(mapping(status.get("evidence")))
    yield from _extraction_lines(mapping(status.get("extraction")))
    yield from _verdict_lines(mapping(status.get("verdicts")))
    database = mapping(status.get("database"))
    size = bytes_text(database.get("bytes"))
    yield (Span(f"database   {printable(database.get('path', '?'))} · {size}"),)
    yield from _stage_lines(mapping(status.get("stages")))


def refining_text(status: Mapping[str, object]) -> str | None:
    """What the language model is still at, as a phrase."""
    model = mapping(mapping(status.get("models")).get("llm"))
    # While it is looked for, there may be none.
    if status.get("refining") is None or model.get("state") == "loading":
        return None
    refining = mapping(status["refining"])
    parts = []
    if blocks := refining.get("blocks"):
        parts.append(f"{blocks} blocks to read")
    if facts := refining.get("facts"):
        parts.append(f"{facts} facts to compare")
    return f"the language model goes on: {', '.join(parts) or 'nearly done'}"


def refining_lines(status: Mapping[str, object]) -> Iterator[Line]:
    """After a wait for the index: what is still going on, if anything."""
    if refining := refining_text(status):
        yield (Span(f"{refining}; `recalld sync --refined` waits for it", "dim"),)


def queue_text(status: Mapping[str, object]) -> str:
    """What waits, as a phrase."""
    queue = mapping(status.get("queue"))
    names = (
        ("dirty", "changed notes"),
        ("embed", "vectors"),
        ("extract", "refinements"),
        ("parked", "parked"),
    )
    parts = [f"{queue[key]} {name}" for key, name in names if queue.get(key)]
    return ", ".join(parts) or "empty"


def status_phrase(status: Mapping[str, object]) -> str:
    """The status in one short line, for a service manager or a log."""
    state = str(status.get("state")).replace("_", " ")
    counts = mapping(status.get("counts"))
    phrase = f"{state}: {counts.get('notes', 0)} notes, {counts.get('facts', 0)} facts"
    waiting = queue_text(status)
    if waiting != "empty":
        phrase += f"; waiting: {waiting}"
    troubled = [row.get("name") for row in rows(status.get("roots")) if row.get("state") != "ok"]
    return phrase + (f"; see roots {', '.join(map(printable, troubled))}" if troubled else "")


def failures(status: Mapping[str, object]) -> list[str]:
    """What did not work, a sentence each: roots, unreadable notes and failed stages.

    A language model that failed is none of it: the rules' facts stand, and it is asked again.
    """
    found = []
    for root in rows(status.get("roots")):
        if root.get("state") in ("unavailable", "held"):
            found.append(f"root {printable(root.get('name'))} is {root['state']}")
        unreadable = root.get("unreadable")
        if isinstance(unreadable, list) and unreadable:
            found.append(f"root {printable(root.get('name'))} has {len(unreadable)} unreadable")
    for name, stage in mapping(status.get("stages")).items():
        failed = mapping(stage).get("failed")
        if failed and name not in _OF_THE_MODEL:
            found.append(f"stage {printable(name)} failed {failed} times")
    return found


def span_of(seconds: object) -> str:
    """Seconds as people say them, in at most two units."""
    if not isinstance(seconds, int | float):
        return "?"
    left = max(0, int(seconds))
    parts = []
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"


def bytes_text(count: object) -> str:
    """A size in bytes as people say it."""
    if not isinstance(count, int | float):
        return "?"
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def _root_lines(roots: list[Mapping[str, object]]) -> Iterator[Line]:
    if not roots:
        yield (Span("roots      "), Span("none are watched", "bad"))
    for number, root in enumerate(roots):
        pending = f" · {root['pending']} waiting" if root.get("pending") else ""
        yield (
            Span("roots      " if number == 0 else " " * 11),
            Span(printable(root.get("name", "")), "strong"),
            Span(" "),
            state_span(str(root.get("state"))),
            Span(f" · {root.get('notes', 0)} notes{pending} · "),
            Span(printable(root.get("path", "")), "dim"),
        )
        if root.get("hint"):
            yield (Span(f"{' ' * 13}{printable(root['hint'])}", "dim"),)
        for kind in ("unreadable", "skipped"):
            yield from _problem_lines(kind, root.get(kind))


def _problem_lines(kind: str, problems: object) -> Iterator[Line]:
    if not isinstance(problems, list):
        return
    style: Style = "bad" if kind == "unreadable" else "dim"
    for problem in problems[:_PROBLEMS_SHOWN]:
        values = problem.values() if isinstance(problem, Mapping) else [problem]
        text = " · ".join(printable(each) for each in values if each not in (None, ""))
        yield (Span(f"{' ' * 13}{kind}: {text}", style),)
    if len(problems) > _PROBLEMS_SHOWN:
        yield (Span(f"{' ' * 13}and {len(problems) - _PROBLEMS_SHOWN} more {kind}", style),)


def _count_lines(counts: Mapping[str, object]) -> Iterator[Line]:
    shown = [
        f"{counts[name]} {name}"
        for name in ("notes", "passages", "facts", "entities", "links", "conflicts")
        if name in counts
    ]
    if shown:
        yield (Span("memory     "), Span(" · ".join(shown)))
    by_category = mapping(counts.get("by_category"))
    if by_category:
        parts = (f"{count} {printable(name)}" for name, count in by_category.items())
        yield (Span(" " * 11), Span(" · ".join(parts), "dim"))


def _model_lines(models: Mapping[str, object]) -> Iterator[Line]:
    for number, (use, value) in enumerate(models.items()):
        model = mapping(value)
        name = f" {printable(model['name'])}" if model.get("name") else ""
        size = f" ({model['dimension']})" if model.get("dimension") else ""
        yield (
            Span("models     " if number == 0 else " " * 11),
            Span(f"{printable(use)}{name}{size} "),
            state_span(str(model.get("state"))),
        )
        if model.get("hint"):
            yield (Span(f"{' ' * 13}{printable(model['hint'])}", "dim"),)


def _evidence_lines(evidence: Mapping[str, object]) -> Iterator[Line]:
    """From where on an answer is given, and whether that was measured in this memory."""
    values = [
        value
        for value in mapping(evidence.get("threshold")).values()
        if isinstance(value, int | float)
    ]
    if not values:
        return
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    shown = low if low == high else f"{low} to {high} by language"
    if evidence.get("measured"):
        day, count = printable(evidence["measured"]), printable(evidence.get("statements"))
        why = f"measured on {day} over {count} statements"
    else:
        why = "as shipped with the model"
    why += ", being measured now" if evidence.get("measuring") is True else ""
    yield (Span(f"evidence   threshold {shown} · "), Span(why, "dim"))


def _extraction_lines(extraction: Mapping[str, object]) -> Iterator[Line]:
    """What the language model still has to read, what it gave up and what it was not believed."""
    lines: list[Line] = []
    if pending := extraction.get("pending"):
        lines.append((Span(f"{pending} blocks wait for the language model"),))
    refused = mapping(extraction.get("refused"))
    if refused:
        counts = ", ".join(f"{count} {printable(reason)}" for reason, count in refused.items())
        lines.append((Span(f"facts not taken from the model: {counts}", "dim"),))
    if beside := extraction.get("beside"):
        lines.append(
            (Span(f"the rules' facts beside the model's, which do not say them: {beside}", "dim"),)
        )
    parked = rows(extraction.get("parked"))
    lines += [(_parked(row),) for row in parked[:_PROBLEMS_SHOWN]]
    if len(parked) > _PROBLEMS_SHOWN:
        lines.append((Span(f"and {len(parked) - _PROBLEMS_SHOWN} more parked", "bad"),))
    if parked:
        lines.append((Span("`recalld reextract --parked` tries these again", "dim"),))
    for number, line in enumerate(lines):
        yield (Span("facts      " if number == 0 else " " * 11), *line)


def _verdict_lines(verdicts: Mapping[str, object]) -> Iterator[Line]:
    """What the language model is still to be asked about, and what of its answers came to nothing."""
    lines: list[Line] = []
    if pending := verdicts.get("pending"):
        lines.append((Span(f"{pending} facts wait to be compared by the language model"),))
    if refused := mapping(verdicts.get("refused")):
        counts = ", ".join(f"{count} {printable(reason)}" for reason, count in refused.items())
        lines.append((Span(f"merges refused, as the facts differ: {counts}", "dim"),))
    if failed := verdicts.get("failed"):
        lines.append((Span(f"{failed} pairs got no usable answer", "bad"),))
        lines.append((Span("`recalld reextract --parked` asks again", "dim"),))
    for number, line in enumerate(lines):
        yield (Span("verdicts   " if number == 0 else " " * 11), *line)


def _parked(row: Mapping[str, object]) -> Span:
    return Span(f"parked: {place_text(row)} · {printable(row.get('reason', ''))}", "bad")


def queued_lines(result: Mapping[str, object]) -> Iterator[Line]:
    """How many blocks were given to the language model again, and how it is."""
    model = mapping(result.get("model"))
    name = printable(model.get("name") or "the language model")
    yield (
        Span(f"{result.get('queued', 0)} blocks wait for {name} again; it is "),
        state_span(str(model.get("state"))),
    )
    if model.get("hint"):
        yield (Span(f"  {printable(model['hint'])}", "dim"),)


def reembedding_lines(result: Mapping[str, object]) -> Iterator[Line]:
    """How far all vectors are being made again, and what recall goes by meanwhile."""
    change = mapping(result.get("reembedding"))
    if not change:
        yield (Span("there is nothing to embed"),)
        return
    yield (
        Span(f"{change.get('done')} of {change.get('total')} statements are embedded for "),
        Span(printable(change.get("model", "?")), "strong"),
    )
    meanwhile = change.get("recall_uses")
    told = f"recall uses {printable(meanwhile)}" if meanwhile else "keywords stand in"
    yield (Span(f"{told} meanwhile; `recalld status` says how far it is", "dim"),)


def _stage_lines(stages: Mapping[str, object]) -> Iterator[Line]:
    for number, (name, value) in enumerate(stages.items()):
        stage = mapping(value)
        last = printable(stage.get("last_ok") or "never")
        line = [
            Span("stages     " if number == 0 else " " * 11),
            Span(f"{printable(name)} · last success {last}"),
        ]
        if stage.get("failed"):
            line.append(Span(f" · failed {stage['failed']}", "bad"))
        yield tuple(line)
