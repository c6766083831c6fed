"""How two facts stand to each other: the same, more of the same, at odds, or apart.

One mistake is worse than all others: to merge what only looks alike. So only equal wording and equal measures
make a duplicate, and whatever rules cannot tell stays undecided. It must not know of the store, of vectors or
of models, nor how the two facts were found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from rapidfuzz.distance import Levenshtein

from ingest.agreement.changing import MEASURE, change_between
from ingest.agreement.claims import Side, are_alike, predicates_in, signs_of, take_apart
from ingest.agreement.subjects import frequencies
from ingest.agreement.values import may_be_equal
from recalld.records import DateInterval
from retrieval.grounding.wording import listed

VerdictKind = Literal["duplicate", "extends", "contradicts", "independent", "undecided"]

# Below this share of common words two facts are about different things.
MIN_RELATED = 0.3
# Words; what is longer is no value that took another's place.
_LONG_VALUE = 4
# Signs on either side of a value that may say what kind of value it is.
_NEAR = 8
_VERBS = frozenset(
    ("is", "are", "was", "were", "has", "have", "had", "can", "does", "runs", "lives", "works")
) | frozenset(("ist", "sind", "war", "hat", "heeft", "hebben", "zijn", "staat", "ligt"))
_HAN_VERBS = "是有在住为会用"
_PARTICLES = frozenset(("van", "der", "den", "von", "zu", "da", "di", "del", "du"))
_JOINS = frozenset(
    ("and", "en", "und", "with", "met", "mit", "together", "和", "与", "跟", "在", "于")
)
_NO_SPACE = re.compile("(?<=[\u3040-\u30ff\u3400-\u9fff]) | (?=[\u3040-\u30ff\u3400-\u9fff])")
# What a date follows that something lasts to.
_UNTIL = frozenset("到至")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A fact as far as comparing it needs."""

    text: str
    stated: date | None = None
    happened: DateInterval | None = None
    # Names in the text, as written.
    entities: tuple[str, ...] = ()
    heading_path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """How the newer claim stands to the older one; `confidence` is 0..1."""

    kind: VerdictKind
    reason: str
    confidence: float


def compare(older: Claim, newer: Claim) -> Verdict:
    """How two claims stand to each other; the kind is the same when they change places.

    `extends` says that one says all that the other says and more, with nothing changed; the reason tells
    which. `contradicts` includes updates. `undecided` leaves it to somebody who understands language.
    """
    one, other = sorted((older, newer), key=_order)
    a, b = take_apart(one.text, one.entities), take_apart(other.text, other.entities)
    verdict = (
        _same(one, other, a, b)
        or _subjects_elsewhere(one, other, a, b)
        or _denied(a, b)
        or _updated(a, b)
        or _aligned(one, other, a, b)
        or _unlike(a, b)
    )
    if verdict.kind == "extends":
        longer = "newer" if len(signs_of(newer.text)) >= len(signs_of(older.text)) else "older"
        return Verdict("extends", f"{longer}_says_more", verdict.confidence)
    return verdict


def which_is_newer(older: Claim, newer: Claim, *, is_date_at_odds: bool = False) -> int | None:
    """1 when `newer` is the newer one, -1 when it is the older one, 0 when both are of one day.

    What happened decides before when it was stated, unless that is what they disagree about; None when neither
    tells them apart for lack of dates.
    """
    told: list[int] = []
    if not is_date_at_odds and older.happened is not None and newer.happened is not None:
        before = (older.happened.first, older.happened.last)
        after = (newer.happened.first, newer.happened.last)
        told.append((after > before) - (after < before))
    if older.stated is not None and newer.stated is not None:
        told.append((newer.stated > older.stated) - (newer.stated < older.stated))
    return next((sign for sign in told if sign), 0) if told else None


def _order(claim: Claim) -> tuple[str, tuple[str, ...], str]:
    return claim.text, claim.heading_path, str(claim.happened)


def _same(one: Claim, other: Claim, a: Side, b: Side) -> Verdict | None:
    if a.signs != b.signs or not a.signs or a.modality != b.modality:
        return None
    if one == other:
        return Verdict("duplicate", "same_words", 1.0)
    if not are_alike(a.forms, b.forms):
        return Verdict("undecided", "articles", 0.5)
    if one.happened and other.happened and one.happened != other.happened:
        return Verdict("independent", "other_time", 0.7)
    if one.heading_path != other.heading_path and (a.is_pronominal or len(a.content) < 3):
        return Verdict("undecided", "leans_on_heading", 0.5)
    return Verdict("duplicate", "same_words", 1.0)


