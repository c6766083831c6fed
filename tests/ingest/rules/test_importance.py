from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.markdown.blocks import parse_note
from ingest.rules.extractor import extract_note
from ingest.rules.importance import LOWERED, RAISED, find_importances, says_it_matters
from ingest.rules.phrases import read_lists
from recalld.records import NEUTRAL_IMPORTANCE
from tests.growth import assert_grows_with_size

PORT = "The port of the database is 5432."


def found(text: str) -> dict[str, float]:
    """The importance of each fact of a note by its words."""
    return {
        fact.text: fact.importance
        for block in extract_note(parse_note(text), note_date=None)
        for passage in block.passages
        for statement in passage.statements
        for fact in statement.facts
    }


def of_port(text: str) -> float:
    return next(value for told, value in found(text).items() if PORT in told)


def below(head: str) -> float:
    """The importance of a fact below a head."""
    return of_port(f"---\n{head}\n---\n\n{PORT}\n")


@pytest.mark.parametrize(
    ("head", "value"),
    [
        ("title: Database", NEUTRAL_IMPORTANCE),
        ("importance: 0.9", 0.9),
        ("importance: .25", 0.25),
        ("importance: '0,7'", 0.7),
        ("importance: 1", 1.0),
        ("importance: 0", 0.0),
        ("重要度: 0.95", 0.95),
        ("importance: high", RAISED),
        ("Importance: Low", LOWERED),
        ("중요도: 높음", RAISED),
        ("priority: high", RAISED),
        ("priority: 1", RAISED),
        ("priority: '🔴 High'", RAISED),
        ("priority: low", LOWERED),
        ("prioriteit: hoog", RAISED),
        ("priorität: hoch", RAISED),
        ("priorité: haute", RAISED),
        ("优先级: 高", RAISED),
        ("優先度: 低い", LOWERED),
        ("우선순위: 높음", RAISED),
        ("pinned: true", RAISED),
        ("favorite: yes", RAISED),
        ("belangrijk: ja", RAISED),
        ("置顶: 是", RAISED),
        ("tags: [ops, important]", RAISED),
        ("tags: '#belangrijk'", RAISED),
        ("tags: Wichtig", RAISED),
        ("tags: 重要", RAISED),
        ("tags: 중요", RAISED),
        ("tags: important/ops", RAISED),
        ("tags: priority/high", RAISED),
        ("archived: true", LOWERED),
        ("archived: 2025-01-31", LOWERED),
        ("status: archived", LOWERED),
        ("status: Gearchiveerd", LOWERED),
        ("状态: 已归档", LOWERED),
        ("tags: archived", LOWERED),
    ],
)
def test_the_head_says_how_much_a_note_matters(head, value):
    assert below(head) == value


@pytest.mark.parametrize(
    "head",
    [
        "importance: 7",
        "importance: 1.5",
        "importance: -1",
        "importance: medium",
        "importance: not very high",
        "importance: {a: 1}",
        "priority: 2",
        "priority: 0.8",
        "pinned: false",
        "archived: false",
        "archived:",
        "status: active",
        "description: important",
        "tags: [unimportant, importantly, archive]",
        "tags: ops/important",
    ],
)
def test_what_is_no_known_value_says_nothing(head):
    assert below(head) == NEUTRAL_IMPORTANCE


def test_importance_stands_above_all_else_in_the_head():
    assert below("importance: 0.9\nstatus: archived") == 0.9
    assert below("pinned: true\narchived: true") == LOWERED
    assert below("pinned: true\npriority: low") == RAISED


@pytest.mark.parametrize(
    "text",
    [
        "Important: the key expires in May.",
        "IMPORTANT! The key expires in May.",
        "Remember: never push to main.",
        "“Warning: the disk is full.",
        "Let op: de sleutel verloopt in mei.",
        "Let op! De sleutel verloopt in mei.",
        "Belangrijk: de sleutel verloopt in mei.",
        "Wichtig: der Schlüssel läuft im Mai ab.",
        "Achtung! Der Schlüssel läuft im Mai ab.",
        "Attention : la clé expire en mai.",
        "Important\u00a0: la clé expire en mai.",
        "À retenir : la clé expire en mai.",
        "注意：密钥五月过期。",
        "重要：密钥五月过期。",
        "切记：不要在周五部署。",
        "重要：鍵は五月に切れます。",
        "警告：鍵は五月に切れます。",
        "중요: 열쇠는 5월에 만료됩니다.",
        "주의: 열쇠는 5월에 만료됩니다.",
        "Важно: ключ истекает в мае.",
        "สำคัญ: กุญแจหมดอายุในเดือนพฤษภาคม",
        "مهم: ينتهي المفتاح في مايو.",
        "חשוב: המפתח פג במאי.",
        "⚠️ The key expires in May.",
        "[x] Important: the key was renewed.",
        "Home › Important: the key lies under the mat.",
    ],
)
def test_a_statement_may_say_of_itself_that_it_matters(text):
    assert says_it_matters(text)


@pytest.mark.parametrize(
    "text",
    [
        "The most important: a key that fits.",
        "It is important: keys expire.",
        "Important keys expire in May.",
        "Importantly, keys expire in May.",
        "Remember to renew the key.",
        "Note: the key expires in May.",
        "Tip: renew the key in April.",
        "Let op de sleutel.",
        "Wichtige Schlüssel: zwei.",
        "请注意密钥五月过期。",
        "重要なのは鍵です。",
        "중요한 열쇠는 두 개입니다.",
        "`Important: yes` is printed.",
        "Warnings: two of them.",
        "",
    ],
)
def test_words_amid_a_sentence_say_nothing(text):
    assert not says_it_matters(text)


