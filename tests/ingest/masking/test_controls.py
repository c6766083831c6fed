import pytest

from ingest.masking.controls import cut_payloads, drop_controls


def test_base64_payload_is_cut_off():
    assert (
        cut_payloads("![x](data:image/png;base64,iVBORw0KGgo=) end")
        == "![x](data:image/png;base64,) end"
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("bell\x07", "bell"),
        ("a\u202eb\u2066c\u2069", "abc"),
        ("x\U000e0041\U000e007fy", "xy"),
        ("before\x00after", "before after"),
        ("a\x0cb\u2028c", "a b c"),
        ("tab\tand\nline stay, \u200d too", "tab\tand\nline stay, \u200d too"),
    ],
)
def test_characters_that_act_are_dropped(text, shown):
    assert drop_controls(text) == shown
