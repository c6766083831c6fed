from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.markdown.blocks import parse_note
from ingest.rules.admonitions import lines_of_kinds

KINDS = frozenset({"warning", "danger", "let-op", "注意", "pitfall"})


def lines(text: str) -> list[int]:
    return sorted(lines_of_kinds(parse_note(text).blocks, KINDS))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("> [!warning] Title\n> a\n\nb\n", [1, 2]),
        ("> [!WARNING]- Folded\n> a\nlazy\n", [1, 2, 3]),
        ("> [!let op]\n> a\n", [1, 2]),
        ("> [!注意]\n> a\n", [1, 2]),
        ("> [!note]\n> a\n", []),
        ("> [!example]\n> [!warning] shown\n", []),
        ("> [!note]\n> a\n>\n> > [!danger] b\n> > c\n>\n> d\n", [4, 5]),
        ("- a\n  > [!warning] b\n  > c\n- d\n", [2, 3]),
        ("> **Warning**\n> a\n", [1, 2]),
        ("> **Warning:**\n> a\n", [1, 2]),
        ("> **Warning** of the day\n> a\n", []),
        ("a\n> b\n", []),
        (":::warning\na\n:::\nb\n", [1, 2, 3]),
        ("::: danger STOP\n\na\n\n:::\n\nb\n", [1, 2, 3, 4, 5]),
        (":::{warning} Title\na\n:::\n", [1, 2, 3]),
        (":::warning[Title]\na\n:::\n", [1, 2, 3]),
        (":::tip\na\n:::\n", []),
        ("::::warning\n:::tip\na\n:::\nb\n::::\nc\n", [1, 2, 3, 4, 5, 6]),
        (":::tip\n:::warning\na\n:::\nb\n:::\n", [2, 3, 4]),
        (":::warning\na\n\nb\n", [1, 2]),
        (":::image type=warning:::\n\na\n\n:::\n", []),
        ("```\n:::warning\na\n:::\n```\n", []),
        ('!!! danger "Title"\n    a\n\n    b\n\nc\n', [1, 2, 3, 4]),
        ("??? warning\n    a\n\nb\n", [1, 2]),
        ("!!! danger\n    a\nb\n", [1, 2]),
        ("!!! note\n    a\n", []),
        ("<Pitfall>\n\na\n\n</Pitfall>\n\nb\n", [1, 2, 3, 4, 5]),
        ('<Warning title="x">\na\n</Warning>\n', [1, 2, 3]),
        ("<Note>\n\na\n\n</Note>\n", []),
        ("see <Warning> and a\n", []),
        ("---\ntitle: a\n---\n\n:::warning\nb\n:::\n", [5, 6, 7]),
    ],
)
def test_lines_of_callouts_and_containers(text, expected):
    assert [line for line in lines(text) if text.split("\n")[line - 1].strip()] == [
        line for line in expected if text.split("\n")[line - 1].strip()
    ]


LINES = """
> [!warning]
> > [!danger] a
> a
:::warning
::::danger
:::
::::
!!! danger
    a
<Pitfall>
</Pitfall>
- a
```
a
# a
""".splitlines()


@given(st.lists(st.sampled_from(LINES), max_size=20))
def test_no_line_is_outside_the_note(made):
    assert set(lines("\n".join(made))) <= set(range(1, len(made) + 1))
