"""What was found: the hits of a recall, an answer with its sources, a thing whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from daemon.render.lines import (
    Line,
    Span,
    date_text,
    mapping,
    place_text,
    printable,
    rows,
    texts,
)
from daemon.render.outline import tree_lines

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
_SHOWN_ABOVE = frozenset(
    {"text", "context", "category", "relevance", "source", "dates", "anchor", "kind"}
    | {"superseded_by", "conflicts_with", "path"}
)


def recall_lines(result: Mapping[str, object]) -> Iterator[Line]:
    """The hits of a recall, best first: heading path, text, then where it comes from."""
    hits = rows(result.get("hits"))
    for number, hit in enumerate(hits):
        if number:
            yield ()
        yield from _hit_lines(hit)
        yield from _about_lines(hit)
    degraded = texts(result.get("degraded"))
    if degraded and hits:
        yield ()
        yield (Span(f"without: {', '.join(degraded)}", "dim"),)
    if isinstance(result.get("explanation"), Mapping):
        yield ()
        yield from tree_lines(result["explanation"])


def answer_lines(result: Mapping[str, object]) -> Iterator[Line]:
    """An answer: its text, then the sources it cites, in the order in which it cites them."""
    for line in _printed(str(result.get("text", ""))):
        yield (Span(line, "strong"),)
    hits = {str(hit.get("anchor")): hit for hit in rows(result.get("hits"))}
    cited = [hits[anchor] for anchor in texts(result.get("citations")) if anchor in hits]
    if cited:
        yield ()
    for hit in cited:
        yield (Span(" · ".join([*texts(hit.get("context")), *_facts_about(hit)]), "dim"),)
    reason = result.get("reason")
    if reason is not None:
        yield ()
        told = _WITHOUT_MODEL.get(str(reason), printable(reason))
        yield (Span(f"a list of what was found: {told}; `recalld status` says more", "busy"),)
    others = [each for each in texts(result.get("degraded")) if each != "llm"]
    if others:
        yield (Span(f"without: {', '.join(others)}", "dim"),)
    if isinstance(result.get("explanation"), Mapping):
        yield ()
        yield from tree_lines(result["explanation"])


def nothing_found(result: Mapping[str, object]) -> str:
    """Why a recall has no hits, as one sentence."""
    reason = str(result.get("reason"))
    sentence = f"nothing found: {_REASONS.get(reason, printable(reason))}"
    if words := texts(result.get("unknown_words")):
        sentence += f"; no note has {', '.join(words)}"
    if degraded := texts(result.get("degraded")):
        sentence += f" (without: {', '.join(degraded)})"
    return sentence


def _hit_lines(hit: Mapping[str, object]) -> Iterator[Line]:
    context = texts(hit.get("context"))
    if context:
        yield (Span(" › ".join(context), "dim"),)
    for line in _printed(str(hit.get("text", ""))):
        yield (Span(line, "strong"),)
    yield (Span(" · ".join(_facts_about(hit)), "dim"),)
    if path := texts(hit.get("path")):
        yield (Span(f"by way of: {' → '.join(path)}", "dim"),)
    if hit.get("superseded_by"):
        yield (Span(f"superseded by {printable(hit['superseded_by'])}", "busy"),)
    if conflicts := texts(hit.get("conflicts_with")):
        yield (Span(f"conflicts with {', '.join(conflicts)}", "bad"),)


def _about_lines(hit: Mapping[str, object]) -> Iterator[Line]:
    """What a hit brings besides itself: its passage, and lines of the note by number."""
    passage = mapping(hit.get("passage")).get("text")
    if isinstance(passage, str):
        for line in _printed(passage):
            yield (Span(f"  {line}", "dim"),)
    about = mapping(hit.get("source_text"))
    text, lines = about.get("text"), about.get("lines")
    if isinstance(text, str):
        start = lines[0] if isinstance(lines, list) and lines else None
        for number, line in enumerate(_printed(text), start if isinstance(start, int) else 1):
            yield (Span(f"{number:>6}  {line}".rstrip(), "dim"),)


def _printed(text: str) -> list[str]:
    return printable(text, one_line=False).split("\n")


def _facts_about(hit: Mapping[str, object]) -> Iterator[str]:
    if hit.get("category"):
        yield printable(hit["category"])
    relevance = hit.get("relevance")
    if isinstance(relevance, int | float):
        yield f"{relevance:.2f}"
    source = hit.get("source")
    if isinstance(source, Mapping):
        yield place_text(source)
    if date := date_text(hit):
        yield date
    if hit.get("anchor"):
        yield printable(hit["anchor"])


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
