"""Hits and questions for the tests of evaluation."""

from __future__ import annotations

from recalld.records import Category, Hit, Lines, Source
from retrieval.evaluation.metrics import Judged
from retrieval.evaluation.questions import Piece, Place, Question


def hit(text: str = "a", path: str = "a.md", first: int = 1, last: int | None = None) -> Hit:
    return Hit(
        anchor=f"fact:{abs(hash((text, path, first))):016x}"[:13],
        kind="fact",
        text=text,
        context=(),
        category=Category.KNOWLEDGE,
        confidence=1.0,
        relevance=0.9,
        score=1.0,
        source=Source(root="notes", path=path, lines=Lines(first=first, last=last or first)),
        happened=None,
        stated=None,
    )


def words(*each: str) -> Piece:
    return Piece(words=tuple(tuple(one.split("|")) for one in each))


def place(path: str, first: int | None = None, last: int | None = None) -> Piece:
    return Piece(places=(Place(path=path, first=first, last=last or first),))


def question(*pieces: Piece, name: str = "q", categories: tuple[str, ...] = ()) -> Question:
    return Question(id=name, text=f"{name}?", pieces=pieces, categories=categories)


def ranked(*ranks: int | None, hits: int = 10, categories: tuple[str, ...] = ()) -> Judged:
    """A question whose pieces stand at these ranks; without ranks, one that nothing answers."""
    pieces = tuple(words(f"piece{number}") for number in range(len(ranks)))
    return Judged(
        question=question(*pieces, categories=categories),
        hits=tuple(hit(f"hit {number}") for number in range(hits)),
        ranks=ranks,
    )
