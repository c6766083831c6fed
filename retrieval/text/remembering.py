"""Results for short texts, kept: agents ask the same question again, and a pasted page is not worth the room."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

# As many as there are query vectors kept.
_MOST = 512


def remembered(
    longest: int,
) -> Callable[[Callable[Concatenate[str, P], T]], Callable[Concatenate[str, P], T]]:
    """Keeps the last 512 results of a pure function of a text, for texts of at most so many characters."""

    def decorate(function: Callable[Concatenate[str, P], T]) -> Callable[Concatenate[str, P], T]:
        kept = lru_cache(_MOST)(function)

        @wraps(function)
        def called(text: str, /, *args: P.args, **kwargs: P.kwargs) -> T:
            if len(text) > longest:
                return function(text, *args, **kwargs)
            return kept(text, *args, **kwargs)  # type: ignore[arg-type]  # it takes hashable ones only

        return called

    return decorate
