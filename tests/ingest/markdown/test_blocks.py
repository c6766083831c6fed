import os
import re
from datetime import date
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.markdown.blocks import parse_note
from recalld.records import BlockKind
from tests.growth import assert_grows_with_size

K = BlockKind


def shape(text):
    return [
        (b.kind, b.lines.first, b.lines.last)
        for b in parse_note(text).blocks
        if b.kind is not K.BLANK
    ]


def shown(text):
    return "".join(block.text for block in parse_note(text).blocks)


def block(text, kind):
    return next(b for b in parse_note(text).blocks if b.kind is kind)


# ---------------------------------------------------------------- tiling

PIECES = [
    "\n", "\r\n", "\r", "\n\n", "\x0c", "\u2028", "\x85", "\t", "    ", "\x00", "\x1b[31m", "\u202e", "# H", "## ", "Title\n===", "---", "- a", "  - b",
    "1. c", "- [ ] t", "- [x] d", "> q", ">", "> [!note] T", "```", "~~~py", "`", "``", "| a | b |", "|---|---|", "<!--", "-->", "%%", "$$", "<div>",
    "</div>", "<pre>", "[^1]: f", "[1]: B.md", "[[B]]", "[x](B.md)", "^id", "#tag", "***", "word", "记忆", "é", "{#x}", "\\", "password: hunter2",
    "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "data:image/png;base64,AAAA", "\ufeff", "title: a: b", "...", "!!! note", "??? tip",
]  # fmt: skip
NOTES = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5))).map("".join)


@given(NOTES)
@example("")
@example("a")
@example("---\n---")
@example("- a\n\n\n")
@example("> <!-- a\nb -->\n- c <!-- d\n\n- e -->")
def test_blocks_tile_the_note(text):
    note = parse_note(text)
    assert "".join(b.raw for b in note.blocks) == text
    total = len(re.findall(r"\r\n|\r|\n", text)) + (text != "" and text[-1] not in "\r\n")
    next_line = 1
    for b in note.blocks:
        assert b.lines.first == next_line
        next_line = b.lines.last + 1
        ends = re.findall(r"\r\n|\r|\n", b.raw)
        assert (
            b.text.count("\n")
            == len(ends)
            == b.lines.last - b.lines.first + b.raw.endswith(("\r", "\n"))
        )
        assert "".join(b.text.splitlines()) == b.text.replace("\n", "")
        assert not re.search(r"[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", b.text)
    assert next_line == total + 1
    assert all(1 <= p.line <= total for p in note.problems)
    assert all(1 <= link.line <= total for link in note.links)
    assert not any(
        a.kind is b.kind is K.BLANK for a, b in zip(note.blocks, note.blocks[1:], strict=False)
    )


def test_only_editors_line_ends_end_a_line():
    assert shape("a\x0cb\u2028c\r\n\rd\re") == [(K.PARAGRAPH, 1, 1), (K.PARAGRAPH, 3, 4)]


