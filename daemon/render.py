"""Puts the daemon's results into lines for people: pure, from a method's result to styled text.

Text of notes and paths may hold anything, so every piece passes `printable`. It must not know of
terminals, colours or files: a style is a word that `daemon.terminal` understands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

Style = Literal["plain", "strong", "dim", "good", "bad", "busy"]

_LINE_ENDS = re.compile("\r\n?|[\u2028\u2029\x85\x0b\x0c]")
# C0 but tab and line feed, DEL, C1, and what reorders the text of a whole line.
_UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_UNESCAPED_BY_JSON = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_REASONS = {
    "no_evidence": "nothing in the notes answers this",
    "nothing_matches_filter": "no note fits the filters",
    "empty_memory": "there are no notes in memory yet",
}
_WITHOUT_MODEL = {
    "model_off": "there is no language model",
    "model_missing": "the language model is not there",
    "model_down": "the language model does not answer",
    "model_slow": "the language model did not answer in time",
    "model_busy": "the language model is busy",
    "model_loading": "the language model is loading",
    "model_failed": "the language model failed",
    "unreadable": "what the language model said could not be read",
    "unsupported": "the notes bear out nothing that the language model said",
}
_STATES: dict[str, Style] = {
    **dict.fromkeys(("ok", "idle"), "good"),
    **dict.fromkeys(("starting", "catching_up", "busy", "stopping"), "busy"),
    **dict.fromkeys(("loading", "slow", "polling"), "busy"),
    **dict.fromkeys(("unavailable", "held", "down", "missing"), "bad"),
    "off": "dim",
}
_PROBLEMS_SHOWN = 10
_NAME_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line, printable, in one style."""

    text: str
    style: Style = "plain"


Line = tuple[Span, ...]


def printable(text: object, *, one_line: bool = True) -> str:
    """`text` without anything that steers a terminal: each such character becomes U+FFFD.

    On one line, line ends and tabs become spaces; otherwise line ends stay, all as line feeds.
    """
    flat = _LINE_ENDS.sub("\n", str(text))
    if one_line:
        flat = flat.replace("\n", " ").replace("\t", " ")
    return _UNPRINTABLE.sub("\ufffd", flat)


