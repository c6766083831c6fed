"""What a model server's refusal means: wait, mend something, or send a shorter text.

By status first: the wordings differ between versions and servers, so a word is looked for only where
one status stands for several things. A server that was sent text of notes may tell it back, so its words are told
only where none was sent. It opens nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from recalld.errors import ModelError, PermanentModelError, PromptCut, TransientModelError

_TOO_LONG = re.compile(
    r"context (?:length|size|window)|too (?:long|large)|maximum context|exceed_context",
    re.IGNORECASE,
)
_NOT_A_NUMBER = re.compile(r"\bNaN\b|unsupported value", re.IGNORECASE)
_LOADING = re.compile(r"loading model|model is loading", re.IGNORECASE)
# Said of a model that makes vectors, or is one for a part of another.
_NO_CHAT = re.compile(r"does not support (?:chat|generate|completion)", re.IGNORECASE)
_MOST_SHOWN = 200
_KEY = "it wants a key: name the variable that holds it in llm.api_key_env"

# What a call was about: the server itself, a model on it, or a text of notes.
About = Literal["server", "model", "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mending:
    """The commands and settings that mend each state; they name the server and the model at hand."""

    missing: str
    busy: str
    broken: str
    denied: str
    # No such server is at this address and path.
    elsewhere: str


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


def refusal(
    status: int, reason: str, mending: Mending, *, prompt_tokens: int, about: About = "text"
) -> ModelError:
    """The error for a status that is not 200. `prompt_tokens` is our estimate of what was sent."""
    refused = f"the model server refused ({status})"
    told = f"{refused}: {reason}" if about != "text" and reason else refused
    error = _refusal(status, reason, told, mending, prompt_tokens, about)
    error.said = reason if about == "text" else None
    return error


def _refusal(
    status: int, reason: str, told: str, mending: Mending, prompt_tokens: int, about: About
) -> ModelError:
    if refuses_text(status, reason) and _TOO_LONG.search(reason):
        return PromptCut(told, estimated_tokens=prompt_tokens, counted_tokens=None)
    if status in (404, 405, 501) and about == "server":
        return PermanentModelError(told, hint=mending.elsewhere, state="down")
    if status == 404:
        return PermanentModelError(told, hint=mending.missing, state="missing")
    if status == 401:
        return PermanentModelError(told, hint=f"{told}; {_KEY}", state="down")
    if _NO_CHAT.search(reason):
        return PermanentModelError(
            told, hint=f"the model writes no text; {mending.denied}", state="missing"
        )
    if status in (402, 403):
        return PermanentModelError(told, hint=f"{told}; {mending.denied}", state="missing")
    if status == 503 and _LOADING.search(reason):
        return TransientModelError(told, hint=mending.busy, state="loading")
    if status in (429, 503):
        return TransientModelError(told, hint=mending.busy, state="busy")
    if status >= 500 or status in (408, 499):
        return TransientModelError(told, hint=f"{told}; {mending.broken}", state="down")
    return PermanentModelError(told, hint=f"{told}; {mending.denied}")
