"""Where a clause leaves a participant to what went before: pronouns, topics, gaps, names between commas.

It looks at two clauses of one text and must not know what is made of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Literal

from retrieval.grounding.clauses import Clause
from retrieval.grounding.wording import listed

# What may stand before a pronoun that begins a clause, besides dates and function words.
_OPENERS = frozenset(("since", "sinds", "seit", "depuis"))

# Who a pronoun of a clause stands for: the one that acts, or somebody else.
Reference = Literal["subject", "other"]


def is_pronominal(clause: Clause) -> bool:
    """Whether a clause begins with a pronoun.

    `That`, `het` and `die` are pronouns only where no noun follows them.
    """
    pronouns = listed("pronouns")
    for token, following in zip(clause.tokens, (*clause.tokens[1:], None), strict=True):
        if token.plain in listed("articles_too"):
            if following is not None and not following.content:
                return True
        elif token.plain in pronouns:
            return True
        if token.content and token.kind != "quantity" and token.plain not in _OPENERS:
            break
    return clause.text.lstrip(" ,.").startswith(tuple(listed("pronouns_inside")))


def reference_of(clause: Clause) -> Reference | None:
    """What the first pronoun of a clause stands for, by its place; None when it has none."""
    if is_relative(clause):
        after = clause.tokens[1] if len(clause.tokens) > 1 else None
        return (
            "other"
            if after is not None and (after.capital or after.plain in listed("articles"))
            else "subject"
        )
    if is_pronominal(clause):
        return "subject"
    articles = listed("articles_too") | listed("romance_articles")
    pronouns = listed("pronouns") - articles | listed("possessives")
    return "other" if any(token.plain in pronouns for token in clause.tokens) else None


def is_relative(clause: Clause) -> bool:
    """Whether a clause begins with a relative pronoun."""
    return bool(clause.tokens) and clause.tokens[0].plain in listed("relatives")


def fits(reference: Reference, lent: int, own: Sequence[int]) -> bool:
    """Whether a participant put in for a pronoun stands where the pronoun stood.

    Args:
        reference: What the pronoun stood for.
        lent: Where the participant stands in the new sentence.
        own: Where the clause's own words stand there, in the clause's order.
    """
    return lent < own[-1] if reference == "subject" else own[0] < lent


def is_pointed_at(clause: Clause, before: Clause, taken: AbstractSet[str]) -> bool:
    """Whether a clause says `that queue` of what stands before as `the dead-letter queue`."""
    for pointer, noun in zip(clause.tokens, clause.tokens[1:], strict=False):
        if pointer.plain not in listed("demonstratives"):
            continue
        content = before.content
        for place, token in enumerate(content):
            if token.key == noun.key and taken <= {
                noun.key,
                *(t.key for t in content[max(place - 2, 0) : place]),
            }:
                return True
    return False


def lends(
    part: Clause, taken: AbstractSet[str], main: Clause, said: AbstractSet[str], text: str
) -> bool:
    """Whether a clause may give a participant or a verb to another without its own subject being said.

    Args:
        part: The clause that gives.
        taken: The keys that are taken from it.
        main: The clause that takes.
        said: Every key of the new sentence.
        text: The text that both stand in.
    """
    lent = [token for token in part.content if token.key in taken and token.key not in main.keys]
    if not lent or part.sentence != main.sentence or part.end > main.start:
        return False
    tail = [token.key for token in part.content[-len(lent) :]]
    is_tail = [token.key for token in lent] == tail
    # A Chinese or Japanese clause goes on with what the last one ended with; so does a relative clause.
    goes_on = is_relative(main) or (part.content[-1].kind == "run" and main.keys <= said)
    if is_tail and goes_on and main.start - part.end <= 1:
        return True
    # `The plumber, Jan de Wit, came.`
    is_name = all(token.capital for token in lent)
    if is_name and text[: lent[0].at].endswith(", ") and text.startswith(",", lent[-1].end):
        return True
    # `Ana handles sales, Bo support.`
    inner = {token.key for token in part.content[1:] if token.kind == "word" and not token.capital}
    return main.keys <= said and {token.key for token in lent} <= inner
