"""A block cut into passages (searched, ranked) and statements (embedded), each with its lines.

Passages are slices of the block's text, so no word of it is lost; statements are its sentences
without markup. What a statement means (fact, question, task) is not known here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from ingest.markdown.markup import (
    split_lines,
    squeeze,
    strip_beside_words,
    without_embeds,
    without_struck,
)
from ingest.rules.leaning import leans
from ingest.rules.sentences import Span, split_sentences, trim, weight
from ingest.rules.units import Unit, find_units, searchable_source
from ingest.rules.verbs import has_verb, opens_with_subject
from recalld.records import Block, BlockKind, Lines

PASSAGE_LENGTH = 1200
# Leaves room for the lines of the fence itself.
_CODE_LENGTH = PASSAGE_LENGTH - 100
_CODE_STATEMENT_LENGTH = 400
# Sentences lighter than this say too little for an embedding of their own.
_SHORT = 25
_JOINED_LENGTH = 400
_JOINED_SENTENCES = 3
_WORDLESS = (BlockKind.BLANK, BlockKind.RULE, BlockKind.COMMENT, BlockKind.FRONT_MATTER)
_LINE_END = re.compile(r"\n")
_CLAUSE_END = re.compile(r"[,;:，；：、)]\s*")

_YES_OR_NO = re.compile(
    r"(?:yes|yep|yeah|no|nope|ja|jawel|nee|nein|doch|oui|non|si|sí|sì|não|sim|да|нет|evet|hayır)(?=[\s,.;:!–—-]|$)"
    r"|(?:是的?|不是|不|没有|对|有|可以|不可以|はい|いいえ|ええ|네|예|아니[요오]?)(?=[\s,.;:!，。、！]|$)",
    re.IGNORECASE,
)
_ASKING = ("?", "？", "؟")
# A piece without a verb that weighs more is hardly what a question before it asks for.
_ANSWER = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence, or several of which the later ones lean on the first."""

    text: str
    # Relative to the block, as all lines here.
    lines: Lines
    # The same as written, less what is struck out; there links still show their targets.
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementDraft:
    """A statement before anything is read out of it."""

    # Starts with `prefix`.
    text: str
    lines: Lines
    unit: Unit
    sentences: tuple[Sentence, ...]
    # The parents of a list item and the mark of a task that is over: `Home › [x] `.
    prefix: str = ""

    @property
    def source(self) -> str:
        """Its sentences as written."""
        return " ".join(sentence.source for sentence in self.sentences)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageDraft:
    """A passage with its statements in order; there is at least one."""

    text: str
    lines: Lines
    statements: tuple[StatementDraft, ...]


@dataclass(frozen=True, slots=True)
class _Placed:
    """A statement with where in the source its part of the passage starts."""

    start: int
    draft: StatementDraft


class _Source:
    """A block's searchable text that knows on which line an offset lies."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0]
        for line in split_lines(text):
            self._starts.append(self._starts[-1] + len(line))

    def lines(self, start: int, end: int) -> Lines:
        first = self._line(start)
        return Lines(first=first, last=max(first, self._line(end - 1)))

    def line_start(self, at: int) -> int:
        return self._starts[self._line(at) - 1]

    def _line(self, at: int) -> int:
        last = max(len(self._starts) - 1, 1)
        return min(max(bisect_right(self._starts, at), 1), last)


def split_block(block: Block, term: str = "") -> tuple[PassageDraft, ...]:
    """The passages of a block, at most 1,200 characters each; none where nothing is to be searched.

    Args:
        block: The block.
        term: What a definition at its start explains, where that stands in the block before.
    """
    source = _Source(searchable_source(block))
    placed: list[_Placed] = []
    end = 0
    for unit in find_units(block, source.text, term):
        # Two units of HTML may share a line.
        placed += (
            replace(one, start=max(one.start, end)) for one in _place_statements(unit, source)
        )
        end = unit.end
    if not placed and block.kind not in _WORDLESS and re.search(r"\w", source.text):
        # Markup round its only words, such as the opening of a fence, hid them from the units.
        whole = Unit(kind="code", start=0, end=len(source.text))
        placed = list(_place_code(whole, source))
    return tuple(_pack(placed, source))


def answers(text: str) -> bool:
    """Whether a sentence behind a question says too little without it: `No, it died.`, `Under the pot.`, `Ann.`."""
    if _YES_OR_NO.match(text):
        return True
    said = weight(text)
    is_piece = not has_verb(text) and not opens_with_subject(text)
    return said < _SHORT or (said < _ANSWER and is_piece)


def _pack(placed: list[_Placed], source: _Source) -> Iterator[PassageDraft]:
    """Fill passages with whole statements; together they cover the source from end to end."""
    starts = [0, *(p.start for p in placed[1:]), len(source.text)]
    at = 0
    while at < len(placed):
        last = at + 1
        while last < len(placed) and _fits(source.text, starts[at], starts[last + 1]):
            last += 1
        drafts = tuple(p.draft for p in placed[at:last])
        for n, span in enumerate(_cut(source.text, starts[at], starts[last])):
            lines = source.lines(*span)
            yield PassageDraft(
                text=source.text[span[0] : span[1]],
                lines=lines,
                statements=tuple(_clipped(draft, lines) for draft in drafts)
                if n == 0
                else (_opening(source, span, drafts[-1].unit),),
            )
        at = last


def _fits(text: str, start: int, end: int) -> bool:
    low, high = trim(text, (start, end))
    return high - low <= PASSAGE_LENGTH


def _clipped(draft: StatementDraft, lines: Lines) -> StatementDraft:
    """The statement with its lines inside its passage's, which may end in the middle of a long unit."""
    if draft.lines.last <= lines.last:
        return draft

    def clip(told: Lines) -> Lines:
        return Lines(first=min(told.first, lines.last), last=min(told.last, lines.last))

    sentences = tuple(replace(sentence, lines=clip(sentence.lines)) for sentence in draft.sentences)
    return replace(draft, lines=clip(draft.lines), sentences=sentences)


