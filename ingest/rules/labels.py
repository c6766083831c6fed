"""The term that opens a definition: `**Latency**: the time ...`, `Jitter — ...`.

What follows it in further sentences is said of the term, which they do not repeat. Blocks and facts are not known here.
"""

from __future__ import annotations

import re

from ingest.markdown.markup import squeeze, strip_markup

_LENGTH = 60
_WORDS = 5
# `**Term**:`, `**Term:**`, `**Term** —`, `**Term.**` and a bold line of its own; so with italics or code.
_MARKED = re.compile(
    r"\s*(?P<mark>\*\*|__|\*|_|`)(?P<term>[^*_`\n]{1,60}?)\s*(?P<inner>[:：.。]?)(?P=mark)"
    r"[ \t]*(?P<outer>[:：](?!//)|[–—-](?=\s)|(?=\n|$))?"
)
# `Term: definition` and `Term — definition`, without marks.
_PLAIN = re.compile(
    r"\s*(?P<term>[^\s:：–—.,;!?。，*_`<>\[\]][^:：–—.,;!?。，*_`<>\[\]\n]{0,59}?)(?:[:：](?=\s|\D)(?!//)|\s[–—](?=\s))"
)
# What stands behind them is speech where its speaker says I, and where a sentence of its own begins.
_SPEECH = re.compile(
    r"\s*(?:(?:I|we|my|our|you|ik|wij|mijn|ons|ich|wir|mein\w*|unser\w*|je|nous|mon|ma|notre)\b|j['’]|[我俺私僕]|나[는도]|저[는도])",
    re.IGNORECASE,
)
_CAPITAL = re.compile(r"\s*[A-ZÀ-ÖØ-ÞА-ЯΑ-Ω]")
# They label what kind of remark follows, not what it is about.
_REMARKS = frozenset(
    """
    note notes nb tip tips hint hints warning caution important info example examples update edit todo summary tldr
    question answer result conclusion pros cons me user assistant ai system before after first second third finally step
    opmerking let-op waarschuwing belangrijk voorbeeld bijvoorbeeld vraag antwoord samenvatting
    hinweis achtung wichtig beispiel frage antwort zusammenfassung
    remarque attention exemple question réponse résumé
    details usage type returns see source 详细信息 详情 类型 参考 解説 使用法 参照
    注意 提示 注 例 例如 示例 重要 警告 補足 備考 メモ 주의 참고 예
    """.split()  # noqa: SIM905 - a word list is read more easily as text
)


def find_label(source: str, *, listed: bool) -> str:
    """The term that a paragraph or list item, as written, begins with; "" where it begins with none.

    Args:
        source: Its Markdown, from its first word on.
        listed: Whether it is a list item, where a term needs no marks.
    """
    marked = _MARKED.match(source)
    if marked and (marked["inner"] or marked["outer"] is not None):
        return "" if _SPEECH.match(source, marked.end()) else _term(marked["term"])
    plain = _PLAIN.match(source) if listed else None
    if plain is None or _SPEECH.match(source, plain.end()):
        return ""
    is_speech = plain.group().endswith(":") and _CAPITAL.match(source, plain.end())
    return "" if is_speech else _term(plain["term"])


def is_term(text: str) -> bool:
    """Whether a line may be what a definition below it explains: short, and no sentence."""
    told = text.strip()
    return 0 < len(told) <= _LENGTH and not told.endswith(tuple(".!?:;,。！？：；，、…"))


def _term(text: str) -> str:
    term = squeeze(strip_markup(text).text)
    is_word = bool(re.search(r"[^\W\d_]", term)) and len(term.split(" ")) <= _WORDS
    is_remark = term.casefold().replace(" ", "-") in _REMARKS
    return term if is_word and len(term) <= _LENGTH and not is_remark else ""
