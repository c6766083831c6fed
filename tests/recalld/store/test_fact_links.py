"""Links between facts that notes say or names make: they come, stay and go with their grounds, in any order."""

from __future__ import annotations

import pytest

from ingest.regraph import rebuild_graph
from recalld.records import FactId
from recalld.store.conflicts import links_of_fact
from recalld.store.connection import execute
from recalld.store.fact_links import MOST_LINKING, MOST_NAMING
from recalld.store.graph import facts_linked
from tests.ingest.keeping import Vault

FULL = "The disk of the old backup server was full."
STOPPED = "Consequently, the nightly backup of the office stopped."


@pytest.fixture
def vault(tmp_path):
    with Vault(tmp_path) as running:
        running.write("stays.md", "This note stays as it is.\n")
        yield running


def links(vault: Vault, *kinds: str) -> set[tuple[str, str, str, str]]:
    """(from, kind, to, reason); a rebuild finds the same."""
    assert rebuild_graph(vault.writes).changed == 0
    rows = vault.rows(
        "SELECT a.text, kind, b.text, reason FROM fact_link JOIN fact AS a ON a.id = from_fact"
        " JOIN fact AS b ON b.id = to_fact"
    )
    return {row for row in rows if not kinds or row[1] in kinds}


def pairs(vault: Vault) -> set[tuple[frozenset[str], str]]:
    return {(frozenset((one, other)), reason) for one, _, other, reason in links(vault, "related")}


CAUSED = {(STOPPED, "caused_by", FULL, "says_result")}


def test_a_link_that_two_notes_say_goes_with_the_second(vault):
    for path in ("a.md", "b.md"):
        vault.write(path, f"{FULL}\n\n{STOPPED}\n")
    vault.look()
    assert links(vault) == CAUSED
    (vault.path / "a.md").unlink()
    vault.look()
    assert links(vault) == CAUSED
    vault.write("b.md", f"{STOPPED}\n\n{FULL}\n")
    vault.look()
    assert vault.facts() >= {FULL, STOPPED}
    assert links(vault) == set()


def test_a_link_goes_with_the_note_that_says_it_though_another_states_both(vault):
    vault.write("a.md", f"{FULL}\n\n{STOPPED}\n")
    vault.write("b.md", f"{STOPPED}\n\n{FULL}\n")
    vault.look()
    assert links(vault) == CAUSED
    (vault.path / "a.md").unlink()
    vault.look()
    assert vault.facts() >= {FULL, STOPPED}
    assert links(vault) == set()


def test_a_link_goes_when_something_comes_between_and_comes_back_when_it_goes(vault):
    vault.write("a.md", f"{FULL}\n\n{STOPPED}\n")
    vault.look()
    (kept,) = vault.rows("SELECT id FROM fact WHERE text = ?", STOPPED)
    vault.write("a.md", f"{FULL}\n\n```sh\ndf -h\n```\n\n{STOPPED}\n")
    vault.look()
    assert links(vault) == set()
    assert vault.rows("SELECT id FROM fact WHERE text = ?", STOPPED) == [kept]
    vault.write("a.md", f"{FULL}\n\n{STOPPED}\n")
    vault.look()
    assert links(vault) == CAUSED


def test_a_note_says_a_link_only_while_it_states_both_facts(vault):
    """As when a model's facts take the place of a block's, while another note states the same."""
    vault.write("a.md", f"{FULL}\n\n{STOPPED}\n")
    vault.write("b.md", f"{FULL}\n\nAll is well again.\n\n{STOPPED}\n")
    vault.look()
    assert links(vault) == CAUSED
    in_a = (
        "fact_id = (SELECT id FROM fact WHERE text = ?) AND passage_id IN (SELECT passage.id FROM"
        " passage JOIN note ON note.id = note_id WHERE path = 'a.md')"
    )
    execute(vault.database.writer, f"DELETE FROM fact_source WHERE {in_a}", (FULL,))
    assert rebuild_graph(vault.writes).changed == 1
    assert links(vault) == set()


def test_steps_are_linked_anew_when_one_comes_between(vault):
    vault.write("a.md", "## Steps\n\n1. Stop the old server.\n2. Start the new server.\n")
    vault.look()
    assert links(vault) == {
        ("Start the new server.", "temporal", "Stop the old server.", "next_step")
    }
    vault.write(
        "a.md",
        "## Steps\n\n1. Stop the old server.\n2. Copy the data over.\n3. Start the new server.\n",
    )
    vault.look()
    assert links(vault) == {
        ("Copy the data over.", "temporal", "Stop the old server.", "next_step"),
        ("Start the new server.", "temporal", "Copy the data over.", "next_step"),
    }


ONE = "The [[Old Mill]] has a new wheel."
OTHER = "We met the miller at the [[Old Mill]]."


