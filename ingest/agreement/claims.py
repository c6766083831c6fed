"""One fact's wording, taken apart so that it can be compared with another's.

Two wordings have equal `signs` only when they say the same. What the comparison comes to is not known here.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from ingest.agreement.subjects import is_verb, subject_of
from retrieval.grounding.clauses import analyse
from retrieval.grounding.quantities import find_quantities
from retrieval.grounding.wording import (
    listed,
    modality_of,
    negation,
    predicates,
    updates,
    without_contractions,
)
from retrieval.text.scripts import RUN, fold, units

_ARTICLES = frozenset(
    (
        "the",
        "a",
        "an",
        "de",
        "het",
        "een",
        "der",
        "die",
        "das",
        "den",
        "dem",
        "des",
        "le",
        "la",
        "les",
    )
)
# Of these, what tells which part somebody has in it, so that one may not even be left out.
_CASES = frozenset(("der", "den", "dem", "des", "das"))
# After these `a` is no article: `a few` are some, `few` are not many.
_AMOUNTS = frozenset(("few", "little", "bit", "lot", "couple"))
# `__init__` is a name, not emphasis.
_EMPHASIS = re.compile(r"(?<!\w)(\*{1,3}|_)(?=[^\s_])([^*_\n]+?)(?<=\S)\1(?!\w)")
_COMMA = re.compile(r",(?=\s)|[，、]|(?<=[^\x00-\x7f]),")
_QUIET = re.compile(r"[,;:](?=\s|$)|[\"“”„«»「」『』]|(?<=[^\x00-\x7f])[,;:]|`")
# `rm -rf .` keeps its point.
_END = re.compile(r"(?<=[^\s./])\.+\s*$|[。！]+\s*$|(?<=[^\x00-\x7f])!+\s*$|\s+$")
# The mark of a sentence; `:q!`, `save!` and `5!` keep theirs.
_CALLED = re.compile(r"(?<=(?<!\w)[^\W\d_]{2})!+\s*$|(?<=[^\W\d_]{3})!+\s*$")
_LEAST_CALLED = 4
_RAISED = re.compile("[⁰¹²³⁴-⁹]+")
_KEEPS_CASE = re.compile(r"[a-z][A-Z]|[A-Z]{2}")
_COMMA_SIGN = "\x02"
_SPACED = re.compile(r"\s+")
_ASPECTS = re.compile("已经|已經|已|了|再|过|過|正在|ます|です|した|する|て")
# What Japanese verbs end with, other where they are denied: 使う, 使わない.
_INFLECTED = re.compile("(?<=[\u4e00-\u9fff])[ぁ-ゖ]{1,3}$")
_ORDER = re.compile(r"ください|下さい|なさい|^请|^請|(?<!\w)(?:[Pp]lease|[Bb]itte)(?!\w)")
_WRITERS = frozenset(("we", "wij", "wir", "i", "ik", "ich", "you"))
_AUXILIARIES = frozenset(
    (
        "do",
        "does",
        "did",
        "doe",
        "doet",
        "any",
        "anymore",
        "more",
        "longer",
        "meer",
        "langer",
        "mehr",
        "länger",
    )
)


@dataclass(frozen=True, slots=True)
class Side:
    """The wording of one claim, taken apart."""

    # Its words in order in a form that is equal only for what says the same.
    signs: tuple[str, ...]
    # The same without what says since when it holds.
    lasting: tuple[str, ...]
    content: frozenset[str]
    # Stems in order, without what denies or dates it.
    bare: tuple[str, ...]
    capitals: frozenset[str]
    negations: int
    modality: frozenset[str]
    cues: frozenset[str]
    predicate: frozenset[str]
    names: tuple[tuple[str, ...], ...]
    is_pronominal: bool
    # Whether it asks its reader to do something, in a language that says so.
    is_order: bool
    # Articles and commas, each with the place in `signs` where it stands.
    forms: frozenset[tuple[int, str]]
    # Who or what it is about, where that can be told.
    subject: tuple[str, ...] | None


def cues_in(text: str) -> frozenset[str]:
    """The kinds of words in it that say that something has changed: `moved to`, `replaced by`, `no longer`."""
    return frozenset(name for name, wording in updates().items() if wording.holds(text))


@lru_cache(maxsize=1 << 12)
def take_apart(text: str, entities: tuple[str, ...]) -> Side:
    """A claim's wording taken apart; `entities` are the names in it, as written."""
    analysed = analyse(text)
    tokens = [token for clause in analysed.clauses for token in clause.tokens]
    cues = cues_in(text)
    plain = without_contractions(unicodedata.normalize("NFKC", text))
    signs, forms = _signs_and_forms(text)
    return Side(
        signs=signs,
        forms=forms,
        lasting=signs_of(_without_since(text)) if "now" in cues else signs,
        content=frozenset(token.key for token in tokens if token.content),
        bare=_bare(plain),
        capitals=frozenset(t.key for t in tokens if t.capital or t.kind == "identifier"),
        negations=negation().count(plain),
        modality=modality_of(text) - {"former"},
        cues=cues,
        predicate=predicates_in(updates()["now"].without(analysed.text)),
        names=tuple(signs_of(name) for name in entities),
        is_pronominal=_is_pronominal(text),
        is_order=_ORDER.search(text) is not None,
        subject=subject.words if (subject := subject_of(text, entities)) is not None else None,
    )


