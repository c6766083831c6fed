from __future__ import annotations

import html
import os
import re
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.markdown.blocks import parse_note
from ingest.markdown.markup import squeeze, strip_markup
from ingest.markdown.visible import visible_text
from ingest.rules.extractor import RULES_VERSION, extract_in_steps, extract_note
from recalld.records import BlockKind, ExtractedBlock, ExtractedFact
from tests.growth import assert_grows_with_size

SHARED = Path(os.environ.get("RECALLD_SHARED", Path(__file__).parents[4] / "shared"))
VAULTS = SHARED / "data" / "vaults"


def extract(text: str, **names: frozenset[str]) -> tuple[ExtractedBlock, ...]:
    return extract_note(parse_note(text), note_date=date(2026, 3, 10), **names)


def facts(found: tuple[ExtractedBlock, ...]) -> list[ExtractedFact]:
    return [f for block in found for p in block.passages for s in p.statements for f in s.facts]


def passages(found: tuple[ExtractedBlock, ...]) -> list[str]:
    return [passage.text for block in found for passage in block.passages]


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def check(found: tuple[ExtractedBlock, ...]) -> None:
    """What holds for any note whatsoever."""
    for extracted in found:
        block = extracted.block
        count = block.lines.last - block.lines.first + 1
        bare = strip_markup(block.text).text
        # Entities may be spelled out, and markup may have stood inside a word.
        known = " ".join(
            (
                block.text,
                html.unescape(block.text),
                html.unescape(bare),
                squeeze(bare),
                squeeze(strip_markup(visible_text(block.text)).text),
                visible_text(block.text),
                *block.heading_path,
                extracted.lead_in,
            )
        )
        if block.kind not in (BlockKind.FRONT_MATTER, BlockKind.HTML, BlockKind.HEADING):
            told = "".join("".join(p.text.split()) for p in extracted.passages)
            assert not extracted.passages or told == "".join(block.text.split())
        for passage in extracted.passages:
            assert len(passage.text) <= 1200
            assert 1 <= passage.lines.first <= passage.lines.last <= count
            assert passage.statements
            for statement in passage.statements:
                assert statement.text.strip()
                assert (
                    passage.lines.first
                    <= statement.lines.first
                    <= statement.lines.last
                    <= passage.lines.last
                )
                for fact in statement.facts:
                    assert (
                        statement.lines.first
                        <= fact.lines.first
                        <= fact.lines.last
                        <= statement.lines.last
                    )
                    assert 0 <= fact.confidence <= 1
                    assert fact.happened is None or fact.happened.first <= fact.happened.last
                    for word in words(fact.text):
                        assert word in known, (word, fact.text)


def test_the_version_names_the_rules():
    assert RULES_VERSION == "rules@7"


def test_there_is_one_result_a_block_in_order():
    note = parse_note("# T\n\nOne two three.\n\n- a\n- b\n\n---\n")
    assert [e.block for e in extract_note(note, note_date=None)] == list(note.blocks)


def test_a_lead_in_belongs_to_the_list_right_below_it():
    found = extract(
        "We keep:\n\n- old bread in a bag\n- cheese in the cellar\n\nOther words here.\n\n- wine in a rack\n"
    )
    assert [e.lead_in for e in found if e.block.kind is BlockKind.LIST_ITEM] == [
        "We keep:",
        "We keep:",
        "",
    ]


def test_what_a_lead_in_turns_is_searched_with_it():
    found = extract("Never share the token with:\n\n- interns\n\nWe keep:\n\n- old bread\n")
    items = [e for e in found if e.block.kind is BlockKind.LIST_ITEM]
    told = [s for e in items for p in e.passages for s in p.statements]
    assert [s.text for s in told] == ["Never share the token with: interns", "old bread"]
    assert [f.text for s in told for f in s.facts] == [s.text for s in told]


def test_a_lead_in_belongs_to_one_fence_only():
    found = extract("I tried it. Run this:\n\n```\na\n```\n\n```\nb\n```\n")
    assert [e.lead_in for e in found if e.block.kind is BlockKind.FENCE] == ["Run this:", ""]


