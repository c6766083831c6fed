"""The threshold of evidence as one memory needs it, by language: from how near it comes to what it knows nothing of.

A vault of short notes and one of long conversations differ in that: where everything is spoken of in passing, some
sentence is somewhat near to any question. Pure; it must not know how the questions are asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median, pstdev
from typing import Any, NamedTuple

from retrieval.text.tongues import LATIN, UNKNOWN, Tongue

# How many standard deviations evidence must stand above the median strength of what is foreign.
DEVIATIONS = 2.0
# How far a threshold may lie below and above the one that is shipped with the model: a memory that happens to speak of
# sheep and lighthouses must not become deaf, and one of ten sentences not gullible.
BELOW_SHIPPED = 0.02
ABOVE_SHIPPED = 0.26
# In fewer statements with vectors the best of them is chance.
LEAST_STATEMENTS = 50
# By what factor a memory must have grown or shrunk to be measured again.
GROWTH = 1.5
# Fewer questions of a language say nothing of how far their strengths scatter.
_LEAST_ANSWERED = 3
_DIGITS = 4


class Foreign(NamedTuple):
    """How strong the strongest evidence is for questions about what a memory knows nothing of."""

    median: float
    # Standard deviation over the questions.
    spread: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was measured of a memory."""

    # In which space: its id, and its model's identity.
    space: int
    identity: str
    # Which questions were asked.
    questions: str
    # Over so many statements with vectors, on that day (ISO).
    statements: int
    day: str
    # By the language of the questions.
    foreign: Mapping[Tongue, Foreign]

    def is_of(self, other: Standing) -> bool:
        """Whether it holds for a memory that stands so."""
        return (
            (self.space, self.identity, self.questions)
            == (other.space, other.identity, other.questions)
            and other.statements >= LEAST_STATEMENTS
            and self.statements < other.statements * GROWTH
            and other.statements < self.statements * GROWTH
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A memory as it is, as far as its thresholds depend on that."""

    space: int
    identity: str
    questions: str
    # With vectors in the space.
    statements: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Where relevance is .5, by the language of the question."""

    by_language: Mapping[Tongue, float]
    # For every language that was not asked in.
    other: float
    measured: Measured

    def told(self) -> dict[str, float]:
        """By language, and `other` for every other one."""
        return {**self.by_language, "other": self.other}

    def of(self, language: Tongue | None) -> float:
        """The threshold for a question in a language; None = in none that is known.

        Latin letters without a word that tells their language are held to the highest threshold of the Latin
        languages: such words are most likely of the language of the notes, and that is the one whose foreign questions
        come nearest, as they share words with the notes. (Words that no note has share none; the caller gives None.)
        """
        if language == "latin":
            known = [self.by_language[one] for one in LATIN if one in self.by_language]
            return max(known, default=self.other)
        return self.other if language is None else self.by_language.get(language, self.other)


def foreign(strengths: Mapping[Tongue, Sequence[float]]) -> dict[Tongue, Foreign]:
    """What the strengths of each language come to; a language with too few is left out."""
    return {
        language: Foreign(round(median(some), _DIGITS), round(pstdev(some), _DIGITS))
        for language, some in strengths.items()
        if len(some) >= _LEAST_ANSWERED
    }


def thresholds(measured: Measured, shipped: float) -> Thresholds:
    """The thresholds that follow from a measurement; those of no language when nothing was found in any.

    Args:
        shipped: The threshold that belongs to the model. None given here lies further off than BELOW_SHIPPED and
            ABOVE_SHIPPED allow.
    """
    above = {
        language: one.median + DEVIATIONS * one.spread for language, one in measured.foreign.items()
    }
    middle = median([above[one] for one in above if one != UNKNOWN] or [shipped])
    return Thresholds(
        by_language={language: _bounded(value, shipped) for language, value in above.items()},
        other=_bounded(middle, shipped),
        measured=measured,
    )


def floor_and_ceiling(shipped: float) -> tuple[float, float]:
    """Between what a threshold lies, given the one shipped with the model."""
    return round(shipped - BELOW_SHIPPED, _DIGITS), round(shipped + ABOVE_SHIPPED, _DIGITS)


def _bounded(value: float, shipped: float) -> float:
    low, high = floor_and_ceiling(shipped)
    return min(max(round(value, _DIGITS), low), high)


def as_kept(measured: Measured) -> str:
    """A measurement as text, for the store."""
    return json.dumps(
        {
            "space": measured.space,
            "identity": measured.identity,
            "questions": measured.questions,
            "statements": measured.statements,
            "day": measured.day,
            "foreign": {language: [*one] for language, one in measured.foreign.items()},
        }
    )


def from_kept(text: str | None) -> Measured | None:
    """A measurement from the store; None where there is none, or one that can't be read."""
    try:
        kept: Any = json.loads(text or "null")
        return Measured(
            space=int(kept["space"]),
            identity=str(kept["identity"]),
            questions=str(kept["questions"]),
            statements=int(kept["statements"]),
            day=str(kept["day"]),
            foreign={
                str(language): Foreign(float(middle), float(spread))
                for language, (middle, spread) in dict(kept["foreign"]).items()
            },
        )
    except (ValueError, TypeError, KeyError):
        return None
