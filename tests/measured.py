"""What was measured of a memory, without measuring."""

from __future__ import annotations

from retrieval.thresholds import Foreign, Measured

SPREAD = 0.09


def measured(**medians: float) -> Measured:
    """By language the median strength of what is foreign; it scatters by SPREAD in each."""
    return Measured(
        space=1,
        identity="m",
        questions="q",
        statements=70,
        day="2026-03-04",
        foreign={language: Foreign(value, SPREAD) for language, value in medians.items()},
    )
