"""A fact is what the places that state it say together, and goes with the last of them."""

import json
from datetime import date

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.records import BlockId, Category
from recalld.store.connection import execute, migrate, migrations
from recalld.store.facts import Wording, entity_key, together
from tests.recalld.store.building import block, change, fact

wordings = st.builds(
    Wording,
    text=st.text(min_size=1, max_size=8),
    category=st.sampled_from([None, "error", "tool"]),
    confidence=st.sampled_from([0.5, 0.8]),
    entities=st.lists(st.tuples(st.text(max_size=3), st.just("name")), max_size=3).map(tuple),
    relations=st.just(()),
    importance=st.sampled_from([0.3, 0.5, 0.8, 1.0]),
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße", "STRASSE"),
        ("Zoë", "Zoe\u0308"),
        ("Debian  12", "debian 12"),
        ("東京", "東京"),
        ("ＡＢＣ", "abc"),
        (" x ", "X"),
    ],
)
def test_spellings_of_one_name_are_one_entity(one, other):
    assert entity_key(one) == entity_key(other)


@given(st.lists(wordings, min_size=1, max_size=5), st.randoms())
def test_what_places_say_together_does_not_depend_on_their_order(said, random):
    shuffled = list(said)
    random.shuffle(shuffled)
    assert together(shuffled) == together(said)


@given(wordings)
def test_a_wording_is_stored_whole(wording):
    assert Wording.loads(wording.dumps()) == wording


def test_a_fact_in_five_notes_is_one_fact_with_five_sources(shelf):
    for number in range(5):
        shelf.put(f"{number}.md", block(f"{number}", "Alpha is up.", fact("Alpha is up.")))
    assert shelf.rows("SELECT count(*) FROM fact") == [(1,)]
    assert shelf.rows("SELECT count(*) FROM fact_source") == [(5,)]


def test_a_fact_goes_with_its_last_source(shelf):
    notes = [
        shelf.put(f"{n}.md", block(str(n), "Alpha is up.", fact("Alpha is up."))) for n in range(2)
    ]
    shelf.writers.notes.remove(notes[0], 1)
    assert shelf.rows("SELECT text FROM fact") == [("Alpha is up.",)]
    shelf.writers.notes.remove(notes[1], 1)
    assert shelf.rows("SELECT text FROM fact") == []


def test_the_surest_wording_is_shown_and_goes_with_its_place(shelf):
    shelf.put("a.md", block("a", "alpha is UP.", fact("alpha is UP.", confidence=0.5)))
    sure = fact("Alpha is up.", confidence=0.9, category=Category.ERROR)
    note = shelf.put("b.md", block("b", "Alpha is up.", sure))
    shown = "SELECT text, confidence, category FROM fact"
    assert shelf.rows(shown) == [("Alpha is up.", 0.9, "error")]
    shelf.writers.notes.remove(note, 1)
    assert shelf.rows(shown) == [("alpha is UP.", 0.5, "knowledge")]


def test_a_fact_matters_as_much_as_where_it_matters_most(shelf):
    shown = "SELECT importance FROM fact"
    notes = {
        value: shelf.put(
            f"{value}.md", block(str(value), "Alpha is up.", fact("Alpha is up.", importance=value))
        )
        for value in (0.5, 0.8, 0.3)
    }
    assert shelf.rows(shown) == [(0.8,)]
    for gone, left in ((0.8, 0.5), (0.5, 0.3)):
        shelf.writers.notes.remove(notes[gone], 1)
        assert shelf.rows(shown) == [(left,)]


