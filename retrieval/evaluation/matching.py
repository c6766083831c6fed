"""Whether a hit is what a question wanted: by its words, by where it stands, or both. Pure."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from pathlib import PurePosixPath

from recalld.records import Hit, Source
from retrieval.evaluation.questions import Piece, Place
from retrieval.text.scripts import RUN, fold


def is_right(hit: Hit, piece: Piece) -> bool:
    """Whether the hit has all the words of the piece and stands in one of its places."""
    text = _plain(hit.text)
    return all(any(_holds(text, wording) for wording in each) for each in piece.words) and (
        not piece.places or any(stands_in(hit.source, place) for place in piece.places)
    )


def stands_in(source: Source, place: Place) -> bool:
    """Whether a hit is from the note named and shares a line with the lines named."""
    if not same_note(source.path, place.path):
        return False
    if place.first is None or place.last is None:
        return True
    return source.lines.first <= place.last and place.first <= source.lines.last


def same_note(path: str, wanted: str) -> bool:
    """Whether one path is the end of the other, whole names compared."""
    one, other = _names(path), _names(wanted)
    shorter = min(len(one), len(other))
    return bool(shorter) and one[-shorter:] == other[-shorter:]


def _holds(text: str, wording: str) -> bool:
    """Whether plain text has a wording, not merely inside a longer word or number."""
    wanted = _plain(wording)
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        if _begins_here(text, at) and _begins_here(text, at + len(wanted)):
            return True
        at = text.find(wanted, at + 1)
    return False


def _begins_here(text: str, at: int) -> bool:
    """Whether a word may begin, or the one before end, at this place."""
    if at in (0, len(text)) or " " in text[at - 1 : at + 1]:
        return True
    # Scripts without spaces tell no words apart; beside another script they end.
    return bool(RUN.match(text[at]) or RUN.match(text[at - 1]))


@lru_cache(maxsize=50_000)
def _plain(text: str) -> str:
    """Letters, marks and digits in one case and width; all else is one space."""
    kept = (char if unicodedata.category(char)[0] in "LMN" else " " for char in fold(text))
    return " ".join("".join(kept).split())


@lru_cache(maxsize=50_000)
def _names(path: str) -> tuple[str, ...]:
    # Some systems write a name's accents apart.
    composed = unicodedata.normalize("NFC", path)
    return tuple(name for name in PurePosixPath(composed).parts if name not in ("/", "."))
