from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.store.globs import path_pattern
from tests.growth import assert_grows_with_size

names = st.text(st.sampled_from("ab.- 笔ü[]*?!"), min_size=1, max_size=6).filter(
    lambda name: name.strip("/. ") == name and "/" not in name
)
plain = st.text(st.sampled_from("abc笔ü"), min_size=1, max_size=5)


def matches(glob, path):
    return path_pattern(glob).fullmatch(path) is not None


@given(st.lists(plain, min_size=1, max_size=4).map("/".join))
def test_a_path_matches_itself_its_folders_and_everything(path):
    assert matches(path, path)
    for end in range(1, path.count("/") + 1):
        assert matches("/".join(path.split("/")[:end]), path)
    assert matches("**", path)
    assert matches("/".join("*" * (path.count("/") + 1)), path)


@given(st.lists(plain, min_size=2, max_size=4).map("/".join))
def test_one_star_stays_within_a_name(path):
    assert not matches("*", path)
    assert matches("**/*", path)


@given(st.text(max_size=12), st.lists(names, min_size=1, max_size=3).map("/".join))
def test_any_text_is_a_glob(glob, path):
    assert matches(glob, path) in (True, False)


@pytest.mark.parametrize("glob", ["a[!b]c", "a[^b]c", "a[.-0]c", "a?c", "a*c"])
def test_no_wildcard_within_a_name_crosses_folders(glob):
    assert matches(glob, "a.c")
    assert not matches(glob, "a/c")


def _fits(glob: str, path: str) -> bool:
    """What the wildcards mean, tried in every way."""
    if not glob:
        return not path
    if glob.startswith("**/"):
        rests = (path[at + 1 :] for at, mark in enumerate(path) if mark == "/")
        return _fits(glob[3:], path) or any(_fits(glob[3:], rest) for rest in rests)
    if glob.startswith("**"):
        return any(_fits(glob[2:], path[at:]) for at in range(len(path) + 1))
    if glob[0] == "*":
        name = path.split("/", maxsplit=1)[0]
        return any(_fits(glob[1:], path[at:]) for at in range(len(name) + 1))
    if not path:
        return False
    return (glob[0] == path[0] or (glob[0] == "?" and path[0] != "/")) and _fits(glob[1:], path[1:])


wild = st.lists(
    st.sampled_from(["**/", "**", "*", "?", "a", "b", "/", "a/b"]), min_size=1, max_size=7
)


@given(wild.map("".join), st.text(st.sampled_from("ab/"), min_size=1, max_size=10))
def test_wildcards_mean_what_trying_every_way_gives(glob, path):
    glob, path = glob.removeprefix("./").strip("/"), path.strip("/")
    if any(mark in glob for mark in "*?"):
        assert matches(glob, path) == _fits(glob, path)


@pytest.mark.parametrize("folder", ["a/aa/", "aaaaa"])
@pytest.mark.parametrize("piece", ["**/", "**/a*", "*a", "**a*a?"])
def test_time_grows_with_the_path_and_not_with_a_power_of_it(piece, folder):
    pattern = path_pattern(piece * 30 + "b")
    assert_grows_with_size(
        pattern.fullmatch, lambda size: folder * size + "c", small=50, times=4, at_most=30.0
    )
