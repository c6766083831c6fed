from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from ingest.disk.records import Scope, is_valid_name, parents_of, printable

_PATHS = st.lists(st.sampled_from(["a", "b", "ab", "日"]), min_size=1, max_size=5).map("/".join)


def test_parents_are_the_folders_above_nearest_first() -> None:
    assert list(parents_of("a/b/c.md")) == ["a/b", "a"]
    assert list(parents_of("a.md")) == []


def test_a_scope_with_the_root_is_the_whole_root() -> None:
    assert Scope.of(["", "a"]) == Scope()
    assert Scope().covers("anything/at/all.md")
    assert not Scope().names("a.md")
    assert not Scope.of([]).covers("a.md")


@given(st.lists(_PATHS), _PATHS)
def test_a_scope_covers_its_prefixes_and_what_is_below(prefixes: list[str], path: str) -> None:
    scope = Scope.of(prefixes)
    expected = any(path == p or path.startswith(p + "/") for p in prefixes)
    assert scope.covers(path) == expected
    assert scope.names(path) == (path in prefixes)


@given(st.binary(min_size=1, max_size=20).filter(lambda raw: b"\0" not in raw))
def test_any_file_name_has_a_printable_form(raw: bytes) -> None:
    name = os.fsdecode(raw)
    shown = printable(name)
    assert shown.encode().decode() == shown
    assert shown.isprintable()
    try:
        raw.decode()
    except UnicodeDecodeError:
        assert not is_valid_name(name)
    else:
        assert is_valid_name(name)


def test_printable_leaves_words_alone_and_disarms_the_rest() -> None:
    assert printable("日記/Café 😀.md") == "日記/Café 😀.md"
    assert printable("a\n\x1b[31m\u202eb\udcff") == "a\\n\\x1b[31m\\u202eb\\xff"