# ---------------------------------------------------------------- kinds


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("# A\n\ntext\nmore\n", [(K.HEADING, 1, 1), (K.PARAGRAPH, 3, 4)]),
        ("Title\n===\ntext", [(K.HEADING, 1, 2), (K.PARAGRAPH, 3, 3)]),
        ("---\ntitle: T\n---\ntext", [(K.FRONT_MATTER, 1, 3), (K.PARAGRAPH, 4, 4)]),
        ("text\n\n---\n\ntext", [(K.PARAGRAPH, 1, 1), (K.RULE, 3, 3), (K.PARAGRAPH, 5, 5)]),
        (
            "- a\n  - b\n\n    c\n- d\n\n\n1. e\n2. f",
            [(K.LIST_ITEM, 1, 4), (K.LIST_ITEM, 5, 5), (K.LIST_ITEM, 8, 8), (K.LIST_ITEM, 9, 9)],
        ),
        (
            "- [ ] a\n- [x] b\n- [-] c",
            [(K.LIST_ITEM, 1, 1), (K.LIST_ITEM, 2, 2), (K.LIST_ITEM, 3, 3)],
        ),
        (
            "text\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\ntext",
            [(K.PARAGRAPH, 1, 1), (K.TABLE, 3, 5), (K.PARAGRAPH, 7, 7)],
        ),
        ("```py\n# x\n\ny\n```\ntext", [(K.FENCE, 1, 5), (K.PARAGRAPH, 6, 6)]),
        ("~~~\n```\n~~~", [(K.FENCE, 1, 3)]),
        (
            "text\n\n    code\n\n    code\n\ntext",
            [(K.PARAGRAPH, 1, 1), (K.FENCE, 3, 5), (K.PARAGRAPH, 7, 7)],
        ),
        ("> a\nlazy\n\n> b", [(K.QUOTE, 1, 2), (K.QUOTE, 4, 4)]),
        ("> [!warning]- T\n> b", [(K.CALLOUT, 1, 2)]),
        (
            '!!! tip "T"\n\n    text\n\n    - a\n        - b\n    - c\n\ntext',
            [
                (K.PARAGRAPH, 1, 1),
                (K.PARAGRAPH, 3, 3),
                (K.LIST_ITEM, 5, 6),
                (K.LIST_ITEM, 7, 7),
                (K.PARAGRAPH, 9, 9),
            ],
        ),
        (
            "??? a\n    ???+ b\n        # H\n\n            code\n    text\n\n- x\n\n    !!! c\n        text\n- y",
            [
                (K.PARAGRAPH, 1, 1),
                (K.PARAGRAPH, 2, 2),
                (K.HEADING, 3, 3),
                (K.FENCE, 5, 5),
                (K.PARAGRAPH, 6, 6),
                (K.LIST_ITEM, 8, 11),
                (K.LIST_ITEM, 12, 12),
            ],
        ),
        ("!!! wow\ntext", [(K.PARAGRAPH, 1, 1), (K.PARAGRAPH, 2, 2)]),
        (
            "text[^1]\n\n[^1]: note\n    more\n\ntext",
            [(K.PARAGRAPH, 1, 1), (K.FOOTNOTE, 3, 4), (K.PARAGRAPH, 6, 6)],
        ),
        (
            "<div class=x>\n\n**md**\n\n- a\n\n</div>",
            [(K.HTML, 1, 1), (K.PARAGRAPH, 3, 3), (K.LIST_ITEM, 5, 5), (K.HTML, 7, 7)],
        ),
        ("<!-- a\n# H\n\n```\nb -->\ntext", [(K.COMMENT, 1, 5), (K.PARAGRAPH, 6, 6)]),
        ("text\n<!-- a -->\ntext", [(K.PARAGRAPH, 1, 1), (K.COMMENT, 2, 2), (K.PARAGRAPH, 3, 3)]),
        ("%%\na\n\n# H\n%%\n\ntext", [(K.COMMENT, 1, 5), (K.PARAGRAPH, 7, 7)]),
        ("text\n%%\na\n%%\ntext", [(K.PARAGRAPH, 1, 1), (K.COMMENT, 2, 4), (K.PARAGRAPH, 5, 5)]),
        ("$$\nx\n\ny\n$$\ntext\n\n$$z$$", [(K.MATH, 1, 5), (K.PARAGRAPH, 6, 6), (K.MATH, 8, 8)]),
        ("[1]: B.md\n\n***", [(K.DEFINITION, 1, 1), (K.RULE, 3, 3)]),
    ],
)
def test_kinds_and_lines(text, blocks):
    assert shape(text) == blocks


def test_info_and_level():
    assert block("```{python} x\n```", K.FENCE).info == "{python}"
    assert block("```\n```", K.FENCE).info == ""
    assert block("> [!Warning|red]+ Title", K.CALLOUT).info == "warning"
    assert block("### H", K.HEADING).level == 3
    assert block("H\n-", K.HEADING).level == 2


def test_heading_path_is_plain_text_without_the_headings_own():
    text = "# A **b** `c_d` #\n\n## [x](B.md) [[C|shown]] {#id}\n\ntext\n\nSetext *two*\n---\n\ntext\n\n#### Deep\n\n# Z\n\n> # quoted\n\ntext"
    paths = [b.heading_path for b in parse_note(text).blocks if b.kind is not K.BLANK]
    a = "A b c_d"
    assert paths == [
        (),
        (a,),
        (a, "x shown"),
        (a,),
        (a, "Setext two"),
        (a, "Setext two"),
        (),
        ("Z",),
        ("Z",),
    ]


