"""What touches what, with every cap applied before a fan-out, and nothing from outside a filter."""

from __future__ import annotations

import pytest

from recalld.records import RecallFilter
from recalld.store import graph
from recalld.store.filtering import allowed_passages
from recalld.store.graph import FAN_OUT, HUB, Thing, Within
from tests.ingest.keeping import Vault


@pytest.fixture
def vault(tmp_path):
    with Vault(tmp_path) as running:
        yield running


def entity(vault: Vault, key: str) -> Thing:
    return Thing("entity", vault.rows("SELECT id FROM entity WHERE key = ?", key)[0][0])


def note(vault: Vault, path: str) -> Thing:
    return Thing("note", vault.rows("SELECT id FROM note WHERE path = ?", path)[0][0])


def only(connection, *paths: str) -> Within:
    return Within(allowed=allowed_passages(connection, RecallFilter(paths=paths)))


def test_a_name_is_found_as_entity_title_alias_and_file_name(vault):
    vault.write("x/sietske.md", "---\ntitle: Sietske Bouma\naliases: [SB]\n---\nShe sails.\n")
    vault.write("b.md", "We asked [[SB]] for the manual of the gauge.\n")
    vault.look()
    person = note(vault, "x/sietske.md")
    with vault.database.reader() as connection:
        keys = ["sb", "sietske bouma", "sietske", "unheard of"]
        found = graph.things_named(connection, keys, Within())
        assert found == {
            "sb": [entity(vault, "sb"), person],
            "sietske bouma": [person],
            "sietske": [person],
        }
        assert (entity(vault, "sb"), person) in graph.namesakes(connection, [person], Within()) or (
            person,
            entity(vault, "sb"),
        ) in graph.namesakes(connection, [person], Within())
        assert graph.things_named(connection, ["sietske"], only(connection, "b.md")) == {}


def test_a_name_that_many_notes_have_is_nobodys(vault):
    for folder in "abcd":
        vault.write(f"{folder}/readme.md", f"Folder {folder} holds pictures.\n")
    vault.look()
    with vault.database.reader() as connection:
        assert graph.things_named(connection, ["readme"], Within()) == {}


def test_relations_are_found_from_both_ends_with_their_fact(vault):
    vault.write("a.md", "The [[pipeline]] runs on [[Vercel]].\n")
    vault.look()
    one, other = entity(vault, "pipeline"), entity(vault, "vercel")
    with vault.database.reader() as connection:
        (there,) = graph.relation_edges(connection, [one], Within())
        (back,) = graph.relation_edges(connection, [other], Within())
        assert graph.relation_edges(connection, [one], only(connection, "b.md")) == []
    assert (there.target, there.predicate, there.forward) == (other, "runs_on", True)
    assert (back.target, back.predicate, back.forward) == (one, "runs_on", False)
    assert there.fact_id == back.fact_id


def test_what_is_superseded_is_walked_only_when_asked(vault):
    vault.write("a.md", "The [[pipeline]] runs on [[Vercel]].\n\nIt moved in May of last year.\n")
    vault.write("b.md", "The [[pipeline]] runs on [[Fly]].\n")
    vault.look()
    execute_on = vault.database.writer
    execute_on.execute(
        "UPDATE fact SET superseded_by = (SELECT id FROM fact WHERE text LIKE '%Fly%')"
        " WHERE text LIKE '%Vercel%'"
    ).fetchall()
    one = entity(vault, "pipeline")
    with vault.database.reader() as connection:
        now = graph.relation_edges(connection, [one], Within())
        ever = graph.relation_edges(connection, [one], Within(superseded=True))
    assert {edge.target for edge in now} == {entity(vault, "fly")}
    assert {edge.target for edge in ever} == {entity(vault, "fly"), entity(vault, "vercel")}


def test_links_lead_both_ways_and_each_pair_once(vault):
    vault.write("a.md", "See [[b]] and again [[b]].\n")
    vault.write("b.md", "Nothing here.\n")
    vault.look()
    a, b = note(vault, "a.md"), note(vault, "b.md")
    with vault.database.reader() as connection:
        edges = graph.link_edges(connection, [a, b], Within())
    assert {(edge.source, edge.target, edge.forward) for edge in edges} == {
        (a, b, True),
        (b, a, False),
    }
    assert len(edges) == 2


@pytest.mark.slow
def test_a_hub_is_counted_no_further_and_fans_out_no_wider(vault):
    lines = [f"- [[Hub]] met [[guest {n}]] in room {n}." for n in range(HUB + 40)]
    vault.write("a.md", "\n".join(lines) + "\n")
    vault.look()
    hub = entity(vault, "hub")
    with vault.database.reader() as connection:
        assert graph.degrees(connection, [hub])[hub] == HUB + 1
        targets = {edge.target for edge in graph.mention_edges(connection, [hub], Within())}
        passages = graph.passages_of_things(connection, [hub], Within())
        facts = graph.facts_of_things(connection, [hub], Within())
    assert 1 <= len(targets) <= FAN_OUT
    assert 1 <= len(passages) <= FAN_OUT
    assert len(facts) == FAN_OUT


def test_passages_of_things_are_inside_the_filter(vault):
    vault.write("a.md", "The [[pipeline]] is green today.\n")
    vault.write("b.md", "The [[pipeline]] was red on Monday.\n")
    vault.look()
    with vault.database.reader() as connection:
        ends = only(connection, "b.md")
        found = graph.passages_of_things(connection, [entity(vault, "pipeline")], ends)
    wanted = vault.rows(
        "SELECT passage.id FROM passage JOIN note ON note.id = note_id WHERE path = 'b.md'"
    )
    assert [passage for _, passage in found] == [row[0] for row in wanted]
