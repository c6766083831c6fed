"""An entity is shown as most facts spell it, whatever came first and whatever has gone since."""

from __future__ import annotations

import pytest

from ingest.regraph import rebuild_graph
from recalld.store.connection import execute
from tests.growth import assert_costs_at_most
from tests.ingest.keeping import Vault

SHOWN = "SELECT key, name FROM entity ORDER BY key"
COUNTS = "SELECT key, spelling.name, facts FROM spelling JOIN entity ON entity.id = entity_id ORDER BY 1, 2"


@pytest.fixture
def vault(tmp_path):
    with Vault(tmp_path) as running:
        yield running


def write(vault: Vault, **notes: str) -> None:
    for name, text in notes.items():
        vault.write(f"{name}.md", text)
    vault.look()


def shown(vault: Vault) -> dict[str, str]:
    return dict(vault.rows(SHOWN))


@pytest.mark.parametrize(
    ("often", "once"),
    [("Café", "CAFÉ"), ("iPhone", "IPHONE"), ("Straße", "STRASSE"), ("Ｔｏｋｙｏ", "tokyo")],
)
def test_an_entity_is_shown_as_most_facts_have_it(vault, often, once):
    write(vault, a=f"We ate at [[{once}]] in May.")
    assert list(shown(vault).values()) == [once]
    write(vault, b=f"The [[{often}]] is closed.", c=f"We like the [[{often}]] a lot.")
    assert list(shown(vault).values()) == [often]
    write(vault, b="It is shut now.", c="We went home.")
    assert list(shown(vault).values()) == [once]


def test_among_equals_the_first_by_code_point_is_shown_whichever_came_first(vault):
    write(vault, a="We ate at [[Café]] in May.")
    write(vault, b="The [[CAFÉ]] is closed.")
    assert shown(vault) == {"café": "CAFÉ"}
    write(vault, a="We ate elsewhere in May.")
    write(vault, a="We ate at [[Café]] in May.")
    assert shown(vault) == {"café": "CAFÉ"}


def test_a_fact_in_several_notes_counts_once_and_an_edit_counts_anew(vault):
    write(vault, a="The [[GATE]] is shut.", b="The [[GATE]] is shut.", c="The [[Gate]] is open.")
    assert vault.rows(COUNTS) == [("gate", "GATE", 1), ("gate", "Gate", 1)]
    write(vault, c="The [[Gate]] is open.\n\nBo has the key of the [[Gate]].")
    assert shown(vault) == {"gate": "Gate"}
    write(vault, c="Nothing is here but dust.")
    assert vault.rows(COUNTS) == [("gate", "GATE", 1)]


def test_ends_of_relations_count_as_names(vault):
    write(vault, a="| Host | port |\n| --- | --- |\n| Alpha | `ssh` |\n")
    assert ("alpha", "Alpha", 1) in vault.rows(COUNTS)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE entity SET name = 'wrong'",
        "UPDATE entity SET kind = 'tag'",
        "UPDATE spelling SET facts = facts + 7",
        "DELETE FROM spelling",
        "INSERT INTO spelling SELECT id, 'wrong', 'name', 9 FROM entity",
        "UPDATE fact SET spelled = '[]'",
    ],
)
def test_a_rebuild_counts_anew_and_tells_what_was_wrong(vault, damage):
    write(vault, a="The [[GATE]] is shut.", b="The [[Gate]] is open.", c="Bo made the [[Gate]].")
    before = (shown(vault), vault.rows(COUNTS))
    assert rebuild_graph(vault.writes).changed == 0
    execute(vault.database.writer, damage)
    assert rebuild_graph(vault.writes).changed > 0
    assert (shown(vault), vault.rows(COUNTS)) == before
    assert rebuild_graph(vault.writes).changed == 0


@pytest.mark.slow
def test_one_more_fact_of_a_hub_costs_the_same_however_many_there_are(tmp_path):
    def written(number: int) -> Vault:
        vault = Vault(tmp_path / str(number)).__enter__()
        text = "\n".join(f"- Lamp {one} hangs in the [[Gate]]." for one in range(number))
        write(vault, a=text)
        return vault

    few, many = written(50), written(2000)
    count = iter(range(10_000))

    def add(vault: Vault) -> None:
        write(vault, z=f"Door {next(count)} closes the [[GATE]].")

    try:
        assert shown(many)["gate"] == "Gate"
        assert_costs_at_most(4, lambda: add(many), than=lambda: add(few))
    finally:
        few.__exit__(None, None, None)
        many.__exit__(None, None, None)
