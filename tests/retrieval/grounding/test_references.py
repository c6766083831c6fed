import pytest

from retrieval.grounding.clauses import analyse
from retrieval.grounding.references import is_pointed_at, is_pronominal, lends, reference_of


def clauses(text):
    return analyse(text).clauses


@pytest.mark.parametrize(
    "text",
    ["It runs on db2.", "Since June it runs.", "And she left.", "他住在北京。", "Het is groot."],
)
def test_clause_that_begins_with_a_pronoun_leaves_its_subject_out(text):
    assert is_pronominal(clauses(text)[0])


@pytest.mark.parametrize(
    "text", ["Ana runs it.", "Het budget is klein.", "Every engine that runs."]
)
def test_clause_with_a_subject_of_its_own_is_not_pronominal(text):
    assert not is_pronominal(clauses(text)[0])


def test_place_of_the_pronoun_tells_who_it_stands_for():
    assert reference_of(clauses("She manages Bo.")[0]) == "subject"
    assert reference_of(clauses("Bo helps her often.")[0]) == "other"
    assert reference_of(clauses("Bo helps Ana.")[0]) is None


def test_demonstrative_points_at_a_noun_before():
    before, after = clauses("It goes to the dead-letter queue. Noor checks that queue.")
    taken = frozenset(t.key for t in before.content if t.plain in ("dead-letter", "queue"))
    assert is_pointed_at(after, before, taken)


def lent(text, *words, said):
    part, main = clauses(text)
    keys = {token.plain: token.key for token in (*part.content, *main.content)}
    taken = frozenset(keys[word] for word in words)
    return lends(part, taken, main, frozenset(keys[word] for word in said), analyse(text).text)


def test_verb_is_lent_to_a_clause_without_one():
    text = "Ana Silva handles big sales, Bo Chen support."
    assert lent(text, "handles", said=("bo", "chen", "handles", "support"))
    assert not lent(text, "ana", said=("ana", "support"))


def test_name_between_commas_stands_for_the_subject():
    assert lent(
        "The plumber, Tom Roth, repaired the boiler.",
        "tom",
        "roth",
        said=("tom", "roth", "repaired"),
    )
