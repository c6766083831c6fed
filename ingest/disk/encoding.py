"""A note's bytes as text: which encoding they are in, and what could not be read in it.

UTF-8 is expected. UTF-16 and UTF-32 are known by their byte order mark. Anything else is a guess,
and the guess is a `Problem`, so that its owner can convert the file. Knows nothing of files.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from recalld.records import Problem

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# More NULs than this are no text: a crashed disk leaves whole pages of them.
_MAX_NUL_SHARE = 0.5
# Of text that is ASCII otherwise: fewer bad bytes than this are damage, more are an encoding we don't know.
_MAX_BAD_SHARE = 0.05
# More control characters than this are no text either: an encrypted or compressed file.
_MAX_CONTROL_SHARE = 0.1
_CONTROLS = bytes(set(range(1, 32)) - set(b"\t\n\f\r\x1b\x08")) + b"\x7f"
_MULTIBYTE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
_DENSE_RUN = 2.0

_KANA = frozenset(map(chr, range(0x3041, 0x30FF)))
_HANGUL = frozenset(
    "이다는에을가의하고지은로기어사자도를한대시리인서아그일정해나스니수보부전라들제원장상공있"
)
_HANZI = frozenset(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行"
    "所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心本前开但因只从想实日者意无力与长把"
)
_HANZI_TRADITIONAL = frozenset(
    "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行"
    "所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心本前開但因只從想實日者意無力與長把"
)
# Encoding, the characters its language uses most, the share of them that is enough, and whether it
# must be dense: single-byte encodings decode everything, so that a lone Western accent would pass
# for a letter.
_LANGUAGES: tuple[tuple[str, frozenset[str], float, bool], ...] = (
    ("cp932", _KANA, 0.25, False),
    ("euc_jp", _KANA, 0.25, False),
    ("gb18030", _HANZI, 0.15, False),
    ("big5", _HANZI_TRADITIONAL, 0.15, False),
    ("cp949", _HANGUL, 0.25, False),
    ("cp1251", frozenset("оеаинтсрвлкмдпуяыьгзбчй"), 0.6, True),
    ("koi8-r", frozenset("оеаинтсрвлкмдпуяыьгзбчй"), 0.6, True),
    ("cp1253", frozenset("αοιετσνηυρπκμλςάέίόή"), 0.6, True),
    ("cp1255", frozenset("יוהלאמרתבשנדכ"), 0.6, True),
    ("cp1256", frozenset("اليمنوترةبدعسقفهح"), 0.6, True),
    ("cp874", frozenset("าอนรกเงมยลวดทสตะปบคหแจพชขใไโ่้ิีัุู์"), 0.6, True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A note's text without byte order mark, with what was wrong about its bytes."""

    text: str
    problems: tuple[Problem, ...] = ()


