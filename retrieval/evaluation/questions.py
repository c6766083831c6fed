"""A question whose answer is known, as it is put to recall and judged by."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

from recalld.records import RecallFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Lines of a note, or the whole note where `first` and `last` are None; both count from 1."""

    # The note's path, or the end of it from a folder on.
    path: str
    first: int | None = None
    last: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One thing that has to come: a hit is right when it has the words and stands in one of the places."""

    # All of these, each in any of its wordings; empty: whatever it says.
    words: tuple[tuple[str, ...], ...] = ()
    # Any of these; empty: wherever it stands.
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, and what should come."""

    id: str
    text: str
    # Empty: nothing should come.
    pieces: tuple[Piece, ...]
    # What it counts under besides all.
    categories: tuple[str, ...] = ()
    limits: RecallFilter = field(default_factory=RecallFilter)
    # Demanded of each hit, instead of the threshold.
    min_relevance: float | None = None
    # The day on which it counts as asked; None = the present one.
    today: date | None = None

    @property
    def answerable(self) -> bool:
        """Whether something should come."""
        return bool(self.pieces)
