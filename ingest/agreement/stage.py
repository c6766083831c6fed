"""Facts compared with what is known, a batch a step: what is found becomes links, and the newer supersedes the older.

What is stored follows from the facts that are there, the policy and users' words on them, never from the order of
comparison. The policy decides what a contradiction comes to, with one exception: an error is never superseded by
rule. A later "it works now" does not undo what was learnt, and a lesson that sinks below the good news is a lesson
lost; so both stay in their places, marked as disagreeing, until a user says otherwise. An error may well supersede
what was believed before it.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import chain, combinations
from typing import Literal

from ingest.agreement.keys import (
    content_words,
    fact_keys,
    may_agree,
    packed,
    profile,
    template,
    unpacked,
)
from ingest.agreement.relation import Claim, Verdict, compare, which_is_newer
from ingest.plan import is_date_title, uid_of
from recalld.records import Category, FactId
from recalld.store.agreement import (
    Comparable,
    Compared,
    FactLink,
    Origin,
    Resolution,
    any_to_compare,
    comparables,
    compared_by_uid,
    resolutions,
    series_of_facts,
    sharing,
    words_of_facts,
)
from recalld.store.connection import Connection, Database
from recalld.store.facts import entity_key
from recalld.store.succession import SERIES, crowded
from recalld.store.writers import Writes

Policy = Literal["supersede", "keep_both", "review"]

# Of what comparison finds and of the keys that lead to it; another one has everything compared anew.
RULES_VERSION = "3"
_BATCH = 200
# Content words that tell what two facts are about whatever they stand under: `The production database runs on`,
# not `The port is`.
_TELLING = 3
_FIELD = re.compile(r"(?:[^\s:：。.]{1,40} ){0,2}[^\s:：。.]{1,40}(?:: |：)")
# Between a subject and its predicate.
_SAYS = "\x1f"

_Pair = tuple[FactId, FactId]


class AgreeingStage:
    """Compares facts that are new or have changed. Calls are safe from several threads."""

    def __init__(self, *, database: Database, writes: Writes, policy: Policy) -> None:
        """Nothing is compared before the first step."""
        self._database = database
        self._writes = writes
        self._policy: Policy = policy
        # A fact is being compared by one thread at a time.
        self._lock = threading.Lock()

    def adopt(self) -> bool:
        """Has everything compared anew when other rules or another policy made what is stored."""
        return self._writes.call(
            lambda writers: writers.agreement.adopt(RULES_VERSION, self._policy)
        )

    def step(self) -> int:
        """Compares the next batch. Returns how many facts; 0 means that none waits."""
        with self._lock:
            with self._database.reader() as connection:
                waits = any_to_compare(connection)
            if not waits:
                return 0
            facts = self._writes.call(lambda writers: writers.agreement.begin(_BATCH))
            self._compare(facts)
        return len(facts)

    def resolve(self, word: Resolution, now_ms: int) -> None:
        """Keeps a user's word on two facts; it holds when this returns."""
        with self._lock:
            self._writes.call(lambda writers: writers.agreement.resolve(word, now_ms))
            pair = (word.one, word.other)
            self._compare(self._writes.call(lambda writers: writers.agreement.begin_these(pair)))

    def _compare(self, facts: Sequence[FactId]) -> None:
        with self._database.reader() as connection:
            results = _compared(connection, facts, self._policy)
        self._writes.call(lambda writers: writers.agreement.put(results))


def links_between(
    one: Comparable, other: Comparable, word: Resolution | None, policy: Policy
) -> tuple[FactLink, ...]:
    """The edges between two facts, the same when they change places.

    Args:
        word: What a user said of the two, which comes before what rules find.
    """
    a, b = sorted((one, other), key=lambda fact: fact.uid)
    told_apart = _headings(a) != _headings(b) and (_leans(a) or _leans(b))
    if word is None and told_apart and (_is_field(a) or _is_field(b) or _common(a, b) < _TELLING):
        return ()
    verdict = compare(_claim(a), _claim(b))
    if word is not None:
        origin: Origin = "rule" if verdict.kind == "contradicts" else "user"
        told = Verdict("contradicts", verdict.reason, verdict.confidence)
        links = [_link(a, b, "contradicts", told, origin)]
        if word.verdict == "supersedes":
            winner, loser = (a, b) if word.one == a.uid else (b, a)
            links.append(_link(winner, loser, "supersedes", told, "user"))
        return tuple(links)
    if verdict.kind == "duplicate":
        if told_apart:
            return ()
        return (_link(a, b, "similar", Verdict("duplicate", "duplicate", verdict.confidence)),)
    if verdict.kind == "extends":
        longer, shorter = (b, a) if verdict.reason == "newer_says_more" else (a, b)
        return (
            _link(longer, shorter, "extends", Verdict("extends", "says_more", verdict.confidence)),
        )
    if verdict.kind != "contradicts":
        return ()
    return (_link(a, b, "contradicts", verdict), *_succession(a, b, verdict, policy))


