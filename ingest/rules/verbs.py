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
# What begins so has a verb, though it may be none of those that are known.
_SUBJECT = re.compile(
    r"(?:the|a|an|my|our|your|his|her|their|i|we|you|he|she|it|they|de|het|een|mijn|ons|onze|wij|we|ik|der|die|das|ein|eine"
    r"|mein|meine|unser|unsere|wir|ich|er|sie|es|le|la|les|un|une|mon|ma|notre|nous|je|il|elle|el|los|las|una|mi)\s",
    re.IGNORECASE,
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


def opens_with_subject(text: str) -> bool:
    """Whether a text opens as a sentence with a verb does: with an article, a possessive or a pronoun."""
    return _SUBJECT.match(text) is not None
