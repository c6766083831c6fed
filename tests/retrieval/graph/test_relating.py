"""What `related` draws round an entity, a fact and a note."""

from __future__ import annotations

import pytest

from recalld.errors import InvalidParams, NotFound
from retrieval.graph.relating import related
from tests.ingest.keeping import Vault


@pytest.fixture
def vault(tmp_path):
    with Vault(tmp_path) as running:
        running.write("a.md", "The [[deploy pipeline]] runs on [[Vercel]].\n")
        running.write("b.md", "Yesterday [[Vercel]] triggers the [[GitHub webhook]].\n")
        running.write("Vercel.md", "A company of the web.\n")
        running.look()
        yield running


def drawn(vault: Vault, *, anchor=None, entity=None, hops=1, limit=20):
    result = related(vault.database, anchor=anchor, entity=entity, hops=hops, limit=limit)
    names = {node["id"]: (node["kind"], node["name"]) for node in result["nodes"]}
    links = {(link["from"], link["type"], link["to"]): link["because"] for link in result["links"]}
    return names, links


def test_an_entity_has_its_relations_facts_and_note(vault):
    names, links = drawn(vault, entity="VERCEL")
    assert names["entity:vercel"] == ("entity", "Vercel")
    assert ("note", "Vercel") in names.values()
    fact = links["entity:deploy pipeline", "runs_on", "entity:vercel"]
    assert names[fact] == ("fact", "The deploy pipeline runs on Vercel.")
    assert links["entity:vercel", "mentioned_in", fact] == fact


def test_hops_widen_it_and_a_limit_narrows_it(vault):
    near, _ = drawn(vault, entity="deploy pipeline")
    far, _ = drawn(vault, entity="deploy pipeline", hops=2)
    assert "entity:github webhook" not in near
    assert "entity:github webhook" in far
    for limit in (1, 2, 3):
        assert 1 <= len(drawn(vault, entity="vercel", hops=3, limit=limit)[0]) <= limit


def test_a_fact_and_a_note_are_starts_too(vault):
    uid = vault.rows("SELECT uid FROM fact WHERE text LIKE '%runs on%'")[0][0]
    names, links = drawn(vault, anchor=f"fact:{uid[:8]}")
    assert (f"fact:{uid[:8]}", "names", "entity:vercel") in links
    assert names["entity:deploy pipeline"][0] == "entity"
    note = vault.rows("SELECT uid FROM note WHERE path = 'a.md'")[0][0]
    _, links = drawn(vault, anchor=f"note:{note[:8]}")
    assert any(
        kind == "links_to" and why == f"note:{note[:8]}" for (_, kind, _), why in links.items()
    )


def test_links_of_a_fact_to_others_have_their_reason(vault):
    vault.write(
        "c.md",
        "The [[Old Mill]] stood still for a year.\n\nThe reason was a broken wheel.\n\n"
        "After that, the wheel was mended.\n",
    )
    vault.write("d.md", "We met the miller at the [[Old Mill]].\n")
    vault.look()
    uids = dict(vault.rows("SELECT text, uid FROM fact"))
    anchors = {text: f"fact:{uid[:8]}" for text, uid in uids.items()}
    still, broken = "The Old Mill stood still for a year.", "The reason was a broken wheel."
    names, links = drawn(vault, anchor=anchors[still])
    assert links[anchors[still], "caused_by", anchors[broken]] == "says_cause"
    (reason,) = (why for (_, kind, _), why in links.items() if kind == "related")
    assert reason == "same_link"
    assert ("fact", "We met the miller at the Old Mill.") in names.values()
    _, links = drawn(vault, anchor=anchors["After that, the wheel was mended."])
    assert links[anchors["After that, the wheel was mended."], "temporal", anchors[broken]] == (
        "says_later"
    )


def test_every_link_joins_two_nodes_that_are_shown(vault):
    for limit in range(1, 12):
        names, links = drawn(vault, entity="vercel", hops=3, limit=limit)
        assert all(one in names and other in names for one, _, other in links)


def test_what_nothing_names_is_not_found(vault):
    with pytest.raises(NotFound):
        drawn(vault, entity="Nobody")
    with pytest.raises(InvalidParams):
        drawn(vault, anchor="no anchor")


def note_anchor(vault: Vault, path: str) -> str:
    return f"note:{vault.rows('SELECT uid FROM note WHERE path = ?', path)[0][0][:8]}"


def test_what_was_asked_about_comes_first_whatever_the_limit(vault):
    for number in range(9):
        vault.write(f"{number}.md", f"[[a]] and [[Vercel]] are told of by note {number}.\n")
    vault.look()
    note = note_anchor(vault, "a.md")
    for limit in (1, 2, 3, 20):
        assert next(iter(drawn(vault, entity="Vercel", limit=limit)[0])) == "entity:vercel"
        assert next(iter(drawn(vault, anchor=note, limit=limit)[0])) == note
    fact = f"fact:{vault.rows('SELECT uid FROM fact LIMIT 1')[0][0][:8]}"
    assert list(drawn(vault, anchor=fact, limit=1)[0]) == [fact]


@pytest.mark.parametrize("count", [30, 260])
def test_a_note_with_many_links_shows_as_many_as_there_is_room_for_and_says_so(tmp_path, count):
    with Vault(tmp_path) as vault:
        vault.write("all.md", "\n".join(f"- [[page {number}]]" for number in range(count)))
        for number in range(count):
            vault.write(f"page {number}.md", "Here is little.\n")
        vault.look()
        note = note_anchor(vault, "all.md")

        def linked(limit: int) -> tuple[int, bool]:
            found = related(vault.database, anchor=note, entity=None, hops=1, limit=limit)
            kinds = [link["type"] for link in found["links"]]
            return kinds.count("links_to"), bool(found["more"])

        assert linked(40)[1] == (count > 30)
        assert linked(200)[0] >= min(count, 100)
        assert linked(200)[1] == (count > 100)
