from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.rules.relations import cell_relation, field_relations, find_relations
from recalld.records import Entity, Relation


def told(text: str, *names: str) -> list[tuple[str, str, str]]:
    entities = [Entity(name=name, kind="name") for name in names]
    return [(r.subject, r.predicate, r.object) for r in find_relations(text, entities)]


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("Grafana runs on Nomad.", ("Grafana", "runs_on", "Nomad")),
        ("`Grafana` now uses `Nomad`.", ("Grafana", "uses", "Nomad")),
        ("Grafana depends on the Nomad cluster.", ("Grafana", "depends_on", "Nomad cluster")),
        ("Grafana was replaced by Nomad.", ("Grafana", "replaced_by", "Nomad")),
        ("Grafana draait op Nomad.", ("Grafana", "runs_on", "Nomad")),
        ("Grafana verwendet Nomad.", ("Grafana", "uses", "Nomad")),
        ("Grafana wurde durch Nomad ersetzt.", ("Grafana", "replaced_by", "Nomad")),
        ("Grafana使用Nomad。", ("Grafana", "uses", "Nomad")),
        ("Grafana is hosted on Nomad.", ("Grafana", "hosted_on", "Nomad")),
        ("Grafana triggers the `Nomad` job.", ("Grafana", "triggers", "Nomad")),
        ("Grafana is owned by Nomad.", ("Grafana", "owned_by", "Nomad")),
        ("Grafana belongs to Nomad.", ("Grafana", "owned_by", "Nomad")),
        ("Grafana is maintained by Nomad.", ("Grafana", "maintained_by", "Nomad")),
        ("Grafana is managed by Nomad.", ("Grafana", "managed_by", "Nomad")),
        ("Grafana replaced Nomad.", ("Grafana", "replaced", "Nomad")),
        ("Grafana hangt af van Nomad.", ("Grafana", "depends_on", "Nomad")),
        ("Grafana wordt beheerd door Nomad.", ("Grafana", "managed_by", "Nomad")),
        ("Grafana wordt onderhouden door Nomad.", ("Grafana", "maintained_by", "Nomad")),
        ("Grafana is van Nomad.", ("Grafana", "owned_by", "Nomad")),
        ("Grafana läuft auf Nomad.", ("Grafana", "runs_on", "Nomad")),
        ("Grafana hängt von Nomad ab.", ("Grafana", "depends_on", "Nomad")),
        ("Grafana löst Nomad aus.", ("Grafana", "triggers", "Nomad")),
        ("Grafana wird von Nomad verwaltet.", ("Grafana", "managed_by", "Nomad")),
        ("Grafana wird von Nomad gewartet.", ("Grafana", "maintained_by", "Nomad")),
        ("Grafana运行在Nomad上。", ("Grafana", "runs_on", "Nomad")),
        ("Grafana依赖Nomad。", ("Grafana", "depends_on", "Nomad")),
        ("Grafana由Nomad维护。", ("Grafana", "maintained_by", "Nomad")),
        ("Grafana由Nomad负责。", ("Grafana", "managed_by", "Nomad")),
        ("Grafana由Nomad触发。", ("Grafana", "triggered_by", "Nomad")),
        ("Grafana属于Nomad。", ("Grafana", "owned_by", "Nomad")),
    ],
)
def test_a_verb_between_two_names_relates_them(text, relation):
    assert told(text, "Grafana", "Nomad") == [relation]


@pytest.mark.parametrize(
    "text",
    [
        "Grafana does not use Nomad.",
        "Grafana and Nomad.",
        "Grafana wird von Nomad gestört.",
        "Grafana由Nomad毁掉。",
        "Grafana löst Nomad nie ein.",
        "Grafana is not managed by Nomad.",
        "Grafana may depend on Nomad.",
        "Grafana wurde durch Nomad gestoppt.",
        "If Grafana ever uses something like Nomad, tell me.",
        "Grafana uses a fork of Nomad.",
        "If Grafana depends on Nomad, restart both.",
        "Restart both if Grafana depends on Nomad.",
        "We plan that Grafana runs on Nomad.",
        "We check whether Grafana runs on Nomad.",
        "Maybe Grafana runs on Nomad.",
        "It is not true that Grafana runs on Nomad.",
        "Nobody says Grafana runs on Nomad.",
        "Previously Grafana runs on Nomad.",
        "Als Grafana draait op Nomad, herstart beide.",
        "We willen dat Grafana draait op Nomad.",
        "Misschien draait het: Grafana gebruikt Nomad misschien.",
        "Wenn Grafana verwendet Nomad, dann warte.",
        "Wir planen, dass Grafana läuft auf Nomad.",
        "如果Grafana依赖Nomad，重启。",
        "我们计划Grafana运行在Nomad上。",
        "もしGrafanaを使用Nomad。",
        # A part of what the sentence is about.
        "The port of Grafana is Nomad.",
        "An alternative to Grafana is Nomad.",
        "The map with lyricist Grafana is Nomad.",
        "De poort van Grafana is Nomad.",
        "Der Ersatz für Grafana ist Nomad.",
        "搭配 Grafana 使用 Nomad。",
        # Of what the sentence says, no more than a part.
        "Grafana is a Nomad dashboard.",
        "Grafana is Nomad-based.",
        "Grafana uses Nomad's disk.",
        "Grafana使用Nomad的硬盘。",
        "Grafana runs on Nomad no longer.",
        "Grafana läuft auf Nomad nicht mehr.",
        "Grafana is Grafana.",
    ],
)
def test_anything_else_between_them_relates_nothing(text):
    assert told(text, "Grafana", "Nomad") == []


