"""What people ask: every script, every sign that means something to a search engine, and filters that leave little."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from recalld.errors import InvalidParams
from recalld.store.vectors import EXACT_BELOW
from tests.fakes import WordEmbedder
from tests.growth import assert_costs_at_most
from tests.running import RunningDaemon


def paths(hits: list[dict[str, Any]]) -> list[str]:
    return [hit["source"]["path"] for hit in hits]


# ---------------------------------------------------------------- scripts and emoji, by keyword alone

SCRIPTS = {
    "zh.md": "项目记忆系统使用向量数据库",
    "ja.md": "東京オフィスは月曜日に休みです",
    "ko.md": "서버는 서울에 있습니다",
    "th.md": "ไฟล์อยู่ในกรุงเทพ",
    "emoji.md": "🚀 launch is on Friday",
    "mixed.md": "SQLite 数据库 is embedded in the phone",
    "family.md": "The 👨‍👩‍👧 ticket is cheaper",
    "man.md": "The 👨 ticket is dearer",
    "flag.md": "The 🇳🇱 office opens early",
    "other_flag.md": "The 🇩🇪 office opens late",
    "ar.md": "يقع المكتب الرئيسي في القاهرة",
    "he.md": "המשרד הראשי נמצא בחיפה",
    "de.md": "Das Büro in Köln öffnet früh",
    "nl.md": "Het coördinatiepunt zit in IJmuiden",
    "fr.md": "L'hôtel près de la gare est fermé",
}
ASKED = {
    "记忆": "zh.md",
    "向量数据库": "zh.md",
    "東京": "ja.md",
    "月曜日": "ja.md",
    "서울": "ko.md",
    "서버": "ko.md",
    "กรุงเทพ": "th.md",
    "🚀": "emoji.md",
    "SQLite 数据库": "mixed.md",
    "👨‍👩‍👧": "family.md",
    "👨": "man.md",
    "🇳🇱": "flag.md",
    "🇩🇪": "other_flag.md",
    "القاهرة": "ar.md",
    "בחיפה": "he.md",
    "koln": "de.md",
    "KÖLN": "de.md",
    "Ko\u0308ln": "de.md",
    "coordinatiepunt": "nl.md",
    "hotel": "fr.md",
    "où est l’hôtel ?": "fr.md",
    "サーバーは東京にありますか": "ja.md",
}


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    with RunningDaemon(tmp_path_factory.mktemp("scripts")) as daemon:
        for path, text in SCRIPTS.items():
            daemon.write(path, f"{text}\n")
        daemon.settle()
        yield daemon


@pytest.mark.parametrize("query", ASKED)
def test_a_word_of_any_script_finds_its_note(scripts: RunningDaemon, query: str) -> None:
    found = paths(scripts.recall(query, min_relevance=0))
    assert found[0] == ASKED[query]


@pytest.mark.parametrize("query", [q for q in ASKED if q != "サーバーは東京にありますか"])
def test_a_word_of_any_script_is_evidence_by_itself(scripts: RunningDaemon, query: str) -> None:
    assert paths(scripts.recall(query))[0] == ASKED[query]


@pytest.mark.parametrize("query", ["👨‍👩‍👧", "👨", "🇳🇱", "🇩🇪", "🚀"])
def test_an_emoji_is_one_word_however_many_characters_it_has(
    scripts: RunningDaemon, query: str
) -> None:
    assert paths(scripts.recall(query)) == [ASKED[query]]


@pytest.mark.parametrize("query", ["🇫🇷", "👩", "大阪", "부산", "เชียงใหม่", "🛸"])
def test_what_no_note_has_is_said_to_be_unknown(scripts: RunningDaemon, query: str) -> None:
    answer = scripts.call("recall", query=query)
    assert (answer["hits"], answer["reason"], answer["unknown_words"]) == (
        [],
        "no_evidence",
        [query],
    )


# ---------------------------------------------------------------- signs that are syntax elsewhere

SIGNS = {
    "apostrophe.md": "don't reboot",
    "plus.md": "C++ 17",
    "version.md": "v2.5 released",
    "colon.md": "host:8080",
    "slash.md": "GB/s",
    "hyphen.md": "foo-bar",
    "mail.md": "e-mail a@b.c",
    "near.md": "NEAR the river",
    "not.md": "NOT working",
}
NASTY = [
    "don't", "don’t", '"', '""', '"""', "'; DROP TABLE facts;--", "body:secret", "rowid:1", "a* OR b", "(((", ")))",
    "a AND", "AND OR NOT", "NEAR(", "NEAR(a b, 2)", "*", "-x", "-", "--", "(python", "", " ", "\t\n", "C++", "GB/s", "^",
    "^a", "{body", "{body}:x", "\x00", "a\x00b", "\\", '\\"', "a\\", "%", "_", "?", "?1", ":match", "@p", "$x", ";",
    "words:reboot", "passage_fts", "xu2bxu2b", "cxu2bxu2b", "a + b", "\u200b", "\ufeff", "ﬁ", "\U0010ffff", "e\u0301",
    "a" * 5000, "word " * 1500, "(" * 3000, '"' * 3000, "🚀" * 500, "漢" * 3000, "é" * 3000, "a.b." * 2000,
]  # fmt: skip


