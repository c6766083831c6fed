"""Queries as terms, held against a real FTS5 table: found by their words, never by their syntax."""

from collections.abc import Callable, Iterator

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.query import (
    Query,
    coverage,
    known_share,
    match_expression,
    rarity,
    understand,
)
from retrieval.text.words import index_words, tokens
from tests.growth import assert_grows_with_size

TABLE = """
CREATE VIRTUAL TABLE passage_fts USING fts5(
    words, content='', contentless_delete=1,
    tokenize="unicode61 remove_diacritics 0 categories 'L* N* M* P* S* Co'"
)
"""
SEARCH = "SELECT rowid FROM passage_fts WHERE passage_fts MATCH ? ORDER BY rank, rowid"

Search = Callable[[str], list[int]]


class Notes:
    """Notes in a real FTS5 table; the row id of a note is its place in the list, from 1."""

    def __init__(self, *notes: str) -> None:
        self.connection = apsw.Connection(":memory:")
        self.connection.execute(TABLE)
        for note in notes:
            self.add(note)

    def add(self, note: str) -> int:
        self.connection.execute("INSERT INTO passage_fts(words) VALUES (?)", (index_words(note),))
        return self.connection.last_insert_rowid()

    def remove(self, row: int) -> None:
        self.connection.execute("DELETE FROM passage_fts WHERE rowid = ?", (row,))

    def search(self, text: str) -> list[int]:
        expression = match_expression(understand(text))
        return (
            []
            if expression is None
            else [row[0] for row in self.connection.execute(SEARCH, (expression,))]
        )


@pytest.fixture(scope="module")
def empty() -> Iterator[Notes]:
    notes = Notes("some other note about nothing much", "另一个 기타 その他")
    yield notes
    notes.connection.close()


# ---------------------------------------------------------------- CJK and emoji

IN_MANY_SCRIPTS = (
    "项目记忆系统使用向量数据库",
    "東京オフィスは月曜日に休みです",
    "서버는 서울에 있습니다",
    "ไฟล์อยู่ในกรุงเทพ",
    "🚀 launch is on Friday",
    "SQLite 是一个数据库",
    "the family 👨‍👩‍👧 flew to 🇳🇱",
)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("记忆", 1), ("忆", 1), ("向量数据库", 1), ("東京", 2), ("月曜日", 2), ("月", 2), ("休", 2),
        ("東京オフィスはいつ休みですか", 2), ("서울", 3), ("서울에서", 3), ("서버", 3), ("กรุงเทพ", 4), ("🚀", 5),
        ("SQLite 数据库", 6), ("sqlite数据库", 6), ("👨‍👩‍👧", 7), ("🇳🇱", 7),
    ],
)  # fmt: skip
def test_a_query_in_any_script_finds_its_note_by_keyword_alone(query: str, first: int):
    assert Notes(*IN_MANY_SCRIPTS).search(query)[0] == first


@pytest.mark.parametrize("member", ["👨", "👩", "👧", "🇳🇩", "🇱", "🇩🇪", "曜東", "忆记", "울서"])
def test_emoji_are_not_split_and_characters_not_shuffled(member: str):
    assert Notes(*IN_MANY_SCRIPTS).search(member) == []


# ---------------------------------------------------------------- FTS5 syntax

PLAIN_NOTES = (
    "don't reboot",
    "C++ 17",
    "v2.5 released",
    "host:8080",
    "GB/s",
    "foo-bar",
    "e-mail a@b.c",
    "NEAR the river",
    "NOT working",
    "run --force, then :help and :cq",
    "C# and .NET",
)


@pytest.mark.parametrize("row", range(1, len(PLAIN_NOTES) + 1))
def test_every_note_is_found_first_by_its_own_words(row: int):
    notes = Notes(*PLAIN_NOTES)
    assert notes.search(PLAIN_NOTES[row - 1])[0] == row


