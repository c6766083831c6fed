"""What is asked all the time looks up what it needs: a plan that goes through all vectors is slow in a large store."""

from __future__ import annotations

import pytest

from daemon.app import DATABASE_NAME
from recalld.records import StatementId
from recalld.store.connection import Database
from recalld.store.memory_vectors import MemoryVectors
from recalld.store.reading import count_undecided, undecided_facts
from recalld.store.vectors import unit_vectors
from tests.fakes import WordEmbedder
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
