"""JSON-RPC 2.0, one message a line: bytes to requests and answers to bytes.

Pure, and standard library only, because the command line's client starts with it. It knows no
method: what a request's parameters mean is said in `recalld.parameters`.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NoReturn

from recalld.errors import (
    AmbiguousAnchor,
    Busy,
    Forbidden,
    InvalidParams,
    ModelError,
    ModelUnavailable,
    NotFound,
    RecalldError,
    RequestError,
    Stopping,
    StoreBusy,
    TooLarge,
)

RequestId = str | int | float | None

# Nothing that recalld takes is nested deeper than four; deeper input is an attack or a mistake.
MAX_DEPTH = 64
# One line could otherwise ask for half a million error answers.
MAX_BATCH = 1000

_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


class ParseError(RequestError):
    """The line is not JSON."""

    code = -32700
    kind = "parse_error"


class InvalidRequest(RequestError):
    """It is JSON, but no JSON-RPC 2.0 request."""

    code = -32600
    kind = "invalid_request"


class MethodNotFound(RequestError):
    """There is no such method."""

    code = -32601
    kind = "method_not_found"


_ERRORS: dict[int, type[RequestError]] = {
    error.code: error
    for error in (
        ParseError,
        InvalidRequest,
        MethodNotFound,
        InvalidParams,
        NotFound,
        AmbiguousAnchor,
        TooLarge,
        Busy,
        ModelUnavailable,
        Stopping,
        Forbidden,
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request to be carried out."""

    # Meaningless for a notification.
    id: RequestId
    method: str
    params: dict[str, object] = field(default_factory=dict)
    # A notification is carried out and never answered, not even with an error.
    notification: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """One request that cannot be carried out, and is answered with why."""

    # None where no id could be read.
    id: RequestId
    error: RequestError


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What one line asked, in its order; nothing for a blank line."""

    items: tuple[Request | Refused, ...]
    # A batch is answered by one array, and not at all when it holds only notifications.
    batch: bool = False


def decode_line(line: bytes) -> Message:
    """The requests of one line, with or without its line end; whatever the bytes, it never raises.

    Lone surrogates, which JSON can write and UTF-8 cannot, become U+FFFD. NaN, infinity, a key
    given twice and nesting beyond `MAX_DEPTH` are errors.
    """
    if not line.strip():
        return Message(items=())
    try:
        value = _parsed(line)
    except RequestError as error:
        return Message(items=(Refused(id=None, error=error),))
    if not isinstance(value, list):
        return Message(items=_requests([value]))
    if not value:
        return Message(items=(Refused(id=None, error=InvalidRequest("The batch is empty.")),))
    if len(value) > MAX_BATCH:
        refusal = TooLarge(f"The batch has over {MAX_BATCH} requests.", hint="Send it in parts.")
        return Message(items=(Refused(id=None, error=refusal),))
    return Message(items=_requests(value), batch=True)


def encode_request(method: str, params: dict[str, object], request_id: RequestId) -> bytes:
    """One request as a line with its line end; ValueError or TypeError if it is not JSON."""
    body = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    return encode(body) + b"\n"


def encode_result(request_id: RequestId, result: object) -> bytes:
    """A successful answer, without line end; ValueError or TypeError if `result` is not JSON."""
    return encode({"jsonrpc": "2.0", "id": request_id, "result": result})


def encode_error(request_id: RequestId, error: RequestError) -> bytes:
    """An error answer, without line end."""
    data: dict[str, object] = {**error.data, "kind": error.kind}
    if error.hint:
        data["hint"] = error.hint
    body = {"code": error.code, "message": error.message, "data": data}
    return encode({"jsonrpc": "2.0", "id": request_id, "error": body})


def encode_message(message: Message, answers: Iterable[bytes]) -> bytes:
    """The line that answers `message`, with its line end; empty when nothing is to be answered."""
    parts = list(answers)
    if not parts:
        return b""
    return (b"[" + b",".join(parts) + b"]\n") if message.batch else parts[0] + b"\n"


def encode(value: object) -> bytes:
    """JSON on one line, always valid UTF-8: a lone surrogate becomes U+FFFD.

    Raises ValueError for NaN and infinity, TypeError for what JSON cannot hold.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _LONE_SURROGATES.sub("\ufffd", text).encode()