def test_a_heading_is_a_passage_only_where_nothing_else_tells_it():
    found = extract(
        "# Full\n\nSome words stand here.\n\n## Empty\n\n# Bare\n\n---\n\n# Parent\n\n## Child\n\nMore words.\n"
    )
    assert [p for p in passages(found) if p.startswith("#")] == ["## Empty", "# Bare"]
    assert not [f for f in facts(found) if f.text in ("Empty", "Bare")]


def test_hidden_parts_give_nothing():
    found = extract("Seen words only. %%divorce%%\n\n<!-- salary is 90000 -->\n")
    told = " ".join(passages(found))
    assert "divorce" not in told
    assert "90000" not in told


def test_relative_dates_count_from_the_note():
    note = parse_note("---\ndate: 2024-05-02\n---\nYesterday the boiler was replaced by Bo.\n")
    assert facts(extract_note(note, note_date=None))[0].happened.first == date(2024, 5, 1)
    assert facts(extract_note(note, note_date=date(2026, 3, 10)))[0].happened.first == date(
        2026, 3, 9
    )


def test_names_known_elsewhere_are_named_here():
    (fact,) = facts(extract("Nomad starts the jobs of the shop.\n"))
    assert fact.entities == ()
    (fact,) = facts(
        extract("Nomad starts the jobs of the shop.\n", known_names=frozenset({"Nomad"}))
    )
    assert [e.name for e in fact.entities] == ["Nomad"]


def test_relations_are_between_what_the_note_names():
    found = facts(extract("We chose Grafana over Nomad. Grafana runs on Nomad.\n"))
    assert [(r.subject, r.predicate, r.object) for f in found for r in f.relations] == [
        ("Grafana", "runs_on", "Nomad")
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Apple\n: A fruit that grows on trees.\n", ["Apple › A fruit that grows on trees."]),
        ("Port\n\n: The number of a service.\n", ["Port › The number of a service."]),
        (
            "Peer\n: Een vrucht die zacht is.\n: Een soort lamp.\n",
            ["Peer › Een vrucht die zacht is.", "Peer › Een soort lamp."],
        ),
        ("延迟\n: 请求和应答之间的时间。\n", ["延迟 › 请求和应答之间的时间。"]),
        (
            "- **Latency**: the time to an answer. Measured in milliseconds at the gateway.\n",
            ["Latency: the time to an answer.", "Latency: Measured in milliseconds at the gateway."],
        ),
        (
            "- **Durchsatz** — Anfragen pro Sekunde.\n\n  Gemessen wird am Eingang des Gateways.\n",
            ["Durchsatz — Anfragen pro Sekunde.", "Durchsatz: Gemessen wird am Eingang des Gateways."],
        ),
        ("**Poort**\nStandaard is het nummer 5432.\n", ["Poort: Standaard is het nummer 5432."]),
        (
            "**レイテンシ**：要求から応答までの時間です。ゲートウェイで毎分測定されています。\n",
            ["レイテンシ：要求から応答までの時間です。", "レイテンシ: ゲートウェイで毎分測定されています。"],
        ),
    ],
)  # fmt: skip
def test_a_definition_keeps_its_term(text, told):
    assert [f.text for f in facts(extract(text))] == told


def test_the_sentences_of_a_definition_in_a_list_are_embedded_as_written():
    found = extract("- **Latency**: the time to an answer. Measured at the gateway every minute.\n")
    assert [s.text for block in found for p in block.passages for s in p.statements] == [
        "Latency: the time to an answer.",
        "Measured at the gateway every minute.",
    ]


def test_prose_with_a_colon_below_is_no_definition():
    (fact, *_) = facts(extract("The gateway listens on port 9090.\n: the proxy does not.\n"))
    assert fact.text.startswith("The gateway listens on port 9090.")


def test_a_speaker_stands_before_the_first_sentence_only():
    found = extract("- Me: I sold the boat in May. The trailer went to Bo in June.\n")
    assert [f.text for f in facts(found)] == [
        "Me: I sold the boat in May.",
        "The trailer went to Bo in June.",
    ]


