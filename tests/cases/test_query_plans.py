"""What is asked all the time looks up what it needs: a plan that goes through all vectors is slow in a large store.

A limit of a recall may be gone through once for each search, never once for each candidate.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from datetime import date

import pytest

from daemon.app import DATABASE_NAME
from recalld.records import Category, RecallFilter, StatementId
from recalld.store.connection import Database, execute
from recalld.store.memory_vectors import MemoryVectors
from recalld.store.reading import count_undecided, undecided_facts
from recalld.store.vectors import SqliteVectors, unit_vectors
from retrieval.evidence import KEYWORD_SLOPE, KEYWORD_TAU, Calibration
from retrieval.query_vectors import QueryVectors
from retrieval.ranking import RecallOptions
from retrieval.recall import Recall
from tests.fakes import WordEmbedder
from tests.growth import assert_costs_at_most
from tests.large_store import large_store
from tests.running import RunningDaemon

EMBEDDER = WordEmbedder()


def plans(connection, work):
    """The steps of the plan of every statement that `work` runs."""
    asked = []

    def remember(_, sql, bindings):
        if not sql.startswith("EXPLAIN"):
            asked.append((sql, bindings))
        return True

    connection.exec_trace = remember
    work(connection)
    connection.exec_trace = None
    return [
        step[3]
        for sql, bindings in asked
        for step in connection.execute(f"EXPLAIN QUERY PLAN {sql}", bindings)
    ]


@pytest.fixture
def connection(tmp_path):
    with RunningDaemon(tmp_path, embedder=EMBEDDER) as daemon:
        daemon.write("a.md", "The pump is loud. It needs oil.\n")
        daemon.settle()
        data = daemon.data
    database = Database(data / DATABASE_NAME)
    with database.reader() as connection:
        yield connection
    database.close()


@pytest.mark.parametrize(
    "work",
    [
        lambda connection: undecided_facts(connection, 10),
        count_undecided,
        lambda connection: unit_vectors(connection, [StatementId(1)]),
    ],
    ids=["undecided facts", "count of undecided facts", "unit vectors"],
)
def test_vectors_are_looked_up_by_statement(connection, work):
    steps = [step for step in plans(connection, work) if "vector" in step]
    assert steps
    assert all("statement_id=?" in step for step in steps)


def test_new_vectors_are_found_by_number(connection):
    vectors = MemoryVectors(EMBEDDER.space.identity)
    query = EMBEDDER.embed_query("pump")
    found = plans(connection, lambda now: vectors.nearest(now, query, 5, None))
    reading = [step for step in found if step.startswith("SEARCH vector") and "rowid" in step]
    assert reading == ["SEARCH vector USING INTEGER PRIMARY KEY (rowid>?)"]


LIMITS = {
    "no limit": RecallFilter(),
    "a category": RecallFilter(categories=(Category.ERROR,)),
    "a root": RecallFilter(roots=("other",)),
    "a path": RecallFilter(paths=("a",)),
    "a rare tag": RecallFilter(tags=("topic/t1",)),
    "a tag of all": RecallFilter(tags=("all",)),
    "a scope": RecallFilter(scopes=("global",)),
    "since": RecallFilter(since=date(2025, 6, 1)),
    "until": RecallFilter(until=date(2025, 6, 1)),
    "some days": RecallFilter(since=date(2025, 6, 1), until=date(2025, 6, 10)),
    "as of": RecallFilter(as_of=date(2025, 12, 1)),
    "facts": RecallFilter(kinds=("fact",)),
    "passages": RecallFilter(kinds=("passage",)),
    "everything": RecallFilter(
        roots=("notes", "other"),
        paths=("a", "b"),
        tags=("all",),
        scopes=("global",),
        categories=(Category.ERROR,),
        since=date(2025, 2, 1),
        until=date(2026, 1, 1),
        as_of=date(2026, 1, 1),
        kinds=("fact",),
    ),
}
# By name, by words alone, by days and words, by days alone.
QUESTIONS = (
    "which pump leaks oil with part7 in Lyon",
    "part9 part11",
    "what happened to pump 17 in March 2025",
    "what was in March 2025",
)


def recall_over(database, vectors):
    return Recall(
        database=database,
        vectors=vectors,
        queries=QueryVectors(EMBEDDER),
        calibration=Calibration(
            tau=0.4, slope=12.0, keyword_tau=KEYWORD_TAU, keyword_slope=KEYWORD_SLOPE
        ),
        options=RecallOptions(),
        today=lambda: date(2026, 6, 1),
        degraded=lambda: (),
    )


def ask(recall, limits):
    return [recall.recall(text, limits=limits, limit=8, max_chars=4000) for text in QUESTIONS]


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """Recalls over a store and over one that is eight times as large."""
    made = {}
    for name, notes in (("small", 100), ("large", 800)):
        path = tmp_path_factory.mktemp(name) / DATABASE_NAME
        made[name] = large_store(path, notes, EMBEDDER)
    yield made
    for database in made.values():
        database.close()


@contextmanager
def recalling(database, vectors=None):
    recall = recall_over(database, vectors or MemoryVectors())
    try:
        yield recall
    finally:
        recall.close()


def read_again(connection, sql, bindings):
    """The steps of a statement's plan that go through a whole table for each row of another step."""
    found, above, begun = [], {}, set()
    for number, parent, _, step in connection.execute(f"EXPLAIN QUERY PLAN {sql}", bindings):
        above[number] = (parent, step)
        is_loop = step.startswith(("SCAN ", "SEARCH "))
        is_again = is_loop and parent in begun
        if is_loop:
            begun.add(parent)
        within = parent
        while within in above:
            within, outer = above[within]
            is_again = is_again or outer.startswith("CORRELATED")
        if "AUTOMATIC" in step or (is_loop and is_again and is_whole(step)):
            found.append(step)
    return found


