"""Which language a question is in, of those for which a threshold can be measured.

It tells more languages apart than the choice of stop words needs, and says so when it can't tell. It must not know of
thresholds, notes or models.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from retrieval.text.remembering import remembered
from retrieval.text.scripts import main_script
from retrieval.text.words import Language, iter_words, language_of, stop_words

# A code such as `en`; `latin` for Latin letters that tell no language.
Tongue = str

LATIN: tuple[Tongue, ...] = ("en", "nl", "de", "fr", "es", "it", "pt")

# What is in none: a word or two that a memory has in no form.
UNKNOWN: Tongue = "unknown"

# Function words of the Latin languages that no list of stop words is of, those that other languages share among them.
_ITALIAN = """
il lo gli di del dello della dei degli delle dal dalla dai nel nella nei nelle sul sulla al alla ai alle che chi cosa
quale quali quando quanto quanta quanti quante come dove perche e ed un una uno con per si sono era erano ha hanno
stato stata mio mia suo sua nostro questo questa quello quella ogni anche piu non mi ti ci vi ne se da la le a i
"""
_PORTUGUESE = """
o os um uma uns umas do dos da das no nos na nas ao aos pelo pela pelos pelas que quem qual quais quando quanto quanta
quantos quantas como onde porque por e em com se foi foram era eram tem sao esta estao meu minha seu sua nosso nossa
este esta esse essa isto isso aquele aquela cada tambem mais nao eu ele ela voce deve ha para de a as
"""
_CYRILLIC_AND_ARABIC: tuple[tuple[str, Tongue], ...] = (("CYRILLIC", "ru"), ("ARABIC", "ar"))


@remembered(1000)
def tongue_of(text: str) -> Tongue | None:
    """The language of a question: `latin` where its letters are Latin and no word tells more, None where nothing does.

    Cyrillic counts as Russian, and Arabic script as Arabic, whatever is written in it.
    """
    script = main_script(text)
    if script == "other":
        return _by_letters(text)
    if script is not None:
        return script
    words = {word.plain for word in iter_words(text[:2000])}
    if not any(map(str.isalpha, "".join(words))):
        return None
    guess = language_of(text)
    held = {language: len(words & own) for language, own in _further().items()}
    known = len(words & stop_words(guess)) + _signs(guess, text)
    best = max(held, key=lambda language: held[language])
    if held[best] > max(known, 1):
        return best
    return guess if known else "latin"


def _signs(guess: Language, text: str) -> int:
    """Letters that tell a language by themselves."""
    return text.count("ß") if guess == "de" else text.count("¿") if guess == "es" else 0


def _by_letters(text: str) -> Tongue | None:
    names = [unicodedata.name(char, "") for char in text[:2000] if char.isalpha()]
    counted = {
        language: sum(name.startswith(script) for name in names)
        for script, language in _CYRILLIC_AND_ARABIC
    }
    best = max(counted, key=lambda language: counted[language])
    return best if counted[best] else None


@cache
def _further() -> dict[Tongue, frozenset[str]]:
    return {"it": frozenset(_ITALIAN.split()), "pt": frozenset(_PORTUGUESE.split())}
