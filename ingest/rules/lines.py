"""Which lines of a paragraph its writer ended, and not a line length: quick notes, logs, forms.

It sees lines without their indentation and quote marks, and must not know of blocks or facts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from ingest.rules.leaning import leans
from ingest.rules.sentences import count_cjk
from ingest.rules.verbs import has_verb, opens_with_subject
from retrieval.grounding.wording import modality_of

# A time, a day or a label begins an entry of a log or a form.
_ENTRY = re.compile(r"\d{1,2}[:.]\d{2}\b|\d{4}-\d{2}-\d{2}\b|[^\W\d]\w{1,20}[:：]\s")
# A field of Dataview's, which has its line for itself.
_FIELD = re.compile(r"[^\W\d][\w -]{0,40}::(?:\s|$)")
_GOES_ON = (",", "、", "，", ";", "；", "-", "(", "（", "–", "—")
# Particles of Chinese and Japanese that need what follows them.
_PARTICLES = tuple("和与與或及把被在はがをにへとのてで")
_ANNOUNCES = (":", "：")
_STOPS = tuple(".!?。！？…؟")
_INNER_STOP = re.compile(r"[。！？]|\w\w[.!?][\"'”’)]?\s")
# Before the first letter of a line.
_MARKS = "*_=[(（「\"'“‘«"
_CLOSING = "*_="
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_FIRST_WORD = re.compile(rf"{_CJK.pattern}|(?:(?!{_CJK.pattern})\S)+")
# A link's target may be longer than any line length.
_ADDRESS = re.compile(r"\]\([^()\s]*\)|https?://\S+")
# Nobody wraps prose at fewer columns, and nobody at more.
_NARROW, _NARROW_CJK, _WIDE = 50, 30, 120
_ROOM_CJK = 8
# No thought ends with these.
_OPEN_END = frozenset(
    """
    the a an of and or nor to in on at into from with for by that which whose than as if when while because my our your
    their its is are was were be been has have had will would can could should must may might not very
    de het een van en of in op met voor door dat die tot uit bij naar om dan als wanneer terwijl omdat mijn ons onze
    is zijn was waren wordt werd heeft hebben kan kunnen moet moeten zal niet
    der die das den dem des ein eine einen einem einer eines und oder von vom zum zur im am beim ins mit für bei zu als
    wie dass wenn weil mein unser ist sind war waren wird werden wurde hat haben kann muss soll nicht
    le la les un une des du au aux et ou de avec pour par sur dans que qui dont est sont a ont
    """.split()  # noqa: SIM905 - a word list is read more easily as text
)


def ended_lines(lines: Sequence[str]) -> list[bool]:
    """For each line but the last whether its writer ended it where it ends.

    Args:
        lines: Those of a paragraph, at least one.
    """
    width = max(map(_columns, lines))
    is_free = all(_begins_anew(line) for line in lines[1:])
    are_thoughts = _are_thoughts(lines)
    return [
        _FIELD.match(line) is not None
        or _FIELD.match(following) is not None
        or (is_free and (_ENTRY.match(following) is not None or _has_room(line, following, width)))
        or (are_thoughts and _parts(line, following))
        for line, following in pairwise(lines)
    ]


def _begins_anew(line: str) -> bool:
    """Whether a line could begin a sentence: a small letter in just one line shows wrapped prose."""
    return not line[:1].islower() and line[:1] not in "`[(*_<"


def _has_room(line: str, following: str, width: int) -> bool:
    """Whether the next line's first word would have fitted, so that the writer ended this one."""
    if _breaks_off(line):
        return False
    opening = _FIRST_WORD.match(following)
    first = min(_columns(opening[0]), 20) if opening else 0
    return _columns(line) + 1 + first < width * 0.8


def _are_thoughts(lines: Sequence[str]) -> bool:
    """Whether each line is a thought of its own, as in quick notes without full stops.

    Every line opens as a sentence does and none breaks off; nearly all have what a sentence has; and either no line
    is as long as where prose is wrapped, or so many open so that a line length would not have done it.
    """
    if len(lines) < 2 or any(_breaks_off(line) or line.endswith(_ANNOUNCES) for line in lines[:-1]):
        return False
    if not all(map(_opens, lines)):
        return False
    silent = sum(not _is_thought(line) for line in lines)
    if silent * 3 > len(lines):
        return False
    bare = [_ADDRESS.sub("]", line) for line in lines]
    columns = [_columns(line) for line in bare]
    width = max(columns)
    has_stops = any(map(_has_stop, lines))
    if any(map(count_cjk, lines)):
        # Prose that is wrapped fills its lines to the last character.
        has_room = bare == list(lines) and width > min(columns[:-1]) + _ROOM_CJK
        return width <= _NARROW_CJK or (has_room and not has_stops)
    return width <= _NARROW or width > _WIDE or (len(lines) > 2 and not has_stops)


def _columns(text: str) -> int:
    return len(text) + count_cjk(text)


def _breaks_off(line: str) -> bool:
    told = line.rstrip(_CLOSING)
    last = told.rsplit(maxsplit=1)[-1:]
    return told.endswith((*_GOES_ON, *_PARTICLES)) or (bool(last) and last[0] in _OPEN_END)


def _has_stop(line: str) -> bool:
    return line.endswith(_STOPS) or _INNER_STOP.search(line) is not None


def _opens(line: str) -> bool:
    first = line.lstrip(_MARKS)[:1]
    return first.isupper() or _CJK.match(first) is not None


def _is_thought(line: str) -> bool:
    return has_verb(line) or opens_with_subject(line) or count_cjk(line) > 4


def _parts(line: str, following: str) -> bool:
    """Whether a thought ends here: a full stop says so itself, and no condition ends before what it is of."""
    return (
        not line.endswith(_STOPS)
        and not leans(following.lstrip(_MARKS))
        and "conditional" not in modality_of(line)
    )