def test_statements_cost_little_more_than_their_passage():
    text = "\n\n".join(
        f"Sentence number {n} of this note stands here. It has a second one." for n in range(40)
    )
    for block in extract(text):
        for passage in block.passages:
            assert sum(len(s.text) for s in passage.statements) <= 1.2 * len(passage.text)


_LINES = st.lists(
    st.sampled_from(
        [
            "", "# Head", "## Sub", "- item one", "  - nested item is here", "    - deeper: 64 GB", "- [x] pay rent",
            "- [ ] call Bo", "| host | port |", "|---|---|", "| db1 | 5432 |", "| [[a\\|b]] | `x|y` |", "```sh", "```", "$$",
            "> quote of words", "> [!note] Title", "Plain sentence stands here. It leans.", "See [docs](http://x.y/z?a=b&c).",
            "The disk failed on 2 March; the backup was fine.", "今天很好。我们走吧！它在这里。", "ไทย ภาษา", "<div>", "</div>", "<b>shown</b>",
            "%%hidden%%", "<!-- c -->", "---", "title: x", "rating: 8", "[^1]: a footnote text", "Term", ": a definition of it",
            "*a **b*** _c_ `d", "\\* \\[x\\] &amp; &eacute;", "    indented code", "\t- tab item", "1. one", "2) two", "x" * 1300, "w " * 900,
        ]
    )
    | st.text(max_size=30),
    max_size=25,
)  # fmt: skip


@given(
    _LINES,
    st.none() | st.dates(date(1990, 1, 1), date(2050, 1, 1)),
    st.sampled_from(["\n", "\r\n"]),
)
def test_any_note_gives_only_what_it_says(lines, note_date, end):
    note = parse_note(end.join(lines))
    found = extract_note(note, note_date=note_date)
    assert found == extract_note(note, note_date=note_date)
    assert [e.block for e in found] == list(note.blocks)
    check(found)


@pytest.mark.slow
@pytest.mark.skipif(not VAULTS.is_dir(), reason="the public vaults are not beside the checkout")
def test_public_vaults_give_only_what_they_say():
    # Every ninth, so that each vault has its share.
    for path in sorted(VAULTS.rglob("*.md"))[::9]:
        check(extract(path.read_text(encoding="utf-8", errors="replace")))


@pytest.mark.slow
@pytest.mark.parametrize("between", [" ", "\n", "\n\n", "\n- "])
def test_a_long_note_is_extracted_with_pauses_however_few_its_blocks_are(between):
    note = parse_note(between.join(f"Pump {n} says {n * 7} in its log." for n in range(1500)))
    found: list[tuple[ExtractedBlock, ...]] = []

    def extracting():
        found.append((yield from extract_in_steps(note, note_date=None)))

    assert len(list(extracting())) >= 2
    assert found == [extract_note(note, note_date=None)]


@pytest.mark.slow
def test_extraction_takes_time_in_proportion_to_the_note():
    sentence = "The nightly backup of `db1` failed on 2 March 2026 because the disk was full, says [[Bo Lee|Bo]]. "
    assert_grows_with_size(
        lambda note: extract_note(note, note_date=None),
        lambda paragraphs: parse_note("\n\n".join([sentence * 4] * paragraphs)),
        small=10,
    )
    assert_grows_with_size(
        lambda note: extract_note(note, note_date=None),
        lambda sentences: parse_note(sentence * sentences),
        small=40,
    )


def test_a_note_is_related_to_what_its_head_links_to_and_its_title_is_a_name():
    text = (
        "---\ntitle: Tidewater\nauthor: '[[Kevin Kelly]]'\nstatus: draft\n---\n"
        "Tidewater runs on [[app1|the first machine]].\n"
    )
    told = {
        (r.subject, r.predicate, r.object) for fact in facts(extract(text)) for r in fact.relations
    }
    assert told == {
        ("Tidewater", "author", "Kevin Kelly"),
        ("Tidewater", "runs_on", "app1"),
    }


def test_a_note_without_a_title_of_its_own_is_called_what_it_is_told():
    note = parse_note("---\nauthor: '[[Kevin Kelly]]'\n---\n")
    (fact,) = facts(extract_note(note, note_date=None, title="wired"))
    assert [one.subject for one in fact.relations] == ["wired"]
