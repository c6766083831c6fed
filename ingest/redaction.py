"""What must never be stored: secret values, binary payloads, and characters that act instead of being read.

Every function keeps the number of lines, so that line spans stay true. It knows nothing of blocks or of Markdown
beyond the quotes and stars that people put round a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

MASK = "[redacted]"

_Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str | None]]

# fmt: off
_STRONG_WORDS = (
    "password", "passwd", "passphrase", "passcode", "pwd", "passwort", "kennwort", "wachtwoord", "mot de passe",
    "contraseña", "senha", "lösenord", "adgangskode", "passord", "salasana", "hasło", "heslo", "parola", "şifre",
    "пароль", "סיסמה", "סיסמא", "كلمة المرور", "كلمة السر", "पासवर्ड", "mật khẩu", "密码", "密碼", "口令",
    "パスワード", "暗証番号", "비밀번호", "รหัสผ่าน",
)
# fmt: on
_WEAK_STEMS = ("key", "secret", "token")
_WEAK_WORDS = r"(?:api|secret|access|private|signing|encryption)[_ -]?key|secret|token"
_SPACE = r"[ \t\u00a0\u3000]{0,8}"
_DRESS = r"[\"'`*_]{0,4}"
_VALUE = r"\"[^\"\r\n]{1,200}\"|'[^'\r\n]{1,200}'|`[^`\r\n]{1,200}`|[^\s\"'`，。；、）」』]{1,300}"

_JOIN = (
    rf"{_DRESS}{_SPACE}(?:=>|:=|[:：=]){_SPACE}\*{{0,2}}{_SPACE}[\"'`]??"
    r"|[ ](?=[^\s-]{6,})"
)
_IS = r"(?:\b(?:is|was|ist|war|lautet|est|es|era|är|è|é)\b|是|为|為|は|は、|은|는|คือ)"
_TOKEN = re.compile(
    r"(?<![A-Za-z0-9_])(?:"
    r"(?:AKIA|ASIA|AROA|AIDA|AGPA|ANPA)[A-Z0-9]{16}(?![A-Za-z0-9])"
    r"|gh[pousr]_[A-Za-z0-9]{16,}"
    r"|github_pat_[A-Za-z0-9_]{16,}"
    r"|glpat-[A-Za-z0-9_-]{16,}"
    r"|(?<!-)sk-(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{16,}"
    r"|[sr]k_(?:live|test)_[A-Za-z0-9]{10,}"
    r"|whsec_[A-Za-z0-9]{16,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}"
    r"|xapp-[A-Za-z0-9-]{16,}"
    r"|AIza[A-Za-z0-9_-]{35}"
    r"|npm_[A-Za-z0-9]{36}"
    r"|hf_[A-Za-z0-9]{30,}"
    r"|pypi-[A-Za-z0-9_-]{50,}"
    r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*"
    r")"
)
_BEARER = re.compile(r"\bbearer +(?P<value>[A-Za-z0-9._~+/-]{20,}=*)", re.IGNORECASE)
_URL_LOGIN = re.compile(r"(?<=://)(?:[^\s/@:\"'<>|]{0,100}):(?P<value>[^\s/@\"'<>|]{1,200})(?=@)")
_CARD = re.compile(
    r"(?<![A-Za-z0-9_+.-])(?:"
    r"[0-9]{4}([ \u00a0.-])[0-9]{4}\1[0-9]{4}\1[0-9]{4}(?:\1[0-9]{1,3})?"
    r"|[0-9]{4}([ \u00a0.-])[0-9]{6}\2[0-9]{4,5}"
    r"|[0-9]{13,19}"
    r")(?![A-Za-z0-9_]|[.-][0-9])"
)
# Issuer prefixes with their lengths: a Luhn sum alone lets one number in ten through.
_ISSUERS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]\d{2}|2(?:22[1-9]|2[3-9]\d|[3-6]\d{2}|7[01]\d|720))\d{12}|3[47]\d{13}"
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
_LINE_BREAK = re.compile(r"\r\n|\r|\n")

# A value that names where the secret is, or what type it has, is not the secret.
_STAND_IN = re.compile(
    r"\[[\w :'-]*(?:\]|$)|\([^()]*$|<\w[^<>]*>|<%|\{[{%]|\{\w*\}|\{$"
    r"|\$[{(]|\$[A-Z_][A-Z0-9_]*$|%\(|%\w+%$|%[sd]$|\*{3,}|\.{2,}|…|[Xx]{4,}$|_+$|/(?:[a-z_.-]+/)+[\w.-]*$"
    r"|[A-Za-z_][\w.]*(?:\((?:[^()]*\).*)?$|\[[^\[\]]*\])|[\w.]*\b(?:environ|env|getenv|secrets|config)\b[.\[]"
    r"|(?i:required|optional|none|null|nil|true|false|undefined|string|str|text|varchar|bool|boolean|bytes|secretstr"
    r"|any)\b[,;)|\]]*$"
)
# After these a short word is how a sentence goes on: `Password: ask the owner of it`.
_SENTENCE_GOES_ON = re.compile(r"[ \t]+[^\W\d]+[,;:]?[ \t]+[^\W\d]+")

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


def redact(text: str) -> tuple[str, int]:
    """The text with secret values masked, and how many there were.

    The words round a value stay (`password: [redacted]`), and so does the number of lines. A mask is never taken
    for a value again.
    """
    text, count = _redact_keys(text)
    for pattern, replacement in (*_RULES, *_word_rules(text)):
        text, changed = _substitute(pattern, replacement, text)
        count += changed
    return text, count


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


def _substitute(
    pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str | None], text: str
) -> tuple[str, int]:
    """Like `re.sub`, where None leaves a match alone; the count is of those that changed."""
    pieces: list[str] = []
    end = 0
    for match in pattern.finditer(text):
        new = replacement(match)
        if new is not None:
            pieces += (text[end : match.start()], new)
            end = match.end()
    return ("".join((*pieces, text[end:])), len(pieces) // 2)


def _mask_value(match: re.Match[str]) -> str:
    """The match with its value masked; quotes round the value and a closing mark behind it stay."""
    whole, value = match[0], match["value"]
    at = match.start("value") - match.start()
    if value[0] in "\"'`" and value[-1] == value[0] and len(value) > 1:
        masked = value[0] + MASK + value[0]
    else:
        masked = MASK + value[len(value.rstrip(".,;:!?)]}|*_")) :]
    return whole[:at] + masked + whole[at + len(value) :]


def _mask_assigned(match: re.Match[str]) -> str | None:
    value = match["value"].strip("\"'`*_")
    if not value.strip(".,;:!?)]}|=>") or _STAND_IN.match(value) or value.startswith(("=", ">")):
        return None
    if match["join"] == " ":
        # `--password value` on a command line; a space alone means nothing in prose.
        is_option = match.string[max(0, match.start() - 2) : match.start()] == "--"
        return _mask_value(match) if is_option and match["strong"] else None
    if match["strong"] is None and not _looks_random(value):
        return None
    is_short_word = len(value) <= 5 and value.isalpha()
    if is_short_word and _SENTENCE_GOES_ON.match(match.string, match.end()):
        return None
    return _mask_value(match)


def _mask_said(match: re.Match[str]) -> str | None:
    value = match["value"].strip("\"'`*_.,;:!?)")
    has_digit = any(c.isdigit() for c in value)
    has_letter = any(c.isalpha() for c in value)
    if len(value) < 4 or not (has_digit and has_letter) or _STAND_IN.match(value):
        return None
    return _mask_value(match)


def _looks_random(value: str) -> bool:
    """Whether a value is more like a key than like a word: long, with letters and digits mixed."""
    return (
        len(value) >= 12
        and any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
        and "://" not in value
    )


def _mask_card(match: re.Match[str]) -> str | None:
    digits = re.sub(r"[^0-9]", "", match[0])
    return MASK if _ISSUERS.fullmatch(digits) and _has_luhn_sum(digits) else None


def _has_luhn_sum(digits: str) -> bool:
    doubled = (sum(divmod(int(d) * 2, 10)) for d in digits[-2::-2])
    return (sum(int(d) for d in digits[-1::-2]) + sum(doubled)) % 10 == 0


def _redact_keys(text: str) -> tuple[str, int]:
    """Private key blocks masked from their begin line to their end line, or as far as they look like one."""
    pieces: list[str] = []
    end = 0
    ends = [m.end() for m in _KEY_END.finditer(text)]
    ends.reverse()
    for begin in _KEY_BEGIN.finditer(text):
        if begin.start() < end:
            continue
        while ends and ends[-1] <= begin.end():
            ends.pop()
        key_end = ends[-1] if ends else _end_of_key_body(text, begin.end())
        breaks = "".join(_LINE_BREAK.findall(text, begin.start(), key_end))
        pieces += (text[end : begin.start()], MASK + breaks)
        end = key_end
    return "".join((*pieces, text[end:])), len(pieces) // 2


def _end_of_key_body(text: str, position: int) -> int:
    while (match := _KEY_BODY.match(text, position)) and match.end() > position:
        position = match.end()
    return position


def _word_rules(text: str) -> Iterator[_Rule]:
    """The rules for the words that are in the text: a pattern of all of them costs more than all other rules."""
    lowered = text.lower()
    strong = tuple(word for word in _STRONG_WORDS if word in lowered)
    has_weak = any(stem in lowered for stem in _WEAK_STEMS)
    if strong or has_weak:
        yield _assigned_pattern(strong, has_weak), _mask_assigned
    if strong:
        yield _said_pattern(strong), _mask_said


@lru_cache(maxsize=64)
def _assigned_pattern(strong: tuple[str, ...], has_weak: bool) -> re.Pattern[str]:
    words = f"(?P<strong>{'|'.join(strong) or '(?!)'})"
    if has_weak:
        words += f"|(?:{_WEAK_WORDS})"
    return re.compile(
        rf"(?P<word>{words})_?[0-9]{{0,2}}(?P<join>{_JOIN})(?P<value>{_VALUE})", re.IGNORECASE
    )


@lru_cache(maxsize=64)
def _said_pattern(strong: tuple[str, ...]) -> re.Pattern[str]:
    words = "|".join(strong)
    return re.compile(
        rf"(?:{words}){_DRESS}{_SPACE}{_IS}{_SPACE}(?P<value>{_VALUE})", re.IGNORECASE
    )


_RULES: tuple[_Rule, ...] = (
    (_URL_LOGIN, lambda m: None if m["value"] == MASK else _mask_value(m)),
    (_TOKEN, lambda _: MASK),
    (_BEARER, _mask_value),
    (_CARD, _mask_card),
)
