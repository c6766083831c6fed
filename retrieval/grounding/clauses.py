"""A text as sentences, clauses and tokens, each token knowing where it stands.

Words are stemmed. Scripts without spaces give overlapping pairs of characters. Quantities are one token
each. It is made for comparing two texts piece by piece and must not know what the comparison is for.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from retrieval.grounding.quantities import Quantity, find_quantities
from retrieval.grounding.wording import listed, negation, without_contractions
from retrieval.text.scripts import RUN, fold, units
from retrieval.text.words import Language, index_words, language_of, stop_words

Kind = Literal["word", "name", "identifier", "run", "kana", "quantity"]

# Longer "words" are data; a bound keeps the search for identifiers linear.
_LONGEST = 80

_PIECE = re.compile(
    rf"(?P<run>{RUN.pattern})"
    rf"|(?P<identifier>--?[A-Za-z][\w-]{{0,{_LONGEST}}}"
    rf"|[A-Za-z_]\w{{0,{_LONGEST}}}(?:[./:@#\\]+[A-Za-z0-9_-]+)+"
    rf"|(?:[A-Za-z0-9_]{{1,{_LONGEST}}}[-.]){{0,8}}[A-Za-z0-9_]{{0,{_LONGEST}}}\d[A-Za-z0-9_]*(?:[-.][A-Za-z0-9_]+)*"
    r"|[A-Za-z]+(?:\+\+|#))"
    r"|(?P<word>[^\W_](?:[^\W_]|['-](?=[^\W_]))*)"
)
_HUMP = re.compile(r"[a-z][A-Z]|_")
_SENTENCE_END = re.compile(
    r"[.!?]+[\"'”)\]_]*(?=\s|$)|[。｡।॥۔؟؛]+|(?<=[^\x00-\x7f])[!?]+|;|\n\s*(?=[-+|>#\d\n])|\.\.\."
)
# A line that ends no sentence, with the next, which goes on with a small letter and is none of `key: value`.
_WRAPPED = re.compile(
    r"([^\s.!?:;|。！？：；])[ \t]*\n[ \t]*(?:>[ \t]*)*(?=(\w))(?![\w -]{1,30}[:=])"
)
_CLAUSE_END = re.compile(
    r",(?=\s|[^\x00-\x7f])|(?<=[^\x00-\x7f])[,:]|:(?=\s)|\s[-–—]\s|—|[()]"
    r"|\s(?:and|but|while|whereas|because|although|maar|terwijl|omdat|hoewel|und|aber|während|weil|obwohl|sondern|mais)(?=\s)"
    r"|但是|但|因为|所以|而且|而",
)
# What the writer has taken back.
_STRUCK = re.compile(r"(?<!~)~~(?=[^\s~])[^~\n]*(?<=[^\s~])~~(?!~)")
# `En` is "in" in French and Spanish, and `e` no word in the languages beside them.
_AND = {
    False: re.compile(r"\sen(?=\s)"),
    True: re.compile(
        r"\s(?:et(?! al\b)|y|e|pero|però|puisque|parce|porque|perché|tandis|mientras|mentre)(?=\s)"
    ),
}
_ROMANCE: frozenset[Language] = frozenset(("fr", "es"))
_NAMED_BY_LETTER = re.compile(r"[^\W\d_]{2,}[ -]\Z")
_LISTING = re.compile("、")
_ABBREVIATED = re.compile(
    r"(?:\b[A-Z]|\b(?:e\.g|i\.e|mr|mrs|dr|st|vs|bijv|z\.b|nr|no|approx|ca))$", re.IGNORECASE
)
_HIRAGANA = re.compile(r"[ぁ-ゖ]+")


class Token(NamedTuple):
    """A piece of a text; tokens with equal `key` say the same."""

    key: str
    # As written, case folded.
    plain: str
    kind: Kind
    at: int
    end: int
    # Whether it carries meaning of its own.
    content: bool = True
    # The preposition before it; empty when it has none.
    marker: str = ""
    capital: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence with its tokens; `sentence` counts from 0."""

    sentence: int
    start: int
    end: int
    text: str
    tokens: tuple[Token, ...]
    keys: frozenset[str]

    @property
    def content(self) -> tuple[Token, ...]:
        """Its tokens that carry meaning."""
        return tuple(token for token in self.tokens if token.content)


@dataclass(frozen=True, slots=True)
class Analysed:
    """A text taken apart."""

    text: str
    clauses: tuple[Clause, ...]
    quantities: tuple[Quantity, ...]
    keys: frozenset[str]
    plains: frozenset[str]

    def sentence_text(self, sentence: int) -> str:
        """The whole sentence, with its mark at the end."""
        held = [clause for clause in self.clauses if clause.sentence == sentence]
        return self.text[held[0].start : held[-1].end + 1] if held else ""


