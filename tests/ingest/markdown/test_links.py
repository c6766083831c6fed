import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.markdown.links import find_links, reference_key

REFERENCES = {reference_key("1"): "B%20C.md#h", reference_key("Web  Site"): "https://e.org/B.md"}


def found(text):
    links, _ = find_links(text, first_line=1, references=REFERENCES)
    return [(link.kind, link.target, link.fragment, link.label) for link in links]


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("[[B]]", ("wikilink", "B", "", "")),
        ("[[ B ]]", ("wikilink", "B", "", "")),
        ("[[B|shown]]", ("wikilink", "B", "", "shown")),
        (r"| [[a\|b]] |", ("wikilink", "a", "", "b")),
        ("[[dir/B#Head]]", ("wikilink", "dir/B", "Head", "")),
        ("[[B#^blk]]", ("wikilink", "B", "^blk", "")),
        ("[[#Head]]", ("wikilink", "", "Head", "")),
        ("[[Dr. Smith]]", ("wikilink", "Dr. Smith", "", "")),
        ("[[項目/記憶]]", ("wikilink", "項目/記憶", "", "")),
        ("![[B]]", ("embed", "B", "", "")),
        ("[x](B.md)", ("markdown", "B.md", "", "x")),
        ("[x](B%20C.md#h)", ("markdown", "B C.md", "h", "x")),
        ("[x](<B C.md>)", ("markdown", "B C.md", "", "x")),
        ('[x](B.md "title")', ("markdown", "B.md", "", "x")),
        ("[x](a(1).md)", ("markdown", "a(1).md", "", "x")),
        ("[a [b] c](../B.markdown)", ("markdown", "../B.markdown", "", "a [b] c")),
        ("[![i](a.png)](B.md)", ("markdown", "B.md", "", "![i](a.png)")),
        ("[x](#h)", ("markdown", "", "h", "x")),
        ("[ref][1]", ("markdown", "B C.md", "h", "ref")),
        ("[1][]", ("markdown", "B C.md", "h", "1")),
        ("[1]", ("markdown", "B C.md", "h", "1")),
        ("![x](B.md)", ("embed", "B.md", "", "x")),
    ],
)
def test_link_to_a_note(text, link):
    assert found(f"see {text} now") == [link]


@pytest.mark.parametrize(
    "text",
    [
        "[[]]", "[[ ]]", "[[|x]]", "[x](https://e.org/B.md)", "[x](//e.org/B.md)", "[x](mailto:a@b.md)", "[x]()",
        "[x](obsidian://open?B.md)", "![x](a.png)", "[x](a.pdf)", "![[pic.png]]", "![[scan.pdf#page=2]]", "[[paper.pdf]]",
        "[web site][]", "[nope]", "[^1]", r"\[[B]]", r"\[x\](B.md)", "[[https://e.org]]", "[x](docs/)", "[ ](", "]]](",
    ],
)  # fmt: skip
def test_no_link_to_a_note(text):
    assert found(text) == []


def test_links_come_in_order_with_their_lines_and_leave_a_blank():
    links, rest = find_links("a [x](#tag.md)\n[[B]] #t\n[[C]]", first_line=5, references={})
    assert [(link.target or link.fragment, link.line) for link in links] == [
        ("tag.md", 5),
        ("B", 6),
        ("C", 7),
    ]
    assert "#tag" not in rest
    assert "#t" in rest


@given(st.text(alphabet="[]()!<>|#\\\"'a. \n"))
def test_any_text_is_read_without_an_error(text):
    links, rest = find_links(text, first_line=1, references=REFERENCES)
    assert len(rest) == len(text)
    assert all(1 <= link.line <= text.count("\n") + 1 for link in links)
