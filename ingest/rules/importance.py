"""How much what a note states matters, as far as the note itself says so: 0 to 1, .5 where it says nothing.

Its head, its tags, the callout a sentence stands in and the words a sentence opens with say it; the words are in
`importance.toml`. Words such as "important" amid a sentence say nothing. What importance does to an answer is not
known here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from ingest.markdown.markup import split_lines
from ingest.rules.admonitions import lines_of_kinds
from ingest.rules.phrases import read_lists
from recalld.records import NEUTRAL_IMPORTANCE, Block, BlockKind, ParsedNote

# What stands out, and what was put away or is said to matter little.
RAISED = 0.8
LOWERED = 0.3

_NUMBER = re.compile(r"0?[.,]\d{1,9}|[01](?:[.,]0{1,9})?")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_ONLY_TAGS = re.compile(r"[ \t>]*(?:#[^\s#]+[ \t,，、]*)+$")
_SUB_ITEM = re.compile(r"[ \t>]+(?:[-*+]|\d{1,9}[.)])[ \t]")
_BETWEEN_ITEMS = (BlockKind.BLANK, BlockKind.COMMENT)
# What may stand before a label: the box of a task, opening quotes and brackets.
_OPENING = r"(?:\[.\] )?[\"'“‘«(（「【*_]*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Importances:
    """What a note says of itself and of its lines, by the note's line numbers."""

    # Of what stands in the note, where nothing nearer says otherwise.
    of_note: float = NEUTRAL_IMPORTANCE
    # In a note that was put away, what stands out is worth what others are elsewhere.
    is_archived: bool = False
    raised: frozenset[int] = frozenset()
    lowered: frozenset[int] = frozenset()
    # Where a label is another's word: a list of levels explains it, or a program printed it.
    unlabelled: frozenset[int] = frozenset()

    def at(self, line: int, *texts: str) -> float:
        """The importance of what begins on a line.

        Args:
            line: Of the note, 1-based.
            texts: What is said there and what announces it, without markup.
        """
        is_low = line in self.lowered
        value = min(self.of_note, LOWERED) if is_low else self.of_note
        stands_out = line in self.raised or (
            line not in self.unlabelled and any(map(says_it_matters, texts))
        )
        if not stands_out:
            return value
        return max(value, NEUTRAL_IMPORTANCE if is_low or self.is_archived else RAISED)


def find_importances(note: ParsedNote) -> Importances:
    """What a note says of how much what stands in it matters."""
    words = _words()
    places = _Places(note.blocks)
    reached: dict[str, set[int]] = {}
    tags = list(note.head_tags)
    for says in ("tag_raises", "tag_lowers"):
        named = [(line, tag) for line, tag in note.tag_places if _names(tag, words[says])]
        reached[says], of_note = places.reached_from([line for line, _ in named])
        tags += [tag for _, tag in named[:1] if of_note]
    value, is_archived = _of_note(dict(note.properties), tags)
    printed = lines_of_kinds(note.blocks, words["output"])
    return Importances(
        of_note=value,
        is_archived=is_archived,
        raised=frozenset(reached["tag_raises"] | lines_of_kinds(note.blocks, words["callout"])),
        lowered=frozenset(reached["tag_lowers"]),
        unlabelled=frozenset((*_lines_of_levels(note.blocks), *printed)),
    )


def says_it_matters(text: str) -> bool:
    """Whether a statement, or what stands above it in its list, opens by saying that it matters: `Let op: …`."""
    return any(map(_label().match, text.split(" › ")))


# ---------------------------------------------------------------- the note itself


def _of_note(properties: Mapping[str, tuple[str, ...]], tags: Iterable[str]) -> tuple[float, bool]:
    """The importance of what stands in a note, and whether the note was put away."""
    words = _words()

    def says(keys: str, *values: str) -> bool:
        """Whether any of these keys has any of these values."""
        return any(_is_said(value, values) for value in _values(properties, words[keys]))

    tags = list(tags)
    stated = next(filter(None, map(_grade, _values(properties, words["key_number"]))), None)
    if stated is not None:
        return stated.value, False
    is_archived = says("key_lowers", "yes") or says("key_state", "archived")
    if is_archived or any(_names(tag, words["tag_lowers"]) for tag in tags):
        return LOWERED, True
    is_first = "1" in _values(properties, words["key_rank"])
    if is_first or says("key_raises", "yes") or says("key_rank", "high"):
        return RAISED, False
    if any(_names(tag, words["tag_raises"]) for tag in tags):
        return RAISED, False
    return (LOWERED if says("key_rank", "low") else NEUTRAL_IMPORTANCE), False


def _values(properties: Mapping[str, tuple[str, ...]], keys: frozenset[str]) -> list[str]:
    return [value for key in keys & properties.keys() for value in properties[key]]


@dataclass(frozen=True, slots=True)
class _Grade:
    value: float


def _grade(written: str) -> _Grade | None:
    """What a value of `importance` comes to, numbers to three decimals; None where it says nothing known."""
    if _NUMBER.fullmatch(written):
        return _Grade(round(float(written.replace(",", ".")), 3))
    if _is_said(written, ("high",)):
        return _Grade(RAISED)
    return _Grade(LOWERED) if _is_said(written, ("low",)) else None


