"""Whether what a model gives is a whole: a statement and no scrap of one, a name and no part of a word. Pure.

The rules' own test of what states something comes first. A piece that was cut out of a clause states something only
with the predicate of that clause; where rules know no predicate they let it be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ingest.rules.facts import is_task, states_something
from ingest.rules.verbs import known_verbs
from retrieval.grounding.clauses import Analysed, Clause, Token, analyse
from retrieval.grounding.wording import listed
from retrieval.text.scripts import fold
from retrieval.text.words import edge_particles, is_stop, iter_words, language_of

Lack = Literal["fragment", "task"]

_OPEN_TASK = re.compile(r"[\s>]*(?:[-*+]|\d+[.)])?\s*\[ \]\s")
# Words of a piece that may have a verb which rules don't know.
_LEAST_TOLD = 3
_ENDS = " \t.。．!！;；,，、:："
# After these a Japanese sentence goes on.
_JA_PARTICLES = ("から", "まで", "より", "は", "が", "を", "に", "で", "へ", "と", "の", "も")
_MARK = re.compile(r"[,;:.!?()\[\]|›\n，；：。、！？（）—]")
_HIRAGANA = re.compile(r"[ぁ-ゖ]")
_HANGUL = re.compile(r"[가-힣]")
# Han, kana and Hangul: scripts in which words stand side by side, or carry particles.
_SCRIPTS = tuple(
    re.compile(pattern)
    for pattern in ("[\u3400-\u9fff\uf900-\ufaff]", "[ぁ-ゖ]", "[ァ-ヺー]", "[가-힣]")
)


def find_lack(statement: str, source: str) -> Lack | None:
    """What keeps a grounded statement from being a fact: its `source` sets it as a task, or it is cut out of a clause.

    Args:
        statement: One sentence, as a model gave it.
        source: The block's text.
    """
    if is_task(statement.strip()):
        return "task"
    said = analyse(statement, language_of(statement))
    block = analyse(source)
    sentence = _nearest_sentence(said, block)
    if sentence is not None and _is_still_to_do(sentence, block):
        return "task"
    if not states_something(statement):
        return "fragment"
    is_cut_out = sentence is not None and _is_cut_out(said, sentence, block.text)
    return "fragment" if is_cut_out else None


def _nearest_sentence(said: Analysed, block: Analysed) -> tuple[Clause, ...] | None:
    """The clauses of the block's sentence that has most of a statement's words, of equals the shortest."""
    sentences: dict[int, list[Clause]] = {}
    for clause in block.clauses:
        sentences.setdefault(clause.sentence, []).append(clause)

    def nearness(clauses: list[Clause]) -> tuple[int, int]:
        keys = {token.key for clause in clauses for token in clause.tokens}
        return len(keys & said.keys), -len(keys)

    nearest = max(sentences.values(), key=nearness, default=None)
    return tuple(nearest) if nearest else None


def _is_still_to_do(sentence: Sequence[Clause], block: Analysed) -> bool:
    start = block.text.rfind("\n", 0, sentence[0].tokens[0].at) + 1
    line = block.text[start : sentence[-1].end]
    return bool(_OPEN_TASK.match(line)) or is_task(line.strip(" \t-*+>"))


@dataclass(frozen=True, slots=True)
class _Cut:
    """A statement that stands in a text as it is: what is before and after it there."""

    before: tuple[Token, ...]
    here: tuple[Token, ...]
    after: tuple[Token, ...]


def _is_cut_out(said: Analysed, sentence: Sequence[Clause], source: str) -> bool:
    tokens = tuple(token for clause in said.clauses for token in clause.tokens)
    verbs = _verbs(tokens)
    # `Crime rate: 8 %` tells something of a thing.
    has_label = ":" in said.text.strip(_ENDS)
    if not verbs and not has_label and _has_names_alone(tokens, sentence):
        return True
    if _is_unfinished(said.text, sentence):
        return True
    whole = _cut_from(tokens, [token for clause in sentence for token in clause.tokens])
    if whole is not None and _lacks_subject(whole, verbs, source):
        return True
    for stretch in _stretches(sentence, source):
        cut = _cut_from(tokens, stretch)
        if cut is None:
            continue
        if not verbs and (_verbs((*cut.before, *cut.after)) or _is_phrase(cut)):
            return True
        if cut.after and tokens[-1].plain in listed("markers") | listed("articles"):
            return True
    return False


def _stretches(sentence: Sequence[Clause], source: str) -> Iterator[list[Token]]:
    """The words of a sentence from mark to mark; a clause may have several."""
    for clause in sentence:
        stretch: list[Token] = []
        for token in clause.tokens:
            if stretch and _MARK.search(source, stretch[-1].end, token.at):
                yield stretch
                stretch = []
            stretch.append(token)
        yield stretch


def _verbs(tokens: Sequence[Token]) -> frozenset[str]:
    """The common verbs among words; `May` in a date is none."""
    return known_verbs(" ".join(token.plain for token in tokens if token.kind != "quantity"))


def _has_names_alone(tokens: Sequence[Token], sentence: Sequence[Clause]) -> bool:
    """Whether names and numbers are all that is left of a sentence that says more of them."""
    kinds = {token.kind for token in tokens if token.content}
    there = {token.kind for clause in sentence for token in clause.content}
    return "word" in there and kinds <= {"name", "identifier", "quantity"}


def _cut_from(tokens: Sequence[Token], source: Sequence[Token]) -> _Cut | None:
    """Where a statement's tokens stand in a row in others, and these are more; None when they don't."""
    keys, there = [t.key for t in tokens], [t.key for t in source]
    size = len(keys)
    if size == len(there):
        return None
    for start in range(len(there) - size + 1):
        if there[start : start + size] == keys:
            end = start + size
            return _Cut(tuple(source[:start]), tuple(source[start:end]), tuple(source[end:]))
    return None


def _is_phrase(cut: _Cut) -> bool:
    """Whether it is too little to tell without a verb: a preposition with what follows it, or a word or two."""
    told = [token for token in cut.here if token.content]
    is_verb = any(token.plain.endswith("ed") for token in told)
    opens_small = bool(cut.before) and cut.here[0].plain in listed("markers")
    is_run = any(token.kind in ("run", "kana") for token in told)
    return opens_small or (len(told) < _LEAST_TOLD and not is_verb and not is_run)


def _lacks_subject(cut: _Cut, verbs: frozenset[str], source: str) -> bool:
    """Whether it opens with a verb, and who does it is said before it, without a mark between them."""
    opening = cut.here[0]
    if opening.plain not in verbs or not cut.before:
        return False
    is_next = not source[cut.before[-1].end : opening.at].strip()
    small = listed("markers") | listed("articles")
    return is_next and any(t.kind != "quantity" and t.plain not in small for t in cut.before)


def _is_unfinished(text: str, sentence: Sequence[Clause]) -> bool:
    """Whether it ends in a particle, without spaces round it, after which its clause goes on."""
    piece = text.strip(_ENDS)
    for clause in sentence:
        at = clause.text.find(piece)
        rest = clause.text[at + len(piece) :].strip(_ENDS) if at >= 0 else ""
        if rest and piece.endswith(_particles(clause.text)):
            return True
    return False


def _particles(text: str) -> tuple[str, ...]:
    if _HIRAGANA.search(text):
        return _JA_PARTICLES
    if _HANGUL.search(text):
        return edge_particles("ko")
    return () if text.isascii() else tuple(listed("joining"))


def stands_in(name: str, statement: str, *, beside: Sequence[str] = ()) -> bool:
    """Whether a name stands in a statement as whole words.

    In scripts without spaces it must begin where another script or a joining word ends, as the head of a compound comes
    last there; its end can't be told. Where it stands only within longer ones of the names `beside` it, it does not. A
    word such as `the` is no name.
    """
    language = language_of(statement)
    if all(is_stop(word.plain, language) for word in iter_words(name)):
        return False
    held, sought = fold(statement), fold(name)
    longer = [fold(one) for one in beside if len(one) > len(name)]
    covered = [
        (m.start(), m.end()) for one in longer for m in re.finditer(re.escape(one), held) if one
    ]
    return any(
        _is_whole(held, m.start(), m.end())
        and not any(a <= m.start() and m.end() <= b for a, b in covered)
        for m in re.finditer(re.escape(sought), held)
        if sought
    )


def _is_whole(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    opens = not _goes_on(before, text[start]) or before in listed("joining")
    # Of scripts without spaces the end is not told: a verb or a particle may follow.
    ends = _script(text[end - 1]) is not None or not _goes_on(text[end - 1], after)
    return opens and ends


def _goes_on(one: str, other: str) -> bool:
    """Whether two neighbouring characters are of one word."""
    if not one or not other or not (one.isalnum() and other.isalnum()):
        return False
    return _script(one) == _script(other)


def _script(character: str) -> int | None:
    """Which of the scripts without spaces a character is of; None when of none."""
    return next((n for n, script in enumerate(_SCRIPTS) if script.match(character)), None)
