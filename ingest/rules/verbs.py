"""Words that show that a text is a sentence: common verbs of the languages that have a list here.

Nothing else of grammar is known here.
"""

from __future__ import annotations

import re

_VERBS = frozenset(
    """
    is are was were be been has have had do does did can could will would should must may might need
    needs use uses run runs
     make makes get gets go goes went mean means give gives take takes keep keeps let lets allow allows require requires
    like likes love loves prefer prefers want wants own owns live lives work works cost costs weigh
    weighs contain contains
    support supports fail fails broke
    zijn wordt worden werd heeft hebben kan kunnen moet moeten mag zal zou gaat ging staat ligt komt geeft maakt doet
    werkt draait
    ist sind war waren wird werden wurde hat haben hatte kann können muss müssen soll darf geht steht liegt kommt macht
    läuft gibt
    est sont était étaient sera peut peuvent doit doivent fait va ont avait permet
    """.split()  # noqa: SIM905 - a word list is read more easily as text
)
_LETTERS = re.compile(r"[^\W\d_]+")


def known_verbs(text: str) -> frozenset[str]:
    """The words of a text that are common verbs, in small letters."""
    return _VERBS.intersection(_LETTERS.findall(text.lower()))


def has_verb(text: str) -> bool:
    """Whether a word of the sentence looks like a verb."""
    return bool(known_verbs(text)) or any(
        len(word) > 4 and word.endswith("ed") for word in _LETTERS.findall(text.lower())
    )
