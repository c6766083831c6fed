from __future__ import annotations

import pytest

from ingest.rules.greetings import behind_greeting


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("hi there is a new fact", "there is a new fact"),
        ("Hi there the pump is broken", "the pump is broken"),
        ("hallo allemaal", ""),
        ("Hi there, the pump is broken", ""),
        ("danke das ist nett", ""),
        ("Sure I can help", ""),
        ("The pump is broken", None),
        ("Hitherto the pump was new", None),
        ("你好", ""),
    ],
)
def test_what_a_greeting_opens(text, stated):
    assert behind_greeting(text) == stated
