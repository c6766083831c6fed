from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.markdown.inline import blank, find_tags, scan_text, starts_line, strip_markup


def spans(text):
    scan = scan_text(text)
    return (
        [text[a:b] for a, b in scan.code],
        [text[a:b] for a, b in scan.private],
        list(scan.open_at),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a `code` b <!-- c --> d %% e %% f", (["`code`"], ["<!-- c -->", "%% e %%"], [])),
        ("`<!-- shown -->`", (["`<!-- shown -->`"], [], [])),
        ("``a ` b`` `", (["``a ` b``"], [], [])),
        ("<!-- a ` --> ` b", ([], ["<!-- a ` -->"], [])),
        (r"\`<!-- c --> \<!-- d", ([], ["<!-- c -->"], [])),
        ("<!-->x", ([], ["<!-->"], [])),
        ("a <!-- b", ([], [], [2])),
        ("%% a `%% b %%c` d %%", ([], ["%% a `%%", "%%c` d %%"], [])),
    ],
)
def test_the_leftmost_of_code_and_private_wins(text, expected):
    assert spans(text) == expected


def test_code_does_not_go_from_one_table_cell_to_the_next():
    row = r"| ` | `a\|b` | ` |"
    assert [row[a:b] for a, b in scan_text(row, is_table_row=True).code] == [r"`a\|b`"]


@given(st.text(alphabet="`%<!->\\a \n"))
def test_spans_do_not_overlap(text):
    scan = scan_text(text)
    found = sorted((*scan.code, *scan.private))
    assert all(a[1] <= b[0] for a, b in pairwise(found))
    assert len(blank(text, found)) == len(text)


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        (
            "#a and #b/c, (#d) #été #标签、#ไฟล์ #e-f_g.",
            ("a", "b/c", "d", "été", "标签", "ไฟล์", "e-f_g"),
        ),
        ("#123 a#b x/#c ## # #1a", ("1a",)),
        ("#🚀 ok", ("🚀",)),
    ],
)
def test_tags(text, tags):
    assert find_tags(text) == tags


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("**Deploy** of `co_de*` *now*", "Deploy of co_de* now"),
        ("**`x`** and snake_case_name", "x and snake_case_name"),
        ("[[dir/B|shown]] and [[C]]", "shown and C"),
        ("[text](B.md) ![img](a.png) [ref][1]", "text img ref"),
        ("[![badge](a.png)](https://e.org)", "badge"),
        ("Title {#anchor}", "Title"),
        ("返り値 {/*returns*/}", "返り値"),
        ("`useId()` {/* use-id */}", "useId()"),
        ("Vereisten { data-search-exclude }", "Vereisten"),
        ("Title { .wide }", "Title"),
        ("Set {a, b}", "Set {a, b}"),
        ("Glob {.a/*}", "Glob {.a/*}"),
        ("Title ^abc-1", "Title"),
        ("a <b>bold</b> <https://e.org> c", "a bold https://e.org c"),
        (r"C\# and 2 \* 3 * 4", "C# and 2 * 3 * 4"),
        ("__init__ ~~old~~ ==new==[^1]", "init old new"),
    ],
)
def test_heading_is_plain_text(written, plain):
    assert strip_markup(written) == plain


@pytest.mark.parametrize(
    ("text", "at", "starts"),
    [("> - %%", 4, True), ("- [ ] %%", 6, True), ("a %%", 2, False), ("a\n%%", 2, True)],
)
def test_marks_of_containers_do_not_count_as_text(text, at, starts):
    assert starts_line(text, at) is starts
