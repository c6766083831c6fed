"""Facts compared with what is known, a batch a step: what is found becomes links, and the newer supersedes the older.

What is stored follows from the facts that are there, the policy, users' words on them and what a model was asked about
them, never from the order of comparison. It asks no model.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import chain, combinations

from ingest.agreement.keys import may_agree, packed, profile, unpacked
from ingest.agreement.links import (
    NAMES,
    SAYS,
    UPDATES,
    Policy,
    asked_of,
    keys_of,
    links_between,
)
from recalld.records import FactId
from recalld.store.agreement import (
    Comparable,
    Compared,
    FactLink,
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
from recalld.store.succession import SERIES, crowded
from recalld.store.verdicts import Told, ToldKind, in_force, told_of
from recalld.store.writers import Writes

# Of what comparison finds and of the keys that lead to it; another one has everything compared anew.
RULES_VERSION = "5"
_BATCH = 200

_BY_NAME = (NAMES, UPDATES)

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
        """Keeps a user's word on two facts; it holds when this returns.

        Raises:
            InvalidParams: it would put each above the other, by what was said before.
        """
        with self._lock:
            self._writes.call(lambda writers: writers.agreement.resolve(word, now_ms))
            pair = (word.one, word.other)
            self._compare(self._writes.call(lambda writers: writers.agreement.begin_these(pair)))

    def _compare(self, facts: Sequence[FactId]) -> None:
        with self._database.reader() as connection:
            results = _compared(connection, facts, self._policy)
        self._writes.call(lambda writers: writers.agreement.put(results))


def _compared(connection: Connection, facts: Sequence[FactId], policy: Policy) -> list[Compared]:
    """What comparing these facts with one another, and with all that were compared before, comes to."""
    mine = comparables(connection, facts)
    keys = {fact_id: keys_of(fact) for fact_id, fact in mine.items()}
    words = {fact_id: packed(profile(fact.text)) for fact_id, fact in mine.items()}
    said = _words_on(connection, mine.values())
    told = _told_of(connection, mine.values())
    met = _candidates(connection, keys, words) | _updated(connection, keys) | set(told)
    pairs = (met - _in_long_series(connection, keys, met)) | set(said)
    known = mine | comparables(connection, {one for pair in pairs for one in pair} - set(mine))
    links: dict[FactId, list[FactLink]] = {fact_id: [] for fact_id in mine}
    for pair in sorted(pairs):
        one, other = known[pair[0]], known[pair[1]]
        found = links_between(
            one, other, said.get(pair), policy, _answer(told.get(pair, ()), one, other)
        )
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
    """Pairs that share a telling key and enough words, or a subject and what is said of it."""
    keys = {one: [key for key in some if key[0] not in _BY_NAME] for one, some in keys.items()}
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
    for key in (key for key in holders if SAYS in key):
        pairs |= {_pair(*two) for two in combinations(holders[key], 2) if set(two) & set(keys)}
    return pairs


def _updated(connection: Connection, keys: Mapping[FactId, Sequence[str]]) -> set[_Pair]:
    """Pairs that name the same thing, of which one says that something has moved, was replaced or is no longer so.

    `The CI moved to GitHub Actions.` shares too little with `The CI runs on Jenkins.` to be found by its words.
    """
    names = {one: _stripped(some, NAMES) for one, some in keys.items()}
    updates = {one: _stripped(some, UPDATES) for one, some in keys.items()}
    moved = {name for some in updates.values() for name in some}
    # From an update to all that name the thing, and from these to the updates that were compared before.
    at_hand = {one: [f"{NAMES}{name}" for name in some & moved] for one, some in names.items()}
    pairs = {
        _pair(one, other)
        for key, holders in sharing(connection, at_hand).items()
        for one in holders & set(keys)
        if key[1:] in updates[one]
        for other in holders - {one}
    }
    crowds = crowded(connection, {f"{NAMES}{name}" for some in names.values() for name in some})
    before = {
        one: [f"{UPDATES}{name}" for name in some if f"{NAMES}{name}" not in crowds]
        for one, some in names.items()
    }
    holders = sharing(connection, before)
    return pairs | {
        _pair(one, other)
        for one, some in before.items()
        for key in some
        for other in holders.get(key, set()) - set(keys)
    }


def _stripped(keys: Sequence[str], sign: str) -> set[str]:
    return {key[1:] for key in keys if key.startswith(sign)}


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
    """Those of some pairs that are two numbers of one list or log, which tell nothing of each other."""
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


def _told_of(connection: Connection, facts: Collection[Comparable]) -> dict[_Pair, list[Told]]:
    """What a model said of these facts and others that are there, by pair."""
    told = told_of(connection, [fact.uid for fact in facts])
    ids = compared_by_uid(connection, {uid for one in told for uid in (one.one, one.other)})
    ids |= {fact.uid: fact.fact_id for fact in facts}
    found: dict[_Pair, list[Told]] = {}
    for one in told:
        if one.one in ids and one.other in ids:
            found.setdefault(_pair(ids[one.one], ids[one.other]), []).append(one)
    return found


def _answer(told: Sequence[Told], one: Comparable, other: Comparable) -> ToldKind | None:
    """What a model said of two facts as they are now."""
    if not told:
        return None
    asked = asked_of(one, other)
    return in_force(answer for answer in told if answer.asked == asked)


def _pair(one: FactId, other: FactId) -> _Pair:
    return (one, other) if one < other else (other, one)
