"""What characters are, apart from words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.text.scripts import EMOJI, PLAIN, RUN, fold, is_wordlike, main_script, units

any_text = st.text(st.characters(exclude_categories=()), max_size=60)


@given(any_text)
def test_folding_twice_changes_nothing_more_about_case(text: str):
    assert fold(fold(text)).casefold() == fold(fold(text))


@given(st.text(st.sampled_from("กรุงเทพที่าำ한글かが漢"), max_size=20))
def test_units_put_together_are_the_run(run: str):
    assert "".join(units(run)) == run


@given(any_text)
def test_plain_text_has_no_invisible_and_no_foreign_symbol(text: str):
    plain = text.translate(PLAIN)
    assert all(is_wordlike(c) or c in " -_./:@+#&%$~=\\,'" for c in plain)


@pytest.mark.parametrize("picture", ["👩‍❤️‍💋‍👩", "🇫🇷", "#️⃣", "✊🏿", "🏴󠁧󠁢󠁳󠁣󠁴󠁿"])
def test_an_emoji_is_matched_whole(picture: str):
    assert EMOJI.fullmatch(picture)


def test_plain_digits_and_letters_are_no_emoji():
    assert EMOJI.search("1 # * a é 数 © → €") is None


@pytest.mark.parametrize(
    "run", ["数据库", "東京オフィス", "々〇", "서울", "กรุงเทพ", "ພາສາລາວ", "ភាសាខ្មែរ", "မြန်မာ"]
)
def test_scripts_without_spaces_are_runs(run: str):
    assert RUN.fullmatch(run)


@pytest.mark.parametrize("text", ["café", "привет", "שלום", "हिन्दी", "42"])
def test_scripts_with_spaces_are_no_runs(text: str):
    assert RUN.search(text) is None


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("", None),
        ("42", None),
        ("Ångström Việt", None),
        ("漢字かな", "ja"),
        ("漢字", "zh"),
        ("кот", "other"),
        ("กา", "th"),
    ],
)
def test_the_main_script_is_the_one_with_most_letters(text: str, script: str | None):
    assert main_script(text) == script
