"""Facts that disagree or say the same, through a whole daemon: order, marks, words of users, and what survives."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from daemon.app import DATABASE_NAME
from recalld.errors import InvalidParams, NotFound
from recalld.records import Category, FactId
from recalld.store.connection import Database
from recalld.store.writers import Writers
from tests.copying import answer, asked_blocks, asked_pairs, judged
from tests.fake_ollama import FakeOllama, Step
from tests.fakes import WordEmbedder
from tests.running import RunningDaemon

REPO = Path(__file__).parents[2]
VAULT = REPO / "examples" / "notes"
OLD, NEW = "The production database runs on db1.", "The production database runs on db2 since June."
ASKED = "Where does the production database run?"


def write_db(daemon: RunningDaemon) -> None:
    daemon.write("2026-01.md", OLD + "\n")
    daemon.write("2026-06.md", NEW + "\n")
    daemon.settle()


def hit_of(hits: list[dict[str, Any]], text: str) -> dict[str, Any]:
    return next(hit for hit in hits if hit["text"] == text)


def pairs(daemon: RunningDaemon, **params: object) -> list[dict[str, Any]]:
    return list(daemon.call("conflicts", **params)["pairs"])


@pytest.mark.parametrize("embedder", [None, WordEmbedder()], ids=["keywords", "vectors"])
def test_newer_fact_comes_first_and_the_older_after_it_with_its_date_and_a_mark(tmp_path, embedder):
    with RunningDaemon(tmp_path, embedder=embedder) as daemon:
        write_db(daemon)
        hits = daemon.recall(ASKED)
        assert [hit["text"] for hit in hits] == [NEW, OLD]
        new, old = hits
        assert old["superseded_by"] == new["anchor"]
        assert (new["superseded_by"], new["supersedes"]) == (None, [old["anchor"]])
        assert (old["dates"]["stated"], new["dates"]["stated"]) == ("2026-01-01", "2026-06-01")
        assert old["conflicts_with"] == new["conflicts_with"] == []
        status = daemon.call("status")
        assert status["counts"]["conflicts"] == 0
        assert status["stages"]["agreement"]["last_ok"]


def test_older_fact_that_matches_better_stands_below_all_the_same(tmp_path):
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        write_db(daemon)
        assert daemon.texts("production database db1") == [NEW, OLD]


def test_what_held_then_is_the_older_fact(tmp_path):
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        write_db(daemon)
        assert daemon.texts(ASKED, as_of="2026-03-01") == [OLD]
        assert daemon.texts(ASKED, as_of="2026-07-01") == [NEW]


def test_what_was_stated_then_and_again_later_held_then_too(tmp_path):
    with RunningDaemon(tmp_path) as daemon:
        daemon.write("2025-01-10.md", "The invoices go to Globex.\n")
        daemon.write("2025-09-10.md", "The invoices go to Globex.\n")
        daemon.settle()
        assert daemon.recall("invoices", as_of="2025-01-09") == []
        (then,) = daemon.recall("invoices", as_of="2025-03-01")
        assert then["dates"]["stated"] in ("2025-01-10", None)
        (now,) = daemon.recall("invoices")
        assert now["dates"]["stated"] == "2025-09-10"
        (daemon.vault / "2025-01-10.md").unlink()
        daemon.settle()
        assert daemon.recall("invoices", as_of="2025-03-01") == []


def test_what_held_then_knows_successors_that_were_superseded_since(tmp_path):
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        write_db(daemon)
        newest = "The production database runs on db3 since September."
        daemon.write("2026-09.md", newest + "\n")
        daemon.settle()
        assert daemon.texts(ASKED)[0] == newest
        assert daemon.texts(ASKED, as_of="2026-07-01") == [NEW]


def test_newest_of_three_stands_above_both_others(tmp_path):
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        write_db(daemon)
        daemon.write("2026-09.md", "The production database runs on db3 since September.\n")
        daemon.settle()
        hits = daemon.recall(ASKED)
        assert hits[0]["text"].endswith("db3 since September.")
        assert len(hits) == 3
        assert all(hit["superseded_by"] == hits[0]["anchor"] for hit in hits[1:])


def test_deleting_the_newer_note_makes_the_older_fact_current_again(tmp_path):
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        write_db(daemon)
        (daemon.vault / "2026-06.md").unlink()
        daemon.settle()
        (hit,) = daemon.recall(ASKED)
        assert (hit["text"], hit["superseded_by"]) == (OLD, None)
        assert pairs(daemon) == []


def test_same_words_in_five_notes_are_one_hit_that_counts_its_sources(tmp_path):
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        paths = [f"2026-03-0{day}.md" for day in range(1, 6)]
        for path in paths:
            daemon.write(path, "Wi-Fi code is blue-fish.\n")
        daemon.settle()
        (hit,) = daemon.recall("What is the Wi-Fi code?")
        assert hit["source"]["more"] == 4
        assert len(daemon.call("get", anchor=hit["anchor"])["sources"]) == 5
        for left, path in zip((3, 2, 1, 0), paths, strict=False):
            (daemon.vault / path).unlink()
            daemon.settle()
            (hit,) = daemon.recall("What is the Wi-Fi code?")
            assert hit["source"]["more"] == left
        # Something must stay: an empty root is not believed.
        daemon.write("stays.md", "Something else altogether.\n")
        daemon.settle()
        (daemon.vault / paths[-1]).unlink()
        daemon.settle()
        assert daemon.texts("What is the Wi-Fi code?") == []
        assert daemon.rows("SELECT count(*) FROM fact WHERE text LIKE 'Wi-Fi%'") == [(0,)]


def test_same_fact_in_other_letters_is_one_hit(tmp_path):
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        daemon.write("a.md", "The backup server of the office has 64 GB of memory.\n")
        daemon.write("b.md", "The backup server of the office has 64GB of memory.\n")
        daemon.settle()
        (hit,) = daemon.recall("How much memory has the backup server?")
        assert hit["source"]["more"] == 1
        (link,) = daemon.call("get", anchor=hit["anchor"])["fact_links"]
        assert (link["type"], link["reason"]) == ("similar", "duplicate")


def test_denial_is_never_merged_and_stays_open_without_dates(tmp_path):
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        daemon.write("a.md", "Ana likes tea.\n")
        daemon.write("b.md", "Ana does not like tea.\n")
        status = daemon.settle()
        assert status["counts"]["conflicts"] == 1
        hits = daemon.recall("Does Ana like tea?")
        assert {hit["text"] for hit in hits} == {"Ana likes tea.", "Ana does not like tea."}
        one, other = hits
        assert one["conflicts_with"] == [other["anchor"]]
        assert other["conflicts_with"] == [one["anchor"]]
        assert one["superseded_by"] is other["superseded_by"] is None
        (pair,) = pairs(daemon)
        assert (pair["kind"], pair["reason"], pair["state"]) == ("contradicts", "negation", "open")
        assert {fact["source"]["path"] for fact in pair["facts"]} == {"a.md", "b.md"}
        got = daemon.call("get", anchor=one["anchor"])
        assert got["conflicts_with"] == [other["anchor"]]
        assert [(link["type"], link["reason"]) for link in got["fact_links"]] == [
            ("contradicts", "negation")
        ]


def test_facts_that_only_look_alike_are_two_and_do_not_disagree(tmp_path):
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        daemon.write("2026-01.md", "alpha has 64 GB.\n")
        daemon.write("2026-02.md", "beta has 64 GB.\n")
        assert daemon.settle()["counts"]["conflicts"] == 0
        hits = daemon.recall("Which machine has 64 GB?")
        assert {hit["text"] for hit in hits} == {"alpha has 64 GB.", "beta has 64 GB."}
        assert all(not hit["conflicts_with"] and not hit["superseded_by"] for hit in hits)


def test_words_under_two_headings_do_not_disagree(tmp_path):
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        daemon.write("2026-01-01.md", "# alpha\n\nIts port is 5432.\n")
        daemon.write("2026-02-01.md", "# beta\n\nIts port is 5433.\n")
        assert daemon.settle()["counts"]["conflicts"] == 0


def test_error_is_not_superseded_by_later_good_news(tmp_path):
    failed = "Error: the nightly backup fails on db1."
    works = "Error: the nightly backup does not fail on db1."
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        daemon.write("2026-01-01.md", failed + "\n")
        daemon.write("2026-02-01.md", works + "\n")
        daemon.settle()
        hit = hit_of(daemon.recall("Does the nightly backup fail?"), failed)
        assert (hit["category"], hit["superseded_by"]) == ("error", None)
        assert len(hit["conflicts_with"]) == 1


def test_date_of_another_note_that_says_the_same_settles_an_open_pair(tmp_path):
    older = "The database of Tidewater runs on db1.\n"
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        daemon.write("undated.md", older)
        daemon.write("2026-06.md", "The database of Tidewater runs on db2.\n")
        assert daemon.settle()["counts"]["conflicts"] == 1
        daemon.write("2026-01.md", older)
        assert daemon.settle()["counts"]["conflicts"] == 0
        assert [pair["state"] for pair in pairs(daemon)] == ["superseded"]
        (daemon.vault / "2026-01.md").unlink()
        assert daemon.settle()["counts"]["conflicts"] == 1


def test_fact_that_proves_to_be_an_error_is_superseded_no_more(tmp_path):
    with RunningDaemon(tmp_path) as daemon:
        write_db(daemon)
        assert [pair["state"] for pair in pairs(daemon)] == ["superseded"]
        older = daemon.rows("SELECT id FROM fact WHERE text = ?", OLD)[0][0]
    database = Database(daemon.data / DATABASE_NAME)
    Writers.over(database.writer).usage.categorise([(FactId(older), Category.ERROR)])
    database.close()
    with RunningDaemon(tmp_path) as daemon:
        daemon.settle()
        assert [pair["state"] for pair in pairs(daemon)] == ["open"]
        assert hit_of(daemon.recall(ASKED), OLD)["superseded_by"] is None


@pytest.mark.parametrize(
    ("policy", "state", "count"), [("keep_both", "resolved", 0), ("review", "open", 1)]
)
def test_other_policies_supersede_nothing(tmp_path, policy, state, count):
    with RunningDaemon(tmp_path, settings={"ingest.on_conflict": policy}) as daemon:
        write_db(daemon)
        assert daemon.call("status")["counts"]["conflicts"] == count
        assert [pair["state"] for pair in pairs(daemon)] == [state]
        hits = daemon.recall(ASKED)
        assert all(hit["superseded_by"] is None and hit["conflicts_with"] for hit in hits)


def test_another_policy_holds_for_what_was_compared_before(tmp_path):
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        write_db(daemon)
        assert [pair["state"] for pair in pairs(daemon)] == ["superseded"]
    with RunningDaemon(tmp_path, settings={"ingest.on_conflict": "review"}) as daemon:
        daemon.settle()
        assert [pair["state"] for pair in pairs(daemon)] == ["open"]


def test_word_of_a_user_holds_at_once_and_survives_restart_and_rebuild(tmp_path):
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        write_db(daemon)
        hits = daemon.recall(ASKED)
        new, old = hit_of(hits, NEW)["anchor"], hit_of(hits, OLD)["anchor"]
        pair = daemon.call("resolve", anchor=old, over=new)
        assert pair["state"] == "resolved"
        assert [fact["anchor"] for fact in pair["facts"]] == [old, new]
        assert daemon.texts(ASKED) == [OLD, NEW]
        assert hit_of(daemon.recall(ASKED), NEW)["superseded_by"] == old
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        daemon.settle()
        assert daemon.texts(ASKED) == [OLD, NEW]
        # The newer note goes and comes back: other rows, the same facts.
        (daemon.vault / "2026-06.md").unlink()
        daemon.settle()
        assert daemon.texts(ASKED) == [OLD]
        daemon.write("2026-06.md", NEW + "\n")
        daemon.settle()
        assert daemon.texts(ASKED) == [OLD, NEW]
        assert [pair["state"] for pair in pairs(daemon)] == ["resolved"]


def test_both_may_hold_and_a_later_word_takes_the_place_of_an_earlier(tmp_path):
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        write_db(daemon)
        hits = daemon.recall(ASKED)
        new, old = hit_of(hits, NEW)["anchor"], hit_of(hits, OLD)["anchor"]
        daemon.call("resolve", anchor=old, over=new)
        pair = daemon.call("resolve", anchor=new, over=old, verdict="both")
        assert pair["state"] == "resolved"
        hits = daemon.recall(ASKED)
        assert all(not hit["superseded_by"] and not hit["conflicts_with"] for hit in hits)
        assert len(hits) == 2
        assert daemon.settle()["counts"]["conflicts"] == 0


def test_pages_of_conflicts_follow_each_other(tmp_path):
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        write_db(daemon)
        daemon.write("tea.md", "Ana likes tea.\n\nAna does not like tea.\n")
        daemon.settle()
        assert [pair["state"] for pair in pairs(daemon)] == ["open", "superseded"]
        assert daemon.call("conflicts", limit=1)["total"] == 2
        assert pairs(daemon, limit=1, offset=1) == pairs(daemon)[1:]


def test_what_is_no_pair_of_facts_is_refused(tmp_path):
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        write_db(daemon)
        fact = daemon.recall(ASKED)[0]["anchor"]
        uid = daemon.rows("SELECT uid FROM passage LIMIT 1")[0][0]
        with pytest.raises(InvalidParams):
            daemon.call("resolve", anchor=fact, over=fact)
        with pytest.raises(InvalidParams):
            daemon.call("resolve", anchor=fact, over=f"passage:{uid}")
        with pytest.raises(NotFound):
            daemon.call("resolve", anchor=fact, over="fact:00000000")
        with pytest.raises(InvalidParams):
            daemon.call("resolve", anchor=fact, over=fact, verdict="neither")


@pytest.mark.slow
def test_example_vault_knows_which_database_server_is_current(tmp_path):
    (tmp_path / "vault").mkdir()
    shutil.copytree(VAULT, tmp_path / "vault", dirs_exist_ok=True)
    with RunningDaemon(tmp_path) as daemon:
        daemon.settle()
        hits = daemon.recall("Which server does the production database run on?")
        texts = [hit["text"] for hit in hits]
        older = hit_of(hits, OLD)
        newer = next(hit for hit in hits if hit["anchor"] == older["superseded_by"])
        assert "db2" in newer["text"]
        assert texts.index(newer["text"]) < texts.index(OLD)


STANDS, REMOVED = "`gemma3:4b` is installed on `felix`.", "There are no models on `felix` at all."


def judging(body: dict[str, Any]) -> Step:
    """A model that finds nothing to extract, and the two above at odds."""
    user = str(body["messages"][-1]["content"])
    if not asked_pairs(body):
        return answer(
            {"block": number, "statement": text, "entities": ["felix"]}
            for number, text in enumerate(asked_blocks(body), 1)
        )
    return judged(body, "contradicts" if STANDS in user and REMOVED in user else "independent")


@pytest.mark.slow
def test_conflict_that_only_a_model_sees_is_shown_outlives_a_restart_and_goes_with_its_note(
    tmp_path,
):
    with FakeOllama() as fake:
        fake.answer = judging
        settings = {"llm.provider": "ollama", "llm.host": fake.url}
        with RunningDaemon(tmp_path, settings=settings) as daemon:
            daemon.write("2026-01.md", STANDS + "\n")
            daemon.write("2026-06.md", REMOVED + "\n")
            status = daemon.settle()
            assert status["stages"]["verdicts"]["last_ok"]
            assert status["verdicts"] == {"pending": 0, "failed": 0, "refused": {}}
            [pair] = pairs(daemon)
            assert [fact["text"] for fact in pair["facts"]] == [REMOVED, STANDS]
            assert pair["state"] == "superseded"
            hit = hit_of(daemon.recall("What is installed on felix?"), STANDS)
            assert hit["superseded_by"] == next(
                fact["anchor"] for fact in pair["facts"] if fact["text"] == REMOVED
            )
        calls = len(fake.calls("/api/chat"))
        with RunningDaemon(tmp_path, settings=settings) as daemon:
            daemon.settle()
            assert len(pairs(daemon)) == 1
            (daemon.vault / "2026-06.md").unlink()
            daemon.settle()
            assert pairs(daemon) == []
            [hit] = daemon.recall("What is installed on felix?")
            assert hit["superseded_by"] is None
        assert len(fake.calls("/api/chat")) == calls


@pytest.mark.slow
def test_model_that_answers_no_question_about_pairs_is_told_in_status(tmp_path):
    def silent(body: dict[str, Any]) -> Step:
        return Step(text="Well, that depends.") if asked_pairs(body) else judging(body)

    with FakeOllama() as fake:
        fake.answer = silent
        settings = {"llm.provider": "ollama", "llm.host": fake.url}
        with RunningDaemon(tmp_path, settings=settings) as daemon:
            daemon.write("2026-01.md", STANDS + "\n")
            daemon.write("2026-06.md", REMOVED + "\n")
            status = daemon.settle()
            assert status["verdicts"]["failed"] == 1
            assert status["stages"]["verdicts"]["failed"] == 1
            assert "no usable answer" in status["stages"]["verdicts"]["reason"]
            fake.answer = judging
            daemon.call("reextract", parked=True)
            assert daemon.settle()["verdicts"]["failed"] == 0
            assert len(pairs(daemon)) == 1


FILLERS = {
    f"filler{n}.md": f"# Filler {n}\n\nNote {n} speaks of topic {n} and a day {n}.\n"
    for n in range(9)
}


def write_among_others(daemon: RunningDaemon, notes: dict[str, str]) -> None:
    for path, text in (notes | FILLERS).items():
        daemon.write(path, text)
    daemon.settle()


def test_successor_in_a_passage_that_another_fact_speaks_for_is_told(tmp_path):
    notes = {
        "now.md": "---\ndate: 2026-06-01\n---\n"
        "In May 2019 Ana lived in Paris. Ana lives in Utrecht.\n",
        "then.md": "---\ndate: 2020-01-01\n---\nAna lives in Rotterdam.\n",
    }
    with RunningDaemon(tmp_path) as daemon:
        write_among_others(daemon, notes)
        texts = daemon.texts("where does Ana live?")
        assert texts[:2] == ["Ana lives in Utrecht.", "Ana lives in Rotterdam."]
        # What was so then is asked for, and stands where it matched best.
        assert daemon.texts("where did Ana live in 2019?")[0] == "In May 2019 Ana lived in Paris."


def test_successor_in_a_passage_that_no_word_leads_to_is_told_where_the_filter_lets_it(tmp_path):
    notes = {
        "a/then.md": "---\ndate: 2025-01-01\n---\n# Infra\n\nThe billing queue runs on rabbit.\n",
        "b/now.md": "---\ndate: 2026-01-01\n---\n# Infra\n\nThe billing queue runs on kafka.\n",
    }
    with RunningDaemon(tmp_path) as daemon:
        write_among_others(daemon, notes)
        # No word of the question stands in the newer note.
        hits = daemon.recall("rabbit")
        assert [hit["text"] for hit in hits] == [
            "The billing queue runs on kafka.",
            "The billing queue runs on rabbit.",
        ]
        assert hits[1]["superseded_by"] == hits[0]["anchor"]
        only = daemon.recall("rabbit", paths=["a/**"])
        assert [hit["text"] for hit in only] == ["The billing queue runs on rabbit."]


def test_what_a_user_said_goes_on_when_the_note_or_the_heading_gets_another_name(tmp_path):
    one, other = "The billing database runs on db1.", "The billing database runs on db2."
    with RunningDaemon(tmp_path) as daemon:
        daemon.write("prod-a.md", f"---\ndate: 2026-01-01\n---\n{one}\n")
        daemon.write("prod-b.md", f"---\ndate: 2026-01-01\n---\n{other}\n")
        daemon.settle()

        def anchor(text: str) -> str:
            return str(hit_of(daemon.recall("billing database"), text)["anchor"])

        before = {anchor(one), anchor(other)}
        daemon.call("resolve", anchor=anchor(one), over=anchor(other))
        assert daemon.texts("billing database") == [one, other]
        (daemon.vault / "prod-b.md").rename(daemon.vault / "billing.md")
        daemon.settle()
        daemon.write("prod-a.md", f"---\ndate: 2026-01-01\n---\n# Set-up\n\n{one}\n")
        daemon.settle()
        # Both lean on what stands above them, and are other facts now.
        assert not before & {anchor(one), anchor(other)}
        assert daemon.texts("billing database") == [one, other]
        assert hit_of(daemon.recall("billing database"), other)["superseded_by"] == anchor(one)
        assert all(pair["state"] == "resolved" for pair in pairs(daemon))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The garden has an area of 10² square metres.", "The garden has an area of 102 square metres."),
        ("Archives are opened with tar -x here.", "Archives are opened with tar -X here."),
        ("The laser of the lab needs 5 mW.", "The laser of the lab needs 5 MW."),
        ("The result of the exercise is 5!", "The result of the exercise is 5."),
        ("Oom Jan houdt van Polish.", "Oom Jan houdt van polish."),
    ],
)  # fmt: skip
def test_words_that_differ_in_a_sign_or_in_case_are_two_facts(tmp_path, one, other):
    with RunningDaemon(tmp_path) as daemon:
        daemon.write("2025-01-01.md", one + "\n")
        daemon.write("2026-01-01.md", other + "\n")
        daemon.settle()
        assert len(daemon.rows("SELECT 1 FROM fact")) == 2
        for hit in daemon.recall(one):
            assert hit["text"] in (daemon.vault / hit["source"]["path"]).read_text()
