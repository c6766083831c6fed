from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import date

import pytest

from ingest.markdown.blocks import parse_note
from ingest.plan import digest
from ingest.redating import keep_days
from ingest.rules.extractor import extract_note
from recalld.records import BlockId, DateInterval, ExtractedBlock, ExtractedFact, SaidLink
from recalld.store.changes import StoredBlock
from tests.ingest.keeping import Vault

FIRST_SAVE_S = 1_700_000_000
DAYS = "SELECT text, happened_from FROM fact ORDER BY text"
SHOWS_A_NAME = "We met Marlow in the office.\n"


@pytest.fixture
def vault(tmp_path) -> Iterator[Vault]:
    with Vault(tmp_path) as made:
        yield made


def save(vault: Vault, text: str, *, days: int) -> None:
    """The note as it is saved, so many days after the first time."""
    time_s = FIRST_SAVE_S + days * 86400
    os.utime(vault.write("a.md", text), (time_s, time_s))
    vault.look()


@pytest.mark.parametrize(
    "said",
    ["Marlow repaired the boiler yesterday.", "Gisteren heeft Marlow de ketel gemaakt."],
    ids=["en", "nl"],
)
def test_yesterday_stays_that_day_when_the_note_is_saved_later(vault, said):
    save(vault, f"{said}\n", days=0)
    assert vault.rows(DAYS) == [(said, "2023-11-13")]
    uids = vault.rows("SELECT uid FROM fact")
    for days, text in enumerate(
        (f"{said}\n\n{SHOWS_A_NAME}", f"---\ntitle: Pumps\n---\n{said}\n"), 5
    ):
        save(vault, text, days=days)
        assert (said, "2023-11-13") in vault.rows(DAYS)
        assert set(uids) <= set(vault.rows("SELECT uid FROM fact"))


def test_what_is_written_later_counts_from_then(vault):
    save(vault, "The disk was full yesterday.\n", days=0)
    save(vault, "The disk was full yesterday.\n\nThe fan broke yesterday.\n", days=3)
    assert vault.rows(DAYS) == [
        ("The disk was full yesterday.", "2023-11-13"),
        ("The fan broke yesterday.", "2023-11-16"),
    ]


def test_same_words_written_again_later_are_of_another_day(vault):
    said = "The disk was full yesterday."
    save(vault, f"# Log\n\n{said}\n", days=0)
    save(vault, f"# Log\n\n{said}\n\n{said}\n", days=3)
    assert vault.rows(DAYS) == [(said, "2023-11-13"), (said, "2023-11-16")]


def test_a_day_that_the_note_comes_to_say_counts_more(vault):
    save(vault, "The disk was full yesterday.\n", days=0)
    save(vault, "---\ndate: 2026-03-04\n---\nThe disk was full yesterday.\n", days=3)
    assert vault.rows(DAYS) == [("The disk was full yesterday.", "2026-03-03")]
    save(vault, "The disk was full yesterday.\n", days=5)
    assert vault.rows(DAYS) == [("The disk was full yesterday.", "2023-11-18")]


def extracted(text: str, day: date) -> tuple[ExtractedBlock, ...]:
    return extract_note(parse_note(text), note_date=day)


def facts_of(block: ExtractedBlock) -> list[ExtractedFact]:
    return [
        fact
        for passage in block.passages
        for statement in passage.statements
        for fact in statement.facts
    ]


def test_links_lead_to_the_facts_as_they_are_dated():
    text = "The disk was full yesterday.\n\nThe fan broke yesterday.\n"
    earlier, blank, later = extracted(text, date(2026, 1, 2))
    (disk,), (fan,) = facts_of(earlier), facts_of(later)
    link = SaidLink(from_fact=fan, to_fact=disk, kind="temporal", reason="says_later")
    known = StoredBlock(
        block_id=BlockId(7),
        ordinal=0,
        kind=earlier.block.kind,
        text_hash=digest(earlier.block.text),
        heading_path=(),
        lead_in="",
        lines=earlier.block.lines,
        passage_uids=(),
    )
    then = DateInterval(first=date(2025, 5, 5), last=date(2025, 5, 5))
    blocks = [earlier, blank, replace(later, links=(link,))]
    kept = keep_days(blocks, [known], {BlockId(7): {disk.text: then}})
    assert [one.happened for one in facts_of(kept[0])] == [then]
    assert facts_of(kept[2]) == [fan]
    (told,) = kept[2].links
    assert (told.from_fact, told.to_fact) == (fan, facts_of(kept[0])[0])
    assert keep_days(blocks, [known], {}) == tuple(blocks)
