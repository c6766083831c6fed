"""Text as tokens for keyword search: what counts as a word, in every script.

The FTS5 table splits on white space only, so this module alone decides what a token is, for notes and
queries alike. Tokens hold letters, digits and their marks, nothing that FTS5 could take for syntax: other
characters are spelled `xu` + hex (`C++` is `cxu2bxu2b`). It must not know of SQL, queries or ranking.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from itertools import pairwise
from typing import Literal

import Stemmer

from retrieval.text.scripts import EMOJI, JOINERS, PLAIN, RUN, fold, is_wordlike, main_script, units

Language = Literal["en", "nl", "de", "fr", "es", "zh", "ja", "ko", "th", "other"]
_LATIN_LANGUAGES: tuple[Language, ...] = ("en", "nl", "de", "fr", "es")

TOKEN_LIMIT = 64
# Longer pieces without a space are seldom met twice, so remembering them is waste.
_CACHED_LENGTH = 40
_CACHED_PIECES = 1 << 16
# Longer "identifiers" are keys and encoded data; their humps are noise.
_CAMEL_LIMIT = 40

_SEPARATORS = re.compile(r"([-_./:@+#&%$~=\\,]+)")
_KEPT_BEFORE = ("--", "::", ".", "-", ":", "#", "@", "$", "+")
_KEPT_AFTER = ("++", "+", "#", "%")
_THOUSANDS = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])")
_LOOSE_COMMA = re.compile(r"(?<!\d),|,(?!\d)|(?<=\d)'(?=\d)")
# l'hotel, qu'il, dell'arte: the article is no part of the word.
_ELISION = re.compile(r"(?:[ldjmtsnc]|qu|jusqu|lorsqu|puisqu|dell|all|nell|sull|dall|un)'(?=..)")
_HUMPS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_PLURAL_ACRONYM = re.compile(r"[A-Z]+s\d*")
_UNIT = re.compile(r"(\d+)([^\W\d_]+)|([^\W\d_]{2,})(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word of a text with every token that the index holds for it."""

    # The word without the punctuation around it, case kept.
    surface: str
    # Case and diacritics folded, not stemmed: the form that lists of stop words know.
    plain: str
    # Each of these alone stands for the word. Empty for a run of two or more characters.
    exact: tuple[str, ...]
    # These stand for the word together: a compound's parts, or a run's overlapping bigrams.
    parts: tuple[str, ...] = ()
    # Only the index holds these: a run's single characters, the humps of a compound's parts.
    inner: tuple[str, ...] = ()
    # A stretch of a script written without spaces (or Hangul), cut into bigrams.
    is_run: bool = False
    # Two or three plain words with hyphens between: `exact` holds the whole, then the form without hyphens.
    is_hyphenated: bool = False


def index_words(text: str) -> str:
    """The tokens of a text joined by single spaces, ready for the FTS5 table; "" when it has none."""
    return " ".join(
        filter(
            None,
            [_known(c) if len(c) <= _CACHED_LENGTH else _joined(c) for c in text.split()],
        )
    )


def tokens(text: str) -> list[str]:
    """Every token that the index holds for a text, in the order of its words, with repetitions.

    A compound gives its whole, then its parts; a run gives its bigrams, then its characters.
    Coverage by a statement is measured against this.
    """
    return index_words(text).split()


def iter_words(text: str) -> Iterator[Word]:
    """The words of a text in order; symbols without a letter or digit are none, emoji are."""
    return (word for piece in text.split() for word in _words_of(piece))


def run_word(run: str) -> Word:
    """A stretch of Han, kana, Hangul, Thai, Lao, Khmer or Myanmar as a word; `run` is not empty."""
    found = units(run)
    if len(found) == 1:
        return Word(surface=run, plain=run, exact=(_cut(run),), is_run=True)
    bigrams = tuple(_cut(a + b) for a, b in pairwise(found))
    inner = tuple(_cut(unit) for unit in found)
    return Word(surface=run, plain=run, exact=(), parts=bigrams, inner=inner, is_run=True)


def is_stop(word: str, language: Language = "en") -> bool:
    """Whether a word (as written, not stemmed) carries no meaning of its own in a text of that language.

    One language's list is asked at a time: `die`, `war`, `hat`, `van`, `door` are content in English.
    Text in a script of its own is asked about its Latin words as English. A few words that English
    lacks (`du`, `der`, `het`) are stop words in any text: a short question gives its language no other sign.
    """
    plain = _as_listed(word)
    if plain in stop_words(language) or plain in _foreign_to_english():
        return True
    return language not in _LATIN_LANGUAGES and plain in stop_words("en")


@cache
def _foreign_to_english() -> frozenset[str]:
    return frozenset(map(_as_listed, _lists()["foreign_to_english"].split()))


