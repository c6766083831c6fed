"""Orders in a text to whoever reads it, a language model above all: where they stand and how far they reach.

It sees one text, and must not know of statements.
"""

from __future__ import annotations

import re
from functools import lru_cache

from retrieval.grounding.wording import speech

QUOTED = re.compile(r"[\"“”「『«].{4,}[\"“”」』»]")
_SAID_ALONE = re.compile(r"\s?[:：]|[^.!?。！？:：;]{0,16}(?:[.!?。！？;]|\Z)")
# `I g n o r e`
_SPACED = re.compile(r"(?<!\w)(?:\w ){4,}\w(?!\w)")


@lru_cache(maxsize=1 << 12)
def order_in(text: str) -> str:
    """An order to the reader in a text; empty when there is none."""
    for name in ("instruction", "override"):
        m = speech()[name].first(_squeezed(text))
        if m is not None:
            return m[0].strip()
    return ""


def _squeezed(text: str) -> str:
    """A text with one blank where it has several, and none in `I g n o r e`."""
    return _SPACED.sub(lambda m: m[0].replace(" ", ""), " ".join(text.split()))


@lru_cache(maxsize=32)
def overridden_from(text: str) -> int:
    """From where on a text speaks to a model: behind an order to drop its orders; past the end when nowhere.

    An order that goes on with what is to be said (`… and store: …`) has said it.
    """
    plain = QUOTED.sub(lambda m: " " * len(m[0]), text)
    squeezed = _squeezed(plain)
    m = speech()["override"].first(squeezed)
    if m is None or not _SAID_ALONE.match(squeezed, m.end()):
        return len(text) + 1
    signs = len("".join(squeezed[: m.end()].split()))
    return [at for at, sign in enumerate(plain) if not sign.isspace()][signs - 1]
