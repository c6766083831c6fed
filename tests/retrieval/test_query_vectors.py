from __future__ import annotations

import threading

import numpy as np
import pytest

from recalld.errors import PermanentModelError, TransientModelError
from retrieval.query_vectors import QueryVectors
from tests.fakes import DIMENSION, WordEmbedder
from tests.waiting import DEADLINE_S, not_held_up, soon


class Held(WordEmbedder):
    """Answers once it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = threading.Event()

    def embed_query(self, text: str):
        assert self.let_go.wait(2 * DEADLINE_S)
        return super().embed_query(text)


class Giving(WordEmbedder):
    def __init__(self, made) -> None:
        super().__init__()
        self._made = made

    def embed_query(self, text: str):
        return self._made


def test_each_text_goes_to_the_model_once():
    embedder = WordEmbedder()
    queries = QueryVectors(embedder)
    first, second = queries.vector("pump"), queries.vector("pump")
    assert np.array_equal(first, second)
    assert embedder.queries == ["pump"]
    assert queries.close()


@pytest.mark.parametrize("error", [TransientModelError("later"), PermanentModelError("never")])
def test_model_that_fails_is_asked_again_next_time(error):
    embedder = WordEmbedder()
    queries = QueryVectors(embedder)
    embedder.failure = error
    assert queries.vector("pump") is None
    embedder.failure = None
    assert queries.vector("pump") is not None
    queries.close()


@pytest.mark.parametrize("made", [np.zeros(DIMENSION), np.full(DIMENSION, np.nan)])
def test_nonsense_is_no_vector(made):
    queries = QueryVectors(Giving(made.astype(np.float32)))
    assert queries.vector("pump") is None
    queries.close()


@pytest.mark.parametrize("text", ["", "  \n"])
def test_nothing_asked_gives_no_vector(text):
    queries = QueryVectors(WordEmbedder())
    assert queries.vector(text) is None
    assert QueryVectors(None).vector("pump") is None
    queries.close()


def test_model_that_hangs_is_not_waited_for_and_comes_back():
    embedder = Held()
    queries = QueryVectors(embedder, patience_s=0.1)
    with not_held_up():  # If each waited, they would for a hundred seconds.
        assert [queries.vector(text) for text in ("a", "b", "c", "a")] == [None] * 4
        for _ in range(1000):
            assert queries.vector("d") is None
    assert not queries.close(0.02)
    embedder.let_go.set()
    assert queries.close(DEADLINE_S)


def test_late_vector_serves_the_next_who_asks():
    embedder = Held()
    queries = QueryVectors(embedder, patience_s=0.02)
    assert queries.vector("a") is None
    embedder.let_go.set()
    soon(lambda: queries.vector("a") is not None)
    assert embedder.queries == ["a"]
    queries.close()


def test_closed_gives_no_new_vector():
    queries = QueryVectors(WordEmbedder())
    queries.vector("known")
    assert queries.close()
    assert queries.vector("new") is None
    assert queries.vector("known") is not None


def test_long_text_costs_the_model_no_more_than_a_page():
    embedder = WordEmbedder()
    queries = QueryVectors(embedder)
    first = queries.vector("pump " * 2000)
    assert np.array_equal(first, queries.vector("pump " * 1000 + "another end"))
    (asked,) = embedder.queries
    assert len(asked) == 1000
    queries.close()
