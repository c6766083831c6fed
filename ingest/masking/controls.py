"""What a text must not hold though it is no secret: binary payloads, and characters that act instead of being read.

Every function keeps the number of lines, so that line spans stay true. It knows nothing of blocks or of Markdown.
"""

from __future__ import annotations

import re

_PAYLOAD = re.compile(
    r"(data:[^\s,;\"'()<>]{0,100}(?:;[^\s,;\"'()<>]{1,100}){0,5};base64,)[A-Za-z0-9+/=_%-]+",
    re.IGNORECASE,
)
_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\r\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?"
)
_GAP = re.compile(r"[\x00\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CONTROL = re.compile(
    r"[\x01-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)


def cut_payloads(text: str) -> str:
    """The text with every base64 payload of a data address cut off after its comma."""
    return _PAYLOAD.sub(r"\1", text) if "base64," in text.lower() else text


def drop_controls(text: str) -> str:
    """The text without characters that act on a terminal or hide in a line.

    Escape sequences go whole; NUL and separators that are no line end here (form feed, U+2028) become a space.
    Line ends and tabs stay.
    """
    if "\x1b" in text or "\x9b" in text:
        text = _ESCAPE.sub("", text)
    return _CONTROL.sub("", _GAP.sub(" ", text))
