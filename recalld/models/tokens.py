"""How many tokens a text may have, without the model's tokenizer: a bound from above and one from below.

The upper one keeps prompts within the window; the lower one shows that a server read less than it was
sent. Between them lies a factor of about three, because tokenizers differ most where scripts do.
"""

from __future__ import annotations

import re

# A word of more letters than this is at least two tokens in every tokenizer we know of.
_LONGEST_TOKEN = 12
# Every one of these runs is at least one token: tokenizers split where letters, digits and marks meet.
_RUN = re.compile(r"[^\W\d_]+|\d+|[^\w\s]+|_+")
# Written without spaces: Chinese, Japanese and Thai, Lao, Khmer, Burmese.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)
_ASCII_LETTERS = re.compile(r"[A-Za-z ]+")
_LATIN_LIKE = re.compile("[\u00c0-\u058f]+")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]+")


def most_tokens(text: str) -> int:
    """Tokens that a text hardly exceeds: 3 ASCII letters a token, 1 digit, mark or other letter, 3 an emoji."""
    letters = sum(map(len, _ASCII_LETTERS.findall(text)))
    latin = sum(map(len, _LATIN_LIKE.findall(text)))
    astral = sum(map(len, _ASTRAL.findall(text)))
    other = len(text) - letters - latin - astral
    most = -(-letters // 3) + -(-latin // 2) + 3 * astral + other
    # Letters and digits in turn (`A0A`) are a token each, and counted so below.
    return max(most, fewest_tokens(text))


def fewest_tokens(text: str) -> int:
    """Tokens that a text hardly falls short of: one a word or run of marks, one for 3 characters without spaces."""
    count = 0
    for run in _RUN.finditer(text):
        length = run.end() - run.start()
        if not run[0].isalnum():
            # A rule of a hundred dashes may be one token.
            count += 1
            continue
        unspaced = sum(map(len, _UNSPACED.findall(run[0])))
        count += max(unspaced // 3, 1 + (length - unspaced) // (_LONGEST_TOKEN + 1))
    return count


def cut_to(text: str, tokens: int) -> str:
    """The text, or so much of its beginning as hardly exceeds so many tokens."""
    while (most := most_tokens(text)) > tokens:
        text = text[: len(text) * tokens // most]
    return text
