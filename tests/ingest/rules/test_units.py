from __future__ import annotations

from ingest.rules.units import find_units, searchable_source, shorten
from recalld.records import Block, BlockKind, Lines


def units(kind: BlockKind, text: str):
    block = Block(kind=kind, lines=Lines(first=1, last=1), raw=text, text=text)
    source = searchable_source(block)
    return [(u.kind, source[u.start : u.end], u.parents) for u in find_units(block, source)]


def test_wrapped_prose_is_one_unit_and_deliberate_lines_are_several():
    wrapped = "This sentence is so long that it was wrapped by\nits writer at the column.\n"
    assert [u[0] for u in units(BlockKind.PARAGRAPH, wrapped)] == ["prose"]
    log = "09:00 Started the long import of last week\n10:30 Lunch\n11:00 Import was done\n"
    assert [u[1] for u in units(BlockKind.PARAGRAPH, log)] == [
        line for line in log.split("\n") if line
    ]


def test_a_line_inside_a_link_is_not_an_end():
    text = "In [Dynamically Add\nProps To A Child Component Of A Long Parent](x.md), I showed it.\n"
    assert len(units(BlockKind.PARAGRAPH, text)) == 1


def test_code_and_tables_inside_a_list_are_units_of_their_own():
    text = "- Item:\n  ```sh\n  echo\n  ```\n\n  | a | b |\n  |---|---|\n  | 1 | 2 |\n"
    assert [u[0] for u in units(BlockKind.LIST_ITEM, text)] == ["item", "code", "row"]


def test_a_quote_keeps_its_paragraphs_apart():
    text = "> [!tip] Title\n> One two three.\n>\n> - item\n"
    assert [u[1].strip() for u in units(BlockKind.CALLOUT, text)] == [
        "Title",
        "One two three.",
        "item",
    ]


def test_a_definition_belongs_to_its_term():
    text = "Apple\n: A fruit of the tree\n: A maker of phones\n"
    assert units(BlockKind.PARAGRAPH, text) == [
        ("heading", "Apple", ()),
        ("item", "A fruit of the tree", ("Apple",)),
        ("item", "A maker of phones", ("Apple",)),
    ]


def test_an_item_of_a_numbered_list_knows_its_number():
    text = "3) Stop it.\n   1. Log in.\n   - Look.\n"
    block = Block(kind=BlockKind.LIST_ITEM, lines=Lines(first=1, last=3), raw=text, text=text)
    assert [unit.ordinal for unit in find_units(block, text)] == [3, 1, None]


def test_an_item_after_a_nested_list_has_no_parent_of_it():
    text = "- a\n  - b\n    - c\n  - d\n"
    assert [u[2] for u in units(BlockKind.LIST_ITEM, text)] == [(), ("a",), ("a", "b"), ("a",)]


def test_indented_code_needs_no_fence():
    assert units(BlockKind.FENCE, "    x = 1\n    y = 2\n") == [
        ("code", "    x = 1\n    y = 2\n", ())
    ]


def test_shortening_cuts_at_a_word():
    assert shorten("one two three", 9) == "one two…"
    assert shorten("x" * 100, 80) == "x" * 80 + "…"
