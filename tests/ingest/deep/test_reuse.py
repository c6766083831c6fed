"""What a model said is said again without asking, under another file name too, as long as it holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from ingest.deep.extraction import extractor_of
from ingest.deep.prompt import Piece
from ingest.deep.replied import BlockReply, judge, kept
from ingest.deep.reuse import former_keys, kept_answer, reused
from recalld.store.deep import to_extract
from tests.copying import say, scripted
from tests.ingest.deep.test_extraction import EXTRACTOR, HEALTH, PORT, Deep


@pytest.fixture
def vault(tmp_path) -> Iterator[Deep]:
    with Deep(tmp_path) as made:
        yield made


def named_after(vault: Deep, title: str) -> None:
    """The model puts the note's title where a sentence says "it"."""
    vault.model.answer = scripted({"F28": say(f"{title} shows code F28 in winter.")})


def test_rename_of_a_note_without_a_title_costs_no_call(vault):
    named_after(vault, "Ketel")
    vault.put(f"It shows code F28 in winter.\n\n{PORT}\n", "Ketel.md")
    vault.run()
    assert "Ketel shows code F28 in winter." in vault.by()
    calls = len(vault.model.requests)
    (vault.path / "Ketel.md").rename(vault.path / "Vaillant.md")
    vault.look()
    vault.run()
    assert len(vault.model.requests) == calls
    assert vault.by()["Vaillant shows code F28 in winter."] == "llm"
    assert "Ketel shows code F28 in winter." not in vault.by()


@pytest.mark.parametrize("text", [PORT, "锅炉在冬天显示代码F28。", "Der Kessel steht im Keller."])
def test_copy_under_another_name_costs_no_call(vault, text):
    vault.put(f"{text}\n", "plain.md")
    vault.run()
    vault.put(f"{text}\n", "copy.md")
    vault.run()
    assert len(vault.model.requests) == 1
    assert vault.by() == {text: "llm"}


def test_answer_that_names_the_former_file_otherwise_is_asked_for_again(vault):
    named_after(vault, "KETEL")
    vault.put("It shows code F28 in winter.\n", "Ketel.md")
    vault.run()
    assert "KETEL shows code F28 in winter." in vault.by()
    named_after(vault, "Vaillant")
    (vault.path / "Ketel.md").rename(vault.path / "Vaillant.md")
    vault.look()
    vault.run()
    assert len(vault.model.requests) == 2
    assert "Vaillant shows code F28 in winter." in vault.by()


def test_title_that_the_note_gives_itself_is_asked_under_anew(vault):
    vault.put(f"# Old\n\n{PORT}\n")
    vault.run()
    vault.put(f"# New\n\n{PORT}\n")
    vault.run()
    assert len(vault.model.requests) == 2


def test_what_an_earlier_version_kept_costs_no_call(vault):
    vault.put(f"{PORT}\n", "plain.md")
    piece = waiting(vault)
    former = kept(read_by_model(vault, piece))
    for key in former_keys(piece, EXTRACTOR):
        vault.writes.call(lambda writers, key=key: writers.deep.keep(key, former, 0))
    vault.model.requests.clear()
    assert vault.run() == ["cached"]
    assert vault.model.requests == []
    assert vault.by() == {PORT: "llm"}


@pytest.mark.parametrize("name", ["m:latest", "copied"])
def test_same_weights_under_another_name_read_nothing_again(vault, name):
    vault.put(f"{PORT}\n", "plain.md")
    vault.run()
    other = extractor_of(replace(HEALTH, name=name))
    assert vault.stage.queue_others(other) == 0
    assert vault.stage.step(other).outcome == "nothing"
    assert {row[0] for row in vault.rows("SELECT extractor FROM fact")} == {other}
    assert vault.stage.queue_others(extractor_of(replace(HEALTH, digest="f" * 64))) == 1


def test_kept_answer_under_the_same_title_is_taken_as_it_is(vault):
    vault.put(f"{PORT}\n", "plain.md")
    piece = waiting(vault)
    reply = read_by_model(vault, piece)
    assert reused(kept(reply), piece) == reused(kept_answer(reply, piece), piece) == reply


def waiting(vault: Deep) -> Piece:
    with vault.database.reader() as connection:
        [block] = to_extract(connection, 1, int(vault.now * 1000))
    return Piece(block=block, text=block.text)


def read_by_model(vault: Deep, piece: Piece) -> BlockReply:
    statement = {"block": 1, "statement": piece.text.strip(), "category": "tool"}
    return judge([statement], [piece])[piece.block.block_id]