def as_request_error(error: BaseException) -> RequestError:
    """What the client is told: the sentence of an error of ours, nothing of any other."""
    if isinstance(error, RequestError):
        return error
    if isinstance(error, StoreBusy):
        return Busy(error.message, hint=error.hint or "Try again in a moment.")
    if isinstance(error, ModelError):
        return ModelUnavailable(error.message, hint=error.hint)
    if isinstance(error, RecalldError):
        return RequestError(error.message, hint=error.hint)
    return RequestError(
        "The daemon failed to answer this request.",
        hint="Its log says why: standard error, or `journalctl --user -u recalld`.",
    )


def error_from(body: object) -> RequestError:
    """The error that an answer's `error` object stands for: the inverse of `encode_error`."""
    if not isinstance(body, dict):
        return RequestError("The daemon answered with an error that cannot be read.")
    data = body.get("data")
    rest = dict(data) if isinstance(data, dict) else {}
    hint = rest.pop("hint", None)
    rest.pop("kind", None)
    code = body.get("code")
    known = _ERRORS.get(code, RequestError) if isinstance(code, int) else RequestError
    return known(
        str(body.get("message", "")), hint=hint if isinstance(hint, str) else None, data=rest
    )


def method_not_found(method: str, known: Iterable[str]) -> MethodNotFound:
    """The error for an unknown method; its hint names the nearest known ones."""
    names = sorted(known)
    near = difflib.get_close_matches(method, names, n=1)
    hint = f"Did you mean `{near[0]}`?" if near else f"The methods are {', '.join(names)}."
    return MethodNotFound(f"There is no method `{shortened(method)}`.", hint=hint)


def shortened(text: str, limit: int = 60) -> str:
    """`text` fit for a message: on one line, and cut at `limit` characters."""
    flat = "".join(char if char.isprintable() else "\ufffd" for char in text[: limit + 1])
    return flat if len(flat) <= limit else flat[:limit] + "…"


class _DuplicateKeyError(ValueError):
    """A key that an object has twice; the message is the key."""


def _parsed(line: bytes) -> object:
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise ParseError("The line is not valid UTF-8.", hint="Send JSON as UTF-8.") from error
    try:
        value = json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            object_pairs_hook=_unique_keys,
        )
        return _cleaned(value, MAX_DEPTH)
    except _DuplicateKeyError as error:
        raise InvalidRequest(f"The key `{error}` is given twice.") from None
    except RecursionError:
        raise ParseError(f"The JSON is nested deeper than {MAX_DEPTH} levels.") from None
    except ValueError as error:
        raise ParseError(
            f"The line is not valid JSON: {_reason(error)}.", hint="Send one JSON object a line."
        ) from None


def _reason(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.lower()} at character {error.pos}"
    return "it holds a number that JSON does not have"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _finite(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise ValueError(written)
    return number


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise _DuplicateKeyError(shortened(counts.most_common(1)[0][0]))
    return found


def _cleaned(value: object, depth: int) -> object:
    if isinstance(value, str):
        return _LONE_SURROGATES.sub("\ufffd", value)
    if not isinstance(value, (dict, list)):
        return value
    if depth == 0:
        raise RecursionError
    if isinstance(value, list):
        return [_cleaned(item, depth - 1) for item in value]
    return {_cleaned(key, depth): _cleaned(item, depth - 1) for key, item in value.items()}


def _requests(values: list[object]) -> tuple[Request | Refused, ...]:
    return tuple(request for value in values if (request := _request(value)) is not None)


def _request(value: object) -> Request | Refused | None:
    """One request, or None for a notification with unusable parameters: nobody waits to be told."""
    if not isinstance(value, dict):
        return _refused(None, "A request is a JSON object.")
    request_id = value.get("id")
    if isinstance(request_id, bool) or not isinstance(request_id, (str, int, float, type(None))):
        return _refused(None, "The `id` of a request is a string, a number or null.")
    if value.get("jsonrpc") != "2.0":
        return _refused(request_id, 'A request says `"jsonrpc":"2.0"`.')
    method = value.get("method")
    if not isinstance(method, str):
        return _refused(request_id, "The `method` of a request is a string.")
    # Some clients send null or an empty array for "no parameters".
    params = value.get("params")
    if params is None or params == []:
        params = {}
    if not isinstance(params, dict):
        if "id" not in value:
            return None
        return Refused(
            id=request_id, error=InvalidParams("Parameters are given by name, in an object.")
        )
    return Request(id=request_id, method=method, params=params, notification="id" not in value)


def _refused(request_id: RequestId, message: str) -> Refused:
    return Refused(id=request_id, error=InvalidRequest(message))
