"""The two bounds on tokens lie near each other in every script, and never cross."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.tokens import cut_to, fewest_tokens, most_tokens
from tests.growth import assert_grows_with_size


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox jumps over the lazy dog, again and again. ",
        "Het apparaat is vorige week dinsdag vervangen door een nieuwer model. ",
        "生产数据库运行在端口上，昨天部署失败了。",
        "データベースは昨日から止まっています。",
        "데이터베이스가 어제부터 멈춰 있습니다. ",
        "ฐานข้อมูลหยุดทำงานตั้งแต่เมื่อวาน ",
        "قاعدة البيانات متوقفة منذ الأمس. ",
        "for (const x of xs) { total += x.price * 1.21; }\n",
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n",
    ],
)
def test_bounds_are_within_a_factor_that_shows_a_cut_to_half(text):
    assert 0 < fewest_tokens(text * 50) <= most_tokens(text * 50) <= 6 * fewest_tokens(text * 50)


def test_blanks_and_rules_do_not_count_as_words():
    assert fewest_tokens(" \n\t" * 1000) == 0
    assert fewest_tokens("-" * 1000) == 1


@pytest.mark.slow
@given(st.text())
def test_bounds_never_cross(text):
    assert fewest_tokens(text) <= most_tokens(text)


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["a", "語", ". ", "a1"])
@pytest.mark.parametrize("count", [fewest_tokens, most_tokens])
def test_long_text_is_counted_in_its_own_time(count, piece):
    assert_grows_with_size(count, lambda length: piece * (length // len(piece)), small=10_000)


@given(st.text(), st.integers(0, 40))
def test_text_is_cut_to_a_beginning_that_fits(text, tokens):
    cut = cut_to(text, tokens)
    assert text.startswith(cut)
    assert most_tokens(cut) <= tokens
    assert most_tokens(text) > tokens or cut == text


def test_cut_uses_most_of_the_room_in_any_script():
    for text in (
        "The database listens on a port. " * 99,
        "数据库在端口上监听。" * 99,
        "พอร์ตของฐานข้อมูล" * 99,
    ):
        assert 80 < most_tokens(cut_to(text, 100)) <= 100
