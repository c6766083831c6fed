"""The errors of recalld, one tree, each with a sentence and, where the user can act, a hint.

RecalldError
├── SettingsError        the settings file, environment or command line is wrong (all mistakes at once)
├── StoreError           the database
│   ├── StoreDamaged     not a database, or damaged: restore or rebuild
│   ├── StoreTooNew      written by a newer recalld
│   ├── StoreUnusable    SQLite lacks what we need, the disk is full, the file may not be written
│   └── StoreBusy        somebody else holds a lock for longer than we wait (transient)
├── AlreadyRunning       another daemon holds the data folder
├── SocketError          the socket path can't be used
├── NotRunning           no daemon answers on the socket
├── ModelError           an embedding or language model
│   ├── TransientModelError   try again later
│   │   └── PromptCut         the text is longer than the model reads: try a shorter piece
│   └── PermanentModelError   try again only after something changed
└── RequestError         a request that cannot be answered; has a JSON-RPC code
    ├── InvalidParams    -32602
    ├── NotFound         -32001
    ├── AmbiguousAnchor  -32002
    ├── TooLarge         -32003
    ├── Busy             -32004
    ├── ModelUnavailable -32005
    ├── Stopping         -32006
    └── Forbidden        -32007

Bad content of a note is not an error: it is a `Problem`, counted and shown.
"""

from __future__ import annotations

from typing import ClassVar, Literal

# How a model is doing; `off` also when a call was cut because recalld wants it so.
ModelState = Literal["ok", "loading", "down", "slow", "busy", "missing", "off"]


class RecalldError(Exception):
    """Any failure that recalld names. `str(error)` is one sentence; `hint` says what the user can do, or is None."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def told(self) -> str:
        """What is wrong, and what to do where that is known, in one line."""
        return f"{self.message}: {self.hint}" if self.hint else self.message


class SettingsError(RecalldError):
    """The settings are wrong. `mistakes` holds every one of them, a sentence each."""

    def __init__(self, mistakes: tuple[str, ...], *, hint: str | None = None) -> None:
        super().__init__("; ".join(mistakes), hint=hint)
        self.mistakes = mistakes


class StoreError(RecalldError):
    """The database could not do what was asked."""


class StoreDamaged(StoreError):
    """The file is not a database, or is damaged."""


class StoreTooNew(StoreError):
    """The file's schema is newer than this recalld."""


class StoreUnusable(StoreError):
    """SQLite lacks what recalld needs, or the file cannot be written."""


class StoreBusy(StoreError):
    """A lock is held for longer than we wait; trying again later is right."""


class AlreadyRunning(RecalldError):
    """Another daemon holds the data folder. `holder` is its process id where it is known."""

    def __init__(self, message: str, *, holder: int | None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.holder = holder


class SocketError(RecalldError):
    """The socket path can't be bound."""


class NotRunning(RecalldError):
    """No daemon answers on the socket."""


class ModelError(RecalldError):
    """A model could not do what was asked.

    `state` is what the failure says about the model. None says nothing about it: what was asked or
    what came back was at fault, not the model's being there.

    `said` is what a server said that was sent text of notes, which it may have told back: for the debug log alone.
    """

    said: str | None = None

    def __init__(
        self, message: str, *, hint: str | None = None, state: ModelState | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.state = state


class TransientModelError(ModelError):
    """It may work later without anybody's doing."""


class PromptCut(TransientModelError):
    """The prompt is longer than the model reads; an answer to a part of it is worth nothing.

    `estimated_tokens` is what the prompt has by our estimate, `counted_tokens` what the server read
    of it, or None when it read nothing. The cure is a shorter piece, not waiting.
    """

    def __init__(
        self,
        message: str,
        *,
        estimated_tokens: int,
        counted_tokens: int | None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.estimated_tokens = estimated_tokens
        self.counted_tokens = counted_tokens


class PermanentModelError(ModelError):
    """It won't work until the input, the model or the settings change."""


class RequestError(RecalldError):
    """A request that cannot be answered. `code` and `kind` go to the client as they are."""

    code: ClassVar[int] = -32603
    kind: ClassVar[str] = "internal"

    def __init__(
        self, message: str, *, hint: str | None = None, data: dict[str, object] | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.data = data or {}


class InvalidParams(RequestError):
    """The parameters don't fit the method."""

    code = -32602
    kind = "invalid_params"


class NotFound(RequestError):
    """No such anchor, entity or method's object."""

    code = -32001
    kind = "not_found"


class AmbiguousAnchor(RequestError):
    """The anchor's prefix fits several; `data["matches"]` lists them."""

    code = -32002
    kind = "ambiguous_anchor"


class TooLarge(RequestError):
    """Over a size limit."""

    code = -32003
    kind = "too_large"


class Busy(RequestError):
    """Too many connections or requests at once."""

    code = -32004
    kind = "busy"


class ModelUnavailable(RequestError):
    """The method needs a model that does not answer."""

    code = -32005
    kind = "model_unavailable"


class Stopping(RequestError):
    """The daemon is on its way out."""

    code = -32006
    kind = "stopping"


class Forbidden(RequestError):
    """The peer may not ask this."""

    code = -32007
    kind = "forbidden"
