"""What two facts come to: edges between them, by rules, a model's answer, the policy and a user's word. Pure.

The policy decides what a contradiction comes to, with one exception: an error is never superseded but by a user's
word. A later "it works now" does not undo what was learnt, and a lesson that sinks below the good news is a lesson
lost; so both stay in their places, marked as disagreeing. An error may well supersede what was believed before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

from ingest.agreement.claims import cues_in
from ingest.agreement.keys import content_words, fact_keys, names_in, template, words_in_order
from ingest.agreement.matter import (
    are_side_by_side,
    is_held_by_one,
    is_likely_one,
    is_one_matter,
    is_one_name,
)
from ingest.agreement.relation import Claim, Verdict, VerdictKind, compare, which_is_newer
from ingest.agreement.subjects import BELOW
from ingest.agreement.veto import merge_veto
from ingest.plan import digest, is_date_title, uid_of
from recalld.records import Category
from recalld.store.agreement import Comparable, FactLink, Origin, Resolution
from recalld.store.facts import entity_key
from recalld.store.succession import SERIES
from recalld.store.verdicts import ToldKind

Policy = Literal["supersede", "keep_both", "review"]

# Content words that tell what two facts are about whatever they stand under: `The production database runs on`,
# not `The port is`.
_TELLING = 3
_FIELD = re.compile(r"(?:[^\s:：。.]{1,40} ){0,2}[^\s:：。.]{1,40}(?:: |：)")
# Reasons why two facts disagree that are another value of the same thing.
_VALUES = frozenset(("number", "date", "changed_value"))
# Of two that most likely speak of one thing: that they disagree is shown, and neither is put below the other.
_LIKELY = 0.5
# Between a subject and its predicate.
SAYS = "\x1f"
# What begins so is the key of a thing that a fact names; and of one that it says has moved, was replaced, is no longer.
NAMES, UPDATES = "\x1c", "\x1b"
# What a model says of two facts weighs less than what follows from their words.
_TOLD_CONFIDENCE = 0.6
_FOLLOWED: Mapping[ToldKind, VerdictKind] = {
    "duplicate": "duplicate",
    "contradicts": "contradicts",
    "independent": "independent",
}


def links_between(
    one: Comparable,
    other: Comparable,
    word: Resolution | None,
    policy: Policy,
    told: ToldKind | None = None,
) -> tuple[FactLink, ...]:
    """The edges between two facts, the same when they change places.

    Args:
        word: What a user said of the two, which comes before what rules find.
        told: What a model said of the two; it counts only where rules leave it open.
    """
    a, b = sorted((one, other), key=lambda fact: fact.uid)
    if word is not None:
        return _as_user_said(a, b, word)
    verdict = _by_rules(a, b)
    if told is not None and _is_open(verdict):
        return _links(a, b, _as_told(a, b, told), policy, "llm")
    return _links(a, b, verdict, policy, "rule")


def standing(one: Comparable, other: Comparable) -> Literal["open", "linked", "apart"]:
    """What rules make of two facts: something, nothing, or they leave it to somebody who understands language."""
    verdict = _by_rules(*sorted((one, other), key=lambda fact: fact.uid))
    if _is_open(verdict):
        return "open"
    return "apart" if verdict.kind == "independent" else "linked"


def _is_open(verdict: Verdict) -> bool:
    """Whether rules can't tell: words alone hide that `no models` and `gemma3 is installed` disagree."""
    return verdict.kind == "undecided" or verdict.reason == "other_words"


def veto_between(one: Comparable, other: Comparable) -> str | None:
    """Why two facts must not be merged whatever a model says; None when nothing speaks against it."""
    a, b = sorted((one, other), key=lambda fact: fact.uid)
    return "headings" if _told_apart(a, b) else merge_veto(claim_of(a), claim_of(b))


def asked_of(one: Comparable, other: Comparable) -> bytes:
    """The identity of the question how two facts stand to each other: their words, days and headings."""
    a, b = sorted((one, other), key=lambda fact: fact.uid)
    return digest(*(part for fact in (a, b) for part in _asked_parts(fact)))


