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
        ("Grafana depends on the Nomad cluster.", ("Grafana", "depends_on", "Nomad")),
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
    ],
)
def test_anything_else_between_them_relates_nothing(text):
    assert told(text, "Grafana", "Nomad") == []


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
