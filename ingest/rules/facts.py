"""Which sentences state something, and what facts they are.

Questions, tasks still to do, announcements, greetings, pointers and code state nothing. A fact is a copy of
its sentence, with the parents of a list item before it; nothing is reworded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from itertools import pairwise

from ingest.rules.categories import find_category
from ingest.rules.dates import find_dates
from ingest.rules.entities import find_entities, is_title, link_labels
from ingest.rules.greetings import behind_greeting
from ingest.rules.leaning import leans
from ingest.rules.passages import Sentence, StatementDraft
from ingest.rules.relations import cell_relation, field_relations, find_relations
from ingest.rules.sentences import count_cjk, split_sentences
from ingest.rules.verbs import has_verb
from recalld.records import Category, DateInterval, ExtractedFact, Lines, Relation
from retrieval.grounding.wording import modality_of, negation
from retrieval.text.words import stop_words

# Of a fact with a mark (a category's word, a relation, a date, a column's head), and of one without.
MARKED = 0.8
UNMARKED = 0.5

_FINAL = re.compile(r"[.!。！．…؟।۔][\"'”’」』)\]*_`]*$")
_QUESTION = re.compile(
    r"[?？؟;](?<!;)[\"'”’」』)\]*_]*\s*$|(?:吗|呢|(?:です|ます|でしょう|ません|ました|の)か)[。．]?$"
)
_ANSWERED = re.compile(r"(?:(?<=\?)\s|(?<=[？؟]))\s*(?=\S)")
# Greek asks with what looks like a semicolon, and is typed as one.
_GREEK_QUESTION = re.compile(r"[\u0370-\u03ff\u1f00-\u1fff][\"'»)\]*_]*;\s*$")
_ASKING = re.compile(
    r"(?:who|what|when|where|why|how|which|whose)\b(?!.*[.。:!]$)"
    r"|(?:is|are|do|does|did|can|could|should|would|will)\s+(?:you|i|we|it|there|they|anyone|this|that)\b"
    r"(?!.*[.:!]$)",
    re.IGNORECASE,
)
_TODO = re.compile(
    r"(?:\[ \]\s*)?(?:TODO|FIXME|XXX|TBD|WIP)\b|.*\bTODO:"
    r"|(?i:todo|to do|to-do|te doen|zu tun|à faire|待办|待辦|要做|やること|할 일)\s*[:：]",
)
_POINTER = re.compile(
    r"(?:see|see also|source|for more|more (?:info|information|details)|read more|check out|refer to"
    r"|check the docs"
    r"|bron|zie|zie ook|meer info|lees meer|quelle|siehe|mehr infos?|voir|plus d['’]infos?"
    r")\b.{0,120}$"
    r"|(?:参见|参考|参阅|详见|更多|请参阅|请参见|另请|자세한 (?:내용|사항)은|詳細は|詳しくは).{0,120}$"
    r"|(?:你可以|可以)?(?:查看|查阅|阅读).{0,60}(?:了解|获取|更多).{0,40}$"
    # The head of a callout as site builders write it.
    r"|(?:!!!|\?\?\?|:::)\+?\s?\w"
    r"|(?:there (?:is|are) more|you can (?:read|find|learn|see) more"
    r"|for example|here(?:['’]s| is| are)\b|hier (?:is|zijn)\b"
    r"|voici\b|hier (?:ist|sind)\b).{0,160}$"
    r"|.{0,60}(?:を参照してください|をご覧ください|を参照)[。]?$",
    re.IGNORECASE,
)
_FILLER = re.compile(r"lorem ipsum|\{\{[^{}]*\}\}|<%.*?%>", re.IGNORECASE)
# Links that are all there is name notes or pages; they say nothing of them.
_ONLY_LINK = re.compile(
    # Possessive, so that marks between links are tried in one way.
    r"(?:[*_]*+(?:!?\[\[[^\[\]]+\]\]|!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\([^()]*(?:\([^()]*\)[^()]*)*\))[*_.,;]*+\s*+)++"
)
_ONLY_TAGS = re.compile(r"(?:#[^\s#]+[\s,，、]*)++")
_CODE = re.compile(r"`+[^`]*`+")
_URL = re.compile(r"<?\b(?:[a-z]+://|www\.|mailto:)\S+", re.IGNORECASE)
_WORDS = re.compile(r"[^\W_]+(?:['’._-][^\W_]+)*")
_LETTERS = re.compile(r"[^\W\d_]+")
# Words that point to something outside the sentence.
_POINTING = frozenset(
    """
    this these those above below following previous former latter same here such
    dit deze hierboven hieronder onderstaande bovenstaande volgende hierna hiervoor dergelijke
    dies diese dieser diesen diesem dieses oben unten folgende folgenden folgender solche solchen
    ce cet cette ces ceci cela dessus dessous suivant suivante suivants suivantes
    """.split()  # noqa: SIM905 - a word list is read more easily as text
)
_POINTING_CJK = re.compile(
    r"这|這|(?<!应)该|以下|如下|上述|下面|上面|此[时处外]?|この|これ|その|それ|上記|次の|こちら|ここ"
)
_CONTINUES = re.compile(
    r"(?:now|lastly|finally|next|again|alternatively|additionally|first|second|third|that|another|with that|from here"
    r"|without|no need|try|vervolgens|daarna|tenslotte|ten slotte|nu|nochmals|danach|schließlich|jetzt|ensuite|enfin)\b"
    r"|(?:you|we|i) can (?:also|then|now)\b|然后|接着|最后|次に|最後に|そして|また",
    re.IGNORECASE,
)
_THAT_ONE = re.compile(
    r"\b(?:on|in|of|to|with|for|from|by|at|into|over) that (?!i\b|you\b|we\b|the\b|it\b)\w"
    r"|\bdoes that\b|\bthat(?=[,.;:!]|\ (?:with|by|from|in|on|to|for)\b)",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(?:it|its|it['’]s|they|them|their|he|him|she|het ervan|ihn|ihm|ihnen)\b", re.IGNORECASE
)
# A name, code, a number, or a noun with an article or possessive before it.
_ANTECEDENT = re.compile(
    r"`|\d|(?<=\s)[A-Z]\w|\b(?:(?i:the|a|an|my|our|your|his|her|every|each|any|all|some|no|de|het|een|der|die|das|den"
    r"|dem|ein|eine|einen|le|la|les|un|une))\s+\w|\b[A-Za-z]\w+s\b(?<!ss)"
)
_DEFINITE = re.compile(r"(?:the|de|het|der|die|das|le|la|les)\s", re.IGNORECASE)
_TURNING = frozenset({"conditional", "former"})
_MARKED_TASK = re.compile(r"\[.\] ")


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteContext:
    """What a note lends its sentences. `names` are trusted as names anywhere in it."""

    note_date: date | None
    names: frozenset[str]
    # What its head is about; "" where nothing says.
    title: str = ""
    # The day that the section is about; what tells no date of its own happened then.
    section_day: date | None = None


def find_facts(
    draft: StatementDraft, context: NoteContext, *, lead_in: str = ""
) -> tuple[ExtractedFact, ...]:
    """The facts of a statement in order; none where it states nothing.

    Below `Never do these:` or `If the disk is full:` an item by itself would say what the note does not: there
    each fact begins with the lead-in, and claims no relation.

    Args:
        draft: The statement.
        context: What the note lends it.
        lead_in: The sentence before its block that says what the block's facts are about, or "".
    """
    if not turns(lead_in):
        return _facts_of(draft, context, draft.prefix, led_in=bool(lead_in))
    found = _facts_of(draft, context, lead_in + draft.prefix, led_in=True)
    return tuple(replace(fact, text=f"{lead_in} {fact.text}", relations=()) for fact in found)


def turns(lead_in: str) -> bool:
    """Whether what follows a lead-in is not so by itself: denied, conditional, or so no more."""
    return negation().holds(lead_in) or not _TURNING.isdisjoint(modality_of(lead_in))


def _facts_of(
    draft: StatementDraft, context: NoteContext, above: str, *, led_in: bool
) -> tuple[ExtractedFact, ...]:
    """The same without the lead-in; the words of `above` count as the statement's own."""
    if draft.unit.kind == "row":
        return _row_facts(draft, context)
    if draft.unit.kind == "field":
        return _field_facts(draft, context)
    if draft.unit.kind in ("code", "heading") or draft.unit.is_open:
        return ()
    telling = [
        s
        for s in draft.sentences
        if states_something(s.text, of=above) and not _only_points(s.source.strip())
    ]
    if not telling:
        return ()
    silent = [s for s in draft.sentences if s not in telling]
    # Scraps beside it stay with their sentence, so that the statement's vector is the fact's too.
    if len(telling) == 1 and all(_is_scrap(s.text) for s in silent):
        whole = draft.text.removeprefix(draft.prefix)
        telling = [Sentence(text=whole, lines=draft.lines, source=draft.source)]
    term = draft.unit.term
    return tuple(
        _fact(
            draft.prefix + piece,
            s.lines,
            s.source,
            context,
            stands_alone=not led_in and stands_alone(piece, has_parents=bool(draft.unit.parents)),
        )
        for s in telling
        for piece in (_with_term(term, part) for part in split_compound(s.text))
    )