def _asked_parts(fact: Comparable) -> tuple[str, ...]:
    headings = _headings(fact)
    return (fact.text, str(fact.happened), str(len(headings)), *headings)


def _as_user_said(a: Comparable, b: Comparable, word: Resolution) -> tuple[FactLink, ...]:
    verdict = compare(claim_of(a), claim_of(b))
    origin: Origin = "rule" if verdict.kind == "contradicts" else "user"
    told = Verdict("contradicts", verdict.reason, verdict.confidence)
    links = [_link(a, b, "contradicts", told, origin)]
    if word.verdict == "supersedes":
        winner, loser = (a, b) if word.one == a.uid else (b, a)
        links.append(_link(winner, loser, "supersedes", told, "user"))
    return tuple(links)


def _by_rules(a: Comparable, b: Comparable) -> Verdict:
    told_apart = _told_apart(a, b)
    if told_apart and (_is_field(a) or _is_field(b) or _common(a, b) < _TELLING):
        return Verdict("independent", "other_headings", 0.7)
    if _is_above(a, b) or _is_above(b, a):
        return Verdict("independent", "one_list", 0.7)
    verdict = _compared(a, b)
    if verdict.kind == "duplicate" and told_apart:
        return Verdict("independent", "other_headings", 0.7)
    return verdict if verdict.kind not in ("contradicts", "extends") else _as_placed(a, b, verdict)


def _is_above(a: Comparable, b: Comparable) -> bool:
    """Whether one is the item that the other stands below, with which it may be shortened."""
    above = b.text.rpartition(BELOW)[0].rstrip("… ")
    return bool(above) and a.text.startswith(above) and a.text.count(BELOW) < b.text.count(BELOW)


def _compared(a: Comparable, b: Comparable) -> Verdict:
    """How their words stand to each other; below one item, what is said there."""
    one, other = claim_of(a), claim_of(b)
    above, _, said = a.text.rpartition(BELOW)
    same, _, said_too = b.text.rpartition(BELOW)
    if above and above == same:
        one, other = replace(one, text=said), replace(other, text=said_too)
    return compare(one, other)


def _as_placed(a: Comparable, b: Comparable, verdict: Verdict) -> Verdict:
    """The verdict on two facts' words, as far as they speak of one matter and are not both meant.

    Two items of a list, or rows of a table, are another value of nothing: in one note only what says that something
    has changed, or denies of a name what is said of it, is at odds with the rest.
    """
    is_told = cues_in(a.text) != cues_in(b.text)
    is_denied = verdict.reason == "negation" and is_one_name(a, b)
    if verdict.kind == "contradicts" and not (is_told or is_denied) and are_side_by_side(a, b):
        return Verdict("independent", "side_by_side", 0.7)
    if verdict.reason == "new_holder":
        is_one = is_held_by_one(a, b)
    else:
        is_one = is_one_matter(a, b, is_of_state=verdict.reason in _VALUES and not is_told)
    if is_one:
        return verdict
    is_open = is_told or verdict.reason not in ("number", "date")
    if not (is_open and is_likely_one(a, b, is_told=is_told)):
        return Verdict("independent", "other_headings", 0.7)
    return verdict if is_told else replace(verdict, confidence=_LIKELY)


def _as_told(a: Comparable, b: Comparable, told: ToldKind) -> Verdict:
    """A model's word, as far as it may be followed."""
    if told == "duplicate" and veto_between(a, b):
        return Verdict("undecided", "told", 0.5)
    if told == "extends":
        says_more = "newer_says_more" if len(b.text) >= len(a.text) else "older_says_more"
        return Verdict("extends", says_more, _TOLD_CONFIDENCE)
    return Verdict(_FOLLOWED.get(told, "undecided"), "told", _TOLD_CONFIDENCE)


