"""How much each step of ranking weighs, and whether it takes part at all. The defaults are what recall uses.

It exists so that a step can be measured by leaving it out. It knows the steps' own constants and nothing of how they
work.
"""

from __future__ import annotations

from dataclasses import dataclass

from retrieval import fusion, priors


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A number is what its step may add at most, in standard deviations of the fused score; 0 leaves it out."""

    # Whether what the channel brings up and how it scores takes part; evidence is judged the same without it.
    keyword: bool = True
    vector: bool = True
    # Share of the vector channel where both take part, 0..1.
    vector_share: float = fusion.VECTOR_SHARE
    # Share of its better neighbour's score that a short passage gains, 0..1.
    neighbour_share: float = fusion.NEIGHBOUR_SHARE
    graph_gain: float = fusion.GRAPH_GAIN
    decay: float = priors.MAX_DECAY_PENALTY
    importance: float = priors.MAX_IMPORTANCE
    frequency: float = priors.MAX_FREQUENCY
    agreement: float = priors.MAX_AGREEMENT
    when: float = priors.WHEN_GAIN
    number: float = priors.NUMBER_GAIN
    interval: float = priors.INTERVAL_GAIN
    # What a passage loses in which no fact states what matched.
    stated: float = priors.UNSTATED_PENALTY
    # Newer numbers above the older ones they seem to replace.
    newer_numbers: bool = True
    # Successors above what they supersede.
    supersession: bool = True


STANDARD = Weights()
