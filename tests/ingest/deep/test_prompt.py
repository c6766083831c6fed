"""Prompts: what is asked, fenced in, and cut so that it fits."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.deep.prompt import (
    EXAMPLE_MARKERS,
    SCHEMA,
    SYSTEM,
    Piece,
    chunk,
    halved,
    parts_of,
    prompt_for,
    room_chars,
)
from recalld.models.chat import prompt_budget_chars
from recalld.models.tokens import most_tokens
from recalld.records import BlockId, BlockKind, Lines, NoteId
from recalld.store.deep import ToExtract


def block(text: str, number: int = 1, *, note: int = 1, **fields: object) -> ToExtract:
    given = {
        "block_id": BlockId(number),
        "note_id": NoteId(note),
        "kind": BlockKind.PARAGRAPH,
        "text": text,
        "text_hash": b"",
        "heading_path": ("Part", "One"),
        "lead_in": "",
        "title": "Machines",
        "dated": None,
        "attempts": 0,
        "lines": Lines(first=1, last=1),
        **fields,
    }
    return ToExtract(**given)  # type: ignore[arg-type] # fields of their kinds


def asked(*blocks: ToExtract, **options: bool):
    return prompt_for([Piece(block=one, text=one.text) for one in blocks], **options)


def test_prompt_holds_title_date_headings_and_numbered_blocks():
    prompt = asked(block("The port is 5432.", dated="2026-05-01"), block("Zweite Zeile.", 2))
    lines = prompt.user.splitlines()
    assert lines[:3] == ["Title: Machines", "Written on: 2026-05-01", "<<<NOTE TEXT"]
    assert lines[3:5] == ["[1] (Part > One) The port is 5432.", "[2] (Part > One) Zweite Zeile."]
    assert lines[-1] == "NOTE TEXT>>>"
    assert "Written on" not in asked(block("x")).user


def test_lead_in_stands_with_the_headings():
    assert (
        "(Part > One > To stop it:) Pull the plug."
        in asked(block("Pull the plug.", lead_in="To stop it:")).user
    )


_MARKS = st.text(alphabet="<> \nNOTEX", max_size=40) | st.sampled_from(
    ["NOTE TEXT>>>>>", "NOTE TEXT>>>", "<<<<<NOTE TEXT", "<<<NOTE TEXT"]
)


@given(st.lists(_MARKS, min_size=1, max_size=3), _MARKS)
def test_no_note_leaves_the_fence(texts, title):
    user = asked(
        *(block(text, title=title, heading_path=(title,), lead_in=title) for text in texts)
    ).user
    assert user.count("NOTE TEXT>>>") == user.count("<<<NOTE TEXT") == 1
    assert user.endswith("\nNOTE TEXT>>>")


def test_plain_prompt_has_the_rules_without_the_examples():
    plain = asked(block("x"), plain=True).system
    assert SYSTEM.startswith(plain)
    assert not any(marker in plain.casefold() for marker in EXAMPLE_MARKERS)
    assert all(marker in SYSTEM.casefold() for marker in EXAMPLE_MARKERS - {"brontelaar"})


def test_examples_in_the_prompt_are_answers_of_the_schema():
    shown = SYSTEM[SYSTEM.index("Example answer:") :].partition("\n")[2]
    facts = json.loads(shown)["facts"]
    fields = SCHEMA["properties"]["facts"]["items"]  # type: ignore[index] # the schema's own shape
    for fact in facts:
        assert set(fields["required"]) <= set(fact) <= set(fields["properties"])
        assert fact["category"] in fields["properties"]["category"]["enum"]


def test_schema_is_flat_enough_for_every_server():
    text = json.dumps(SCHEMA)
    assert "pattern" not in text
    assert "$ref" not in text


def test_longer_text_may_have_a_longer_answer():
    assert asked(block("x" * 2000)).max_tokens > asked(block("x")).max_tokens >= 400


def test_chunk_takes_blocks_of_one_note_while_they_fit():
    waiting = [block("a" * 40, 1), block("b" * 40, 2), block("c" * 40, 3), block("d", 4, note=2)]
    assert [one.block_id for one in chunk(waiting, 100)] == [1, 2]
    assert [one.block_id for one in chunk(waiting, 1000)] == [1, 2, 3]
    assert [one.block_id for one in chunk(waiting, 1)] == [1]


def test_block_that_failed_goes_alone_and_ends_a_chunk():
    assert [one.block_id for one in chunk([block("a", attempts=1), block("b", 2)], 99)] == [1]
    assert [one.block_id for one in chunk([block("a"), block("b", 2, attempts=1)], 99)] == [1]


@pytest.mark.parametrize("window", [2048, 4096, 8192, 131_072])
def test_room_leaves_place_for_the_rest_of_the_prompt(window):
    room = room_chars(prompt_budget_chars(window))
    assert 200 <= room <= 1600
    if window >= 8192:
        prompt = asked(block("word " * (room // 5)))
        assert most_tokens(prompt.system) + most_tokens(prompt.user) < window // 2


def test_long_block_is_cut_between_its_passages():
    passages = ["a" * 300, "b" * 300, "c" * 300]
    parts = parts_of(block("".join(passages)), passages, 700)
    assert [part.text for part in parts] == ["a" * 300 + "\n" + "b" * 300, "c" * 300]


def test_passage_over_the_room_is_cut_at_sentences():
    sentences = [f"Sentence number {number} says that all is well." for number in range(40)]
    parts = parts_of(block(""), [" ".join(sentences)], 500)
    assert len(parts) > 2
    assert all(len(part.text) <= 500 and part.text.endswith(".") for part in parts)
    assert " ".join(part.text for part in parts) == " ".join(sentences)


def test_half_of_a_short_piece_is_none():
    assert halved(Piece(block=block(""), text="short")) is None


@given(st.text(alphabet="ab .\n。部", min_size=400, max_size=2000))
def test_halves_hold_all_that_the_whole_holds(text):
    halves = halved(Piece(block=block(""), text=text))
    assert halves is not None
    joined = "".join("".join(half.text.split()) for half in halves)
    assert joined == "".join(text.split())
    assert all(len(half.text) <= len(text) * 0.71 for half in halves)
