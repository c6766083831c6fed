"""`python -m bench [WHAT] [OPTIONS]`: measurements through the real daemon; without WHAT, all of them."""

from __future__ import annotations

import sys
from collections.abc import Callable

from bench import latency

_KINDS: dict[str, Callable[[list[str]], int]] = {"latency": latency.main}


def main() -> int:
    """The exit code: 1 when a target was missed, 2 when nobody knows what was asked."""
    if len(sys.argv) == 1:
        return max(measure([]) for measure in _KINDS.values())
    if sys.argv[1] not in _KINDS:
        print(f"usage: python -m bench [{'|'.join(_KINDS)}] [--help]", file=sys.stderr)
        return 2
    return _KINDS[sys.argv[1]](sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
