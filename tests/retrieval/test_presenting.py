from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fakes import WordEmbedder
from tests.retrieval.asking import Memory


@pytest.fixture
def memory(tmp_path) -> Iterator[Memory]:
    with Memory(tmp_path, embedder=WordEmbedder()) as made:
        yield made


def test_fact_of_three_notes_is_one_hit_with_its_other_places_counted(memory):
    memory.take(**dict.fromkeys(("aa", "bb", "cc"), "Postgres listens on port 5432.\n"))
    hits = memory.hits("postgres port")
    assert [hit.text for hit in hits] == ["Postgres listens on port 5432."]
    assert hits[0].source.more == 2


def test_fact_that_needs_its_heading_stays_two_hits_with_their_headings(memory):
    memory.take(a="# Ports\n\n## Web\n\nPort is 80.\n\n## Mail\n\nPort is 80.\n")
    hits = memory.hits("port")
    assert sorted(hit.context[-1] for hit in hits) == ["Mail", "Web"]
    assert len({hit.anchor for hit in hits}) == 2


def test_hit_says_where_it_stands(memory):
    memory.take(
        a="---\ntags: [ops]\ndate: 2026-01-02\n---\n# Servers\n\nIntro.\n\nPostgres listens on port 5432.\n"
    )
    hit = memory.hits("postgres port 5432")[0]
    assert (hit.source.root, hit.source.path) == ("vault", "a.md")
    assert (hit.source.lines.first, hit.source.lines.last) == (9, 9)
    assert hit.tags == ("ops",)
    assert hit.context == ("Servers",)
    assert str(hit.stated) == "2026-01-02"
    assert hit.anchor.startswith("fact:")


def test_limit_counts_different_things_and_the_budget_passes_over_the_long(memory):
    long = "Postgres " + "and more " * 100 + "is slow."
    memory.take(
        aa="Postgres is fast.\n", bb=long + "\n", cc="Postgres is old.\n", dd="Postgres is fast.\n"
    )
    texts = memory.texts("postgres", max_chars=100)
    assert set(texts) == {"Postgres is fast.", "Postgres is old."}
    assert long in memory.texts("postgres")
    assert len(memory.texts("postgres", limit=2)) == 2
    anchors = [hit.anchor for hit in memory.hits("postgres")]
    assert len(set(anchors)) == len(anchors)
