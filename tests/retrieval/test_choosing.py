from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recalld.records import Category, FactId, Lines, PassageId, StatementId
from recalld.store.rows import FactRow
from retrieval.choosing import MARGIN, choose


def fact(statement: int, text: str = "A fact.", number: int | None = None) -> FactRow:
    return FactRow(
        fact_id=FactId(number or statement),
        uid="0" * 32,
        statement_id=StatementId(statement),
        passage_id=PassageId(1),
        text=text,
        category=Category.KNOWLEDGE,
        confidence=0.8,
        importance=0.5,
        scope="global",
        happened=None,
        stated=None,
        recall_count=0,
        superseded_by=None,
        lines=Lines(first=1, last=1),
        sources=1,
    )


def nothing(_text: str) -> float:
    return 0.0


def test_fact_whose_statement_speaks_best_is_shown():
    relevance = {StatementId(1): 0.4, StatementId(2): 0.9}
    choice = choose([fact(1), fact(2)], relevance, held=nothing, passage_allowed=True)
    assert choice is not None
    assert choice.fact == fact(2)
    assert choice.relevance == 0.9


def test_passage_is_shown_where_no_fact_states_what_matched():
    relevance = {StatementId(1): 0.9 - MARGIN - 0.01, StatementId(2): 0.9}
    choice = choose([fact(1)], relevance, held=nothing, passage_allowed=True)
    assert choice is not None
    assert choice.fact is None
    assert choice.relevance == 0.9
    near = {StatementId(1): 0.9 - MARGIN + 0.01, StatementId(2): 0.9}
    choice = choose([fact(1)], near, held=nothing, passage_allowed=True)
    assert choice is not None
    assert choice.fact == fact(1)


def test_passage_that_may_not_be_shown_gives_its_best_fact_or_nothing():
    relevance = {StatementId(1): 0.1, StatementId(2): 0.9}
    choice = choose([fact(1)], relevance, held=nothing, passage_allowed=False)
    assert choice is not None
    assert choice.fact == fact(1)
    assert choice.relevance == 0.1
    assert choose([], relevance, held=nothing, passage_allowed=False) is None


def test_of_facts_of_one_statement_the_one_with_the_asked_words_is_shown():
    facts = [fact(1, "Pump is blue.", 1), fact(1, "Valve is red.", 2)]
    choice = choose(
        facts, {StatementId(1): 0.7}, held=lambda text: float("Valve" in text), passage_allowed=True
    )
    assert choice is not None
    assert choice.fact == facts[1]


@given(
    st.lists(st.integers(1, 5), max_size=6),
    st.dictionaries(st.integers(1, 5).map(StatementId), st.floats(0, 1)),
    st.booleans(),
)
def test_what_is_shown_never_claims_more_than_its_statement(statements, relevance, allowed):
    facts = [fact(one, number=place) for place, one in enumerate(statements, 1)]
    choice = choose(facts, relevance, held=nothing, passage_allowed=allowed)
    if choice is None:
        assert not facts
        assert not allowed
    elif choice.fact is not None:
        assert choice.relevance == relevance.get(choice.fact.statement_id, 0.0)
    else:
        assert allowed
        assert choice.relevance == max(relevance.values(), default=0.0)


def test_item_is_shown_rather_than_one_below_it_that_only_echoes_its_first_words():
    item = fact(1, "Visits are counted by Fathom, a service without cookies that obeys the law.")
    below = fact(2, "Visits are counted by Fathom, a service › Its privacy policy: example.org")
    relevance = {StatementId(1): 0.87, StatementId(2): 0.88}

    def shown(asked: str) -> str:
        choice = choose(
            [item, below],
            relevance,
            held=lambda text: sum(word in text for word in asked.split()) / len(asked.split()),
            passage_allowed=True,
        )
        assert choice is not None
        assert choice.fact is not None
        assert choice.relevance == 0.88
        return choice.fact.text

    assert shown("Visits counted") == item.text
    assert shown("Fathom policy") == below.text
    relevance[StatementId(1)] = 0.88 - MARGIN - 0.01
    assert shown("Visits counted") == below.text


def test_item_below_a_short_one_is_shown_since_it_holds_all_of_that():
    facts = [fact(1, "Home insurance"), fact(2, "Home insurance › 4711")]
    relevance = {StatementId(1): 0.7, StatementId(2): 0.71}
    choice = choose(facts, relevance, held=nothing, passage_allowed=True)
    assert choice is not None
    assert choice.fact == facts[1]