def test_facts_of_two_notes_that_link_to_one_thing_are_related(vault):
    vault.write("a.md", f"{ONE}\n")
    vault.write("b.md", f"{OTHER}\n")
    vault.look()
    expected = {(frozenset((ONE, OTHER)), "same_link")}
    plain = {
        (frozenset(text.replace("[[", "").replace("]]", "") for text in pair), reason)
        for pair, reason in expected
    }
    assert pairs(vault) == plain
    vault.write("b.md", "We met the miller elsewhere.\n")
    vault.look()
    assert pairs(vault) == set()
    vault.write("b.md", f"{OTHER}\n")
    vault.look()
    assert pairs(vault) == plain


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("`git-switch` came with `git 2.23`.", "Use `git-switch` from `git 2.23` on."),
        ("De firma Van Dam kent PostgreSQL.", "Al jaren draait bij Van Dam ook PostgreSQL."),
        ("「東京駅」は「丸の内」にあります。", "昨日「丸の内」と「東京駅」で会いました。"),
        ("《红楼梦》和《西游记》都是小说。", "我昨天读完了《西游记》和《红楼梦》。"),
    ],
)
def test_facts_of_two_notes_that_name_the_same_two_things_are_related(vault, one, other):
    vault.write("a.md", f"{one}\n")
    vault.write("b.md", f"{other}\n")
    vault.look()
    assert pairs(vault) == {(frozenset((one, other)), "same_names")}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # One thing that neither links to, and words that are no things.
        ("The port of `db-one` is 5432.", "We restarted `db-one` on Monday."),
        ("The box has a `width` and a `height`.", "Set `width` and `height` of the frame."),
        # A day is no thing, and the same field says the same of each note.
        ("We met on [[2026-03-04]] in Ghent.", "The mill burnt down on [[2026-03-04]]."),
        ("---\nauthor: '[[Kevin Kelly]]'\n---\n", "---\nauthor: '[[Kevin Kelly]]'\n---\n"),
    ],
)
def test_facts_that_share_less_are_not_related(vault, one, other):
    vault.write("a.md", f"{one}\n")
    vault.write("b.md", f"{other}\n")
    vault.look()
    assert len(vault.facts()) >= 2
    assert pairs(vault) == set()


def test_facts_of_one_note_are_not_related(vault):
    vault.write("a.md", f"{ONE}\n\n{OTHER}\n")
    vault.look()
    assert pairs(vault) == set()


def test_a_thing_that_many_facts_link_to_relates_none_until_it_is_rarer(vault):
    """The facts that lose and regain a link are in notes that nobody touched."""
    for number in range(MOST_LINKING):
        vault.write(f"{number}.md", f"The [[Old Mill]] has wheel number {number}.\n")
    vault.look()
    assert len(pairs(vault)) == MOST_LINKING * (MOST_LINKING - 1) // 2
    vault.write("more.md", "Nobody lives at the [[Old Mill]].\n")
    vault.look()
    assert pairs(vault) == set()
    (vault.path / "more.md").unlink()
    vault.look()
    assert len(pairs(vault)) == MOST_LINKING * (MOST_LINKING - 1) // 2


def test_links_by_names_are_bounded_by_how_many_facts_name_a_thing(vault):
    for number in range(MOST_NAMING + 3):
        vault.write(f"{number}.md", f"Server {number} has `disk-one` and `disk-two`.\n")
        vault.look()
        named = number + 1
        among = named * (named - 1) // 2 if named <= MOST_NAMING else 0
        assert len(pairs(vault)) == among


def test_a_note_that_names_a_thing_many_times_at_once_relates_nothing_by_it(vault):
    vault.write("a.md", f"{ONE}\n")
    vault.write("b.md", f"{OTHER}\n")
    vault.look()
    assert len(pairs(vault)) == 1
    vault.write("many.md", "\n\n".join(f"Room {n} of the [[Old Mill]] is dry." for n in range(30)))
    vault.look()
    assert pairs(vault) == set()
    (vault.path / "many.md").unlink()
    vault.look()
    assert len(pairs(vault)) == 1


def test_what_relates_two_facts_is_shown_where_nothing_else_links_them(vault):
    vault.write("a.md", f"{ONE}\n")
    vault.write("b.md", f"{OTHER}\n")
    vault.look()
    (link,) = vault.rows("SELECT from_fact, to_fact FROM fact_link")

    def shown() -> list[list[str]]:
        with vault.database.reader() as connection:
            one = [row.kind for row in links_of_fact(connection, FactId(link[0]))]
            return [one, [row[2] for row in facts_linked(connection, [FactId(link[1])])]]

    assert shown() == [["related"], ["related"]]
    execute(
        vault.database.writer,
        "INSERT INTO fact_link VALUES (?, ?, 'extends', 0.6, 'llm', 'says_more')",
        (link[1], link[0]),
    )
    assert shown() == [["extends"], ["extends"]]


def test_comparing_all_again_leaves_what_notes_say(vault):
    vault.write("a.md", f"{FULL}\n\n{STOPPED}\n")
    vault.look()
    vault.writes.call(lambda writers: writers.agreement.compare_all_again())
    assert links(vault) == CAUSED