def test_a_label_raises_its_own_sentence_alone():
    facts = found(f"Important: the key of the office expires in May. {PORT}\n")
    assert facts == {
        "Important: the key of the office expires in May.": RAISED,
        PORT: NEUTRAL_IMPORTANCE,
    }


def test_a_label_above_a_list_is_of_its_items():
    assert of_port(f"Belangrijk:\n\n- {PORT}\n") == RAISED
    assert of_port(f"- Important:\n  - {PORT}\n") == RAISED


@pytest.mark.parametrize(
    "text",
    [
        "- Error: the system is down.\n- Warning: the disk is nearly full.\n",
        "- **Info** – the job has ended.\n- Warning: the disk is nearly full.\n",
        "- 提示：任务已经完成了。\n- 警告：磁盘空间快要满了。\n",
        "- ✅ The first server is up.\n- ⚠️ The second server is slow.\n",
        "| level | meaning |\n| --- | --- |\n| Warning: | the disk is nearly full |\n",
        '<ConsoleBlock level="error">\n\nWarning: the disk is nearly full.\n\n</ConsoleBlock>\n',
    ],
)
def test_a_label_that_is_explained_or_printed_says_nothing(text):
    facts = found(text)
    assert facts
    assert set(facts.values()) == {NEUTRAL_IMPORTANCE}


@pytest.mark.parametrize("tag", ["important", "pinned", "belangrijk", "wichtig", "重要", "중요"])
def test_a_tag_in_a_block_raises_that_block(tag):
    facts = found(f"{PORT} #{tag}\n\nThe mirror lives in Groningen.\n")
    assert sorted(facts.values()) == [NEUTRAL_IMPORTANCE, RAISED]
    assert facts["The mirror lives in Groningen."] == NEUTRAL_IMPORTANCE


def test_a_tag_in_a_nested_item_or_row_is_of_that_alone():
    items = found("- The mirror is in Groningen.\n  - It has two disks here. #important\n")
    assert list(items.values()) == [NEUTRAL_IMPORTANCE, RAISED]
    rows = found("| host | port |\n| --- | --- |\n| alpha | 5432 |\n| beta #important | 5433 |\n")
    assert list(rows.values()) == [NEUTRAL_IMPORTANCE, RAISED]


def test_tags_that_stand_alone_are_of_their_section_or_the_note():
    assert of_port(f"#ops #pinned\n\n{PORT}\n") == RAISED
    assert of_port(f"#archived\n\n{PORT}\n") == LOWERED
    facts = found(f"# Hosts\n\n{PORT}\n\n## Old\n\n#archived\n\nThe mirror lives in Groningen.\n")
    assert list(facts.values()) == [NEUTRAL_IMPORTANCE, LOWERED]


def test_tags_are_no_tags_in_code_and_no_facts_alone():
    assert of_port(f"{PORT} `#important`\n") == NEUTRAL_IMPORTANCE
    assert found("#important #ops\n") == {}


def test_what_stands_out_in_what_was_put_away_is_as_others():
    warning = f"> [!warning]\n> {PORT}\n"
    assert of_port(warning) == RAISED
    assert of_port(f"---\nstatus: archived\n---\n\n{warning}") == NEUTRAL_IMPORTANCE
    assert of_port(f"---\nimportance: 0.95\n---\n\n{warning}") == 0.95
    assert of_port(f"---\nimportance: low\n---\n\n{warning}") == RAISED
    assert of_port(f"Important: {PORT} #archived\n") == NEUTRAL_IMPORTANCE


def test_a_statement_without_facts_has_the_importance_of_its_place():
    (block,) = extract_note(parse_note("> [!warning]\n> Which port is it?\n"), note_date=None)
    assert [one.importance for one in block.passages[0].statements] == [RAISED]
    assert block.passages[0].statements[0].facts == ()


@pytest.mark.parametrize("name", ["callout", "label", "tag_raises", "high"])
def test_words_are_known_in_every_language_of_the_rules(name):
    import tomllib
    from importlib import resources

    table = tomllib.loads((resources.files("ingest.rules") / "importance.toml").read_text("utf-8"))[
        name
    ]
    assert {"en", "nl", "de", "fr", "zh", "ja", "ko"} <= table.keys()
    assert all(table.values())


def test_no_word_is_raised_and_lowered():
    lists = {name: set(words) for name, words in read_lists("importance.toml").items()}
    for one, other in (("tag_raises", "tag_lowers"), ("key_raises", "key_lowers"), ("high", "low")):
        assert lists[one].isdisjoint(lists[other])
    assert lists["label"].isdisjoint(lists["level"])


@given(st.text(max_size=300))
def test_any_note_has_importances_from_0_to_1(text):
    note = parse_note(text)
    says = find_importances(note)
    assert all(0 <= says.at(line, text) <= 1 for line in range(1, text.count("\n") + 2))


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        ":::warning\n",
        "<Warning>\n\n",
        "- Important: a\n",
        "  - a #important\n",
        "#important\n",
        "#important\n\n",
        "# x\n\n#important\n\n## y\n\n",
        "> > > [!warning] a\n",
        "!!! danger\n\n",
    ],
)
def test_hostile_notes_are_read_in_time_by_their_length(piece):
    assert_grows_with_size(
        find_importances, lambda size: parse_note("- a\n" + piece * size), small=100
    )
