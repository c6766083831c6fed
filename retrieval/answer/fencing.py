"""Keeps text from notes behind the marks that a prompt puts round it, whatever the text says.

Pure: text in, text out. It must not know what a prompt asks.
"""

from __future__ import annotations

import re
from functools import cache


def fenced(text: str, word: str) -> str:
    """`text` so that it neither closes a fence of `<<<word` and `word>>>` that it stands in nor opens another.

    However many brackets there are, in either case of letters and with any blanks before them, one is left.
    """
    opening, closing = _marks(word)
    return closing.sub(r"\1>", opening.sub("<", text)).strip()


@cache
def _marks(word: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    loose = r"\s+".join(map(re.escape, word.split()))
    return (
        re.compile(rf"<{{2,}}(?=\s*{loose})", re.IGNORECASE),
        re.compile(rf"({loose}\s*)>{{2,}}", re.IGNORECASE),
    )
