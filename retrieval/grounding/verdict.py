"""Whether a fact that a language model drew from a block is what the block says.

The model is trusted with choosing and shortening, not with wording: a word that the block does not have may
be a lie as well as a synonym, and rules cannot tell. Refusing costs little, as the facts found by rules stay.
It must not know of models, prompts or the store.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from retrieval.grounding.clauses import Analysed, Token, analyse
from retrieval.grounding.drawing import (
    SHORTEST_STEM,
    Case,
    judge_clauses,
    shared_prefix,
)
from retrieval.grounding.orders import QUOTED, order_in
from retrieval.grounding.refusals import Grounded, Refused
from retrieval.grounding.wording import listed, speech
from retrieval.text.scripts import fold
from retrieval.text.words import Language, language_of

__all__ = ["Grounded", "Refused", "ground"]

# Of the words that carry meaning; the rest must be other forms of the block's words.
MIN_SHARE = 0.8
_TABLE_RULE = re.compile(r"\s*\|?[\s:|-]*-{2,}[\s:|-]*")
_KANA_ENDINGS = re.compile(
    "です|でした|ます|ました|ません|している|していた|して|する|した|します|しました|ている|ています|ある|あり|あります|いる|います|から|まで|より"
    "|という|ために|には|では|とは|への|での|との|ので|のは|さん|くん|ちゃん|さま|され|られ|れる|せる|だった|である|こと|もの"
)


def ground(
    statement: str,
    *,
    source: str,
    heading_path: Sequence[str] = (),
    markers: frozenset[str] = frozenset(),
) -> Grounded | Refused:
    """Whether `source`, read under its headings, supports a statement.

    Args:
        statement: One sentence, as a model gave it.
        source: The block's text, what the model saw of it.
        heading_path: Titles above the block; a subject may be taken from them.
        markers: Words that only the prompt's own examples use.
    """
    case = Case(
        statement=analyse(statement, language_of(statement), beside=_language(source)),
        source=_analysed_source(source),
        heading=_analysed_source(" . ".join([*heading_path, *_lead_ins(source)])),
    )
    return (
        _find_leak(case, markers)
        or _find_speech(case)
        or _find_quantity(case)
        or _find_word(case)
        or judge_clauses(case)
        or Grounded()
    )


@lru_cache(maxsize=32)
def _analysed_source(text: str) -> Analysed:
    """The same block is asked about many times, once for each of its facts."""
    return analyse(text)


@lru_cache(maxsize=32)
def _language(text: str) -> Language:
    return language_of(text)


def _lead_ins(source: str) -> list[str]:
    """Lines of a block that its other lines are read under: one before a list, the head of a table."""
    lines = source.splitlines()
    return [
        line
        for line, following in pairwise(lines)
        if line.rstrip().endswith((":", "：")) or _TABLE_RULE.fullmatch(following)
    ]


def _find_leak(case: Case, markers: frozenset[str]) -> Refused | None:
    leaked = case.statement.plains & frozenset(map(fold, markers)) - case.source.plains
    return Refused("leak", min(leaked)) if leaked else None


def _find_speech(case: Case) -> Refused | None:
    text = case.statement.text
    meta = speech()["meta"].first(text)
    if meta is not None and meta[0].lower() not in case.source.text.lower():
        return Refused("meta", meta[0])
    order = order_in(QUOTED.sub(" ", text))
    return Refused("instruction", order) if order else None


def _find_quantity(case: Case) -> Refused | None:
    there = (*case.source.quantities, *case.heading.quantities)
    for quantity in case.statement.quantities:
        if not any(quantity.within(other) for other in there):
            said = case.statement.text[quantity.start : quantity.end]
            return Refused(quantity.kind, said)
    return None


def _find_word(case: Case) -> Refused | None:
    tokens = [token for clause in case.statement.clauses for token in clause.tokens]
    words = [token for token in tokens if token.kind != "quantity"]
    if not words:
        return Refused("words", case.statement.text.strip())
    telling = listed("telling") & {token.plain for token in words} - case.source.plains
    if missing := telling - case.heading.plains:
        return Refused("words", min(missing))
    foreign: list[Token] = []
    counted = 0
    light = listed("light") if _is_fragment_whole(case) else frozenset()
    for token in words:
        if token.content and token.kind not in ("run", "kana"):
            counted += 1
            if not _is_known(token, case):
                if token.kind == "identifier" or (token.capital and not _is_opening(token, case)):
                    return Refused("name", token.plain)
                foreign.append(token)
    for token in foreign:
        if token.plain in light:
            counted -= 1
        elif not _is_other_form(token.plain, case):
            return Refused("words", token.plain)
    strange = [token for token in foreign if token.plain not in light]
    if counted and 1 - len(strange) / counted < MIN_SHARE and len(strange) > 1:
        return Refused("words", strange[0].plain)
    return _find_strange_run(case)


def _is_fragment_whole(case: Case) -> bool:
    """Whether some clause of the block is in the statement whole, so that no verb was exchanged."""
    return any(clause.keys <= case.statement.keys for clause in case.source.clauses)


def _is_opening(token: Token, case: Case) -> bool:
    return token.at == next(clause.tokens[0].at for clause in case.statement.clauses)


def _is_known(token: Token, case: Case) -> bool:
    if token.key in case.known or token.plain in case.source.plains | case.heading.plains:
        return True
    if "-" in token.plain:
        return all(
            part in case.source.plains or part in case.heading.plains
            for part in token.plain.split("-")
        )
    # A genitive without an apostrophe.
    return token.capital and token.plain[-1:] == "s" and token.plain[:-1] in case.source.plains


def _is_other_form(plain: str, case: Case) -> bool:
    """Whether the block has the word with another ending, or as part of a compound with a hyphen."""
    endings = listed("endings") | {""}
    for other in case.source.plains | case.heading.plains:
        if plain in other.split("-"):
            return True
        shared = shared_prefix(plain, other)
        if (
            shared >= SHORTEST_STEM
            and plain[shared:] in endings
            and other[shared:] in endings
            and other.isalpha()
        ):
            return True
    return False


def _find_strange_run(case: Case) -> Refused | None:
    """Characters of a script without spaces that stand in no pair, and no word, of the block."""
    texts = (fold(case.source.text), fold(case.heading.text))
    tokens = [t for c in case.statement.clauses for t in c.tokens if t.kind in ("run", "kana")]
    text = case.statement.text
    held = {
        at
        for token in tokens
        for start in (max(token.at - 1, 0), token.at, token.at + 1)
        for end in (start + max(len(token.plain), 2),)
        if any(_said(text, start, end, texts))
        for at in range(start, end)
    } | {t.at for t in tokens if len(t.plain) == 1 and any(t.plain in other for other in texts)}
    strange = [t for t in tokens if t.kind == "run" and not held.issuperset(range(t.at, t.end))]
    if strange:
        return Refused("words", strange[0].plain)
    for token in tokens:
        rest = _KANA_ENDINGS.sub(" ", token.plain) if token.kind == "kana" else ""
        if any(len(part) > 2 and not any(part in text for text in texts) for part in rest.split()):
            return Refused("words", token.plain)
    pairs = {t.key for t in tokens if t.kind == "run" and len(t.key) > 1}
    if len(pairs) > 4 and len(pairs - case.known) > (1 - MIN_SHARE) * len(pairs) + 2:
        return Refused("words", min(pairs - case.known))
    return None


def _said(text: str, start: int, end: int, others: tuple[str, ...]) -> Iterator[bool]:
    piece = fold(text[max(start, 0) : end])
    return (len(piece) > 1 and piece in other for other in others)