def predicates_in(text: str) -> frozenset[str]:
    """The kinds of predicate that a text has: `one`, `many`, `held`."""
    text = _SPACED.sub(" ", text)
    return frozenset(name for name, wording in predicates().items() if wording.holds(text))


def signs_of(text: str) -> tuple[str, ...]:
    """The words of a text, without articles and quiet punctuation, with measures in one unit.

    Every other character stays, for `rm -rf /` is not `rm -rf .`. A word keeps its case where the case may
    be its meaning: inside a sentence, unless it is a hyphenated word before the verb.
    """
    return _signs_and_forms(text)[0]


def are_alike(one: frozenset[tuple[int, str]], other: frozenset[tuple[int, str]]) -> bool:
    """Whether articles and commas let two equal wordings say the same.

    An article may be left out, unless it tells who does what to whom; another one makes another thing.
    """
    for mine, theirs in ((one, other), (other, one)):
        there = {at: word for at, word in theirs if word != ","}
        for at, word in mine - theirs:
            if word == "," or word in _CASES or at in there:
                return False
    return True


def _signs_and_forms(text: str) -> tuple[tuple[str, ...], frozenset[tuple[int, str]]]:
    words = _words(text)
    signs: list[str] = []
    forms: set[tuple[int, str]] = set()
    is_said = False
    for at, word in enumerate(words):
        lower = word.lower()
        following = words[at + 1].lower() if at + 1 < len(words) else ""
        if word == _COMMA_SIGN:
            forms.add((len(signs), ","))
        elif _is_article(word, following, is_first=not signs):
            forms.add((len(signs), lower))
        else:
            is_said = is_said or lower in _AUXILIARIES or lower in listed("copulas")
            signs.extend(_split_runs(_cased(word, is_first=not signs, is_said=is_said)))
    return tuple(signs), frozenset(forms)


def _words(text: str) -> list[str]:
    """The words, with measures in one unit and a sign for each comma."""
    text = _RAISED.sub(lambda m: "^" + unicodedata.normalize("NFKC", m[0]), text)
    text = without_contractions(unicodedata.normalize("NFKC", text)).replace("’", "'")
    if not text.isascii():
        text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)
    if len(text.split()) >= _LEAST_CALLED:
        text = _CALLED.sub("", text)
    text = _EMPHASIS.sub(r"\2", _END.sub("", text))
    pieces: list[str] = []
    at = 0
    for quantity in find_quantities(text):
        pieces.append(text[at : quantity.start])
        pieces.append(f" {quantity.key} ")
        at = quantity.end
    joined = "".join([*pieces, text[at:]])
    return _QUIET.sub(" ", _COMMA.sub(f" {_COMMA_SIGN} ", joined)).split()


def _is_article(word: str, following: str, *, is_first: bool) -> bool:
    """Whether it is an article, not the `A` of `vitamin A` or the `LA` where somebody lives."""
    lower = word.lower()
    if lower not in _ARTICLES or (lower == "a" and following in _AMOUNTS):
        return False
    return word == lower or (is_first and (len(word) == 1 or not word.isupper()))


def _cased(word: str, *, is_first: bool, is_said: bool) -> str:
    if _KEEPS_CASE.search(word) or any(map(str.isdigit, word)) or word.startswith("-"):
        return word
    is_folded = is_first or (not word.isalpha() and not is_said)
    return word.lower() if is_folded else word


def _split_runs(word: str) -> list[str]:
    if word.isascii():
        return [word]
    signs: list[str] = []
    at = 0
    for m in RUN.finditer(word):
        signs.extend(part for part in (word[at : m.start()],) if part)
        signs.extend(units(m[0]))
        at = m.end()
    return [*signs, *(part for part in (word[at:],) if part)]


def _without_since(text: str) -> str:
    """The text without the words that say since when it holds, and the date after them."""
    text = unicodedata.normalize("NFKC", text)
    quantities = find_quantities(text)
    for quantity in reversed(quantities):
        before = text[max(quantity.start - 14, 0) : quantity.start].rstrip()
        if quantity.kind == "date" and updates()["now"].holds(before.rpartition(" ")[2]):
            text = text[: quantity.start] + text[quantity.end :]
    return re.sub(r"\s+([.!])", r"\1", updates()["now"].without(text))


def _bare(text: str) -> tuple[str, ...]:
    """What is said without whether it is denied: stems, signs of scripts without spaces."""
    stripped = _ASPECTS.sub(" ", negation().without(updates()["ended"].without(text)))
    signs: list[str] = []
    for clause in analyse(stripped).clauses:
        for token in clause.tokens:
            if token.kind in ("run", "kana"):
                continue
            if token.plain not in _AUXILIARIES and token.plain not in _ARTICLES:
                signs.append(token.key)
    runs = _INFLECTED.sub("", "".join(m[0] for m in RUN.finditer(stripped)))
    return (*signs, *(char for char in runs if char not in "的是"))


def _is_pronominal(text: str) -> bool:
    words = [fold(word) for word in re.findall(r"\w+", text[:60])[:2]]
    if text.startswith(tuple(listed("pronouns_inside"))):
        return True
    if not words or words[0] not in listed("pronouns") - _WRITERS:
        return False
    # `Die Miete ist`, but `die ist`.
    return words[0] not in _ARTICLES or is_verb(words[-1])
