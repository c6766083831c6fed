"""Who is woken by what, and that every write counts."""

from __future__ import annotations

import pytest

from daemon.waking import Waking


class Sleeper:
    def __init__(self, name: str, woken: list[str]) -> None:
        self._name, self._woken = name, woken

    def wake(self) -> None:
        self._woken.append(self._name)


@pytest.mark.parametrize(
    ("written", "woken"),
    [
        ("notes", ["embed", "extract", "agree", "measure"]),
        ("deep_facts", ["embed", "agree", "measure"]),
        ("marks", ["extract", "agree", "measure"]),
        ("vectors", ["embed", "measure"]),
        ("count", []),
    ],
)
def test_each_kind_of_write_wakes_whom_it_concerns(written, woken):
    told: list[str] = []
    waking = Waking()
    getattr(waking, written)()
    assert told == [], "nobody is known yet"
    names = ("embed", "extract", "agree", "measure")
    waking.know(**{name: Sleeper(name, told) for name in names})
    getattr(waking, written)()
    assert told == woken
    assert waking.generation() == 2


def test_threads_that_there_are_not_are_left_out():
    told: list[str] = []
    waking = Waking()
    waking.know(embed=None, extract=None, agree=Sleeper("agree", told))
    waking.notes()
    assert told == ["agree"]