def json_text(value: object) -> str:
    """`value` as JSON that any terminal and any UTF-8 reader takes; it parses back to the same."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return _UNESCAPED_BY_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


# ---------------------------------------------------------------- recall


def recall_lines(result: Mapping[str, object]) -> Iterator[Line]:
    """The hits of a recall, best first: heading path, text, then where it comes from."""
    hits = _rows(result.get("hits"))
    for number, hit in enumerate(hits):
        if number:
            yield ()
        yield from _hit_lines(hit)
    degraded = _texts(result.get("degraded"))
    if degraded and hits:
        yield ()
        yield (Span(f"without: {', '.join(degraded)}", "dim"),)
    if isinstance(result.get("explanation"), Mapping):
        yield ()
        yield from tree_lines(result["explanation"])


def answer_lines(result: Mapping[str, object]) -> Iterator[Line]:
    """An answer: its text, then the sources it cites, in the order in which it cites them."""
    for line in printable(result.get("text", ""), one_line=False).split("\n"):
        yield (Span(line, "strong"),)
    hits = {str(hit.get("anchor")): hit for hit in _rows(result.get("hits"))}
    cited = [hits[anchor] for anchor in _texts(result.get("citations")) if anchor in hits]
    if cited:
        yield ()
    for hit in cited:
        yield (Span(" · ".join([*_texts(hit.get("context")), *_facts_about(hit)]), "dim"),)
    reason = result.get("reason")
    if reason is not None:
        yield ()
        told = _WITHOUT_MODEL.get(str(reason), printable(reason))
        yield (Span(f"a list of what was found: {told}; `recalld status` says more", "busy"),)
    others = [each for each in _texts(result.get("degraded")) if each != "llm"]
    if others:
        yield (Span(f"without: {', '.join(others)}", "dim"),)
    if isinstance(result.get("explanation"), Mapping):
        yield ()
        yield from tree_lines(result["explanation"])


def nothing_found(result: Mapping[str, object]) -> str:
    """Why a recall has no hits, as one sentence."""
    reason = str(result.get("reason"))
    sentence = f"nothing found: {_REASONS.get(reason, printable(reason))}"
    if words := _texts(result.get("unknown_words")):
        sentence += f"; no note has {', '.join(words)}"
    if degraded := _texts(result.get("degraded")):
        sentence += f" (without: {', '.join(degraded)})"
    return sentence


def _hit_lines(hit: Mapping[str, object]) -> Iterator[Line]:
    context = _texts(hit.get("context"))
    if context:
        yield (Span(" › ".join(context), "dim"),)
    for line in printable(hit.get("text", ""), one_line=False).split("\n"):
        yield (Span(line, "strong"),)
    yield (Span(" · ".join(_facts_about(hit)), "dim"),)
    if path := _texts(hit.get("path")):
        yield (Span(f"by way of: {' → '.join(path)}", "dim"),)
    if hit.get("superseded_by"):
        yield (Span(f"superseded by {printable(hit['superseded_by'])}", "busy"),)
    if conflicts := _texts(hit.get("conflicts_with")):
        yield (Span(f"conflicts with {', '.join(conflicts)}", "bad"),)


def _facts_about(hit: Mapping[str, object]) -> Iterator[str]:
    if hit.get("category"):
        yield printable(hit["category"])
    relevance = hit.get("relevance")
    if isinstance(relevance, int | float):
        yield f"{relevance:.2f}"
    source = hit.get("source")
    if isinstance(source, Mapping):
        yield _place(source)
    if date := _date_of(hit):
        yield date
    if hit.get("anchor"):
        yield printable(hit["anchor"])


def _place(source: Mapping[str, object]) -> str:
    lines = source.get("lines")
    place = printable(source.get("path", ""))
    if isinstance(lines, list) and lines:
        first, last = lines[0], lines[-1]
        place += f":{first}" if first == last else f":{first}-{last}"
    more = source.get("more")
    return f"{place} (+{more} more)" if more else place


def _date_of(hit: Mapping[str, object]) -> str:
    dates = hit.get("dates")
    if not isinstance(dates, Mapping):
        return ""
    happened = dates.get("happened")
    if isinstance(happened, list) and happened:
        first, last = printable(happened[0]), printable(happened[-1])
        return first if first == last else f"{first}–{last}"
    return printable(dates.get("stated") or "")


# ---------------------------------------------------------------- get and explain

_SHOWN_ABOVE = frozenset(
    {"text", "context", "category", "relevance", "source", "dates", "anchor", "kind"}
    | {"superseded_by", "conflicts_with", "path"}
)


def thing_lines(result: Mapping[str, object]) -> Iterator[Line]:
    """What `get` gives: the thing as recall shows it, then all else that is known of it."""
    if "text" in result:
        yield from _hit_lines(result)
    rest = {key: value for key, value in result.items() if key not in _SHOWN_ABOVE}
    if "text" not in result:
        rest = dict(result)
    if rest:
        yield ()
        yield from tree_lines(rest)


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


# ---------------------------------------------------------------- the graph


def related_lines(result: Mapping[str, object]) -> Iterator[Line]:
    """The nodes, nearest first, each with the links that lead to it from those above."""
    nodes = _rows(result.get("nodes"))
    names = {str(node.get("id")): _node_name(node) for node in nodes}
    placed: set[str] = set()
    for node in nodes:
        node_id = str(node.get("id"))
        yield (Span(names[node_id], "strong"), Span(f"  {printable(node_id)}", "dim"))
        for link in _rows(result.get("links")):
            one, other = str(link.get("from")), str(link.get("to"))
            if node_id in (one, other) and placed & {one, other}:
                words = printable(link.get("type", "")).replace("_", " ")
                yield (Span(f"  {names.get(one, one)} – {words} → {names.get(other, other)}"),)
        placed.add(node_id)


def _node_name(node: Mapping[str, object]) -> str:
    name = printable(node.get("name", ""))
    return name if len(name) <= _NAME_SHOWN else f"{name[: _NAME_SHOWN - 1]}…"


def conflict_lines(result: Mapping[str, object]) -> Iterator[Line]:
    """The pairs that disagree, a blank line between two, and how many more there are."""
    pairs = _rows(result.get("pairs"))
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
    for fact in _rows(pair.get("facts")):
        yield (Span(f"  {printable(fact.get('text', ''))}", "strong"),)
        parts = [_place(_mapping(fact.get("source"))), _date_of({"dates": fact})]
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


# ---------------------------------------------------------------- status


def status_lines(status: Mapping[str, object]) -> Iterator[Line]:
    """The status as a page: state, roots, queue, models, database, stages."""
    yield (
        Span(f"recalld {printable(status.get('version', '?'))}", "strong"),
        Span(f" · process {status.get('pid')} · up {span_of(status.get('uptime_s'))}", "dim"),
    )
    state = str(status.get("state"))
    waiting = status.get("oldest_pending_s")
    line: list[Span] = [Span("state      "), _state(state)]
    if isinstance(waiting, int | float):
        line.append(Span(f" · the oldest change has waited {span_of(waiting)}"))
    if status.get("ready") is False:
        line.append(Span(" · not answering yet", "bad"))
    yield tuple(line)
    yield from _root_lines(_rows(status.get("roots")))
    yield from _count_lines(_mapping(status.get("counts")))
    yield (Span("queue      "), Span(queue_text(status)))
    yield from _model_lines(_mapping(status.get("models")))
    yield from _extraction_lines(_mapping(status.get("extraction")))
    database = _mapping(status.get("database"))
    size = bytes_text(database.get("bytes"))
    yield (Span(f"database   {printable(database.get('path', '?'))} · {size}"),)
    yield from _stage_lines(_mapping(status.get("stages")))


def queue_text(status: Mapping[str, object]) -> str:
    """What waits, as a phrase."""
    queue = _mapping(status.get("queue"))
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
    counts = _mapping(status.get("counts"))
    phrase = f"{state}: {counts.get('notes', 0)} notes, {counts.get('facts', 0)} facts"
    waiting = queue_text(status)
    if waiting != "empty":
        phrase += f"; waiting: {waiting}"
    troubled = [row.get("name") for row in _rows(status.get("roots")) if row.get("state") != "ok"]
    return phrase + (f"; see roots {', '.join(map(printable, troubled))}" if troubled else "")


def failures(status: Mapping[str, object]) -> list[str]:
    """What did not work, a sentence each: roots, unreadable notes and failed stages.

    A language model that failed is none of it: the rules' facts stand, and it is asked again.
    """
    found = []
    for root in _rows(status.get("roots")):
        if root.get("state") in ("unavailable", "held"):
            found.append(f"root {printable(root.get('name'))} is {root['state']}")
        unreadable = root.get("unreadable")
        if isinstance(unreadable, list) and unreadable:
            found.append(f"root {printable(root.get('name'))} has {len(unreadable)} unreadable")
    for name, stage in _mapping(status.get("stages")).items():
        failed = _mapping(stage).get("failed")
        if failed and name != "facts":
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
            _state(str(root.get("state"))),
            Span(f" · {root.get('notes', 0)} notes{pending} · "),
            Span(printable(root.get("path", "")), "dim"),
        )
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
    by_category = _mapping(counts.get("by_category"))
    if by_category:
        parts = (f"{count} {printable(name)}" for name, count in by_category.items())
        yield (Span(" " * 11), Span(" · ".join(parts), "dim"))


def _model_lines(models: Mapping[str, object]) -> Iterator[Line]:
    for number, (use, value) in enumerate(models.items()):
        model = _mapping(value)
        name = f" {printable(model['name'])}" if model.get("name") else ""
        size = f" ({model['dimension']})" if model.get("dimension") else ""
        yield (
            Span("models     " if number == 0 else " " * 11),
            Span(f"{printable(use)}{name}{size} "),
            _state(str(model.get("state"))),
        )
        if model.get("hint"):
            yield (Span(f"{' ' * 13}{printable(model['hint'])}", "dim"),)


def _extraction_lines(extraction: Mapping[str, object]) -> Iterator[Line]:
    """What the language model still has to read, what it gave up and what it was not believed."""
    lines: list[Line] = []
    if pending := extraction.get("pending"):
        lines.append((Span(f"{pending} blocks wait for the language model"),))
    refused = _mapping(extraction.get("refused"))
    if refused:
        counts = ", ".join(f"{count} {printable(reason)}" for reason, count in refused.items())
        lines.append((Span(f"facts not believed, as the notes don't say so: {counts}", "dim"),))
    parked = _rows(extraction.get("parked"))
    lines += [(_parked(row),) for row in parked[:_PROBLEMS_SHOWN]]
    if len(parked) > _PROBLEMS_SHOWN:
        lines.append((Span(f"and {len(parked) - _PROBLEMS_SHOWN} more parked", "bad"),))
    if parked:
        lines.append((Span("`recalld reextract --parked` tries these again", "dim"),))
    for number, line in enumerate(lines):
        yield (Span("facts      " if number == 0 else " " * 11), *line)


def _parked(row: Mapping[str, object]) -> Span:
    return Span(f"parked: {_place(row)} · {printable(row.get('reason', ''))}", "bad")


def queued_lines(result: Mapping[str, object]) -> Iterator[Line]:
    """How many blocks were given to the language model again, and how it is."""
    model = _mapping(result.get("model"))
    name = printable(model.get("name") or "the language model")
    yield (
        Span(f"{result.get('queued', 0)} blocks wait for {name} again; it is "),
        _state(str(model.get("state"))),
    )
    if model.get("hint"):
        yield (Span(f"  {printable(model['hint'])}", "dim"),)


def _stage_lines(stages: Mapping[str, object]) -> Iterator[Line]:
    for number, (name, value) in enumerate(stages.items()):
        stage = _mapping(value)
        last = printable(stage.get("last_ok") or "never")
        line = [
            Span("stages     " if number == 0 else " " * 11),
            Span(f"{printable(name)} · last success {last}"),
        ]
        if stage.get("failed"):
            line.append(Span(f" · failed {stage['failed']}", "bad"))
        yield tuple(line)


def _state(state: str) -> Span:
    return Span(printable(state).replace("_", " "), _STATES.get(state, "plain"))


# The daemon on the socket may be of another version: what has another shape is shown as absent.


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _rows(value: object) -> list[Mapping[str, object]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def _texts(value: object) -> list[str]:
    return [printable(each) for each in value] if isinstance(value, list) else []
