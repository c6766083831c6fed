"""Which known names stand in a question: the longest first, and no word twice.

A name is looked up as its entity's key is folded. Pure: what is known, and what is rare, comes from outside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from recalld.store.facts import entity_key
from retrieval.text.remembering import remembered
from retrieval.text.scripts import RUN, units
from retrieval.text.words import Language, is_stop, iter_words

# Words of a name, and characters of one in a script without spaces.
MOST_WORDS = 6
_MOST_CHARACTERS = 12
# Words of a question that are looked at: more is a pasted page.
_MOST_LOOKED_AT = 60
_MOST_SPANS = 1500
_WRITTEN = re.compile(r"`([^`\n]{1,120})`|\[\[([^\[\]\n|#]{1,120})[^\[\]\n]*\]\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class NameSpan:
    """A stretch of a question that may be a name."""

    # Folded, as entities and aliases are.
    key: str
    text: str
    # Where it stands, in an order that is the same for all spans of a question: words, or characters of a run.
    start: int
    end: int
    # Written as code or as a wikilink.
    is_written: bool = False

    @property
    def is_single_word(self) -> bool:
        """Whether it is one word with no more than its letters to make it a name."""
        return " " not in self.text and not RUN.search(self.text)

    @property
    def is_capitalised(self) -> bool:
        """Whether a capital or a digit says that it is a name."""
        return any(char.isupper() or char.isdigit() for char in self.text)


@remembered(200)
def name_spans(text: str) -> tuple[NameSpan, ...]:
    """Every stretch of a question that could be a name: code, wikilinks, words in a row, pieces of runs."""
    found: dict[tuple[str, int], NameSpan] = {}

    def add(told: str, start: int, end: int, *, is_written: bool = False) -> None:
        key = entity_key(told)
        if key and len(found) < _MOST_SPANS:
            span = NameSpan(key=key, text=told, start=start, end=end, is_written=is_written)
            found.setdefault((key, start), span)

    for match in _WRITTEN.finditer(text):
        at = _MOST_LOOKED_AT * 1000 + match.start()
        add((match[1] or match[2]).strip(), at, at + 1, is_written=True)
    words = [word for word, _ in zip(iter_words(text), range(_MOST_LOOKED_AT), strict=False)]
    for at, word in enumerate(words):
        if word.is_run:
            _add_pieces(word.surface, at * 1000, add)
        for count in range(1, MOST_WORDS + 1):
            group = words[at : at + count]
            if len(group) == count:
                told = " ".join(one.surface for one in group)
                add(told, at * 1000, (at + count) * 1000)
    return tuple(found.values())


def _add_pieces(run: str, offset: int, add: Callable[[str, int, int], None]) -> None:
    characters = units(run)
    for start in range(len(characters)):
        longest = min(len(characters), start + _MOST_CHARACTERS)
        for end in range(start + 2, longest + 1):
            add("".join(characters[start:end]), offset + start, offset + end)


def names_in(
    spans: Collection[NameSpan],
    known: Collection[str],
    *,
    is_rare: Callable[[str], bool],
    language: Language,
) -> tuple[NameSpan, ...]:
    """The spans that are names, longest first, none of them inside another.

    A single word is a name when it is written as code or as a link, has a capital or a digit, or is rare; German
    writes every noun with a capital, so there it tells nothing.

    Args:
        known: Folded names that an entity or a note has.
        is_rare: Whether a folded word singles passages out in this memory.
    """
    taken: list[tuple[int, int]] = []
    names: list[NameSpan] = []
    for span in sorted(spans, key=lambda one: (not one.is_written, one.start - one.end, one.start)):
        if span.key not in known or any(a < span.end and span.start < b for a, b in taken):
            continue
        if span.is_single_word and not span.is_written and not _is_name(span, is_rare, language):
            continue
        taken.append((span.start, span.end))
        names.append(span)
    return tuple({span.key: span for span in reversed(names)}.values())[::-1]


def _is_name(span: NameSpan, is_rare: Callable[[str], bool], language: Language) -> bool:
    if is_stop(span.text, language):
        return False
    return (span.is_capitalised and language != "de") or is_rare(span.key)
