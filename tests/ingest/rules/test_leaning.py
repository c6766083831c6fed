from __future__ import annotations

import pytest

from ingest.rules.leaning import leans


@pytest.mark.parametrize(
    "text",
    [
        "It does.",
        "Het werkt.",
        "Deze is nieuw.",
        "Dies gilt.",
        "Elle est là.",
        "它在这里。",
        "それは本だ。",
        "“They left.”",
    ],
)
def test_words_that_point_back_lean(text):
    assert leans(text)


@pytest.mark.parametrize(
    "text",
    [
        "Itself a wonder.",
        "Thisbe waits.",
        "Esel sind grau.",
        "Paris est grand.",
        "Het magazijn is vol.",
        "Die Katze schläft.",
        "Er zijn drie deuren.",
        "Es gibt Brot.",
        "Il y a du pain.",
    ],
)
def test_words_that_only_begin_alike_do_not_lean(text):
    assert not leans(text)
