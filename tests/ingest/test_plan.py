"""Plans of change: applied to the store they give the new note, and what stays the same stays itself."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.markdown.blocks import parse_note
from ingest.plan import (
    NoteFile,
    digest,
    embed_prefix,
    embed_title,
    fact_uid,
    note_date,
    plan_note,
    said_title,
    shown_title,
    spoken_date,
)
from ingest.rules.extractor import extract_note
from recalld.records import (
    BlockId,
    Category,
    DateInterval,
    ExtractedFact,
    FileStat,
    Lines,
    NoteId,
    RootId,
)
from recalld.store.changes import NoteChange, StoredBlock, StoredNote
from tests.growth import assert_grows_with_size
from tests.ingest.keeping import Vault

STAT = FileStat(size=1, mtime_ns=1_700_000_000_000_000_000, ctime_ns=1, inode=1, device=1)


class Memory:
    """A note as a store would keep it: what plans are made against and applied to."""

    def __init__(self) -> None:
        self.note: StoredNote | None = None
        self.blocks: list[StoredBlock] = []
        # Passages of each block as (uid, position, words), statements as (prefix, text).
        self.passages: dict[int, list[tuple[str, int, str]]] = {}
        self.statements: dict[int, list[tuple[str, str]]] = {}
        self._ids = itertools.count(1)

    def plan(self, text: str, *, path: str = "a.md", extractor: str = "1") -> NoteChange:
        note = parse_note(text)
        dated = note_date(note, path)
        return plan_note(
            stored=self.note,
            stored_blocks=self.blocks,
            file=NoteFile(
                root_id=RootId(1), path=path, content_hash=digest(text), stat=STAT, problems=()
            ),
            note=note,
            blocks=extract_note(note, note_date=spoken_date(dated, STAT)),
            extractor=extractor,
            new_uid="f" * 32,
            now_ms=1,
        )

    def apply(self, change: NoteChange) -> None:
        self.note = StoredNote(
            note_id=NoteId(1),
            uid=change.uid,
            path=change.path,
            title=change.title,
            said_title=change.said_title,
            content_hash=change.content_hash,
            extractor=change.extractor,
            size=1,
            mtime_ns=1,
            ctime_ns=1,
            inode=1,
            dated=change.dated,
        )
        known = {block.block_id: block for block in self.blocks}
        assert set(change.removed) <= set(known)
        assert set(change.removed).isdisjoint(kept.block_id for kept in change.kept)
        assert set(change.removed) | {kept.block_id for kept in change.kept} == set(known)
        blocks = []
        for kept in change.kept:
            old = known[kept.block_id]
            blocks.append(
                StoredBlock(
                    block_id=old.block_id,
                    ordinal=kept.ordinal,
                    kind=old.kind,
                    text_hash=old.text_hash,
                    heading_path=old.heading_path,
                    lead_in=old.lead_in,
                    lines=kept.lines,
                    passage_uids=old.passage_uids,
                    wordings=old.wordings,
                    importances=old.importances,
                )
            )
            words = tuple(row[2] for row in self.passages[kept.block_id])
            if kept.words is not None:
                words = tuple(one.passage for one in kept.words)
            self.passages[kept.block_id] = [
                (uid, kept.position + offset, words[offset])
                for offset, uid in enumerate(old.passage_uids)
            ]
        for new in change.added:
            block_id = BlockId(next(self._ids))
            blocks.append(
                StoredBlock(
                    block_id=block_id,
                    ordinal=new.ordinal,
                    kind=new.kind,
                    text_hash=new.text_hash,
                    heading_path=new.heading_path,
                    lead_in=new.lead_in,
                    lines=new.lines,
                    passage_uids=tuple(passage.uid for passage in new.passages),
                    importances=tuple(
                        one.importance for passage in new.passages for one in passage.statements
                    ),
                )
            )
            self.passages[block_id] = [(one.uid, one.position, one.words) for one in new.passages]
            self.statements[block_id] = [
                (one.embed_prefix, one.text)
                for passage in new.passages
                for one in passage.statements
            ]
        self.blocks = sorted(blocks, key=lambda block: block.ordinal)

    def take(self, text: str, **more: str) -> NoteChange:
        change = self.plan(text, **more)
        self.apply(change)
        return change

    def content(self) -> list[object]:
        """What it says, without ids and uids."""
        return [
            (
                block.ordinal,
                block.kind,
                block.text_hash,
                block.heading_path,
                block.lead_in,
                block.lines,
                [row[1:] for row in self.passages[block.block_id]],
                self.statements[block.block_id],
            )
            for block in self.blocks
        ]


PIECES = (
    "# Servers\n",
    "## Deploy\n",
    "## Uitrol\n",
    "The gateway listens on port 9090.\n",
    "De uitrol faalde om drie uur.\n",
    "烤箱在十点关闭。部署失败了。\n",
    "- use tabs\n- never spaces\n",
    "Set these:\n\n- A=1\n- B=2\n",
    "| name | port |\n|---|---|\n| web | 80 |\n",
    "```sh\nmake all\n```\n",
    "> quoted wisdom\n",
    "Yesterday the disk was full.\n",
    "The same line twice.\n",
    "The same line twice.\n",
    "---\n",
    "%% private %%\n",
    "A long one. " * 150 + "\n",
)
HEADS = ("", "---\ntitle: Other\n---\n", "---\ndate: 2026-01-02\n---\n")


@st.composite
def texts(draw: st.DrawFn) -> str:
    body = "\n".join(draw(st.lists(st.sampled_from(PIECES), max_size=7)))
    return draw(st.sampled_from(HEADS)) + body


@given(st.lists(texts(), min_size=1, max_size=4), st.sampled_from(["a.md", "2026-03-04.md"]))
@settings(deadline=None, max_examples=60)
def test_applied_plans_end_as_the_newest_note_alone(history: list[str], path: str) -> None:
    memory, fresh = Memory(), Memory()
    for text in history:
        memory.take(text, path=path)
    fresh.take(history[-1], path=path)
    assert memory.content() == fresh.content()
    uids = [uid for block in memory.blocks for uid in block.passage_uids]
    assert len(set(uids)) == len(uids)
    positions = [row[1] for block in memory.blocks for row in memory.passages[block.block_id]]
    assert positions == list(range(len(positions)))


@given(texts())
@settings(deadline=None, max_examples=40)
def test_plan_for_the_same_text_changes_nothing(text: str) -> None:
    memory = Memory()
    memory.take(text)
    change = memory.plan(text)
    assert change.added == ()
    assert change.removed == ()
    assert [kept.block_id for kept in change.kept] == [block.block_id for block in memory.blocks]


@given(st.lists(st.sampled_from(PIECES[3:6] + PIECES[8:11]), unique=True, max_size=6), st.randoms())
@settings(deadline=None, max_examples=40)
def test_moved_blocks_keep_their_ids_and_cost_no_statement(pieces: Sequence[str], random) -> None:
    memory = Memory()
    memory.take("\n".join(pieces))
    before = {block.text_hash: block.block_id for block in memory.blocks}
    shuffled = list(pieces)
    random.shuffle(shuffled)
    change = memory.take("\n".join(shuffled))
    assert change.added == ()
    assert change.removed == ()
    assert {block.text_hash: block.block_id for block in memory.blocks} == before


@given(texts(), st.integers(0, 7), st.sampled_from(PIECES[3:6]))
@settings(deadline=None, max_examples=40)
def test_ids_of_blocks_that_stay_are_kept_when_one_comes(text: str, at: int, piece: str) -> None:
    memory = Memory()
    memory.take(text)
    before = {block.block_id for block in memory.blocks}
    lines = text.split("\n\n")
    lines.insert(at, piece)
    change = memory.plan("\n\n".join(lines))
    assert {kept.block_id for kept in change.kept} | set(change.removed) == before


def test_links_that_a_note_says_are_those_of_all_its_blocks_and_point_at_its_facts():
    memory = Memory()
    text = "The disk of `alpha` was full.\n\nConsequently, the backup of `beta` stopped.\n"
    first = memory.plan(text)
    memory.apply(first)
    again = memory.plan(f"All is well.\n\n{text}")
    assert again.kept
    assert again.said == first.said
    uids = [
        fact.uid
        for block in first.added
        for passage in block.passages
        for statement in passage.statements
        for fact in statement.facts
    ]
    assert [(one.from_uid, one.to_uid, one.kind) for one in first.said] == [
        (uids[1], uids[0], "caused_by")
    ]


def test_edited_block_is_new_and_its_neighbours_stay():
    memory = Memory()
    memory.take("Port is 80.\n\nFan is loud.\n\nDisk is full.\n")
    first, _, last = (block.block_id for block in memory.blocks)
    change = memory.plan("Port is 80.\n\nFan is quiet.\n\nDisk is full.\n")
    assert [kept.block_id for kept in change.kept] == [first, last]
    assert [block.text.strip() for block in change.added] == ["Fan is quiet."]
    assert len(change.removed) == 1


def test_block_under_another_heading_is_another_block():
    memory = Memory()
    memory.take("## A\n\nPort is 80.\n")
    change = memory.plan("## B\n\nPort is 80.\n")
    assert any("Port is 80." in block.text for block in change.added)


def test_same_block_twice_keeps_one_when_one_goes():
    memory = Memory()
    memory.take("Port is 80.\n\nPort is 80.\n")
    assert len({uid for block in memory.blocks for uid in block.passage_uids}) == 2
    change = memory.plan("Port is 80.\n")
    assert (len(change.kept), len(change.added), len(change.removed)) == (1, 0, 1)


def test_note_made_by_another_extractor_is_made_anew_with_its_uid():
    memory = Memory()
    uid = memory.take("Port is 80.\n").uid
    change = memory.plan("Port is 80.\n", extractor="2")
    assert change.uid == uid
    assert (len(change.kept), len(change.added), len(change.removed)) == (0, 1, 1)


def test_new_date_makes_blocks_anew_since_yesterday_means_another_day():
    memory = Memory()
    memory.take("---\ndate: 2026-01-02\n---\nYesterday the disk was full.\n")
    change = memory.plan("---\ndate: 2026-02-02\n---\nYesterday the disk was full.\n")
    facts = [
        fact
        for block in change.added
        for passage in block.passages
        for statement in passage.statements
        for fact in statement.facts
    ]
    assert [fact.happened for fact in facts] == [
        DateInterval(first=date(2026, 2, 1), last=date(2026, 2, 1))
    ]


def test_file_with_another_name_only_changes_words_of_what_stands_alone():
    memory = Memory()
    memory.take("Postgres listens on port 9090.\n", path="haarlem.md")
    change = memory.plan("Postgres listens on port 9090.\n", path="utrecht.md")
    assert change.added == ()
    words = change.kept[0].words
    assert words is not None
    assert "utrecht" in words[0].passage
    assert "haarlem" not in words[0].passage


def test_file_with_another_name_makes_a_fact_anew_that_leans_on_its_title():
    memory = Memory()
    memory.take("Port is 80.\n", path="haarlem.md")
    change = memory.plan("Port is 80.\n", path="utrecht.md")
    assert (len(change.kept), len(change.added), len(change.removed)) == (0, 1, 1)


@pytest.mark.parametrize(
    ("text", "path", "said", "shown"),
    [
        ("# Gateway\n", "a.md", "Gateway", "Gateway"),
        ("text\n", "map/mijn notitie.md", "", "mijn notitie"),
        ("---\ntitle: 厨房\n---\n", "a.md", "厨房", "厨房"),
        ("# 2026-03-04\n", "a.md", "", "2026-03-04"),
        ("# 2026年3月4日\n", "a.md", "", "2026年3月4日"),
        ("# 04.03.2026\n", "a.md", "", "04.03.2026"),
        ("# 2026-03-04 outage\n", "a.md", "", "2026-03-04 outage"),
    ],
)
def test_titles(text, path, said, shown):
    note = parse_note(text)
    if "outage" not in text:
        assert said_title(note) == said
    assert shown_title(note, path) == shown


@pytest.mark.parametrize(
    ("text", "path", "title"),
    [
        ("text\n", "meetings/2023-09-12 Meeting with Steph.md", "Meeting with Steph"),
        ("text\n", "2023-09-12_call-with-bob.md", "call with bob"),
        ("text\n", "会议 2023-09-12 预算讨论.md", "会议 预算讨论"),
        ("# Budget\n", "2023-09-12 Meeting with Steph.md", "Budget"),
        ("text\n", "2023-09-12.md", ""),
        ("text\n", "2023-09-12 Tuesday.md", ""),
        ("text\n", "2023-09-12-10.md", ""),
        ("text\n", "2023-09-12 Notes.md", ""),
        ("text\n", "mijn-fiets.md", "mijn fiets"),
    ],
)
def test_statements_are_embedded_with_what_a_file_name_says_besides_a_day(text, path, title):
    assert embed_title(parse_note(text), path) == title


@pytest.mark.parametrize(
    ("text", "path", "dated"),
    [
        ("---\ndate: 2026-01-02\n---\n", "2025-01-01.md", date(2026, 1, 2)),
        ("x", "log/2025-01-01 stand-up.md", date(2025, 1, 1)),
        ("# Op 2024-02-29\n", "a.md", date(2024, 2, 29)),
        ("x", "2025-13-45.md", None),
        ("x", "12025-01-011.md", None),
        ("Written 2025-01-01.\n", "a.md", None),
    ],
)
def test_note_is_from_the_day_it_says(text, path, dated):
    assert note_date(parse_note(text), path) == dated


def test_undated_note_speaks_from_the_day_it_was_written():
    assert spoken_date(None, STAT) == date(2023, 11, 14)
    assert spoken_date(date(2020, 1, 1), STAT) == date(2020, 1, 1)


def test_statement_is_embedded_with_title_and_innermost_heading_once():
    assert embed_prefix("", ()) == ""
    assert embed_prefix("Gateway", ("Gateway",)) == "Gateway: "
    assert embed_prefix("Gateway", ("Gateway", "Ports")) == "Gateway: Ports: "
    assert embed_prefix("", ("2026-03-04",)) == ""
    assert len(embed_prefix("x" * 999, ())) < 110


def fact(text: str, *, stands_alone: bool = True, happened: DateInterval | None = None):
    return ExtractedFact(
        text=text,
        lines=Lines(first=1, last=1),
        category=Category.KNOWLEDGE,
        confidence=0.8,
        stands_alone=stands_alone,
        happened=happened,
    )


def test_identity_of_a_fact_is_its_words():
    uid = fact_uid(fact("The port is 80."), "A", ("X",))
    assert uid == fact_uid(fact("The  port is 80"), "B", ("Y",))
    assert uid != fact_uid(fact("The port is 81."), "A", ("X",))
    day = DateInterval(first=date(2026, 1, 1), last=date(2026, 1, 1))
    assert uid != fact_uid(fact("The port is 80.", happened=day), "A", ("X",))


def test_identity_of_a_fact_that_needs_its_headings_includes_them():
    one = fact_uid(fact("Port is 80.", stands_alone=False), "A", ("Web",))
    assert one != fact_uid(fact("Port is 80.", stands_alone=False), "A", ("Mail",))
    assert one == fact_uid(fact("Port is 80.", stands_alone=False), "B", ("Web",))
    assert fact_uid(fact("Port is 80.", stands_alone=False), "A", ()) != fact_uid(
        fact("Port is 80.", stands_alone=False), "B", ()
    )


@given(st.lists(texts(), min_size=2, max_size=3))
@settings(
    deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@pytest.mark.slow
def test_store_ends_as_if_it_had_only_seen_the_newest_note(tmp_path_factory, history) -> None:
    with (
        Vault(tmp_path_factory.mktemp("old")) as old,
        Vault(tmp_path_factory.mktemp("new")) as new,
    ):
        for text in history:
            old.write("a.md", text + "\nEnd of note.\n")
            old.look("a.md")
        new.write("a.md", history[-1] + "\nEnd of note.\n")
        new.look()
        assert old.content() == new.content()


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        (
            "Marlow repairs the boiler each spring.",
            "Yesterday we met Marlow in the office.",
            "marlow",
        ),
        ("Sietske beheert de server.", "Gisteren sprak ik met Sietske over de server.", "sietske"),
        ("Camille garde le serveur.", "Hier nous avons vu Camille au bureau.", "camille"),
    ],
)
def test_a_name_that_another_block_shows_is_named_by_the_kept_ones_too(
    tmp_path: Path, first: str, second: str, name: str
) -> None:
    facts = "SELECT id, uid, text FROM fact ORDER BY id LIMIT 1"
    named = "SELECT key FROM mention JOIN entity ON entity.id = entity_id WHERE fact_id = 1"
    with Vault(tmp_path) as vault:
        vault.write("a.md", f"{first}\n")
        vault.look()
        before = vault.rows(facts)
        assert vault.rows(named) == []
        vault.write("a.md", f"{first}\n\n{second}\n")
        vault.look()
        assert vault.rows(facts) == before
        assert vault.rows(named) == [(name,)]
        vault.write("a.md", f"{first}\n")
        vault.look()
        assert vault.rows(facts) == before
        assert vault.rows(named) == []


def test_a_block_that_a_new_name_does_not_touch_is_kept() -> None:
    text = "The gateway listens on port 9090.\n"
    memory = Memory()
    memory.take(text)
    change = memory.plan(f"{text}\nYesterday we met Marlow in the office.\n")
    assert (len(change.kept), len(change.added)) == (1, 1)


def test_blocks_without_words_are_stored_for_their_lines() -> None:
    memory = Memory()
    memory.take("# Servers\n\n---\n\nThe gateway listens on port 9090.\n\n%% private %%\n")
    assert [block.lines.first for block in memory.blocks] == [1, 3, 5]
    assert [len(block.passage_uids) for block in memory.blocks] == [0, 0, 1]


@pytest.mark.slow
def test_plan_of_a_long_note_grows_with_its_length() -> None:
    def make(size: int) -> tuple[Memory, str]:
        memory = Memory()
        lines = [f"Gateway {n % 7} listens on port 9090.\n" for n in range(size)]
        memory.take("\n".join(lines))
        return memory, "\n".join([*lines, "The end."])

    assert_grows_with_size(lambda made: made[0].plan(made[1]), make, small=150)
