from __future__ import annotations

from collections.abc import Iterator

import pytest

from recalld.errors import AmbiguousAnchor, InvalidParams, NotFound
from retrieval.fetching import get
from tests.retrieval.asking import Memory

NOTE = """---
tags: [ops]
---
# Gateway

First line of talk.

The gateway listens on port 9090.

%% private remark %%

See [[other]].
"""


@pytest.fixture
def memory(tmp_path) -> Iterator[Memory]:
    with Memory(tmp_path) as made:
        made.take(gateway=NOTE, copy="# Gateway\n\nThe gateway listens on port 9090.\n")
        yield made


def uid(memory: Memory, table: str, where: str) -> str:
    return memory.vault.rows(f"SELECT uid FROM {table} WHERE {where}")[0][0]


def fetch(memory: Memory, anchor: str, **options: int) -> dict:
    return get(memory.vault.database, anchor, **options).result


def test_fact_comes_with_every_place_that_states_it(memory):
    whole = uid(memory, "fact", "text LIKE '%9090%'")
    fetched = get(memory.vault.database, f"fact:{whole[:8]}")
    assert len(fetched.facts) == 1
    result = fetched.result
    assert result["id"] == whole
    assert result["kind"] == "fact"
    assert {one["path"] for one in result["sources"]} == {"gateway.md", "copy.md"}
    for source in result["sources"]:
        first, last = source["lines"]
        lines = (memory.vault.path / source["path"]).read_text().splitlines()[first - 1 : last]
        assert lines == ["The gateway listens on port 9090."]


@pytest.mark.parametrize("form", ["{uid}", "{short}", "fact:{short}", "FACT:{short}", " {short} "])
def test_any_form_of_an_anchor_leads_there(memory, form):
    whole = uid(memory, "fact", "text LIKE '%9090%'")
    assert fetch(memory, form.format(uid=whole, short=whole[:12]))["id"] == whole


def test_lines_round_it_come_without_what_is_private(memory):
    whole = uid(memory, "fact", "text LIKE '%9090%'")
    text = fetch(memory, whole, lines_around=100)["source_text"]["text"]
    assert "private" not in text
    assert "The gateway listens on port 9090." in text


ROUND = """---
date: 2026-03-04
---

# 网关

## Poort

* * *

The gateway listens on port 9191.

password: hunter2hunter2

Setext
------

<!-- private -->

- إعادة التشغيل
"""


def test_lines_round_it_are_those_of_the_note(memory):
    memory.take(round=ROUND)
    whole = uid(memory, "fact", "text LIKE '%9191%'")
    told = fetch(memory, whole, lines_around=100)["source_text"]
    assert "hunter2" not in told["text"]
    assert told["lines"] == [1, 20]
    for number, (shown, written) in enumerate(
        zip(told["text"].split("\n"), ROUND.split("\n"), strict=False)
    ):
        if number == 12:
            assert shown.startswith("password")
        else:
            assert shown == ("" if "private" in written else written)


def test_a_note_comes_line_by_line(memory):
    memory.take(round=ROUND)
    note = uid(memory, "note", "path = 'round.md'")
    lines = fetch(memory, f"note:{note}")["text"].split("\n")
    assert [lines[number - 1] for number in (5, 7, 9, 16, 20)] == [
        "# 网关", "## Poort", "* * *", "------", "- إعادة التشغيل",
    ]  # fmt: skip


def test_passage_and_note_come_whole_and_count_as_no_fact(memory):
    passage = uid(memory, "passage", "text LIKE '%9090%' AND note_id = (SELECT id FROM note WHERE path = 'gateway.md')")  # fmt: skip
    fetched = get(memory.vault.database, f"passage:{passage}")
    assert fetched.facts == ()
    assert "9090" in str(fetched.result["text"])
    note = uid(memory, "note", "path = 'gateway.md'")
    fetched = get(memory.vault.database, f"note:{note[:8]}")
    assert fetched.result["title"] == "Gateway"
    assert fetched.result["tags"] == ["ops"]
    assert "private" not in str(fetched.result["text"])


def test_unknown_and_malformed_anchors_are_told_apart(memory):
    with pytest.raises(NotFound):
        fetch(memory, "fact:00000000")
    for wrong in ("", "fact:", "fact:xyz", "abc", "gateway.md", "0" * 33):
        with pytest.raises(InvalidParams):
            fetch(memory, wrong)


def test_prefix_of_several_things_names_them(memory):
    memory.set("UPDATE fact SET uid = printf('%032x', id + 0xabcd000000000000)")
    facts = memory.vault.rows("SELECT uid FROM fact ORDER BY 1")
    assert len(facts) > 1
    with pytest.raises(AmbiguousAnchor) as caught:
        fetch(memory, "fact:0000000000000000abcd")
    assert len(caught.value.data["matches"]) == len(facts)


@pytest.mark.parametrize("around", [2**31, 2**63, 10**30])
def test_any_number_of_lines_round_it_is_the_whole_note(memory, around):
    whole = uid(memory, "fact", "text LIKE '%9090%'")
    told = fetch(memory, whole, lines_around=around)["source_text"]
    assert told == fetch(memory, whole, lines_around=100)["source_text"]
