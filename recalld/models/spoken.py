"""Gathers the parts of an answer as they come, and says when to stop listening.

A model that runs on in blanks, or says more than anybody reads, is not heard to its end.
"""

from __future__ import annotations

from typing import Literal

from recalld.models.replies import MAX_BYTES

# No answer has so many blanks in a row; a model that has begun to repeat them does not stop.
_MOST_BLANKS = 2000


class Spoken:
    """An answer in the making."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._blanks = 0
        self._cut = False
        # Whether the server said that this was all, or we stopped listening.
        self.ended = False
        self.prompt_tokens: int | None = None

    @property
    def text(self) -> str:
        """Everything heard."""
        return "".join(self._parts)

    @property
    def finished(self) -> Literal["stop", "length"]:
        """`length` when the answer is not whole."""
        return "length" if self._cut else "stop"

    def add(self, part: str) -> bool:
        """Takes a part. False when the rest need not be heard: the answer counts as cut."""
        self._parts.append(part)
        self._length += len(part)
        said = part.rstrip()
        self._blanks = self._blanks + len(part) if not said else len(part) - len(said)
        enough = self._length > MAX_BYTES or self._blanks > _MOST_BLANKS
        if enough:
            self._cut = self.ended = True
        return not enough

    def end(self, cut: bool, prompt_tokens: int | None) -> None:
        """The server said that this was all, and whether the limit of tokens ended it."""
        self.ended = True
        self._cut = self._cut or cut
        if prompt_tokens is not None:
            self.prompt_tokens = prompt_tokens
