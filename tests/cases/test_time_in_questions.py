"""Time in questions, over a real store: which facts come first, which are found at all, and what `explain` tells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date

import pytest

from recalld.records import RecallFilter
from retrieval.priors import INTERVAL_GAIN
from retrieval.ranking import RecallOptions
from retrieval.weights import STANDARD
from tests.fakes import WordEmbedder
from tests.retrieval.asking import Memory

APRIL = "The choir rehearsed Brahms in the chapel."
MAY = "The choir rehearsed Haydn in the chapel."
JUNE = "The choir rehearsed Elgar in the chapel."


def dated(day: str, text: str) -> str:
    return f"---\ndate: {day}\n---\n{text}\n"


@pytest.fixture(params=["words", "vectors"])
def memory(request, tmp_path) -> Iterator[Memory]:
    composers = frozenset({"brahm", "haydn", "elgar"})
    embedder = WordEmbedder(synonyms=[composers]) if request.param == "vectors" else None
    with Memory(tmp_path, embedder=embedder) as made:
        made.today = date(2026, 6, 15)
        made.take(
            aa=dated("2026-04-10", APRIL), bb=dated("2026-05-11", MAY), cc=dated("2026-06-10", JUNE)
        )
        yield made


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What did the choir rehearse last week?", JUNE),
        ("What did the choir rehearse last month?", MAY),
        ("What did the choir rehearse in April?", APRIL),
        ("What did the choir rehearse before May 2026?", APRIL),
        ("What did the choir rehearse since 1 June?", JUNE),
        ("What did the choir rehearse two months ago?", APRIL),
        ("choir rehearsed in the chapel vorige maand", MAY),
    ],
)
def test_what_is_of_the_time_asked_for_comes_first(memory, question, first):
    assert memory.texts(question)[0] == first


def test_words_of_a_time_take_nothing_from_relevance(memory):
    plain, timed = (
        memory.ask(question, min_relevance=0, explain=True).explanation
        for question in ("choir rehearsed chapel", "choir rehearsed chapel in the last three weeks")
    )
    assert timed["query"]["terms"] == plain["query"]["terms"]
    covered = [max(one["evidence"]["coverage"] for one in story["candidates"]) for story in (plain, timed)]  # fmt: skip
    assert covered[0] == covered[1] == 1
    assert memory.ask("choir rehearsed chapel last week").unknown_words == ()


def test_a_written_date_is_found_by_its_words_too(memory):
    memory.take(
        dd="The organ was tuned on 3 March 2019 by Ida.\n", ee="The organ was tuned by Bo.\n"
    )
    assert memory.texts("Who tuned the organ on 3 March 2019?")[0].endswith("by Ida.")


@pytest.mark.parametrize(
    "question", ["What happened last week?", "Wat is er vorige week gebeurd?", "上周发生了什么？"]
)
def test_a_question_of_a_time_alone_finds_what_is_of_that_time_and_nothing_else(memory, question):
    assert memory.texts(question) == [JUNE]


def test_a_question_of_a_time_without_notes_finds_nothing(memory):
    assert memory.texts("What happened in 2019?") == []


def test_what_is_of_that_time_is_found_among_many_that_match_as_well(tmp_path):
    with Memory(tmp_path) as memory:
        memory.today = date(2026, 6, 15)
        notes = {f"n{n}": dated("2026-01-02", f"Pump alarm code{n} rang.") for n in range(250)}
        wanted = "Pump alarm code999 rang."
        memory.take(**notes)
        memory.take(zz=dated("2026-06-09", wanted))
        assert wanted not in memory.texts("pump alarm")
        assert memory.texts("pump alarm last week")[0] == wanted


def test_of_one_passage_the_fact_of_that_time_is_shown(memory):
    memory.take(
        roof="On 3 February 2025 the roof was mended by Ida.\nOn 12 May 2026 the roof was mended by Bo.\n"
    )
    assert memory.texts("Who mended the roof in 2025?")[0].endswith("by Ida.")
    assert memory.texts("Who mended the roof last month?")[0].endswith("by Bo.")


def test_explain_tells_the_days_their_words_and_what_they_gave(memory):
    story = memory.ask("What did the choir rehearse before May 2026?", explain=True).explanation
    assert story["query"]["time"] == {
        "words": ["before May 2026"],
        "intervals": [[None, "2026-04-30"]],
    }
    gains = [one["parts"]["prior.interval"] for one in story["candidates"]]
    assert gains[0] == INTERVAL_GAIN
    assert 0 in gains
    assert memory.ask("choir", explain=True).explanation["query"]["time"] is None


def test_without_the_interval_its_days_count_for_nothing(memory):
    searched = memory.recall.search("choir rehearsed last week", limits=RecallFilter())
    options = RecallOptions(weights=replace(STANDARD, interval=0.0))
    recalled, _ = memory.recall.rank(
        searched, limit=8, max_chars=4000, options=options, explain=True
    )
    assert recalled.explanation is not None
    parts = [one["parts"]["prior.interval"] for one in recalled.explanation["candidates"]]
    assert set(parts) == {0}


def test_filters_hold_for_what_is_of_that_time(memory):
    until = RecallFilter(until=date(2026, 5, 31))
    assert JUNE not in memory.texts("What did the choir rehearse last week?", until)
    assert memory.texts("What happened last week?", until) == []


def test_as_of_a_day_relative_words_count_from_that_day(memory):
    then = RecallFilter(as_of=date(2026, 5, 15))
    assert memory.texts("What did the choir rehearse this week?", then)[0] == MAY


def test_as_of_a_day_a_hit_says_nothing_of_its_later_successor(memory):
    memory.set(
        "UPDATE fact SET superseded_by = (SELECT id FROM fact AS newer WHERE newer.text = ?)"
        " WHERE text = ?",
        JUNE,
        MAY,
    )
    asked = "What did the choir rehearse?"
    marks = [
        {hit.text: hit.superseded_by for hit in memory.ask(asked, limits).hits}[MAY]
        for limits in (RecallFilter(), RecallFilter(as_of=date(2026, 5, 31)))
    ]
    assert marks[0] is not None
    assert marks[1] is None


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What does the choir rehearse in the chapel?", JUNE),
        ("Did the choir originally rehearse Brahms?", APRIL),
        ("What did the choir rehearse in April 2026?", APRIL),
        ("What does the choir currently rehearse, as in April 2026?", JUNE),
    ],
)
def test_a_question_after_the_past_may_want_what_was_superseded(memory, question, first):
    memory.set(
        "UPDATE fact SET superseded_by = (SELECT id FROM fact AS newer WHERE newer.text = ?)"
        " WHERE text <> ?",
        JUNE,
        JUNE,
    )
    assert memory.texts(question, min_relevance=0)[0] == first


def test_the_latest_of_several_is_the_newest(tmp_path):
    embedder = WordEmbedder(synonyms=[frozenset({"brahm", "haydn", "elgar"})])
    with Memory(tmp_path, embedder=embedder) as memory:
        memory.take(aa=dated("2026-06-10", JUNE), bb=dated("2026-04-10", APRIL + " Yes."))
        memory.set("UPDATE fact SET superseded_by = NULL, category = 'error'")
        assert memory.texts("latest rehearsed choir chapel")[0] == JUNE
