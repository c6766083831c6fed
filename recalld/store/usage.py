"""Counting what recall returned and what was opened. Runs on the writer's thread."""

from __future__ import annotations

import json
from collections.abc import Collection

from recalld.records import Category, FactId
from recalld.store.connection import Connection, execute, transaction


class UsageWriter:
    """The writing side for counters and categories of facts."""

    def __init__(self, connection: Connection) -> None:
        """`connection` is the database's only writing one."""
        self._connection = connection

    def recalled(self, facts: Collection[FactId], now_ms: int) -> None:
        """Notes that recall returned these facts."""
        self._count("recall_count", "last_recalled_at", facts, now_ms)

    def read(self, facts: Collection[FactId], now_ms: int) -> None:
        """Notes that somebody opened these facts; ranking never looks at this."""
        self._count("read_count", "last_read_at", facts, now_ms)

    def _count(self, count: str, last: str, facts: Collection[FactId], now_ms: int) -> None:
        with transaction(self._connection):
            execute(
                self._connection,
                f"UPDATE fact SET {count} = {count} + 1, {last} = ?"
                " WHERE id IN (SELECT value FROM json_each(?))",
                (now_ms, json.dumps(list(facts))),
            )

    def categorise(self, categories: Collection[tuple[FactId, Category]]) -> None:
        """Settles the category of facts that no rule could decide.

        An error is compared again, as nothing supersedes one.
        """
        with transaction(self._connection):
            for fact_id, category in categories:
                execute(
                    self._connection,
                    "UPDATE fact SET category = :category, category_by = 'prototype',"
                    " compared = CASE WHEN (category = 'error') = (:category = 'error')"
                    " THEN compared ELSE 0 END"
                    " WHERE id = :id AND category_by = 'undecided'",
                    {"category": category.value, "id": fact_id},
                )