def _only_points(source: str) -> bool:
    """Whether links or tags are all there is."""
    return bool(_ONLY_LINK.fullmatch(source) or _ONLY_TAGS.fullmatch(source))


def _with_term(term: str, text: str) -> str:
    """A sentence that is said of a term and does not name it, with the term before it."""
    return text if not term or term.casefold() in text.casefold() else f"{term}: {text}"


def states_something(text: str, *, of: str = "") -> bool:
    """Whether a sentence states something: no question, task, announcement, greeting, pointer or scrap.

    Args:
        text: The sentence.
        of: The parents of a list item, whose words count as its own.
    """
    told = text.strip().strip("*_~").strip()
    return not (
        is_question(told)
        or is_task(told)
        or told.endswith((":", "：", ",", "，", "、"))
        or _POINTER.match(told)
        or _greets(told)
        or not _has_content(_FILLER.sub("", told), of)
        or not _says_more_than_code(told)
    )


def _greets(text: str) -> bool:
    """Whether a greeting or thanks are all there is."""
    rest = behind_greeting(text)
    if rest is None or content_words(text) >= 6:
        return False
    return not has_verb(rest) or not content_words(rest)


def _is_scrap(text: str) -> bool:
    """Whether it says nothing, but nothing misleading either, such as `Great!`."""
    return not (
        is_question(text) or is_task(text) or text.endswith((":", "：")) or _POINTER.match(text)
    )


