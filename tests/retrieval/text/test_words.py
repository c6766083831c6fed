"""What a token is: compounds, scripts without spaces, emoji, stems, stop words, languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.text.words import (
    TOKEN_LIMIT,
    fold,
    index_words,
    is_stop,
    iter_words,
    language_of,
    run_word,
    stop_words,
    tokens,
)
from tests.growth import assert_grows_with_size

# Lone surrogates and control characters too: a note may hold anything.
any_text = st.text(st.characters(exclude_categories=()), max_size=60)


def allowed(char: str) -> bool:
    import unicodedata

    return char.isalnum() or unicodedata.category(char)[0] in "LNM"


@given(any_text)
def test_tokens_hold_letters_digits_and_their_marks_only(text: str):
    for token in tokens(text):
        assert 0 < len(token) <= TOKEN_LIMIT
        assert all(allowed(char) for char in token), token


@given(any_text)
def test_index_words_are_the_tokens_joined_by_single_spaces(text: str):
    assert index_words(text) == " ".join(tokens(text))


@given(any_text, any_text)
def test_texts_side_by_side_have_the_tokens_of_both(one: str, other: str):
    assert tokens(f"{one}\n{other}") == tokens(one) + tokens(other)


@given(any_text)
def test_words_hold_the_tokens_that_the_index_holds(text: str):
    held = {token for word in iter_words(text) for token in (*word.exact, *word.parts, *word.inner)}
    assert held == set(tokens(text))


@pytest.mark.parametrize(
    "same", [("don't", "don’t", "DON'T", "dont"), ("e-mail", "e‐mail"), ("ﬁle", "file", "FILE")]
)
def test_spellings_of_one_word_share_their_tokens(same: tuple[str, ...]):
    assert len({tuple(tokens(text)) for text in same}) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Running runs", ["run", "run"]),
        ("café CAFÉ cafe\u0301", ["cafe"] * 3),
        ("Straße Łódź søk Œuvre", ["strass", "lodz", "sok", "oeuvr"]),
        ("Ana's dogs' James's", ["ana", "dog", "jame"]),
        ("l'hôtel d’hiver qu'Anna", ["hotel", "hiver", "anna"]),
        ("foto's", ["foto"]),
        ("1,200 users", ["1200", "user"]),
        ("привет Ёлка Йод", ["привет", "елка", "йод"]),
        ("שָׁלוֹם مُحَمَّد", ["שלום", "محمد"]),
        ("(python) “quoted” **bold** [[Note|alias]]", ["python", "quot", "bold", "note", "alia"]),
        ("हिन्दी", ["हिन्दी"]),
        ("IDs URLs", ["id", "url"]),
    ],
)
def test_a_word_gives_its_folded_stem(text: str, expected: list[str]):
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "whole", "parts"),
    [
        ("C++", "cxu2bxu2b", {"c"}),
        ("C#", "cxu23", {"c"}),
        (".NET", "xu2enet", {"net"}),
        ("GB/s", "gbxu2fs", {"gb", "s"}),
        ("host:8080", "hostxu3a8080", {"host", "8080"}),
        ("v2.5", "v2xu2e5", {"v2", "5"}),
        ("e-mail", "exu2dmail", {"mail"}),
        ("foo-bar", "fooxu2dbar", {"foo", "bar"}),
        ("a@b.c", "axu40bxu2ec", {"a", "b", "c"}),
        ("foo_bar", "fooxu5fbar", {"foo", "bar"}),
        ("3.14", "3xu2e14", {"3", "14"}),
        ("2026-03-02", "2026xu2d03xu2d02", {"2026", "03", "02"}),
        ("192.168.1.1", "192xu2e168xu2e1xu2e1", {"192", "168", "1"}),
        ("--force", "xu2dxu2dforce", {"forc"}),
        (":help", "xu3ahelp", {"help"}),
        (":cq", "xu3acq", {"cq"}),
        ("useEffect", "useeffect", {"us", "effect"}),
        ("HTTPServer", "httpserver", {"http", "server"}),
        ("64GB", "64gb", {"64", "gb"}),
        ("Python3", "python3", {"python", "3"}),
        ("std::vector", "stdxu3axu3avector", {"std", "vector"}),
    ],
)
def test_a_compound_gives_its_whole_and_its_parts(text: str, whole: str, parts: set[str]):
    for dressed in (text, f"({text}),", f"`{text}`.", f"“{text}”", f"**{text}**"):
        found = tokens(dressed)
        assert found[0] == whole
        assert parts <= set(found)
    assert len(list(iter_words(text))) == 1


def test_a_hyphen_may_be_left_out():
    assert "email" in tokens("e-mail")
    assert {"wifi"} <= set(tokens("Wi-Fi")) & set(tokens("WiFi")) & set(tokens("wifi"))


def test_a_long_key_has_no_humps():
    key = "aBcDeFgHiJ" * 5
    assert tokens(key) == tokens(key.lower())


def test_symbols_alone_are_no_words():
    assert tokens("-> && *** ... -- | ^ ( ) \x00 \ud800 \u200b") == []


def test_a_run_gives_bigrams_and_single_characters():
    assert tokens("数据库") == ["数据", "据库", "数", "据", "库"]
    assert tokens("서울에") == ["서울", "울에", "서", "울", "에"]
    assert tokens("が") == tokens("か\u3099") == tokens("ｶﾞ".replace("ｶﾞ", "が")) == ["が"]


def test_a_thai_character_keeps_its_vowels_and_tones():
    assert "กรุ" in tokens("กรุงเทพ")
    assert run_word("รุ").exact == ("รุ",)


def test_scripts_are_parted_where_they_meet():
    assert tokens("使用SQLite数据库") == tokens("使用 SQLite 数据库")
    assert "xu3ahelp" in tokens("使用:help命令")


@pytest.mark.parametrize("emoji", ["🚀", "👨‍👩‍👧", "🇳🇱", "1️⃣", "👍🏽", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏳️‍🌈", "❤️"])
def test_an_emoji_is_one_token(emoji: str):
    assert len(tokens(emoji)) == 1
    assert tokens(f"go{emoji}now {emoji}{emoji}") == [
        "go",
        *tokens(emoji),
        "now",
        *tokens(emoji) * 2,
    ]


def test_flags_and_families_share_nothing_with_their_members():
    assert len({*tokens("🇳🇱🇩🇪"), *tokens("🇳🇩"), *tokens("🇱🇪")}) == 4
    assert not {*tokens("👨‍👩‍👧")} & {*tokens("👨 👩 👧")}
    assert tokens("❤️") == tokens("❤")


@pytest.mark.parametrize(
    "word", ["die", "war", "hat", "van", "door", "kind", "boot", "monde", "fin"]
)
def test_another_languages_stop_words_are_content_in_english(word: str):
    assert not is_stop(word)
    assert language_of(f"the {word} in Germany") == language_of(word) == "en"


@pytest.mark.parametrize(
    ("word", "language"),
    [
        ("the", "en"), ("Don’t", "en"), ("van", "nl"), ("door", "nl"), ("die", "de"), ("für", "de"), ("FÜR", "de"),
        ("où", "fr"), ("qué", "es"), ("什么", "zh"), ("怎么", "zh"), ("是的", "zh"), ("です", "ja"), ("ます", "ja"),
        ("する", "ja"), ("こと", "ja"), ("the", "zh"), ("언제", "ko"), ("อะไร", "th"),
    ],
)  # fmt: skip
def test_stop_words_belong_to_a_language(word: str, language: str):
    assert is_stop(word, language)  # type: ignore[arg-type]


def test_a_word_whose_stem_is_a_stop_words_stem_is_content():
    assert tokens("hi") == tokens("his")
    assert is_stop("his")
    assert not is_stop("hi")


def test_every_list_is_of_a_useful_size():
    sizes = {language: len(stop_words(language)) for language in ("en", "nl", "de", "fr", "es")}
    assert all(80 <= size <= 190 for size in sizes.values()), sizes


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Where did I park the car?", "en"), ("SQLite port", "en"), ("", "en"), ("🚀 42", "en"),
        ("die hard", "en"), ("war crimes in Germany", "en"), ("what was in the van", "en"),
        ("Hoe heet mijn hond?", "nl"), ("welke kleur heeft de fiets", "nl"), ("Wanneer is het overleg", "nl"),
        ("Waar is de fiets", "nl"), ("Wie is de baas van Anna?", "nl"), ("Wat is de hoogste berg?", "nl"),
        ("Was ist der Name", "de"), ("Wie war der Film", "de"), ("van door repair", "en"), ("is door open", "en"),
        ("how old is van Gogh", "en"), ("Battle of Waterloo", "en"),
        ("Wann war das Treffen?", "de"), ("Wo ist die Straße", "de"), ("welchen Wein trinkt Anna", "de"),
        ("Où est le chat ?", "fr"), ("Quelle est la capitale", "fr"), ("combien coûte l'hôtel", "fr"),
        ("¿Dónde está mi perro?", "es"), ("cuando es la cita con Ana", "es"),
        ("我们用什么数据库", "zh"), ("SQLite 数据库", "zh"), ("what does 数据库 mean", "en"),
        ("会議はいつですか", "ja"), ("서버는 어디에 있습니까", "ko"), ("ไฟล์อยู่ที่ไหน", "th"), ("Где мой кот", "other"),
        ("أين القط", "other"),
    ],
)  # fmt: skip
def test_the_language_is_guessed_by_script_and_function_words(text: str, language: str):
    assert language_of(text) == language


def test_folding_leaves_the_marks_that_make_other_letters():
    assert fold("É Å ё й が 한 ที่ हि") == "e a е й が 한 ที่ हि"


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["aB3/+", "1,", "a'", "-a", "🚀\u200d", "é", "数"])
def test_a_piece_without_spaces_takes_time_in_proportion_to_its_length(piece: str):
    assert_grows_with_size(index_words, lambda length: piece * (length // len(piece)), small=5000)
