"""The graph computed again is the graph that was there, and one that was damaged is made right."""

from __future__ import annotations

import pytest

from ingest.regraph import rebuild_graph
from recalld.store.connection import execute
from tests.ingest.keeping import Vault

_MENTIONS = """
    SELECT fact.uid, key, linked FROM mention JOIN fact ON fact.id = fact_id
    JOIN entity ON entity.id = entity_id ORDER BY 1, 2
"""
_RELATIONS = """
    SELECT fact.uid, s.key, predicate, o.key FROM relation JOIN fact ON fact.id = fact_id
    JOIN entity AS s ON s.id = subject JOIN entity AS o ON o.id = object ORDER BY 1, 2, 3, 4
"""
_NAMES = """
    SELECT key, note.path, shown, origin FROM alias JOIN note ON note.id = note_id ORDER BY 1, 2
"""
_LINKS = """
    SELECT note.path, target, note_link.name_key, line, other.path, ambiguous FROM note_link
    JOIN note ON note.id = from_note LEFT JOIN note AS other ON other.id = to_note
    ORDER BY 1, 4, 2
"""
_FACT_LINKS = """
    SELECT a.uid, b.uid, fact_link.kind, weight, origin, reason FROM fact_link
    JOIN fact AS a ON a.id = from_fact JOIN fact AS b ON b.id = to_fact ORDER BY 1, 2, 3
"""
GRAPH = (
    _MENTIONS,
    _RELATIONS,
    "SELECT key, name, kind FROM entity ORDER BY key",
    _NAMES,
    _LINKS,
    _FACT_LINKS,
)


@pytest.fixture
def vault(tmp_path):
    with Vault(tmp_path) as running:
        running.write(
            "a.md", "---\naliases: [AA]\n---\nThe [[pipeline]] runs on [[b|the cloud]].\n"
        )
        running.write("b.md", "---\nauthor: '[[Kevin Kelly]]'\n---\nSee [[a]] and [[nowhere]].\n")
        running.write("x/a.md", "| host | port |\n| --- | --- |\n| alpha | 22 |\n")
        running.write(
            "c.md",
            "The [[pipeline]] was full of mud.\n\nConsequently, the water stopped in March.\n\n"
            "After that, we cleaned it with a pump.\n",
        )
        running.look()
        yield running


def graph(vault: Vault) -> list[list[tuple[object, ...]]]:
    return [vault.rows(sql) for sql in GRAPH]


def test_a_whole_graph_stays_as_it_is(vault):
    before = graph(vault)
    assert all(before)
    assert {row[2] for row in before[5]} == {"caused_by", "temporal", "related"}
    done = rebuild_graph(vault.writes)
    assert done.changed == 0
    assert (done.notes, done.links) == (4, len(before[4]))
    assert done.facts == vault.rows("SELECT count(*) FROM fact")[0][0]
    assert graph(vault) == before


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM mention",
        "DELETE FROM relation",
        "UPDATE mention SET linked = 0",
        "DELETE FROM fact_link",
        "DELETE FROM fact_link WHERE kind = 'related'",
        "UPDATE fact_link SET reason = 'wrong', weight = 0.1",
        "UPDATE fact_link SET kind = 'temporal' WHERE kind = 'caused_by'",
        "UPDATE fact_link SET (from_fact, to_fact) = (to_fact, from_fact)",
        "DELETE FROM relation; DELETE FROM mention; DELETE FROM entity",
        "DELETE FROM alias WHERE origin <> 'alias'",
        "UPDATE alias SET key = 'stale ' || key",
        "UPDATE note_link SET to_note = NULL, ambiguous = 1",
        "UPDATE note_link SET name_key = 'wrong'",
        "UPDATE note_link SET to_note = (SELECT id FROM note WHERE path = 'x/a.md')",
        "INSERT INTO entity (key, name, kind) VALUES ('ghost', 'Ghost', 'name')",
    ],
)
def test_damage_is_made_right_and_counted(vault, damage):
    before = graph(vault)
    execute(vault.database.writer, damage)
    assert graph(vault) != before
    assert rebuild_graph(vault.writes).changed > 0
    after = graph(vault)
    # How an entity's name is written, and by which mark, is as its first mention had it.
    assert [row[0] for row in after.pop(2)] == [row[0] for row in before.pop(2)]
    assert after == before
    assert rebuild_graph(vault.writes).changed == 0


def test_a_rebuild_goes_in_steps_between_which_others_may_write(vault):
    for n in range(120):
        vault.write(f"many/{n}.md", f"The [[thing {n}]] runs on [[b]].\n")
    vault.look()
    before = vault.writes.count
    assert rebuild_graph(vault.writes).changed == 0
    assert vault.writes.count - before >= 7
