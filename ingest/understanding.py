"""What a note's text says, from its text and place alone: parsed, dated, extracted by the rules.

Pure, so that it can be done anywhere and ahead of its turn. It must not know what is stored.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from datetime import date

from ingest.markdown.blocks import parse_note
from ingest.plan import note_date, shown_title, spoken_date
from ingest.rules.extractor import extract_in_steps
from ingest.steps import finish
from recalld.records import ExtractedBlock, FileStat, ParsedNote


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """A note's text, understood."""

    note: ParsedNote
    # The day that the note gives itself, in its head or its name.
    dated: date | None
    # One for each of the note's blocks, in order.
    blocks: tuple[ExtractedBlock, ...]


def understand_in_steps(text: str, path: str, stat: FileStat) -> Generator[None, None, Understood]:
    """Understands a note, with a pause now and then when it is long.

    Args:
        path: Relative to the root.
        stat: Of the file: what an undated note's "yesterday" counts from.
    """
    note = parse_note(text)
    dated = note_date(note, path)
    blocks = yield from extract_in_steps(
        note, note_date=spoken_date(dated, stat), title=shown_title(note, path)
    )
    return Understood(note=note, dated=dated, blocks=blocks)


def understand(text: str, path: str, stat: FileStat) -> Understood:
    """The same without a pause."""
    return finish(understand_in_steps(text, path, stat))
