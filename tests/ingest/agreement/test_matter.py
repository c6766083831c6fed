import tomllib
from datetime import date
from pathlib import Path

import pytest

from ingest.agreement.links import links_between
from ingest.plan import uid_of
from recalld.records import Category, DateInterval, FactId, NoteId
from recalld.store.agreement import Comparable, Place

LANGUAGES = tomllib.loads((Path(__file__).parent / "placed_cases.toml").read_text("utf-8"))
PLACED = [
    (kind, *pair) for kinds in LANGUAGES.values() for kind, pairs in kinds.items() for pair in pairs
]
LEAST_FOUND = 0.8
DAYS = (date(2026, 1, 10), date(2026, 6, 10))


def stated(number, text, *places, day=None, happened=None, entities=()):
    """A fact in these (note, title, headings)."""
    return Comparable(
        fact_id=FactId(number),
        uid=uid_of(text, happened),
        text=text,
        category=Category.KNOWLEDGE,
        happened=happened,
        stated=day,
        entities=entities,
        relations=(),
        heading_path=places[0][2] or (places[0][1],),
        places=frozenset(Place(NoteId(note), title, path) for note, title, path in places),
    )


def in_two_notes(first_title, older, second_title, newer):
    facts = []
    for number, (title, text) in enumerate(((first_title, older), (second_title, newer)), 1):
        day = DAYS[number - 1]
        where = (number, day.isoformat() if title == "day" else title, ())
        facts.append(stated(number, text, where, day=day))
    return facts


def kinds(one, other):
    return {link.kind for link in links_between(one, other, None, "supersede")}


def in_one_note(older, newer, *, above=((), ())):
    return [
        stated(number, text, (1, "Note", path), day=DAYS[0])
        for number, (text, path) in enumerate(zip((older, newer), above, strict=True), 1)
    ]


def test_no_two_things_are_at_odds():
    """Not one: a false contradiction hides a right fact behind a wrong one."""
    for kind, *pair in PLACED:
        if kind == "independent":
            assert not kinds(*in_two_notes(*pair)) & {"contradicts", "similar", "extends"}, pair


def test_updates_of_one_thing_are_found_across_notes(capsys):
    asked = [pair for kind, *pair in PLACED if kind == "contradicts"]
    found = [pair for pair in asked if kinds(*in_two_notes(*pair)) == {"contradicts", "supersedes"}]
    with capsys.disabled():
        print(f"\nin two notes: {len(found)}/{len(asked)} updates found")  # noqa: T201 - the figures are what this test is for
    assert len(found) >= LEAST_FOUND * len(asked)


def test_newer_statement_supersedes_whatever_day_it_names():
    one, other = (
        stated(number, f"The deadline of Apollo is {day} May 2026.", (number, "Plan", ()),
               day=DAYS[number - 1],
               happened=DateInterval(first=date(2026, 5, day), last=date(2026, 5, day)))
        for number, day in ((1, 10), (2, 3))
    )  # fmt: skip
    links = links_between(one, other, None, "supersede")
    assert [(link.from_fact, link.to_fact) for link in links if link.kind == "supersedes"] == [
        (2, 1)
    ]


def test_what_is_only_described_is_at_odds_and_hides_nothing():
    for kind, *pair in PLACED:
        if kind == "likely":
            assert kinds(*in_two_notes(*pair)) == {"contradicts"}, pair


def test_word_of_change_lets_what_is_described_supersede():
    facts = in_two_notes(
        "Infra",
        "The production database runs on db1.",
        "Plan",
        "The production database now runs on db2.",
    )
    assert kinds(*facts) == {"contradicts", "supersedes"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Start with doubt.", "Start with fear."),
        ("Olive oil (2 tablespoons)", "Olive oil (1 tablespoon)"),
        ("(#101 by @ana)", "(#102 by @ana)"),
        ("The docs live beside the code. › It should be versioned.", "The docs live beside the code. › Update it with the code."),
        ("De documentatie staat bij de code. › Ze heeft versies.", "De documentatie staat bij de code."),
        ("文档应该和代码放在一起。 › 应该有版本。", "文档应该和代码放在一起。 › 和代码一起更新。"),
        ("The bus leaves at 9:00.", "The bus leaves at 10:00."),
        ("链接前后带空格", "链接前后不带空格"),
        ("Leading slash on the path.", "No leading slash on the path."),
        ("Die Miete ist 900 Euro.", "Die Miete ist 950 Euro."),
        ("デフォルトは `1` です。", "デフォルトは `20` です。"),
    ],
)  # fmt: skip
def test_what_one_note_says_stands_side_by_side(one, other):
    assert "contradicts" not in kinds(*in_one_note(one, other))


def test_word_of_change_and_denial_of_a_name_count_inside_one_note():
    assert "contradicts" in kinds(*in_one_note("The CI runs on Jenkins.", "The CI moved to Drone."))
    assert "contradicts" in kinds(*in_one_note("Ana likes tea.", "Ana does not like tea."))


def test_days_of_one_diary_note_are_two_times():
    facts = in_one_note(
        "The rent is 900 euros.", "The rent is 950 euros.", above=(("2026-01-01",), ("2026-06-01",))
    )
    assert "contradicts" in kinds(*facts)


def test_heading_that_two_titles_have_is_no_common_matter():
    facts = [
        stated(number, text, (number, title, (title, "Infra")), day=DAYS[number - 1])
        for number, title, text in (
            (1, "Apollo", "The database runs on Postgres."),
            (2, "Gemini", "The database runs on MySQL."),
        )
    ]
    assert kinds(*facts) == set()


def test_titles_that_differ_in_their_day_are_one_matter():
    facts = in_two_notes(
        "Apollo 2026-01-10", "The port is 5432.", "Apollo 2026-06-10", "The port is 5433."
    )
    assert kinds(*facts) == {"contradicts", "supersedes"}


def test_one_of_several_places_in_common_is_enough():
    one = stated(1, "The port is 5432.", (1, "Draft", ()), (2, "Apollo", ()), day=DAYS[0])
    other = stated(2, "The port is 5433.", (3, "Apollo", ()), day=DAYS[1])
    assert kinds(one, other) == {"contradicts", "supersedes"}
