"""What holds for every test: a slow machine is no fault of the code under test."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("recalld", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("recalld")
