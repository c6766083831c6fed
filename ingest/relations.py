"""Relations that a sentence states beyond doubt.

They are two named things with nothing but a known verb between them, and the cells of a table.

Entities come from outside; what else a sentence says is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from recalld.records import Entity, Relation

_ARTICLES = r"(?:(?:the|a|an|our|my|de|het|een|der|die|das|den|dem|ein|eine|einen|einem)\s+)?"
_ADVERBS = r"(?:(?:now|currently|also|nu|momenteel|ook|jetzt|derzeit|auch)\s+)?"
_VERBS = {
    "is": "is|ist",
    "uses": "uses|use|gebruikt|gebruiken|verwendet|benutzt|nutzt|使用|を使用",
    "runs_on": "runs on|run on|is running on|draait op|läuft auf|运行在",
    "depends_on": "depends on|requires|hangt af van|is afhankelijk van|hängt von|hängt ab von|benötigt|依赖",
    "moved_to": "moved to|has moved to|is verhuisd naar|verhuisde naar|zog nach|ist umgezogen nach|搬到|搬到了",
    "replaced_by": "was replaced by|is replaced by|has been replaced by|is vervangen door|werd vervangen door"
    "|wurde ersetzt durch|wurde durch|被",
    "owns": "owns|bezit|besitzt|拥有",
    "lives_in": "lives in|woont in|wohnt in|lebt in|住在",
    "works_at": "works at|works for|werkt bij|arbeitet bei|arbeitet für|就职于",
    "part_of": "is part of|belongs to|is onderdeel van|hoort bij|ist Teil von|gehört zu|属于",
    "located_in": "is located in|is in|ligt in|staat in|befindet sich in|liegt in|位于",
}  # fmt: skip
_BETWEEN = {
    predicate: re.compile(
        rf"[`\s]*{_ADVERBS}(?:{verbs})(?:\s+{_ADVERBS}{_ARTICLES}|[`\s]*)[`\s]*", re.IGNORECASE
    )
    for predicate, verbs in _VERBS.items()
}
# Verbs that German ends elsewhere: the pattern holds only if the sentence goes on so.
_CLOSING = {"wurde durch": "ersetzt", "hängt von": "ab", "被": "取代"}


def find_relations(text: str, entities: Sequence[Entity]) -> tuple[Relation, ...]:
    """Relations between entities that stand side by side in a sentence with a known verb between them."""
    places = sorted(
        (at, at + len(entity.name), entity.name)
        for entity in entities
        for at in _places(text, entity.name)
    )
    found: dict[Relation, None] = {}
    for (_, end, subject), (start, after, other) in pairwise(places):
        predicate = _predicate(text[end:start], text[after : after + 40]) if start >= end else None
        if predicate and subject != other:
            found[Relation(subject=subject, predicate=predicate, object=other)] = None
    return tuple(found)


def cell_relation(row: str, column: str, cell: str) -> Relation | None:
    """A table cell as a relation of its row's head; None when the column has no word to make a predicate of."""
    predicate = re.sub(r"\W+", "_", column.casefold()).strip("_")
    if not (row and predicate and cell):
        return None
    return Relation(subject=row, predicate=predicate, object=cell)


def _predicate(between: str, following: str) -> str | None:
    for predicate, pattern in _BETWEEN.items():
        if not pattern.fullmatch(between):
            continue
        closing = next((end for verb, end in _CLOSING.items() if verb in between.lower()), None)
        if closing is None or re.match(rf"[`\s]*{closing}", following):
            return predicate
    return None


def _places(text: str, name: str) -> list[int]:
    places: list[int] = []
    at = text.find(name)
    while at >= 0:
        around = text[max(at - 1, 0) : at], text[at + len(name) : at + len(name) + 1]
        # Beside CJK there are no spaces: only a Latin letter or digit continues a word.
        if not name.isascii() or not any(c.isascii() and c.isalnum() for c in around):
            places.append(at)
        at = text.find(name, at + len(name))
    return places