def test_title_of_an_admonition_stands_above_its_blocks_as_a_heading_does():
    text = (
        '# H\n\n??? question "What is **it**?"\n\n    A tool.\n\n    !!! tip "Tip"\n        Use it.\n\n'
        "    More of it.\n\nBeside it.\n"
    )
    paths = {b.text.strip(): b.heading_path for b in parse_note(text).blocks}
    assert paths["A tool."] == paths["Use it."] == paths["More of it."] == ("H", "What is it?")
    assert paths['??? question "What is **it**?"'] == paths["Beside it."] == ("H",)


def test_title_is_the_headers_then_the_first_top_heading():
    assert parse_note("---\ntitle: T\n---\n# A").title == "T"
    assert parse_note("## B\n\n# A *x*\n\n# C").title == "A x"
    assert parse_note("text").title == ""


def test_header_values_and_tags_of_the_body():
    note = parse_note(
        "---\ndate: 2026-03-02\ntags: [Ops]\naliases: X\n---\n# H #no\n\n#ops #été/à `#code` #123\n\n```\n#fence\n```\n\n- a #标签\n\n[x](#frag)"
    )
    assert note.date == date(2026, 3, 2)
    assert note.tags == ("Ops", "été/à", "标签")
    assert note.aliases == ("X",)
    assert note.head_tags == ("Ops",)
    assert note.tag_places == ((8, "ops"), (8, "été/à"), (14, "标签"))


def test_properties_of_the_head_show_no_secret():
    note = parse_note("---\nstatus: done\npassword: hunter2-and-more\n---\n")
    assert dict(note.properties) == {"status": ("done",), "password": ("[redacted]",)}


@pytest.mark.parametrize(
    "header",
    [
        "title: T\n\ta: b",
        "title: a: b",
        "date: {{date}}",
        "who: @bob",
        "d: 2026-13-45",
        "",
        "- x",
        "just text",
        "a: &a [*a]",
    ],
)
def test_body_below_any_header_is_read(header):
    note = parse_note(f"---\n{header}\n---\nFact 1 is true.\n")
    assert [(b.kind, b.text) for b in note.blocks][1:] == [(K.PARAGRAPH, "Fact 1 is true.\n")]
    assert note.blocks[1].heading_path == ()


@pytest.mark.parametrize(
    "text", ["---\ntitle: T\n\nFact 1 is true.", "\n---\ntitle: T\n---\nFact 1 is true."]
)
def test_what_is_no_header_is_body_and_reported(text):
    note = parse_note(text)
    assert K.FRONT_MATTER not in {b.kind for b in note.blocks}
    assert note.blocks[-1].text == "Fact 1 is true."
    assert [p.kind.split(".")[0] for p in note.problems] == ["front_matter"]


# ---------------------------------------------------------------- text


def test_secrets_payloads_and_controls_are_gone_from_text_title_path_and_links():
    note = parse_note(
        "---\ntitle: T password=hunter2\n---\n# password: hunter2\n\n![x](data:image/png;base64,iVBORw0KGgo=) \x1b[31mred\x1b[0m\x07 a\x00b\u202ec\n\n"
        "[password: hunter2](B.md)\n\n-----BEGIN PRIVATE KEY-----\nProc-Type: 4\n\nMIIEvQIBADANBgkqhkiG9w0B\n-----END PRIVATE KEY-----\n\nafter"
    )  # fmt: skip
    everything = repr([(b.text, b.heading_path) for b in note.blocks]) + repr(
        (note.title, note.links)
    )
    for gone in ("hunter2", "iVBOR", "x1b", "[31m", "u202e", "x00", "x07", "MIIE", "Proc"):
        assert gone not in everything
    assert "(data:image/png;base64,) red a bc" in everything
    assert note.title == "T password=[redacted]"
    assert note.blocks[-1].text == "after"
    assert note.links[0].label == "password: [redacted]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("text ^abc-1\n", "text \n"),
        ("a\n^abc", "a\n"),
        ("- a ^x1\n  - b ^x2", "- a \n  - b "),
        ("> q\n> ^q1", "> q\n"),
        ("mid ^abc dle", "mid ^abc dle"),
        ("```\na ^abc\n```", "```\na ^abc\n```"),
        ("- a\n\n  ```\n  b ^abc\n  ```", "- a\n\n  ```\n  b ^abc\n  ```"),
    ],
)
def test_block_ids_are_no_text(text, expected):
    assert shown(text) == expected


