"""Where sentences end, in any script.

The segmenter is asked with its English rules for every language: its terminators cover all scripts,
and the abbreviations that other languages need are repaired here, so no language has to be guessed.
It knows nothing of Markdown or blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import sentencex

Span = tuple[int, int]

# Sentences never end after these; those that often do end one (`etc.`, `enz.`) are left out,
# because a small letter after them already forbids the border.
_ABBREVIATIONS = frozenset(
    """
    e.g i.e cf vs approx mr mrs ms dr prof st incl resp
    o.a bijv bv m.b.t t.o.v d.w.z m.u.v i.v.m o.b.v z.s.m dhr mevr mw drs ds evt blz zgn a.s jl
    z.b d.h u.a bzw vgl ggf evtl inkl exkl bspw sog dipl
    mme mlle env p.ex
    г-н гр ул просп т.е см напр проф акад тыс
    np tzn inż mgr św bl.a t.ex d.v.s s.k f.eks
    """.split()  # noqa: SIM905 - a word list is read more easily as text
)
# These are words of their own in small letters.
_TITLES = frozenset(
    ["Fa", "Hr", "Hrn", "Sra", "Srta", "Dra", "Sres", "Dña", "Avda", "Sig", "Dott", "Ing"]
)
# These are also words of their own or end a sentence as often as not: only before a number.
_BEFORE_NUMBER = frozenset(
    """
    no nos nr fig figs vol p pp art abb ca max min est str éd д кв стр рис núm pág
    jan feb febr mrt mär mar apr jun jul aug sep sept okt oct nov dec dez déc janv févr avr juil
    """.split()  # noqa: SIM905 - a word list is read more easily as text
)
_MONTHS_DE = (
    r"Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember"
    r"|(?:Jan|Jän|Feb|Mär|Mrz|Apr|Jun|Jul|Aug|Sept?|Okt|Nov|Dez)(?:\.|\s+\d)"
)
# German numbers what it counts with a full stop: `der 1. FC`, `im 3. Stock`.
_ORDINAL_DE = re.compile(
    r"(?:^|\s)(?i:der|das|dem|des|im|vom|zum|zur|beim|ins|ihr|sein|mein|unser|jede[rsnm]?|(?:die|den)(?=\s))\s+\d{1,2}\.\s*$"
)
# A street's name grown together with its kind, before its number; a town behind `г.`, which ends a sentence as a year.
_STREET = re.compile(r"[^\W\d_]{3,}str", re.IGNORECASE)
_TOWN = re.compile(r"(?<!\d)(?<!\d\s)г\.\s*$")
# Sentences that the segmenter does not part: behind an address, path or file, and at the danda.
_AFTER_ADDRESS = re.compile(r"(?<!\S)[^\s`]*(?:[/\\]|\w\.\w)[^\s`]*\.\s+(?=[^\W\d_])|[।॥]\s+")
_LAST_WORD = re.compile(r"([^\W\d_][\w.]*|\d+)\.[\s\"'”’)\]]*$")
_QUOTED_SPEECH = re.compile(r"(?:と|って|という|とか|との)")
# A mark by itself ends no word: it begins the one behind it (`./build`, `.env`), or is one (`docker build .`).
_LONE_MARK = re.compile(r"(?:^|[\s(\[\"'“‘«])([.!?]+)$")
_LONE_STOPS = re.compile(r"(?:^|\s)\.+\s*$")
_CLOSED_QUOTE = re.compile(r"[」』”\"]\s*$")
_THAI = re.compile(r"[\u0e00-\u0e7f]")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]")
# A Thai text has no full stop; its spaces part clauses, which are gathered up to about this length.
_THAI_LENGTH = 120
_PART_LENGTH = 8000
# No word that matters to a border is longer, and to look for one in a long run takes the square of its length.
_TAIL_LENGTH = 200


def weight(text: str) -> int:
    """Length of a text in Latin letters' worth: a CJK character counts as two and a half."""
    return len(text) + len(_CJK.findall(text)) * 3 // 2


def count_cjk(text: str) -> int:
    """How many CJK characters a text has."""
    return len(_CJK.findall(text))


