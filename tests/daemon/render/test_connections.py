"""Nodes and links as people read them."""

from __future__ import annotations

from daemon.render.connections import related_lines
from tests.daemon.render.shown import text


def test_nodes_come_with_the_links_to_those_above():
    drawn = {
        "nodes": [
            {"id": "entity:a", "kind": "entity", "name": "A"},
            {"id": "fact:1", "kind": "fact", "name": "A" * 200},
            {"id": "entity:b", "kind": "entity", "name": "B"},
        ],
        "links": [{"from": "entity:b", "to": "entity:a", "type": "runs_on", "because": "fact:1"}],
    }
    lines = text(related_lines(drawn)).split("\n")
    assert lines[0] == "A  entity:a"
    assert len(lines[1]) < 100
    assert lines[2:] == ["B  entity:b", "  B – runs on → A"]
    assert text(related_lines({})) == ""
