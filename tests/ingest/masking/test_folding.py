import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.masking.folding import fold


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("Password", "Password"),
        ("ｐａｓｓｗｏｒｄ：", "password:"),
        ("pass\u200bwo\u00adrd", "password"),
        ("contrasen\u0303a contraseña", "contrasena contrasena"),
        ("a\u00a0b\u3000c", "a b c"),
        ("비밀번호 密码", "비밀번호 密码"),
        ("line\r\nline", "line\r\nline"),
    ],
)
def test_text_is_spelled_plainly(written, plain):
    assert fold(written).text == plain


def test_accent_that_stands_by_itself_keeps_places_true():
    folded = fold("e\u0301 pass\u200bword: x")
    at = folded.text.index("x")
    assert "e\u0301 pass\u200bword: x"[folded.origin(at) : folded.origin(at + 1)] == "x"


@given(st.text())
def test_each_character_comes_from_its_place_and_line_ends_stay(text):
    folded = fold(text)
    origins = [folded.origin(at) for at in range(len(folded.text) + 1)]
    assert origins[-1] == len(text)
    assert origins == sorted(set(origins))
    for mark in "\r\n":
        assert folded.text.count(mark) == text.count(mark)
