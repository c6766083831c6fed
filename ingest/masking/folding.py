"""Text as it reads, whatever characters spell it: without width, accents and what can't be seen.

Wide letters, a zero-width space amid a word and a loose accent hide no word that is looked for by its plain spelling.
It knows nothing of secrets.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_UNSEEN = frozenset({"Mn", "Me", "Cf"})
_HANGUL = re.compile(r"[\uac00-\ud7a3]")


@dataclass(frozen=True, slots=True)
class Folded:
    """A text in its plain spelling, and where each of its characters stands in what was written."""

    text: str
    # One offset a character and one for the end; None where the spelling has as many characters.
    origins: tuple[int, ...] | None

    def origin(self, offset: int) -> int:
        """The offset in the written text of an offset in the spelling."""
        return offset if self.origins is None else self.origins[offset]


class _Spellings(dict[int, str | None]):
    """A character's plain spelling by its number, worked out when first met; None drops it."""

    def __missing__(self, number: int) -> str | None:
        character = chr(number)
        spelling: str | None = character
        category = unicodedata.category(character)
        if category in _UNSEEN:
            spelling = None
        elif category == "Zs":
            spelling = " "
        elif not _HANGUL.match(character):
            # Compatibility decomposition: its first character is the letter without what stands over it.
            first = unicodedata.normalize("NFKD", character)[0]
            spelling = character if unicodedata.combining(first) or first.isspace() else first
        self[number] = spelling
        return spelling


_SPELLINGS = _Spellings()


def fold(text: str) -> Folded:
    """The plain spelling of a text: letter case stays, and so do line ends and spaces."""
    if text.isascii():
        return Folded(text, None)
    folded = text.translate(_SPELLINGS)
    if len(folded) == len(text):
        return Folded(folded, None)
    kept = [at for at, character in enumerate(text) if _SPELLINGS[ord(character)] is not None]
    return Folded(folded, (*kept, len(text)))