def keys_of(fact: Comparable) -> tuple[str, ...]:
    """The keys by which a fact finds others: of its words, of what it relates, and of its wording without numbers."""
    related = sorted(
        {f"{entity_key(subject)}{_SAYS}{predicate}" for subject, predicate, _ in fact.relations}
    )
    return (*fact_keys(fact.text), *related, *_series_of(fact.text))


def _series_of(text: str) -> tuple[str, ...]:
    words = template(text)
    return (f"{SERIES}{words}",) if words else ()


def _succession(
    a: Comparable, b: Comparable, verdict: Verdict, policy: Policy
) -> tuple[FactLink, ...]:
    """The edge from the newer to the older, where the policy and their own dates say which that is."""
    if policy != "supersede":
        return ()
    sign = which_is_newer(_claim(a), _claim(b))
    if not sign:
        return ()
    newer, older = (b, a) if sign > 0 else (a, b)
    if older.category is Category.ERROR:
        return ()
    return (_link(newer, older, "supersedes", verdict),)


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


def _claim(fact: Comparable) -> Claim:
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
    origin: Origin = "rule",
) -> FactLink:
    return FactLink(
        from_fact=start.fact_id,
        to_fact=end.fact_id,
        kind=kind,
        weight=verdict.confidence,
        origin=origin,
        reason=verdict.reason,
    )


def _compared(connection: Connection, facts: Sequence[FactId], policy: Policy) -> list[Compared]:
    """What comparing these facts with one another, and with all that were compared before, comes to."""
    mine = comparables(connection, facts)
    keys = {fact_id: keys_of(fact) for fact_id, fact in mine.items()}
    words = {fact_id: packed(profile(fact.text)) for fact_id, fact in mine.items()}
    told = _words_on(connection, mine.values())
    pairs = {*_candidates(connection, keys, words), *told}
    known = mine | comparables(connection, {one for pair in pairs for one in pair} - set(mine))
    links: dict[FactId, list[FactLink]] = {fact_id: [] for fact_id in mine}
    for pair in sorted(pairs):
        found = links_between(known[pair[0]], known[pair[1]], told.get(pair), policy)
        for fact_id in pair:
            if fact_id in links:
                links[fact_id].extend(found)
    return [
        Compared(
            fact_id=fact_id, keys=keys[fact_id], words=words[fact_id], links=tuple(links[fact_id])
        )
        for fact_id in mine
    ]


def _candidates(
    connection: Connection,
    keys: Mapping[FactId, Sequence[str]],
    words: Mapping[FactId, bytes],
) -> set[_Pair]:
    """Pairs that share a telling key and enough words, or a subject and what is said of it.

    Of a wording that a list or a log repeats with other numbers, no two.
    """
    holders = sharing(connection, keys)
    shared = {fact_id: _shared_keys(fact_id, some, holders) for fact_id, some in keys.items()}
    others = {one for counts in shared.values() for one in counts} - set(keys)
    stored = {**words_of_facts(connection, others), **words}
    weighed = {fact_id: unpacked(some) for fact_id, some in stored.items()}
    pairs = {
        _pair(fact_id, other)
        for fact_id, counts in shared.items()
        for other, count in counts.items()
        if may_agree(weighed[fact_id], weighed[other], count)
    }
    for key in (key for key in holders if _SAYS in key):
        pairs |= {_pair(*two) for two in combinations(holders[key], 2) if set(two) & set(keys)}
    return pairs - _in_long_series(connection, keys, pairs)


def _shared_keys(
    fact_id: FactId, keys: Sequence[str], holders: Mapping[str, Collection[FactId]]
) -> Counter[FactId]:
    """How many keys each other fact shares with one; a single one is too few for a fact of many words."""
    shared = Counter(chain.from_iterable(holders.get(key, ()) for key in keys))
    del shared[fact_id]
    return shared


def _in_long_series(
    connection: Connection, keys: Mapping[FactId, Sequence[str]], pairs: Collection[_Pair]
) -> set[_Pair]:
    """Those of some pairs that are two numbers of one list or log."""
    series = {fact_id: key for fact_id, some in keys.items() for key in some if _is_series(key)}
    long = crowded(connection, series.values())
    among = [pair for pair in pairs if long & {series.get(one) for one in pair}]
    others = {one for pair in among for one in pair} - set(keys)
    series |= series_of_facts(connection, others)
    return {(one, other) for one, other in among if series.get(one) == series.get(other)}


def _is_series(key: str) -> bool:
    return key.startswith(SERIES)


def _words_on(connection: Connection, facts: Collection[Comparable]) -> dict[_Pair, Resolution]:
    """What users said of these facts and others that are there, by pair."""
    words = resolutions(connection, [fact.uid for fact in facts])
    uids = {uid for word in words for uid in (word.one, word.other)}
    ids = compared_by_uid(connection, uids) | {fact.uid: fact.fact_id for fact in facts}
    return {
        _pair(ids[word.one], ids[word.other]): word
        for word in words
        if word.one in ids and word.other in ids
    }


def _pair(one: FactId, other: FactId) -> _Pair:
    return (one, other) if one < other else (other, one)
