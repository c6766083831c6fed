from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ingest.rules.entities import collect_names, find_entities, is_title, link_labels, title_names


def told(
    text: str, source: str | None = None, names: frozenset[str] = frozenset()
) -> dict[str, str]:
    return {e.name: e.kind for e in find_entities(text, source or text, names)}


def test_links_code_and_tags_are_named():
    assert told(
        "Bo runs `uv sync` for Web #infra", "Bo runs `uv sync` for [[Web site|Web]] #infra"
    ) == {
        "Web site": "wikilink",
        "uv sync": "code",
        "infra": "tag",
    }


def test_nothing_is_named_inside_code():
    assert told("`[[no]] #no Nope`", "`[[no]] #no Nope`") == {"[[no]] #no Nope": "code"}


def test_a_first_word_is_a_name_only_if_it_is_one_elsewhere():
    names = collect_names(["We asked Docker to stop.", "Docker is slow.", "Push it."])
    assert names == {"Docker"}
    assert told("Docker is slow.", names=names) == {"Docker": "name"}
    assert told("Push it now.", names=names) == {}
    assert told("Push it now.", names=names | {"Push"}) == {"Push": "name"}


def test_names_of_several_words_hold_together():
    assert collect_names(["I met Jan van Eyck and Ada Lovelace there."]) == {
        "Jan van Eyck",
        "Ada Lovelace",
    }


def test_german_nouns_are_no_names():
    assert collect_names(["Wir haben das Haus und den Garten mit GitHub verwaltet."]) == {"GitHub"}


def test_titles_show_no_names():
    assert is_title("Create An Index Without Locking The Table")
    assert collect_names(["Create An Index Without Locking The Table"]) == frozenset()


def test_latin_names_stand_out_in_cjk_text():
    assert collect_names(["我们使用 Docker 部署。"]) == {"Docker"}
    assert told("彼は「銀河鉄道の夜」を読んだ。") == {"銀河鉄道の夜": "name"}


def test_days_and_months_are_no_names():
    assert collect_names(["We met on Monday in March, he said OK."]) == frozenset()


@given(st.text(max_size=80), st.frozensets(st.text(max_size=5), max_size=3))
def test_at_most_twelve_and_none_twice(text, names):
    found = find_entities(text, text, names | collect_names([text]))
    assert len(found) <= 12
    assert len({e.name.casefold() for e in found}) == len(found)


def test_labels_are_what_links_show():
    assert link_labels("[[sietske-bouma|Sietske]], [[b#part|B]], [[c]], `[[d|D]]`") == {
        "sietske-bouma": "Sietske",
        "b": "B",
    }


def test_a_short_title_with_a_capital_is_a_name():
    assert title_names("Tidewater") == {"Tidewater"}
    assert title_names("Port  of Harlingen") == {"Port of Harlingen"}
    for no_name in ("", "restore", "How a tide is predicted", "Restore the database", "Monday"):
        assert title_names(no_name) == frozenset(), no_name
