"""Keys by which facts that may say the same find each other. Pure; a fact's keys follow from its words alone.

Two facts that share at least a third of their content words share a key: with words in one fixed order, sets that
overlap so much cannot have disjoint beginnings (prefix filtering; Chaudhuri, Ganti, Kaushik 2006).
"""

from __future__ import annotations

import hashlib
import math
from functools import lru_cache

from retrieval.text.words import is_stop, language_of, tokens

LEAST_OVERLAP = 1 / 3


@lru_cache(maxsize=1 << 14)
def content_words(text: str) -> frozenset[str]:
    """The index words of a text without stop words; all of them when there are no others."""
    language = language_of(text)
    words = frozenset(tokens(text))
    return frozenset(word for word in words if not is_stop(word, language)) or words


def fact_keys(text: str) -> tuple[str, ...]:
    """The first of a fact's content words in a fixed order, as many as the overlap demands.

    Longer words come first, as they are rarer; the order knows nothing of any collection, so keys never change.
    """
    words = sorted(content_words(text), key=_order)
    count = len(words) - math.ceil(LEAST_OVERLAP * len(words)) + 1
    return tuple(words[:count])


def template(text: str) -> str:
    """The content words of a text that has numbers, without these; empty when it has none.

    `The weight is 81.2 kg.` has the one of every other day's weight.
    """
    words = content_words(text)
    rest = [word for word in words if not any(sign.isdigit() for sign in word)]
    return " ".join(sorted(rest)) if len(rest) < len(words) else ""


def _order(word: str) -> tuple[int, bytes]:
    return -len(word), hashlib.blake2b(word.encode(), digest_size=4).digest()
