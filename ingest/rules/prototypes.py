"""The category of a statement by its nearest examples, where no word gives it away.

The examples are in `prototypes.toml`; who embeds them, and with what model, is not known here.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from recalld.records import Category

Vectors = NDArray[np.float32]

# So many of a category's nearest examples speak for it: one alone may be near by its topic.
_VOICES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PrototypeVectors:
    """The examples embedded: `vectors[n]`, a unit row, is of `categories[n]`; in the order of `prototype_texts`."""

    categories: tuple[Category, ...]
    vectors: Vectors


@cache
def prototype_texts() -> tuple[tuple[Category, str], ...]:
    """Every example with its category, in a fixed order."""
    table = tomllib.loads((resources.files(__package__) / "prototypes.toml").read_text("utf-8"))
    return tuple(
        (Category(name), text)
        for name, languages in table.items()
        for texts in languages.values()
        for text in texts
    )


def nearest_category(
    vector: Vectors, prototypes: PrototypeVectors, margin: float = 0.05
) -> Category:
    """The category whose best three examples are nearest by mean cosine; `knowledge` when it leads too little.

    Args:
        vector: The statement's embedding, of unit length, shape (dimension,).
        prototypes: Examples of the same model, at least one.
        margin: How far the nearest category must lead the second, as a difference of mean cosines;
            `error` twice as far.
    """
    cosines = prototypes.vectors @ vector
    of_category = np.array([category.value for category in prototypes.categories])
    leads = sorted(
        (
            (float(np.sort(cosines[of_category == category.value])[-_VOICES:].mean()), category)
            for category in dict.fromkeys(prototypes.categories)
        ),
        key=lambda lead: -lead[0],
    )
    # An error never fades, so a text has to be twice as near to errors to count as one.
    needed = 2 * margin if leads[0][1] is Category.ERROR else margin
    if len(leads) > 1 and leads[0][0] - leads[1][0] < needed:
        return Category.KNOWLEDGE
    return leads[0][1]
