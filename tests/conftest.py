"""What holds for every test: a slow machine is no fault of the code under test, and a run can be repeated."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "recalld",
    max_examples=50,
    derandomize=True,  # what passes once passes again; new examples are sought by `thorough`
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "thorough", settings.get_profile("recalld"), max_examples=500, derandomize=False
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "recalld"))
