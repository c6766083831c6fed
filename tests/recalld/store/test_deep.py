"""The queue of the deep extraction, and facts of a model in the place of the rules'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from recalld.records import BlockKind, NoteId
from recalld.store.changes import KeptBlock, NewBlock, NewStatement
from recalld.store.deep import (
    DeepFact,
    RulesFact,
    ToExtract,
    cached_extraction,
    extraction_counts,
    first_state,
    next_try_ms,
    parked_blocks,
    passages_of_block,
    rules_facts_of_block,
    sentences_of_block,
    to_extract,
)
from tests.recalld.store.building import ONE_LINE, Shelf, block, digest, fact

PORT = "The gateway listens on port 9090."
MIRROR = "The mirror lives in Groningen."


def put(shelf: Shelf, *texts: str, path: str = "a.md") -> NoteId:
    return shelf.put(
        path, *(block(path, text, fact(text), ordinal=n) for n, text in enumerate(texts))
    )


def waiting(shelf: Shelf, limit: int = 10, now_ms: int = 0) -> list[ToExtract]:
    with shelf.reader() as connection:
        return to_extract(connection, limit, now_ms)


def deep(shelf: Shelf, of: ToExtract, text: str) -> DeepFact:
    with shelf.reader() as connection:
        first = sentences_of_block(connection, of.block_id)[0]
    return DeepFact(
        passage_id=first.passage_id,
        statement=NewStatement(
            text=text,
            words=text.casefold(),
            lines=first.lines,
            embed_prefix="",
            embed_hash=digest(text),
            facts=(),
        ),
        fact=fact(text, confidence=0.9),
    )


def accept(
    shelf: Shelf, of: ToExtract, *texts: str, beside: Sequence[RulesFact] = (), **refused: int
) -> bool:
    return shelf.writers.deep.accept(
        of,
        [deep(shelf, of, text) for text in texts],
        beside=beside,
        extractor="llm:m:d@facts@1",
        refused=refused,
        cache_key=digest(of.text),
        result="{}",
        now_ms=5,
    )


def texts(shelf: Shelf) -> set[str]:
    return {str(row[0]) for row in shelf.rows("SELECT text FROM fact")}


def counts(shelf: Shelf):
    with shelf.reader() as connection:
        return extraction_counts(connection)


def of_kind(kind: BlockKind) -> NewBlock:
    return replace(block("a.md", PORT), kind=kind)


@pytest.mark.parametrize("kind", BlockKind)
def test_block_waits_unless_rules_alone_read_its_kind(shelf, kind):
    shelf.put("a.md", of_kind(kind))
    alone = kind in (BlockKind.FRONT_MATTER, BlockKind.HEADING, BlockKind.FENCE)
    assert first_state(kind) == ("done" if alone else "pending")
    assert len(waiting(shelf)) == (0 if alone else 1)
    assert shelf.writers.deep.queue_others("llm:x") == 0


def test_waiting_block_has_what_its_prompt_needs(shelf):
    put(shelf, PORT)
    [one] = waiting(shelf)
    assert (one.text, one.heading_path, one.title, one.dated) == (PORT, ("Part",), "a.md", None)
    assert (one.attempts, one.text_hash, one.lines) == (0, digest(PORT), ONE_LINE)
    with shelf.reader() as connection:
        assert passages_of_block(connection, one.block_id) == [PORT]


def test_newest_changes_come_first_and_failed_ones_last(shelf):
    put(shelf, "Old one.", "Old two.", path="old.md")
    put(shelf, "New one.", path="new.md")
    shelf.writers.connection.execute("UPDATE note SET changed_at = 9 WHERE path = 'new.md'")
    assert [one.text for one in waiting(shelf)] == ["New one.", "Old one.", "Old two."]
    shelf.writers.deep.postpone(waiting(shelf)[0], next_try_ms=100)
    assert [one.text for one in waiting(shelf)] == ["Old one.", "Old two."]
    assert [one.text for one in waiting(shelf, now_ms=100)] == ["Old one.", "Old two.", "New one."]
    assert waiting(shelf, now_ms=100)[-1].attempts == 1
    assert len(waiting(shelf, limit=1)) == 1


def test_next_try_is_the_earliest_of_what_waits(shelf):
    with shelf.reader() as connection:
        assert next_try_ms(connection) is None
    put(shelf, PORT)
    [one] = waiting(shelf)
    with shelf.reader() as connection:
        assert next_try_ms(connection) == 0
    shelf.writers.deep.postpone(one, next_try_ms=700)
    with shelf.reader() as connection:
        assert next_try_ms(connection) == 700


def test_facts_of_the_model_take_the_place_of_those_of_the_rules(shelf):
    put(shelf, PORT, MIRROR)
    [one, _] = waiting(shelf)
    assert accept(shelf, one, "Port 9090 is the gateway's.", words=2)
    assert texts(shelf) == {"Port 9090 is the gateway's.", MIRROR}
    assert shelf.rows("SELECT of_fact, text FROM statement ORDER BY id") == [
        (0, PORT),
        (0, MIRROR),
        (1, "Port 9090 is the gateway's."),
    ]
    assert [left.text for left in waiting(shelf)] == [MIRROR]
    assert counts(shelf).refused == {"words": 2}
    assert counts(shelf).pending == 1


def test_facts_of_the_rules_stand_beside_the_models_and_come_back_as_they_were(shelf):
    put(shelf, PORT)
    before = shelf.rows("SELECT uid, text, confidence, extractor FROM fact")
    [one] = waiting(shelf)
    with shelf.reader() as connection:
        [ruled] = rules_facts_of_block(connection, one.block_id)
    assert ruled.text == PORT
    accept(shelf, one, "Port 9090 is the gateway's.")
    assert counts(shelf).beside == 0
    with shelf.reader() as connection:
        assert rules_facts_of_block(connection, one.block_id) == [ruled]
    shelf.writers.deep.queue_others("llm:other")
    [again] = waiting(shelf)
    assert accept(shelf, again, MIRROR, beside=[ruled])
    assert texts(shelf) == {PORT, MIRROR}
    assert counts(shelf).beside == 1
    shelf.writers.deep.queue_others("llm:other")
    [again] = waiting(shelf)
    assert accept(shelf, again, beside=[ruled])
    assert shelf.rows("SELECT uid, text, confidence, extractor FROM fact") == before


def test_fact_is_a_models_where_any_place_has_it_from_one(shelf):
    put(shelf, PORT)
    put(shelf, PORT, path="b.md")
    [one, _] = waiting(shelf)
    assert accept(shelf, one, PORT)
    assert shelf.rows("SELECT extractor FROM fact") == [("llm:m:d@facts@1",)]
    shelf.writers.deep.queue_others("llm:other")
    again = next(each for each in waiting(shelf) if each.block_id == one.block_id)
    with shelf.reader() as connection:
        ruled = rules_facts_of_block(connection, one.block_id)
    assert accept(shelf, again, beside=ruled)
    assert shelf.rows("SELECT extractor = (SELECT extractor FROM note) FROM fact") == [(1,)]


def test_fact_that_the_model_words_as_the_rules_do_keeps_its_row(shelf):
    put(shelf, PORT)
    before = shelf.rows("SELECT id, uid FROM fact")
    [one] = waiting(shelf)
    assert accept(shelf, one, PORT)
    assert shelf.rows("SELECT id, uid FROM fact") == before
    assert shelf.rows("SELECT extractor, confidence FROM fact") == [("llm:m:d@facts@1", 0.9)]


def test_a_block_without_passages_never_waits(shelf):
    shelf.put("a.md", replace(of_kind(BlockKind.RULE), text="---", passages=()))
    assert waiting(shelf) == []
    assert shelf.writers.deep.queue_others("llm:x") == 0


def test_no_facts_are_an_answer_too(shelf):
    put(shelf, PORT)
    [one] = waiting(shelf)
    assert accept(shelf, one)
    assert texts(shelf) == set()
    assert shelf.rows("SELECT count(*) FROM passage") == [(1,)]


def test_second_answer_of_another_model_leaves_no_wording_of_the_first(shelf):
    put(shelf, PORT)
    [one] = waiting(shelf)
    accept(shelf, one, "Port 9090 is the gateway's.")
    assert shelf.writers.deep.queue_others("llm:other") == 1
    accept(shelf, one, "The gateway has port 9090.")
    assert texts(shelf) == {"The gateway has port 9090."}
    assert shelf.rows("SELECT text FROM statement WHERE of_fact = 1") == [
        ("The gateway has port 9090.",)
    ]


def test_answer_for_a_block_that_has_gone_is_dropped_and_kept_in_the_cache(shelf):
    note_id = put(shelf, PORT)
    [one] = waiting(shelf)
    found = [deep(shelf, one, "Port 9090 is the gateway's.")]
    shelf.put("a.md", block("a.md", MIRROR, fact(MIRROR)), note_id=note_id, removed=[one.block_id])
    assert not shelf.writers.deep.accept(
        one, found, extractor="llm", refused={}, cache_key=b"k", result="{}", now_ms=5
    )
    assert texts(shelf) == {MIRROR}
    with shelf.reader() as connection:
        assert cached_extraction(connection, b"k") == "{}"


def test_answer_that_comes_a_second_time_changes_nothing(shelf):
    put(shelf, PORT)
    [one] = waiting(shelf)
    assert accept(shelf, one, PORT)
    assert not accept(shelf, one, "Port 9090 is the gateway's.")
    assert texts(shelf) == {PORT}


def test_block_that_stays_keeps_its_state(shelf):
    note_id = put(shelf, PORT)
    [one] = waiting(shelf)
    accept(shelf, one, PORT)
    kept = KeptBlock(block_id=one.block_id, ordinal=1, lines=ONE_LINE, position=1, words=None)
    shelf.put("a.md", block("a.md", MIRROR), note_id=note_id, kept=[kept])
    assert [left.text for left in waiting(shelf)] == [MIRROR]


def test_parked_block_says_why_and_keeps_its_facts(shelf):
    put(shelf, PORT, MIRROR)
    [one, _] = waiting(shelf)
    shelf.writers.deep.park(one, "no JSON", extractor="llm:a", refused={"leak": 1})
    assert texts(shelf) == {PORT, MIRROR}
    assert (counts(shelf).parked, counts(shelf).pending, counts(shelf).refused) == (
        1,
        1,
        {"leak": 1},
    )
    with shelf.reader() as connection:
        assert parked_blocks(connection, 9) == [
            {"root": "notes", "path": "a.md", "lines": [1, 1], "reason": "no JSON"}
        ]
        assert parked_blocks(connection, 0) == []


def test_parked_block_has_its_turn_with_another_model_or_when_asked_for(shelf):
    put(shelf, PORT)
    [one] = waiting(shelf)
    shelf.writers.deep.park(one, "no JSON", extractor="llm:a", refused={})
    assert shelf.writers.deep.queue_others("llm:a") == 0
    assert waiting(shelf) == []
    assert shelf.writers.deep.queue_others("llm:b") == 1
    [again] = waiting(shelf)
    assert again.attempts == 0
    shelf.writers.deep.park(again, "no JSON", extractor="llm:b", refused={})
    assert shelf.writers.deep.queue_parked() == 1
    assert len(waiting(shelf)) == 1


def test_parking_or_postponing_a_text_that_changed_does_nothing(shelf):
    put(shelf, PORT)
    [one] = waiting(shelf)
    other = replace(one, text_hash=b"other")
    shelf.writers.deep.park(other, "x", extractor="llm", refused={})
    shelf.writers.deep.postpone(other, next_try_ms=9)
    assert waiting(shelf) == [one]


def test_cache_is_pruned_by_age_and_number(shelf):
    for number in range(5):
        shelf.writers.deep.keep(b"%d" % number, f'"{number}"', number)
    assert shelf.writers.deep.prune_cache(1, 2) == 3
    with shelf.reader() as connection:
        kept = [cached_extraction(connection, b"%d" % number) for number in range(5)]
    assert kept == [None, None, None, '"3"', '"4"']