def test_wordings_of_a_store_that_knew_no_importance_are_neutral(tmp_path):
    connection = apsw.Connection(str(tmp_path / "memory.db"))
    migrate(connection, migrations()[:10])
    execute(
        connection,
        "INSERT INTO fact_source (fact_id, statement_id, passage_id, line_from, line_to, wording)"
        " VALUES (1, 1, 1, 1, 1, ?)",
        (json.dumps(["Zoë läuft", "tool", 0.8, [["Zoë", "name"]], []], ensure_ascii=False),),
    )
    execute(connection, dict(migrations())[11])
    ((stored,),) = execute(connection, "SELECT wording FROM fact_source")
    connection.close()
    assert Wording.loads(stored) == Wording(
        text="Zoë läuft",
        category="tool",
        confidence=0.8,
        entities=(("Zoë", "name"),),
        relations=(),
        importance=0.5,
    )


def test_names_go_with_the_place_that_named_them(shelf):
    shelf.put("a.md", block("a", "alpha is up.", fact("alpha is up.", entities=["alpha"])))
    named = fact(
        "Alpha is up.", entities=["Alpha", "Anna"], relations=[("Anna", "runs", "the office")]
    )
    note = shelf.put("b.md", block("b", "Alpha is up.", named))
    keys = "SELECT key FROM entity ORDER BY key"
    assert shelf.rows(keys) == [("alpha",), ("anna",), ("the office",)]
    assert shelf.rows("SELECT count(*) FROM relation") == [(1,)]
    shelf.writers.notes.remove(note, 1)
    assert shelf.rows(keys) == [("alpha",)]
    assert shelf.rows("SELECT count(*) FROM relation") == [(0,)]
    assert shelf.rows("SELECT count(*) FROM mention") == [(1,)]


def test_an_entity_that_another_fact_names_stays(shelf):
    shelf.put("a.md", block("a", "Anna left.", fact("Anna left.", entities=["Anna"])))
    note = shelf.put("b.md", block("b", "Anna came.", fact("Anna came.", entities=["Anna"])))
    shelf.writers.notes.remove(note, 1)
    assert shelf.rows("SELECT key FROM entity") == [("anna",)]


def test_a_fact_that_is_stated_again_in_one_change_keeps_its_row(shelf):
    note = shelf.put("a.md", block("a", "Alpha is up.", fact("Alpha is up.")))
    before = shelf.rows("SELECT id FROM fact")
    (old,) = shelf.rows("SELECT id FROM block")[0]
    again = block("a", "Today: Alpha is up.", fact("Alpha is up."))
    shelf.writers.notes.apply(
        change(shelf.root, "a.md", again, note_id=note, removed=[BlockId(old)])
    )
    assert shelf.rows("SELECT id FROM fact") == before


def test_a_category_by_prototype_stays_until_a_rule_knows_better(shelf):
    shelf.put("a.md", block("a", "Alpha is up.", fact("Alpha is up.", category=None)))
    (fact_id,) = shelf.rows("SELECT id FROM fact")[0]
    shelf.writers.usage.categorise([(fact_id, Category.TOOL)])
    shelf.put("b.md", block("b", "Alpha is up.", fact("Alpha is up.", category=None)))
    assert shelf.rows("SELECT category, category_by FROM fact") == [("tool", "prototype")]
    ruled = fact("Alpha is up.", category=Category.ERROR)
    note = shelf.put("c.md", block("c", "Alpha is up.", ruled))
    assert shelf.rows("SELECT category, category_by FROM fact") == [("error", "rule")]
    shelf.writers.notes.remove(note, 1)
    assert shelf.rows("SELECT category, category_by FROM fact") == [("knowledge", "undecided")]


def test_a_fact_is_dated_by_the_newest_note_that_states_it(shelf):
    dated = "SELECT stated_on FROM fact"
    old = fact("Alpha is up.")
    shelf.put("a.md", block("a", "Alpha is up.", old), dated=date(2025, 1, 1))
    assert shelf.rows(dated) == [("2025-01-01",)]
    note = shelf.put("b.md", block("b", "Alpha is up.", old))
    assert shelf.rows(dated) == [("2026-05-28",)]
    shelf.writers.notes.remove(note, 1)
    assert shelf.rows(dated) == [("2025-01-01",)]