def split_sentences(text: str) -> tuple[Span, ...]:
    """Spans of the sentences of one paragraph, in order, without the white space between them.

    Every character that is not white space lies in exactly one span. Line ends count as spaces.
    """
    flat = text.replace("\n", " ").replace("\r", " ")
    borders: list[int] = []
    at = 0
    for piece in _segments(flat):
        for within in _AFTER_ADDRESS.finditer(flat, at, at + len(piece)):
            is_danda = within[0][0] in "।॥"
            if (is_danda or flat[within.end()].isupper()) and _is_border(
                flat, borders[-1] if borders else 0, within.end()
            ):
                borders.append(within.end())
        at += len(piece)
        if (
            at < len(flat)
            and at > (borders[-1] if borders else 0)
            and _is_border(flat, borders[-1] if borders else 0, at)
        ):
            borders.append(at)
    borders.append(len(flat))
    spans: list[Span] = []
    start = 0
    for end in borders:
        for span in _split_thai(flat, start, end):
            trimmed = trim(flat, span)
            if trimmed[0] < trimmed[1]:
                spans.append(trimmed)
        start = end
    return tuple(spans)


def trim(text: str, span: Span) -> Span:
    """The span without white space at either end; empty when nothing else is in it."""
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _segments(text: str) -> Iterator[str]:
    """The segmenter's pieces; a very long text is given to it in parts, as its time grows by the square."""
    start = 0
    while len(text) - start > _PART_LENGTH:
        end = text.rfind(" ", start, start + _PART_LENGTH) + 1 or start + _PART_LENGTH
        *whole, last = sentencex.segment("en", text[start:end])
        # The last piece goes on in the next part, unless it fills its own.
        if not whole:
            whole, last = [last], ""
        yield from whole
        start = end - len(last)
    yield from sentencex.segment("en", text[start:])


def _is_border(text: str, start: int, at: int) -> bool:
    before, after = text[start:at], text[at : at + 40].lstrip()
    if not after or not before.strip():
        return False
    tail = before[-_TAIL_LENGTH:]
    if _CLOSED_QUOTE.search(tail) and _QUOTED_SPEECH.match(after):
        return False
    if before.count("`") % 2:
        return False
    if not text[at - 1].isspace() and not text[at].isspace():
        lone = _LONE_MARK.search(tail)
        if lone is not None and (lone[1].endswith(".") or not text[at].isupper()):
            return False
    if _LONE_STOPS.search(tail) and after[0].isascii() and not after[0].isupper():
        return False
    if tail.rstrip().endswith("`") and not after[0].isupper():
        # The full stop is code: `.` 指明后缀.
        return False
    last = _LAST_WORD.search(tail)
    if last is None:
        return True
    ahead = before[: len(before) - len(tail) + last.start()]
    word = last.group(1)
    if after[0].islower() or word.lower() in _ABBREVIATIONS or word in _TITLES:
        return False
    if word.lower() in ("ir", "ing") and ahead.rstrip().endswith("."):
        # `Prof. dr. ir. Bos`
        return False
    if after[0].isdigit() and (word.lower() in _BEFORE_NUMBER or _STREET.fullmatch(word)):
        return False
    if _TOWN.search(tail):
        return False
    if word.isdigit():
        if _ORDINAL_DE.search(tail):
            return False
        # `1. First` is a number before its item, `Am 3. März` an ordinal.
        return bool(ahead.strip()) and not re.match(_MONTHS_DE, after)
    return not _is_initial(ahead, word)


def _is_initial(before: str, word: str) -> bool:
    """Whether a word is part of a name (`M. Dupont`, `John F. Kennedy`, but not `vitamin C.`)."""
    if len(word) != 1 or not word.isupper():
        return False
    words = before.split()
    return not words or words[-1][:1].isupper()


def _split_thai(text: str, start: int, end: int) -> list[Span]:
    piece = text[start:end]
    if end - start <= _THAI_LENGTH or len(_THAI.findall(piece)) * 2 < len(piece):
        return [(start, end)]
    spans: list[Span] = []
    for gap in re.finditer(r"\s+", piece):
        if start + gap.start() - (spans[-1][1] if spans else start) >= _THAI_LENGTH:
            spans.append((spans[-1][1] if spans else start, start + gap.end()))
    last = spans[-1][1] if spans else start
    return [*spans, (last, end)] if last < end else spans
