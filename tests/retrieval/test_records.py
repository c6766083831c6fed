"""The explanation of a score: every number is there, and they add up."""

from __future__ import annotations

import pytest

from retrieval.records import Fused, Parts, Priors


def test_parts_add_up_and_name_every_number():
    parts = Parts(
        fused=Fused(keyword_z=1.0, vector_z=2.0, fused=1.5, neighbour=0.25, graph=0.4),
        priors=Priors(
            decay=-0.1,
            importance=0.05,
            frequency=0.02,
            agreement=0.03,
            when=0.5,
            number=0.5,
            interval=1.0,
            stated=-0.3,
        ),
    )
    named = parts.named()
    assert named == {
        "keyword_z": 1.0,
        "vector_z": 2.0,
        "fused": 1.5,
        "neighbour": 0.25,
        "graph": 0.4,
        "prior.decay": -0.1,
        "prior.importance": 0.05,
        "prior.frequency": 0.02,
        "prior.agreement": 0.03,
        "prior.when": 0.5,
        "prior.number": 0.5,
        "prior.interval": 1.0,
        "prior.stated": -0.3,
        "total": parts.total,
    }
    added = sum(n for name, n in named.items() if name.startswith("prior."))
    assert parts.total == pytest.approx(
        named["fused"] + named["neighbour"] + named["graph"] + added
    )


def test_no_priors_leave_the_fused_score():
    fused = Fused(keyword_z=0.0, vector_z=0.0, fused=0.75)
    assert Parts(fused=fused, priors=Priors()).total == 0.75