def is_whole(step):
    if step.startswith("SCAN passage_fts") or step.endswith("(space=?)"):
        return True
    small = ("VIRTUAL TABLE", "CONSTANT ROW", "(subquery")
    return step.startswith("SCAN ") and not any(what in step for what in small)


@pytest.mark.slow
@pytest.mark.parametrize("gathered", [False, True], ids=["no statistics", "statistics"])
def test_no_limit_has_a_table_read_for_each_candidate(gathered, stores):
    database = stores["large"]
    if gathered:
        execute(database.writer, "ANALYZE")
    database.asked.clear()
    for vectors in (SqliteVectors(), MemoryVectors()):
        with recalling(database, vectors) as recall:
            for limits in LIMITS.values():
                ask(recall, limits)
    asked = {sql: one for sql, one in database.asked.items() if sql.startswith(("SELECT", "WITH"))}
    assert len(asked) > 100
    with database.reader() as connection:
        found = {sql: read_again(connection, sql, one) for sql, one in asked.items()}
    execute(database.writer, "DROP TABLE IF EXISTS sqlite_stat1; DROP TABLE IF EXISTS sqlite_stat4")
    assert {sql: steps for sql, steps in found.items() if steps} == {}


def test_a_table_that_is_read_for_each_row_of_another_is_seen(connection):
    for sql in (
        "SELECT 1 FROM json_each('[1]') CROSS JOIN passage ON length(passage.text) = value",
        "SELECT 1 FROM fact WHERE EXISTS (SELECT 1 FROM passage WHERE length(passage.text) = fact.id)",
        "SELECT 1 FROM json_each('[1]') CROSS JOIN vector ON space = value",
    ):
        assert read_again(connection, sql, None), sql
    for sql in (
        "SELECT 1 FROM passage WHERE note_id IN (SELECT id FROM note)",
        "SELECT 1 FROM fact CROSS JOIN passage ON passage.id = fact.id",
    ):
        assert not read_again(connection, sql, None), sql


@pytest.mark.slow
@pytest.mark.parametrize("name", LIMITS)
def test_a_limited_recall_grows_with_the_store(name, stores):
    work = {}
    for size, database in stores.items():
        with recalling(database) as recall:
            ask(recall, LIMITS[name])
            before = database.steps()
            ask(recall, LIMITS[name])
            work[size] = database.steps() - before
    assert work["large"] <= 10 * work["small"]


@pytest.mark.slow
@pytest.mark.parametrize("name", LIMITS)
def test_a_limited_recall_costs_a_few_times_what_one_without_limits_does(name, stores):
    with recalling(stores["large"]) as recall:
        assert_costs_at_most(
            4,
            lambda: ask(recall, LIMITS[name]),
            than=lambda: ask(recall, RecallFilter()),
            clock=time.process_time,
        )
