import tempfile
from collections import Counter
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.agreement.links import keys_of, links_between
from ingest.agreement.stage import AgreeingStage
from ingest.plan import uid_of
from recalld.records import Category, DateInterval, FactId, NoteId
from recalld.store.agreement import Comparable, Place, Resolution
from recalld.store.connection import execute
from tests.cases.test_equals_rebuild import QUICK_DISK, HereWrites, Store
from tests.growth import assert_costs_at_most
from tests.ingest.agreement.judges import Memory
from tests.ingest.agreement.test_relation import PAIRS, TEXTS, is_right

JANUARY, JUNE = date(2026, 1, 10), date(2026, 6, 10)
OLD, NEW = "The production database runs on db1.", "The production database runs on db2."
# Below what the rules reach alone: facts with too few words in common don't find each other.
LEAST_RIGHT = 0.9


def fact(text, number=1, **fields):
    found = {
        "fact_id": FactId(number),
        "uid": uid_of(text, fields.get("happened")),
        "text": text,
        "category": Category.KNOWLEDGE,
        "happened": None,
        "stated": None,
        "entities": (),
        "relations": (),
        "heading_path": (),
    }
    found |= fields
    place = Place(NoteId(number), "", found["heading_path"])
    return Comparable(**({"places": frozenset({place})} | found))


def kinds(one, other, word=None, policy="supersede"):
    """The edges; for a contradiction, which has no direction, its name alone."""
    return {
        (link.kind,) if link.kind == "contradicts" else (link.kind, link.from_fact, link.to_fact)
        for link in links_between(one, other, word, policy)
    }


old, new = fact(OLD, 1, stated=JANUARY), fact(NEW, 2, stated=JUNE)


def test_newer_by_its_own_date_supersedes():
    assert kinds(old, new) == {("contradicts",), ("supersedes", 2, 1)}


def test_what_happened_decides_before_when_it_was_told():
    happened = DateInterval(first=date(2025, 1, 1), last=date(2025, 1, 1))
    before = fact(NEW, 2, stated=JUNE, happened=happened)
    after = fact(OLD, 1, stated=JANUARY, happened=DateInterval(first=JANUARY, last=JANUARY))
    found = kinds(before, after)
    assert ("supersedes", 2, 1) not in found


@pytest.mark.parametrize(("first", "second"), [(None, None), (JUNE, JUNE), (None, JUNE)])
def test_without_dates_or_on_one_day_nothing_supersedes(first, second):
    assert kinds(fact(OLD, 1, stated=first), fact(NEW, 2, stated=second)) == {("contradicts",)}


@pytest.mark.parametrize("policy", ["keep_both", "review"])
def test_other_policies_let_both_stand(policy):
    assert kinds(old, new, policy=policy) == {("contradicts",)}


def test_error_keeps_its_place_and_may_take_another_fact_s():
    error = fact(OLD, 1, stated=JANUARY, category=Category.ERROR)
    assert kinds(error, new) == {("contradicts",)}
    later = fact(OLD, 1, stated=date(2026, 9, 1), category=Category.ERROR)
    assert kinds(later, new) == {("contradicts",), ("supersedes", 1, 2)}


def test_word_of_a_user_comes_before_dates_policy_and_errors():
    error = fact(OLD, 1, stated=JANUARY, category=Category.ERROR)
    for one, policy in ((old, "supersede"), (old, "review"), (error, "keep_both")):
        wins = Resolution(one=one.uid, other=new.uid, verdict="supersedes")
        assert kinds(one, new, wins, policy) == {("contradicts",), ("supersedes", 1, 2)}
        both = Resolution(one=new.uid, other=one.uid, verdict="both")
        assert kinds(one, new, both, policy) == {("contradicts",)}


def test_word_of_a_user_holds_between_facts_that_rules_keep_apart():
    tea = fact("Ana likes tea.", 3)
    word = Resolution(one=tea.uid, other=old.uid, verdict="supersedes")
    assert {link.origin for link in links_between(old, tea, word, "supersede")} == {"user"}


