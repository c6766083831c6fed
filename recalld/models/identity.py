"""Who said something, in one word that is stored with it: a model, its weights, and the version of what it was asked.

One set of weights is one model, however its name is spelled in the settings. It must not know what was asked.
"""

from __future__ import annotations

from recalld.models.chat import ModelHealth

_MODEL = "llm:"
# The tag that a server adds where none is written.
_TAG = ":latest"


def mark_of(health: ModelHealth, version: str) -> str:
    """The word for what this model says to a prompt of this version; it has the name for people."""
    return f"{_MODEL}{health.name}:{(health.digest or '')[:12]}@{version}"


def said_by(mark: str) -> str:
    """What answers follow from, which is equal for equal ones: weights and prompt.

    The name stands for weights that the server doesn't tell, with or without its `:latest`. A mark that is no model's,
    as that of the rules, is what it is.
    """
    if not mark.startswith(_MODEL):
        return mark
    name, _, weights = mark.removeprefix(_MODEL).rpartition(":")
    if not weights.startswith("@"):
        return weights
    return name.strip().casefold().removesuffix(_TAG) + weights


def spellings(mark: str) -> tuple[str, ...]:
    """A model's mark, and those that it has under its name with `:latest` and without."""
    name, _, weights = mark.removeprefix(_MODEL).rpartition(":")
    bare = name.removesuffix(_TAG)
    return tuple(
        dict.fromkeys((mark, f"{_MODEL}{bare}:{weights}", f"{_MODEL}{bare}{_TAG}:{weights}"))
    )
