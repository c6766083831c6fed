"""The rules extractor: what a parsed note says, without any model.

It only copies: every word of a fact stands in its block, or in the lead-in that turns what the
block says. It knows no store, model or clock.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from datetime import date

from ingest.markdown.markup import squeeze, strip_markup
from ingest.rules.dates import section_day
from ingest.rules.entities import collect_names, title_names
from ingest.rules.facts import NoteContext, find_facts, turns
from ingest.rules.importance import Importances, find_importances
from ingest.rules.labels import is_term
from ingest.rules.leaning import leans
from ingest.rules.passages import PassageDraft, StatementDraft, split_block
from ingest.rules.sequence import find_sequence
from ingest.rules.units import opens_definition
from ingest.steps import finish
from recalld.records import (
    Block,
    BlockKind,
    ExtractedBlock,
    ExtractedFact,
    ExtractedPassage,
    ExtractedStatement,
    ParsedNote,
)

RULES_VERSION = "rules@7"

# Some tenths of a second of work, be they of many blocks or of one long one.
_BLOCKS_A_STEP = 500
_PASSAGES_A_STEP = 20

_LED_IN = (
    BlockKind.LIST_ITEM,
    BlockKind.TABLE,
    BlockKind.FENCE,
    BlockKind.QUOTE,
    BlockKind.CALLOUT,
)


def extract_note(
    note: ParsedNote,
    *,
    note_date: date | None,
    known_names: frozenset[str] = frozenset(),
    title: str = "",
) -> tuple[ExtractedBlock, ...]:
    """What each block of a note gives, in order, one for each block.

    Args:
        note: The note, parsed.
        note_date: The day that relative dates count from; None = the note's own date, and where
            it has none, such dates are left unread. Below a heading that is a date it is that day.
        known_names: Names of entities met in other notes.
        title: What the note is called: what its head speaks of. "" = its own title.
    """
    return finish(extract_in_steps(note, note_date=note_date, known_names=known_names, title=title))


def extract_in_steps(
    note: ParsedNote,
    *,
    note_date: date | None,
    known_names: frozenset[str] = frozenset(),
    title: str = "",
) -> Generator[None, None, tuple[ExtractedBlock, ...]]:
    """The same as `extract_note`, with a pause now and then, where others may have their turn."""
    if note_date is None:
        note_date = note.date
    terms = _terms(note.blocks)
    split: list[tuple[PassageDraft, ...]] = []
    for count, (block, term) in enumerate(zip(note.blocks, terms, strict=True), start=1):
        split.append(split_block(block, term))
        if count % _BLOCKS_A_STEP == 0:
            yield
    drafts = _drop_told_headings(note.blocks, split)
    lead_ins = [
        term or announced
        for term, announced in zip(terms, _lead_ins(note.blocks, drafts), strict=True)
    ]
    context = NoteContext(
        note_date=note_date,
        names=_names(drafts) | known_names | title_names(note.title),
        title=title or note.title,
    )
    paths = dict.fromkeys(block.heading_path for block in note.blocks)
    below = {path: _below(path, context) for path in paths}
    importances = find_importances(note)
    extracted: list[ExtractedBlock] = []
    for count, (block, passages, lead_in) in enumerate(
        zip(note.blocks, drafts, lead_ins, strict=True), start=1
    ):
        extracted.append(
            (
                yield from _extracted(
                    block, passages, lead_in, below[block.heading_path], importances
                )
            )
        )
        if count % _BLOCKS_A_STEP == 0:
            yield
    links = find_sequence(extracted, drafts)
    return tuple(
        replace(block, links=said) if said else block
        for block, said in zip(extracted, links, strict=True)
    )


def _extracted(
    block: Block,
    passages: tuple[PassageDraft, ...],
    lead_in: str,
    context: NoteContext,
    importances: Importances,
) -> Generator[None, None, ExtractedBlock]:
    extracted: list[ExtractedPassage] = []
    for count, passage in enumerate(passages, start=1):
        statements = tuple(
            _statement(block, draft, lead_in, context, importances) for draft in passage.statements
        )
        extracted.append(
            ExtractedPassage(text=passage.text, lines=passage.lines, statements=statements)
        )
        if count % _PASSAGES_A_STEP == 0:
            yield
    return ExtractedBlock(block=block, lead_in=lead_in, passages=tuple(extracted))


def _statement(
    block: Block,
    draft: StatementDraft,
    lead_in: str,
    context: NoteContext,
    importances: Importances,
) -> ExtractedStatement:
    above = block.lines.first - 1
    # A cell or field under `Warning` is what a table says of warnings.
    is_told = draft.unit.kind in ("prose", "item")
    facts: list[ExtractedFact] = []
    for fact in find_facts(draft, context, lead_in=lead_in):
        # What the first opens with may have been a sentence of its own: `Let op!`
        texts = (lead_in, fact.text, *(() if facts else (draft.text,))) if is_told else ()
        importance = importances.at(above + fact.lines.first, *texts)
        facts.append(replace(fact, importance=importance))
    texts = (lead_in, draft.text) if is_told else ()
    own = importances.at(above + draft.lines.first, *texts)
    return ExtractedStatement(
        text=f"{lead_in} {draft.text}" if turns(lead_in) else draft.text,
        lines=draft.lines,
        facts=tuple(facts),
        importance=max((fact.importance for fact in facts), default=own),
    )


def _below(heading_path: tuple[str, ...], context: NoteContext) -> NoteContext:
    """The context below headings: one that is a date dates what stands there."""
    day = section_day(heading_path, note_date=context.note_date)
    return context if day is None else replace(context, note_date=day, section_day=day)


def _names(drafts: list[tuple[PassageDraft, ...]]) -> frozenset[str]:
    """Names that the note's own sentences show to be names; code and titles show none."""
    return collect_names(
        sentence.text
        for passages in drafts
        for passage in passages
        for draft in passage.statements
        if draft.unit.kind in ("prose", "item")
        for sentence in draft.sentences
    )