def normal(text: str) -> str:
    """A text in one form of its characters, without markup for emphasis and links."""
    text = unicodedata.normalize("NFKC", text).replace("’", "'").replace("‘", "'")
    if "\n" in text:
        text = _WRAPPED.sub(_unwrapped, text)
    if "~~" in text:
        text = _STRUCK.sub(" ", text)
    if "[[" in text:
        text = re.sub(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]", r"\1", text)
    return re.sub(r"[*`]+|(?<!\w)_+|_+(?!\w)", " ", without_contractions(text))


def _unwrapped(wrap: re.Match[str]) -> str:
    return f"{wrap[1]} " if wrap[2].islower() else wrap[0]


@lru_cache(maxsize=32)
def analyse(
    text: str, language: Language | None = None, *, beside: Language | None = None
) -> Analysed:
    """The text as clauses of tokens.

    Args:
        text: As written.
        language: Whose stop words carry no meaning; None = those of English, Dutch and German together, and of the
            language that it seems to be in.
        beside: The language of a longer text that it belongs to, which tells more surely which one this is in.
    """
    text = normal(text)
    quantities = find_quantities(text)
    seeming = beside or language or language_of(text)
    is_romance = seeming in _ROMANCE
    stops = stop_words(language) if language else _common_stops() | stop_words(seeming)
    if is_romance:
        stops |= stop_words(seeming) | frozenset(map(fold, _romance()))
    tokens = list(_tokens(text, quantities, stops, _Binding.of(is_romance)))
    clauses = tuple(_clauses(text, tokens, quantities, _AND[is_romance]))
    return Analysed(
        text=text,
        clauses=clauses,
        quantities=quantities,
        keys=frozenset(token.key for token in tokens),
        plains=frozenset(token.plain for token in tokens),
    )


@cache
def _romance() -> frozenset[str]:
    return listed("romance_articles") | listed("romance_small")


@cache
def _common_stops() -> frozenset[str]:
    return stop_words("en") | stop_words("nl") | stop_words("de")


class _Binding(NamedTuple):
    """The small words before a noun: prepositions and articles."""

    markers: frozenset[str]
    articles: frozenset[str]

    @classmethod
    def of(cls, is_romance: bool) -> _Binding:
        """Those of a text, which mean other things in other languages."""
        if not is_romance:
            return cls(listed("markers"), listed("articles"))
        return cls(
            listed("markers") | frozenset(map(fold, listed("romance_markers"))),
            listed("articles") | listed("romance_articles"),
        )


def _tokens(
    text: str, quantities: tuple[Quantity, ...], stops: frozenset[str], binding: _Binding
) -> Iterator[Token]:
    at = 0
    for quantity in quantities:
        yield from _words(text, at, quantity.start, stops, binding)
        key, start, end = quantity.key, quantity.start, quantity.end
        marker = _marker_before(text, start, binding)
        yield Token(key, key, "quantity", start, end, marker=marker)
        at = quantity.end
    yield from _words(text, at, len(text), stops, binding)


def _marker_before(text: str, at: int, binding: _Binding) -> str:
    before = text[max(at - 12, 0) : at].lower().split()
    return before[-1] if before and before[-1] in binding.markers else ""


def _words(
    text: str, start: int, end: int, stops: frozenset[str], binding: _Binding
) -> Iterator[Token]:
    marker = ""
    markers, articles = binding
    for m in _PIECE.finditer(text, start, end):
        if m.lastgroup == "run":
            yield from _run(m[0], m.start())
            marker = ""
            continue
        word = m[0]
        plain = fold(word).removesuffix("'s")
        capital = word[0].isupper()
        kind: Kind = "word"
        if m.lastgroup == "identifier" or _HUMP.search(word):
            kind = "identifier"
        elif capital:
            kind = "name"
        content = plain not in stops and not (kind == "word" and plain in markers)
        # `Switch A`, but no article at the beginning of a sentence.
        if (
            len(word) == 1
            and capital
            and plain != "i"
            and _NAMED_BY_LETTER.search(text, start, m.start())
        ):
            content = True
        key = plain if kind == "identifier" else _stem(plain)
        yield Token(key, plain, kind, m.start(), m.end(), content, marker, capital)
        if plain in markers:
            marker = plain
        elif plain not in articles:
            marker = ""


@lru_cache(maxsize=1 << 14)
def _stem(plain: str) -> str:
    return index_words(plain).partition(" ")[0] or plain


def _run(run: str, at: int) -> Iterator[Token]:
    """A run as pairs of characters, cut at joining characters and kana."""
    for start, piece, kind in _chunks(run):
        held = units(piece)
        if len(held) == 1 or kind == "kana":
            yield Token(
                piece, piece, kind, at + start, at + start + len(piece), content=kind == "run"
            )
            continue
        place = at + start
        for left, right in pairwise(held):
            pair = left + right
            yield Token(pair, pair, kind, place, place + len(pair))
            place += len(left)


