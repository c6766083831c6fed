import pytest

from retrieval.grounding.clauses import analyse
from retrieval.grounding.swaps import is_swapped


def swapped(one, other):
    (first,), (second,) = analyse(one).clauses, analyse(other).clauses
    return bool(is_swapped(first, second))


SWAPPED = [
    ("Ana manages Bo.", "Bo manages Ana."),
    ("The client calls the server.", "The server calls the client."),
    ("We switch from Solr to Elastic.", "We switch from Elastic to Solr."),
    ("Dana was hired by Evan.", "Dana hired Evan."),
    ("Sanne beheert de firewall van Ruben.", "Ruben beheert de firewall van Sanne."),
    ("小王管理小李。", "小李管理小王。"),
    ("小王比小李高。", "小李比小王高。"),
    ("鍵は木村さんから受け取る。", "木村さんは鍵を受け取る。"),
    ("本社は名古屋から福岡へ移りました。", "本社は名古屋へ移りました。"),
]
MOVED = [
    ("Dana was hired by Evan.", "Evan hired Dana."),
    ("Jan is the boss.", "The boss is Jan."),
    ("Ana woont in Gent.", "In Gent woont Ana."),
    ("De winkel is op maandag gesloten.", "Op maandag is de winkel gesloten."),
    ("Lucia insegna il martedì.", "Il martedì insegna Lucia."),
    ("In 2024 Northwind bought Fabrikam.", "Northwind bought Fabrikam in 2024."),
]


@pytest.mark.parametrize(("one", "other"), SWAPPED)
def test_exchanged_participants_are_found(one, other):
    assert swapped(other, one)


@pytest.mark.parametrize(("one", "other"), MOVED)
def test_moved_words_are_no_exchange(one, other):
    assert not swapped(other, one)


@pytest.mark.parametrize("text", [text for pair in SWAPPED + MOVED for text in pair])
def test_text_is_no_exchange_of_itself(text):
    assert not swapped(text, text)
