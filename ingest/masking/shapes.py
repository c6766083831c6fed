"""Secrets that are known by their own shape, wherever they stand: keys, logins in addresses, cards, key blocks.

Each finder gives the spans of secret values in a text; what is round them it leaves. What a label says is told
elsewhere.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import resources

Span = tuple[int, int]

# No key is shorter; in prose only addresses are as long, so that little is left to look through.
_KEY_LIKE = re.compile(r"[!-~]{15,}")
_NO_WORD_BEFORE = r"(?<![A-Za-z0-9_])"
_CREDENTIAL = re.compile(
    r"\bbearer +([A-Za-z0-9._~+/-]{20,}=*)"
    r"|\bauthorization[\"']?\s?[:=]\s?[\"']?(?:basic|token|apikey) +([\w.~+/-]{6,}=*)",
    re.IGNORECASE,
)
# The last `@` ends the login, as a password may hold one.
_WEB_LOGIN = re.compile(
    r"://(?:(?<=http://)|(?<=https://))[^\s/@:\"'<>|]{0,100}:([^\s/\"'<>|]{1,200})@"
)
_LOGIN = re.compile(
    r"://(?<!http://)(?<!https://)[^\s/@:\"'<>|]{0,100}:"
    r"((?![0-9]{1,5}/)[^\s\"'<>|]{1,200}?)@(?=[^\s/@\"'<>|]{1,200}(?:[\s/\"'<>|)]|\Z))"
)
_HOOK = re.compile(
    r"hooks\.slack\.com/(?:services|workflows|triggers)/((?:[A-Za-z0-9]+/){1,3}[A-Za-z0-9]{8,})"
    r"|discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]+/([\w-]{20,})"
    r"|webhook\.office\.com/webhookb2/([\w@/-]{30,})",
    re.IGNORECASE,
)
# The code that joins a wireless network: type, name, password.
_WIFI_CODE = re.compile(r"\bWIFI:(?:[^\s;]{0,100};){0,4}?P:((?:\\.|[^;\r\n]){1,100});")
_CARD = re.compile(
    r"(?<![A-Za-z0-9_+./=#-])(?:"
    r"[0-9]{4}([ \u00a0.-])[0-9]{4}\1[0-9]{4}\1[0-9]{4}(?:\1[0-9]{1,3})?"
    r"|[0-9]{4}([ \u00a0.-])[0-9]{6}\2[0-9]{4,5}"
    r"|[0-9]{13,19}"
    r")(?![A-Za-z0-9_]|[.-][0-9])"
)
# Issuer prefixes with their lengths: a Luhn sum alone lets one number in ten through.
_ISSUERS = re.compile(
    r"4(?:\d{12}|\d{15})|(?:5[1-5]\d{2}|2(?:22[1-9]|2[3-9]\d|[3-6]\d{2}|7[01]\d|720))\d{12}|3[47]\d{13}"
    r"|3(?:0[0-5]|[68]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12}|(?:6011|65\d{2}|64[4-9]\d)\d{12}|62\d{14,17}"
    r"|(?:50|5[678]|6[37])\d{14}"
)
_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
# What may stand in a key whose end is missing: base64, armour headers, blank lines.
_KEY_BODY = re.compile(
    r"(?:\r\n|\r|\n)[ \t>]*"
    r"(?:[A-Za-z0-9+/=]{16,}|[A-Za-z0-9+/]{1,64}={1,2}|[A-Za-z-]{2,40}: [^\r\n]*)?[ \t]*(?=[\r\n]|\Z)"
)


def find_shapes(text: str) -> Iterator[Span]:
    """The spans of values that show what they are, in no order; a block of a private key spans lines."""
    keys = "\n".join(_KEY_LIKE.findall(text))
    for starts, pattern in _shapes():
        if any(start in keys for start in starts):
            yield from (match.span() for match in pattern.finditer(text))
    if "://" in text:
        if "@" in text:
            yield from _spans(_WEB_LOGIN, text)
            yield from _spans(_LOGIN, text)
        yield from _spans(_HOOK, text)
    lowered = text.lower()
    if "bearer " in lowered or "authorization" in lowered:
        yield from _spans(_CREDENTIAL, text)
    if "WIFI:" in text:
        yield from _spans(_WIFI_CODE, text)
    for match in _CARD.finditer(text):
        if _is_card(match[0]):
            yield match.span()
    if "-----BEGIN" in text:
        yield from _key_blocks(text)


def _spans(pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    """The spans of the one group that took part in each match."""
    for match in pattern.finditer(text):
        yield match.span(match.lastindex or 0)


@cache
def _shapes() -> tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]:
    table = tomllib.loads((resources.files(__package__) / "shapes.toml").read_text("utf-8"))
    return tuple((tuple(shape["starts"]), _pattern(shape)) for shape in table["shape"])


def _pattern(shape: dict[str, str]) -> re.Pattern[str]:
    starts = "|".join(map(re.escape, shape["starts"]))
    edge = "" if shape.get("open") else _NO_WORD_BEFORE
    return re.compile(f"{edge}{shape.get('before', '')}(?:{starts}){shape['rest']}")


def _is_card(written: str) -> bool:
    digits = re.sub(r"[^0-9]", "", written)
    return _ISSUERS.fullmatch(digits) is not None and _has_luhn_sum(digits)


def _has_luhn_sum(digits: str) -> bool:
    doubled = (sum(divmod(int(d) * 2, 10)) for d in digits[-2::-2])
    return (sum(int(d) for d in digits[-1::-2]) + sum(doubled)) % 10 == 0


def _key_blocks(text: str) -> Iterator[Span]:
    """Blocks of private keys from begin line to end line, or as far as they look like one."""
    end = 0
    ends = [m.end() for m in _KEY_END.finditer(text)]
    ends.reverse()
    for begin in _KEY_BEGIN.finditer(text):
        if begin.start() < end:
            continue
        while ends and ends[-1] <= begin.end():
            ends.pop()
        end = ends[-1] if ends else _end_of_key_body(text, begin.end())
        yield begin.start(), end


def _end_of_key_body(text: str, position: int) -> int:
    while (match := _KEY_BODY.match(text, position)) and match.end() > position:
        position = match.end()
    return position
