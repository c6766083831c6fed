"""Where old and new say different things of one matter, the new stands above the old.

Two rules, both last in ranking, since anything that moves scores afterwards would undo them. One
follows what the memory knows to be superseded; the other is the floor without a language model,
for numbers only. Nothing here drops anything: the old stays, lower.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from datetime import date
from math import fsum
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TypeVar

from recalld.records import FactId, PassageId, StatementId
from retrieval.records import FactView, Standing, WrittenAt

Item = TypeVar("Item", bound=Hashable)

# Of the ranking's top: further down nobody sees the difference.
SWAP_DEPTH = 20
MIN_COSINE = 0.45
# Where a number does not show that two statements are of one kind.
MIN_COSINE_OF_WORDS = 0.6
MIN_SHARED_WORDS = 0.35
# In standard deviations: stale and current were measured .6 to 3 apart.
MAX_SCORE_GAP = 2.5

_ISO_DAY = re.compile(r"(?<!\d)\d{4}([-_.]?)\d{2}\1\d{2}(?!\d)")
_NUMBERS_AT_END = re.compile(r"[\d\s_.:()T-]*$")


def order_superseded(
    ranked: Sequence[Item],
    facts: Mapping[Item, FactView],
    *,
    hidden: Mapping[FactId, FactId] = MappingProxyType({}),
) -> tuple[Item, ...]:
    """The same items, each superseded one directly below its successor where both are present.

    A group (a fact, what it supersedes, what that supersedes) stands where its best member stood:
    what matched the query best may well be the old wording, and then the new belongs in its place.
    Several that one fact supersedes keep their order below it. Everything else keeps its order.
    Facts that supersede each other in a ring have no newest; the best ranked counts as such.

    Args:
        ranked: Best first, each once.
        facts: What an item is shown as; an item without one is left where it is. When several items
            show one fact, the best ranked of them is the successor.
        hidden: Successors of facts that are not ranked, so that the oldest of three finds the newest
            when the middle one did not match.
    """
    successors = _without_rings(_successors(ranked, facts, hidden))
    olders: dict[Item, list[Item]] = {}
    for item, successor in successors.items():
        olders.setdefault(successor, []).append(item)
    ordered: dict[Item, None] = {}
    for item in ranked:
        if item not in ordered:
            ordered.update(dict.fromkeys(_group(_newest(item, successors), olders)))
    return tuple(ordered)


def swap_stale(
    ranked: Sequence[Standing],
    *,
    word_weights: Mapping[str, float],
    cosine: Callable[[StatementId, StatementId], float | None],
    depth: int = SWAP_DEPTH,
    numbers_only: bool = True,
) -> tuple[PassageId, ...]:
    """The ranked passages, with a newer number put just above the older one it seems to replace.

    For questions after a quantity only, and not when they ask how it was (`cues.asks_for_earlier`); and for those
    that ask how it is now (`cues.asks_for_current`), whatever the statements hold, if they are more alike still.
    Within the top `depth`, a passage rises above a better ranked one of another note when it was
    written later, both hold a number and neither is a question, their scores are near, they share
    enough of the query's words, and their statements are alike. Afterwards no such pair stands the
    wrong way round; where there is none, nothing moves.

    Args:
        ranked: Best first, each passage once.
        word_weights: The rarity of each content word of the query, above zero.
        cosine: Of two statements, the mean vector taken away; None = not known, which never swaps.
        depth: How many from the top take part.
        numbers_only: Whether both must hold a number.
    """
    top = ranked[:depth]
    newer = {
        older: [
            place
            for place in range(older + 1, len(top))
            if _replaces(top[place], top[older], word_weights, cosine, numbers_only=numbers_only)
        ]
        for older in range(len(top))
    }
    placed: dict[int, None] = {}
    for place in range(len(top)):
        _place(place, newer, placed)
    return tuple(s.passage_id for s in (*(top[place] for place in placed), *ranked[depth:]))


def written_at(day: date, seconds: int, path: str) -> WrittenAt:
    """When a note was written, as a key that also orders the notes of one day.

    After the day comes the time, then the numbers at the end of the file's name, read as numbers:
    `2023-05-25.md`, then `2023-05-25-2.md`, then `2023-05-25-10.md`. The day in a name is no such number.

    Args:
        day: The note's date.
        seconds: Its time as seconds into the day; 0 when unknown.
        path: With `/` between folders.
    """
    name = _ISO_DAY.sub("", PurePosixPath(path).stem)
    ending = _NUMBERS_AT_END.search(name)
    numbers = re.findall(r"\d+", ending.group()) if ending else []
    return day, seconds, tuple(int(number) for number in numbers)


def _successors(
    ranked: Sequence[Item], facts: Mapping[Item, FactView], hidden: Mapping[FactId, FactId]
) -> dict[Item, Item]:
    """For each superseded item, the item that shows what superseded it, if there is one."""
    shows: dict[FactId, Item] = {}
    for item in ranked:
        if item in facts:
            shows.setdefault(facts[item].fact_id, item)
    successors: dict[Item, Item] = {}
    for item in ranked:
        fact_id = facts[item].superseded_by if item in facts else None
        passed: set[FactId] = set()
        while fact_id is not None and fact_id not in shows and fact_id not in passed:
            passed.add(fact_id)
            fact_id = hidden.get(fact_id)
        if fact_id in shows and shows[fact_id] != item:
            successors[item] = shows[fact_id]
    return successors


def _without_rings(successors: Mapping[Item, Item]) -> dict[Item, Item]:
    """The same successors, without that of the best-ranked member of each ring."""
    ranks = {item: rank for rank, item in enumerate(successors)}
    kept = dict(successors)
    seen: set[Item] = set()
    for start in successors:
        path: list[Item] = []
        at = start
        while at in kept and at not in seen:
            seen.add(at)
            path.append(at)
            at = kept[at]
        if at in path:
            del kept[min(path[path.index(at) :], key=ranks.__getitem__)]
    return kept


def _newest(item: Item, successors: Mapping[Item, Item]) -> Item:
    while item in successors:
        item = successors[item]
    return item


def _group(newest: Item, olders: Mapping[Item, Sequence[Item]]) -> Iterator[Item]:
    """An item, then what it supersedes, each followed by its own."""
    waiting = [newest]
    while waiting:
        item = waiting.pop()
        yield item
        waiting.extend(reversed(olders.get(item, ())))


def _place(place: int, newer: Mapping[int, Sequence[int]], placed: dict[int, None]) -> None:
    """Place what should stand above it first; written order is strict, so this comes to an end."""
    if place not in placed:
        for above in newer[place]:
            _place(above, newer, placed)
        placed[place] = None


def _replaces(
    newer: Standing,
    older: Standing,
    word_weights: Mapping[str, float],
    cosine: Callable[[StatementId, StatementId], float | None],
    *,
    numbers_only: bool,
) -> bool:
    both_numbers = newer.has_number and older.has_number
    if newer.note_id == older.note_id or newer.is_question or older.is_question:
        return False
    if numbers_only and not both_numbers:
        return False
    if newer.written is None or older.written is None or newer.written <= older.written:
        return False
    if abs(older.score - newer.score) > MAX_SCORE_GAP:
        return False
    shared = fsum(
        word_weights[w] for w in newer.query_words & older.query_words if w in word_weights
    )
    if not word_weights or shared < MIN_SHARED_WORDS * fsum(word_weights.values()):
        return False
    alike = cosine(newer.statement_id, older.statement_id)
    return alike is not None and alike >= (MIN_COSINE if both_numbers else MIN_COSINE_OF_WORDS)
