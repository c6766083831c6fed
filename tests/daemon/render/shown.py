"""What pages are made from in tests, and whether what came out could steer a terminal."""

from __future__ import annotations

from hypothesis import strategies as st

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=20,
)


def text(lines) -> str:
    return "\n".join("".join(span.text for span in line) for line in lines)


def steers(shown: str) -> bool:
    return any(
        (ord(each) < 32 and each not in "\n\t") or 127 <= ord(each) < 160 or each in "\u202e\u2066"
        for each in shown
    )