@pytest.mark.parametrize(
    ("query", "row"),
    [
        ("don’t", 1), ("C++", 2), ("c++", 2), ("v2.5", 3), ("host:8080", 4), ("8080", 4), ("GB/s", 5), ("gb/S?", 5),
        ("foo-bar", 6), ("bar", 6), ("foo", 6), ("e-mail", 7), ("email", 7), ("a@b.c", 7), ("NEAR", 8), ("NEAR(", 8),
        ("near river", 8), ("working", 9), ("--force", 10), (":help", 10), (":cq", 10), ("C#", 11), (".NET", 11),
    ],
)  # fmt: skip
def test_a_word_with_symbols_finds_its_note_first(query: str, row: int):
    assert Notes(*PLAIN_NOTES).search(query)[0] == row


SYNTAX = (
    "'", '"', '""', "host:8080", "v2.5", "a AND", "AND", "NEAR(", "NEAR(a b, 2)", "*", "-x", "(python", "", "C++",
    "GB/s", "^", "^a", "AND OR NOT", "NOT", "{body", "{body}: a", "a\x00b", "\x00", "'; DROP TABLE facts;--",
    "body:secret", "rowid:1", "a* OR b", "(((", ")", "+", "a + b", "\ud800", "a\udfffb", "\\", "words:a", "- - -",
)  # fmt: skip


@pytest.mark.parametrize("query", SYNTAX, ids=ascii)
def test_syntax_in_a_query_is_plain_text(query: str, empty: Notes):
    row = empty.add(query)
    try:
        found = empty.search(query)
        assert found == [row] if understand(query).terms else found == []
    finally:
        empty.remove(row)


def test_a_hyphen_is_no_exclusion_and_a_colon_no_column():
    notes = Notes("foo-bar", "foo alone", "words: secret")
    assert notes.search("foo-bar") == [1, 2]
    assert notes.search("words:secret") == [3]
    assert notes.search("rowid:1") == []


def test_a_hyphen_is_left_out_or_put_in():
    notes = Notes("ask by email", "ask by e-mail", "ask by post", "state of the art")
    assert set(notes.search("e-mail")) == set(notes.search("email")) == {1, 2}
    assert notes.search("state-of-the-art") == [4]


def test_hyphenated_words_weigh_no_more_than_their_parts():
    assert match_expression(understand("sugar-sweetened tea")) == '"sugar" OR "sweeten" OR "tea"'
    assert match_expression(understand("e-mail")) == '"email" OR "mail"'
    assert match_expression(understand("x")) == '"x"'


def test_operators_alone_are_words():
    assert Notes("AND OR NOT", "something else").search("AND OR NOT") == [1]


nasty = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=40),
    st.lists(st.sampled_from([*SYNTAX, *IN_MANY_SCRIPTS, *PLAIN_NOTES, "什么", "です", "คะ", "่", "的", "l'", "'s"]))
    .flatmap(lambda pieces: st.sampled_from(["", " "]).map(lambda glue: glue.join(pieces))),
    st.text(st.sampled_from("ab1C'-_.:/+#@,\"*^(){}~ 的什么いつです서울에ที่ไหนกุ🚀🇳🇱\u200d\ufe0f"), max_size=40),
)  # fmt: skip


@given(nasty)
def test_any_text_finds_itself(text: str):
    notes = Notes(text)
    try:
        found = notes.search(text)
        assert found == ([1] if understand(text).terms else [])
    finally:
        notes.connection.close()


@given(nasty)
def test_a_text_without_terms_has_no_words_in_the_index(text: str):
    assert bool(understand(text).terms) == bool(index_words(text))


@pytest.mark.slow
def test_a_pasted_page_is_answered_too():
    page = " ".join(f"word{n}-{n * 7}" for n in range(20_000))
    assert Notes("nothing of it", page).search(page) == [2]
    assert len(understand(page).terms) == 128


# ---------------------------------------------------------------- terms


