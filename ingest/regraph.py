"""The graph's rebuild from first step to last: what the schedule and `graph rebuild` run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from recalld.store.regraph import Stepped
from recalld.store.writers import Writers, Writes


@dataclass(frozen=True, slots=True, kw_only=True)
class Regraphed:
    """How much was looked at, and how much of it was not as it should be."""

    facts: int
    notes: int
    links: int
    changed: int


def rebuild_graph(writes: Writes) -> Regraphed:
    """Computes mentions, relations, spellings, links between facts, names and links of notes from what is stored.

    Other writes go in between; on a whole store nothing changes.
    """
    facts = _walked(writes, lambda writers, after: writers.graph.refact(after))
    entities = _walked(writes, lambda writers, after: writers.graph.respell(after))
    joins = _walked(writes, lambda writers, after: writers.graph.rejoin(after))
    notes = _walked(writes, lambda writers, after: writers.graph.renote(after))
    links = _walked(writes, lambda writers, after: writers.graph.relink(after))
    dropped = writes.call(lambda writers: writers.graph.drop_unnamed())
    return Regraphed(
        facts=facts[0],
        notes=notes[0],
        links=links[0],
        changed=facts[1] + entities[1] + joins[1] + notes[1] + links[1] + dropped,
    )


def _walked(writes: Writes, step: Callable[[Writers, int], Stepped]) -> tuple[int, int]:
    looked_at = changed = 0
    after: int | None = 0
    while after is not None:
        done = _step(writes, step, after)
        looked_at += done.looked_at
        changed += done.changed
        after = done.after
    return looked_at, changed


def _step(writes: Writes, step: Callable[[Writers, int], Stepped], after: int) -> Stepped:
    return writes.call(lambda writers: step(writers, after))
