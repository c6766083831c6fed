from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.markdown.front_matter import read_front_matter
from tests.growth import assert_grows_with_size


def read(header):
    return read_front_matter(["---", *header.split("\n"), "---", "Fact is true."])


def kinds(header):
    return [(p.line, p.kind.removeprefix("front_matter.")) for p in header.problems]


def test_values_are_read():
    header = read(
        'title: "Deploy: how"\ndate: 2026-03-02T10:00:00Z\ntags: [ops, "#net/dns", 2024]\naliases:\n  - Release\n  - 発布'
    )
    assert header.line_count == 8
    assert header.title == "Deploy: how"
    assert header.date == date(2026, 3, 2)
    assert header.tags == ("ops", "net/dns", "2024")
    assert header.aliases == ("Release", "発布")
    assert header.problems == ()


def test_short_values_are_told_by_key():
    header = read(
        f"Status: done\npriority: [1, high]\npinned:\nnested: {{a: {{}}}}\nabout: {'x' * 61}"
    )
    assert dict(header.properties) == {"status": ("done",), "priority": ("1", "high")}


@pytest.mark.parametrize(
    "written",
    ["a, b", "a b", "'#a #b'", "#a #b", "[a, b]", "[#a, #b]", "\n- a\n- b", "a，b", '["#a", b]'],
)
def test_tags_are_read_in_every_way_they_are_written(written):
    assert read(f"tags: {written}").tags == ("a", "b")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026-03-02", date(2026, 3, 2)),
        ("'2026-03-02'", date(2026, 3, 2)),
        ("2026-03-02 10:15", date(2026, 3, 2)),
        ("2026/3/2", date(2026, 3, 2)),
        ("20260302", date(2026, 3, 2)),
        ("2026-13-45", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_dates(written, expected):
    assert read(f"date: {written}").date == expected


@pytest.mark.parametrize(
    ("header", "problems", "title"),
    [
        ("title: T\na:\n\tb: c", [(4, "invalid")], "T"),
        ("title: a: b", [(2, "invalid")], "a: b"),
        ("title: T\ndate: {{date}}", [(3, "value")], "T"),
        ("title: T\nwho: @bob", [(3, "invalid")], "T"),
        ("title: T\nd: 2026-13-45", [(3, "date")], "T"),
        ("title: T\nx: [1, 2", [(4, "invalid")], "T"),
        ("title: {{title}}\ntags: a", [(2, "value")], ""),
        ("- x", [(2, "not_a_mapping")], ""),
        ("just text", [(2, "not_a_mapping")], ""),
        ("content: 1\nhandler: 2\nmetadata: 3\ntitle: T", [], "T"),
        ("a: &a [*a]\ntitle: T", [], "T"),
        ("x: !!python/object/apply:os.system [ls]\ntitle: T", [], "T"),
        ("title: T\nx: \x01", [(3, "invalid")], "T"),
    ],
)
def test_broken_or_hostile_header_gives_what_can_be_read(header, problems, title):
    found = read(header)
    assert [(line, kind) for line, kind in kinds(found)] == problems or (
        problems and kinds(found)[0][1] == problems[0][1] == "invalid"
    )
    assert found.title == title
    assert found.line_count == header.count("\n") + 3


def test_empty_header():
    assert read_front_matter(["---", "---", "Fact."]).line_count == 2


def test_header_that_is_never_closed_is_text():
    header = read_front_matter(["---", "title: T", "", "Fact."])
    assert (header.line_count, header.title, kinds(header)) == (0, "", [(1, "unclosed")])


def test_header_after_a_blank_line_is_text_and_said_so():
    header = read_front_matter(["", "---", "title: T", "---", "Fact."])
    assert (header.line_count, header.title, kinds(header)) == (0, "", [(2, "misplaced")])


def test_rule_in_the_middle_is_no_header():
    assert read_front_matter(["Text", "", "---", "title: T", "---"]).line_count == 0


def test_prose_between_two_rules_is_text():
    assert read_front_matter(["---", "", "A fact.", "", "---"]).line_count == 0


def test_byte_order_mark_does_not_hide_the_header():
    assert read_front_matter(["\ufeff---", "title: T", "---"]).title == "T"


def aliases(depth: int) -> str:
    """A list of lists, each said nine times: nine to the power of the depth, if it is followed."""
    names = "abcdefghij"
    deeper = (f"{b}: &{b} [{','.join(['*' + a] * 9)}]" for a, b in pairwise(names[:depth]))
    return "\n".join(["a: &a [x,x,x,x,x,x,x,x,x]", *deeper])


# A shape of a header that grows with n, and a small n.
HOSTILE = {
    "aliases": (aliases, 1),
    "brackets": (lambda n: "[" * n, 7_500),
    "braces": (lambda n: "{" * n, 7_500),
    "dashes": (lambda n: "x:\n" + "- " * n, 3_750),
    "questions": (lambda n: "? " * n, 3_750),
    "large": (lambda n: "x: " + "y" * n, 250_000),
    "long list": (lambda n: "tags: [" + "a," * n + "]", 3_750),
    "many lines": (lambda n: "k: v\n" * n, 1_250),
    "many items, broken": (lambda n: "tags:\n" + "- a\n" * n + "x: @y", 1_875),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_header_is_read_in_time_by_its_length(name):
    def lines(size: int) -> list[str]:
        return ["---", "title: T", *make(size).split("\n"), "---", "Fact."]

    make, small = HOSTILE[name]
    assert_grows_with_size(read_front_matter, lines, small=small)
    header = read_front_matter(lines(8 * small))
    assert header.line_count == len(lines(8 * small)) - 1
    assert header.title == "T"


@given(st.text(alphabet="ab:-#[]{}'\"&*!|>%@`,? \t\n\x00é"))
def test_any_header_is_read_without_an_error(header):
    assert read(header).line_count >= 0


@given(st.lists(st.text()))
def test_any_lines_are_read_without_an_error(lines):
    read_front_matter(["---", *lines, "---"])