@pytest.fixture(scope="module")
def signs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    with RunningDaemon(tmp_path_factory.mktemp("signs")) as daemon:
        for path, text in SIGNS.items():
            daemon.write(path, f"{text}\n")
        daemon.write("foo.md", "The foo stands alone\n")
        daemon.settle()
        yield daemon


@pytest.mark.parametrize("path", SIGNS)
def test_a_note_is_found_by_its_own_words(signs: RunningDaemon, path: str) -> None:
    assert paths(signs.recall(SIGNS[path]))[0] == path


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("C++", "plus.md"),
        ("v2.5", "version.md"),
        ("host:8080", "colon.md"),
        ("8080", "colon.md"),
        ("foo-bar", "hyphen.md"),
        ("a@b.c", "mail.md"),
        ("email", "mail.md"),
        ("NEAR river", "near.md"),
        ("NOT working", "not.md"),
        ("river NOT working", "not.md"),
        ("AND OR NOT working", "not.md"),
        ('"released"', "version.md"),
        ("releas*", None),
        ("words:reboot", "apostrophe.md"),
    ],
)
def test_operators_are_plain_words(signs: RunningDaemon, query: str, path: str | None) -> None:
    found = paths(signs.recall(query, min_relevance=0))
    if path is None:
        assert "version.md" not in found[:1]
    else:
        assert found[0] == path


def test_a_hyphen_excludes_nothing(signs: RunningDaemon) -> None:
    assert paths(signs.recall("foo-bar", min_relevance=0)) == ["hyphen.md", "foo.md"]
    assert "hyphen.md" in paths(signs.recall("foo -bar", min_relevance=0))


@pytest.mark.parametrize("query", NASTY, ids=range(len(NASTY)))
def test_no_query_fails_and_none_silences_the_keyword_leg(signs: RunningDaemon, query: str) -> None:
    alone = signs.call("recall", query=query, min_relevance=0)
    assert "keywords" not in alone["degraded"]
    # A search that failed and was hushed up would find nothing here.
    with_word = signs.call(
        "recall", query=f"{query} reboot released", min_relevance=0, explain=True
    )
    if len(query) <= 64:
        assert {"apostrophe.md", "version.md"} <= set(paths(with_word["hits"]))
        assert with_word["explanation"]["found"]["keyword"] >= 2


@pytest.mark.parametrize("query", NASTY, ids=range(len(NASTY)))
def test_no_error_is_swallowed_by_the_expression_itself(signs: RunningDaemon, query: str) -> None:
    """The database itself, asked with what recalld would ask it, raises nothing."""
    from retrieval.query import match_expression, understand

    expression = match_expression(understand(query))
    if expression is not None:
        signs.rows("SELECT rowid FROM passage_fts WHERE passage_fts MATCH ?", expression)


