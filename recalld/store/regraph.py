"""The graph computed again from what is stored: wordings of facts, what notes say of them, notes and their links.

It goes in small steps, each a transaction of its own and complete in itself, so that notes are written between two of
them. On a whole store it changes nothing; what a fault or a hand has damaged is made right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from recalld.records import RootId
from recalld.store.connection import Connection, execute, transaction
from recalld.store.fact_links import settle_related, settle_said
from recalld.store.facts import (
    Wording,
    drop_unnamed_entities,
    entity_key,
    rename_facts,
    spellings_of,
    together,
)
from recalld.store.linking import name_key
from recalld.store.links import relink
from recalld.store.naming import replace_names, said_aliases
from recalld.store.spelling import recount

_FACTS = 200
_ENTITIES = 100
_NOTES = 100
_KEYS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Stepped:
    """One step: where the next one goes on, None at the end; what was looked at; how much was not as it should be."""

    after: int | None
    looked_at: int
    changed: int


Step = Callable[[int], Stepped]


class GraphWriter:
    """The writing side of the graph's rebuild; runs on the writer's thread."""

    def __init__(self, connection: Connection) -> None:
        """`connection` is the database's only writing one."""
        self._connection = connection

    def refact(self, after: int) -> Stepped:
        """Mentions and relations of the facts that follow the one with this id."""
        with transaction(self._connection):
            rows = execute(
                self._connection,
                "SELECT fact.id, json_group_array(DISTINCT wording) FROM"
                " (SELECT id FROM fact WHERE id > ? ORDER BY id LIMIT ?) AS fact"
                " JOIN fact_source ON fact_id = fact.id GROUP BY fact.id ORDER BY fact.id",
                (after, _FACTS),
            )
            changed = sum(self._refact(row[0], row[1]) for row in rows)
        return _stepped([row[0] for row in rows], changed)

    def _refact(self, fact_id: int, wordings: str) -> bool:
        said = together([Wording.loads(one) for one in _texts(self._connection, wordings)])
        names: dict[str, bool] = {}
        for name, kind in said.entities:
            key = entity_key(name)
            names[key] = names.get(key, False) or kind == "wikilink"
        stored_names = {
            row[0]: bool(row[1])
            for row in execute(
                self._connection,
                "SELECT key, linked FROM mention JOIN entity ON entity.id = entity_id WHERE fact_id = ?",
                (fact_id,),
            )
        }
        relations = {
            (entity_key(one), verb, entity_key(other)) for one, verb, other in said.relations
        }
        stored_relations = {
            tuple(row)
            for row in execute(
                self._connection,
                "SELECT s.key, predicate, o.key FROM relation JOIN entity AS s ON s.id = subject"
                " JOIN entity AS o ON o.id = object WHERE fact_id = ?",
                (fact_id,),
            )
        }
        stored_spellings = {
            tuple(row)
            for row in execute(
                self._connection,
                "SELECT entity.key, one.value ->> 1, one.value ->> 2 FROM fact"
                " CROSS JOIN json_each(spelled) AS one"
                " CROSS JOIN entity ON entity.id = one.value ->> 0 WHERE fact.id = ?",
                (fact_id,),
            )
        }
        spellings = {(entity_key(name), name, kind) for name, kind in spellings_of(said)}
        if (names, relations, spellings) == (stored_names, stored_relations, stored_spellings):
            return False
        rename_facts(self._connection, {fact_id: said})
        return True

    def respell(self, after: int) -> Stepped:
        """How the entities that follow the one with this id are shown. What facts spell must be right."""
        with transaction(self._connection):
            rows = execute(
                self._connection,
                "SELECT id FROM entity WHERE id > ? ORDER BY id LIMIT ?",
                (after, _ENTITIES),
            )
            entities = [row[0] for row in rows]
            changed = recount(self._connection, entities)
        return _stepped(entities, changed)

    def rejoin(self, after: int) -> Stepped:
        """Links that notes say, or names make, from and to the facts that follow the one with this id.

        Mentions must be right. What comparison found is left as it is.
        """
        with transaction(self._connection):
            rows = execute(
                self._connection,
                "SELECT id FROM fact WHERE id > ? ORDER BY id LIMIT ?",
                (after, _FACTS),
            )
            facts = [row[0] for row in rows]
            changed = settle_said(self._connection, facts) + settle_related(self._connection, facts)
        return _stepped(facts, changed)

    def renote(self, after: int) -> Stepped:
        """Names of the notes that follow the one with this id."""
        with transaction(self._connection):
            rows = execute(
                self._connection,
                "SELECT id, title, path FROM note WHERE id > ? ORDER BY id LIMIT ?",
                (after, _NOTES),
            )
            changed = sum(
                replace_names(
                    self._connection,
                    note_id,
                    title=title,
                    path=path,
                    aliases=said_aliases(self._connection, note_id),
                )
                for note_id, title, path in rows
            )
        return _stepped([row[0] for row in rows], changed)

    def relink(self, after: int) -> Stepped:
        """Targets of the links that follow the one with this id, and of all that share a name with them."""
        with transaction(self._connection):
            before = self._connection.total_changes()
            rows = execute(
                self._connection,
                "SELECT note_link.id, target, path, note_link.name_key, root_id FROM note_link"
                " JOIN note ON note.id = from_note WHERE note_link.id > ? ORDER BY note_link.id LIMIT ?",
                (after, _KEYS),
            )
            keys: dict[int, set[str]] = {}
            for link_id, target, path, stored, root_id in rows:
                key = name_key(target) if target.strip() else name_key(path)
                keys.setdefault(root_id, set()).add(key)
                if key != stored:
                    execute(
                        self._connection,
                        "UPDATE note_link SET name_key = ? WHERE id = ?",
                        (key, link_id),
                    )
            for root_id, names in keys.items():
                relink(self._connection, RootId(root_id), names)
            changed = self._connection.total_changes() - before
        return _stepped([row[0] for row in rows], changed)

    def drop_unnamed(self) -> int:
        """Takes out the entities that nothing names. Returns how many."""
        with transaction(self._connection):
            return drop_unnamed_entities(self._connection)


def _texts(connection: Connection, listed: str) -> list[str]:
    return [row[0] for row in execute(connection, "SELECT value FROM json_each(?)", (listed,))]


def _stepped(ids: list[int], changed: int) -> Stepped:
    return Stepped(after=ids[-1] if ids else None, looked_at=len(ids), changed=changed)
