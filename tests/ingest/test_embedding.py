from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from ingest.embedding import EmbeddingStage
from recalld.errors import TransientModelError
from recalld.models.embedder import Matrix
from recalld.store.vectors import dequantised
from tests.fakes import DIMENSION, WordEmbedder
from tests.ingest.keeping import Vault


@pytest.fixture
def vault(tmp_path) -> Iterator[Vault]:
    with Vault(tmp_path) as made:
        yield made


def stage(vault: Vault, embedder: WordEmbedder, *, batch: int = 100) -> EmbeddingStage:
    made = EmbeddingStage(
        database=vault.database, writes=vault.writes, embedder=embedder, batch=batch
    )
    made.adopt()
    return made


def states(vault: Vault) -> dict[str, str]:
    return dict(vault.rows("SELECT text, embed_state FROM statement"))


class Answering(WordEmbedder):
    """Answers as it is told, once it has done what the test wants done meanwhile."""

    def __init__(self, answer=None, meanwhile=lambda: None) -> None:
        super().__init__()
        self._answer = answer
        self._meanwhile = meanwhile

    def embed_statements(self, texts: Sequence[str], starts: Sequence[int] = ()) -> Matrix:
        self._meanwhile()
        made = super().embed_statements(texts, starts)
        return made if self._answer is None else self._answer(made)


def test_each_waiting_statement_gets_the_vector_of_its_own_text(vault):
    vault.write("a.md", "The gateway listens on port 9090.\n\n烤箱在十点关闭。\n")
    vault.look()
    embedder = WordEmbedder()
    done = stage(vault, embedder).step()
    assert (done.asked, done.stored, done.refused) == (2, 2, 0)
    rows = vault.rows(
        "SELECT embed_prefix || text, embedding FROM statement JOIN vector ON statement_id = id"
    )
    assert len(rows) == 2
    for text, embedding in rows:
        wanted = embedder.embed_statements([text])[0]
        assert float(dequantised(embedding) @ wanted) > 0.99
    assert stage(vault, embedder).step().asked == 0


def test_no_more_than_a_batch_goes_to_the_model(vault):
    vault.write("a.md", "\n\n".join(f"Machine number {word} hums." for word in "abcde"))
    vault.look()
    stages = stage(vault, WordEmbedder(), batch=2)
    assert [stages.step().asked for _ in range(4)] == [2, 2, 1, 0]


def test_notes_changed_last_come_first(vault):
    vault.write("old.md", "The oldest machine hums.\n")
    vault.look()
    vault.now += 60
    vault.write("new.md", "The newest machine hums.\n")
    vault.look()
    embedder = WordEmbedder()
    stage(vault, embedder, batch=1).step()
    assert "newest" in embedder.statements[0]


def test_same_text_goes_to_the_model_once(vault):
    vault.write("a.md", "The machine hums all day.\n\n> The machine hums all day.\n")
    vault.write("b.md", "The machine hums all day.\n")
    vault.look()
    embedder = WordEmbedder()
    done = stage(vault, embedder).step()
    assert done.stored == done.asked == 3
    assert len(embedder.statements) == len(set(embedder.statements))


def test_moved_or_reverted_text_costs_no_call(vault):
    vault.write("a.md", "The machine hums all day.\n")
    vault.look()
    embedder = WordEmbedder()
    stages = stage(vault, embedder)
    stages.step()
    vault.write("a.md", "Something else altogether.\n")
    vault.look("a.md")
    stages.step()
    asked = len(embedder.statements)
    vault.write("a.md", "The machine hums all day.\n")
    vault.look("a.md")
    assert stages.step().asked == 0
    assert len(embedder.statements) == asked


def test_result_for_a_statement_that_changed_meanwhile_is_dropped(vault):
    vault.write("a.md", "The machine hums.\n")
    vault.look()

    def edit() -> None:
        vault.write("a.md", "The machine screams.\n")
        vault.look("a.md")

    done = stage(vault, Answering(meanwhile=edit)).step()
    assert (done.asked, done.stored) == (1, 0)
    assert states(vault) == {"The machine screams.": "pending"}
    assert vault.rows("SELECT count(*) FROM vector") == [(0,)]
    assert stage(vault, WordEmbedder()).step().stored == 1


