"""What a sentence says of the one before it: that it comes of it, is the cause of it, or comes after it.

A link says only what the note says. So a sentence must open with words for it, and what they point back to must be one
fact, in the sentence directly before; where it begins a paragraph or list item, in the paragraph or item before, which
must be that one sentence. Items of a numbered list follow each other where the note calls them steps. The words are in
`sequence.toml`; relations between named things are not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from ingest.rules.facts import turns
from ingest.rules.lessons import names_trouble
from ingest.rules.passages import PassageDraft, Sentence
from ingest.rules.phrases import Phrases, phrases, plain_text, read_lists, words_of
from ingest.rules.units import Unit
from recalld.records import BlockKind, ExtractedBlock, ExtractedFact, SaidLink

# Before the first word of a sentence: marks, a task's box, and a conjunction that changes nothing.
_OPENING = (
    r"^[\s\"'“‘«„(*_]*(?:\[.\]\s)?"
    r"(?:(?:and|but|en|maar|und|aber|et|mais)\s(?=\w+))?"
)
_WHOLE_HEADING = r"^[\W\d_]*"
_SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
# How far behind words of a cause a word may stand that takes it back.
_TAKEN_BACK, _TAKEN_BACK_SPACELESS = 16, 3
# `Step 2: the parts` heads what the second step is about, not a list of steps.
_ONE_STEP = re.compile(
    r"(?:\b(?:step|stap|Schritt|étape)|ステップ|手順|步骤|步驟|단계)\s*\d", re.IGNORECASE
)
_SILENT = (BlockKind.BLANK, BlockKind.COMMENT)
_PROSE = (BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.QUOTE, BlockKind.CALLOUT)


@dataclass(frozen=True, slots=True)
class _Words:
    result: Phrases
    cause: Phrases
    untold: Phrases
    later: Phrases
    earlier: Phrases
    elsewise: Phrases
    supposes: Phrases
    steps: Phrases
    steps_heading: Phrases
    no_steps: Phrases


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A sentence of a note with the one fact that it is; None where it is none, or several."""

    text: str
    fact: ExtractedFact | None
    block: int
    kind: BlockKind
    heading_path: tuple[str, ...]
    unit: Unit
    # Which sentence of its unit it is; 0 = the first.
    number: int
    # Whether what announces its list says that the items are steps.
    of_steps: bool


def find_sequence(
    blocks: Sequence[ExtractedBlock], drafts: Sequence[Sequence[PassageDraft]]
) -> list[tuple[SaidLink, ...]]:
    """For each block the links that its facts have to what stands before them, in it or in the block before.

    Args:
        blocks: The blocks of a note, extracted, in order.
        drafts: The passages that each of them was made of.
    """
    found: list[list[SaidLink]] = [[] for _ in blocks]
    before: _Place | None = None
    steps = _Steps()
    for place in _places(blocks, drafts):
        if place is None:
            before = None
            steps.end()
            continue
        found[place.block] += _said(before, place)
        found[place.block] += steps.follow(place)
        before = place
    return [tuple(dict.fromkeys(links)) for links in found]


def _places(
    blocks: Sequence[ExtractedBlock], drafts: Sequence[Sequence[PassageDraft]]
) -> Iterator[_Place | None]:
    """The sentences in order; None where something stands between them that is no prose."""
    announced = ""
    for at, (block, passages) in enumerate(zip(blocks, drafts, strict=True)):
        kind = block.block.kind
        if kind in _SILENT:
            continue
        if kind not in _PROSE or turns(block.lead_in):
            announced = ""
            yield None
            continue
        is_item = kind is BlockKind.LIST_ITEM
        of_steps = is_item and _announces_steps(block, announced)
        last = ""
        for place in _in_block(at, block, passages, of_steps=of_steps):
            last = place.text if place else ""
            yield place
        announced = announced if is_item else last


def _in_block(
    at: int, block: ExtractedBlock, passages: Sequence[PassageDraft], *, of_steps: bool
) -> Iterator[_Place | None]:
    unit: Unit | None = None
    number = 0
    for draft, made in zip(passages, block.passages, strict=True):
        for statement, extracted in zip(draft.statements, made.statements, strict=True):
            if statement.unit.kind not in ("prose", "item"):
                yield None
                continue
            if statement.unit != unit:
                unit, number = statement.unit, 0
            for sentence in statement.sentences:
                yield _Place(
                    text=plain_text(sentence.text).replace("’", "'"),
                    fact=_fact_of(sentence, extracted.facts),
                    block=at,
                    kind=block.block.kind,
                    heading_path=block.block.heading_path,
                    unit=unit,
                    number=number,
                    of_steps=of_steps or _says_steps(unit.parents[-1:]),
                )
                number += 1


def _fact_of(sentence: Sentence, facts: Iterable[ExtractedFact]) -> ExtractedFact | None:
    found = [fact for fact in facts if sentence.text in fact.text]
    return found[0] if len(found) == 1 else None