def _has_content(text: str, parents: str) -> bool:
    own = content_words(text)
    return own >= 2 or (own == 1 and content_words(parents) >= 1)


def is_question(text: str) -> bool:
    """Whether a sentence asks: by its mark, or by how it opens where it has no mark at its end.

    An answer that is told with its question does not ask.
    """
    text = _ANSWERED.split(text)[-1]
    return bool(_QUESTION.search(text) or _ASKING.match(text) or _GREEK_QUESTION.search(text))


def is_task(text: str) -> bool:
    """Whether a sentence is still to be done, by its own words."""
    return bool(_TODO.match(text))


def content_words(text: str) -> int:
    """How many words say something; two CJK characters count as one word."""
    cjk = count_cjk(text)
    plain = _URL.sub(" ", text)
    words = sum(
        1
        for word in _WORDS.findall(plain)
        if not count_cjk(word) and word.lower() not in _stop_words()
    )
    return words + cjk // 2


def split_compound(text: str) -> tuple[str, ...]:
    """The parts of a sentence at its semicolons, when every part could be a sentence."""
    if ";" not in text and "；" not in text:
        return (text,)
    hidden = re.sub(r"`[^`]*`|\([^()]*\)|&\w+;", lambda m: "\0" * len(m.group()), text)
    cuts = [0, *(m.end() for m in re.finditer(r"[;；]", hidden)), len(text)]
    parts = [text[a:b].strip().rstrip(";；").strip() for a, b in pairwise(cuts)]
    parts = [part for part in parts if part]
    if len(parts) > 1 and all(_could_be_sentence(part) for part in parts):
        return tuple(parts)
    return (text,)


def _could_be_sentence(text: str) -> bool:
    if count_cjk(text) >= 6:
        return states_something(text) and not leans(text)
    words = _WORDS.findall(text)
    return len(words) >= 3 and has_verb(text) and not leans(text) and states_something(text)


def _field_facts(draft: StatementDraft, context: NoteContext) -> tuple[ExtractedFact, ...]:
    if content_words(_FILLER.sub("", draft.text)) < 2:
        return ()
    (key, _), *_ = draft.unit.cells
    fact = _fact(
        draft.text,
        draft.lines,
        draft.source,
        context,
        stands_alone=False,
        relations=field_relations(context.title, key, draft.source),
        of_field=True,
    )
    return (replace(fact, happened=_period(draft) or fact.happened),)


