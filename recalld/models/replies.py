"""Reads what a language model said: the one JSON value in it, or why there is none to be trusted.

A schema makes an answer likely, not certain: servers ignore it, models wrap it in prose, think aloud,
stop half-way or run on in blanks. Nothing here raises on any text, and every text takes linear time.
What the value says is not looked at; it must not know what was asked.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

MAX_BYTES = 256 * 1024
MAX_DEPTH = 32

RejectedReason = Literal[
    "empty",
    "too_long",
    "thinking_unclosed",
    "no_json",
    "cut",
    "too_deep",
    "not_json",
    "duplicate_key",
    "not_finite",
    "bad_character",
    "schema_echo",
]

# How models mark that they think aloud: a word in brackets of some kind, with the maker's name before it (`seed:`),
# bars or `START_`; or a channel, of which only `final` is the answer. In square brackets other words are prose.
_WORD = r"(?:\w{1,20}:)?(?:think(?:ing)?|thought|reasoning|analysis|reflection|scratchpad)\|?[>▷]"
_MESSAGE = r"[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>"
_THINK = re.compile(
    rf"[<◁]\|?(?:START_|begin_of_)?{_WORD}|\[think(?:ing)?\]"
    rf"|<\|channel\|>(?!\s*final\b){_MESSAGE}",
    re.IGNORECASE,
)
_THOUGHT = re.compile(
    rf"[<◁]\|?(?:/|END_|end_of_){_WORD}|\[/think(?:ing)?\]|<\|channel\|>\s*final\b{_MESSAGE}",
    re.IGNORECASE,
)
_OPENING = re.compile(r"[{\[]")
# Outside strings these end or begin something; a whole string is one token, so that brackets in it don't count.
_TOKEN = re.compile(r'[{}\[\]]|"[^"\\]*(?:\\.[^"\\]*)*(?P<closed>")?', re.DOTALL)
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A JSON object or array that is complete, unambiguous and finite; never an empty one."""

    value: dict[str, object] | list[object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """Why there is nothing to use. `reason` is a stable word, counted and stored."""

    reason: RejectedReason


class _Unusable(ValueError):
    def __init__(self, reason: RejectedReason) -> None:
        super().__init__(reason)
        self.reason: RejectedReason = reason


def read_json(text: str) -> Parsed | Rejected:
    """The first JSON object or array in an answer, without fences, prose and thinking around it.

    A piece is never taken out of a broken whole: what begins as JSON and does not end is `cut`, what
    is not JSON to its end is `not_json`, and the answer is to be asked for again. `{}`, `[]` and
    `null` are `empty`: no answer, not an answer of nothing. An array of plain values that stands
    before an object (`[1]`, as in a footnote) is passed over.
    """
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "replace")) > MAX_BYTES:
        return Rejected(reason="too_long")
    if not text.strip():
        return Rejected(reason="empty")
    try:
        return _read(_spoken(text))
    except _Unusable as error:
        return Rejected(reason=error.reason)


def _read(spoken: str) -> Parsed | Rejected:
    plain: Parsed | None = None
    reason: RejectedReason = "empty" if spoken.strip() in ("", "null") else "no_json"
    for span in _spans(spoken):
        try:
            value = _value(span)
        except _Unusable as error:
            # Prose has brackets too: `[see below]` is passed over, but a broken object is not.
            if error.reason != "not_json" or span[0] == "{":
                raise
            reason = "not_json"
            continue
        if not value:
            reason = "empty"
        elif isinstance(value, dict) or any(isinstance(each, dict | list) for each in value):
            return Rejected(reason="schema_echo") if _is_schema(value) else Parsed(value=value)
        else:
            plain = plain or Parsed(value=value)
    return plain or Rejected(reason=reason)


def _spoken(text: str) -> str:
    """The text without what the model thought before it; tags within the answer itself stay."""
    start = 0
    opening = _OPENING.search(text)
    # The mark may begin with a bracket itself (`[THINK]`).
    while (think := _THINK.search(text, start)) and not (
        opening and opening.start() < think.start()
    ):
        thought = _THOUGHT.search(text, think.end())
        if thought is None:
            raise _Unusable("thinking_unclosed")
        start = thought.end()
        if opening is not None and opening.start() < start:
            opening = _OPENING.search(text, start)
    thought = _THOUGHT.search(text, start)
    # Some templates open the thinking in the prompt, so that only its end is in the answer.
    if thought is not None and not _answer_holds(text, start, thought.start()):
        start = thought.end()
    return text[start:]


def _answer_holds(text: str, start: int, position: int) -> bool:
    """Whether the first value at or after `start` goes on beyond `position`."""
    opening = _OPENING.search(text, start, position)
    if opening is None:
        return False
    try:
        return _end(text, opening.start()) > position
    except _Unusable:
        # Brackets that nobody closes: an answer that was cut when it stands first, else thoughts.
        return text[start : opening.start()].strip("\ufeff `\t\r\n").lower() in ("", "json")


def _spans(text: str) -> Iterator[str]:
    """Stretches of balanced brackets, one after another, none within another."""
    position = 0
    while opening := _OPENING.search(text, position):
        position = _end(text, opening.start())
        yield text[opening.start() : position]


def _end(text: str, start: int) -> int:
    """Just after the bracket that closes the one at `start`."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        match token[0][0]:
            case "{" | "[":
                depth += 1
                if depth > MAX_DEPTH:
                    raise _Unusable("too_deep")
            case "}" | "]":
                depth -= 1
                if depth == 0:
                    return token.end()
            case _:
                if token["closed"] is None:
                    raise _Unusable("cut")
    raise _Unusable("cut")


def _value(span: str) -> dict[str, object] | list[object]:
    """The value of a balanced stretch."""
    try:
        value = json.loads(
            span,
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_number,
            # A raw line end within a string is a small model's most frequent slip, and unambiguous.
            strict=False,
        )
        if _SURROGATE_ESCAPE.search(span):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise _Unusable("bad_character") from None
    except _Unusable:
        raise
    except ValueError:
        # Not JSON, or a whole number of thousands of digits.
        raise _Unusable("not_json") from None
    if not isinstance(value, dict | list):
        raise _Unusable("not_json")
    return value


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Unusable("duplicate_key")
    return found


def _constant(_: str) -> float:
    raise _Unusable("not_finite")


def _number(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _Unusable("not_finite")
    return number


def _is_schema(value: dict[str, object] | list[object]) -> bool:
    """Whether the answer is the schema of the answer, told back."""
    if not isinstance(value, dict):
        return False
    return "$schema" in value or (
        isinstance(value.get("properties"), dict) and value.get("type") == "object"
    )
