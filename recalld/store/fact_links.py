"""Links between facts that follow from what is stored: what notes say of two of their facts, and what names relate.

Called inside a transaction whenever one of their grounds changes; computing all anew finds the same. Two facts of
different notes are `related` when both name the same two rare things, one of which at least is no plain word, or both
point at the same one by a wikilink. What
many facts name relates none of them, so a thing makes a few links at most and nothing has to be chosen. Links that
comparison finds are not its own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from recalld.store.changes import NewSaidLink
from recalld.store.connection import Connection, execute

# A thing that more facts name, and a wikilink's target that more do, relates none of them.
MOST_NAMING = 6
MOST_LINKING = 4

# As SQL, of a row of fact_link: whether it tells something. That two facts name the same says nothing more where
# something else links them.
TELLING = (
    "(fact_link.kind <> 'related' OR NOT EXISTS (SELECT 1 FROM fact_link AS more"
    " WHERE more.kind <> 'related' AND (more.from_fact, more.to_fact)"
    " IN ((fact_link.from_fact, fact_link.to_fact), (fact_link.to_fact, fact_link.from_fact))))"
)
_SAID_WEIGHT = 0.9
_RELATED_WEIGHT = 0.5

# (from, to, kind) with weight and reason.
_Links = dict[tuple[int, int, str], tuple[float, str]]


def replace_said(connection: Connection, note_id: int, links: Sequence[NewSaidLink]) -> set[int]:
    """Writes the links that a note says anew. Returns the facts whose links are to be settled."""
    rows = execute(
        connection,
        "SELECT from_uid, to_uid, kind, reason FROM said_link WHERE note_id = ?",
        (note_id,),
    )
    stored = {(row[0], row[1], row[2]): row[3] for row in rows}
    # Of two ways to say the same the first in order counts.
    wanted = {
        (link.from_uid, link.to_uid, link.kind): link.reason for link in sorted(links, reverse=True)
    }
    changed = {key for key, _ in stored.items() ^ wanted.items()}
    for one in sorted(changed):
        execute(
            connection,
            "DELETE FROM said_link WHERE note_id = ? AND (from_uid, to_uid, kind) = (?, ?, ?)",
            (note_id, *one),
        )
        if one in wanted:
            execute(
                connection,
                "INSERT INTO said_link (note_id, from_uid, to_uid, kind, reason)"
                " VALUES (?, ?, ?, ?, ?)",
                (note_id, *one, wanted[one]),
            )
    found = execute(
        connection,
        "SELECT id FROM fact WHERE uid IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted({uid for one in changed for uid in one[:2]})),),
    )
    return {row[0] for row in found}


def settle_said(connection: Connection, facts: Collection[int]) -> int:
    """Makes the links that notes say from and to these facts what the notes say now. Returns how many changed."""
    if not facts:
        return 0
    states = (
        "EXISTS (SELECT 1 FROM fact_source CROSS JOIN passage ON passage.id = passage_id"
        " WHERE fact_id = {fact}.id AND passage.note_id = said_link.note_id)"
    )
    both = f"{states.format(fact='one')} AND {states.format(fact='other')}"
    said = " UNION ALL ".join(
        f"SELECT one.id AS from_id, other.id AS to_id, kind, reason FROM mine"
        f" CROSS JOIN said_link ON {end}_uid = mine.uid CROSS JOIN fact AS one ON one.uid = from_uid"
        f" CROSS JOIN fact AS other ON other.uid = to_uid WHERE {both}"
        for end in ("from", "to")
    )
    rows = execute(
        connection,
        "WITH mine AS MATERIALIZED (SELECT uid FROM fact WHERE id IN"
        f" (SELECT value FROM json_each(:facts))), said AS ({said})"
        " SELECT from_id, to_id, kind, min(reason) FROM said GROUP BY from_id, to_id, kind",
        {"facts": json.dumps(sorted(facts))},
    )
    wanted: _Links = {(row[0], row[1], row[2]): (_SAID_WEIGHT, row[3]) for row in rows}
    return _make(connection, facts, ("caused_by", "temporal"), wanted)


def settle_related(connection: Connection, facts: Collection[int]) -> int:
    """Makes the links of these facts to others that name the same what names say now. Returns how many changed."""
    if not facts:
        return 0
    rows = execute(
        connection,
        "WITH rare AS MATERIALIZED (SELECT fact_id, entity_id, linked,"
        # `width` and `height` are words of a trade; `git-restore`, `CIO Rijk` or a name in Chinese is a thing.
        " entity.key GLOB '*[^a-z]*' AS is_telling,"
        f" {_naming('mention.entity_id', ':most')} AS naming FROM json_each(:facts)"
        " CROSS JOIN mention ON fact_id = value CROSS JOIN entity ON entity.id = entity_id"
        # A day or a number is not a thing.
        " WHERE naming < :most AND entity.key GLOB '*[^0-9 .,:;/_-]*'),"
        " pairs AS MATERIALIZED (SELECT min(rare.fact_id, other.fact_id) AS one,"
        " max(rare.fact_id, other.fact_id) AS two, rare.entity_id AS thing, is_telling,"
        " rare.linked AND other.linked AND naming <= :linking AS pointed FROM rare"
        " CROSS JOIN mention AS other ON other.entity_id = rare.entity_id"
        " AND other.fact_id <> rare.fact_id)"
        " SELECT iif(a.uid < b.uid, one, two), iif(a.uid < b.uid, two, one), max(pointed)"
        " FROM pairs CROSS JOIN fact AS a ON a.id = one CROSS JOIN fact AS b ON b.id = two"
        # The same field in two notes says the same of each.
        " WHERE a.text <> b.text COLLATE NOCASE GROUP BY one, two"
        " HAVING (count(DISTINCT thing) > 1 AND max(is_telling) OR max(pointed))"
        f" AND NOT EXISTS ({_notes_of('one')} INTERSECT {_notes_of('two')})",
        {"facts": json.dumps(sorted(facts)), "most": MOST_NAMING + 1, "linking": MOST_LINKING},
    )
    wanted: _Links = {
        (row[0], row[1], "related"): (_RELATED_WEIGHT, "same_link" if row[2] else "same_names")
        for row in rows
    }
    return _make(connection, facts, ("related",), wanted)


def _naming(entity: str, most: str) -> str:
    """As SQL: how many facts name this entity, none counted beyond a number."""
    return (
        "(SELECT count(*) FROM"
        f" (SELECT 1 FROM mention AS any WHERE any.entity_id = {entity} LIMIT {most}))"
    )


def _notes_of(fact: str) -> str:
    return (
        "SELECT passage.note_id FROM fact_source CROSS JOIN passage ON passage.id = passage_id"
        f" WHERE fact_id = {fact}"
    )


def named_by(connection: Connection, facts: Collection[int]) -> Counter[int]:
    """How many of these facts name each entity."""
    rows = execute(
        connection,
        "SELECT entity_id, count(*) FROM json_each(?) CROSS JOIN mention ON fact_id = value"
        " GROUP BY entity_id",
        (json.dumps(sorted(facts)),),
    )
    return Counter(dict(rows))


def grown_rare_or_common(
    connection: Connection, facts: Collection[int], before: Mapping[int, int]
) -> set[int]:
    """The facts that name a thing which relates facts now and did not, or did and does not, as others name it.

    Args:
        facts: Those that have changed.
        before: How many of them named each entity before.
    """
    after = named_by(connection, facts)
    moved = {one: after[one] - before.get(one, 0) for one in {*after, *before}}
    # Far enough to tell on which side of a border each was before.
    most = MOST_NAMING + 1 + len(facts)
    rows = execute(
        connection,
        f"SELECT value, {_naming('value', ':most')} FROM json_each(:entities)",
        {"entities": json.dumps([one for one, by in moved.items() if by]), "most": most},
    )
    crossed = [one for one, now in rows if _standing(now) != _standing(now - moved[one])]
    found = execute(
        connection,
        "SELECT DISTINCT fact_id FROM json_each(?) CROSS JOIN mention ON entity_id = value",
        (json.dumps(crossed),),
    )
    return {row[0] for row in found}


def _standing(naming: int) -> tuple[bool, bool]:
    return naming <= MOST_NAMING, naming <= MOST_LINKING


def _make(
    connection: Connection, facts: Collection[int], kinds: Sequence[str], wanted: _Links
) -> int:
    """Writes what differs of the links of these kinds from and to facts; returns how many."""
    stored: _Links = {
        (row[0], row[1], row[2]): (row[3], row[4]) for row in _stored(connection, facts, kinds)
    }
    changed = sorted({key for key, _ in stored.items() ^ wanted.items()})
    for one in changed:
        execute(
            connection,
            "DELETE FROM fact_link WHERE (from_fact, to_fact, kind) = (?, ?, ?)",
            one,
        )
        if one in wanted:
            execute(
                connection,
                "INSERT INTO fact_link (from_fact, to_fact, kind, weight, origin, reason)"
                " VALUES (?, ?, ?, ?, 'rule', ?)",
                (*one, *wanted[one]),
            )
    return len(changed)


def _stored(
    connection: Connection, facts: Collection[int], kinds: Iterable[str]
) -> list[tuple[int, int, str, float, str]]:
    ends = " UNION ".join(
        "SELECT from_fact, to_fact, kind, weight, reason FROM json_each(:facts)"
        f" CROSS JOIN fact_link ON {end} = value"
        " WHERE kind IN (SELECT value FROM json_each(:kinds))"
        for end in ("from_fact", "to_fact")
    )
    rows = execute(
        connection, ends, {"facts": json.dumps(sorted(facts)), "kinds": json.dumps(list(kinds))}
    )
    return [(row[0], row[1], row[2], row[3], row[4]) for row in rows]