def _is_said(written: str, lists: Iterable[str]) -> bool:
    """Whether a value is in a list of words; a day stands for yes, as in `archived: 2025-01-31`."""
    plain = _folded(written)
    bare = re.sub(r"^\W+|\W+$", "", plain)
    return any(
        plain in _words()[one]
        or bare in _words()[one]
        or (one == "yes" and _DAY.match(plain) is not None)
        for one in lists
    )


def _names(tag: str, tags: frozenset[str]) -> bool:
    """Whether a tag is one of these, or nested in one of them."""
    plain = _folded(tag)
    parts = plain.split("/")
    return parts[0] in tags or "/".join(parts[:2]) in tags


# ---------------------------------------------------------------- its lines


class _Places:
    """What tags speak of, by where they stand. Each part of a note is looked at once, however many tags it has."""

    def __init__(self, blocks: tuple[Block, ...]) -> None:
        self._blocks = blocks
        self._starts = [block.lines.first for block in blocks]

    def reached_from(self, lines: Iterable[int]) -> tuple[set[int], bool]:
        """The lines that tags on some lines speak of, and whether any of them speaks of the whole note.

        One in a sentence speaks of its block, in a table of its row, in a nested list of its item. Tags that stand
        alone speak of their section, and above the first heading of the note.
        """
        tagged: dict[int, list[int]] = {}
        for line in lines:
            tagged.setdefault(bisect_right(self._starts, line) - 1, []).append(line)
        reached: set[int] = set()
        headings: set[int] = set()
        above = self._headings_above() if tagged else []
        for at, of_block in tagged.items():
            block = self._blocks[at]
            if _has_only_tags(block):
                headings.add(above[at])
            elif block.kind is BlockKind.TABLE:
                reached.update(of_block)
            elif block.kind is BlockKind.LIST_ITEM:
                reached.update(_items(block, of_block))
            else:
                reached.update(_span(block))
        ends = self._section_ends() if headings else {}
        for heading in headings - {-1}:
            reached.update(range(self._blocks[heading].lines.last + 1, ends[heading] + 1))
        return reached, -1 in headings

    def _headings_above(self) -> list[int]:
        """For each block the heading that it stands below, -1 for none."""
        found: list[int] = []
        heading = -1
        for at, block in enumerate(self._blocks):
            heading = at if block.kind is BlockKind.HEADING else heading
            found.append(heading)
        return found

    def _section_ends(self) -> dict[int, int]:
        """The last line of the section of each heading."""
        ends: dict[int, int] = {}
        opened: list[int] = []
        for at, block in enumerate(self._blocks):
            if block.kind is BlockKind.HEADING:
                while opened and self._blocks[opened[-1]].level >= block.level:
                    ends[opened.pop()] = block.lines.first - 1
                opened.append(at)
        return ends | dict.fromkeys(opened, self._blocks[-1].lines.last)


def _has_only_tags(block: Block) -> bool:
    told = [text.rstrip() for text in split_lines(block.text) if text.strip()]
    return block.kind is BlockKind.PARAGRAPH and all(map(_ONLY_TAGS.match, told))


def _items(block: Block, tagged: Iterable[int]) -> Iterable[int]:
    """The lines of what has a tag in a list item: all of it, or from a nested bullet to the tag.

    Args:
        tagged: The tags' lines, in order.
    """
    bullets = [
        number
        for number, text in enumerate(split_lines(block.text), block.lines.first)
        if number > block.lines.first and _SUB_ITEM.match(text)
    ]
    ends: dict[int, int] = {}
    for line in tagged:
        before = bisect_right(bullets, line)
        if not before:
            return _span(block)
        ends[bullets[before - 1]] = line
    return [line for bullet, end in ends.items() for line in range(bullet, end + 1)]


def _span(block: Block) -> range:
    return range(block.lines.first, block.lines.last + 1)


def _lines_of_levels(blocks: tuple[Block, ...]) -> Iterator[int]:
    """The lines of lists in which some item opens with a level or state, as a list of what they mean does."""
    run: list[Block] = []
    for block in (*blocks, None):
        if block is not None and block.kind is BlockKind.LIST_ITEM:
            run.append(block)
        elif block is None or block.kind not in _BETWEEN_ITEMS:
            if any(_level().match(text) for one in run for text in split_lines(one.text)):
                yield from (line for one in run for line in _span(one))
            run = []


# ---------------------------------------------------------------- words


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


@cache
def _words() -> dict[str, frozenset[str]]:
    """The lists of words by name."""
    lists = read_lists("importance.toml")
    return {name: frozenset(map(_folded, words)) for name, words in lists.items()}


def _either(words: frozenset[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))


@cache
def _label() -> re.Pattern[str]:
    words = _words()
    signs = _either(words["sign"])
    return re.compile(
        rf"{_OPENING}(?:(?:{signs})|(?:{_either(words['label'])})[*_]*[ \u00a0\u202f]?[:：!！])",
        re.IGNORECASE,
    )


@cache
def _level() -> re.Pattern[str]:
    """An item that opens with a level, in any dress, and a colon or dash; or with the sign of a state."""
    levels = _words()["level"]
    signs = frozenset(word for word in levels if not re.search(r"\w", word))
    return re.compile(
        rf"[ \t>]*(?:[-*+]|\d{{1,9}}[.)])[ \t]+[\"'“*_`\[]*"
        rf"(?:(?:{_either(levels - signs)})[\"'”*_`\]]*[ \t]?(?:[:：][*_]*|[–—-][ \t])|{_either(signs)})",
        re.IGNORECASE,
    )