def test_same_words_under_other_headings_are_two_facts():
    port = "Default shell of the user: zsh"
    leaning = [
        fact(port, number, uid=uid_of(port, None, (name,)), heading_path=(name,))
        for number, name in ((1, "alpha"), (2, "beta"))
    ]
    assert kinds(*leaning) == set()
    days = [
        fact(port, number, uid=uid_of(port, None, (name,)), heading_path=(name,))
        for number, name in ((1, "2026-01-01"), (2, "2026-01-02"))
    ]
    assert kinds(*days) == {("similar", 1, 2)} or kinds(*days) == {("similar", 2, 1)}


def test_longer_fact_extends_the_shorter():
    longer = fact("The production database runs on db1 with Postgres.", 3)
    assert kinds(fact(OLD, 1), longer) == {("extends", 3, 1)}


@given(
    st.sampled_from(TEXTS),
    st.sampled_from(TEXTS),
    st.sampled_from((None, JANUARY, JUNE)),
    st.sampled_from((None, JANUARY, JUNE)),
    st.sampled_from(("supersede", "keep_both", "review")),
)
def test_links_are_the_same_when_the_facts_change_places(one, other, first, second, policy):
    a, b = fact(one, 1, stated=first), fact(other, 2, stated=second)
    if a.uid != b.uid:
        assert links_between(a, b, None, policy) == links_between(b, a, None, policy)


def test_fields_of_two_things_are_not_compared():
    texts = ("roles: author, editor, reader, printer", "roles: author, editor, reader")
    leaning = [
        fact(text, number, uid=uid_of(text, None, (name,)), heading_path=(name,))
        for number, (text, name) in enumerate(zip(texts, ("alpha", "beta"), strict=True), 1)
    ]
    assert kinds(*leaning) == set()
    same = [fact(text, number) for number, text in enumerate(texts, 1)]
    assert kinds(*same) == {("extends", 1, 2)}


def test_facts_that_relate_one_thing_alike_share_a_key():
    one = fact("A.", relations=(("Web Shop", "runs_on", "alpha"),))
    other = fact("B.", relations=(("web  shop", "runs_on", "beta"),))
    assert {*keys_of(one)} & {*keys_of(other)}


@pytest.mark.slow
def test_labelled_pairs_through_the_stage(capsys):
    """All pairs in one memory, each in two dated notes: what the rules find once facts must find each other."""
    with tempfile.TemporaryDirectory(dir=QUICK_DISK) as folder:
        vault = Path(folder) / "vault"
        for number, (_, _, *pair) in enumerate(PAIRS):
            for day, text in zip(("2026-01-10", "2026-05-10"), pair, strict=True):
                path = vault / str(number) / f"{day}.md"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text + "\n")
        store = Store(Path(folder) / "memory.db", vault)
        try:
            store.look(None)
            stage = AgreeingStage(
                database=store.database, writes=HereWrites(store.database), policy="supersede"
            )
            while stage.step():
                pass
            found = [_found(store, number) for number in range(len(PAIRS))]
        finally:
            store.close()
    rows: Counter[str] = Counter()
    right: Counter[str] = Counter()
    merged = []
    for (_, kind, *pair), verdict in zip(PAIRS, found, strict=True):
        rows[kind] += 1
        # What is undecided leaves no link either.
        right[kind] += is_right(kind, verdict) or (kind, verdict) == ("paraphrase", "independent")
        if verdict == "duplicate" and kind not in ("duplicate", "paraphrase"):
            merged.append(pair)
    with capsys.disabled():
        table = ", ".join(f"{kind} {right[kind]}/{rows[kind]}" for kind in rows)
        print(f"\nthrough the stage: {right.total()}/{rows.total()} right ({table})")  # noqa: T201 - the figures are what this test is for
    assert merged == []
    assert right.total() >= LEAST_RIGHT * rows.total()


def _found(store, number):
    """What stands between the facts of a pair's two notes, in the words of the labels."""
    links = execute(
        store.database.writer,
        "WITH mine AS (SELECT fact_id, path FROM fact_source"
        " JOIN passage ON passage.id = passage_id JOIN note ON note.id = note_id"
        " WHERE path LIKE :folder)"
        " SELECT kind FROM fact_link WHERE from_fact IN (SELECT fact_id FROM mine)"
        " AND to_fact IN (SELECT fact_id FROM mine)"
        " UNION SELECT 'similar' FROM mine GROUP BY fact_id HAVING count(DISTINCT path) = 2",
        {"folder": f"{number}/%"},
    )
    names = {"similar": "duplicate", "contradicts": "contradicts", "extends": "extends"}
    verdicts = [names[row[0]] for row in links if row[0] in names]
    return verdicts[0] if verdicts else "independent"