def test_result_for_a_note_that_is_gone_is_dropped(vault):
    path = vault.write("a.md", "The machine hums.\n")
    vault.write("b.md", "")
    vault.look()

    def remove() -> None:
        path.unlink()
        vault.look("a.md")

    assert stage(vault, Answering(meanwhile=remove)).step().stored == 0
    assert vault.rows("SELECT count(*) FROM vector") == [(0,)]


def test_row_that_is_no_vector_is_refused_and_given_up_in_the_end(vault):
    vault.write("a.md", "The machine hums.\n\nThe fan sings.\n")
    vault.look()

    def spoil(made: Matrix) -> Matrix:
        made[0] = np.nan
        return made

    spoiling = stage(vault, Answering(spoil), batch=1)
    rounds = 0
    while spoiling.step().asked:
        rounds += 1
        assert rounds < 50, "it must come to an end"
    assert set(states(vault).values()) == {"failed"}
    assert vault.rows("SELECT count(*) FROM vector") == [(0,)]


@pytest.mark.parametrize("answer", [lambda made: made[:-1], np.zeros_like])
def test_nonsense_is_refused_whole(vault, answer):
    vault.write("a.md", "The machine hums.\n\nThe fan sings.\n")
    vault.look()
    done = stage(vault, Answering(answer)).step()
    assert (done.asked, done.stored, done.refused) == (2, 0, 2)


def test_good_rows_of_a_batch_are_kept(vault):
    vault.write("a.md", "The machine hums.\n\nThe fan sings.\n")
    vault.look()

    def spoil(made: Matrix) -> Matrix:
        made[0] = np.inf
        return made

    done = stage(vault, Answering(spoil)).step()
    assert (done.stored, done.refused) == (1, 1)


def test_model_that_fails_changes_nothing(vault):
    vault.write("a.md", "The machine hums.\n")
    vault.look()
    embedder = WordEmbedder()
    stages = stage(vault, embedder)
    embedder.failure = TransientModelError("no answer")
    before = vault.writes.count
    with pytest.raises(TransientModelError):
        stages.step()
    assert vault.writes.count == before
    assert vault.rows("SELECT embed_state, attempts FROM statement") == [("pending", 0)]


def test_vectors_of_another_space_go_and_are_made_anew(vault):
    vault.write("a.md", "The machine hums.\n")
    vault.look()
    stage(vault, WordEmbedder()).step()
    other = EmbeddingStage(
        database=vault.database,
        writes=vault.writes,
        embedder=WordEmbedder(identity="words@2"),
        batch=9,
    )
    in_use = (
        "SELECT length(embedding) FROM vector JOIN space ON space.id = space WHERE state = 'in_use'"
    )
    assert other.adopt()
    assert vault.rows(in_use) == []
    assert not other.adopt()
    assert other.step().stored == 1
    assert vault.rows(in_use) == [(DIMENSION,)]


def test_a_space_is_made_beside_the_one_in_use_and_takes_what_is_known(vault):
    vault.write("a.md", "The machine hums.\n\nThe fan sings.\n")
    vault.look()
    stage(vault, WordEmbedder()).step()
    embedder = WordEmbedder(identity="words@2")
    other = EmbeddingStage(database=vault.database, writes=vault.writes, embedder=embedder, batch=1)
    assert other.step().asked == 0, "before it is begun there is nothing to do"
    other.begin()
    assert (other.step().stored, len(embedder.statements)) == (1, 1)
    vault.write("b.md", "The machine hums.\n")
    vault.look()
    while other.step().asked:
        pass
    assert sorted(embedder.statements) == ["The fan sings.", "The machine hums."]
    assert vault.rows("SELECT count(*) FROM vector GROUP BY space") == [(3,), (3,)]
