"""What a model server's refusal means: wait, mend something, or send a shorter text.

By status first: the wordings differ between versions and servers, so a word is looked for only where
one status stands for several things. It opens nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from recalld.errors import ModelError, PermanentModelError, PromptCut, TransientModelError

_TOO_LONG = re.compile(
    r"context (?:length|size|window)|too (?:long|large)|maximum context|exceed_context",
    re.IGNORECASE,
)
_NOT_A_NUMBER = re.compile(r"\bNaN\b|unsupported value", re.IGNORECASE)
_LOADING = re.compile(r"loading model|model is loading", re.IGNORECASE)
_MOST_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Mending:
    """The commands and settings that mend each state; they name the server and the model at hand."""

    missing: str
    busy: str
    broken: str
    denied: str


def reason_of(body: object) -> str:
    """What a body says went wrong, on one short line: `{"error": "…"}`, `{"error": {"message": "…"}}` or text."""
    said = body
    for key in ("error", "message", "detail"):
        if isinstance(said, Mapping) and key in said:
            said = said[key]
    line = " ".join(str(said).split())
    return line if len(line) <= _MOST_SHOWN else line[: _MOST_SHOWN - 1] + "…"


def refuses_text(status: int, reason: str) -> bool:
    """Whether the refusal is about the text that was sent, so that another or a shorter one may pass."""
    if status in (400, 413, 422):
        return True
    # Some servers say so with 500: an input beyond the batch, a vector that JSON cannot hold.
    return status == 500 and bool(_TOO_LONG.search(reason) or _NOT_A_NUMBER.search(reason))


def refusal(status: int, reason: str, mending: Mending, *, prompt_tokens: int) -> ModelError:
    """The error for a status that is not 200. `prompt_tokens` is our estimate of what was sent."""
    said = f"the model server refused ({status}): {reason}"
    if refuses_text(status, reason) and _TOO_LONG.search(reason):
        return PromptCut(said, estimated_tokens=prompt_tokens, counted_tokens=None)
    if status == 404:
        return PermanentModelError(said, hint=mending.missing, state="missing")
    if status in (401, 402, 403):
        return PermanentModelError(said, hint=mending.denied, state="missing")
    if status == 503 and _LOADING.search(reason):
        return TransientModelError(said, hint=mending.busy, state="loading")
    if status in (429, 503):
        return TransientModelError(said, hint=mending.busy, state="busy")
    if status >= 500 or status in (408, 499):
        return TransientModelError(said, hint=mending.broken, state="down")
    return PermanentModelError(said, hint=mending.denied)
