"""What characters are: which scripts run without spaces, what an emoji is, which marks may be left out.

It knows of characters only, not of words, stems or languages' vocabularies.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from typing import Literal

ScriptName = Literal["zh", "ja", "ko", "th", "other"]

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\uac00-\ud7a3\ud7b0-\ud7ff"
_THAI = "\u0e01-\u0e3a\u0e40-\u0e4e"
_SOUTH_EAST = _THAI + (
    "\u0e81-\u0ece\u0edc-\u0edf"  # Lao
    "\u1000-\u103f\u104c-\u108f\u109a-\u109f\uaa60-\uaa7f"  # Myanmar
    "\u1780-\u17d3\u17d7\u17dc\u17dd"  # Khmer
)
# A stretch of a script written without spaces; Hangul too, whose particles cling to the word.
RUN = re.compile(f"[{_HAN}{_KANA}{_HANGUL}]+|[{_SOUTH_EAST}]+")

_PICTURE = (
    "\u231a\u231b\u2328\u23cf\u23e9-\u23f3\u23f8-\u23fa\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe"
    "\u2600-\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\U0001f000-\U0001faff"
)
_ONE_EMOJI = (
    "(?:[\U0001f1e6-\U0001f1ff]{2}"  # a flag is a pair of regional letters
    f"|[{_PICTURE}]\ufe0f?[\U0001f3fb-\U0001f3ff]?[\U000e0020-\U000e007f]*)"
)
# One picture as readers see it: families, flags, skin tones and keycaps whole. For `split`: one group.
EMOJI = re.compile(f"({_ONE_EMOJI}(?:\u200d{_ONE_EMOJI})*|[0-9#*]\ufe0f?\u20e3)")

# Characters that hold a compound together; every other symbol ends a word.
JOINERS = "-_./:@+#&%$~=\\,'"
_APOSTROPHES = "'\u2018\u2019\u201b\u02bc\u02b9\u00b4\u2032\u05f3\u05f4\uff07"

# Letters that don't decompose, and Arabic spellings that writers use for one another.
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"}
    | {"ة": "ه", "ى": "ي", "ـ": ""}
)


def fold(text: str) -> str:
    """Text in one case, compatibility forms unified, without the diacritics that writers leave out.

    Latin, Greek, Hebrew and Arabic lose their marks; kana, Hangul, Thai and Indic scripts keep theirs,
    and Cyrillic loses stress marks and the dots of `ё` only.
    """
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text).casefold().translate(_LETTERS)
    kept: list[str] = []
    base = ""
    for char in unicodedata.normalize("NFD", text):
        if unicodedata.category(char) != "Mn":
            base = char
        elif _may_lose(base, char):
            continue
        kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept))


def _may_lose(base: str, mark: str) -> bool:
    if base < "\u0400" or "\u0590" <= base < "\u0700":
        return True
    return mark in "\u0300\u0301" or (base == "е" and mark == "\u0308")


def units(run: str) -> list[str]:
    """The characters of a run, each with the marks that hang on it."""
    found: list[str] = []
    for char in run:
        if found and unicodedata.category(char) in ("Mn", "Mc"):
            found[-1] += char
        else:
            found.append(char)
    return found


def is_wordlike(char: str) -> bool:
    """Whether a character is a letter, a digit or a mark on one."""
    return char.isalnum() or unicodedata.category(char)[0] in "LNM"


def main_script(text: str) -> ScriptName | None:
    """The script that carries a text, by the language it points to; None for Latin, or for no letters.

    Kana decide for Japanese however few they are. Only the first 2,000 characters are looked at.
    """
    scripts = Counter(_script_of(char) for char in text[:2000] if char.isalpha())
    latin = scripts.pop(None, 0)
    # A character of these scripts says about as much as three Latin letters.
    if not scripts or scripts.total() * 3 < latin:
        return None
    return "ja" if scripts["ja"] else max(scripts, key=lambda script: scripts[script])


_BY_CLASS: tuple[tuple[re.Pattern[str], ScriptName], ...] = (
    (re.compile(f"[{_HAN}]"), "zh"),
    (re.compile(f"[{_KANA}]"), "ja"),
    (re.compile(f"[{_HANGUL}]"), "ko"),
    (re.compile(f"[{_THAI}]"), "th"),
)


@lru_cache(maxsize=4096)
def _script_of(char: str) -> ScriptName | None:
    if char < "\u0250" or "\u1e00" <= char <= "\u1eff":
        return None
    return next((script for members, script in _BY_CLASS if members.match(char)), "other")


class _Plain(dict[int, str]):
    """What becomes of each character between words; filled as characters are met."""

    def __missing__(self, code: int) -> str:
        self[code] = kept = _plain(chr(code))
        return kept


def _plain(char: str) -> str:
    category = unicodedata.category(char)
    if char in _APOSTROPHES:
        return "'"
    if category == "Cf" or "\ufe00" <= char <= "\ufe0f":
        return ""
    if char in JOINERS or category[0] in "LNM":
        return char
    # A long dash stands between words, a short one within.
    if (category == "Pd" and char not in "\u2014\u2015") or char == "\u2212":
        return "-"
    return " "


# For `str.translate`: letters, digits, marks and joiners stay, invisible characters go, the rest is a space.
PLAIN = _Plain()
