from __future__ import annotations

import pytest

from ingest.rules.fields import find_fields, telling_fields


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("author: Kevin Kelly", [("author", "Kevin Kelly")]),
        ("port: 5432 # or 5433", [("port", "5432")]),
        ("name: 'a # b c'", [("name", "a # b c")]),
        ("topic: #ops", [("topic", "#ops")]),
        ("issue: see #12", [("issue", "see #12")]),
        ("host: # db1", []),
        ("roles: [a, 'b c']", [("roles", "a, b c")]),
        ("roles:\n  - a\n  - [[B|b]]", [("roles", "a, b")]),
        ("empty: ~\nnone: []", []),
        (
            "address:\n  street: Kerkstraat\n  geo:\n    lat: 5.1\nhost: db1",
            [("address › street", "Kerkstraat"), ("address › geo › lat", "5.1"), ("host", "db1")],
        ),
        (
            "people:\n  - name: Jan\n    role: boss\n  - name: Piet\n    role: clerk\nx: y",
            [
                ("people", "name: Jan, role: boss"),
                ("people", "name: Piet, role: clerk"),
                ("x", "y"),
            ],
        ),
        (
            "people:\n- name: Jan\n  role: boss\n- Piet",
            [("people", "name: Jan, role: boss"), ("people", "Piet")],
        ),
        (
            "note: |\n  the code: 5\n\n  - is here\nx: y",
            [("note", "the code: 5 - is here"), ("x", "y")],
        ),
        ("note: >-\n  one\n  two", [("note", "one two")]),
        ("note: one\n  two\n  three", [("note", "one two three")]),
        ("- a: b", []),
    ],
)
def test_a_field_is_its_key_and_its_words(line, told):
    assert [(field.key, field.value) for field in find_fields(line)] == told


def test_a_field_knows_where_it_stands():
    source = "a: b\nlist:\n- c\n- d\nx: y\n"
    assert [source[field.start : field.end] for field in find_fields(source)] == [
        "a: b",
        "list:\n- c\n- d",
        "x: y",
    ]


def test_fields_about_the_file_are_emptied_and_lines_stay():
    text = "---\ntitle: T\ntags:\n  - a\nhost: db1\n---\n"
    assert telling_fields(text) == "\n\n\n\nhost: db1\n\n"


@pytest.mark.parametrize(
    ("source", "until"),
    [
        ("start: 2023-09-12\nend: 2023-09-30\n", ("end", "2023-09-30")),
        ("trip_start: 12 May 2023\n\n\ntrip_end: 30 May 2023\n", ("trip_end", "30 May 2023")),
        ("van: 2023-09-12\ntot: 2023-09-30\n", ("tot", "2023-09-30")),
        ("开始: 2023-09-12\n结束: 2023-09-30\n", ("结束", "2023-09-30")),
        ("from: Ana\nto: Ben\n", None),
        ("start: 2023-09-12\nhost: db1\nend: 2023-09-30\n", None),
        ("trip start: 2023-09-12\nlease end: 2023-09-30\n", None),
        ("start: 2023-09-12\nstart: 2023-09-30\n", None),
        ("end: 2023-09-30\nstart: 2023-09-12\n", None),
    ],
)
def test_the_ends_of_a_period_are_one_field(source, until):
    first, *_ = find_fields(source)
    assert first.until == until
    if until:
        assert source[first.start : first.end] == source.rstrip("\n")