def test_a_failing_keyword_search_is_an_error_and_not_an_empty_answer(tmp_path: Path) -> None:
    """What proves that nothing is swallowed: where the index is truly broken, the asker is told."""
    import apsw

    from recalld.errors import RequestError

    with RunningDaemon(tmp_path) as daemon:
        daemon.write("a.md", "The heron fishes.\n")
        daemon.settle()
        assert daemon.texts("heron")
        kept = daemon.rows("SELECT id, block FROM passage_fts_data")
        other = apsw.Connection(str(daemon.data / "memory.db"))
        try:
            other.execute("UPDATE passage_fts_data SET block = x'00' WHERE id > 10").fetchall()
            with pytest.raises(RequestError):
                daemon.call("recall", query="heron fishes")
            other.executemany(
                "UPDATE passage_fts_data SET block = ?2 WHERE id = ?1", kept
            ).fetchall()
        finally:
            other.close()
        assert daemon.texts("heron") == ["The heron fishes."]


# ---------------------------------------------------------------- filters that leave little

WORK_NOTES = 1000
LONG_AGO = date(2020, 5, 1)


def fill(daemon: RunningDaemon) -> None:
    """A thousand notes about servers in `work/`, two in `home/` that are worse matches."""
    other = daemon.vault.parent / "other"
    other.mkdir()
    for number in range(WORK_NOTES):
        daemon.write(
            f"work/{number // 200}/{number}.md",
            f"---\ndate: {LONG_AGO}\ntags: [office/rack]\n---\n\nThe server w{number} is a server in rack {number}.\n",
        )
    daemon.write(
        "home/attic.md",
        "---\ntags: [house]\n---\n\nUp in the attic, under the old roof beams beside the water tank, a server hums.\n",
    )
    daemon.write(
        "home/shed.md",
        f"---\ntags: [house/Garden]\ndate: {date.today()}\n---\n\n"
        "Error: the shed's small backup server crashed with a kernel panic when the heater was on.\n",
    )
    (other / "far.md").write_text("In the other folder there is one more server, seldom used.\n")


def filled(base: Path, *, embedder: WordEmbedder | None) -> RunningDaemon:
    (base / "vault").mkdir()
    (base / "other").mkdir(exist_ok=True)
    return RunningDaemon(base, embedder=embedder, roots=[base / "vault", base / "other"])


@pytest.fixture(scope="module", params=["keyword", "vector", "both"])
def crowd(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[RunningDaemon, str]]:
    """The crowd, and a query for it: by words, by meaning without a common word, by both."""
    base = tmp_path_factory.mktemp(request.param)
    embedder = (
        None
        if request.param == "keyword"
        else WordEmbedder(synonyms=[frozenset(("server", "zerver"))])
    )
    with filled(base, embedder=embedder) as daemon:
        (base / "other").rmdir()
        fill(daemon)
        daemon.call("sync")
        daemon.wait_for(lambda status: status["state"] == "idle")
        yield daemon, "zerver" if request.param == "vector" else "server"


