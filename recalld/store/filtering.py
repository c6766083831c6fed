"""What a filter of a recall lets through.

A filter becomes a sub-select of passage ids that stands inside each search, never after its cut. Nothing here knows
what is searched for.
"""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from typing import Any

from recalld.records import (
    PassageId,
    RecallFilter,
)
from recalld.store.connection import Connection, execute
from recalld.store.globs import path_pattern

Bindings = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """A sub-select of the passage ids that a filter lets through."""

    sql: str
    bindings: Bindings


def allowed_passages(connection: Connection, limits: RecallFilter) -> Allowed | None:
    """The passages that a filter lets through; None when it limits nothing."""
    where: list[str] = []
    bindings: Bindings = {}
    if limits.roots:
        where.append(
            "note_id IN (SELECT note.id FROM note JOIN root ON root.id = root_id"
            " WHERE root.name IN (SELECT value FROM json_each(:roots)))"
        )
        bindings["roots"] = json.dumps(limits.roots)
    if limits.tags:
        where.append(
            "note_id IN (SELECT note_id FROM note_tag JOIN json_each(:tags)"
            " ON tag = value OR substr(tag, 1, length(value) + 1) = value || '/')"
        )
        bindings["tags"] = json.dumps(
            [tag.lstrip("#").rstrip("/").casefold() for tag in limits.tags]
        )
    if limits.paths:
        patterns = [path_pattern(glob) for glob in limits.paths]
        notes = execute(connection, "SELECT id, path FROM note")
        fitting = [
            row[0]
            for row in notes
            if any(one.fullmatch(unicodedata.normalize("NFC", row[1])) for one in patterns)
        ]
        where.append("note_id IN (SELECT value FROM json_each(:notes))")
        bindings["notes"] = json.dumps(fitting)
    if limits.limits_facts:
        facts, more = fact_conditions(limits)
        where.append(
            "passage.id IN (SELECT passage_id FROM fact_source"
            f" JOIN fact ON fact.id = fact_id WHERE {facts})"
        )
        bindings |= more
    if not where:
        return None
    return Allowed(
        sql=f"SELECT passage.id FROM passage WHERE {' AND '.join(where)}", bindings=bindings
    )


def fact_conditions(limits: RecallFilter) -> tuple[str, Bindings]:
    """The part of a filter that facts must fit, as SQL on `fact`, with its bindings."""
    where = ["1"]
    bindings: Bindings = {}
    if limits.categories:
        where.append("category IN (SELECT value FROM json_each(:categories))")
        bindings["categories"] = json.dumps([one.value for one in limits.categories])
    if limits.scopes:
        where.append("scope IN (SELECT value FROM json_each(:scopes))")
        bindings["scopes"] = json.dumps(limits.scopes)
    if limits.since:
        where.append("coalesce(happened_to, stated_on) >= :since")
        bindings["since"] = limits.since.isoformat()
    if limits.until:
        where.append("coalesce(happened_from, stated_on) <= :until")
        bindings["until"] = limits.until.isoformat()
    if limits.as_of:
        where.append(
            # Any successor that was known then, not only the newest of today.
            "stated_on <= :as_of AND NOT EXISTS (SELECT 1 FROM fact_link JOIN fact AS newer"
            " ON newer.id = from_fact WHERE to_fact = fact.id AND kind = 'supersedes'"
            " AND newer.stated_on <= :as_of)"
        )
        bindings["as_of"] = limits.as_of.isoformat()
    return " AND ".join(where), bindings


def any_passage(connection: Connection, allowed: Allowed | None) -> bool:
    """Whether there is anything that a search could find."""
    if allowed is None:
        return bool(execute(connection, "SELECT 1 FROM passage LIMIT 1"))
    return bool(execute(connection, f"{allowed.sql} LIMIT 1", allowed.bindings))


def newest_passages(connection: Connection, allowed: Allowed, limit: int) -> list[PassageId]:
    """Of what a filter lets through, what was stored last."""
    rows = execute(
        connection,
        f"{allowed.sql} ORDER BY passage.id DESC LIMIT :limit",
        {**allowed.bindings, "limit": limit},
    )
    return [PassageId(row[0]) for row in rows]