@cache
def stop_words(language: Language) -> frozenset[str]:
    """The stop words of a language, folded and without apostrophes; none for `other`."""
    listed = _lists().get(language, "").split()
    return frozenset(map(_as_listed, listed))


@lru_cache(maxsize=_CACHED_PIECES)
def _as_listed(word: str) -> str:
    return fold(word.translate(PLAIN).replace("'", ""))


@cache
def edge_particles(language: Language) -> tuple[str, ...]:
    """Particles to be cut from the end of a Chinese or Korean run, longest first."""
    listed = _lists().get(f"{language}_edges", "").split()
    return tuple(sorted(listed, key=len, reverse=True))


@cache
def function_characters(language: Language) -> frozenset[str]:
    """Characters that are function words where they stand by themselves between other words."""
    return frozenset(_lists().get(f"{language}_alone", "").split())


def language_of(text: str) -> Language:
    """A rough guess, good enough to choose stop words: by script, then by function words.

    A stop word of several languages (`is`, `in`) speaks for each alike. A word that English has in
    another sense (`die`, `war`, `van`) is no sign by itself; several of them break the tie of a
    question such as `Wie is de baas van Anna?`. Latin text without a clear sign is taken for English.
    """
    script = main_script(text)
    if script is not None:
        return script
    seen = [plain for piece in text[:2000].split() for plain in _plain_words(piece)]
    scores = dict.fromkeys(_LATIN_LANGUAGES, 0.0)
    for plain in seen:
        for language in (holders := _clues().get(plain, ())):
            scores[language] += 1 / len(holders)
    scores["de"] += text.count("ß")
    scores["es"] += sum(text.count(sign) for sign in "¿¡ñ")
    faint = Counter(language for plain in set(seen) for language in _faint_clues().get(plain, ()))

    def standing(language: Language) -> tuple[float, int]:
        # Without any clearer sign `van door repair` has two of them and is English.
        enough = 2 if scores[language] else 3
        return scores[language], faint[language] if faint[language] >= enough else 0

    return max(_LATIN_LANGUAGES, key=standing)


def _plain_words(piece: str) -> tuple[str, ...]:
    """The words of a piece of text without white space, folded."""
    return _known_plain(piece) if len(piece) <= _CACHED_LENGTH else _folded(piece)


@lru_cache(maxsize=_CACHED_PIECES)
def _known_plain(piece: str) -> tuple[str, ...]:
    return _folded(piece)


def _folded(piece: str) -> tuple[str, ...]:
    return tuple(word.plain for word in _words_of(piece))


@cache
def _clues() -> dict[str, tuple[Language, ...]]:
    """For each function word of a Latin-script language, the languages that it is a sign of."""
    return _holders(but=_other_in_english())


@cache
def _faint_clues() -> dict[str, tuple[Language, ...]]:
    """The same for function words that English has in another sense."""
    return {word: held for word, held in _holders().items() if word in _other_in_english()}


@cache
def _other_in_english() -> frozenset[str]:
    return frozenset(_lists()["english_too"].split()) - stop_words("en")


def _holders(but: frozenset[str] = frozenset()) -> dict[str, tuple[Language, ...]]:
    holders: dict[str, list[Language]] = {}
    for language in _LATIN_LANGUAGES:
        for word in stop_words(language) - but:
            holders.setdefault(word, []).append(language)
    return {word: tuple(languages) for word, languages in holders.items()}


@cache
def _lists() -> dict[str, str]:
    text = resources.files(__package__).joinpath("stopwords.toml").read_text(encoding="utf-8")
    return {name: str(listed) for name, listed in tomllib.loads(text).items()}


@lru_cache(maxsize=_CACHED_PIECES)
def _known(piece: str) -> str:
    return _joined(piece)


def _joined(piece: str) -> str:
    if piece.isascii() and piece.isalpha() and (piece.islower() or piece.istitle()):
        return _cut(_stem(piece.lower()))
    found = _words_of(piece)
    return " ".join(token for word in found for token in (*word.exact, *word.parts, *word.inner))


def _words_of(piece: str) -> list[Word]:
    """The words of a piece of text without white space."""
    if piece.isascii():
        return _spelled_words(piece)
    found: list[Word] = []
    for at, part in enumerate(EMOJI.split(unicodedata.normalize("NFKC", piece))):
        if at % 2:
            found.append(_emoji_word(part))
        elif part:
            found.extend(_scripted_words(part.translate(PLAIN)))
    return found


def _scripted_words(text: str) -> list[Word]:
    found: list[Word] = []
    at = 0
    for run in RUN.finditer(text):
        found.extend(_spelled_words(text[at : run.start()]))
        found.append(run_word(run[0]))
        at = run.end()
    found.extend(_spelled_words(text[at:]))
    return found


