"""The graph's leg over a real store: what it brings to a recall, what it leaves out, and what it must not do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recalld.records import Category, RecallFilter
from retrieval.ranking import RecallOptions
from tests.fakes import WordEmbedder
from tests.retrieval.asking import Memory

CHAIN = {
    "pipeline": "The [[deploy pipeline]] runs on [[Vercel]].\n",
    "hook": "It is fast. [[Vercel]] triggers the [[GitHub webhook]].\n",
    "port": "The [[GitHub webhook]] listens on port 8443.\n",
    "other": "The printer listens on port 22.\n\nThe fridge listens on port 25.\n",
}
ASKED = "On which port does the deploy pipeline end up?"


@pytest.fixture
def memory(tmp_path):
    with Memory(tmp_path, embedder=WordEmbedder()) as running:
        yield running


def hit_with(memory: Memory, text: str, word: str, **options):
    return next((hit for hit in memory.hits(text, **options) if word in hit.text), None)


def test_two_hops_lead_to_a_note_that_has_none_of_the_names(memory):
    memory.take(**CHAIN)
    hit = hit_with(memory, ASKED, "8443")
    assert hit is not None
    assert hit.path == (
        "deploy pipeline",
        "runs on",
        "Vercel",
        "triggers",
        "GitHub webhook",
    )
    plain = hit_with(memory, ASKED, "fridge")
    assert plain is None or (plain.path == () and plain.score < hit.score)


def test_plain_sentences_without_a_link_make_a_way(memory):
    memory.take(
        **{
            "Deploy pipeline": "# Deploy pipeline\n\nThe deploy pipeline runs on Vercel.\n",
            "hosting": "# Hosting\n\nAt night Vercel triggers the GitHub webhook.\n",
            "GitHub webhook": "# GitHub webhook\n\nIt listens on port 8443.\n",
            "other": CHAIN["other"],
        }
    )
    hit = hit_with(memory, ASKED, "8443")
    assert hit is not None
    assert hit.path == ("deploy pipeline", "runs on", "Vercel", "triggers", "GitHub webhook")


@pytest.mark.parametrize(
    ("notes", "question", "word", "path"),
    [
        (
            {**CHAIN, "owner": "The [[GitHub webhook]] is owned by [[Marta]].\n",
             "desk": "The desk of [[Marta]] is in room 314.\n"},
            "In which room sits who owns the end of the deploy pipeline?",
            "314",
            ("deploy pipeline", "runs on", "Vercel", "triggers", "GitHub webhook", "owned by", "Marta"),
        ),
        (
            {"a": "[[部署流程]]运行在[[甲机]]上。\n", "b": "[[甲机]]依赖[[乙库]]。\n", "c": "[[乙库]]由[[小林]]维护。\n",
             "d": "[[小林]]的办公室在三楼。\n"},
            "部署流程的负责人的办公室在哪里？",
            "三楼",
            ("部署流程", "runs on", "甲机", "depends on", "乙库", "maintained by", "小林"),
        ),
    ],
)  # fmt: skip
def test_a_third_hop_is_taken_along_relations(memory, notes, question, word, path):
    memory.take(**notes)
    hit = hit_with(memory, question, word)
    assert hit is not None
    assert hit.path == path


def test_a_third_hop_is_not_taken_by_mentions_nor_past_what_much_touches(memory):
    further = {
        "owner": "The [[GitHub webhook]] is owned by [[Marta]].\n",
        "desk": "The desk of [[Marta]] is in room 314.\n",
    }
    memory.take(
        **{**CHAIN, "hook": "Near [[Vercel]] there is the [[GitHub webhook]].\n"}, **further
    )
    question = "In which room sits who owns the end of the deploy pipeline?"
    hit = hit_with(memory, question, "314")
    assert hit is None or hit.path == ()
    crowd = "\n\n".join(f"Lamp {number} shines on the [[GitHub webhook]]." for number in range(20))
    memory.take(**CHAIN, **further, crowd=crowd)
    hit = hit_with(memory, question, "314")
    assert hit is None or hit.path == ()


def test_what_holds_the_name_itself_is_left_to_the_other_legs(memory):
    memory.take(**CHAIN)
    hit = hit_with(memory, ASKED, "runs on Vercel")
    assert hit is not None
    assert hit.path == ()


def test_switched_off_it_lends_nothing(memory):
    memory.take(**CHAIN)
    on = hit_with(memory, ASKED, "8443")
    memory.recall.use(RecallOptions(graph=False))
    off = hit_with(memory, ASKED, "8443")
    assert on is not None
    assert off is None or (off.path == () and off.score < on.score)


def test_an_alias_leads_to_what_is_said_under_the_title(memory):
    memory.take(
        tide="---\ntitle: Tidewater\naliases: [TW]\n---\nA product.\n",
        money="We were told that [[Tidewater]] costs 900 euro a month.\n",
    )
    hit = hit_with(memory, "What does TW cost in euro?", "900")
    assert hit is not None
    assert hit.path == ("TW", "also called", "Tidewater")


def test_chains_in_chinese_and_dutch_are_walked(memory):
    memory.take(
        a="[[涨潮公告]]依赖[[潮位表]]。\n",
        b="关于[[潮位表]]，每天凌晨两点更新一次。\n",
        c="De [[serre]] wordt onderhouden door [[Glasheer]].\n",
        d="Bij [[Glasheer]] is ons klantnummer G2216.\n",
    )
    chinese = hit_with(memory, "涨潮公告几点更新？", "凌晨两点")
    assert chinese is not None
    assert chinese.path == ("涨潮公告", "depends on", "潮位表")
    dutch = hit_with(memory, "Wat is het klantnummer voor de serre?", "G2216")
    assert dutch is not None
    assert dutch.path == ("serre", "maintained by", "Glasheer")


def test_a_filter_keeps_the_walk_inside(memory):
    memory.take(**CHAIN)
    walled = RecallFilter(paths=("port.md", "pipeline.md"))
    assert all(hit.path == () for hit in memory.ask(ASKED, walled, min_relevance=0.0).hits)
    errors = RecallFilter(categories=(Category.ERROR,))
    assert memory.ask(ASKED, errors).hits == ()


def test_a_name_alone_is_no_evidence_for_what_it_leads_to(memory):
    memory.take(**CHAIN)
    asked = memory.ask("Which colour did grandmother paint the deploy pipeline", min_relevance=0.5)
    assert all("8443" not in hit.text for hit in asked.hits)


def test_explain_tells_rank_score_and_path(memory):
    memory.take(**CHAIN)
    told = memory.ask(ASKED, explain=True).explanation
    assert told is not None
    channels = [one["channels"]["graph"] for one in told["candidates"]]
    assert {channel["rank"] for channel in channels} >= {1, None}
    best = next(channel for channel in channels if channel["rank"] == 1)
    assert 0 < best["score"] <= 0.5
    assert best["path"][0] == "deploy pipeline"
    gains = [one["parts"]["graph"] for one in told["candidates"]]
    assert max(gains) == 1.0
    assert min(gains) == 0


def test_a_graph_that_cannot_be_read_is_told_and_the_rest_answers(memory):
    memory.take(**CHAIN)
    memory.set("ALTER TABLE alias RENAME TO elsewhere")
    recalled = memory.ask(ASKED)
    assert recalled.degraded == ("graph",)
    assert recalled.hits


def test_limits_of_dates_and_scope_do_not_stop_the_walk_but_its_ends(memory):
    memory.take(**CHAIN)
    limits = replace(RecallFilter(), scopes=("nobody",))
    assert memory.ask(ASKED, limits).hits == ()
