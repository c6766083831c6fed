"""Keys by which facts that may say the same find each other. Pure; a fact's keys follow from its words alone.

A key is two content words that a fact has, so that few facts share one however many there are. For short facts the
pairs are chosen so that any two that share a third of their words share a pair: with words in one fixed order, sets
that overlap so much have two words in common near their beginnings (prefix filtering; Chaudhuri, Ganti, Kaushik
2006; Wang, Li, Feng 2012). Long facts agree only where a stretch of them is the same: their keys are neighbours.
"""

from __future__ import annotations

import hashlib
import math
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from zlib import crc32

from retrieval.text.words import is_stop, language_of, tokens

LEAST_OVERLAP = 1 / 3
# Content words; of longer facts rules tell only what differs in one stretch, or has something put in.
LONG = 8
# The same in scripts without spaces, where each character gives about two.
_LONG_RUNS = 20
# Keys that a long fact shares with one that it says the same stretch as.
_LEAST_SHARED = 2
_NEARLY_ALL = 0.75
_CAPITAL = re.compile(r"(?<!\w)\w*[A-ZÀ-ÖØ-ÞΑ-ΩА-Я]\w*")
# Between the words of a key.
_AND = "\x1e"


def content_words(text: str) -> frozenset[str]:
    """The index words of a text without stop words; all of them when there are no others."""
    return _taken_apart(text)[1]


def words_in_order(text: str) -> tuple[str, ...]:
    """The same in the order of the text, with repetitions."""
    return _taken_apart(text)[0]


def fact_keys(text: str) -> tuple[str, ...]:
    """The keys of a fact: words by themselves where it has few, pairs of words that stand out, pairs of neighbours.

    Longer words stand out, as they are rarer; the order knows nothing of any collection, so keys never change.
    """
    words = sorted(content_words(text), key=_order)
    count = len(words)
    need = math.ceil(LEAST_OVERLAP * count)
    keys = dict.fromkeys(words if need == 1 else ())
    if count <= LONG:
        telling = words[: count - max(need, 2) + 2]
        keys |= dict.fromkeys(_pair(*two) for two in combinations(telling, 2))
    keys |= dict.fromkeys(_neighbours(text))
    return tuple(keys)


def names_in(text: str) -> frozenset[str]:
    """The content words with a capital letter, as names have; so has the word that a sentence begins with."""
    written = {token for found in _CAPITAL.finditer(text) for token in tokens(found[0])}
    return content_words(text) & written


@dataclass(frozen=True, slots=True)
class Profile:
    """What weighing a pair needs of a fact: its content words as numbers, and whether these are many."""

    words: frozenset[int]
    is_long: bool


def profile(text: str) -> Profile:
    """A fact's words, weighed."""
    words = content_words(text)
    in_runs = sum(not word.isascii() for word in words) * 2 > len(words)
    is_long = len(words) > (_LONG_RUNS if in_runs else LONG)
    return Profile(frozenset(crc32(word.encode()) for word in words), is_long)


def packed(weighed: Profile) -> bytes:
    """A profile in four bytes a word."""
    return array("I", [weighed.is_long, *sorted(weighed.words)]).tobytes()


@lru_cache(maxsize=1 << 16)
def unpacked(stored: bytes) -> Profile:
    """The profile that `packed` stored."""
    is_long, *words = array("I", stored)
    return Profile(frozenset(words), bool(is_long))


def may_agree(mine: Profile, theirs: Profile, shared_keys: int) -> bool:
    """Whether facts with so many keys in common are worth comparing.

    Where one is long they must have half of it in common, or one must hold nearly all of the other.
    """
    is_long = mine.is_long or theirs.is_long
    if is_long and shared_keys < _LEAST_SHARED:
        return False
    shorter, longer = sorted((len(mine.words), len(theirs.words)))
    if shorter < LEAST_OVERLAP * longer:
        return False
    common = len(mine.words & theirs.words)
    if is_long and common * 2 < longer and common < _NEARLY_ALL * shorter:
        return False
    return common >= LEAST_OVERLAP * longer


def template(text: str) -> str:
    """The content words of a text that has numbers, without these; empty when it has none.

    `The weight is 81.2 kg.` has the one of every other day's weight.
    """
    words = content_words(text)
    rest = [word for word in words if not any(sign.isdigit() for sign in word)]
    return " ".join(sorted(rest)) if len(rest) < len(words) else ""


@lru_cache(maxsize=1 << 13)
def _taken_apart(text: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """The content words in the order of the text, and as a set."""
    language = language_of(text)
    words = tokens(text)
    content = tuple(word for word in words if not is_stop(word, language)) or tuple(words)
    return content, frozenset(content)


def _neighbours(text: str) -> Iterator[str]:
    return (_pair(one, other) for one, other in pairwise(_taken_apart(text)[0]) if one != other)


def _pair(one: str, other: str) -> str:
    return f"{one}{_AND}{other}" if one < other else f"{other}{_AND}{one}"


def _order(word: str) -> tuple[int, bytes]:
    return -len(word), hashlib.blake2b(word.encode(), digest_size=4).digest()
