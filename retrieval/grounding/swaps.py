"""Whether two wordings of one thing give its participants each other's parts.

`Ana manages Bo` and `Bo manages Ana` have the same words. What may move about is a date, and what takes its
preposition along. It must not know which of the two is right.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations, pairwise

from retrieval.grounding.clauses import Clause, Token
from retrieval.grounding.wording import listed

_LONGEST = 24
_PARTICLE = re.compile("(?:さん|くん|ちゃん|さま)?(から|より|へ|まで|に|は|が)")
_PASSIVE_KANA = re.compile("[られ]れ")


def is_swapped(one: Clause, other: Clause) -> str:
    """The words of the participant that changed its part; empty when none did."""
    return (
        _exchanged_markers(one, other)
        or _turned_round(one, other)
        or _mirrored(one, other)
        or _raised(one, other)
        or _headed(one, other)
    )


def _shared(one: Clause, other: Clause) -> list[tuple[Token, Token]]:
    """Tokens that both have exactly once, as pairs, in the first one's order."""
    firsts = _once(one)
    seconds = _once(other)
    return [(token, seconds[key]) for key, token in firsts.items() if key in seconds]


def _once(clause: Clause) -> dict[str, Token]:
    found: dict[str, Token] = {}
    twice: set[str] = set()
    for token in clause.content:
        if token.key in found:
            twice.add(token.key)
        found[token.key] = token
    return {key: token for key, token in found.items() if key not in twice}


def _exchanged_markers(one: Clause, other: Clause) -> str:
    """`from X to Y` as `from Y to X`; `hired by Evan` as `hired Evan`."""
    pairs = [(a, b) for a, b in _shared(one, other) if a.kind != "quantity"]
    changed = [(a, b) for a, b in pairs if a.marker != b.marker]
    for (a, a_other), (b, b_other) in combinations(changed, 2):
        if a.marker == b_other.marker and b.marker == a_other.marker:
            if _agent_turned(a, b, a_other, b_other):
                continue
            return a.plain
    for a, b in changed:
        if (a.marker in listed("agents")) != (b.marker in listed("agents")):
            before = [x for x, _ in pairs if x.at < a.at]
            before_other = {y.key for _, y in pairs if y.at < b.at}
            if before and all(x.key in before_other for x in before):
                return a.plain
    return ""


def _agent_turned(a: Token, b: Token, a_other: Token, b_other: Token) -> bool:
    """Whether a passive became an active, with the agent at the other end."""
    agents = listed("agents")
    markers = {a.marker, b.marker, a_other.marker, b_other.marker}
    return (
        bool(markers & agents)
        and markers <= agents | {""}
        and ((a.at < b.at) != (a_other.at < b_other.at))
        and (a.marker in agents) == (b.marker in agents)
    )


def _turned_round(one: Clause, other: Clause) -> str:
    """Two participants without prepositions that stand the other way round about what is between."""
    pairs = [
        (a, b)
        for a, b in _shared(one, other)
        if a.kind in ("word", "name", "identifier") and not a.marker and not b.marker
    ]
    for (a, a_other), (_, v_other), (b, b_other) in combinations(pairs, 3):
        if a_other.at > v_other.at > b_other.at and not _is_identity(one, a, b):
            return f"{a.plain} … {b.plain}"
    return ""


def _is_identity(clause: Clause, a: Token, b: Token) -> bool:
    """`The plumber is Jan de Wit`, `Jan de Wit is the plumber`."""
    between = [t.plain for t in clause.tokens if a.end <= t.at < b.at]
    return any(word in listed("copulas") for word in between) and not any(
        token.content and token.kind == "word" and token.key.endswith(("ed", "t"))
        for token in clause.tokens
        if a.end <= token.at < b.at
    )


def _mirrored(one: Clause, other: Clause) -> str:
    """`… A m B …` as `… B m A …`, word by word, in scripts without spaces sign by sign."""
    first, second = _signs(one), _signs(other)
    while first and second and first[0] == second[0]:
        first, second = first[1:], second[1:]
    while first and second and first[-1] == second[-1]:
        first, second = first[:-1], second[:-1]
    size = len(first)
    if not 2 <= size <= _LONGEST or size != len(second):
        return ""
    for left in range(1, size):
        for right in range(1, size - left + 1):
            middle = first[left : size - right]
            turned = [*first[size - right :], *middle, *first[:left]]
            if turned == second and not _may_move(first[:left], middle, first[size - right :]):
                return " ".join(first[:left])
    return ""


def _may_move(left: Sequence[str], middle: Sequence[str], right: Sequence[str]) -> bool:
    movable = (*listed("markers"), "在", "从", "于")
    articles = listed("articles") | listed("romance_articles")
    for part in (left, right):
        opening = next((sign for sign in part if sign not in articles), part[0])
        if part[0] in movable or ":" in opening:
            return True
    return not middle or all(sign in listed("copulas") for sign in middle)


def _raised(one: Clause, other: Clause) -> str:
    """A Japanese participant that acts (`木村さんは`) where it was acted with (`木村さんから`)."""
    if _PASSIVE_KANA.search(one.text) or _PASSIVE_KANA.search(other.text):
        return ""
    acting, acted = _particles(one), _particles(other)
    for noun, particle in acting.items():
        if particle in ("は", "が") and acted.get(noun) in ("から", "より", "へ", "に"):
            return noun
    return ""


def _headed(one: Clause, other: Clause) -> str:
    """A Japanese place that is gone to (`東京へ`) where it was come from (`東京から`), or the other way."""
    here, there = _particles(one), _particles(other)
    ways = (("から", "より"), ("へ", "まで"))
    for noun, particle in here.items():
        for mine, theirs in (ways, ways[::-1]):
            if particle in mine and there.get(noun) in theirs:
                return noun
    return ""


def _particles(clause: Clause) -> dict[str, str]:
    """The particle behind each last pair of characters before kana."""
    found: dict[str, str] = {}
    for token, following in pairwise(clause.tokens):
        if following.kind == "kana" and token.kind in ("run", "name", "word"):
            m = _PARTICLE.match(following.plain)
            if m is not None:
                found[token.key] = m[1]
    return found


def _signs(clause: Clause) -> list[str]:
    if _has_runs(clause):
        return [sign for sign in clause.text if sign.isalnum()]
    return [token.plain for token in clause.tokens]


def _has_runs(clause: Clause) -> bool:
    return any(token.kind == "run" for token in clause.tokens)
