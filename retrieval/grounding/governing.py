"""Whether a statement takes words out from under the word that governs them, which it leaves out.

`The plan is to move`, `the claim that it broke`, `the backup of the database`: what follows the small word between
them belongs to what stands before it. A statement that leaves out the governor and the small word makes a deed of a
plan, and of a part the whole. That is seen by the places of words alone, in any language that has such small words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from retrieval.grounding.clauses import Analysed, Clause, Token
from retrieval.grounding.refusals import Refused
from retrieval.grounding.wording import listed
from retrieval.text.words import language_of

# In scripts without spaces, between a thing and what it has.
_HAS = re.compile("的|(?:さん|くん|ちゃん|さま|氏|様)?の")
_WITH = frozenset(("with", "met", "mit", "avec"))
# `D'Éric`, `dell'Anna`: the small word has grown together with the name.
_ELIDED = re.compile("(?:d|dell|dall|all|nell|sull)'")
_GERUND = re.compile(r"[a-z]{2,}ing")
# Arabic and Hebrew, but no word with the Arabic article, which is nobody's.
_SEMITIC = re.compile("(?!ال)[\u0590-\u05ff\u0620-\u06ff]")
_BREAK = re.compile(r"[^\w\s'-]|\n")
# Words left out before a subject: `Ana says`, but not `yesterday`.
_LEAST_OF_SPEECH = 2


@dataclass(frozen=True, slots=True)
class _Place:
    """A word with what stands between it and the word with a meaning before it."""

    token: Token
    governor: Token | None
    between: tuple[Token, ...]

    def links(self, binding: AbstractSet[str]) -> tuple[str, ...]:
        """The small words among these that bind."""
        small = tuple(token.plain for token in self.between if token.plain in binding)
        return (*small, "de") if _ELIDED.match(self.token.plain) else small


def find_governor(
    statement: Clause, drawn: Clause, source: Analysed, taken: Mapping[str, str]
) -> Refused | None:
    """What governs a word of a clause and is left out of a statement; None when nothing is.

    Args:
        statement: A sentence of the statement, as one clause.
        drawn: The source's clause that it is drawn from.
        source: The whole source.
        taken: The source's keys that the statement has, and each as the statement has it.
    """
    binding = _binding(source.text)
    tokens = _with_matrix(drawn, source, binding)
    own = {place.token.key: place for place in _places(statement.tokens, binding)}
    lost: list[Token] = []
    seen: set[str] = set()
    for place in _places(tokens, binding):
        token = place.token
        if token.key not in taken:
            lost.append(token)
            continue
        mine = own.get(taken[token.key])
        is_again = token.key in seen
        seen.add(token.key)
        if mine is not None and _is_share(place, mine, lost):
            return Refused("number", lost[-1].plain)
        if mine is None or is_again or token.kind in ("run", "kana", "quantity"):
            continue
        if _is_pulled_out(place, mine, lost, taken.keys(), binding):
            return Refused("roles", lost[-1].plain)
    return (
        _find_speaker(tokens, taken.keys(), source.text)
        or _find_possessed(statement, drawn, source, taken.keys())
        or _find_construct(statement, drawn, source.text, taken)
    )


def _with_matrix(drawn: Clause, source: Analysed, binding: AbstractSet[str]) -> tuple[Token, ...]:
    """The words of a clause; before them those of the clause that it hangs on by its first word or an infinitive."""
    infinitives = listed("infinitives") & binding
    hangs = any(token.plain in infinitives for token in drawn.tokens)
    if hangs or (drawn.tokens and drawn.tokens[0].plain in listed("links")):
        for before, clause in pairwise(source.clauses):
            if clause is drawn and before.sentence == drawn.sentence:
                return before.tokens + drawn.tokens
    return drawn.tokens


@lru_cache(maxsize=32)
def _binding(source: str) -> frozenset[str]:
    """The small words that bind; `de` is an article where it is no French or Spanish one."""
    binding = listed("links") | listed("markers")
    return binding if language_of(source) in ("fr", "es", "other") else binding - {"de"}


def _is_pulled_out(
    place: _Place,
    mine: _Place,
    lost: Sequence[Token],
    taken: AbstractSet[str],
    binding: AbstractSet[str],
) -> bool:
    if not lost:
        return False
    links, kept = place.links(binding), mine.links(binding)
    if (
        links
        and _WITH.issuperset(links)
        and any(token.plain in listed("light") for token in mine.between)
    ):
        # `A boiler with 2 bar` has 2 bar.
        return False
    governor = place.governor
    is_lost = governor is not None and governor.key not in taken
    if is_lost and links and not kept:
        return True
    ends = [token.plain for token in place.between[-1:]]
    last = links[-1] if links and ends == [links[-1]] else ""
    if last in listed("infinitives") and last not in kept:
        return True
    if not is_lost or kept:
        return False
    if not place.between and _GERUND.fullmatch(place.token.plain):
        return place.token.plain != mine.token.plain
    return _has_other_case(place, mine)


def _is_share(place: _Place, mine: _Place, lost: Sequence[Token]) -> bool:
    """`Two of the three disks` as `three disks`: a number of a number is left out."""
    whole, share = place.token, place.governor
    if share is None or share.kind != "quantity" or whole.kind != "quantity" or share not in lost:
        return False
    genitives = listed("genitives")
    return not genitives.isdisjoint(token.plain for token in place.between) and (
        genitives.isdisjoint(token.plain for token in mine.between)
    )


def _has_other_case(place: _Place, mine: _Place) -> bool:
    """`Die Sicherung der Datenbank` as `Die Datenbank`: the article tells whose the backup is."""
    there = [token.plain for token in place.between]
    here = [token.plain for token in mine.between]
    return there[-1:] == ["der"] and here[-1:] == ["die"]


def _find_speaker(tokens: Sequence[Token], taken: AbstractSet[str], text: str) -> Refused | None:
    """`Ana says the server is broken` as `The server is broken`: a subject and its verb are left out."""
    lost: list[Token] = []
    before: Token | None = None
    for token in tokens:
        if token.content and token.key in taken:
            begins = token.capital or (before is not None and before.plain in listed("articles"))
            is_subject = len(lost) >= _LEAST_OF_SPEECH and lost[0].plain not in listed("telling")
            if begins and is_subject and not _BREAK.search(text[lost[0].at : token.at]):
                return Refused("modality", lost[0].plain)
            return None
        if token.kind in ("quantity", "run", "kana") or token.plain in listed("markers"):
            return None
        if token.content:
            lost.append(token)
        before = token
    return None


def _find_possessed(
    statement: Clause, drawn: Clause, source: Analysed, taken: AbstractSet[str]
) -> Refused | None:
    """`Ana's dog`, `小王的狗`, `田中さんの犬` as the owner alone."""
    text = source.text
    for before, after in pairwise(drawn.content):
        if not _is_taken(before, taken, statement) or _is_taken(after, taken, statement):
            continue
        between = text[before.end : after.at]
        is_genitive = text[before.at : before.end].endswith("'s") and not between.strip()
        has_run = before.kind == "run" and _HAS.fullmatch(between)
        if (is_genitive or has_run) and text[before.at : after.at] not in statement.text:
            return Refused("roles", after.plain)
    return None


def _is_taken(token: Token, taken: AbstractSet[str], statement: Clause) -> bool:
    """Whether a statement has a token; in scripts without spaces it may have grown together with others there."""
    return token.key in taken or (token.kind == "run" and token.plain in statement.text)


def _find_construct(
    statement: Clause, drawn: Clause, text: str, taken: Mapping[str, str]
) -> Refused | None:
    """`أخت أحمد` as `أحمد`: in Semitic scripts the thing and its owner stand side by side with nothing between."""
    opening, beside = (*drawn.content[:2], None, None)[:2]
    first = next(iter(statement.content), None)
    if opening is None or beside is None or first is None or opening.key in taken:
        return None
    is_bare = _SEMITIC.match(opening.plain) and not text[opening.end : beside.at].strip()
    return (
        Refused("roles", opening.plain) if is_bare and taken.get(beside.key) == first.key else None
    )


def _places(tokens: Sequence[Token], binding: AbstractSet[str]) -> Iterator[_Place]:
    governor: Token | None = None
    between: list[Token] = []
    for token in tokens:
        if token.content and token.plain not in binding:
            yield _Place(token, governor, tuple(between))
            governor = token
            between = []
        else:
            between.append(token)
