"""Relations that a sentence states beyond doubt.

They are two named things with nothing but a known verb between them, the cells of a table, and links in a note's head.

Entities come from outside; what else a sentence says is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from recalld.records import Entity, Relation

_WIKILINK = re.compile(r"\[\[([^\[\]\n|#^]+)[^\[\]\n]*\]\]")
_OTHER_IN_FIELD = re.compile(r"\w")
_ARTICLES = r"(?:(?:the|a|an|our|my|de|het|een|der|die|das|den|dem|ein|eine|einen|einem)\s+)?"
_ADVERBS = r"(?:(?:now|currently|also|nu|momenteel|ook|jetzt|derzeit|auch)\s+)?"
_VERBS = {
    "is": "is|ist",
    "uses": "uses|use|gebruikt|gebruiken|verwendet|verwenden|benutzt|nutzt|使用|使用了|を使用",
    "runs_on": "runs on|run on|is running on|draait op|draaien op|läuft auf|laufen auf|运行在|跑在",
    "hosted_on": "is hosted on|is hosted by|is hosted at|wordt gehost op|wordt gehost door|staat gehost bij"
    "|wird gehostet auf|wird gehostet bei|托管在|部署在",
    "depends_on": "depends on|depend on|requires|relies on|hangt af van|is afhankelijk van|hängt von|hängt ab von"
    "|benötigt|依赖|依赖于|取决于",
    "triggers": "triggers|trigger|starts|activeert|start|löst|触发|触发了|启动",
    "triggered_by": "is triggered by|is started by|wordt gestart door|wordt geactiveerd door|wird von|wird durch|由",
    "moved_to": "moved to|has moved to|is verhuisd naar|verhuisde naar|zog nach|ist umgezogen nach|搬到|搬到了",
    "replaced_by": "was replaced by|is replaced by|has been replaced by|is vervangen door|werd vervangen door"
    "|wurde ersetzt durch|wurde durch|被",
    "replaced": "replaced|replaces|has replaced|vervangt|verving|ersetzt|ersetzte|取代|取代了|替换了|代替了",
    "owned_by": "is owned by|belongs to|is eigendom van|is van|gehört|归|属于",
    "maintained_by": "is maintained by|are maintained by|is looked after by|wordt onderhouden door"
    "|wird gewartet von|wird gepflegt von|wird von|由",
    "managed_by": "is managed by|are managed by|is run by|is administered by|wordt beheerd door|worden beheerd door"
    "|wird verwaltet von|wird betreut von|wird von|由",
    "owns": "owns|bezit|besitzt|拥有",
    "manages": "manages|maintains|looks after|beheert|onderhoudt|verwaltet|betreut|wartet|负责|管理|维护",
    "lives_in": "lives in|woont in|wohnt in|lebt in|住在",
    "works_at": "works at|works for|werkt bij|werkt voor|arbeitet bei|arbeitet für|就职于",
    "part_of": "is part of|is onderdeel van|hoort bij|ist Teil von|gehört zu",
    "located_in": "is located in|is in|ligt in|staat in|befindet sich in|liegt in|位于|放在",
}  # fmt: skip
_BETWEEN = {
    predicate: re.compile(
        rf"[`\s]*{_ADVERBS}(?:{verbs})(?:\s+{_ADVERBS}{_ARTICLES}|[`\s]*)[`\s]*", re.IGNORECASE
    )
    for predicate, verbs in _VERBS.items()
}
# Verbs that end elsewhere: the pattern holds only if the sentence goes on so.
_CLOSING = {
    "replaced_by": {"wurde durch": "ersetzt", "被": "(?:取代|替换|代替)"},
    "depends_on": {"hängt von": "ab"},
    "triggers": {"löst": "aus"},
    "triggered_by": {"wird von": "ausgelöst", "wird durch": "ausgelöst", "由": "触发"},
    "maintained_by": {"wird von": "(?:gewartet|gepflegt)", "由": "(?:维护|照看)"},
    "managed_by": {"wird von": "(?:verwaltet|betreut)", "由": "(?:管理|负责)"},
}


def find_relations(
    text: str, entities: Sequence[Entity], *, labels: Mapping[str, str] | None = None
) -> tuple[Relation, ...]:
    """Relations between entities that stand side by side in a sentence with a known verb between them.

    Args:
        text: The sentence.
        entities: What it names.
        labels: How an entity is shown in it, where a link shows something else than its target.
    """
    shown = labels or {}
    places = _outermost(
        (at, at + len(name), entity.name)
        for entity in entities
        for name in (shown.get(entity.name, entity.name),)
        for at in _places(text, name)
    )
    found: dict[Relation, None] = {}
    for (_, end, subject), (start, after, other) in pairwise(places):
        predicate = _predicate(text[end:start], text[after : after + 40]) if start >= end else None
        if predicate and subject != other:
            found[Relation(subject=subject, predicate=predicate, object=other)] = None
    return tuple(found)


def _outermost(places: Iterable[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """The places in order, without those that lie inside another: `GitHub` in `GitHub webhook` is no end."""
    kept: list[tuple[int, int, str]] = []
    for place in sorted(places, key=lambda one: (one[0], -one[1])):
        if not kept or place[1] > kept[-1][1]:
            kept.append(place)
    return kept


def field_relations(title: str, key: str, source: str) -> tuple[Relation, ...]:
    """What a field of a note's head says of the note: `author: "[[Kevin Kelly]]"`.

    None where the note has no title or the value is more than links, since then it is prose about something else.

    Args:
        source: The field as written, its key included.
    """
    predicate = re.sub(r"\W+", "_", key.casefold()).strip("_")
    value = source.partition(":")[2]
    targets = [m[1].strip() for m in _WIKILINK.finditer(value)]
    if not (title and predicate and targets) or _OTHER_IN_FIELD.search(_WIKILINK.sub("", value)):
        return ()
    return tuple(
        Relation(subject=title, predicate=predicate, object=target)
        for target in dict.fromkeys(targets)
        if target and target != title
    )


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
        verbs = _CLOSING.get(predicate, {}).items()
        closing = next((end for verb, end in verbs if verb in between.lower()), None)
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
