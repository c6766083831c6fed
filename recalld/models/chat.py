"""What recalld asks of a language model, and what it gets back. It must not know any server.

A prompt that does not fit is cut without a word by most servers, so the room for it is stated here and
held by each client: never more than half the window, and what was read is compared with what was sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from recalld.errors import ModelError, ModelState, PromptCut
from recalld.models.tokens import fewest_tokens, most_tokens

# What a chat template adds round two messages.
_TEMPLATE_TOKENS = 64
# The share of the least estimate that must have been read; below it the front was dropped.
_READ_SHARE = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One question. The same request gets the same answer, as far as the server can."""

    system: str
    user: str
    # A JSON schema for the answer: flat, without `pattern`, `$ref` and long bounds, which servers refuse.
    # A server may ignore it, so the prompt must say it too, and the answer must be checked.
    schema: Mapping[str, object] | None
    # Tokens of the answer; at most half the window are allowed.
    max_tokens: int
    # Whether text of notes, or of a question, is in it: what a server says to it is then kept out of logs and status.
    is_private: bool = True
    temperature: Literal[0] = field(default=0, init=False)
    seed: Literal[0] = field(default=0, init=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """What the model said, without what it thought in a field of its own. Read it with `replies.read_json`."""

    text: str
    # Tokens that the server read; None when it doesn't tell.
    prompt_tokens: int | None
    # `length`: the answer was cut at `max_tokens` and is not whole.
    finished: Literal["stop", "length"]
    model: str
    # Of the weights; None when the server doesn't tell.
    digest: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelHealth:
    """How a model is doing, and the command or setting that mends it."""

    state: ModelState
    hint: str | None
    name: str
    digest: str | None


class ChatModel(Protocol):
    """A language model. One call at a time: a second one waits for the first."""

    @property
    def prompt_budget_chars(self) -> int:
        """Characters of system and user text together that fit in any Latin script.

        Denser scripts fit fewer: `complete` tells by PromptCut, before anything is sent.
        """
        ...

    def complete(self, request: ChatRequest) -> ChatReply:
        """The answer to a request.

        Raises:
            PromptCut: It is longer than half the window, or the server read only a part of it.
            TransientModelError: `is_outage` tells whether the request had a part in it.
            PermanentModelError: It won't work until the model or the settings change.
        """
        ...

    def health(self) -> ModelHealth:
        """How it is doing now; takes at most a few seconds, also while a call hangs. Never raises."""
        ...

    def cancel(self) -> None:
        """Cuts a call in flight, from another thread; that call raises TransientModelError at once."""
        ...

    def close(self) -> None:
        """Cuts a call in flight and refuses every later one."""
        ...


def is_outage(error: ModelError) -> bool:
    """Whether the model was not to be had, whatever was asked: no attempt of a block is used up.

    `slow` is one as well: whether the block or the model is to blame shows when another request is tried.
    """
    return error.state not in (None, "ok")


def prompt_budget_chars(window: int) -> int:
    """Characters of plain Latin text that fit in half a window of so many tokens."""
    # Digits, marks and accents cost more than letters do; 2 characters a token leaves room for them.
    return max(window // 2 - _TEMPLATE_TOKENS, 0) * 2


def check_fits(request: ChatRequest, window: int) -> None:
    """Refuses a request whose prompt may exceed half the window.

    Raises:
        PromptCut: With nothing read.
    """
    most = most_tokens(request.system) + most_tokens(request.user) + _TEMPLATE_TOKENS
    if most > window // 2:
        raise PromptCut(
            f"the prompt may have {most} tokens, and half the window is {window // 2}",
            estimated_tokens=most,
            counted_tokens=None,
            hint="a larger llm.num_ctx takes longer pieces, and more memory",
        )


def check_read(request: ChatRequest, counted: int | None) -> None:
    """Refuses an answer to a prompt of which the server read too little. None and 0: it doesn't tell.

    Neither does one that counts words, as servers do that stand before another one.

    Raises:
        PromptCut: With what was read.
    """
    fewest = fewest_tokens(request.system) + fewest_tokens(request.user)
    words = len(request.system.split()) + len(request.user.split())
    if counted and counted != words and counted < fewest * _READ_SHARE:
        raise PromptCut(
            f"the server read {counted} tokens of a prompt of at least {fewest}",
            estimated_tokens=fewest,
            counted_tokens=counted,
            hint="the model's own context is smaller than llm.num_ctx",
        )


def answer_tokens(request: ChatRequest, window: int) -> int:
    """Tokens that the answer may have: what was asked for, within half the window, at least one."""
    return max(1, min(request.max_tokens, window // 2))