def surfaces(query: Query) -> list[str]:
    return [term.surface for term in query.terms]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where did Ana park the car?", ["Ana", "park", "car"]),
        ("Hoe heet de hond van Anna?", ["hond", "Anna"]),
        ("Wann war das Treffen mit Bernd?", ["Treffen", "Bernd"]),
        ("Quel est le prix de l’hôtel ?", ["prix", "hôtel"]),
        ("¿Dónde está mi perro?", ["perro"]),
        ("我们用什么数据库", ["数据库"]),
        ("她住的城市是哪个", ["她住的城市"]),
        ("猫在哪里", ["猫"]),
        ("狗叫什么", ["狗"]),
        ("钱 在 哪里", ["钱"]),
        ("用", ["用"]),
        ("会議はいつですか", ["会議"]),
        ("本が出たのはいつ？", ["本", "出た"]),
        ("親に伝わりますか", ["親", "伝わり"]),
        ("読むにはどのパッケージ", ["読む", "パッケージ"]),
        ("食べたいのに", ["食べたい"]),
        ("机の中", ["机"]),
        ("서울에서 언제 만났어?", ["서울", "만났어"]),
        ("ร้านอยู่ที่ไหน", ["ร้านอยู่"]),
        ("die hard", ["die", "hard"]),
        ("run Run running", ["run", "Run", "running"]),
    ],
)
def test_content_words_are_kept_in_order(text: str, expected: list[str]):
    assert surfaces(understand(text)) == expected


def test_particles_are_cut_from_both_ends_of_a_run_while_two_characters_remain():
    assert surfaces(understand("我数据库的")) == ["数据库"]
    assert surfaces(understand("目的")) == ["目的"]
    assert surfaces(understand("서울에서는")) == ["서울"]
    assert surfaces(understand("나이")) == ["나이"]


def test_stop_words_alone_become_content():
    query = understand("what is it")
    assert surfaces(query) == ["what", "is", "it"]
    assert query.stop_terms == ()
    assert surfaces(understand("什么")) == ["什么"]


def test_stop_words_are_kept_apart():
    assert [term.surface for term in understand("when is lunch").stop_terms] == ["when", "is"]


@pytest.mark.parametrize("text", ["", "   ", "?!", "-> ***", "\x00", "\ud800"], ids=ascii)
def test_a_text_without_words_has_no_terms(text: str):
    query = understand(text)
    assert query.terms == query.stop_terms == query.tokens == ()
    assert match_expression(query) is None
    assert coverage(query, frozenset({"a"}), {}) == 0


@pytest.mark.parametrize(
    "text",
    [
        "When did we move?", "What's the plan, and when is it", "what date is it due", "tell me when",
        "which day was it", "Wanneer kwam Jan?", "hoe laat is het", "Wann war das?", "Quand est-ce ?",
        "à quelle heure", "¿Cuándo llega?", "什么时候开会", "会議はいつですか", "何曜日", "언제 와?", "เมื่อไหร่", "когда",
    ],
)  # fmt: skip
def test_a_query_may_ask_when(text: str):
    assert understand(text).asks_when


@pytest.mark.parametrize(
    "text",
    [
        "What do I eat when I am sad?",
        "whenever",
        "the Dutch wanneers",
        "いつも何を食べる",
        "updated",
        "",
    ],
)
def test_not_every_when_is_a_question(text: str):
    assert not understand(text).asks_when


@pytest.mark.parametrize(
    "text",
    [
        "How many dogs?", "how  much", "HOW LONG", "how old is Ana", "how often", "what is the number of rows",
        "hoeveel honden", "hoe vaak", "Wie viele Hunde", "wieviel", "wie groß ist es", "combien de chats",
        "quel âge a-t-il", "¿cuántos años?", "端口是多少", "有几个数据库", "いくつ", "何人", "몇 명", "กี่คน", "сколько",
    ],
)  # fmt: skip
def test_a_query_may_ask_for_a_quantity(text: str):
    assert understand(text).asks_quantity


@pytest.mark.parametrize(
    "text",
    ["How does it work?", "many dogs", "wie heißt der Hund", "hoe heet ze", "这个数据库", ""],
)
def test_not_every_how_asks_for_a_quantity(text: str):
    assert not understand(text).asks_quantity


# ---------------------------------------------------------------- coverage


def covered(query: str, statement: str, rarities: dict[str, float] | None = None) -> float:
    return coverage(understand(query), frozenset(tokens(statement)), rarities or {})


def test_coverage_is_the_share_of_words_weighted_by_rarity():
    assert covered("red bicycle", "a red car") == 0.5
    assert covered("red bicycle", "a red car", {"red": 1.0, "bicycl": 3.0}) == 0.25
    assert covered("red bicycle", "bicycles are red") == 1.0
    assert covered("red bicycle", "nothing") == 0.0


