"""A note is taken in once at a time, in steps when it is long, and not while it is being written."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.ingest.keeping import Vault, outcomes


@pytest.fixture
def vault(tmp_path) -> Iterator[Vault]:
    with Vault(tmp_path) as made:
        yield made


def test_emptied_note_is_waited_for_before_its_facts_go(vault):
    vault.write("a.md", "Pump one leaks oil.\n")
    vault.look()
    vault.write("a.md", "")
    assert outcomes(vault.look("a.md")) == {"a.md": "waiting"}
    assert vault.facts()
    vault.now += 6
    assert outcomes(vault.look("a.md")) == {"a.md": "taken"}
    assert vault.facts() == set()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_note_is_named_and_keeps_what_is_known(vault):
    path = vault.write("a.md", "Pump one leaks oil.\n")
    vault.look()
    path.chmod(0)
    vault.look("a.md")
    assert vault.keeper.report().unreadable[0][0] == "a.md"
    assert vault.facts()


def test_note_that_fails_every_time_keeps_no_other_out(vault):
    vault.writes.poison = "poison"
    for number in range(3):
        vault.write(f"{number}.md", f"Pump number{number} leaks oil.\n")
    poison = vault.write("poison.md", "This one is poison.\n")
    os.utime(poison, ns=(2**61, 2**61))  # the newest comes first
    with pytest.raises(ZeroDivisionError):
        vault.look()
    assert vault.facts() == set()
    with pytest.raises(ZeroDivisionError):
        vault.look()
    assert len(vault.facts()) == 3


LONG = "".join(f"Pump {n} leaks oil.\n\n" for n in range(700))


def test_another_note_has_its_turn_while_a_long_one_is_read(vault):
    vault.write("long.md", LONG)
    look = vault.keeper.look(frozenset({"long.md"}))
    assert next(look).outcome == "reading"
    vault.write("short.md", "烤箱在十点关闭。\n")
    assert outcomes(vault.look("short.md")) == {"short.md": "taken"}
    assert vault.facts() == {"烤箱在十点关闭。"}
    assert list(look)[-1].outcome == "taken"
    assert len(vault.facts()) == 701


def test_who_comes_while_a_long_note_is_read_looks_again_later(vault):
    vault.write("long.md", LONG)
    look = vault.keeper.look(frozenset({"long.md"}))
    next(look)
    vault.write("long.md", LONG + "Fan is loud.\n")
    assert outcomes(vault.look("long.md")) == {"long.md": "waiting"}
    assert list(look)[-1].outcome == "taken"
    vault.look("long.md")
    assert "Fan is loud." in vault.facts()


def test_a_long_note_that_goes_while_it_is_read_leaves_nothing(vault):
    vault.write("stays.md", "Fan is loud.\n")
    path = vault.write("long.md", LONG)
    look = vault.keeper.look(frozenset({"long.md"}))
    next(look)
    path.unlink()
    vault.look("long.md")
    assert list(look)[-1].outcome == "waiting"
    vault.look()
    assert vault.facts() == {"Fan is loud."}


def test_a_look_that_ends_in_a_pause_lets_the_next_one_begin(vault):
    vault.write("long.md", LONG)
    look = vault.keeper.look(frozenset({"long.md"}))
    next(look)
    look.close()
    assert vault.look("long.md")[-1].outcome == "taken"
