"""How many threads numerical libraries may use. It must be imported, and asked, before any of them is."""

from __future__ import annotations

from collections.abc import MutableMapping

_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def limit_threads(env: MutableMapping[str, str], threads: int = 1) -> None:
    """Keeps numerical libraries to so many threads, where the user has not said otherwise.

    Two threads that wait for each other on a busy two-core machine are ten times slower than one, and
    on a quiet one they double the cost of a recall.
    """
    for name in _VARIABLES:
        env.setdefault(name, str(threads))
