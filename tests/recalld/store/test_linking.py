"""Which note a link means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.store.linking import folded, name_key, resolve

names = st.sampled_from(["a", "b", "Über", "笔记", "c d"])
paths = st.lists(names, min_size=1, max_size=3).map(lambda parts: "/".join(parts) + ".md")


@pytest.mark.parametrize(
    ("target", "from_path", "candidates", "path", "ambiguous"),
    [
        ("b", "a.md", ["b.md"], "b.md", False),
        ("b", "a.md", [], None, False),
        ("B.md", "a.md", ["b.md"], "b.md", False),
        ("ÜBER UNS", "a.md", ["x/u\u0308ber uns.md"], "x/u\u0308ber uns.md", False),
        ("笔记", "a.md", ["深/笔记.md"], "深/笔记.md", False),
        # Beside the linking note first, then the shortest path.
        ("b", "x/a.md", ["b.md", "x/b.md"], "x/b.md", True),
        ("b", "y/a.md", ["x/b.md", "b.md"], "b.md", True),
        ("b", "y/a.md", ["x/b.md", "z/b.md"], "x/b.md", True),
        # A path says which.
        ("x/b", "y/a.md", ["x/b.md", "z/b.md"], "x/b.md", False),
        ("x/b", "y/a.md", ["x/b.md", "z/x/b.md"], "x/b.md", False),
        ("x/b", "y/a.md", ["z/x/b.md"], "z/x/b.md", False),
        ("../b.md", "x/a.md", ["b.md", "x/b.md"], "b.md", False),
        ("./b.md", "x/a.md", ["b.md", "x/b.md"], "x/b.md", False),
        ("/b", "x/a.md", ["b.md"], "b.md", False),
        # The note itself.
        ("", "x/a.md", [], "x/a.md", False),
        ("  ", "x/a.md", ["b.md"], "x/a.md", False),
        # A name that merely ends the same is another one.
        ("b", "a.md", ["ab.md"], None, False),
    ],
)
def test_a_link_means(target, from_path, candidates, path, ambiguous):
    found = resolve(target, from_path, candidates)
    assert (found.path, found.ambiguous) == (path, ambiguous)


@given(paths, paths, st.lists(paths, unique=True, max_size=6), st.randoms())
def test_the_choice_does_not_depend_on_the_order_of_candidates(target, path, candidates, random):
    shuffled = list(candidates)
    random.shuffle(shuffled)
    assert resolve(target, path, shuffled) == resolve(target, path, candidates)


@given(paths, paths, st.lists(paths, unique=True, max_size=6))
def test_what_is_chosen_is_a_candidate_with_the_targets_name(target, path, candidates):
    found = resolve(target, path, candidates).path
    if found is not None:
        assert found in candidates
        assert name_key(found) == name_key(target)


@given(paths, st.lists(paths, unique=True, max_size=6))
def test_a_full_path_always_finds_its_note(path, candidates):
    if path.count("/"):
        assert resolve(path, "q.md", [*candidates, path]).path == path


@given(st.text(max_size=20))
def test_folding_twice_is_folding_once_but_for_endings(text):
    assert folded(folded(text) + ".md") == folded(text).strip() or folded(text).endswith(".md")
