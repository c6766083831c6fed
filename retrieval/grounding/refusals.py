"""What judging a model's fact comes to: grounded, or refused with a reason word and what stood out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Refusal = Literal[
    "words",
    "number",
    "date",
    "name",
    "negation",
    "roles",
    "meta",
    "leak",
    "instruction",
    "modality",
]


@dataclass(frozen=True, slots=True)
class Grounded:
    """The block says so."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The block does not say so; `detail` is what stood out."""

    reason: Refusal
    detail: str
