"""Hits that say the same thing become one, and an answer keeps to its size.

Only true duplicates collapse: a cap on hits of one note was measured to hurt. It sees what would be
shown and where it stands, never scores or queries.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from recalld.records import FactId, PassageId
from retrieval.records import Collapsed, Shown

# One form for each mark that keyboards and editors write in several ways.
_MARKS: dict[str, str] = {
    **dict.fromkeys("‘’‚‛′`´", "'"),
    **dict.fromkeys("“”„‟«»「」『』", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    "。": ".",
    "、": ",",
}
# Few texts have any of them, and a search passes over the rest faster than a translation.
_ANY_MARK = re.compile(f"[{''.join(_MARKS)}]")
# Full-width forms of ASCII, and half-width kana, which NFKC makes as wide as their others.
_WIDE = re.compile("[\uff01-\uff9f\u3000]+")
# What ends a sentence and adds nothing to it; `?` and `!` mean something.
_PLAIN_ENDS = ".,;:"
# Texts whose form is remembered, some 4 MB: the same facts answer many questions.
_REMEMBERED = 8192

_Key = tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class _Group:
    """A hit in the making."""

    kept: Shown
    key: _Key
    # In the order met.
    sources: dict[PassageId, None] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class _Known:
    """Where what has been met so far went, as places in the list of groups."""

    texts: dict[_Key, int] = field(default_factory=dict)
    facts: dict[FactId, int] = field(default_factory=dict)
    # Of groups that are a fact: the passages that state it.
    stating: dict[PassageId, int] = field(default_factory=dict)
    # Of groups that are a passage: itself and its copies.
    passages: dict[PassageId, int] = field(default_factory=dict)


def collapse(ranked: Iterable[Shown]) -> tuple[Collapsed, ...]:
    """One hit for each thing said, in the order of its best-ranked member.

    Two are the same when they are one fact, when their normalised texts and the headings that
    these need are equal, or when one is a fact and the other is the passage that states it. What
    stands first is what is kept, and takes the others in. Everything else is left where it was.

    Two different facts never become one because one passage states both: the passage goes with
    the better of them, or, where it stands above them, takes both in, as it shows both.
    """
    groups: list[_Group] = []
    known = _Known()
    for shown in ranked:
        key = tuple(map(normalised, (*shown.context, shown.text)))
        place = _find(shown, key, known)
        if place is None:
            place = len(groups)
            groups.append(_Group(kept=shown, key=key))
        known.texts.setdefault(key, place)
        if shown.fact_id is not None:
            known.facts.setdefault(shown.fact_id, place)
        if _says_all_of(groups[place], shown, key):
            _take_sources(shown, place, groups[place], known)
    return tuple(Collapsed(kept=group.kept, sources=tuple(group.sources)) for group in groups)


@lru_cache(_REMEMBERED)
def normalised(text: str) -> str:
    """The text as it is compared: one form of letters, spaces, quotes and dashes, a small first letter, no full stop.

    Punctuation inside stays, since `1.2` is not `12`, nor `5` degrees `-5`; so do case and raised digits: `-v` is not
    `-V`, 5 mW not 5 MW, 10² not 102.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", _WIDE.sub(_narrow, text))
    plain = " ".join(_ANY_MARK.sub(_one_form, text).split())
    plain = plain[:1].lower() + plain[1:]
    # One such mark after a word; the path in `git add .` and `cd ..` is none.
    if plain[-1:] in _PLAIN_ENDS and plain[-2:-1] not in " " + _PLAIN_ENDS:
        return plain[:-1]
    return plain


def fit_budget(texts: Sequence[str], max_chars: int) -> tuple[int, ...]:
    """The places of the texts, best first, that fit into a budget of characters.

    Each is taken whole or not at all: a cut statement may say the opposite. One that does not fit
    is passed over, and a later one that does is still taken, so a long text in the middle costs no
    other its place. The first is always taken, however long: an answer is never empty for its length.
    """
    taken: list[int] = []
    left = max_chars
    for place, text in enumerate(texts):
        if not taken or len(text) <= left:
            taken.append(place)
            left -= len(text)
    return tuple(taken)


def _narrow(found: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", found[0])


def _one_form(mark: re.Match[str]) -> str:
    return _MARKS[mark.group()]


def _find(shown: Shown, key: _Key, known: _Known) -> int | None:
    """The group that already says it: the same fact, the same text, then fact and passage."""
    if shown.fact_id is None:
        return known.texts.get(key, known.stating.get(shown.passage_id))
    same = known.facts.get(shown.fact_id, known.texts.get(key))
    if same is not None:
        return same
    stating = (shown.passage_id, *shown.sources)
    return min(
        (known.passages[passage] for passage in stating if passage in known.passages), default=None
    )


def _says_all_of(group: _Group, shown: Shown, key: _Key) -> bool:
    """Whether what is kept stands wherever `shown` does; not so for a passage and one of its facts."""
    is_same_fact = shown.fact_id is not None and shown.fact_id == group.kept.fact_id
    return is_same_fact or key == group.key


def _take_sources(shown: Shown, place: int, group: _Group, known: _Known) -> None:
    group.sources.update(dict.fromkeys((shown.passage_id, *shown.sources)))
    if shown.fact_id is None:
        known.passages.setdefault(shown.passage_id, place)
    else:
        for passage in (shown.passage_id, *shown.sources):
            known.stating.setdefault(passage, place)
