"""Whether a statement gives a value, a label or a preposition to another word than the source does.

`200 g flour with 100 g sugar` and `100 g flour with 200 g sugar` have the same words. A value belongs to the word
that it stands beside in its line or comma-part, a value behind a label to that label, and a preposition to what
follows it. It sees places only and must not know what the words mean.
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

# What ends the neighbourhood of a number; after a label a colon and the like do not.
_BREAK = re.compile(r"[,;.!?|()。，、；！？:：=\n]|\s[-–—/]\s")
_BREAK_AFTER_LABEL = re.compile(r"[,;.!?|)。，、；！？\n]")
# Content words between a number and its noun: `2 small red apples`.
_REACH = 3
_PART = re.compile(r"[,;，；、]\s*|\s[·|/]\s")
_LABELLED = re.compile(
    r"(?:[^\n]{0,200}?[.!?。！？]\s*)??[\s>*+-]*(?P<label>[^:：=()\n]{1,40}?)\s*(?:[:：=(（]|\s[-–—]|→|->)\s*(?P<value>\S.*)",
    re.DOTALL,
)
_LEAST_ITEMS = 2
# Letters that two forms of a label begin with alike: `owner`, `owns`.
_ALIKE = 3
_LONGEST_MARKER = 12
_PASSED_OVER = "了着著过過"


@dataclass(frozen=True, slots=True)
class _Bond:
    """A number and a word, or a day, beside it; `is_ahead` when the number comes first."""

    value: str
    word: str
    # The word as written: `HTTP` and `HTTPS` have one stem.
    plain: str
    is_ahead: bool


@dataclass(frozen=True, slots=True)
class _Item:
    """The keys of a label and of what stands behind it, without those that other items have too."""

    label: frozenset[str]
    value: frozenset[str]


def find_mispaired(
    statement: Clause, drawn: Sequence[Clause], said: Analysed, source: Analysed
) -> Refused | None:
    """What a sentence gives to another word than its source; None when everything stands with its own.

    Args:
        statement: A sentence of the statement, as one clause.
        drawn: The source's clauses that it is drawn from, the fullest first.
        said: The whole statement.
        source: The whole source.
    """
    return (
        _find_exchanged_value(statement, said, source)
        or _find_other_label(statement, said, source)
        or _find_exchanged_marker(statement, drawn, said, source)
        or _find_lent_value(statement, drawn)
    )


def _find_exchanged_value(statement: Clause, said: Analysed, source: Analysed) -> Refused | None:
    """A number beside a word where the source has another number beside that word, and another word beside it."""
    theirs = _source_bonds(source)
    if not theirs:
        return None
    full = {
        mine.key: one.key
        for mine in said.quantities
        for one in source.quantities
        if mine.within(one)
    }
    bonds = [
        (mine, full.get(mine.value, mine.value), _beside(mine, full, theirs))
        for mine in _bonds(statement.tokens, said.text)
    ]
    settled = {
        (value, mine.is_ahead)
        for mine, value, beside in bonds
        if any(one.value == value for one in beside)
    }
    for mine, value, beside in bonds:
        if any(one.value == value for one in beside):
            continue
        # The rest may be said once for all: `open` in `Open Mon 9-17, Tue 10-18`, `costs` in `Tea costs 2 euros,
        # coffee 3`, and verbs at the end in scripts without spaces.
        is_apart = not mine.is_ahead or not mine.word.isascii()
        if is_apart and (value, mine.is_ahead) in settled:
            continue
        is_others = any(
            one.is_ahead == mine.is_ahead and _measure(one.value) == _measure(value)
            for one in beside
        )
        if is_others and any(
            one.value == value and one.is_ahead == mine.is_ahead for one in theirs
        ):
            return Refused("number", mine.word)
    return None


def _beside(mine: _Bond, full: Mapping[str, str], theirs: AbstractSet[_Bond]) -> list[_Bond]:
    """The source's bonds of the word of a bond: of the word as written, if there are any."""
    word = full.get(mine.word, mine.word)
    return [one for one in theirs if one.plain == mine.plain] or [
        one for one in theirs if one.word == word
    ]


@lru_cache(maxsize=32)
def _source_bonds(source: Analysed) -> frozenset[_Bond]:
    tokens = [token for clause in source.clauses for token in clause.tokens]
    return frozenset(_bonds(tokens, source.text))


def _measure(key: str) -> str:
    return key.partition(":")[0] if ":" in key else ""


def _bonds(tokens: Sequence[Token], text: str) -> Iterator[_Bond]:
    """Every number with the words beside it, up to a border, a preposition or another number."""
    for place, token in enumerate(tokens):
        if not _is_number(token):
            continue
        for word in _reached(tokens[place:], text, _BREAK):
            yield _Bond(token.key, word.key, word.plain, is_ahead=True)
        for word in _reached(tokens[place::-1], text, _BREAK_AFTER_LABEL):
            yield _Bond(token.key, word.key, word.plain, is_ahead=False)


