"""Masks secret values in a note's text, before any of it is stored, sent or told.

What is a secret, its shape says (`shapes`), or a label: in the same line (`assigned`), in another one or in a table
(`layout`), in a command (`commands`). It knows nothing of blocks, and keeps the number of lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ingest.masking.assigned import find_assigned
from ingest.masking.commands import find_options
from ingest.masking.folding import fold
from ingest.masking.labels import find_labels
from ingest.masking.layout import find_laid_out
from ingest.masking.shapes import Span, find_shapes

MASK = "[redacted]"
_BREAK = re.compile(r"\r\n|\r|\n")
# How far behind its label a value may end: a line may be as long as a note, with labels all over it.
_REACH = 600
_LINE_END = re.compile(r"[\r\n]|\Z")
_ONLY_MASKS = re.compile(r"(?:\[redacted\]|[\s.,;:!?()\[\]{}|*_\"'`-])*")
# What is masked may let its neighbour be seen for what it is; then all is looked at again, but not for ever.
_ROUNDS = 8


def redact(text: str) -> tuple[str, int]:
    """The text with secret values masked, and how many there were.

    The words round a value stay (`password: [redacted]`), and so does the number of lines. What comes out is masked
    to the end: again, it is left alone.
    """
    total = 0
    for _ in range(_ROUNDS):
        spans = list(_merged(_find(text), text))
        if not spans:
            break
        total = total or len(spans)
        text = _mask(text, spans)
    return text, total


def _find(text: str) -> Iterator[Span]:
    """The spans of all secrets in the written text, unsorted; they may overlap."""
    folded = fold(text)
    labels = list(find_labels(folded.text))
    for finder in (find_shapes(folded.text), find_options(folded.text)):
        yield from ((folded.origin(start), folded.origin(end)) for start, end in finder)
    for label in labels:
        line_end = _LINE_END.search(folded.text, label.end, label.end + _REACH)
        stop = line_end.start() if line_end else len(folded.text)
        for start, end in find_assigned(folded.text, label, stop):
            yield folded.origin(start), folded.origin(end)
    for start, end in find_laid_out(folded.text, labels):
        yield folded.origin(start), folded.origin(end)


def _merged(spans: Iterable[Span], text: str) -> Iterator[Span]:
    """The spans in order, those that overlap as one, and none that is masked already."""
    start, end = -1, -1
    for first, last in sorted(spans):
        if first < end:
            end = max(end, last)
            continue
        if end > start and not _ONLY_MASKS.fullmatch(text, start, end):
            yield start, end
        start, end = first, last
    if end > start and not _ONLY_MASKS.fullmatch(text, start, end):
        yield start, end


def _mask(text: str, spans: Iterable[Span]) -> str:
    pieces: list[str] = []
    position = 0
    for start, end in spans:
        breaks = "".join(_BREAK.findall(text, start, end))
        pieces += (text[position:start], MASK, breaks)
        position = end
    return "".join((*pieces, text[position:]))
