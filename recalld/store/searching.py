"""Keyword search, and what is known of its candidates before their rows are fetched."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from recalld.records import (
    NoteId,
    PassageId,
)
from recalld.store.connection import Connection, execute
from recalld.store.filtering import Allowed


def every_match(
    connection: Connection, match: str, allowed: Allowed | None
) -> dict[PassageId, float]:
    """All passages that match, best first, with their BM25, higher is better."""
    rows = execute(
        connection,
        f"SELECT rowid, -rank FROM passage_fts WHERE passage_fts MATCH :match{_within(allowed)}",
        {"match": match, **(allowed.bindings if allowed else {})},
    )
    # Rows come by id, and equals stay as they come.
    return dict(sorted(rows, key=itemgetter(1), reverse=True))


def keyword_search(
    connection: Connection, match: str, limit: int, allowed: Allowed | None
) -> dict[PassageId, float]:
    """The best passages by BM25, higher is better."""
    rows = execute(
        connection,
        "SELECT rowid, -rank FROM passage_fts WHERE passage_fts MATCH :match"
        f"{_within(allowed)} ORDER BY rank LIMIT :limit",
        {"match": match, "limit": limit, **(allowed.bindings if allowed else {})},
    )
    return {PassageId(row[0]): row[1] for row in rows}


def _within(allowed: Allowed | None) -> str:
    # `+`: one walk over the matches. Otherwise each id is a full-text query of its own, ten times dearer.
    return f" AND +rowid IN ({allowed.sql})" if allowed else ""


def more_different_texts(
    connection: Connection, passages: Collection[PassageId], than: int
) -> bool:
    """Whether these passages have more different texts than so many."""
    # Texts of different lengths are different, and lengths alone are read faster.
    for what in ("octet_length(text)", "text"):
        rows = execute(
            connection,
            f"SELECT count(DISTINCT {what}) FROM json_each(?) CROSS JOIN passage ON passage.id = value",
            (json.dumps(list(passages)),),
        )
        if rows[0][0] > than:
            return True
    return False


def different_passages(connection: Connection, passages: Collection[PassageId]) -> list[PassageId]:
    """The passages without copies, in their order: of those with the same words and facts the first stays."""
    rows = execute(
        connection,
        "SELECT passage.id, passage.text, (SELECT json_group_array(fact_id) FROM fact_source"
        " WHERE passage_id = passage.id), heading_path FROM json_each(?)"
        " JOIN passage ON passage.id = value JOIN block ON block.id = block_id ORDER BY key",
        (json.dumps(list(passages)),),
    )
    first: dict[tuple[str, str], PassageId] = {}
    for passage_id, text, facts, headings in rows:
        # Facts know whether their words need headings; a passage without any may.
        first.setdefault((text, facts if facts != "[]" else headings), PassageId(passage_id))
    return list(first.values())


def keyword_scores(
    connection: Connection, match: str, passages: Sequence[PassageId]
) -> dict[PassageId, float]:
    """BM25 of given passages; those without a matching word are left out."""
    if not passages:
        return {}
    rows = execute(
        connection,
        "SELECT rowid, -rank FROM passage_fts WHERE passage_fts MATCH :match"
        # `+` as above.
        " AND +rowid IN (SELECT value FROM json_each(:ids))",
        {"match": match, "ids": json.dumps(passages)},
    )
    return {PassageId(row[0]): row[1] for row in rows}


@dataclass(frozen=True, slots=True, kw_only=True)
class WordCounts:
    """In how many passages some tokens stand, and how many passages there are."""

    passages_with: Mapping[str, int] = field(default_factory=dict)
    passages: int = 0


def word_counts(connection: Connection, tokens: Iterable[str]) -> WordCounts:
    """The counts of these tokens; one that no passage has counts 0."""
    wanted = list(tokens)
    rows = execute(
        connection,
        "SELECT value, doc FROM json_each(?) CROSS JOIN passage_vocabulary ON term = value",
        (json.dumps(wanted),),
    )
    found = dict.fromkeys(wanted, 0) | {row[0]: int(row[1]) for row in rows}
    total = execute(connection, "SELECT count(*) FROM passage")[0][0]
    return WordCounts(passages_with=found, passages=int(total))


def passage_places(
    connection: Connection, passages: Collection[PassageId]
) -> list[tuple[PassageId, NoteId, int, int]]:
    """Of each passage that there is: itself, its note, its position there and its length in characters."""
    return execute(
        connection,
        "SELECT passage.id, note_id, position, length(text) FROM json_each(?)"
        " JOIN passage ON passage.id = value",
        (json.dumps(list(passages)),),
    )
