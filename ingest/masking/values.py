"""Whether a value behind a label is a secret: how it looks, and whether it is a word of a sentence instead.

All functions are about a value by itself, in plain spelling; where it stands is known elsewhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache
from math import log2

from ingest.masking.words import words
from retrieval.text.words import Language, stop_words

# A value that names where the secret is, or what type it has, is not the secret.
_STAND_IN = re.compile(
    r"\[[\w :'-]*(?:\]|$)|\([^()]*$|<\w[^<>]*>?$|<%|\{[{%]|\{[\w.]*\}?|\{$"
    r"|\$[{(]|\$(?:[A-Z_][A-Z0-9_]*|[a-z_]+)$|%\(|%\w+%$|%[sd]$|@\w+@?$|\*{3,}|\.{2,}|…|•{2,}|[Xx]{4,}$|_+$|-+$"
    r"|~?\.{0,2}/(?:[a-z_.-]+/)+[\w.-]*$|(?:op|vault|keyring|secret|file|env)://|op read"
    r"|[A-Za-z_][\w.]*(?:\((?:[^()]*\).*)?$|\[[^\[\]]*\])|[A-Za-z_.]+[(\[]|#[A-Za-z-]+$|[\w.]*\b(?:environ|env|getenv|secrets|config)\b[.\[]"
    r"|(?!.*\.(?:md|mdx|markdown|txt)$)(?:[A-Za-z_]+\.)+[A-Za-z_]+$|[A-Za-z_]\w*(?:::|->)|!\w+$|new\b|await\b|:[A-Za-z_]\w*$"
)
# Names of ciphers, formats and the like, numbered or sized: `sha256`, `argon2id`, `2fa`, `v1.2.3`, `12chars`.
_KNOWN = re.compile(
    r"(?:sha|md|utf|aes|rsa|dsa|ecdsa|base|b?crypt|argon|scrypt|pbkdf|oauth|tls|ssl|http|x|p|ed|ascii|iso|rfc|wpa|wep"
    r"|auth|chacha|blake|ipv|u|web|oidc|saml|ntlm|ed|curve|secp|hmac|hs|rs|es|ps|k|i|l|a|mp|h|ps|usb|db|log|win|node"
    r"|python|java|es|level|step|part|page|line|option|version|user|test|room|item|row|col|chapter)[-_]?[0-9]+[a-z]{0,3}"
    r"(?:[-_][a-z0-9]+){0,3}"
    r"|v?[0-9]+(?:\.[0-9x*]+)+[a-z0-9-]*|[0-9]+[-_]?[a-z]{1,12}|[a-z]?[0-9]+(?:st|nd|rd|th|e|er|ste|de)"
    r"|[0-9]{1,4}[-/.:年][0-9]{1,2}(?:[-/.:月][0-9]{1,4}日?)?(?:t[0-9:.]+z?)?|1password|[a-z][0-9]{1,2}[a-z]"
    r"|#[0-9a-f]{3,8}|[0-9.,]+[a-z%]{0,4}",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"[^\s=:]+\.(?:md|txt|py|jsx?|tsx?|json|ya?ml|toml|env|sh|html?|css|pem|key|png|jpe?g|gif|svg|pdf|kdbx|com|org|net|io)$",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+$|\w+://|www\.")
_NAME = re.compile(r"[A-Za-z]?[a-z]+(?:[-_. ]?[A-Z]?[a-z]+)*[0-9]?|[A-Z]+(?:[-_][A-Z]+)*")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_INNER_SYMBOL = re.compile(r"\w[#$%^*!~]+\w")
# Parts of names that speak of secrets, as code and placeholders hold them.
_NAME_OF_PARTS = re.compile(r"[A-Za-z]+(?:[-_][A-Za-z]+)*[0-9]?")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_NAMED_LAST = frozenset(
    {"password", "passwd", "passwort", "wachtwoord", "pwd", "token", "key", "hash", "digest"}
)
_NAMED_FIRST = frozenset({"your", "my", "example", "changeme"})
# From this share of articles, prepositions and the like words are a sentence.
_SENTENCE = 0.25
_TRIM = ".,;:!?)]}|*_\"'`>"
_CHANGES = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
# Written without spaces, or by an input method that password fields shut off: such a value is a sentence.
_SPACELESS = re.compile(
    r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]"
)
_LONG_ENOUGH = 12
_ENTROPY = 3.0
_LATIN: tuple[Language, ...] = ("en", "nl", "de", "fr", "es")


def is_stand_in(value: str) -> bool:
    """Whether a value is a variable, a placeholder, a type or a mask: nothing that was ever secret."""
    return _STAND_IN.match(value) is not None or is_pointer(value) or _names_label(value)


def is_pointer(word: str) -> bool:
    """Whether a word says where a secret is or what must become of it: `see`, `required`."""
    plain = word.strip(_TRIM + "([").casefold()
    return not plain or plain in _pointers()


def is_spaceless(value: str) -> bool:
    """Whether a value begins in a script that is written without spaces."""
    return _SPACELESS.match(value) is not None


def looks_secret(value: str) -> bool:
    """Whether a word mixes letters with digits, or holds a symbol, as no word of a sentence does."""
    value = value.strip(_TRIM)
    if len(value) < 4 or is_stand_in(value) or _ADDRESS.match(value) or _FILE.match(value):
        return False
    if _KNOWN.fullmatch(value):
        return False
    has_letter = any(c.isalpha() for c in value)
    has_digit = any(c.isdigit() for c in value)
    return has_letter and (has_digit or _INNER_SYMBOL.search(value) is not None)


def looks_very_secret(value: str) -> bool:
    """Whether a word can hardly be anything but a secret, even with no mark between it and its label."""
    if len(value.rstrip(".,;:)]}|*_\"'`")) < 7 or not looks_secret(value):
        return False
    changes = len(_CHANGES.findall(value))
    has_symbol = any(unicodedata.category(c)[0] == "S" or c in "!@#%&*?" for c in value)
    is_mixed = value != value.lower() and value[1:] != value[1:].lower()
    return changes + has_symbol + is_mixed > 1 and not value.isupper()


def looks_random(value: str) -> bool:
    """Whether a value is like a key made by a machine: long, mixed, with no words in it."""
    value = value.strip(_TRIM)
    if (
        len(value) < _LONG_ENOUGH
        or is_stand_in(value)
        or _ADDRESS.match(value)
        or _FILE.match(value)
    ):
        return False
    if _KNOWN.fullmatch(value) or not value.isascii() or any(c in value for c in " ()<>,;\\"):
        return False
    if any(c.isdigit() for c in value):
        return (
            any(c.isalpha() for c in value) and entropy(value) >= _ENTROPY and not _is_spoken(value)
        )
    return (
        len(value) >= 2 * _LONG_ENOUGH and entropy(value) > _ENTROPY and not _NAME.fullmatch(value)
    )


def entropy(value: str) -> float:
    """Bits a character, by how often each stands in the value itself."""
    if not value:
        return 0.0
    shares = (count / len(value) for count in Counter(value).values())
    return -sum(share * log2(share) for share in shares)


def is_joined_up(tokens: Sequence[str]) -> bool:
    """Whether words are joined as a sentence is, by articles, prepositions, pronouns."""
    small = sum(token.strip(_TRIM).casefold() in _small_words() for token in tokens)
    return small / max(len(tokens), 1) >= _SENTENCE


def is_small_word(token: str) -> bool:
    """Whether a word is an article, a preposition, a pronoun or the like."""
    return token.casefold() in _small_words()


def _is_spoken(value: str) -> bool:
    """Whether a value with digits in it is words and numbers: `order-2024-items`, `user_id_12`, `EXAMPLE-1`."""
    if _UUID.fullmatch(value):
        return False
    parts = [part for part in re.split(r"[-_.:/]", value) if part]
    if len(parts) < 2:
        return False
    if value.isupper() and len({len(part) for part in parts}) == 1:
        return False
    return all(part.isalpha() or len(part) <= 4 or part.isdigit() for part in parts) and (
        any(part.isalpha() and len(part) > 3 for part in parts)
    )


def _names_label(value: str) -> bool:
    """Whether a value is a name that speaks of secrets itself: `user_password`, `hashedPassword`, `YOUR_API_KEY`."""
    plain = value.strip(_TRIM)
    if not _NAME_OF_PARTS.fullmatch(plain):
        return False
    parts = [part.casefold() for part in _PART.findall(plain)]
    return bool(parts) and (
        parts[-1].removesuffix("s") in _NAMED_LAST or (len(parts) > 1 and parts[0] in _NAMED_FIRST)
    )


@cache
def _pointers() -> frozenset[str]:
    return frozenset(words("pointer"))


@cache
def _small_words() -> frozenset[str]:
    return frozenset[str]().union(*map(stop_words, _LATIN))
