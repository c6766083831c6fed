"""Secrets behind a label in the same line: `password: …`, `Wachtwoord van de NAS is …`, `密码：…`.

A mark such as `:` announces a value, whatever it looks like; a word such as `is` may go on with a sentence, so there
the value itself must look like a secret. Texts are in plain spelling. Other lines are looked at elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from ingest.masking.cuts import (
    CLOSING,
    TOKEN,
    Span,
    after_opening,
    end_of_setting,
    find_quoted,
    find_run,
    trimmed,
)
from ingest.masking.joints import Joint, find_joints, is_saying
from ingest.masking.labels import Kind, Label, is_plural
from ingest.masking.values import (
    is_joined_up,
    is_pointer,
    is_small_word,
    is_spaceless,
    is_stand_in,
    looks_random,
    looks_secret,
    looks_very_secret,
)

_NEXT_LABEL = re.compile(r"[ \t]+[^\s:=]+[:=]")
_VARIABLE = re.compile(r"_\w+|[a-z]+(?:_[a-z]+)+,?")
_PUBLIC = re.compile(r"(?:public|csrf)[ _-]?(?:key)?[ _-]?\Z", re.IGNORECASE)
_COUNT = re.compile(r"[0-9]{1,3}")
_MANY_DIGITS = re.compile(r"[0-9]{6,}")
_DIGITS = re.compile(r"[0-9](?:[ -]?[0-9]){2,7}(?![A-Za-z0-9_-]|[.:/,][0-9])")
_PAIR = re.compile(r"[^\s:/|,\"'`]{2,60} ?[:/] ?(?![/\s])")
_LISTED = re.compile(
    r"(?:,|;| ?/| ?&| (?:and|or|en|of|und|oder|et|ou|y|o)\b|)[ \t]{1,4}[\"'`*]{0,3}"
)
_PHRASE_LEAST = 3


def find_assigned(text: str, label: Label, stop: int) -> Iterator[Span]:
    """The spans of secrets that a label announces in its line.

    Args:
        text: In plain spelling.
        stop: Where the label's line ends.
    """
    for joint, start in find_joints(text, label.end, stop):
        found = list(_find_value(text, label, joint, start, stop))
        if found or joint in ("mark", "whose"):
            yield from found
            return


def _find_value(text: str, label: Label, joint: Joint, at: int, stop: int) -> Iterator[Span]:
    if label.kind is Kind.DIGITS:
        yield from _digits(text, label, joint, at, stop)
    elif label.kind is Kind.PAIR:
        yield from _pair(text, joint, at, stop)
    elif label.kind is Kind.WEAK and _PUBLIC.search(text, max(label.start - 16, 0), label.start):
        return
    elif label.kind is Kind.WEAK:
        yield from _keys(text, label, joint, at, stop)
    elif joint != "bare" and (quoted := find_quoted(text, at, stop)):
        if _is_secret_quote(text[slice(*quoted)], label.kind, joint):
            yield quoted
            yield from _listed(text, quoted[1] + 1, stop)
    elif label.kind is Kind.SHORT:
        yield from _sure(
            text, at, stop, looks_very_secret if joint in ("bare", "far") else looks_secret
        )
    elif joint in ("mark", "whose"):
        yield from _announced(text, label, joint, at, stop)
    elif joint == "is":
        yield from _said(text, at, stop)
    elif joint == "bare":
        yield from _said(text, at, stop, is_bare=True)
    else:
        yield from _sure(text, at, stop, _is_secret_word)


def _is_secret_quote(inner: str, kind: Kind, joint: Joint) -> bool:
    tokens = inner.split()
    if not tokens or is_stand_in(inner.strip()):
        return False
    if is_spaceless(inner):
        return len(tokens) == 1 and any(c.isascii() and c.isalnum() for c in inner)
    if len(tokens) == 1:
        needs_look = kind is Kind.SHORT or joint in ("far", "hint")
        return looks_secret(inner) if needs_look else len(inner) > 1
    if any(map(looks_secret, tokens)):
        return True
    is_sentence = is_joined_up(tokens) or is_pointer(tokens[0])
    return joint in ("mark", "is", "whose") and kind is not Kind.SHORT and not is_sentence


def _announced(text: str, label: Label, joint: Joint, at: int, stop: int) -> Iterator[Span]:
    """The value behind a mark: a word, or several down to the end of what is said."""
    at = after_opening(text, at, stop)
    if is_spaceless(text[at : at + 1]):
        return
    run = find_run(text, at, stop, in_address=text[max(label.start - 40, 0) : label.start])
    tokens = [text[start:end] for start, end in run]
    if not tokens:
        return
    if (
        is_stand_in(tokens[0])
        or is_stand_in(tokens[0].rstrip(CLOSING))
        or tokens[0].startswith(("=", ">"))
    ):
        yield from (
            trimmed(text, span) for span in run[1:] if looks_very_secret(text[slice(*span)])
        )
        return
    if _is_variable(text, at, tokens):
        return
    count = _count_of_value(tokens, label.kind, joint)
    if not any(map(looks_secret, tokens)):
        is_general = is_plural(text[label.start : label.end]) or _goes_on(text, run, tokens)
        is_count = joint == "whose" and _COUNT.fullmatch(tokens[0].rstrip(CLOSING)) is not None
        if is_count or (count > 1 and is_general):
            return
    if count:
        start, end = trimmed(text, (run[0][0], run[count - 1][1]))
        if end > start:
            yield start, end
            yield from _listed(text, end, stop)


def _is_variable(text: str, at: int, tokens: Sequence[str]) -> bool:
    """Whether a value is the name of a variable, as behind the spaced `=` of code."""
    return text[max(at - 3, 0) : at].endswith("= ") and _VARIABLE.fullmatch(tokens[0]) is not None


def _goes_on(text: str, run: Sequence[Span], tokens: Sequence[str]) -> bool:
    """Whether plain words are a sentence by their shape, or the beginning of another label."""
    is_cut = _NEXT_LABEL.match(text, run[-1][1]) is not None
    return is_cut or (tokens[0][0].isupper() and tokens[-1][-1] in ".!?")


def _count_of_value(tokens: list[str], kind: Kind, joint: Joint) -> int:
    """How many of the words behind a mark are the value; 0 when they are a sentence."""
    if looks_secret(tokens[0]):
        return next(
            (
                n
                for n, token in enumerate(tokens)
                if n and (is_small_word(token) or not token.isalnum())
            ),
            len(tokens),
        )
    if any(map(looks_secret, tokens)) or len(tokens) == 1:
        return len(tokens)
    if kind is Kind.PHRASE and len(tokens) >= _PHRASE_LEAST:
        is_told = any(is_pointer(token) or is_saying(token) for token in tokens)
        return len(tokens) if _is_word_row(tokens) or not is_told else 0
    if is_joined_up(tokens) or joint == "whose":
        return 0
    bare = [token.rstrip(CLOSING + "!?") for token in tokens]
    # Of other scripts it is not known which words join a sentence.
    return len(tokens) if all(token.isalpha() and token.isascii() for token in bare) else 0


def _is_word_row(tokens: Sequence[str]) -> bool:
    """Whether words are a wallet's: twelve or more in small letters, by fours and threes, and no sentence."""
    return len(tokens) in (12, 15, 18, 21, 24) and all(t.isalpha() and t.islower() for t in tokens)


