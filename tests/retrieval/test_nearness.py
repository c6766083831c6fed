import numpy as np
import pytest

from recalld.models.embedder import Shift
from recalld.store.connection import execute
from recalld.store.memory_vectors import MemoryVectors
from recalld.store.vectors import SqliteVectors, unit_vectors
from retrieval.nearness import nearness_to
from tests.fakes import WordEmbedder
from tests.retrieval.asking import Memory


@pytest.fixture
def memory(tmp_path):
    with Memory(tmp_path, embedder=WordEmbedder()) as memory:
        memory.take(Pump="The pump is loud. It needs oil.", Soup="Soup wants salt.")
        yield memory


def unit(vector):
    return (vector / np.linalg.norm(vector)).astype(np.float32)


@pytest.mark.parametrize("search", [SqliteVectors, MemoryVectors])
@pytest.mark.parametrize("length", [0.0, 0.4, 1.5])
def test_nearness_is_the_cosine_seen_from_the_shift(memory, search, length):
    size = memory.embedder.space.dimension
    place = np.random.default_rng(1)
    shift = Shift(
        (length * unit(place.standard_normal(size))).astype(np.float32),
        (0.7 * unit(place.standard_normal(size))).astype(np.float32),
    )
    query = memory.embedder.embed_query("pump oil")
    with memory.vault.database.reader() as connection:
        ids = [row[0] for row in execute(connection, "SELECT id FROM passage")]
        near = nearness_to(search(), query, shift, connection, ids)
        vectors = unit_vectors(connection, list(near))
    assert len(near) > 1
    for statement_id, value in near.items():
        direct = unit(vectors[statement_id] - shift.statement) @ unit(query - shift.query)
        assert value == pytest.approx(float(direct), abs=1e-4)


def test_without_a_shift_it_is_the_cosine_and_without_a_query_nothing(memory):
    query = memory.embedder.embed_query("pump")
    with memory.vault.database.reader() as connection:
        ids = [row[0] for row in execute(connection, "SELECT id FROM passage")]
        near = nearness_to(SqliteVectors(), query, None, connection, ids)
        vectors = unit_vectors(connection, list(near))
        assert nearness_to(SqliteVectors(), None, None, connection, ids) == {}
    for statement_id, value in near.items():
        assert value == pytest.approx(float(vectors[statement_id] @ query), abs=1e-4)