def _emoji_word(sequence: str) -> Word:
    # With or without the variation selector it is the same picture.
    code = _cut("".join(c if c.isdigit() else _spelled(c) for c in sequence.replace("\ufe0f", "")))
    return Word(surface=sequence, plain=sequence, exact=(code,))


def _spelled_words(text: str) -> list[Word]:
    if "," in text or "'" in text:
        text = _THOUSANDS.sub(lambda number: number[0].replace(",", ""), text)
        text = _LOOSE_COMMA.sub(" ", text)
    found = (_spelled_word(segment) for segment in text.translate(PLAIN).split())
    return [word for word in found if word is not None]


def _spelled_word(segment: str) -> Word | None:
    """A word of a script with spaces, with the joiners around and inside it; None for joiners alone."""
    core = segment.strip(JOINERS)
    if not core:
        return None
    start = segment.index(core)
    lead, trail = segment[:start], segment[start + len(core) :]
    before = next((kept for kept in _KEPT_BEFORE if lead.endswith(kept)), "")
    after = next((kept for kept in _KEPT_AFTER if trail.startswith(kept)), "")
    split = _SEPARATORS.split(core)
    pieces = [_without_apostrophes(piece) for piece in split[::2]]
    if len(pieces) == 1 and not before and not after:
        return _single_word(pieces[0])
    folded = [fold(piece) for piece in pieces]
    if not any(map(_is_word, folded)):
        return None
    separators = [*split[1::2], ""]
    whole = "".join(p + s for p, s in zip(folded, separators, strict=True))
    joined = _joined_form(folded, separators)
    exact = [_encoded(before + whole + after), *joined]
    parts = [_cut(_stem(piece)) for piece in folded if _is_word(piece)]
    inner = [hump for piece in pieces for hump in _humps(piece)]
    return Word(
        surface=before + core + after,
        plain=before + whole + after,
        exact=_unique(exact),
        parts=_unique(parts),
        inner=tuple(token for token in _unique(inner) if token not in parts),
        is_hyphenated=bool(joined) and not before and not after and {*separators} == {"-", ""},
    )


def _single_word(piece: str) -> Word | None:
    plain = fold(piece)
    if not _is_word(plain):
        return None
    exact = _cut(_stem(plain))
    parts = tuple(token for token in _unique(_humps(piece)) if token != exact)
    return Word(surface=piece, plain=plain, exact=(exact,), parts=parts)


def _joined_form(pieces: list[str], separators: list[str]) -> list[str]:
    """`email` for `e-mail`, `wifi` for `Wi-Fi`: writers don't agree on the hyphen."""
    if len(pieces) > 3 or not {*separators} <= {"-", "_", ""}:
        return []
    joined = "".join(pieces)
    return [_cut(_stem(joined))] if len(pieces) > 1 and joined.isalpha() else []


def _without_apostrophes(piece: str) -> str:
    if "'" not in piece:
        return piece
    piece = piece.strip("'")
    if piece[-2:].lower() == "'s":
        piece = piece[:-2]
    if (elided := _ELISION.match(piece.lower())) is not None:
        piece = piece[elided.end() :]
    return piece.replace("'", "")


def _humps(piece: str) -> list[str]:
    """`use`, `effect` of `useEffect`; `64`, `gb` of `64GB`; nothing for a plain word."""
    if len(piece) > _CAMEL_LIMIT or _PLURAL_ACRONYM.fullmatch(piece):
        return []
    if (unit := _UNIT.fullmatch(piece)) is not None:
        return [_stem(fold(side)) for side in unit.groups() if side]
    if not piece.isascii() or piece[1:].islower() or piece.isupper() or piece.islower():
        return []
    humps = [str(hump) for hump in _HUMPS.findall(piece)]
    return [_stem(hump.lower()) for hump in humps] if len(humps) > 1 else []


def _stem(plain: str) -> str:
    """The stem of a folded word, by Porter's rules, if it is Latin letters only; else the word itself."""
    if len(plain) < 3 or not plain.isascii() or not plain.isalpha():
        return plain
    # Making a stemmer costs less than a microsecond; sharing one between threads is not safe.
    return str(Stemmer.Stemmer("porter", 0).stemWord(plain[:TOKEN_LIMIT]))


def _is_word(folded: str) -> bool:
    # A mark by itself, as of a decomposed `¯`, is none.
    return folded.isalnum() or any(map(str.isalnum, folded))


def _encoded(text: str) -> str:
    return _cut("".join(c if is_wordlike(c) else _spelled(c) for c in text[:TOKEN_LIMIT]))


def _spelled(symbol: str) -> str:
    return f"xu{ord(symbol):x}"


def _cut(token: str) -> str:
    return token[:TOKEN_LIMIT]


def _unique(found: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found))
