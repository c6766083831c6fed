"""Wordings that decide how a statement is to be taken: denied, weakened, about the text, an order, an update.

They are lists by language, in `wording.toml`. It sees one text at a time, and must not know of blocks or facts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

_WORD = re.compile(r"\w+(?:['’]\w+)?")
_CONTRACTED = re.compile(r"(?i)\b(ca|wo|sha)?(\w*)n['’]t\b")


@dataclass(frozen=True, slots=True)
class Wording:
    """A list of wordings: single words, phrases of whole words, and parts of text without spaces."""

    words: frozenset[str]
    phrases: re.Pattern[str] | None
    inside: re.Pattern[str] | None

    def count(self, text: str) -> int:
        """How many of its wordings a text has."""
        return sum(len(spans) for spans in self._spans(text))

    def holds(self, text: str, words: frozenset[str] | None = None) -> bool:
        """Whether a text has any of its wordings; `words` are those of the text, where they are known already."""
        return (
            not self.words.isdisjoint(words_of(text) if words is None else words)
            or (self.phrases is not None and self.phrases.search(text) is not None)
            or (
                self.inside is not None
                and not text.isascii()
                and self.inside.search(text) is not None
            )
        )

    def first(self, text: str) -> re.Match[str] | None:
        """A match of one of its phrases or inner parts."""
        for pattern in (self.phrases, self.inside):
            if pattern is not None and (m := pattern.search(text)):
                return m
        return None

    def spans_inside(self, text: str) -> list[tuple[int, int]]:
        """Where its parts of text without spaces stand."""
        return [m.span() for m in self.inside.finditer(text)] if self.inside is not None else []

    def ends(self, text: str) -> list[int]:
        """Where each of its words and phrases ends in a text with spaces."""
        single = [m.end() for m in _WORD.finditer(text) if m[0].lower() in self.words]
        phrases = self.phrases.finditer(text) if self.phrases is not None else ()
        return [*single, *(m.end() for m in phrases)]

    def without(self, text: str) -> str:
        """The text with each of its wordings taken out."""
        for pattern in (self.phrases, self.inside):
            if pattern is not None:
                text = pattern.sub(" ", text)
        return _WORD.sub(lambda m: " " if m[0].lower() in self.words else m[0], text)

    def _spans(self, text: str) -> tuple[list[str], list[str], list[str]]:
        words = [word for word in _WORD.findall(text.lower()) if word in self.words]
        phrases = self.phrases.findall(text) if self.phrases is not None else []
        inside = self.inside.findall(text) if self.inside is not None and not text.isascii() else []
        return words, phrases, inside


def words_of(text: str) -> frozenset[str]:
    """The words of a text in small letters, as wordings of single words are looked for."""
    return frozenset(_WORD.findall(text.lower()))


@cache
def negation() -> Wording:
    """What denies."""
    return _wording(_lists()["polarity"], "negation")


@cache
def modalities() -> Mapping[str, Wording]:
    """The ways in which a statement is less than a fact: possible, planned, conditional and so on."""
    return _tables("modality")


def modality_of(text: str) -> frozenset[str]:
    """The names of the ways in which a text weakens what it says; a question is one."""
    words = words_of(text)
    found = {name for name, wording in modalities().items() if wording.holds(text, words)}
    if text.rstrip(" \"'”’」*_").endswith(("?", "？", "؟")):
        found.add("question")
    return frozenset(found)


@cache
def speech() -> Mapping[str, Wording]:
    """Text about the text (`meta`), and orders to its reader (`instruction`)."""
    return _tables("speech")


@cache
def scopes() -> Mapping[str, Wording]:
    """What makes of the words beside it less than what they say alone: reported, denied, refused, limited, bounded."""
    return _tables("scope")


@cache
def updates() -> Mapping[str, Wording]:
    """Wordings that say that a state is a new one, by kind."""
    return _tables("update")


@cache
def predicates() -> Mapping[str, Wording]:
    """Wordings that tell how many values a subject can have: `many`, `one`; and `held` by one at a time."""
    return _tables("predicate")


@cache
def listed(name: str) -> frozenset[str]:
    """A list of single words or characters."""
    words = str(_lists()["words"][name])
    return frozenset(words if name == "joining" else words.split())


def without_answer(text: str) -> str:
    """The text without a `yes` or `no` before it, which says something only of a question that is not there."""
    bare = _answer().sub("", text, count=1)
    return bare[:1].upper() + bare[1:] if bare != text else text


@cache
def _answer() -> re.Pattern[str]:
    words = "|".join(sorted(map(re.escape, listed("answers")), key=len, reverse=True))
    return re.compile(
        rf"^(?:(?:{words})(?:\s*[,.!;:，、。！；،]\s*|\s+[-–—]\s+|\s*$))+", re.IGNORECASE
    )


def without_contractions(text: str) -> str:
    """`doesn't` as `does not`, `can't` and `cannot` alike."""
    if "n't" not in text and "n’t" not in text and "annot" not in text:
        return text
    text = re.sub(r"(?i)\bcannot\b", "can not", text)
    full = {"ca": "can", "wo": "will", "sha": "shall"}
    return _CONTRACTED.sub(lambda m: f"{full.get((m[1] or '').lower(), '')}{m[2]} not", text)


def _tables(table: str) -> dict[str, Wording]:
    lists = _lists()[table]
    return {name: _wording(lists, name) for name in lists if not name.endswith("_inside")}


def _wording(table: Mapping[str, Sequence[str]], name: str) -> Wording:
    told = table.get(name, ())
    words = frozenset(word for word in told if word.isalpha())
    phrases = [phrase for phrase in told if phrase not in words]
    inside = table.get(f"{name}_inside", ())
    return Wording(
        words=words,
        phrases=re.compile(rf"(?<!\w)(?:{'|'.join(phrases)})(?!\w)", re.IGNORECASE)
        if phrases
        else None,
        inside=re.compile("|".join(inside), re.IGNORECASE) if inside else None,
    )


@cache
def _lists() -> Mapping[str, Mapping[str, Sequence[str]]]:
    text = resources.files(__package__).joinpath("wording.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