def _is_number(token: Token) -> bool:
    return token.kind == "quantity" and not token.key.startswith(("date:", "weekday:", "written:"))


def _reached(tokens: Sequence[Token], text: str, border: re.Pattern[str]) -> Iterator[Token]:
    """The words with a meaning that follow the first token, near by, in the order given."""
    binding = listed("markers") | listed("conjunctions")
    before, left = tokens[0], _REACH
    if tokens[1:] and tokens[1].at < before.at and before.marker:
        return
    for token in tokens[1:]:
        first, second = (before, token) if before.at < token.at else (token, before)
        if border.search(text, first.end, max(second.at, first.end)) or _is_number(token):
            return
        # `30 ml of acid` is a number with its noun.
        is_of = before is tokens[0] and token.at > before.at and token.plain in listed("genitives")
        if token.plain in binding and not token.content and not is_of:
            return
        if token.content:
            yield token
            left -= 1
            if not left or token.kind == "quantity":
                return
        before = token


def _find_other_label(statement: Clause, said: Analysed, source: Analysed) -> Refused | None:
    """A value with another item's label: `Bob: tea` of `Anna: tea, Bob: coffee`."""
    items = _items(source)
    if not items:
        return None
    for start, end in _spans(said.text, statement.start, statement.end):
        tokens = [token for token in _telling(statement) if start <= token.at < end]
        keys = {token.key for token in tokens}
        labels = [item for item in items if item.label & keys and not item.value & keys]
        values = [item for item in items if item.value & keys and not item.label & keys]
        for item in values if labels else ():
            opening = {key[:_ALIKE] for key in item.label if key.isalpha()}
            if not any(key[:_ALIKE] in opening for key in keys):
                return Refused("name", min(item.value & keys))
    return None


def _spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for m in _PART.finditer(text, start, end):
        yield start, m.start()
        start = m.end()
    yield start, end


@lru_cache(maxsize=32)
def _items(source: Analysed) -> tuple[_Item, ...]:
    """The labelled parts of lines, or of one line, where two or more stand one after the other."""
    found: list[_Item] = []
    at = 0
    group: list[tuple[frozenset[str], frozenset[str]]] = []
    for line in [*source.text.split("\n"), ""]:
        parts = list(_spans(source.text, at, at + len(line)))
        within = [pair for part in parts if (pair := _labelled(source, *part))]
        whole = _labelled(source, at, at + len(line))
        if len(within) >= _LEAST_ITEMS and len(within) == len(parts):
            found += _own(within)
        elif whole is not None:
            group.append(whole)
        if whole is None or len(within) == len(parts) >= _LEAST_ITEMS:
            found += _own(group)
            group = []
        at += len(line) + 1
    return tuple(found)


def _labelled(
    source: Analysed, start: int, end: int
) -> tuple[frozenset[str], frozenset[str]] | None:
    m = _LABELLED.fullmatch(source.text, start, end)
    if m is None:
        return None
    tokens = [token for clause in source.clauses for token in _telling(clause)]
    label = frozenset(t.key for t in tokens if m.start("label") <= t.at < m.end("label"))
    value = frozenset(t.key for t in tokens if m.start("value") <= t.at < m.end("value"))
    return (label, value) if label and value else None


def _telling(clause: Clause) -> Iterator[Token]:
    """Its tokens but for those that only join: `top` and `below` are no less told apart than nouns."""
    joining = ("articles", "markers", "copulas", "conjunctions", "pronouns", "light")
    small = frozenset[str]().union(*map(listed, joining))
    return (token for token in clause.tokens if token.content or token.plain not in small)


def _own(pairs: Sequence[tuple[frozenset[str], frozenset[str]]]) -> list[_Item]:
    """Items without the keys that two of them have."""
    if len(pairs) < _LEAST_ITEMS:
        return []
    found = []
    for place, (label, value) in enumerate(pairs):
        others = [
            key for n, pair in enumerate(pairs) if n != place for keys in pair for key in keys
        ]
        own = _Item(label.difference(others), value.difference(others))
        if own.label and own.value:
            found.append(own)
    return found


def _find_exchanged_marker(
    statement: Clause, drawn: Sequence[Clause], said: Analysed, source: Analysed
) -> Refused | None:
    """A preposition before a word that has another one in the source, where the first one is another word's."""
    sentences = {clause.sentence for clause in drawn}
    tokens = [t for c in source.clauses if c.sentence in sentences for t in c.content]
    theirs: dict[str, set[str]] = {}
    for token, marker in _marked(tokens, source.text):
        theirs.setdefault(token.key, set()).add(marker)
    mine = {token.key: marker for token, marker in _marked(statement.content, said.text)}
    if refused := _find_bare_number(statement, tokens, mine, source.text):
        return refused
    for key, marker in mine.items():
        there = theirs.get(key, set())
        if not there or marker in there or "" in there or marker not in listed("directed"):
            continue
        if any(marker in others and mine.get(other) != marker for other, others in theirs.items()):
            return Refused("roles", marker)
    return _find_exchanged_values(mine, theirs, [token for token in tokens if _is_number(token)])


