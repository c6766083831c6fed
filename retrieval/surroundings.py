"""What stands round a hit in its note: its passage, and the lines about it.

Text comes from the store, so that nothing private and no secret comes back, and lines are those that hits name, also
while a file has changed and is not yet read. It must not know how hits were found.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from recalld.records import Around, Excerpt, Hit, Lines, NoteId, PassageId
from recalld.store.connection import Connection
from recalld.store.details import block_texts
from recalld.store.rows import PassageRow, passage_rows
from retrieval.presenting import Kept

# No note has more, and SQLite takes no number that is much larger.
_MOST_LINES = 2**31
_ITEM_NUMBER = re.compile(r"\A\s*\d{1,9}[.)]\s")


def surrounded(
    connection: Connection,
    hits: Sequence[Hit],
    kept: Sequence[Kept],
    around: Around | None,
    max_chars: int,
) -> tuple[Hit, ...]:
    """The same hits with what is wanted about each, best first, as far as `max_chars` goes after their own texts.

    Nothing comes twice: no passage that says no more than its hit, no lines that a better hit has brought.

    Args:
        kept: What the hits were made of, in the same order.
    """
    if around is None or not (around.passages or around.lines):
        return tuple(hits)
    left = max_chars - sum(len(hit.text) for hit in hits)
    places = _standing(connection, kept) if around.lines else {}
    brought: dict[NoteId, list[Lines]] = {}
    given = []
    for hit, one in zip(hits, kept, strict=True):
        passage = one.ranked.passage
        whole = _more_than(hit, passage, left) if around.passages else None
        left -= _length(whole)
        about = None
        if around.lines:
            about = _lines_about(
                connection, places.get(passage.passage_id), hit, around.lines, left
            )
            seen = brought.setdefault(passage.note_id, [])
            if any(_holds(lines, about.lines) for lines in seen):
                about = replace(about, text=None)
            if about.text is not None:
                seen.append(about.lines)
            left -= _length(about)
        given.append(replace(hit, passage=whole, source_text=about))
    return tuple(given)


def lines_round(connection: Connection, note_id: NoteId, lines: Lines, around: int) -> Excerpt:
    """The note's lines from `around` before to `around` after; those with nothing but private parts are empty."""
    around = min(around, _MOST_LINES)
    return _joined(kept_lines(connection, note_id, _spread(lines, around)), lines, around)


def kept_lines(connection: Connection, note_id: NoteId, wanted: Lines) -> dict[int, str]:
    """The note's lines by number, without private parts and with secrets masked, as far as they hold anything."""
    return {
        number: line
        for start, _, text in block_texts(connection, note_id, wanted)
        for number, line in enumerate(text.removesuffix("\n").split("\n"), start)
        if wanted.first <= number <= wanted.last and line.strip()
    }


def widest(kept: Mapping[int, str], lines: Lines, around: int, most: int) -> Excerpt:
    """`lines` with as many on both sides, up to `around`, as `most` characters hold; no text where not even they fit.

    Args:
        kept: As `kept_lines` gives them, from `around` before to `around` after.
    """
    end = max(kept, default=lines.first)
    left = most - len(_joined(kept, lines, 0).text or "")
    if left < 0:
        return Excerpt(lines=lines, text=None)
    for distance in range(1, around + 1):
        beside = [lines.first - distance, lines.last + distance]
        beside = [number for number in beside if 1 <= number <= end]
        if not beside:
            break
        left -= sum(len(kept.get(number, "")) + 1 for number in beside)
        if left < 0:
            return _joined(kept, lines, distance - 1)
    return _joined(kept, lines, around)


def _standing(connection: Connection, kept: Sequence[Kept]) -> dict[PassageId, NoteId]:
    """The notes of the passages that stand where they stood: a note may have changed while a reranker took its time."""
    before = {one.ranked.passage.passage_id: one.ranked.passage for one in kept}
    now = passage_rows(connection, list(before))
    return {key: row.note_id for key, row in now.items() if row.lines == before[key].lines}


def _more_than(hit: Hit, passage: PassageRow, most: int) -> Excerpt | None:
    """The passage, without its text where `most` does not hold it; None where the hit says all of it."""
    if _letters(passage.text) == _letters(hit.text):
        return None
    fits = len(passage.text) <= most
    return Excerpt(lines=passage.lines, text=passage.text if fits else None)


def _lines_about(
    connection: Connection, note_id: NoteId | None, hit: Hit, around: int, most: int
) -> Excerpt:
    lines = hit.source.lines
    if note_id is None or most <= 0:
        return Excerpt(lines=lines, text=None)
    # Each takes a character at least.
    around = min(around, most)
    return widest(kept_lines(connection, note_id, _spread(lines, around)), lines, around, most)


def _joined(kept: Mapping[int, str], lines: Lines, around: int) -> Excerpt:
    spread = _spread(lines, around)
    # Blank lines at the end are none of it.
    end = max((number for number in kept if number <= spread.last), default=spread.first)
    return Excerpt(
        lines=Lines(first=spread.first, last=max(end, lines.last)),
        text="\n".join(kept.get(number, "") for number in range(spread.first, end + 1)),
    )


def _spread(lines: Lines, around: int) -> Lines:
    return Lines(first=max(1, lines.first - around), last=lines.last + around)


def _length(excerpt: Excerpt | None) -> int:
    return len(excerpt.text or "") if excerpt else 0


def _holds(outer: Lines, inner: Lines) -> bool:
    return outer.first <= inner.first and inner.last <= outer.last


def _letters(text: str) -> str:
    """What two texts have in common that differ in markup alone."""
    return "".join(filter(str.isalnum, _ITEM_NUMBER.sub("", text).casefold()))
