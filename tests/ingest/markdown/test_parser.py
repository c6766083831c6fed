"""What the Markdown parser takes for a block, for code and for a private part."""

import pytest

from ingest.markdown.blocks import parse_note
from ingest.markdown.body import Body
from ingest.markdown.parser import Extent, parse_body
from recalld.records import BlockKind

K = BlockKind


def shown(text):
    return "".join(block.text for block in parse_note(text).blocks)


def test_extents_are_what_the_parser_takes_for_blocks():
    body = Body(
        [
            "# Pomp",
            "",
            "- olie",
            "  - filter",
            "- 烤箱",
            "",
            "```sh",
            "ls",
            "```",
            "> [!Note] T",
            "",
        ],
        2,
    )
    assert [(one.kind, one.first, one.info, one.level) for one in parse_body(body)] == [
        (K.HEADING, 0, "", 1),
        (K.LIST_ITEM, 2, "", 0),
        (K.LIST_ITEM, 4, "", 0),
        (K.FENCE, 6, "sh", 0),
        (K.CALLOUT, 9, "note", 0),
    ]
    assert parse_body(Body(["", "a"], 0)) == [Extent(K.PARAGRAPH, 1, 2)]


PRIVATE = [
    "a <!-- SECRET --> b",
    "a %% SECRET %% b",
    "# H <!-- SECRET -->",
    "<!-- SECRET -->",
    "<!-- x\n# SECRET\n\n```\nSECRET\n```\n-->",
    "<!-- x --> b <!-- SECRET -->",
    "<!-- x --> b",
    "%%SECRET%%",
    "%%\n\nSECRET\n\n%%",
    "text %% SECRET\n# H SECRET\n\nSECRET %% text",
    "text <!-- SECRET\n\nSECRET --> text",
    "- a <!-- SECRET\n\n- SECRET --> b",
    "- a\n  <!--\n\n  SECRET\n  -->\n  b",
    "> a <!-- SECRET\n> SECRET --> b",
    "> %%\n> SECRET\n> %%",
    "> <!-- SECRET\n>\n> SECRET -->",
    "| a | b |\n|---|---|\n| ` <!-- SECRET --> | ` |",
    "<div>\n<!-- SECRET -->\n%% SECRET %%\n</div>",
    "<div>\n<!-- SECRET\n\nSECRET -->\n</div>",
    "<div>\n%%\nSECRET\n\n- SECRET\n%%\n\n</div>",
    "> q\nt <!-- SECRET\n\n> SECRET\n\n```\nSECRET --> u",
    "[^1]: a <!-- SECRET -->",
    "[1]: B.md 'x <!-- SECRET -->'",
    ">" * 60 + " a %% SECRET %%",
    "<!-- a\n\n<!-- SECRET -->\n\nSECRET -->",
    "<!-- SECRET",
    "text <!-- SECRET\nSECRET",
    "> <!-- SECRET\n\nb",
    "%% SECRET [[SECRET]] #SECRET %%",
    "a %% [[SECRET]]\n\n#SECRET %%",
    "before `code` <!-- SECRET ` --> `x`",
]


@pytest.mark.parametrize("text", PRIVATE)
def test_private_parts_are_nowhere(text):
    note = parse_note(f"# Head\n\n{text}\n\nThe end.\n")
    assert "SECRET" not in repr([(b.text, b.heading_path) for b in note.blocks])
    assert "SECRET" not in repr((note.title, note.tags, note.links, note.problems))
    assert note.blocks[-1].text == "The end.\n"
    assert note.blocks[-1].heading_path in {("Head",), ("H",)}


@pytest.mark.parametrize(
    "text",
    [
        "```\n<!-- SHOWN -->\n%% SHOWN %%\n```",
        "`<!-- SHOWN -->` and `%% SHOWN %%`",
        "    %% SHOWN %%",
        "- a\n\n  ```\n  <!-- SHOWN -->\n  ```",
        "5 %% SHOWN of 100",
        "$$\nx %% SHOWN\n$$",
        "<pre>\n%% SHOWN %%\n</pre>",
    ],
)
def test_what_looks_private_in_code_is_shown(text):
    assert shown(text) == text


def test_unclosed_comment_hides_to_the_next_blank_line_and_is_reported():
    text = "one\n\n<!-- two\nthree\n\nfour\n\n```\n<!-- five -->\n```\n"
    assert shown(text) == "one\n\n\n\n\nfour\n\n```\n<!-- five -->\n```\n"
    assert [(p.line, p.kind) for p in parse_note(text).problems] == [(3, "comment.unclosed")]


def test_text_round_a_comment_stays():
    assert shown("a <!-- x\ny --> b\n<!-- z --> c") == "a \n b\n c"


def test_unclosed_fence_keeps_the_rest_and_is_reported():
    note = parse_note("intro\n\n```sh\nls\n\n## Real\n\nDeploy is on Friday.\n")
    assert [(p.line, p.kind) for p in note.problems] == [(3, "fence.unclosed")]
    assert note.blocks[-1].kind is K.FENCE
    assert "Deploy is on Friday." in note.blocks[-1].text


def test_closed_fences_are_not_reported():
    assert parse_note("```\na\n```\n\n> ~~~\n> b\n> ~~~~\n\n- c\n  ```\n  ```\n").problems == ()
