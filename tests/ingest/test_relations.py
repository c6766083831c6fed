from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.relations import cell_relation, find_relations
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
    ],
)
def test_a_verb_between_two_names_relates_them(text, relation):
    assert told(text, "Grafana", "Nomad") == [relation]


@pytest.mark.parametrize(
    "text",
    [
        "Grafana does not use Nomad.",
        "Grafana and Nomad.",
        "Grafana wurde durch Nomad gestoppt.",
        "If Grafana ever uses something like Nomad, tell me.",
        "Grafana uses a fork of Nomad.",
    ],
)
def test_anything_else_between_them_relates_nothing(text):
    assert told(text, "Grafana", "Nomad") == []


def test_a_part_of_a_word_is_no_place_of_a_name():
    assert told("Go uses Goland.", "Go", "land") == []


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
