"""The days that facts of an undated note keep: "yesterday" counts from when it was first read, not from each save.

A file's time is all that such a note has to go by, and that moves whenever anything in it is edited. Pure: what was
extracted and the days that are stored in, what is to be stored out.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ingest.plan import digest
from recalld.records import BlockId, DateInterval, ExtractedBlock, ExtractedFact, ExtractedPassage
from recalld.store.changes import StoredBlock

# By the words of a fact, when it happened.
Days = Mapping[str, DateInterval]


def keep_days(
    blocks: Sequence[ExtractedBlock],
    stored: Sequence[StoredBlock],
    days: Mapping[BlockId, Days],
) -> tuple[ExtractedBlock, ...]:
    """The blocks, those that are stored with the same text, headings and lead-in with the days that are known of them.

    Args:
        days: Of the facts of stored blocks, as far as they happened on any day.
    """
    waiting: dict[tuple[object, ...], deque[Days]] = defaultdict(deque)
    for known in stored:
        key = (known.kind, known.text_hash, known.heading_path, known.lead_in)
        waiting[key].append(days.get(known.block_id, {}))
    dated: dict[int, ExtractedFact] = {}
    made = []
    for block in blocks:
        parsed = block.block
        # In order, as blocks are matched with those that stay: a second one of the same words is new.
        same = waiting[(parsed.kind, digest(parsed.text), parsed.heading_path, block.lead_in)]
        mine = same.popleft() if same else None
        if mine:
            passages = tuple(_passage(one, mine, dated) for one in block.passages)
            block = replace(block, passages=passages)  # noqa: PLW2901 - the same block
        made.append(_linked(block, dated) if dated and block.links else block)
    return tuple(made)


def _passage(
    passage: ExtractedPassage, days: Days, dated: dict[int, ExtractedFact]
) -> ExtractedPassage:
    return replace(
        passage,
        statements=tuple(
            replace(statement, facts=tuple(_fact(fact, days, dated) for fact in statement.facts))
            for statement in passage.statements
        ),
    )


def _fact(fact: ExtractedFact, days: Days, dated: dict[int, ExtractedFact]) -> ExtractedFact:
    """The fact with its own day; `dated` then has it by what it was made of."""
    day = days.get(fact.text, fact.happened)
    if day == fact.happened:
        return fact
    dated[id(fact)] = replace(fact, happened=day)
    return dated[id(fact)]


def _linked(block: ExtractedBlock, dated: Mapping[int, ExtractedFact]) -> ExtractedBlock:
    """The block with links between its facts as they are now; a link leads to what comes before it."""
    return replace(
        block,
        links=tuple(
            replace(
                link,
                from_fact=dated.get(id(link.from_fact), link.from_fact),
                to_fact=dated.get(id(link.to_fact), link.to_fact),
            )
            for link in block.links
        ),
    )