def _opening(source: _Source, span: Span, unit: Unit) -> StatementDraft:
    """What stands for a further piece of a unit that is too long for one passage: how it starts."""
    text = squeeze(source.text[span[0] : span[1]])[:_CODE_STATEMENT_LENGTH]
    return StatementDraft(text=text, lines=source.lines(*span), unit=unit, sentences=())


def _place_statements(unit: Unit, source: _Source) -> Iterator[_Placed]:
    if unit.kind == "code":
        yield from _place_code(unit, source)
    elif unit.kind in ("row", "field"):
        yield from _place_cells(unit, source)
    else:
        yield from _place_prose(unit, source)


def _place_prose(unit: Unit, source: _Source) -> Iterator[_Placed]:
    plain = strip_beside_words(source.text[unit.start : unit.end], offset=unit.start)
    groups = [
        [(a, b, plain.source(a), plain.source(b - 1) + 1) for a, b in group]
        for group in _statement_groups(plain.text)
    ]
    # Markup at a sentence's edges lies between its words and its neighbours'.
    starts = [start for group in groups for _, _, start, _ in group]
    borders = dict(pairwise([*starts, unit.end]))
    before = unit.start
    prefix = _prefix(unit)
    for n, group in enumerate(groups):
        sentences: list[Sentence] = []
        for a, b, start, end in group:
            told = without_struck(without_embeds(source.text[before : borders[start]]))
            lines = source.lines(start, end)
            sentences.append(Sentence(text=squeeze(plain.text[a:b]), lines=lines, source=told))
            before = end
        draft = StatementDraft(
            text=prefix + squeeze(plain.text[group[0][0] : group[-1][1]]),
            lines=source.lines(group[0][2], group[-1][3]),
            unit=unit,
            sentences=tuple(sentences),
            prefix=prefix,
        )
        yield _Placed(source.line_start(unit.start) if n == 0 else group[0][2], draft)


def _prefix(unit: Unit) -> str:
    parents = (f"{p} " if p.endswith((":", "：")) else f"{p} › " for p in unit.parents)
    return "".join(parents) + (f"[{unit.task}] " if unit.is_closed else "")


def _place_cells(unit: Unit, source: _Source) -> Iterator[_Placed]:
    text = "; ".join(f"{head}: {cell}" if head else cell for head, cell in unit.cells)
    if text:
        lines = source.lines(unit.start, unit.end)
        text = text[:PASSAGE_LENGTH]
        told = Sentence(text=text, lines=lines, source=source.text[unit.start : unit.end])
        draft = StatementDraft(text=text, lines=lines, unit=unit, sentences=(told,))
        yield _Placed(source.line_start(unit.start), draft)


def _place_code(unit: Unit, source: _Source) -> Iterator[_Placed]:
    first = True
    for a, b in _cut(source.text, unit.start, unit.end, _LINE_END, _CODE_LENGTH):
        yield _Placed(source.line_start(a) if first else a, _opening(source, (a, b), unit))
        first = False


def _statement_groups(text: str) -> Iterator[list[Span]]:
    """Statements as lists of spans: a leaning sentence or an answer shares its span, a short one its list."""
    spans = [
        piece for a, b in split_sentences(text) for piece in _cut(text, a, b) if piece[0] < piece[1]
    ]
    sentences: list[Span] = []
    count = 0
    for a, b in spans:
        said = text[a:b]
        joins = (
            sentences
            and count < _JOINED_SENTENCES
            and (leans(said) or (text[sentences[-1][1] - 1] in _ASKING and answers(said)))
            # What announces or asks would take the sentence before it out of the facts.
            and not said.endswith((":", "：", *_ASKING))
            and weight(text[sentences[-1][0] : b]) <= _JOINED_LENGTH
        )
        if joins:
            sentences[-1] = (sentences[-1][0], b)
            count += 1
        else:
            sentences.append((a, b))
            count = 1
    group: list[Span] = []
    for n, (a, b) in enumerate(sentences):
        group.append((a, b))
        following = sentences[n + 1] if n + 1 < len(sentences) else None
        held = weight(text[group[0][0] : b])
        if following is not None and following[1] - group[0][0] <= _JOINED_LENGTH:
            short_tail = weight(text[following[0] : following[1]]) < _SHORT and (
                held < 3 * _SHORT or n + 2 == len(sentences)
            )
            if held < _SHORT or short_tail:
                continue
        yield group
        group = []


def _cut(
    text: str,
    start: int,
    end: int,
    border: re.Pattern[str] = _CLAUSE_END,
    limit: int = PASSAGE_LENGTH,
) -> Iterator[Span]:
    """Pieces of at most `limit` characters: cut at the last border, else word end, else anywhere."""
    while end - start > limit:
        window = text[start : start + limit]
        ends = [m.end() for m in border.finditer(window)]
        cut = ends[-1] if ends and ends[-1] > limit // 3 else window.rfind(" ") + 1
        cut = cut or limit
        yield trim(text, (start, start + cut))
        start += cut
    span = trim(text, (start, end))
    if span[0] < span[1]:
        yield span
