"""What one statement tells to have changed since another: moved, replaced, switched.

Prose is full of "instead of" and "replaced" that change nothing told elsewhere, so both must be short and plain, and
the newer must speak of what the older speaks of, or of the value that it names. It must not know of facts or verdicts.
"""

from __future__ import annotations

import re
from typing import Literal

from ingest.agreement.claims import Side

Change = Literal["moved", "replaced", "open"]

MEASURE = re.compile(r"(?:[a-z]+:)?-?\d[\d./]*")
# Content words; a longer sentence tells a story, in which something was replaced.
_LONG_UPDATE = 8
_SHORT_UPDATE = 5
_PLACED = re.compile("在|位于|にあ|で動")
_VERB_FIRST = re.compile("[\u0600-\u06ff]")
_PLACING = frozenset(("в", "на", "في", "à", "en"))


def change_between(one: Side, other: Side) -> Change | None:
    """What either tells to have changed; `open` where it tells of a change that may be another, None of none."""
    return _told_by(one, other) or _told_by(other, one)


def _told_by(past: Side, present: Side) -> Change | None:
    gained = (present.cues - past.cues) & {"moved", "replaced"}
    is_plain = not (present.is_order or past.modality or present.modality)
    has_subject = _begin_alike(past, present)
    if not gained or not is_plain or not _may_change(past, present, has_subject):
        return None
    # `The CI moved from Jenkins to GitHub` agrees with `The CI runs on GitHub`.
    if _end(past) == _end(present):
        return "open"
    if "moved" in gained and has_subject and _has_place(past):
        return "moved"
    if "replaced" not in gained:
        return "open"
    is_told = _is_replaced(past, present) if has_subject else _is_named(past, present)
    return "replaced" if is_told else "open"


def _is_named(past: Side, present: Side) -> bool:
    """Whether the newer begins with a value that the older names: `Northwind was replaced by Fabrikam`."""
    named = past.capitals & past.content & present.content & {*past.bare[1:]}
    return len(present.content) <= _SHORT_UPDATE and not named.isdisjoint(present.bare[:1])


def _end(side: Side) -> tuple[str, ...]:
    """The last word; the last two characters where a script has no spaces."""
    last = side.bare[-1:]
    return last if last and (last[0].isascii() or len(last[0]) > 1) else side.bare[-2:]


def _begin_alike(past: Side, present: Side) -> bool:
    """Whether both are said of the same subject."""
    if past.subject is not None and present.subject is not None:
        return past.subject == present.subject
    begin = past.bare[:1]
    if past.content.isdisjoint(begin):
        return False
    is_begin = begin == present.bare[:1] and len(past.bare) <= _SHORT_UPDATE
    return is_begin or (begin == present.bare[1:2] and _VERB_FIRST.match(begin[0]) is not None)


def _may_change(past: Side, present: Side, has_subject: bool) -> bool:
    """Whether what both say is enough of either for one to tell how the other changed.

    Prose is full of "instead of" and "replaced" that change nothing told elsewhere.
    """
    shared = past.content & present.content
    shorter, longer = sorted((len(past.content), len(present.content)))
    if longer > _LONG_UPDATE:
        return False
    return (has_subject and past.subject is not None) or (
        bool(shared) and len(shared) * 3 >= shorter
    )


def _is_replaced(past: Side, present: Side) -> bool:
    """Whether the new value is one in the place of the old: named with it, or of its kind."""
    about = {*(past.subject or ()), *past.bare[:1]}
    named_again = past.content & present.content & {*past.bare[1:]}
    if named_again - about or "one" in past.predicate:
        return True
    for kind in (_names, _amounts):
        gone, come = kind(past) - kind(present), kind(present) - kind(past)
        if len(gone) == 1 and come:
            return True
    return False


def _names(side: Side) -> frozenset[str]:
    return side.capitals & side.content


def _amounts(side: Side) -> frozenset[str]:
    return frozenset(sign for sign in side.signs if MEASURE.fullmatch(sign))


def _has_place(side: Side) -> bool:
    said = "".join(side.signs)
    return (
        "one" in side.predicate
        or _PLACED.search(said) is not None
        or not _PLACING.isdisjoint(side.signs)
    )