def _said(before: _Place | None, place: _Place) -> Iterator[SaidLink]:
    """The link that a sentence's first words make to the one before it."""
    if before is None or before.fact is None or place.fact is None:
        return
    if before.fact is place.fact or not _follows(before, place):
        return
    rules, words = _words(), words_of(place.text)
    if rules.elsewise.stand_in(place.text, words):
        return
    told, cause = place.fact, before.fact
    if rules.result.stand_in(place.text, words):
        yield SaidLink(from_fact=told, to_fact=cause, kind="caused_by", reason="says_result")
    elif _tells_cause(before, place, rules, words):
        yield SaidLink(from_fact=cause, to_fact=told, kind="caused_by", reason="says_cause")
    elif rules.supposes.stand_in(before.text, words_of(before.text)):
        return
    elif rules.later.stand_in(place.text, words):
        yield SaidLink(from_fact=told, to_fact=cause, kind="temporal", reason="says_later")
    elif rules.earlier.stand_in(place.text, words):
        yield SaidLink(from_fact=cause, to_fact=told, kind="temporal", reason="says_earlier")


def _follows(before: _Place, place: _Place) -> bool:
    """Whether a sentence's `this` or `then` can only mean the one before it."""
    if before.block == place.block and before.unit == place.unit:
        return True
    # The words that open a paragraph or item point back to all of the one before.
    if place.number or before.number or before.heading_path != place.heading_path:
        return False
    same_level = before.unit.parents == place.unit.parents
    if before.block == place.block:
        return same_level
    return same_level and before.kind is place.kind and before.unit.kind == place.unit.kind


def _tells_cause(before: _Place, place: _Place, rules: _Words, words: frozenset[str]) -> bool:
    """Whether it tells the cause, and does not say that there is none to tell.

    A label (`Cause:`) that opens a paragraph or item is of what went wrong above it, not of any field above it.
    """
    found = next(rules.cause.find(place.text, words), None)
    if found is None:
        return False
    rest = place.text[found.end() :].lstrip()
    length = _TAKEN_BACK_SPACELESS if _SPACELESS.match(rest) else _TAKEN_BACK
    if rules.untold.stand_in(rest[:length], words_of(rest[:length])):
        return False
    is_label = found.group().rstrip().endswith((":", "："))
    return not (is_label and place.number == 0) or names_trouble(before.text)


class _Steps:
    """The numbered lists that are open, each with its last item."""

    def __init__(self) -> None:
        # By what stands above the list.
        self._last: dict[tuple[str, ...], _Place] = {}

    def end(self) -> None:
        """No list goes on past this."""
        self._last.clear()

    def follow(self, place: _Place) -> Iterator[SaidLink]:
        """The link of a step, told by its first sentence, to the one before it in its list."""
        unit = place.unit
        if unit.kind != "item" and place.kind is not BlockKind.LIST_ITEM and not unit.parents:
            self.end()
        if unit.kind != "item" or place.number:
            return
        for deeper in [one for one in self._last if len(one) > len(unit.parents)]:
            del self._last[deeper]
        before = self._last.pop(unit.parents, None)
        if unit.ordinal is not None:
            self._last[unit.parents] = place
        if before and before.fact and place.fact and _is_next(before, place):
            yield SaidLink(
                from_fact=place.fact, to_fact=before.fact, kind="temporal", reason="next_step"
            )


def _is_next(before: _Place, place: _Place) -> bool:
    """Whether one is the next step; who numbers every item 1 leaves the counting to the program that shows it."""
    one, other = before.unit.ordinal, place.unit.ordinal
    return (
        one is not None
        and other in (one, one + 1)
        and before.of_steps
        and place.of_steps
        and before.heading_path == place.heading_path
    )


def _announces_steps(block: ExtractedBlock, announced: str) -> bool:
    heading = block.block.heading_path[-1:]
    if _says_steps((announced,)) or _says_steps((block.lead_in,)):
        return True
    # A list of its own below `Steps`; any other sentence in between says itself what the list is.
    return not announced and (_says_steps(heading) or _is_steps_heading(heading))


def _says_steps(texts: Iterable[str]) -> bool:
    rules = _words()
    return any(
        rules.steps.stand_in(text, words)
        and not rules.no_steps.stand_in(text, words)
        and not _ONE_STEP.search(text)
        for text in texts
        for words in (words_of(text),)
    )


def _is_steps_heading(headings: Iterable[str]) -> bool:
    return any(_words().steps_heading.stand_in(text, words_of(text)) for text in headings)


@cache
def _words() -> _Words:
    listed = read_lists("sequence.toml")
    return _Words(
        **{
            name: phrases(listed[name], start=_OPENING)
            for name in ("result", "cause", "later", "earlier", "elsewise", "supposes")
        },
        **{name: phrases(listed[name]) for name in ("untold", "steps", "no_steps")},
        steps_heading=phrases(listed["steps_heading"], start=_WHOLE_HEADING),
    )