def _subjects_elsewhere(one: Claim, other: Claim, a: Side, b: Side) -> Verdict | None:
    """Sentences whose subject is told by different headings."""
    if one.heading_path != other.heading_path and (a.is_pronominal or b.is_pronominal):
        return Verdict("independent", "other_subject", 0.6)
    return None


def _denied(a: Side, b: Side) -> Verdict | None:
    if a.negations == b.negations:
        return None
    shorter, longer = sorted((a.bare, b.bare), key=len)
    if shorter and a.modality == b.modality:
        if shorter == longer:
            return Verdict("contradicts", "negation", 0.95)
        # `Don't worry, I am here` denies nothing of `I am here`.
        is_one_clause = len(_commas(a)) == len(_commas(b))
        if is_one_clause and len(longer) - len(shorter) <= 1 and _is_within(shorter, longer):
            return Verdict("contradicts", "negation", 0.8)
    if _jaccard(a.content, b.content) < MIN_RELATED:
        return Verdict("independent", "other_words", 0.6)
    return Verdict("undecided", "negation", 0.5)


def _commas(side: Side) -> list[int]:
    return [at for at, form in side.forms if form == ","]


def _updated(a: Side, b: Side) -> Verdict | None:
    change = change_between(a, b)
    if change is None:
        return None
    if change == "open":
        return Verdict("undecided", "update", 0.5)
    return Verdict("contradicts", change, 0.85)


def _aligned(one: Claim, other: Claim, a: Side, b: Side) -> Verdict | None:
    if a.modality != b.modality:
        return None
    if a.lasting == b.lasting and a.lasting:
        return Verdict("extends", "", 0.8)
    slots = _slots(a.lasting, b.lasting)
    if not slots:
        return None
    if len(slots) == 1 and slots[0].left and slots[0].right:
        return _one_slot(one, other, a, b, slots[0])
    inserted = [slot for slot in slots if not (slot.left and slot.right)]
    if len(inserted) == len(slots) <= 3 and (
        all(slot.left for slot in slots) or all(slot.right for slot in slots)
    ):
        if a.negations == b.negations and all(_may_be_added(slot) for slot in slots):
            return Verdict("extends", "", 0.75)
        return Verdict("undecided", "added_words", 0.5)
    return None


