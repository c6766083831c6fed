"""Relations that a model gives of a statement, kept where the statement says them in that order. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.rules.clauses import (
    ARTICLES,
    JOINT,
    Place,
    is_stated,
    leans,
    places_of,
    prepositions,
)
from recalld.records import Relation
from retrieval.grounding.wording import negation
from retrieval.text.words import tokens

_NO_WORD = re.compile(r"[\W_]+")
_ARTICLE = re.compile(ARTICLES, re.IGNORECASE)
# In German the one of whom something is said has another article.
_OBJECT_ARTICLE = re.compile(r"(?<!\w)(?:den|dem)\s+$", re.IGNORECASE)
_MARKER_LAST = re.compile(rf"(?:^|\s)([^\W\d_]+)\s+{ARTICLES}$", re.IGNORECASE)
_MARKER_INSIDE = re.compile(r"[被由受]\s*$")
_TURNED_INSIDE = re.compile(r"(?:られ|され|れた|れる)")
_JOINT = re.compile(rf"{JOINT.pattern}|[,;，；、]\s*", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[,;:，；：。]|(?<=\S)[.!?](?=\s|$)")
_WORD = re.compile(r"[^\W_]+")
# Of a name that a statement has often.
_MOST_PLACES = 4


def relations_said(value: object, statement: str) -> list[Relation]:
    """The triples of `value`, as a model gave it, that the statement says in its own words and does not deny.

    Each is said in one clause, of what the clause is about, and the clause is neither planned nor doubted nor on
    condition. The preposition before the object is part of what is said: `replaced by` is not `replaced`.
    """
    if negation().holds(statement):
        return []
    triples = value if isinstance(value, list) else []
    made = (_relation(triple, statement) for triple in triples)
    return list(dict.fromkeys(one for one in made if one is not None))


def _relation(triple: object, statement: str) -> Relation | None:
    if not (isinstance(triple, list) and len(triple) == 3):
        return None
    parts = [" ".join(part.split()) for part in triple if isinstance(part, str) and part.strip()]
    if len(parts) < 3:
        return None
    subject, said, thing = _bare(parts[0]), parts[1].replace("_", " "), _bare(parts[2])
    if subject.casefold() == thing.casefold():
        return None
    held = statement.casefold()
    for one, other in _pairs(held, subject.casefold(), thing.casefold()):
        whole = _said_between(held, one, other, said.casefold())
        if whole is not None and is_stated(statement, one, other, said=said):
            predicate = _NO_WORD.sub("_", whole).strip("_")
            return Relation(subject=subject, predicate=predicate, object=thing)
    return None


def _bare(name: str) -> str:
    """A name without the article before it, unless that seems to belong to it (`The Hague`)."""
    article = _ARTICLE.match(name)
    rest = name[article.end() :] if article else name
    return rest if rest and (name[0].islower() or not rest[0].isupper()) else name


def _pairs(held: str, subject: str, thing: str) -> Iterator[tuple[Place, Place]]:
    """Where the two stand in this order, the nearest first."""
    ones = [(at, at + len(subject)) for at in places_of(held, subject)[:_MOST_PLACES]]
    others = [(at, at + len(thing)) for at in places_of(held, thing)[:_MOST_PLACES]]
    pairs = [(one, other) for one in ones for other in others if one[1] <= other[0]]
    yield from sorted(pairs, key=lambda pair: pair[1][0] - pair[0][1])


def _said_between(held: str, one: Place, other: Place, said: str) -> str | None:
    """What the statement says between two places, from a model's words for it; None where it says something else."""
    between, ahead = held[one[1] : other[0]], held[: one[0]]
    end = _CLAUSE_END.search(held, other[1])
    # A verb may stand at the end, behind what it is about.
    behind = held[other[1] : end.start() if end else len(held)]
    words = set(tokens(said))
    if not words or not words <= set(tokens(f"{between} {behind}")):
        return None
    if leans(ahead) or _OBJECT_ARTICLE.search(ahead) or _is_of_another(between, said):
        return None
    verb = held.find(said, one[1])
    if verb >= 0 and _TURNED_INSIDE.match(held, verb + len(said)):
        return None
    return _with_marker(between, said)


def _is_of_another(between: str, said: str) -> bool:
    """Whether what is said stands behind a joint, and there behind words of another clause."""
    first = _JOINT.match(between)
    joints = list(_JOINT.finditer(between, first.end() if first else 0))
    if not joints:
        return False
    words = set(tokens(said))
    ahead, tail = between[: joints[-1].start()], between[joints[-1].end() :]
    if not words <= set(tokens(tail)):
        # A list of what it is said of, unless another verb comes first.
        return False
    before = tail.split(said)[0] if said in tail else tail
    others = [word for word in _WORD.findall(before) if not set(tokens(word)) <= words]
    return bool(others) and bool(_WORD.search(ahead))


def _with_marker(between: str, said: str) -> str:
    """What is said, with the preposition right before the object, in whose place another would say the opposite."""
    inside = _MARKER_INSIDE.search(between)
    if inside is not None and inside[0].strip() not in said:
        return f"{inside[0].strip()}{said}"
    marker = _MARKER_LAST.search(between)
    if marker is not None and marker[1] in prepositions() and marker[1] not in said.split():
        return f"{said} {marker[1]}"
    return said
