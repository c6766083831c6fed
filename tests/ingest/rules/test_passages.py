from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.rules.passages import PASSAGE_LENGTH, split_block
from recalld.records import Block, BlockKind, Lines


def block(kind: BlockKind, text: str) -> Block:
    return Block(
        kind=kind, lines=Lines(first=1, last=max(1, text.count("\n"))), raw=text, text=text
    )


def statements(kind: BlockKind, text: str) -> list[tuple[str, tuple[int, int]]]:
    return [
        (s.text, (s.lines.first, s.lines.last))
        for p in split_block(block(kind, text))
        for s in p.statements
    ]


def texts(kind: BlockKind, text: str) -> list[str]:
    return [told for told, _ in statements(kind, text)]


def test_nested_items_carry_their_parents_words():
    text = "- Servers\n  - alpha\n    - ram 64 GB\n  - beta\n- Other\n"
    assert statements(BlockKind.LIST_ITEM, text) == [
        ("Servers", (1, 1)),
        ("Servers › alpha", (2, 2)),
        ("Servers › alpha › ram 64 GB", (3, 3)),
        ("Servers › beta", (4, 4)),
        ("Other", (5, 5)),
    ]


def test_the_last_paragraph_of_an_item_announces_the_list_below_it():
    text = "- Bot: I can help. A lot.\n\n  **Temples:**\n\n  1. Wat Arun\n\n  See you soon, my friend.\n"
    assert texts(BlockKind.LIST_ITEM, text) == [
        "Bot: I can help. A lot.",
        "Temples:",
        "Temples: Wat Arun",
        "See you soon, my friend.",
    ]


def test_a_long_parent_is_shortened():
    text = "- " + "very " * 40 + "long\n  - child\n"
    (_, child) = texts(BlockKind.LIST_ITEM, text)
    assert child.endswith("very… › child")
    assert len(child) <= 80 + len(" › child")


def test_a_table_row_is_a_statement_with_its_column_heads():
    text = "| host | port |\n|:---|---:|\n| db1 | 5432 |\n| [[a\\|b]] | `x|y` \\| z |\n"
    assert statements(BlockKind.TABLE, text) == [
        ("host: db1; port: 5432", (3, 3)),
        ("host: b; port: `x|y` | z", (4, 4)),
    ]


def test_a_sentence_that_leans_on_the_one_before_is_joined_to_it():
    assert texts(
        BlockKind.PARAGRAPH,
        "The server keeps its models in memory. Default is five minutes. Another matter comes last.\n",
    ) == [
        "The server keeps its models in memory. Default is five minutes.",
        "Another matter comes last.",
    ]


def test_a_very_short_sentence_is_joined_to_its_neighbour():
    assert texts(
        BlockKind.PARAGRAPH, "Great! The backup of the laptop runs every Sunday night.\n"
    ) == ["Great! The backup of the laptop runs every Sunday night."]


def test_a_statement_knows_its_lines():
    text = "The first sentence starts here and\ngoes on until there. The second one is\nlonger than that.\n"
    assert [lines for _, lines in statements(BlockKind.PARAGRAPH, text)] == [(1, 2), (2, 3)]


def test_code_gives_one_statement_a_passage():
    text = "```sh\n" + "echo hello world again\n" * 120 + "```\n"
    passages = split_block(block(BlockKind.FENCE, text))
    assert len(passages) == 3
    assert all(len(p.statements) == 1 and len(p.statements[0].text) <= 400 for p in passages)
    assert not passages[0].statements[0].text.startswith("```")


def test_front_matter_tells_only_what_is_not_said_elsewhere():
    text = "---\ntitle: x\ndate: 2024-01-01\nrating: 8\nauthor: '[[Kevin Kelly]]'\nloc:\n  - Kyoto\n  - Japan\ntags: [a]\nempty:\n---\n"
    (passage,) = split_block(block(BlockKind.FRONT_MATTER, text))
    assert [(s.text, s.lines.first) for s in passage.statements] == [
        ("rating: 8", 4),
        ("author: Kevin Kelly", 5),
        ("loc: Kyoto, Japan", 6),
    ]
    assert "2024" not in passage.text


def test_html_shows_what_a_reader_sees():
    text = '<div class="secret">\n<b>Hello</b> world &amp; all\n<img alt="A chart" src="x.png">\n</div>\n<script>\nvar x\n</script>\n'
    (passage,) = split_block(block(BlockKind.HTML, text))
    assert passage.text.split() == ["Hello", "world", "&", "all", "A", "chart"]
    assert (passage.lines.first, passage.lines.last) == (2, 3)


@pytest.mark.parametrize("kind", [BlockKind.BLANK, BlockKind.RULE, BlockKind.COMMENT])
def test_what_is_not_to_be_searched_gives_nothing(kind):
    assert split_block(block(kind, "<!-- x -->\n")) == ()


def test_a_markup_only_block_gives_nothing_or_its_words():
    assert split_block(block(BlockKind.HTML, "<Intro>\n")) == ()
    assert split_block(block(BlockKind.PARAGRAPH, "[^1]\n"))[0].text == "[^1]"


@pytest.mark.parametrize("word", ["word ", "词", "x", "clause, "])
def test_long_text_is_cut_below_the_limit(word):
    passages = split_block(block(BlockKind.PARAGRAPH, word * (5000 // len(word)) + "\n"))
    assert len(passages) > 3
    assert all(len(p.text) <= PASSAGE_LENGTH for p in passages)


_PIECES = [
    *r"a Word. It 1. - * ** ` ``` [ ] ( ) [[ ]] | |-| > # \ & &amp; <b> </b> 。 这个 それ ไทย : ; ? ! é".split(),  # noqa: SIM905
    *(
        "_",
        "==",
        "~~",
        "[x]",
        "…",
        "“",
        "”",
        "\r\n",
        "\t",
        "\n",
        "\n\n",
        "  ",
        "    ",
        "\n- ",
        "\n  - ",
    ),
    "x" * 700,
    "some more words here ",
]
_markdown = st.lists(st.sampled_from(_PIECES), max_size=40).map("".join)


@given(st.sampled_from(sorted(BlockKind)), _markdown | st.text(max_size=60))
def test_no_word_is_lost_and_lines_are_inside(kind, text):
    whole = block(kind, text)
    passages = split_block(whole)
    assert split_block(whole) == passages
    count = max(1, len(re.findall(r"\r\n|\r|\n", text)) + (not text.endswith(("\n", "\r"))))
    for passage in passages:
        assert len(passage.text) <= PASSAGE_LENGTH
        assert 1 <= passage.lines.first <= passage.lines.last <= count
        assert passage.statements
        for statement in passage.statements:
            assert statement.text.strip()
            assert passage.lines.first <= statement.lines.first
            assert statement.lines.last <= passage.lines.last
    if kind in (
        BlockKind.PARAGRAPH,
        BlockKind.LIST_ITEM,
        BlockKind.FENCE,
        BlockKind.TABLE,
        BlockKind.QUOTE,
    ):
        assert "".join("".join(p.text.split()) for p in passages) == "".join(
            text.split()
        ) or not re.search(r"\w", text)