@dataclass(frozen=True, slots=True)
class _Slot:
    """Where two sequences differ, with what both have before and after."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]


def _slots(left: tuple[str, ...], right: tuple[str, ...]) -> list[_Slot]:
    slots: list[_Slot] = []
    start = (0, 0)
    for tag, a, a_end, b, b_end in [
        *Levenshtein.opcodes(left, right),
        ("equal", len(left), len(left), len(right), len(right)),
    ]:
        if tag != "equal":
            continue
        if (a, b) != start:
            slots.append(_Slot(left[start[0] : a], right[start[1] : b], left[: start[0]], left[a:]))
        start = (a_end, b_end)
    return slots


def _one_slot(one: Claim, other: Claim, a: Side, b: Side, slot: _Slot) -> Verdict | None:
    shared = len(slot.before) + len(slot.after)
    longest = max(len(slot.left), len(slot.right))
    if shared < longest and (shared < 2 or longest > _LONG_VALUE):
        return None
    if may_be_equal(slot.left, slot.right):
        return Verdict("undecided", "spelling", 0.5)
    predicate = a.predicate & b.predicate
    is_now = "now" in a.cues ^ b.cues
    if _is_subject(slot, (*a.names, *b.names)):
        if slot.before and _is_number(slot):
            return Verdict("undecided", "number", 0.5)
        if "held" in predicate:
            return (
                Verdict("contradicts", "new_holder", 0.8)
                if is_now
                else Verdict("undecided", "other_holder", 0.5)
            )
        return Verdict("independent", "other_subject", 0.9)
    if one.happened and other.happened and one.happened != other.happened and not _is_date(slot):
        return Verdict("independent", "other_time", 0.6)
    if is_now:
        return Verdict("contradicts", "date" if _is_date(slot) else "changed_value", 0.85)
    if _is_date(slot):
        stated = "one" in predicate or {*slot.before} & _VERBS or {*slot.before[-1:]} & _UNTIL
        return Verdict("contradicts" if stated else "undecided", "date", 0.7 if stated else 0.5)
    if _is_number(slot):
        # One buys and eats more than once.
        if "many" in predicate:
            return Verdict("undecided", "number", 0.5)
        return Verdict("contradicts", "number", 0.85)
    if "many" in predicate:
        return Verdict("independent", "several_values", 0.8)
    if _is_often(slot) or ("one" in predicate and _is_said_of(slot)):
        return Verdict("contradicts", "changed_value", 0.75)
    return Verdict("undecided", "changed_word", 0.5)


def _is_often(slot: _Slot) -> bool:
    """Whether both sides say how often; in Chinese the difference is in the last character alone."""
    often = frequencies()
    whole = ["".join((*slot.before[-1:], *side)) for side in (slot.left, slot.right)]
    alone = ["".join(side).casefold() for side in (slot.left, slot.right)]
    return all(one in often for one in whole) or all(one in often for one in alone)


def _is_said_of(slot: _Slot) -> bool:
    """Whether what a thing has one of is said of the value, not of something long before it; an order says none."""
    if max(len(slot.left), len(slot.right)) > 2 * _LONG_VALUE:
        return False
    before = slot.before[1:] if slot.before[:1] and slot.before[0].isascii() else slot.before
    near = before[-_NEAR:]
    return all(
        "one" in predicates_in(_written((*near, *side, *slot.after[:_NEAR])))
        for side in (slot.left, slot.right)
    )


def _written(signs: Sequence[str]) -> str:
    """Signs as one text again, without spaces where the script has none."""
    return _NO_SPACE.sub("", " ".join(signs))


def _is_subject(slot: _Slot, names: Sequence[tuple[str, ...]]) -> bool:
    """Whether the difference is in what is talked about, not in what is said of it."""
    if not slot.before:
        return True
    # は marks what is spoken of.
    if any(sign in _VERBS or sign in _HAN_VERBS or sign == "は" for sign in slot.before):
        return False
    end = len(slot.before) + min(len(slot.left), len(slot.right))
    for side in (slot.left, slot.right):
        whole = (*slot.before, *side)
        if any(len(name) >= end and whole[: len(name)] == name[: len(whole)] for name in names):
            return True
    if slot.after and slot.left and slot.right and _goes_on_name(slot):
        return True
    if any(sign in _VERBS or (sign in _HAN_VERBS and sign != "用") for sign in slot.after):
        return True
    return bool(predicates_in(" ".join(slot.after))) and not predicates_in(" ".join(slot.before))


def _goes_on_name(slot: _Slot) -> bool:
    """Whether a name that opens the claims differs in its last part: `Jan de Wit`, `Jan de Boer`."""
    inner = (*slot.before[1:], slot.left[0], slot.right[0])
    return all(sign[:1].isupper() or sign in _PARTICLES for sign in inner)


def _is_date(slot: _Slot) -> bool:
    return all(
        any(sign.startswith(("date:", "weekday:", "written:")) for sign in side)
        for side in (slot.left, slot.right)
    )


def _is_number(slot: _Slot) -> bool:
    return all(MEASURE.fullmatch(side[0]) for side in (slot.left, slot.right))


def _may_be_added(slot: _Slot) -> bool:
    """Whether words that only one claim has add a detail, rather than speak of something else."""
    added = slot.left or slot.right
    if not slot.before:
        return False
    if not slot.after:
        return True
    if added[0] in _JOINS or added[0] in listed("markers"):
        return True
    is_predicate = any(sign in _VERBS or sign in _HAN_VERBS for sign in slot.before)
    return (
        is_predicate
        and not slot.after[0][:1].isupper()
        and len(slot.after) > 1
        and added[0].isdigit()
    )


def _unlike(a: Side, b: Side) -> Verdict:
    """What is left: related by its words, or not.

    In scripts without spaces pairs of characters are compared, of which even paraphrases share few.
    """
    shared = len(a.content & b.content)
    in_runs = any(not sign.isascii() for sign in a.signs) and shared > 0
    if in_runs and shared * 2 >= min(len(a.content), len(b.content)):
        return Verdict("undecided", "related", 0.5)
    if _jaccard(a.content, b.content) < MIN_RELATED:
        return Verdict("independent", "other_words", 0.7)
    return Verdict("undecided", "related", 0.5)


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 0.0


def _is_within(shorter: Sequence[str], longer: Sequence[str]) -> bool:
    rest = iter(longer)
    return all(sign in rest for sign in shorter)