HOME = {"home/attic.md", "home/shed.md"}
yesterday = str(date.today() - timedelta(days=1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"paths": ["home/"]}, HOME),
        ({"paths": ["home/*.md"]}, HOME),
        ({"paths": ["**/attic.md", "nowhere/**"]}, {"home/attic.md"}),
        ({"categories": ["error"]}, {"home/shed.md"}),
        ({"since": yesterday, "roots": ["vault"]}, HOME),
        ({"tags": ["house"]}, HOME),
        ({"tags": ["#House/garden"]}, {"home/shed.md"}),
        ({"tags": ["house_garden", "h%", "_ouse"]}, set()),
        ({"roots": ["other"]}, {"far.md"}),
        ({"roots": ["vault"], "paths": ["home"], "categories": ["error"]}, {"home/shed.md"}),
        ({"paths": ["home"], "until": str(LONG_AGO)}, set()),
    ],
    ids=str,
)
@pytest.mark.parametrize("limit", [8, 50])
def test_a_filter_acts_inside_each_leg(
    crowd: tuple[RunningDaemon, str], limits: dict[str, Any], expected: set[str], limit: int
) -> None:
    daemon, query = crowd
    answer = daemon.call(
        "recall", query=query, limit=limit, min_relevance=0, explain=True, **limits
    )
    assert set(paths(answer["hits"])) == expected
    assert answer["reason"] == (None if expected else "nothing_matches_filter")
    found = answer["explanation"]["found"]
    keyword, vector = found["keyword"], found["vector"]
    if query == "zerver":
        assert (keyword, vector) == (0, len(expected))
    else:
        assert keyword == len(expected)
        assert vector == (len(expected) if daemon.embedder else 0)


@pytest.mark.slow
def test_without_a_filter_the_limit_is_filled(crowd: tuple[RunningDaemon, str]) -> None:
    daemon, query = crowd
    hits = daemon.recall(query, limit=50, max_chars=100_000, min_relevance=0)
    assert len(hits) == 50
    assert len({hit["anchor"] for hit in hits}) == 50


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0, 51, 5000, -1, 2**70])
def test_a_limit_out_of_bounds_is_refused(crowd: tuple[RunningDaemon, str], limit: int) -> None:
    daemon, query = crowd
    with pytest.raises(InvalidParams):
        daemon.call("recall", query=query, limit=limit)


@pytest.mark.slow
def test_a_filter_that_leaves_more_than_are_compared_exactly_still_finds_by_meaning(
    tmp_path: Path,
) -> None:
    """Above the bound the vector leg goes by bits first; the filter must act there as well."""
    embedder = WordEmbedder(synonyms=[frozenset(("server", "zerver"))])
    with RunningDaemon(tmp_path, embedder=embedder) as daemon:
        lines = "\n".join(
            f"- The server s{n} stands in rack r{n}." for n in range(EXACT_BELOW + 300)
        )
        daemon.write("work/all.md", lines)
        daemon.write("many/plants.md", "\n".join(f"- Plant p{n} needs water." for n in range(3100)))
        daemon.write("many/needle.md", "One zerver is at home.\n")
        daemon.call("sync")
        # Not until facts are compared with one another too, which takes longest.
        daemon.wait_for(lambda status: status["counts"]["notes"] == 3)
        daemon.wait_for(lambda status: not status["queue"]["embed"])
        hits = daemon.recall("server", paths=["many"], min_relevance=0, limit=1)
        assert paths(hits) == ["many/needle.md"]


def test_brackets_in_a_path_are_taken_as_written_too(tmp_path: Path) -> None:
    with RunningDaemon(tmp_path) as daemon:
        daemon.write("old [2020]/a.md", "The heron fishes.\n")
        daemon.write("old 2/a.md", "The heron sleeps.\n")
        daemon.write("naïve*/b.md", "The heron dives.\n")
        daemon.settle()
        for limit, expected in (
            ("old [2020]/a.md", {"old [2020]/a.md", "old 2/a.md"}),
            ("old [2020]", {"old [2020]/a.md"}),
            ("old [2]/*", {"old 2/a.md"}),
            ("old */a.md", {"old [2020]/a.md", "old 2/a.md"}),
            ("na\u0131\u0308ve*", set()),
            ("nai\u0308ve*/b.md", {"naïve*/b.md"}),
            ("./old 2", {"old 2/a.md"}),
            ("/old 2/", {"old 2/a.md"}),
            ("old [", set()),
            ("", set()),
        ):
            assert set(paths(daemon.recall("heron", paths=[limit]))) == expected, limit


