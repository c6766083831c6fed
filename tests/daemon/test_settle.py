from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from daemon.settle import Due, Settle

QUIET, LONGEST = 0.3, 3.0
NOTHING = Due(paths=frozenset())


def due(*paths: str) -> Due:
    return Due(paths=frozenset(paths))


def test_nothing_waits_at_first() -> None:
    settle = Settle()
    assert (settle.due(0), settle.next_due(0), settle.oldest()) == (NOTHING, None, None)
    assert settle.due(0).is_nothing
    assert not Due(paths=None).is_nothing


def test_a_path_is_due_once_after_the_quiet_delay() -> None:
    settle = Settle()
    settle.hint("a.md", 10.0)
    assert (settle.next_due(10.0), settle.oldest()) == (10.3, 10.0)
    assert settle.due(10.29) == NOTHING
    assert settle.due(10.3) == due("a.md")
    assert (settle.due(99), settle.next_due(99), settle.oldest()) == (NOTHING, None, None)


def test_hints_put_a_path_off_but_not_another_one() -> None:
    settle = Settle()
    settle.hint("a.md", 0.0)
    settle.hint("b.md", 0.0)
    settle.hint("a.md", 0.2)
    assert settle.due(0.3) == due("b.md")
    assert settle.due(0.5) == due("a.md")


def test_steady_saving_is_due_after_the_longest_wait() -> None:
    settle = Settle()
    seen = []
    for step in range(100):
        now = step * 0.2
        settle.hint("a.md", now)
        if not settle.due(now).is_nothing:
            seen.append(now)
    assert [round(b - a, 1) for a, b in zip([0.0, *seen], seen, strict=False)][:3] == [
        3.0,
        3.2,
        3.2,
    ]


def test_what_was_looked_at_in_vain_is_as_old_as_it_was_and_settles_anew() -> None:
    settle = Settle()
    settle.hint("a.md", 20.0, since=4.0)
    assert (settle.next_due(20.0), settle.oldest()) == (20.3, 4.0)
    settle.hint("a.md", 20.2)
    assert (settle.next_due(20.2), settle.oldest()) == (20.5, 4.0)
    settle.overflow(20.4)
    assert (settle.next_due(20.4), settle.oldest()) == (20.7, 4.0)
    settle.hint("b.md", 20.5, since=2.0)
    assert settle.oldest() == 2.0
    assert settle.due(20.8) == Due(paths=None)
    assert settle.oldest() is None


def test_both_ends_of_a_rename_are_due_together() -> None:
    settle = Settle()
    settle.hint_together(("a.md", "b.md"), 0.0)
    settle.hint_together(("b.md", "c.md"), 0.1)
    settle.hint("c.md", 0.2)
    assert settle.due(0.49) == NOTHING
    assert settle.due(0.5) == due("a.md", "b.md", "c.md")


def test_too_many_paths_become_everything() -> None:
    settle = Settle(max_paths=10)
    for number in range(12):
        settle.hint(str(number), 1.0 + number / 100)
    assert settle.oldest() == 1.0
    assert settle.due(1.3) == NOTHING
    assert settle.due(1.5) == Due(paths=None)
    assert settle.due(9.0) == NOTHING
    settle.hint("a.md", 10.0)
    assert settle.due(11.0) == due("a.md")


def test_overflow_is_everything_once_quiet_or_after_the_longest_wait() -> None:
    settle = Settle()
    settle.hint("a.md", 0.0)
    settle.overflow(1.0)
    assert settle.oldest() == 0.0
    for step in range(20):
        settle.hint("a.md", 1.0 + step / 10)
    assert settle.due(2.95) == NOTHING
    assert settle.due(3.0) == Due(paths=None)


def test_now_is_the_earliest_next_due() -> None:
    settle = Settle()
    settle.hint("a.md", 0.0)
    assert settle.next_due(50.0) == 50.0


_EVENTS = st.lists(
    st.tuples(
        st.floats(0, 1),
        st.one_of(
            st.frozensets(st.sampled_from("abcdefgh"), min_size=1, max_size=3),
            st.just("overflow"),
        ),
    ),
    max_size=60,
)


@given(_EVENTS, st.integers(2, 8))
def test_every_hint_is_scanned_later_than_it_but_not_too_late(
    events: list[tuple[float, frozenset[str] | str]], max_paths: int
) -> None:
    settle = Settle(timedelta(seconds=QUIET), timedelta(seconds=LONGEST), max_paths)
    waiting: dict[str, float] = {}
    last: dict[str, float] = {}
    now = 0.0

    def collect(now: float) -> None:
        found = settle.due(now)
        paths = set(waiting) if found.paths is None else found.paths
        assert paths <= set(waiting)
        for path in paths:
            if found.paths is not None:
                # Not before it was quiet, unless something of its group has waited long.
                assert now >= last[path] + QUIET or now >= min(waiting.values()) + LONGEST - 1e-9
            del waiting[path]
        for path, first in waiting.items():
            assert now < first + LONGEST + 1e-9, path
        assert settle.oldest() == min(waiting.values(), default=None) or "overflow" in waiting

    for pause, what in events:
        end = now + pause
        while (instant := settle.next_due(now)) is not None and instant <= end:
            now = instant
            collect(now)
        now = end
        if isinstance(what, str):
            settle.overflow(now)
            waiting.setdefault("overflow", now)
            last["overflow"] = now
        else:
            settle.hint_together(what, now)
            for path in what:
                waiting.setdefault(path, now)
                last[path] = now
    while (instant := settle.next_due(now)) is not None:
        now = instant
        collect(now)
    assert waiting == {}