def _find_bare_number(
    statement: Clause, tokens: Sequence[Token], mine: Mapping[str, str], text: str
) -> Refused | None:
    """`Rose 900` of `rose 5 % to 900`: behind the word that another number stood behind."""
    bare = {token.key for token in tokens if not _marker(token, text)}
    for before, number in pairwise(statement.content):
        if not _is_number(number) or mine[number.key] or number.key in bare:
            continue
        for word, other in pairwise(tokens):
            if word.key == before.key and _is_number(other) and other.key not in statement.keys:
                return Refused("number", number.plain)
    return None


def _find_exchanged_values(
    mine: dict[str, str], theirs: dict[str, set[str]], numbers: Sequence[Token]
) -> Refused | None:
    """`From 20 to 80` as `from 80 to 20`."""
    for one, other in pairwise(numbers):
        here = mine.get(one.key), mine.get(other.key)
        if one.key == other.key or not all(here):
            continue
        a, b = here
        if (
            a != b
            and a in theirs[other.key] - theirs[one.key]
            and b in theirs[one.key] - theirs[other.key]
        ):
            return Refused("number", other.plain)
    return None


def _marked(tokens: Sequence[Token], text: str) -> Iterator[tuple[Token, str]]:
    """Each token with the preposition before it; a number has that of the noun that it numbers: `to room 2`."""
    noun, end = "", -1
    for token in tokens:
        marker = _marker(token, text)
        if not marker and token.kind == "quantity" and not text[end : token.at].strip():
            marker = noun
        noun, end = marker, token.end
        yield token, marker


def _marker(token: Token, text: str) -> str:
    """The preposition before a token; in a script without spaces the sign before it that is one."""
    if token.marker or token.kind not in ("run", "quantity"):
        return token.marker
    before = text[max(token.at - _LONGEST_MARKER, 0) : token.at]
    word = before.lower().split()[-1:]
    if word and word[0] in listed("directed"):
        return word[0]
    before = before.rstrip(_PASSED_OVER)
    return before[-1] if before and before[-1] in listed("directed") else ""


def _find_lent_value(statement: Clause, drawn: Sequence[Clause]) -> Refused | None:
    """A number or day of one part of a sentence with words of another part, which has one of that sort itself."""
    main = drawn[0]
    own = _values(main)
    for part in drawn[1:]:
        if part.sentence != main.sentence:
            continue
        theirs = _values(part)
        is_whole = part.keys <= statement.keys and len(part.keys) > len(theirs)
        for key in (theirs & statement.keys) - main.keys:
            alike = {other for other in own if _measure(other) == _measure(key)}
            # A part that is said whole takes its verb from the first: `The pump doses 5 ml of A and 8 ml of B`.
            if alike and not alike & statement.keys and not is_whole:
                return Refused("number", key)
        # What stands behind is nobody that a pronoun of the first part could mean.
        for key in own & statement.keys if part.start > main.start else ():
            alike = {other for other in theirs if _measure(other) == _measure(key)} - statement.keys
            if alike and _lends_before(part, alike, statement, main):
                return Refused("number", key)
        if exchanged := _exchanged_name(statement, main, part):
            return Refused("name", exchanged)
    return None


def _lends_before(part: Clause, values: set[str], statement: Clause, main: Clause) -> bool:
    """Whether a part gives more than what it ends in, behind its value: `Room A seats 6, room B 12 people`."""
    lent = [t for t in part.content if t.key in statement.keys - main.keys]
    last = max(token.at for token in part.tokens if token.key in values)
    is_whole = main.keys <= statement.keys
    return bool(lent) and not (is_whole and all(token.at > last for token in lent))


def _exchanged_name(statement: Clause, main: Clause, part: Clause) -> str:
    """`Server beta` where the part that most is taken from says `server alpha`."""
    lost = {
        pair[0].key
        for pair in pairwise(main.content)
        if pair[0].key in statement.keys and pair[1].key not in statement.keys | part.keys
    }
    return next(
        (
            second.plain
            for first, second in pairwise(part.content)
            if first.key in lost
            and second.key in statement.keys - main.keys
            and not _is_number(second)
        ),
        "",
    )


def _values(clause: Clause) -> frozenset[str]:
    return frozenset(token.key for token in clause.tokens if token.kind == "quantity")