PARTS = ("engine", "harbour", "lantern", "orchard", "saddle", "velvet", "window", "zebra")
ENDS = ("amber", "copper", "granite", "marble", "quartz", "silver", "timber", "velours")


def _prose(number):
    """A sentence in the words that all others have."""
    a, b, c, d, e = (number // 8**place % 8 for place in range(5))
    return f"The {PARTS[a]} of the {PARTS[b]} in {ENDS[c]} was seen by {PARTS[d]} workers near {ENDS[e]}"


class Filled:
    """A store of so many facts of uniform prose, all compared."""

    def __init__(self, base, size):
        folder = Path(tempfile.mkdtemp(dir=base))
        vault = folder / "vault"
        vault.mkdir()
        step = 8**5 // size
        for first in range(0, size, 100):
            lines = [f"{_prose(number * step)}." for number in range(first, first + 100)]
            (vault / f"{first}.md").write_text("\n\n".join(lines) + "\n")
        self.store = Store(folder / "memory.db", vault)
        self.store.look(None)
        self.stage = AgreeingStage(
            database=self.store.database, writes=HereWrites(self.store.database), policy="supersede"
        )
        while self.stage.step():
            pass

    def compare_a_hundred(self):
        execute(
            self.store.database.writer,
            "UPDATE fact SET compared = 0 WHERE id IN (SELECT id FROM fact ORDER BY uid LIMIT 100)",
        )
        while self.stage.step():
            pass


@pytest.mark.slow
def test_new_fact_costs_no_more_where_many_are_known():
    """Eight times as many facts of the same few words: what a fact is compared with stays bounded."""
    with tempfile.TemporaryDirectory(dir=QUICK_DISK) as base:
        little, much = Filled(base, 250), Filled(base, 2000)
        try:
            little.compare_a_hundred()
            assert_costs_at_most(4, much.compare_a_hundred, than=little.compare_a_hundred)
        finally:
            little.store.close()
            much.store.close()


RUNS, MOVED = "The CI runs on Jenkins.", "The CI moved to GitHub Actions."


@pytest.fixture
def memory(tmp_path):
    made = Memory(tmp_path)
    yield made
    made.store.close()


@pytest.mark.parametrize("first", [(RUNS,), (MOVED,), (RUNS, MOVED)])
def test_update_finds_what_it_is_about_by_a_name_alone(memory, first):
    for text in (*first, *{RUNS, MOVED} - {*first}):
        memory.write("2026-01.md" if text == RUNS else "2026-06.md", f"{text}\n")
        if len(first) == 1:
            memory.compare()
    memory.compare()
    assert memory.kinds() == [("contradicts", "rule"), ("supersedes", "rule")]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("We gebruiken Jenkins.", "Jenkins is vervangen door Woodpecker."),
        ("王芳住在北京。", "王芳搬到了上海。"),
        ("Invoices are sent by Northwind.", "Northwind was replaced by Fabrikam."),
    ],
)
def test_update_in_any_language_supersedes_what_was_before(memory, older, newer):
    memory.write("2026-01.md", f"{older}\n")
    memory.write("2026-06.md", f"{newer}\n")
    memory.compare()
    assert ("supersedes", "rule") in memory.kinds()


def test_name_that_very_many_facts_have_leads_an_update_nowhere_and_does_again_once_few_have_it(
    memory,
):
    memory.write("2026-01.md", f"{RUNS}\n")
    memory.write("2026-06.md", f"{MOVED}\n")
    memory.compare()
    found = memory.links()
    many = "".join(
        f"- Step {chr(97 + n % 26)}{chr(97 + n // 26)}x of the CI makes art{n}.\n"
        for n in range(70)
    )
    memory.write("steps.md", many)
    memory.compare()
    assert memory.links() == []
    (memory.vault / "steps.md").unlink()
    memory.compare()
    assert memory.links() == found != []
