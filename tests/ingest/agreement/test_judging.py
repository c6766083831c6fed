"""A model is asked where rules can't tell: each pair once, an outage uses nothing up, and differences forbid merges."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from ingest.agreement.judging import judge_of
from ingest.agreement.links import standing, veto_between
from ingest.agreement.question import MOST_PAIRS
from recalld.errors import PermanentModelError, PromptCut, TransientModelError
from recalld.store.agreement import Resolution, comparables
from recalld.store.verdicts import verdict_counts
from tests.cases.test_equals_rebuild import QUICK_DISK
from tests.fakes import WordEmbedder
from tests.ingest.agreement.judges import HEALTH, Memory, pairs_asked, said
from tests.ingest.agreement.test_relation import PAIRS, is_right
from tests.ingest.agreement.test_stage import _found

OWNER, OWNED = (
    "Ana is the owner of the billing service.",
    "The owner of the billing service is Ana.",
)
OLD, NEW = "`gemma3:4b` is installed on `felix`.", "There are no models on `felix` at all."
JANUARY, JUNE = "---\ndate: 2026-01-10\n---\n", "---\ndate: 2026-06-10\n---\n"


@pytest.fixture
def memory(tmp_path):
    made = Memory(tmp_path)
    yield made
    made.store.close()


def put_conflict(memory):
    memory.write("old.md", JANUARY + OLD + "\n")
    memory.write("new.md", JUNE + NEW + "\n")
    memory.model.verdict = lambda one, other: (
        "contradicts" if {one, other} == {OLD, NEW} else "independent"
    )


def test_conflict_that_wording_hides_is_found_by_the_name_they_share(memory):
    put_conflict(memory)
    memory.compare()
    assert memory.links() == []
    memory.settle()
    assert memory.links() == [
        ("contradicts", "told", "llm", *sorted((OLD, NEW), key=memory.uid_of)),
        ("supersedes", "told", "llm", NEW, OLD),
    ]
    assert memory.rows("SELECT a.text FROM fact AS a WHERE superseded_by IS NOT NULL") == [(OLD,)]


@pytest.mark.parametrize("policy", ["keep_both", "review"])
def test_other_policies_let_both_stand(tmp_path, policy):
    memory = Memory(tmp_path, policy)
    put_conflict(memory)
    memory.settle()
    assert memory.kinds() == [("contradicts", "llm")]
    memory.store.close()


def test_error_is_not_superseded_by_what_a_model_says(memory):
    put_conflict(memory)
    memory.compare()
    memory.rows("UPDATE fact SET category = 'error' WHERE text = ?", OLD)
    memory.settle()
    assert memory.kinds() == [("contradicts", "llm")]


def test_nothing_is_asked_twice(memory):
    put_conflict(memory)
    memory.settle()
    asked = len(memory.model.requests)
    assert asked
    memory.writes.call(lambda writers: writers.agreement.compare_all_again())
    memory.restart()
    memory.settle()
    assert len(memory.model.requests) == asked
    assert memory.kinds() == [("contradicts", "llm"), ("supersedes", "llm")]


def test_verdict_goes_with_the_source_and_comes_back_with_it_unasked(memory):
    put_conflict(memory)
    memory.settle()
    asked = len(memory.model.requests)
    (memory.vault / "new.md").unlink()
    memory.settle()
    assert memory.links() == []
    assert memory.rows("SELECT count(*) FROM fact WHERE superseded_by IS NOT NULL") == [(0,)]
    put_conflict(memory)
    memory.settle()
    assert memory.kinds() == [("contradicts", "llm"), ("supersedes", "llm")]
    assert len(memory.model.requests) == asked


def test_same_weights_under_another_name_are_asked_nothing_again(memory):
    put_conflict(memory)
    memory.settle()
    asked, links = len(memory.model.requests), memory.links()
    for name in ("m:latest", "a copy of m"):
        memory.judge = judge_of(replace(HEALTH, name=name))
        memory.restart()
        memory.settle()
    assert (len(memory.model.requests), memory.links()) == (asked, links)


def test_other_model_is_asked_anew_and_going_back_asks_nothing(memory):
    put_conflict(memory)
    memory.settle()
    asked, first = len(memory.model.requests), memory.judge
    memory.judge = "llm:other@verdict@1"
    memory.model.verdict = lambda one, other: "independent"
    memory.settle()
    assert len(memory.model.requests) > asked
    assert memory.links() == []
    asked, memory.judge = len(memory.model.requests), first
    memory.settle()
    assert len(memory.model.requests) == asked
    assert memory.kinds() == [("contradicts", "llm"), ("supersedes", "llm")]


def test_what_rules_and_users_told_is_not_asked(memory):
    memory.write("a.md", JANUARY + "The production database runs on db1.\n")
    memory.write("b.md", JUNE + "The production database runs on db2.\n")
    memory.write("c.md", f"{OWNER}\n")
    memory.write("d.md", f"{OWNED}\n")
    memory.compare()
    uids = [
        row[0] for row in memory.rows("SELECT uid FROM fact WHERE text IN (?, ?)", OWNER, OWNED)
    ]
    memory.agreeing.resolve(Resolution(one=uids[0], other=uids[1], verdict="both"), 1)
    memory.settle()
    pairs = [frozenset(pair) for asked in memory.model.asked for pair in asked]
    assert frozenset((OWNER, OWNED)) not in pairs
    assert not any("db1" in one and "db2" in other for one, other in map(sorted, pairs))


def test_paraphrases_become_one(memory):
    memory.write("a.md", f"{OWNER}\n")
    memory.write("b.md", f"{OWNED}\n")
    memory.model.verdict = lambda one, other: "duplicate"
    memory.settle()
    assert ("similar", "llm") in memory.kinds()
    assert ("similar", "duplicate") in {link[:2] for link in memory.links()}


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("Ana works a lot on Mondays.", "On Tuesdays a lot of work is Ana's.", "number"),
        ("Ana from billing never works late.", "Ana works late in billing.", "negation"),
        ("Ana leads the team of billing.", "The billing team has Bo for a lead.", "name"),
        (
            "Relays of the pump were made by hand in the north.",
            "In the north relays of the fan were crafted by hand.",
            "subject",
        ),
    ],
)
def test_merge_over_a_difference_is_refused_and_counted(memory, one, other, reason):
    memory.write("a.md", f"{one}\n")
    memory.write("b.md", f"{other}\n")
    memory.model.verdict = lambda one, other: "duplicate"
    memory.settle()
    assert not [link for link in memory.links() if {one, other} == {*link[3:]}]
    assert reason in verdict_counts(memory.store.database.writer).refused


def test_outage_uses_nothing_up_and_what_was_said_is_kept(memory):
    put_conflict(memory)
    memory.compare()
    memory.model.replies = [TransientModelError("refused", state="down")] * 3
    memory.model.is_there = False
    for _ in range(3):
        with pytest.raises(TransientModelError):
            memory.judging.step(memory.judge)
    assert memory.rows("SELECT count(*) FROM verdict") == [(0,)]
    memory.restart()
    memory.settle()
    assert memory.kinds() == [("contradicts", "llm"), ("supersedes", "llm")]


def test_restart_in_the_middle_of_a_fact_s_pairs_asks_only_about_the_rest(memory):
    """In company there is no answer, alone there is one, then the model is away and the daemon starts anew."""
    for name in ("cellar", "attic", "garden"):
        memory.write(f"{name}.md", f"Ana keeps the spare wheels of the cart in the {name}.\n")
    memory.compare()
    memory.model.is_there = False
    memory.model.replies = ["no", said("independent"), TransientModelError("away", state="down")]
    with pytest.raises(TransientModelError):
        memory.judging.step(memory.judge)
    together, alone, cut = memory.model.asked
    assert (len(together), len(alone), len(cut)) == (3, 1, 1)
    memory.restart()
    memory.settle()
    later = [frozenset(pair) for asked in memory.model.asked[3:] for pair in asked]
    assert frozenset(alone[0]) not in later
    assert len(later) == len(set(later))
    assert memory.rows("SELECT count(*) FROM verdict") == [(3,)]


@pytest.mark.parametrize(
    "reply",
    ["", "I think so.", "{}", '{"verdicts": {"1": "duplicate"}}', '{"9": "duplicate"}', '{"1": true}',
     '{"1": "merge"}', '["duplicate"]', '{"1": "duplicate", "1": "extends"}'],
)  # fmt: skip
def test_garbage_is_a_failed_pair_that_is_told_and_asked_again_on_order(memory, reply):
    memory.write("a.md", f"{OWNER}\n")
    memory.write("b.md", f"{OWNED}\n")
    memory.model.replies = [reply or "{"] * 40
    done = memory.settle()
    assert (
        sum(step.failed for step in done) == verdict_counts(memory.store.database.writer).failed > 0
    )
    assert memory.links() == []
    memory.model.replies, memory.model.verdict = [], lambda one, other: "duplicate"
    assert memory.settle() == []
    assert memory.judging.queue_failed() > 0
    memory.settle()
    assert verdict_counts(memory.store.database.writer).failed == 0
    assert ("similar", "llm") in memory.kinds()


@pytest.mark.parametrize(
    "error",
    [
        PromptCut("too long", estimated_tokens=9, counted_tokens=None),
        PermanentModelError("no"),
        TransientModelError("reset", state="down"),
    ],
)
def test_pair_that_makes_calls_fail_spoils_no_other(memory, error):
    """The model answers other questions meanwhile, so the pair is to blame."""
    put_conflict(memory)
    memory.write("b.md", "`felix` stands in the cellar of the old house.\n")
    memory.compare()
    poison = frozenset((OLD, "`felix` stands in the cellar of the old house."))
    ask = memory.model.complete

    def complete(request):
        if poison in map(frozenset, pairs_asked(request)):
            memory.model.requests.append(request)
            raise error
        return ask(request)

    memory.model.complete = complete
    memory.settle()
    assert verdict_counts(memory.store.database.writer).failed == 1
    assert memory.kinds() == [("contradicts", "llm"), ("supersedes", "llm")]


def test_answer_that_was_cut_counts_for_nothing(memory):
    memory.write("a.md", f"{OWNER}\n")
    memory.write("b.md", f"{OWNED}\n")
    memory.model.verdict, memory.model.finished = lambda one, other: "duplicate", "length"
    memory.settle()
    assert memory.links() == []


def test_few_pairs_are_asked_about_for_each_fact_and_many_in_one_call(memory):
    names = ("amber", "copper", "granite", "marble", "quartz", "silver", "timber", "velours")
    for number, name in enumerate(names):
        memory.write(f"{number}.md", f"Near the old {name} harbour Ana repaired boats.\n")
    done = memory.settle()
    asked = [pair for some in memory.model.asked for pair in some]
    assert len(set(map(frozenset, asked))) == len(asked) == sum(step.pairs for step in done)
    assert 8 < len(asked) <= 3 * len(names)
    calls = [len(some) for some in memory.model.asked]
    assert max(calls) <= MOST_PAIRS
    assert len(calls) <= len(asked) / (MOST_PAIRS - 3) + 1


def test_facts_that_leave_no_room_for_others_are_asked_about_alone(memory):
    memory.model.prompt_budget_chars = 1000
    for name in ("cellar", "attic", "garden"):
        text = f"Ana keeps the {'very ' * 80}spare wheels of the cart in the {name}.\n"
        memory.write(f"{name}.md", text)
    memory.settle()
    assert [len(some) for some in memory.model.asked] == [2, 1]


def test_fact_waits_for_its_vector(tmp_path):
    memory = Memory(tmp_path, embedder=WordEmbedder())
    put_conflict(memory)
    memory.store.look(None)
    while memory.agreeing.step():
        pass
    assert memory.judging.step(memory.judge).outcome == "nothing"
    assert verdict_counts(memory.store.database.writer).pending == 3
    memory.settle()
    assert verdict_counts(memory.store.database.writer).pending == 0
    memory.store.close()


def test_facts_that_rules_can_tell_meet_by_meaning_and_are_not_asked_about(tmp_path):
    one, other = "The CI runs on Jenkins.", "The CI moved to GitHub Actions."
    memory = Memory(tmp_path, embedder=WordEmbedder())
    memory.write("2026-01-10.md", f"{one}\n")
    memory.write("2026-05-10.md", f"{other}\n")
    memory.settle()
    assert memory.kinds() == [("contradicts", "rule"), ("supersedes", "rule")]
    assert not any({one, other} == {*pair} for asked in memory.model.asked for pair in asked)
    memory.writes.call(lambda writers: writers.agreement.compare_all_again())
    memory.settle()
    assert memory.kinds() == [("contradicts", "rule"), ("supersedes", "rule")]
    memory.store.close()


@pytest.mark.slow
def test_labelled_pairs_with_a_scripted_verdict(capsys):
    """Rules and a model that answers well: every pair that it was asked about comes out as labelled."""
    labels = {frozenset(pair): kind for _, kind, *pair in PAIRS}

    def verdict(one, other):
        kind = labels.get(frozenset((one, other)), "independent")
        return "duplicate" if kind == "paraphrase" else kind

    with tempfile.TemporaryDirectory(dir=QUICK_DISK) as folder:
        memory = Memory(Path(folder), embedder=WordEmbedder())
        _write_pairs(memory)
        memory.model.verdict = verdict
        memory.settle()
        asked = {frozenset(pair) for some in memory.model.asked for pair in some}
        found = [_found(memory.store, number) for number in range(len(PAIRS))]
        refused = _refused(memory)
        memory.store.close()
    right = Counter()
    for (_, kind, *pair), verdict_found in zip(PAIRS, found, strict=True):
        is_good = is_right(kind, verdict_found) and (kind, verdict_found) != (
            "paraphrase",
            "undecided",
        )
        right[is_good] += 1
        if frozenset(pair) in asked and not is_good:
            assert frozenset(pair) in refused, (kind, verdict_found, pair)
            assert kind == "paraphrase"
    # Order and small words may tell who does what to whom, so half of the paraphrases are left as two.
    assert len(refused & set(labels)) <= 7
    with capsys.disabled():
        print(f"\nwith a scripted verdict: {right[True]}/{len(PAIRS)} right")  # noqa: T201 - the figure is what this test is for
    assert right[True] >= 0.93 * len(PAIRS)


@pytest.mark.slow
def test_model_that_calls_everything_a_duplicate_merges_nothing_that_is_labelled_otherwise():
    with tempfile.TemporaryDirectory(dir=QUICK_DISK) as folder:
        memory = Memory(Path(folder))
        _write_pairs(memory)
        memory.model.verdict = lambda one, other: "duplicate"
        memory.settle()
        found = [_found(memory.store, number) for number in range(len(PAIRS))]
        memory.store.close()
    wrong = [
        pair
        for (_, kind, *pair), verdict in zip(PAIRS, found, strict=True)
        if verdict == "duplicate" and kind not in ("duplicate", "paraphrase")
    ]
    assert wrong == []


def _write_pairs(memory):
    for number, (_, _, *pair) in enumerate(PAIRS):
        for day, text in zip(("2026-01-10", "2026-05-10"), pair, strict=True):
            memory.write(f"{number}/{day}.md", text + "\n")


def _refused(memory):
    rows = memory.rows(
        "SELECT a.text, b.text FROM verdict JOIN fact AS a ON a.uid = one"
        " JOIN fact AS b ON b.uid = other WHERE refused IS NOT NULL"
    )
    return {frozenset(row) for row in rows}


def test_open_pairs_are_what_the_veto_is_about(memory):
    memory.write("a.md", f"{OWNER}\n")
    memory.write("b.md", f"{OWNED}\n")
    memory.compare()
    ids = [row[0] for row in memory.rows("SELECT id FROM fact WHERE text IN (?, ?)", OWNER, OWNED)]
    one, other = comparables(memory.store.database.writer, ids).values()
    assert standing(one, other) == "open"
    assert veto_between(one, other) is None
