"""A question as terms: what to look for, what it is after, and how much of it a statement holds.

Pure functions on text and tokens; it must not know of SQL beyond the text of one FTS5 expression, nor of
vectors, ranking or notes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache

from retrieval.dates.asked import AskedTime, read_asked, without
from retrieval.text.remembering import remembered
from retrieval.text.scripts import fold, main_script
from retrieval.text.words import (
    Language,
    Word,
    edge_particles,
    function_characters,
    is_stop,
    iter_words,
    language_of,
    run_word,
    stop_words,
)

# More is a pasted page, not a question; what comes later is left out.
_MOST_TERMS = 128
_MOST_TOKENS = 512
# Parts such as `2026`, `03`, `02` or `a`, `b`, `c` are found anywhere: having them all is half a match.
_WEAK_PARTS = 0.5
_LEAST_RARITY = 0.01
# Shares are sums of weights divided by a sum of weights.
FULL = 1.0 - 1e-9

# Written as `fold` leaves them: lower case, Latin letters without diacritics.
_WHEN = re.compile(
    r"\bwhen(?:'s|\W+(?:did|do|does|is|was|were|are|am|will|would|can|could|should|has|have|had)\b)"
    r"|\bwhen\s*\?|^\W*when\W*$|\b(?:know|tell me|check|sure) when\b"
    r"|\b(?:what|which) (?:\w+ )?(?:date|day|time|year|month|week|weekday)s?\b"
    r"|\bhow long ago\b|\bsince when\b"
    r"|\bwanneer\b|\bwelke? (?:datum|dag|jaar|maand|week)\b|\bhoe laat\b|\bhoe lang geleden\b"
    r"|\bwann\b|\bwelche[mnrs]? (?:datum|tag|jahr|monat|woche)\b|\bwie spat\b|\bwie lange ist es her\b"
    r"|\bquand\b|\bquel(?:le)? (?:date|jour|annee|mois|heure)\b"
    r"|\bcuando\b|\bque (?:fecha|dia|ano|mes|hora)\b"
    r"|\bquando\b|\bкогда\b|\bne zaman\b|متي"
    r"|什么时候|什么时间|何时|几月|几号|几点|哪[一]?[天年月]|什麼時候|什麼時間|何時|幾月|幾號|幾點"
    r"|いつ(?!も)|何[日月年]|何曜日|언제|며칠|몇 ?[시월년일]|เมื่อไ(?:หร่|ร)|วันไหน|กี่โมง"
)
_QUANTITY = re.compile(
    r"\bhow (?:many|much|long|old|often|far|big|tall|large|high|heavy|fast|few|deep|wide|expensive"
    r"|small|thick|late|soon)\b"
    r"|\b(?:number|amount|percentage|count|total) of\b|\bwhat(?:'s| is| was| are)? (?:the )?(?:total|price|cost"
    r"|percentage|size|age|number|amount)\b"
    r"|\bhoeveel\b|\bhoe (?:vaak|lang|oud|groot|hoog|ver|duur|zwaar|snel|diep|breed)\b"
    r"|\bwie ?viele?\b|\bwie (?:oft|lange?|alt|gross|hoch|weit|teuer|schwer|schnell|tief|breit)\b"
    r"|\bcombien\b|\bquel (?:age|prix|nombre|montant)\b|\bquelle (?:taille|quantite|frequence)\b"
    r"|\bcuant[oa]s?\b|\bque (?:edad|precio|cantidad|tan)\b|\bquant[oaie]s?\b"
    r"|\bсколько\b|\bكم\b|多少|几[个次天年月岁台人本条位件]|多[久长大高远重]|幾[個次天年月歲台人]|多[長遠]"
    r"|いくつ|いくら|何[個回人年日台本枚歳匹件時分]|どのくらい|どれくらい|どのぐらい|どれだけ"
    r"|몇|얼마|กี่|เท่าไ(?:หร่|ร)"
)
# Words that ask after whatever there is, as `fold` leaves them.
_ANYTHING = frozenset(
    word
    for words in (
        "happen happened happens happening did done do doing go went going on note notes noted write wrote written",
        "log logs logged diary journal entry entries event events news new thing things anything everything something",
        "all summary summarize overview tell remember know day",
        "gebeurde gebeurd gebeurt gedaan deed deden doen notities dagboek nieuws alles iets dag",
        "passiert passierte geschehen geschah gemacht machte getan notizen tagebuch neues ereignisse los tag",
        "passe fait faire arrive nouvelles evenements jour tout",
        "发生 發生 做 事 事情 记 笔记 日记 日記 有 干 こと 出来事 起き した メモ",
    )
    for word in words.split()
)
_HIRAGANA = re.compile("[ぁ-ゖ]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One word of a query, which may have several tokens but counts as one word.

    A note has it in whole when it has any token of `exact`, or all of `parts`.
    """

    surface: str
    # `cxu2bxu2b` of `C++`; `exu2dmail` and `email` of `e-mail`; the stem of a plain word. Empty for a run.
    exact: tuple[str, ...]
    # `foo`, `bar` of `foo-bar`; the bigrams of a run in their order, with repetitions.
    parts: tuple[str, ...]
    # A stretch of Han, kana, Hangul, Thai or the like.
    is_run: bool
    # Plain words with hyphens between.
    is_hyphenated: bool

    @property
    def tokens(self) -> tuple[str, ...]:
        """Every token to look up, without repetitions."""
        return tuple(dict.fromkeys((*self.exact, *self.parts)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question understood."""

    text: str
    # Content words, each once, in their order. When a query has stop words only, they stand here.
    terms: tuple[Term, ...]
    stop_terms: tuple[Term, ...]
    asks_when: bool
    asks_quantity: bool
    language: Language
    # The time it names; None when it names none.
    asked: AskedTime | None = None
    # Words of that time which a note may hold as they are. They are looked for, and are no content words.
    time_terms: tuple[Term, ...] = ()

    @property
    def is_of_time_alone(self) -> bool:
        """Whether a time is all that it names, as `What happened yesterday?` does."""
        return self.asked is not None and not self.terms

    @property
    def says_nothing(self) -> bool:
        """Whether it has no word at all: empty, or of symbols alone."""
        return not self.terms and self.asked is None

    @property
    def tokens(self) -> tuple[str, ...]:
        """Every token of the content words, without repetitions: what `rarity` is wanted for."""
        return tuple(dict.fromkeys(token for term in self.terms for token in term.tokens))


@remembered(1000)
def understand(text: str, today: date | None = None) -> Query:
    """A query's terms and what it asks for; any text will do, and one of symbols alone has no terms.

    The first 128 different content words count. Words that name a time do not: those name days.

    Args:
        today: What `last week` is reckoned from; None = times are words like any other.
    """
    language = language_of(text)
    asked = read_asked(text, today) if today else None
    content: dict[Term, None] = {}
    stop: dict[Term, None] = {}
    for word in iter_words(text if asked is None else without(text, asked)):
        if len(content) >= _MOST_TERMS:
            break
        kept = _content_of(word, language)
        content.update(dict.fromkeys(kept))
        if not kept:
            stop[_term(word)] = None
    if asked is not None and all(_says_nothing(term) for term in content):
        content, stop = {}, {**stop, **content}
    elif not content:
        content, stop = stop, {}
    plain = " ".join(fold(text.replace("’", "'")).split())
    return Query(
        text=text,
        terms=tuple(content)[:_MOST_TERMS],
        stop_terms=tuple(stop)[:_MOST_TERMS],
        asks_when=_WHEN.search(plain) is not None,
        asks_quantity=_QUANTITY.search(plain) is not None,
        language=language,
        asked=asked,
        time_terms=_terms_of(" ".join(asked.written), language) if asked else (),
    )


def match_expression(query: Query) -> str | None:
    """The FTS5 expression that finds what has any of the query's words; None when there is nothing to find.

    Tokens are letters and digits in quotes, so nothing in it is syntax but the quotes and `OR`.
    """
    terms = (*query.terms, *query.time_terms)
    wanted = dict.fromkeys(token for term in terms for token in _looked_for(term))
    return " OR ".join(f'"{token}"' for token in list(wanted)[:_MOST_TOKENS]) or None


def coverage(query: Query, statement_words: frozenset[str], rarity: Mapping[str, float]) -> float:
    """The rarity-weighted share, 0..1, of the query's content words that a statement holds.

    A word counts once, however many tokens it has. A compound is held in whole by its whole or by all its
    parts (by half, if those are numbers or single letters), and in part by some of them, unless one is a
    number: `db2` says nothing of `db3`. A run is held by
    the share of its characters that lie in a bigram held, and weighs as the square root of its length.

    Args:
        query: What `understand` gave.
        statement_words: The statement's tokens, as `words.tokens` gives them.
        rarity: By token, above zero; a token that is missing is taken for as rare as the rarest.
    """
    return coverage_by(query, rarity)(statement_words)


def coverage_by(query: Query, rarity: Mapping[str, float]) -> Callable[[frozenset[str]], float]:
    """`coverage` for one query and many statements: what depends on the query alone is computed once."""
    rarest = max(rarity.values(), default=1.0)
    weighted = [(term, _weight(term, rarity, rarest)) for term in query.terms]
    total = sum(weight for _, weight in weighted) or 1.0
    wanted = frozenset(query.tokens)

    def covered(statement_words: frozenset[str]) -> float:
        # Most statements have none of the words.
        if wanted.isdisjoint(statement_words):
            return 0.0
        held = (weight * _share(term, statement_words, rarity, rarest) for term, weight in weighted)
        return min(1.0, sum(held) / total)

    return covered


def known_share(query: Query, frequencies: Mapping[str, int], documents: int) -> float:
    """How much of the query, by rarity, its words that notes have make up: 0..1; 1 without words.

    A word of which no note has any form weighs as much as the rarest could.

    Args:
        frequencies: In how many passages a token is; those in none may be left out.
        documents: Passages there are.
    """
    known = missing = 0.0
    for term in query.terms:
        counts = [frequencies[token] for token in term.tokens if frequencies.get(token)]
        if counts:
            known += max(rarity(count, documents) for count in counts)
        else:
            missing += rarity(0, documents)
    return known / (known + missing) if known + missing else 1.0


def rarity(document_frequency: int, documents: int) -> float:
    """How much a token says, from how many of the documents have it; above zero always."""
    return max(_LEAST_RARITY, math.log((documents + 1) / (document_frequency + 0.5)))


def _weight(term: Term, rarity: Mapping[str, float], rarest: float) -> float:
    rarities = [rarity.get(part, rarest) for part in term.parts]
    if term.is_run and rarities:
        return sum(rarities) / len(rarities) * math.sqrt(len(rarities))
    # Any of `exact` will do, so the commonest decides; all of `parts` are needed, so the rarest does.
    ways = [rarity.get(token, rarest) for token in term.exact]
    return min([*ways, max(rarities)] if rarities else ways)


def _share(term: Term, held: frozenset[str], rarity: Mapping[str, float], rarest: float) -> float:
    if not held.isdisjoint(term.exact):
        return 1.0
    if not term.parts:
        return 0.0
    if term.is_run:
        return _share_of_run(term.parts, held)
    total = sum(rarity.get(part, rarest) for part in term.parts)
    share = sum(rarity.get(part, rarest) for part in term.parts if part in held) / total
    if share < FULL and any(part.isdigit() for part in term.parts):
        # `db3` is not nearly `db2`: of a name with a number, a part names something else.
        return 0.0
    return share * _WEAK_PARTS if all(map(_is_weak, term.parts)) else share


def _share_of_run(bigrams: tuple[str, ...], held: frozenset[str]) -> float:
    found = [bigram in held for bigram in bigrams]
    # Character i is the second of bigram i - 1 and the first of bigram i.
    covered = sum(a or b for a, b in zip([False, *found], [*found, False], strict=True))
    return covered / (len(bigrams) + 1)


def _is_weak(part: str) -> bool:
    return len(part) == 1 or part.isdigit()


def _looked_for(term: Term) -> list[str]:
    """The tokens that go into the expression; any of them that a note has adds to its score.

    So a word with several would weigh as several: of hyphenated plain words the parts are enough
    (SciFact: MRR .806 with the whole as well, .820 without).
    """
    wanted = [*term.exact, *term.parts]
    if term.is_hyphenated:
        lengths = [len(piece) for piece in term.surface.split("-")]
        # `e-mail`, `Wi-Fi`, `co-op` are as often written without the hyphen.
        joined = term.exact[1:] if min(lengths) <= 2 and max(lengths) <= 5 else ()
        wanted = [*joined, *term.parts]
    # A lone letter (the `s` of `GB/s`) is in half the notes; the word's other tokens find it better.
    return wanted if term.is_run else [token for token in wanted if len(token) > 1] or wanted


def _terms_of(text: str, language: Language) -> tuple[Term, ...]:
    return tuple(
        dict.fromkeys(term for word in iter_words(text) for term in _content_of(word, language))
    )


def _says_nothing(term: Term) -> bool:
    """Whether a word asks after whatever there is."""
    return fold(term.surface) in _ANYTHING


def _term(word: Word) -> Term:
    return Term(
        surface=word.surface,
        exact=word.exact,
        parts=word.parts,
        is_run=word.is_run,
        is_hyphenated=word.is_hyphenated,
    )


def _content_of(word: Word, language: Language) -> list[Term]:
    """The terms that a word gives: itself, the segments of a run between stop words, or none."""
    if not word.is_run:
        return [] if is_stop(word.plain, language) else [_term(word)]
    indexed = {*word.exact, *word.parts, *word.inner}
    terms = [_term(run_word(segment)) for segment in _segments(word.surface)]
    # A cut between a letter and its mark would make characters that no note has.
    return [term for term in terms if indexed.issuperset(term.tokens)]


def _segments(run: str) -> list[str]:
    language = main_script(run)
    if language == "ko":
        core = run if run in stop_words("ko") else _without_edges(run, "ko", at_start=False)
        return [] if core in stop_words("ko") else [core]
    if language not in ("zh", "ja", "th"):
        return [run]
    spaced = _stop_pattern(language).sub(" ", run)
    if language == "ja":
        spaced = _HIRAGANA.sub(_without_particles, spaced)
    segments = (_without_edges(part, language, at_start=True) for part in spaced.split())
    return [segment for segment in segments if segment not in function_characters(language)]


@cache
def _stop_pattern(language: Language) -> re.Pattern[str]:
    """The stop words that are cut out wherever they stand, longest first."""
    # Hiragana alone is everywhere; `_without_particles` sees to it.
    listed = [stop for stop in stop_words(language) if not _HIRAGANA.fullmatch(stop)]
    return re.compile("|".join(map(re.escape, sorted(listed, key=len, reverse=True))))


@cache
def _particles() -> frozenset[str]:
    return frozenset(stop for stop in stop_words("ja") if _HIRAGANA.fullmatch(stop))


def _without_particles(found: re.Match[str]) -> str:
    """A stretch of hiragana up to the particles at its end: `た` of `たのはいつ`, nothing of `ですか`.

    What comes before them belongs to the word in front. Offsets are walked backwards, each once: a
    pattern of particles, many of which begin with another, would try every way to part a stretch.
    """
    stretch = found[0]
    longest = max(map(len, _particles()))
    made_up = {len(stretch)}
    for at in reversed(range(len(stretch))):
        ends = made_up.intersection(range(at + 1, at + longest + 1))
        if any(stretch[at:end] in _particles() for end in ends):
            made_up.add(at)
    kept = stretch[: min(made_up)]
    return kept if kept == stretch else f"{kept} "


def _without_edges(segment: str, language: Language, *, at_start: bool) -> str:
    """A segment without the particles at its end, and at its start too; two characters always remain."""
    for particle in edge_particles(language):
        if len(segment) >= len(particle) + 2 and segment.endswith(particle):
            segment = segment.removesuffix(particle)
            break
    if at_start:
        for particle in edge_particles(language):
            if len(segment) >= len(particle) + 2 and segment.startswith(particle):
                return segment.removeprefix(particle)
    return segment
