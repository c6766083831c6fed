"""Relations that a sentence states beyond doubt.

They are two named things with nothing but a known verb between them, the cells of a table, and links in a note's head.
Of the two, the first must be what its clause is about, and the second all that is said of it: `the port of A is B` and
`A is a B server` relate A to B in no way that is known. A clause that is planned, doubted or only so on condition
states nothing.

Entities come from outside; what else a sentence says is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise

from ingest.rules.clauses import (
    ARTICLES,
    JOINT,
    is_behind_a_part,
    is_stated,
    leans,
    places_of,
    prepositions,
)
from recalld.records import Entity, Relation
from retrieval.text.words import stop_words

_WIKILINK = re.compile(r"\[\[([^\[\]\n|#^]+)[^\[\]\n]*\]\]")
_OTHER_IN_FIELD = re.compile(r"\w")
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
        rf"[`\s]*{_ADVERBS}(?:{verbs})(?:\s+{_ADVERBS}{ARTICLES}|[`\s]*)[`\s]*", re.IGNORECASE
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

_ARTICLE_LAST = re.compile(r"\b(?:the|a|an|our|my|de|het|een)\s+$", re.IGNORECASE)
_OWNS_WHAT_FOLLOWS = re.compile(r"['’]s?\b|[-/(]|\s?[的の]|\s*上的|\s*里的")
_NEXT_WORD = re.compile(r"\ ([^\W\d_][\w-]*)")
# More words than these are no name of a thing.
_MOST_ADDED = 3

_Place = tuple[int, int, str]


def find_relations(
    text: str,
    entities: Sequence[Entity],
    *,
    labels: Mapping[str, str] | None = None,
    title: str = "",
) -> tuple[Relation, ...]:
    """Relations between entities that stand side by side in a sentence with a known verb between them.

    Args:
        text: The sentence.
        entities: What it names.
        labels: How an entity is shown in it, where a link shows something else than its target.
        title: What the note is called: a name here, however it is written.
    """
    shown = labels or {}
    places = _outermost(
        [
            *(
                (at, at + len(name), entity.name)
                for entity in entities
                for name in (shown.get(entity.name, entity.name),)
                for at in places_of(text, name)
            ),
            *_places_of_title(text, title),
        ]
    )
    found: dict[Relation, None] = {}
    # Where what is said of another name ends: behind it a joint begins a clause, elsewhere it joins two names.
    ends: set[int] = set()
    for before, (one, other) in zip([None, *places], pairwise(places), strict=False):
        if before and before[1] not in ends and JOINT.fullmatch(text, before[1], one[0]):
            continue
        relation = _relation(text, one, other)
        if relation is not None:
            ends.add(other[1])
            if is_stated(text, one[:2], other[:2]):
                found[relation] = None
    return tuple(found)


def _relation(text: str, one: _Place, other: _Place) -> Relation | None:
    """What the verb between two places says; None where there is none, or where they are not all that it relates."""
    (begin, end, subject), (start, after, thing) = one, other
    between, following = text[end:start], text[after : after + 40]
    predicate = _predicate(between, following) if start >= end else None
    if predicate is None or subject.casefold() == thing.casefold() or leans(text[:begin]):
        return None
    is_code = following.startswith("`")
    if is_code or _closing(predicate, between):
        return Relation(subject=subject, predicate=predicate, object=thing)
    if _OWNS_WHAT_FOLLOWS.match(following):
        return None
    added = _added(text[after:])
    if predicate == "is" and (added or is_behind_a_part(text, begin)):
        return None
    if _ARTICLE_LAST.search(between) and text[start:after] == thing:
        # `the GitHub webhook` is another thing than GitHub.
        thing = f"{thing}{added}"
        if _added(text[after + len(added) :]):
            return None
    return Relation(subject=subject, predicate=predicate, object=thing)


def _added(following: str) -> str:
    """The words right behind a name that go on with it, up to a word that says nothing; three at most."""
    at = 0
    for _ in range(_MOST_ADDED):
        word = _NEXT_WORD.match(following, at)
        if word is None or word[1].lower() in _stop_words() | prepositions():
            break
        at = word.end()
    return following[:at]


def _places_of_title(text: str, title: str) -> Iterable[_Place]:
    """Where a note's title stands; with capitals or without, since it is a title."""
    plain = text.lower()
    if len(title) > 1 and len(plain) == len(text):
        for at in places_of(plain, title.lower()):
            yield at, at + len(title), title


@cache
def _stop_words() -> frozenset[str]:
    return frozenset().union(*(stop_words(language) for language in ("en", "nl", "de", "fr")))


def _outermost(places: Iterable[_Place]) -> list[_Place]:
    """The places in order, without those that lie inside another: `GitHub` in `GitHub webhook` is no end."""
    kept: list[_Place] = []
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
        closing = _closing(predicate, between)
        if closing is None or re.match(rf"[`\s]*{closing}", following):
            return predicate
    return None


def _closing(predicate: str, between: str) -> str | None:
    """What a verb that ends behind its object ends with."""
    verbs = _CLOSING.get(predicate, {}).items()
    return next((end for verb, end in verbs if verb in between.lower()), None)
