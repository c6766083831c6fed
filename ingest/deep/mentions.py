"""What a model's fact names besides what the model says it names: links, code, tags and names of its block.

A model may name nothing; what rules see in the same words must not be lost by that. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ingest.rules.entities import collect_names, find_entities, link_labels, title_names
from recalld.records import Entity

# Of a fact, links and code of its block included.
_MOST = 16


def all_named(
    given: Sequence[Entity],
    statement: str,
    *,
    sentence: str,
    block: str,
    title: str,
) -> tuple[Entity, ...]:
    """The entities of a fact: those that its model gives, first, and those that its words name.

    A link or a piece of code of the block is named where it shows in the statement, and a link also where it shows in
    the sentence that the statement says anew, of which a model may leave words out.

    Args:
        given: What the model names.
        statement: The fact's words.
        sentence: The sentence of the block that is nearest to it, without markup.
        block: The block as written.
        title: What the note is called.
    """
    found = {(one.name.casefold(), one.kind == "wikilink"): one for one in given}
    known = {one.name.casefold() for one in given}
    for entity in _written(statement, sentence, block, title):
        key = entity.name.casefold()
        if entity.kind == "wikilink" or key not in known:
            found.setdefault((key, entity.kind == "wikilink"), entity)
            known.add(key)
    return tuple(found.values())[:_MOST]


def _written(statement: str, sentence: str, block: str, title: str) -> Iterator[Entity]:
    """What rules find in the words, given what the block around them shows."""
    labels = link_labels(block)
    said, nearest = statement.casefold(), sentence.casefold()
    names = collect_names((sentence, statement)) | title_names(title)
    for line in block.splitlines():
        for entity in find_entities(line, line, frozenset()):
            shown = labels.get(entity.name, entity.name).casefold()
            if shown in said or (entity.kind in ("wikilink", "tag") and shown in nearest):
                yield entity
    yield from find_entities(statement, "", names)