def _period(draft: StatementDraft) -> DateInterval | None:
    """The days from the first to the second of two fields that tell the ends of a period; None for one field."""
    told = [find_dates(value, note_date=None) for _, value in draft.unit.cells]
    first, last = told[0], told[-1]
    if len(told) == 1 or first is None or last is None or last.last < first.first:
        return None
    return DateInterval(first=first.first, last=last.last)


def _row_facts(draft: StatementDraft, context: NoteContext) -> tuple[ExtractedFact, ...]:
    """A fact for each cell beside the row's head: `db1 – port: 5432`."""
    cells = draft.unit.cells
    if len(cells) == 1:
        if content_words(draft.text) < 2:
            return ()
        return (_fact(draft.text, draft.lines, draft.source, context, stands_alone=False),)
    (_, row), *others = cells
    facts: list[ExtractedFact] = []
    for column, cell in others:
        text = f"{row} – {column}: {cell}" if column else f"{row} – {cell}"
        if (
            is_question(cell)
            or is_task(cell)
            or not re.search(r"\w", cell)
            or not re.search(r"\w", row)
        ):
            continue
        relation = cell_relation(row, column, cell)
        found = () if relation is None else (relation,)
        facts.append(_fact(text, draft.lines, "", context, stands_alone=False, relations=found))
    return tuple(facts)


def _fact(
    text: str,
    lines: Lines,
    source: str,
    context: NoteContext,
    *,
    stands_alone: bool,
    relations: tuple[Relation, ...] = (),
    of_field: bool = False,
) -> ExtractedFact:
    happened = find_dates(text, note_date=context.note_date)
    category = None if of_field else find_category(text, has_date=happened is not None)
    entities = find_entities(text, source, context.names)
    relations = relations or find_relations(
        text, entities, labels=link_labels(source), title="" if of_field else context.title
    )
    is_kind = category not in (None, Category.KNOWLEDGE)
    marked = is_kind or relations or happened is not None
    if happened is None and context.section_day is not None:
        happened = DateInterval(first=context.section_day, last=context.section_day)
    return ExtractedFact(
        text=text,
        lines=lines,
        category=category,
        confidence=MARKED if marked else UNMARKED,
        entities=entities,
        relations=relations,
        happened=happened,
        stands_alone=stands_alone,
    )


def stands_alone(text: str, *, has_parents: bool = False) -> bool:
    """Whether a sentence means the same outside its note: whole, and pointing at nothing outside itself."""
    words = len(_WORDS.findall(_MARKED_TASK.sub("", text)))
    cjk = count_cjk(text)
    # What follows in a joined fact leans on its first sentence, which is there.
    first = text[slice(*split_sentences(text)[0])]
    if _points(_CODE.sub("`", first)) or is_title(text):
        return False
    if has_parents:
        return words + cjk // 2 >= 2
    if cjk >= 8:
        return bool(_FINAL.search(text))
    if words < 4 or not (_FINAL.search(text) or has_verb(text)):
        return False
    # `The port is 5432.` is another port under another heading; a name makes it one thing.
    vague = _DEFINITE.match(text) and words < 9 and not re.search(r"`|\s[A-Z]", text)
    return not vague


def _points(text: str) -> bool:
    """Whether a sentence points to something outside itself."""
    return (
        leans(text)
        or not _POINTING.isdisjoint(_LETTERS.findall(text.lower()))
        or bool(_POINTING_CJK.search(text) or _CONTINUES.match(text) or _THAT_ONE.search(text))
        or _has_loose_pronoun(text)
    )


def _has_loose_pronoun(text: str) -> bool:
    """Whether an `it` or `them` comes before anything that it could stand for."""
    pronoun = _PRONOUN.search(text)
    return pronoun is not None and not _ANTECEDENT.search(text, 0, pronoun.start())


def _says_more_than_code(text: str) -> bool:
    plain = _URL.sub("", _CODE.sub("", text))
    return bool(re.search(r"[^\W\d_]{2,}|[\u3040-\u9fff\uac00-\ud7af]", plain))


@cache
def _stop_words() -> frozenset[str]:
    return frozenset().union(*(stop_words(language) for language in ("en", "nl", "de", "fr")))