def test_since_and_until_go_by_the_facts_own_date(tmp_path: Path) -> None:
    with RunningDaemon(tmp_path) as daemon:
        daemon.write("2026-01-10.md", "The heron arrived on 2024-03-05.\n\nThe heron fishes.\n")
        old = daemon.write("undated.md", "The heron sleeps.\n")
        stamp = datetime(2021, 7, 1, 12, tzinfo=UTC).timestamp()
        os.utime(old, (stamp, stamp))
        daemon.settle()
        assert set(daemon.texts("heron", since="2026-01-01")) == {"The heron fishes."}
        assert set(daemon.texts("heron", until="2021-12-31")) == {"The heron sleeps."}
        assert set(daemon.texts("heron", since="2024-01-01", until="2024-12-31")) == {
            "The heron arrived on 2024-03-05."
        }
        assert daemon.call("recall", query="heron", since="2030-01-01")["reason"] == (
            "nothing_matches_filter"
        )


def test_a_question_after_when_is_answered_by_what_tells_a_day(tmp_path: Path) -> None:
    with RunningDaemon(tmp_path) as daemon:
        head = "---\nstart: 2023-09-12\nend: 2023-09-30\nplace: Kyoto, Japan\n---\n"
        daemon.write("Trip to Japan.md", f"{head}\nText.\n")
        daemon.settle()
        assert daemon.texts("When did the trip to Japan end?")[0] == (
            "start: 2023-09-12; end: 2023-09-30"
        )
        assert daemon.texts("Which place in Japan?")[0] == "place: Kyoto, Japan"


def test_what_states_no_fact_fits_a_filter_as_what_it_says_of_itself(tmp_path: Path) -> None:
    with RunningDaemon(tmp_path) as daemon:
        daemon.write(
            "2026-01-10.md", "```sh\nheron --fish\n```\n\nThe stork failed on 2024-03-05.\n"
        )
        daemon.settle()
        (code,) = daemon.recall("heron fish")
        assert (code["kind"], code["category"], code["scope"]) == ("passage", "knowledge", "global")
        assert code["dates"]["stated"] == "2026-01-10"
        fits = (
            {"since": "2026-01-01"},
            {"until": "2026-02-01"},
            {"as_of": "2026-02-01"},
            {"categories": ["knowledge"]},
            {"scope": ["global"]},
            {"kinds": ["passage"], "since": "2026-01-01"},
        )
        for limits in fits:
            assert [one["text"] for one in daemon.recall("heron fish", **limits)] == [code["text"]]
        for limits in ({"since": "2026-02-01"}, {"until": "2025-01-01"}, {"categories": ["error"]}):
            assert daemon.recall("heron fish", **limits) == []
        # What states a fact goes by that.
        assert daemon.recall("stork", since="2026-01-01") == []


@pytest.mark.slow
@pytest.mark.parametrize("with_vectors", [True, False])
def test_a_sentence_in_hundreds_of_notes_leaves_room_for_others(
    tmp_path: Path, with_vectors: bool
) -> None:
    with RunningDaemon(tmp_path, embedder=WordEmbedder() if with_vectors else None) as daemon:
        for number in range(450):
            daemon.write(f"daily/{number}.md", "Wi-Fi code is blue-fish.\n")
        daemon.write("rare.md", "In the summer house by the lake the Wi-Fi code is red-bird.\n")
        daemon.call("sync")
        daemon.wait_for(lambda status: status["state"] == "idle")
        found = [
            (hit["text"].split()[-1], hit["source"]["more"]) for hit in daemon.recall("Wi-Fi code")
        ]
        assert found == [("blue-fish.", 449), ("red-bird.", 0)]


@pytest.mark.slow
def test_a_filter_on_a_crowd_costs_little_more_than_none(crowd: tuple[RunningDaemon, str]) -> None:
    daemon, query = crowd
    assert_costs_at_most(
        5,
        lambda: daemon.recall(query, paths=["home"]),
        than=lambda: daemon.recall(query),
        clock=time.process_time,
    )