def _is_secret_word(token: str) -> bool:
    return looks_secret(token) or _MANY_DIGITS.fullmatch(token.rstrip(CLOSING + "!?")) is not None


def _said(text: str, at: int, stop: int, *, is_bare: bool = False) -> Iterator[Span]:
    """The value behind `is`: one of the next words, where it looks like a secret and not like a word."""
    at = after_opening(text, at, stop, with_bracket=is_bare)
    for number, span in enumerate(find_run(text, at, stop)[: 2 if is_bare else 3]):
        token = text[slice(*span)]
        is_alone = _MANY_DIGITS.fullmatch(token.rstrip(CLOSING + "!?")) is not None and not number
        if (
            looks_very_secret(token)
            or is_alone
            or (looks_secret(token) and not (number or is_bare))
        ):
            start, end = trimmed(text, span, CLOSING + "!?")
            yield start, end
            yield from _listed(text, end, stop)
            return


def _sure(text: str, at: int, stop: int, is_sure: Callable[[str], bool]) -> Iterator[Span]:
    match = TOKEN.match(text, after_opening(text, at, stop), stop)
    if match and is_sure(match[0]):
        start, end = trimmed(text, (match.start(), end_of_setting(text, *match.span())))
        if end > start:
            yield start, end
            yield from _listed(text, end, stop)


def _keys(text: str, label: Label, joint: Joint, at: int, stop: int) -> Iterator[Span]:
    match = TOKEN.match(text, after_opening(text, at, stop), stop)
    quoted = find_quoted(text, at, stop)
    is_secret = text[label.start : label.end].lower() == "secret"
    if quoted and " " in text[slice(*quoted)]:
        if joint == "mark" and is_secret and any(map(looks_secret, text[slice(*quoted)].split())):
            yield quoted
        return
    if match is None:
        return
    start, end = trimmed(text, (match.start(), end_of_setting(text, *match.span())))
    value = text[start:end]
    if looks_random(value) or (joint == "mark" and is_secret and looks_very_secret(value)):
        yield start, end


def _digits(text: str, label: Label, joint: Joint, at: int, stop: int) -> Iterator[Span]:
    # `pin 2024` is anything; `PIN 2024` and `pincode 2024` are not.
    if joint in ("bare", "far") and text[label.start : label.end] == "pin":
        return
    match = _DIGITS.match(text, after_opening(text, at, stop), stop)
    if match:
        yield match.span()


def _pair(text: str, joint: Joint, at: int, stop: int) -> Iterator[Span]:
    name = _PAIR.match(text, at, stop)
    if name:
        is_sure = looks_very_secret if joint in ("bare", "far", "hint") else looks_secret
        yield from _sure(text, name.end(), stop, is_sure)


def _listed(text: str, at: int, stop: int) -> Iterator[Span]:
    """Further secrets behind the first: `hunter2 and zomer9`."""
    while (joint := _LISTED.match(text, at, stop)) and (
        token := TOKEN.match(text, joint.end(), stop)
    ):
        if not looks_secret(token[0]):
            return
        span = trimmed(text, token.span())
        yield span
        at = span[1]
