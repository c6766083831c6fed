"""When to ask a model again that failed: pauses that grow, and one probe at the end of each.

A state and functions on it; instants are arguments, in seconds of a clock that never goes back. It
must not know what failed: only outages are told to it, never a block that the model could not read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """What is known of a model's outages. The default is a model that has not failed: closed."""

    # Failures since the last success; 0 = closed.
    failures: int = 0
    # Instant from which one probe may go out; None while closed.
    retry_at: float | None = None
    # Seconds of the first pause, doubled with each failure up to the longest.
    first_s: float = FIRST_PAUSE_S
    longest_s: float = LONGEST_PAUSE_S

    @property
    def closed(self) -> bool:
        """Whether calls go through freely."""
        return self.failures == 0


def pause_s(
    failures: int, *, first_s: float = FIRST_PAUSE_S, longest_s: float = LONGEST_PAUSE_S
) -> float:
    """Seconds to wait after so many failures in a row: 1, 2, 4 … up to 300; 0 without any."""
    if failures < 1:
        return 0.0
    # After so many doublings any longest pause holds, so the exponent need not grow.
    return min(first_s * float(1 << min(failures - 1, 40)), longest_s)


def asked(breaker: Breaker, now: float) -> tuple[bool, Breaker]:
    """Whether a call may go out at `now`, and the state after that answer.

    Open: no. At the end of a pause: yes, once; the next yes comes a pause later, so a probe whose
    end nobody tells does not keep the way shut for ever.
    """
    if breaker.retry_at is None:
        return True, breaker
    if now < breaker.retry_at:
        return False, breaker
    return True, replace(breaker, retry_at=now + _pause_of(breaker, breaker.failures))


def failed(breaker: Breaker, now: float) -> Breaker:
    """The state after an outage that ended at `now`."""
    failures = breaker.failures + 1
    return replace(breaker, failures=failures, retry_at=now + _pause_of(breaker, failures))


def succeeded(breaker: Breaker) -> Breaker:
    """The state after any answer of the model: closed, and the pauses begin from the first."""
    return replace(breaker, failures=0, retry_at=None)


def wait_s(breaker: Breaker, now: float) -> float:
    """Seconds until a call may go out; 0 when it may now."""
    return 0.0 if breaker.retry_at is None else max(breaker.retry_at - now, 0.0)


def _pause_of(breaker: Breaker, failures: int) -> float:
    return pause_s(failures, first_s=breaker.first_s, longest_s=breaker.longest_s)