def _links(
    a: Comparable, b: Comparable, verdict: Verdict, policy: Policy, origin: Origin
) -> tuple[FactLink, ...]:
    if verdict.kind == "duplicate":
        same = Verdict("duplicate", "duplicate", verdict.confidence)
        return (_link(a, b, "similar", same, origin),)
    if verdict.kind == "extends":
        longer, shorter = (b, a) if verdict.reason == "newer_says_more" else (a, b)
        more = Verdict("extends", "says_more", verdict.confidence)
        return (_link(longer, shorter, "extends", more, origin),)
    if verdict.kind != "contradicts":
        return ()
    return (
        _link(a, b, "contradicts", verdict, origin),
        *_succession(a, b, verdict, policy, origin),
    )


def _told_apart(a: Comparable, b: Comparable) -> bool:
    """Whether they stand under different headings, and one says by them what it is about."""
    return _headings(a) != _headings(b) and (_leans(a) or _leans(b))


def keys_of(fact: Comparable) -> tuple[str, ...]:
    """The keys by which a fact finds others: of words, relations, names, and its wording without numbers."""
    related = sorted(
        {f"{entity_key(subject)}{SAYS}{predicate}" for subject, predicate, _ in fact.relations}
    )
    return (*fact_keys(fact.text), *related, *series_of(fact.text), *_named_in(fact))


def _named_in(fact: Comparable) -> Iterator[str]:
    """Keys of its names, and of the word that it begins with, which most often is what it is about."""
    begin = words_in_order(fact.text)[:1]
    names = {*begin, *names_in(fact.text), *map(entity_key, fact.entities)}
    is_update = bool(cues_in(fact.text))
    for name in sorted(names):
        yield f"{NAMES}{name}"
        if is_update:
            yield f"{UPDATES}{name}"


def series_of(text: str) -> tuple[str, ...]:
    """The key of a wording without its numbers; none when it has no numbers."""
    words = template(text)
    return (f"{SERIES}{words}",) if words else ()


def _succession(
    a: Comparable, b: Comparable, verdict: Verdict, policy: Policy, origin: Origin
) -> tuple[FactLink, ...]:
    """The edge from the newer to the older, where the policy and their own dates say which that is."""
    if policy != "supersede" or verdict.confidence <= _LIKELY:
        return ()
    sign = which_is_newer(claim_of(a), claim_of(b), is_date_at_odds=verdict.reason == "date")
    if not sign:
        return ()
    newer, older = (b, a) if sign > 0 else (a, b)
    if older.category is Category.ERROR:
        return ()
    return (_link(newer, older, "supersedes", verdict, origin),)


def _common(a: Comparable, b: Comparable) -> int:
    """How many content words both have."""
    return len(content_words(a.text) & content_words(b.text))


def _is_field(fact: Comparable) -> bool:
    """Whether it is a field's value, `roles: author, editor`: another thing's field says nothing of this one."""
    return _FIELD.match(fact.text) is not None


def _headings(fact: Comparable) -> tuple[str, ...]:
    """The headings above it that may say what it is about; a day says nothing of that."""
    return tuple(heading for heading in fact.heading_path if not is_date_title(heading))


def _leans(fact: Comparable) -> bool:
    """Whether it needs its headings to be understood: `Port is 5432.` under two of them is two facts."""
    return fact.uid != uid_of(fact.text, fact.happened)


def claim_of(fact: Comparable) -> Claim:
    """A fact as rules compare it."""
    return Claim(
        text=fact.text,
        stated=fact.stated,
        happened=fact.happened,
        entities=fact.entities,
        heading_path=_headings(fact),
    )


def _link(
    start: Comparable,
    end: Comparable,
    kind: Literal["similar", "extends", "contradicts", "supersedes"],
    verdict: Verdict,
    origin: Origin,
) -> FactLink:
    return FactLink(
        from_fact=start.fact_id,
        to_fact=end.fact_id,
        kind=kind,
        weight=verdict.confidence,
        origin=origin,
        reason=verdict.reason,
    )