def decode(data: bytes) -> Decoded | None:
    """The text of a note's bytes; None where they are no text (mostly NUL, or binary).

    Undecodable bytes in text that is UTF-8 otherwise become U+FFFD (`encoding.replaced`, with the
    first line that has one). Text that is not UTF-8 at all is read in the encoding its characters
    speak for, Windows-1252 when none does (`encoding.guessed`).
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decode_marked(data.removeprefix(mark), encoding)
    encoding_by_nul = _utf16_by_nul(data)
    if encoding_by_nul:
        return _guessed(data.decode(encoding_by_nul, errors="replace"), encoding_by_nul, line=1)
    if data.count(0) > len(data) * _MAX_NUL_SHARE:
        return None
    try:
        return Decoded(text=data.decode())
    except UnicodeDecodeError as error:
        return _decode_unknown(data, line=data.count(b"\n", 0, error.start) + 1)


def _decode_marked(data: bytes, encoding: str) -> Decoded | None:
    text = data.decode(encoding, errors="replace")
    if text.count("\0") > len(text) * _MAX_NUL_SHARE:
        return None
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].decode(encoding, errors="replace").count("\n") + 1
        return _replaced(text, encoding, line)
    return Decoded(text=text)


def _utf16_by_nul(data: bytes) -> str | None:
    """UTF-16 without its mark: nearly every other byte is NUL, and none of those between."""
    if len(data) < 4 or len(data) % 2:
        return None
    even, odd = data[::2].count(0), data[1::2].count(0)
    enough = len(data) // 2 * 0.7
    if odd > enough and not even:
        return "utf-16-le"
    if even > enough and not odd:
        return "utf-16-be"
    return None


def _decode_unknown(data: bytes, *, line: int) -> Decoded | None:
    if len(data) - len(data.translate(None, _CONTROLS)) > len(data) * _MAX_CONTROL_SHARE:
        return None
    halves = _with_surrogates(data)
    if halves is not None:
        return _replaced(halves, "utf-8", line) if "\ufffd" in halves else Decoded(text=halves)
    text = data.decode(errors="replace")
    bad = text.count("\ufffd")
    # Well-formed sequences don't come about by chance: where they outnumber the bad bytes, it is
    # UTF-8.
    if len(_MULTIBYTE.findall(data)) > bad:
        return _replaced(text, "utf-8", line)
    encoding = _spoken_for(data)
    if encoding:
        return _guessed(data.decode(encoding), encoding, line)
    if _is_western(data):
        return _guessed(data.decode("cp1252"), "cp1252", line)
    is_foreign = _mean_run(data) >= _DENSE_RUN and bad > max(2, len(text) * _MAX_BAD_SHARE)
    return None if is_foreign else _replaced(text, "utf-8", line)


def _with_surrogates(data: bytes) -> str | None:
    """UTF-8 but for surrogates, as some programs write emoji: pairs joined, halves replaced. Else None."""
    try:
        text = data.decode(errors="surrogatepass")
    except UnicodeDecodeError:
        return None
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _spoken_for(data: bytes) -> str | None:
    """The encoding in which the characters are those its language uses most, if there is one."""
    dense = _mean_run(data) >= _DENSE_RUN
    best, best_share = None, 0.0
    for encoding, frequent, enough, needs_dense in _LANGUAGES:
        if needs_dense and not dense:
            continue
        share = _share(data, encoding, frequent)
        if share >= enough and share > best_share:
            best, best_share = encoding, share
    return best


def _share(data: bytes, encoding: str, frequent: frozenset[str]) -> float:
    """Share of the characters beyond ASCII that are frequent; 0 where the bytes don't decode."""
    try:
        foreign = [c for c in data.decode(encoding) if c > "\x7f"]
    except UnicodeDecodeError:
        return 0.0
    return sum(c in frequent for c in foreign) / max(len(foreign), 1)


def _is_western(data: bytes) -> bool:
    """Whether the high bytes are Windows-1252 letters and signs, alone between ASCII letters."""
    if _mean_run(data) >= _DENSE_RUN or 0xFF in data:
        return False
    try:
        data.decode("cp1252")
    except UnicodeDecodeError:
        return False
    return True


def _mean_run(data: bytes) -> float:
    """How many bytes beyond ASCII stand together: about 1 in Western languages, more in others."""
    runs = _HIGH_RUN.findall(data)
    return sum(map(len, runs)) / max(len(runs), 1)


def _replaced(text: str, encoding: str, line: int) -> Decoded:
    count = text.count("\ufffd")
    message = f"{count} characters are not valid {encoding.upper()} and are shown as \ufffd"
    return Decoded(
        text=text, problems=(Problem(line=line, kind="encoding.replaced", message=message),)
    )


def _guessed(text: str, encoding: str, line: int) -> Decoded:
    message = f"the file is not UTF-8; it is read as {encoding}: convert it to be sure"
    return Decoded(
        text=text, problems=(Problem(line=line, kind="encoding.guessed", message=message),)
    )
