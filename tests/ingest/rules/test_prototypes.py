from __future__ import annotations

import tomllib
from importlib import resources

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.rules.prototypes import PrototypeVectors, nearest_category, prototype_texts
from recalld.models.embedded import EmbeddedModel
from recalld.records import Category
from tests.embedded import loaded


def unit(*numbers: float) -> np.ndarray:
    vector = np.array(numbers, dtype=np.float32)
    return vector / np.linalg.norm(vector)


AXES = PrototypeVectors(
    categories=(Category.ERROR,) * 3 + (Category.TOOL,) * 3 + (Category.KNOWLEDGE,) * 3,
    vectors=np.stack([unit(1, 0, 0)] * 3 + [unit(0, 1, 0)] * 3 + [unit(0, 0, 1)] * 3),
)


def test_every_category_has_eight_examples_in_each_language():
    table = tomllib.loads((resources.files("ingest.rules") / "prototypes.toml").read_text("utf-8"))
    assert set(table) == {category.value for category in Category}
    for languages in table.values():
        assert set(languages) == {"en", "nl", "de", "zh"}
        assert all(len(set(texts)) >= 8 for texts in languages.values())
    texts = [text for _, text in prototype_texts()]
    assert (
        len(texts) == len(set(texts)) == sum(len(t) for ls in table.values() for t in ls.values())
    )


def test_the_nearest_category_wins():
    assert nearest_category(unit(1, 0.2, 0), AXES) is Category.ERROR
    assert nearest_category(unit(0.1, 1, 0.1), AXES) is Category.TOOL


def test_a_small_lead_means_knowledge():
    assert nearest_category(unit(1, 0.99, 0), AXES) is Category.KNOWLEDGE
    assert nearest_category(unit(1, 0.99, 0), AXES, margin=0.0) is Category.ERROR


def test_three_examples_outweigh_one_stray():
    vectors = np.stack(
        [
            unit(1, 0, 0),
            unit(0, 1, 0),
            unit(0, 1, 0.1),
            unit(0.9, 0.3, 0),
            unit(0.9, 0.2, 0),
            unit(0.9, 0.1, 0),
        ]
    )
    prototypes = PrototypeVectors(
        categories=(Category.ERROR,) * 3 + (Category.TOOL,) * 3, vectors=vectors
    )
    assert nearest_category(unit(1, 0, 0), prototypes) is Category.TOOL


@given(
    st.lists(st.floats(-1, 1, width=32), min_size=3, max_size=3).filter(
        lambda v: np.linalg.norm(v) > 0.01
    )
)
def test_order_of_examples_does_not_matter(numbers):
    backwards = PrototypeVectors(categories=AXES.categories[::-1], vectors=AXES.vectors[::-1])
    assert nearest_category(unit(*numbers), AXES) is nearest_category(unit(*numbers), backwards)


_UNSEEN = [
    (Category.ERROR, "The mail server went silent because its queue had filled up."),
    (Category.ERROR, "De verwarming sloeg af doordat de sensor nat was geworden."),
    (Category.TIMELINE, "Our daughter started school in September 2018."),
    (Category.TIMELINE, "三月五日我们签了购房合同。"),
    (Category.PREFERENCE, "Ich sitze im Kino am liebsten ganz hinten."),
    (Category.PREFERENCE, "I like my eggs soft and my toast dark."),
    (Category.TOOL, "Press and hold both keys until the light blinks."),
    (Category.TOOL, "先打开设置，再点击网络选项。"),
]


@pytest.mark.slow
def test_the_embedded_model_sorts_unseen_sentences():
    model = loaded(EmbeddedModel)
    examples = prototype_texts()
    prototypes = PrototypeVectors(
        categories=tuple(category for category, _ in examples),
        vectors=model.embed_statements([text for _, text in examples]),
    )
    vectors = model.embed_statements([text for _, text in _UNSEEN])
    hits = [
        nearest_category(vector, prototypes, margin=0.0) is category
        for vector, (category, _) in zip(vectors, _UNSEEN, strict=True)
    ]
    assert sum(hits) >= 6