def test_a_token_without_a_rarity_counts_as_the_rarest():
    assert covered("red bicycle zebra", "red", {"red": 1.0, "bicycl": 2.0}) == pytest.approx(1 / 5)


def test_a_compound_counts_as_one_word():
    assert covered("foo-bar zebra", "zebra") == pytest.approx(0.5)
    assert (
        covered("foo-bar zebra", "foo-bar")
        == covered("foo-bar zebra", "bar of foo")
        == pytest.approx(0.5)
    )
    assert covered("foo-bar", "foo") == pytest.approx(0.5)
    assert (
        covered("e-mail", "email")
        == covered("useEffect", "use the effect")
        == covered("64GB", "64 GB")
        == 1.0
    )


def test_an_unseen_whole_does_not_outweigh_its_common_parts():
    rarities = {"exu2dmail": 9.0, "email": 9.0, "e": 1.0, "mail": 2.0, "zebra": 2.0}
    assert covered("e-mail zebra", "zebra", rarities) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("query", "statement"), [("2026-03-02", "2026-02-03"), ("10.1.1.2", "2.1.1.10"), ("C++", "C")]
)
def test_the_parts_of_a_number_are_half_of_it_at_most(query: str, statement: str):
    assert covered(query, statement) == 0.5
    assert covered(query, query) == 1.0


def test_a_run_is_covered_by_its_characters():
    assert covered("项目数据库", "项目使用向量数据库") == 1.0
    assert covered("数据库", "数据很多") == pytest.approx(2 / 3)
    assert covered("我们用什么数据库", "项目使用向量数据库") == 1.0


def test_a_long_run_does_not_drown_the_other_words():
    run = "项目记忆系统使用向量数据库"
    assert 0.15 < covered(f"SQLite {run}", "SQLite") < 0.5


@given(nasty, st.dictionaries(st.text(max_size=3), st.floats(0.01, 12)))
def test_a_text_covers_itself(text: str, rarities: dict[str, float]):
    assert covered(text, text, rarities) == pytest.approx(1.0 if understand(text).terms else 0.0)


@given(nasty, nasty, nasty)
def test_coverage_stays_within_bounds_and_grows_with_the_statement(
    query: str, one: str, other: str
):
    less, more = covered(query, one), covered(query, f"{one} {other}")
    assert 0.0 <= less <= more + 1e-9 <= 1.0 + 2e-9


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_rarity_is_positive_and_falls_with_frequency(frequency: int, documents: int):
    assert rarity(frequency, documents) > 0
    assert rarity(frequency, documents) >= rarity(frequency + 1, documents)


@pytest.mark.slow
def test_a_stretch_of_particles_takes_time_in_proportion_to_its_length():
    assert_grows_with_size(understand, lambda length: "本" + "のに" * length + "ゑ", small=1000)


@pytest.mark.parametrize(
    "question", ["port du serveur", "de poort van de server", "der Port des Servers"]
)
def test_short_foreign_questions_keep_their_content_words_only(question):
    assert not {"du", "de", "der", "des"} & {term.surface for term in understand(question).terms}


def test_a_numbered_name_is_not_nearly_its_neighbour():
    query = understand("db3 port")
    rarities = dict.fromkeys(query.tokens, 1.0)
    assert coverage(query, frozenset({"db2", "db", "2", "port"}), rarities) <= 0.5
    assert coverage(query, frozenset({"db3", "db", "3", "port"}), rarities) == 1.0


def test_known_share_is_what_the_words_that_notes_have_carry():
    query = understand("Baikal depth")
    baikal, depth = (term.tokens for term in query.terms)
    both = {baikal[0]: 3, depth[0]: 3}
    assert known_share(query, both, 1000) == 1
    assert known_share(query, {}, 1000) == 0
    half = known_share(query, {baikal[0]: 3}, 1000)
    common = known_share(query, {baikal[0]: 900}, 1000)
    assert 0 < common < half < 0.5


def test_known_share_of_a_query_without_words_is_whole():
    assert known_share(understand("?"), {}, 1000) == 1
