from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from ingest.embedding import EmbeddingStage
from ingest.refining import RefiningStage
from ingest.rules.prototypes import prototype_texts
from recalld.errors import TransientModelError
from recalld.models.embedder import Matrix
from recalld.records import Category
from tests.fakes import WordEmbedder
from tests.ingest.keeping import Vault


@pytest.fixture
def vault(tmp_path) -> Iterator[Vault]:
    with Vault(tmp_path) as made:
        yield made


def undecided_like(vault: Vault, category: Category, number: int = 0) -> str:
    """A note whose fact no rule decided and whose words are those of an example of a category."""
    texts = [text for one, text in prototype_texts() if one is category and text.isascii()]
    text = texts[number]
    vault.write(f"{category.value}{number}.md", text + "\n")
    vault.look()
    vault.database.writer.execute("UPDATE fact SET category_by = 'undecided'").fetchall()
    return text


def embed(vault: Vault, embedder: WordEmbedder) -> None:
    stage = EmbeddingStage(
        database=vault.database, writes=vault.writes, embedder=embedder, batch=100
    )
    stage.adopt()
    stage.step()


def refining(vault: Vault, embedder: WordEmbedder) -> RefiningStage:
    return RefiningStage(database=vault.database, writes=vault.writes, embedder=embedder)


class Spoiling(WordEmbedder):
    """Gives what it is told for the examples."""

    def __init__(self, spoil) -> None:
        super().__init__()
        self._spoil = spoil

    def embed_statements(self, texts: Sequence[str], starts: Sequence[int] = ()) -> Matrix:
        made = super().embed_statements(texts, starts)
        return self._spoil(made) if len(texts) > 20 else made


def test_fact_gets_the_category_of_the_nearest_examples(vault):
    """An example is nearest to itself, and one voice of three is lead enough for words as vectors."""
    undecided_like(vault, Category.PREFERENCE)
    embedder = WordEmbedder()
    embed(vault, embedder)
    assert refining(vault, embedder).step().settled == vault.rows("SELECT count(*) FROM fact")[0][0]
    decided = vault.rows("SELECT category, category_by FROM fact")
    assert {by for _, by in decided} == {"prototype"}
    assert {category for category, _ in decided} <= {"preference", "knowledge"}


def test_nothing_is_asked_of_the_model_while_nothing_waits(vault):
    embedder = WordEmbedder()
    assert refining(vault, embedder).step().settled == 0
    assert embedder.statements == []


def test_fact_waits_until_its_statement_has_a_vector(vault):
    undecided_like(vault, Category.TOOL)
    embedder = WordEmbedder()
    stage = refining(vault, embedder)
    assert stage.step().settled == 0
    embed(vault, embedder)
    assert stage.step().settled > 0
    assert stage.step().settled == 0


def test_category_of_a_rule_or_a_user_is_left(vault):
    undecided_like(vault, Category.TOOL)
    vault.database.writer.execute("UPDATE fact SET category_by = 'user', category = 'error'").fetchall()  # fmt: skip
    embedder = WordEmbedder()
    embed(vault, embedder)
    assert refining(vault, embedder).step().settled == 0
    assert set(vault.rows("SELECT category FROM fact")) == {("error",)}


def test_examples_are_embedded_once_and_kept_over_a_restart(vault):
    undecided_like(vault, Category.TOOL)
    embedder = WordEmbedder()
    embed(vault, embedder)
    refining(vault, embedder).step()
    before = len(embedder.statements)
    undecided_like(vault, Category.TIMELINE)
    embed(vault, embedder)
    added = len(embedder.statements) - before
    assert refining(vault, embedder).step().settled > 0
    assert len(embedder.statements) == before + added


def test_examples_of_another_model_are_embedded_anew(vault):
    undecided_like(vault, Category.TOOL)
    embed(vault, WordEmbedder())
    refining(vault, WordEmbedder()).step()
    other = WordEmbedder(identity="words@2")
    undecided_like(vault, Category.TIMELINE)
    embed(vault, other)
    before = len(other.statements)
    refining(vault, other).step()
    assert len(other.statements) == before + len(prototype_texts())


def test_examples_without_a_vector_are_left_out(vault):
    undecided_like(vault, Category.TOOL)

    def spoil(made: Matrix) -> Matrix:
        made[::2] = np.nan
        return made

    embedder = Spoiling(spoil)
    embed(vault, embedder)
    assert refining(vault, embedder).step().settled > 0
    undecided_like(vault, Category.TIMELINE)
    embed(vault, embedder)
    assert refining(vault, embedder).step().settled > 0, "what is kept is read back alike"


@pytest.mark.parametrize(
    "spoil", [lambda made: made[:-1], lambda made: np.full_like(made, np.nan)], ids=["few", "nan"]
)
def test_useless_examples_settle_nothing_and_are_not_kept(vault, spoil):
    undecided_like(vault, Category.TOOL)
    embedder = Spoiling(spoil)
    embed(vault, embedder)
    with pytest.raises(TransientModelError):
        refining(vault, embedder).step()
    assert set(vault.rows("SELECT category_by FROM fact")) == {("undecided",)}
    assert vault.rows("SELECT count(*) FROM meta WHERE key LIKE 'prototypes/%'") == [(0,)]


def test_model_that_fails_leaves_everything_for_later(vault):
    undecided_like(vault, Category.TOOL)
    embedder = WordEmbedder()
    embed(vault, embedder)
    embedder.failure = TransientModelError("no answer")
    stage = refining(vault, embedder)
    with pytest.raises(TransientModelError):
        stage.step()
    embedder.failure = None
    assert stage.step().settled > 0