def _drop_told_headings(
    blocks: tuple[Block, ...], drafts: list[tuple[PassageDraft, ...]]
) -> list[tuple[PassageDraft, ...]]:
    """A heading whose section has passages is found through them, so it gives none of its own."""
    kept = list(drafts)
    for at, block in enumerate(blocks):
        if block.kind is not BlockKind.HEADING:
            continue
        # By number: a copy of the rest for each of many headings takes the square of their count.
        for below in range(at + 1, len(blocks)):
            if blocks[below].kind is BlockKind.HEADING and blocks[below].level <= block.level:
                break
            if drafts[below]:
                kept[at] = ()
                break
    return kept


def _terms(blocks: tuple[Block, ...]) -> list[str]:
    """For each paragraph that is a definition of what stands alone above it that term, else ""."""
    found: list[str] = []
    term = ""
    for block in blocks:
        if block.kind in (BlockKind.BLANK, BlockKind.COMMENT):
            found.append("")
            continue
        defines = block.kind is BlockKind.PARAGRAPH and opens_definition(block.text)
        if not defines:
            told = squeeze(strip_markup(block.text).text)
            is_one = block.kind is BlockKind.PARAGRAPH and "\n" not in block.text.strip()
            term = told if is_one and is_term(told) else ""
        found.append(term if defines else "")
    return found


def _lead_ins(blocks: tuple[Block, ...], drafts: list[tuple[PassageDraft, ...]]) -> list[str]:
    """For each block the sentence before it that announces it, or ""."""
    found: list[str] = []
    announced = ""
    for block, passages in zip(blocks, drafts, strict=True):
        if block.kind in (BlockKind.BLANK, BlockKind.COMMENT):
            found.append("")
            continue
        found.append(announced if block.kind in _LED_IN else "")
        if block.kind is BlockKind.PARAGRAPH and passages:
            announced = _announcement(passages[-1])
        elif block.kind is not BlockKind.LIST_ITEM:
            announced = ""
    return found


def _announcement(passage: PassageDraft) -> str:
    """The last sentence of a passage where it announces what follows, with the one that it leans on; else ""."""
    *before, told = [""] + [one.text for draft in passage.statements for one in draft.sentences]
    if not told.endswith((":", "：")):
        return ""
    return f"{before[-1]} {told}" if leans(told) and before[-1] else told
