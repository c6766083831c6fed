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
from recalld.store.dating import NOTE_DAY
from recalld.store.globs import path_pattern

Bindings = dict[str, Any]


# Passages that are listed rather than described: a list costs each statement what it is long.
_FEW = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """The passages that a filter lets through."""

    # A sub-select of their ids: where many are to be held against it, it is gone through once.
    sql: str
    # As SQL, whether the passage with the id `{}` is one of them.
    test: str
    bindings: Bindings

    def holds(self, passage: str) -> str:
        """As SQL: whether the passage in this column, named with its table, is let through, looked up by itself.

        For statements that meet few passages, of which many are run: the sub-select costs each what the store is large.
        """
        return self.test.format(passage)

    def listed_if_few(self, connection: Connection) -> Allowed:
        """The same, as a list of ids where few are let through: most of what is looked up would not be."""
        rows = execute(connection, f"{self.sql} LIMIT {_FEW + 1}", self.bindings)
        if len(rows) > _FEW:
            return self
        few = "SELECT value FROM json_each(:few)"
        ids = json.dumps([row[0] for row in rows])
        return Allowed(sql=few, test=f"+{{}} IN ({few})", bindings={"few": ids})


def allowed_passages(connection: Connection, limits: RecallFilter) -> Allowed | None:
    """The passages that a filter lets through; None when it limits nothing."""
    where: list[str] = []
    tests: list[str] = []
    bindings: Bindings = {}
    if limits.roots:
        named = "root.name IN (SELECT value FROM json_each(:roots))"
        where.append(
            f"note_id IN (SELECT note.id FROM note JOIN root ON root.id = root_id WHERE {named})"
        )
        tests.append(
            "EXISTS (SELECT 1 FROM note CROSS JOIN root ON root.id = root_id"
            f" WHERE note.id = looked.note_id AND {named})"
        )
        bindings["roots"] = json.dumps(limits.roots)
    if limits.tags:
        # What lies below a tag: all that begins with it and `/`, which `0` comes after.
        fits = "(tag = value OR tag >= value || '/' AND tag < value || '0')"
        where.append(
            f"note_id IN (SELECT note_id FROM json_each(:tags) CROSS JOIN note_tag ON {fits})"
        )
        tests.append(
            "EXISTS (SELECT 1 FROM note_tag CROSS JOIN json_each(:tags)"
            f" WHERE note_tag.note_id = looked.note_id AND {fits})"
        )
        bindings["tags"] = json.dumps(
            [tag.lstrip("#").rstrip("/").casefold() for tag in limits.tags]
        )
    if limits.paths:
        listed = "note_id IN (SELECT value FROM json_each(:notes))"
        where.append(listed)
        tests.append(f"looked.{listed}")
        bindings["notes"] = json.dumps(_notes_within(connection, limits.paths))
    if limits.limits_facts:
        facts, more = fact_conditions(limits)
        stating = (
            "passage.id IN (SELECT passage_id FROM fact_source"
            f" JOIN fact ON fact.id = fact_id WHERE {facts})"
        )
        test = (
            "EXISTS (SELECT 1 FROM fact_source CROSS JOIN fact ON fact.id = fact_id"
            f" WHERE passage_id = looked.id AND {facts})"
        )
        if limits.takes_passages:
            days = _day_conditions(limits)
            silent = "NOT EXISTS (SELECT 1 FROM fact_source WHERE passage_id = {}.id)"
            stating = (
                f"({stating} OR ({silent.format('passage')}"
                f" AND passage.note_id IN (SELECT id FROM note WHERE {days})))"
            )
            test = (
                f"({test} OR ({silent.format('looked')}"
                f" AND EXISTS (SELECT 1 FROM note WHERE note.id = looked.note_id AND {days})))"
            )
        where.append(stating)
        tests.append(test)
        bindings |= more
    if not where:
        return None
    return Allowed(
        sql=f"SELECT passage.id FROM passage WHERE {' AND '.join(where)}",
        test="EXISTS (SELECT 1 FROM passage AS looked WHERE looked.id = {} AND "
        + " AND ".join(tests)
        + ")",
        bindings=bindings,
    )


def _notes_within(connection: Connection, globs: tuple[str, ...]) -> list[int]:
    patterns = [path_pattern(glob) for glob in globs]
    notes = execute(connection, "SELECT id, path FROM note")
    return [
        note_id
        for note_id, path in notes
        if any(one.fullmatch(unicodedata.normalize("NFC", path)) for one in patterns)
    ]


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
            "first_stated <= :as_of AND NOT EXISTS (SELECT 1 FROM fact_link JOIN fact AS newer"
            " ON newer.id = from_fact WHERE to_fact = fact.id AND kind = 'supersedes'"
            " AND newer.stated_on <= :as_of)"
        )
        bindings["as_of"] = limits.as_of.isoformat()
    return " AND ".join(where), bindings


def _day_conditions(limits: RecallFilter) -> str:
    """The part of a filter that the day of a note must fit, as SQL on `note`; `fact_conditions` has the bindings."""
    where = [
        f"{NOTE_DAY} {sign} :{name}"
        for sign, name, limit in (
            (">=", "since", limits.since),
            ("<=", "until", limits.until),
            ("<=", "as_of", limits.as_of),
        )
        if limit
    ]
    return " AND ".join(where) or "1"


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