def test_links_tags_and_headings_come_from_no_code():
    note = parse_note(
        "```toml\n[[dep]]\n# not a heading\n#tag\n```\n\n`[[no]]` [[yes]]\n\n    [[no]]\n\n$$\n[[no]]\n$$\n\n- a\n\n  ~~~\n  [[no]] ```\n  ~~~\n\n[r][1]\n\n[1]: C.md"
    )
    assert [(link.target, link.line) for link in note.links] == [("yes", 7), ("C.md", 21)]
    assert note.tags == ()
    assert not any(b.kind is K.HEADING for b in note.blocks)


# ---------------------------------------------------------------- hostile input and real notes

# A shape of a note that grows with n, and an n at which it is read in a millisecond or more.
HOSTILE = {
    "one line": (lambda n: "word " * n, 5_000),
    "one word": (lambda n: "x" * n, 25_000),
    "brackets": (lambda n: "[" * n + "]" * n, 1_250),
    "quotes": (lambda n: ">" * n, 1_250),
    "quotes apart": (lambda n: "> " * n + "x", 1_250),
    "lists": (lambda n: "- " * n + "x", 1_250),
    "list": (lambda n: "- x\n" * n, 250),
    "table": (lambda n: "| a | b |\n|---|---|\n" + "| [[x]] | `y` %%z%% |\n" * n, 150),
    # So many runs of ticks as give n characters.
    "ticks": (lambda n: " ".join("`" * k for k in range(1, int((2 * n) ** 0.5))), 22_000),
    "unclosed comments": (lambda n: "<!-- " * n, 5_000),
    "unclosed comments apart": (lambda n: "<!-- x\n\n" * n, 400),
    "percents": (lambda n: "a %% x\n\n" * n, 300),
    "math": (lambda n: "$$ x\n\n" * n, 300),
    "heading": (lambda n: "# " + "*a " * n, 7_500),
    "links": (lambda n: "[[a|b]] " * n, 600),
    "titles": (lambda n: '](x "' * n, 5_000),
    "labels": (lambda n: "[\n" * n, 1_500),
    "payload": (lambda n: "data:image/png;base64," + "A" * n, 125_000),
    "digits": (lambda n: "1 " * n, 12_500),
    "keys": (lambda n: "-----BEGIN PRIVATE KEY-----\n" * n, 600),
    "passwords": (lambda n: "password: " * n, 2_500),
    "escapes": (lambda n: "\x1b[" * n, 12_500),
    "nul": (lambda n: "\x00" * n, 500),
    "lines": (lambda n: "\n" * n, 8_000),
    "admonitions": (lambda n: "!!! note\n\n    text\n\n" * n, 200),
    "admonitions in each other": (
        lambda n: "".join("    " * (k % 60) + "!!! note\n" for k in range(n)),
        600,
    ),
    "title of an admonition": (lambda n: "!!! x " + '" ' * n, 5_000),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_note_is_read_in_time_by_its_length(name):
    make, small = HOSTILE[name]
    read = {}

    def parse(text):
        read[text] = parse_note(text)

    assert_grows_with_size(parse, make, small=small)
    for text, note in read.items():
        assert "".join(b.raw for b in note.blocks) == text


def vaults():
    checkout = Path(__file__).resolve().parents[3]
    return Path(os.environ.get("RECALLD_SHARED", checkout.parent / "shared")) / "data" / "vaults"


@pytest.mark.slow
def test_real_notes_are_tiled():
    if not vaults().is_dir():
        pytest.skip("needs the folders of real notes: set RECALLD_SHARED")
    for path in sorted(vaults().rglob("*.md"))[::4]:
        text = path.read_bytes().decode("utf-8", "replace")
        blocks = parse_note(text).blocks
        assert "".join(b.raw for b in blocks) == text, path
        lines = [n for b in blocks for n in range(b.lines.first, b.lines.last + 1)]
        assert lines == list(range(1, len(lines) + 1)), path