def _chunks(run: str) -> Iterator[tuple[int, str, Kind]]:
    has_kana = _HIRAGANA.search(run) is not None
    start = 0
    joining = frozenset() if has_kana else listed("joining")
    cut = {at for span in negation().spans_inside(run) for at in range(*span)}
    for at, char in enumerate(run + "\0"):
        kana = has_kana and _HIRAGANA.match(char) is not None
        ends = char == "\0" or char in joining or at in cut
        if (ends or kana != (start < at and _is_kana(run[start]) and has_kana)) and start < at:
            kind: Kind = "kana" if has_kana and _is_kana(run[start]) else "run"
            yield start, run[start:at], kind
            start = at
        if ends:
            start = at + 1


def _is_kana(char: str) -> bool:
    return "ぁ" <= char <= "ゖ"


def _bounds(
    text: str, quantities: tuple[Quantity, ...], joint: re.Pattern[str]
) -> list[tuple[int, int, bool]]:
    """Where clauses end: start and end of the border, and whether a sentence ends there too."""
    starts = [quantity.start for quantity in quantities]
    found: list[tuple[int, int, bool]] = []
    patterns = [(_SENTENCE_END, True), (_CLAUSE_END, False), (joint, False)]
    if _HIRAGANA.search(text):
        patterns.append((_LISTING, False))
    for pattern, whole in patterns:
        for m in pattern.finditer(text):
            place = bisect_right(starts, m.start()) - 1
            if place >= 0 and m.start() < quantities[place].end:
                continue
            if whole and m[0][0] == "." and _goes_on(text, m):
                continue
            found.append((m.start(), m.end(), whole))
    return sorted(found)


def _goes_on(text: str, m: re.Match[str]) -> bool:
    after = text[m.end() : m.end() + 2].strip()
    return bool(after and after[0].islower()) or (
        _ABBREVIATED.search(text, max(m.start() - 8, 0), m.start()) is not None and bool(after)
    )


@dataclass(slots=True)
class _Piece:
    """What stands between two borders, while it may still grow."""

    sentence: int
    start: int
    end: int
    tokens: list[Token]
    denies: bool
    # How many of its tokens carry meaning.
    weight: int
    # Whether a colon follows it, and whether it has a value with a unit, or a time of the day.
    is_label: bool
    is_measured: bool

    def belongs_to(self, other: _Piece) -> bool:
        """Whether one of two pieces of a sentence says too little to stand alone, and both deny alike."""
        if other.is_label and not self.is_label:
            return False
        is_slight = self.weight < 2 or other.weight < 2
        # Each with a value of its own, they stand side by side: `Coffee costs 2 euros and tea 3 euros`.
        if self.is_measured and other.is_measured:
            return False
        return self.sentence == other.sentence and is_slight and self.denies == other.denies


def _is_measure(token: Token) -> bool:
    days = ("date:", "weekday:", "written:")
    return token.kind == "quantity" and ":" in token.key and not token.key.startswith(days)


def _clauses(
    text: str, tokens: list[Token], quantities: tuple[Quantity, ...], joint: re.Pattern[str]
) -> Iterator[Clause]:
    """The clauses of a text; `joint` is what joins two of them in its language alone."""
    bounds = [*_bounds(text, quantities, joint), (len(text), len(text), True)]
    for piece in _merged(_pieces(text, tokens, bounds)):
        keys = frozenset(token.key for token in piece.tokens if token.content)
        said = text[piece.start : piece.end]
        yield Clause(piece.sentence, piece.start, piece.end, said, tuple(piece.tokens), keys)


def _pieces(
    text: str, tokens: list[Token], bounds: list[tuple[int, int, bool]]
) -> Iterator[_Piece]:
    sentence = start = place = 0
    for at, end, whole in bounds:
        held: list[Token] = []
        while place < len(tokens) and tokens[place].at < at:
            held.append(tokens[place])
            place += 1
        if held:
            weight = sum(token.content for token in held)
            denies, is_label = negation().holds(text[start:at]), text[at : at + 1] in (":", "：")
            is_measured = any(map(_is_measure, held))
            yield _Piece(sentence, start, at, held, denies, weight, is_label, is_measured)
        start = max(start, end)
        sentence += whole


def _merged(pieces: Iterator[_Piece]) -> Iterator[_Piece]:
    """Pieces with less than two content tokens joined to a neighbour in their sentence."""
    waiting: _Piece | None = None
    for piece in pieces:
        if waiting is not None and waiting.belongs_to(piece):
            waiting.tokens.extend(piece.tokens)
            waiting.end = piece.end
            waiting.weight += piece.weight
            waiting.is_label = piece.is_label
            waiting.is_measured = waiting.is_measured or piece.is_measured
            continue
        if waiting is not None:
            yield waiting
        waiting = piece
    if waiting is not None:
        yield waiting
