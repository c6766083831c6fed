"""Short texts are worked out once, long ones each time, and a second argument is another question."""

from __future__ import annotations

from retrieval.text.remembering import remembered


def test_only_short_texts_are_kept_and_arguments_tell_calls_apart():
    asked = []

    @remembered(3)
    def told(text: str, number: int = 0) -> str:
        asked.append((text, number))
        return f"{text}{number}"

    assert [told("abc"), told("abc"), told("abc", 1), told("abcd"), told("abcd")] == [
        "abc0",
        "abc0",
        "abc1",
        "abcd0",
        "abcd0",
    ]
    assert asked == [("abc", 0), ("abc", 1), ("abcd", 0), ("abcd", 0)]
