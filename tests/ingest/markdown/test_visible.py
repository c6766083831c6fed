from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.markdown.markup import split_lines
from ingest.markdown.visible import read_html, visible_text
from tests.growth import assert_grows_with_size


@given(st.text(max_size=80) | st.text(alphabet="<>/abscript!- \n\r'\"=", max_size=80))
def test_visible_text_keeps_the_lines(text):
    assert len(split_lines(visible_text(text))) <= len(split_lines(text))


def test_visible_text_is_without_what_is_struck_out():
    assert visible_text("<p>kept <del>a <b>c</b></del><s>d</s> also</p>").split() == [
        "kept",
        "also",
    ]


def test_visible_text_hides_scripts_and_comments():
    html = "<style>\np{}\n</style>\n<p title='no'><img alt='T'>shown<!-- not --></p>\n<script>x()"
    shown = visible_text(html)
    assert shown.split() == ["T", "shown"]
    assert shown.count("\n") == html.count("\n")


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("<p>One <b>t</b>wo<i>.</i></p><p>H<sub>2</sub>O</p>", ["One two.", "H2O"]),
        ("<ul><li>one<li>two <span>x</span>y</ul>", ["one", "two xy"]),
        ("<h2>Head</h2>text<br>more<br/>words", ["Head", "text", "more", "words"]),
        ("<details><summary>Sum</summary>Text.</details>", ["Sum", "Text."]),
        ("<Intro>a <Badge/> b</Intro>", ["a b"]),
        ("<td>a&#10;b</td>", ["a b"]),
    ],
)
def test_only_what_is_no_part_of_a_sentence_is_a_border(source, parts):
    page = read_html(source)
    edges = [0, *page.borders, len(page.text)]
    told = [page.text[a:b].strip() for a, b in pairwise(edges)]
    assert [part for part in told if part] == parts


@pytest.mark.parametrize(
    ("source", "rows"),
    [
        (
            "<table><tr><th>Host<th>Port<tr><td>db1<td>5432<tr><td>db2</table>",
            [[("Host", "db1"), ("Port", "5432")], [("Host", "db2")]],
        ),
        ("<table><tr><th>Port</th><td>5432</td></tr></table>", [[("Port", "5432")]]),
        ("<table><tr><td>db1</td><td>5432</td></tr></table>", []),
        ("<table><tr><th colspan=2>A<th>B<tr><td>1<td>2<td>3</table>", []),
        ("<table><tr><th>A<th>B<tr><td>1<td><table><tr><td>2</table></table>", []),
        ("<td>alone<tr><th>A", []),
    ],
)
def test_cells_stand_below_their_heads(source, rows):
    page = read_html(source)

    def told(span):
        return page.text[slice(*span)].strip()

    assert [[tuple(map(told, pair)) for pair in row.cells] for row in page.rows] == rows


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["<b>x</b> ", "<tr><th>x<td>y", "<table>", "<!-- ", "< ", "<p "])
def test_html_is_read_in_time_by_its_length(piece):
    assert_grows_with_size(read_html, lambda n: "<table>" + piece * n, small=500)
