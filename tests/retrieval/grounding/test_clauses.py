from hypothesis import given
from hypothesis import strategies as st

from retrieval.grounding.clauses import analyse


def clauses(text):
    return [clause.text.strip(" ,.") for clause in analyse(text).clauses]


def test_sentence_is_cut_where_another_thing_is_said():
    text = "Ana owns billing and Bo owns search. Carla is away."
    assert clauses(text) == ["Ana owns billing", "Bo owns search", "Carla is away"]


def test_slight_piece_stays_with_its_neighbour_unless_it_denies():
    assert clauses("On Monday, Ana met Bo.") == ["On Monday, Ana met Bo"]
    assert clauses("We use Kotlin 2.1, no Maven.") == ["We use Kotlin 2.1", "no Maven"]


def test_date_abbreviation_and_initial_end_no_sentence():
    assert len(clauses("Am 3. März 2027 kommt Dr. Roth.")) == 1
    assert len(clauses("J. Smith runs db1.")) == 1


def test_hard_wrapped_line_is_one_sentence_and_list_items_are_not():
    assert {clause.sentence for clause in analyse("Ana owns\nbilling now.").clauses} == {0}
    assert [c.sentence for c in analyse("- Ana owns billing\n- Bo owns search").clauses] == [0, 1]


def test_chinese_is_cut_into_pairs_between_joining_signs():
    (clause,) = analyse("数据库的端口是5432。").clauses
    assert [t.key for t in clause.content] == ["数据", "据库", "端口", "5432"]


def test_preposition_is_kept_with_what_it_leads():
    (clause,) = analyse("We switch from Solr to the new Elastic.").clauses
    assert {t.plain: t.marker for t in clause.content if t.marker} == {"solr": "from", "new": "to"}


@given(st.text())
def test_tokens_stand_in_order_within_their_clause(text):
    analysed = analyse(text)
    end = 0
    for clause in analysed.clauses:
        assert clause.tokens
        for token in clause.tokens:
            assert clause.start <= token.at < token.end <= len(analysed.text)
            assert token.at >= end - 1
            end = token.at