@pytest.mark.parametrize(
    "text",
    [
        "Grafana runs on Nomad, so we will move it soon.",
        "We may leave, but Grafana runs on Nomad.",
        "De server is niet nieuw; Grafana draait op Nomad.",
        "In production, Grafana runs on Nomad and nothing else.",
        "也许明天搬家，Grafana运行在Nomad上。",
    ],
)
def test_doubt_in_another_clause_takes_nothing_away(text):
    assert told(text, "Grafana", "Nomad") == [("Grafana", "runs_on", "Nomad")]


def test_a_plan_in_a_name_is_no_plan():
    assert told("排水计划依赖雨量格点。", "排水计划", "雨量格点") == [
        ("排水计划", "depends_on", "雨量格点")
    ]


def test_each_clause_has_its_own_relation():
    assert told("Ana manages Bo and Eve manages Gina.", "Ana", "Bo", "Eve", "Gina") == [
        ("Ana", "manages", "Bo"),
        ("Eve", "manages", "Gina"),
    ]


def test_a_name_joined_to_another_one_is_no_subject_by_itself():
    assert told("Bo and Grafana uses Nomad.", "Bo", "Grafana", "Nomad") == []


@pytest.mark.parametrize(
    ("text", "thing"),
    [
        ("Vercel triggers the GitHub webhook.", "GitHub webhook"),
        ("Vercel triggers the GitHub release webhook and stops.", "GitHub release webhook"),
        ("Vercel triggers the GitHub webhook daily of Bo.", "GitHub webhook daily"),
        ("Vercel activeert de GitHub webhook van Bo.", "GitHub webhook"),
        ("Vercel triggers GitHub.", "GitHub"),
        ("Vercel triggers the `GitHub` job.", "GitHub"),
    ],
)
def test_an_article_makes_the_words_behind_a_name_a_part_of_the_thing(text, thing):
    assert told(text, "Vercel", "GitHub") == [("Vercel", "triggers", thing)]


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Deploy pipeline", "The deploy pipeline runs on Vercel."),
        ("uitrol", "De Uitrol draait op Vercel."),
        ("Ausrollung", "Die Ausrollung läuft auf Vercel."),
        ("部署流程", "部署流程运行在Vercel上。"),
    ],
)
def test_the_title_of_a_note_is_a_name_in_it(title, text):
    found = find_relations(text, [Entity(name="Vercel", kind="name")], title=title)
    assert found == (Relation(subject=title, predicate="runs_on", object="Vercel"),)
    assert find_relations(text, [Entity(name="Vercel", kind="name")], title="pipe") == ()


def test_a_part_of_a_word_is_no_place_of_a_name():
    assert told("Go uses Goland.", "Go", "land") == []


def test_a_name_inside_a_longer_one_is_no_end():
    assert told("Vercel triggers the GitHub webhook.", "Vercel", "GitHub", "GitHub webhook") == [
        ("Vercel", "triggers", "GitHub webhook")
    ]


def test_an_end_may_be_shown_by_another_word_than_its_name():
    entities = [Entity(name=name, kind="wikilink") for name in ("report", "sietske-bouma")]
    found = find_relations(
        "The report is owned by Sietske.", entities, labels={"sietske-bouma": "Sietske"}
    )
    assert found == (Relation(subject="report", predicate="owned_by", object="sietske-bouma"),)


@pytest.mark.parametrize(
    ("field", "objects"),
    [
        ('author: "[[Kevin Kelly]]"', ["Kevin Kelly"]),
        ("author: [[Kevin Kelly|KK]]", ["Kevin Kelly"]),
        ('author:\n  - "[[A]]"\n  - "[[B#part]]"', ["A", "B"]),
        ('author: ["[[A]]", "[[A]]"]', ["A"]),
        ("author: Kevin Kelly", []),
        ("author: met [[Kevin Kelly]] in May", []),
        ("author: [[Book]]", []),
        ("author:", []),
    ],
)
def test_a_link_in_the_head_is_a_relation_of_the_note(field, objects):
    found = field_relations("Book", "author", field)
    assert [one.object for one in found] == objects
    assert all((one.subject, one.predicate) == ("Book", "author") for one in found)
    assert field_relations("", "author", field) == ()


def test_a_cell_is_a_relation_of_its_row():
    assert cell_relation("db1", "Max. Port", "5432") == Relation(
        subject="db1", predicate="max_port", object="5432"
    )
    assert cell_relation("甲", "端口", "1") == Relation(subject="甲", predicate="端口", object="1")
    assert cell_relation("db1", "…", "5432") is None


@given(st.text(max_size=60), st.lists(st.text(min_size=1, max_size=4), max_size=4))
def test_subjects_and_objects_are_the_given_names(text, names):
    for subject, _, other in told(text, *names):
        assert subject in names
        assert other in names
