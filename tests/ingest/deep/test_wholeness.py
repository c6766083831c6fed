"""Scraps, tasks and parts of words are told from facts and names, in any language."""

from __future__ import annotations

import pytest

from ingest.deep.wholeness import find_lack, stands_in

HIRED = "Paul was hired by Karen in May 2024."
SOLD = "The printer was sold in 2023 to Karen. Toner is in room 12."
KETEL = "De oude ketel van Bosch staat in de kelder van het huis."


@pytest.mark.parametrize(
    ("piece", "source"),
    [
        ("Paul", HIRED),
        ("Karen Paul", HIRED),
        ("Paul Paul Paul", HIRED),
        ("hired by Karen", HIRED),
        ("was hired by Karen", HIRED),
        ("hired by Karen in May 2024", HIRED),
        ("was sold in", SOLD),
        ("The printer was sold in", SOLD),
        ("in room 12", SOLD),
        ("The gateway frigg", "The gateway frigg listens on port 9090."),
        ("on port 9090", "The gateway frigg listens on port 9090."),
        ("De oude ketel van Bosch", KETEL),
        ("in de kelder", KETEL),
        ("Der alte Kessel im Keller", "Der alte Kessel im Keller ist kaputt."),
        ("wurde von Anna gekauft", "Der Server wurde von Anna gekauft."),
        ("wird von Anna betreut", "Er wird von Anna betreut."),
        ("est réparée par Luc", "La chaudière est réparée par Luc."),
        ("ボイラーは地下室に", "ボイラーは地下室にあります。"),
        ("网关运行在", "网关运行在服务器 thor 上。"),
        ("보일러는 지하실에", "보일러는 지하실에 있습니다."),
    ],
)
def test_piece_of_a_clause_is_a_fragment(piece, source):
    assert find_lack(piece, source) == "fragment"


@pytest.mark.parametrize(
    ("statement", "source"),
    [
        (HIRED, HIRED),
        ("Paul was hired by Karen.", HIRED),
        ("Karen hired Paul in May 2024.", HIRED),
        ("The printer was sold", SOLD),
        ("Anna resigned", "Anna resigned in May."),
        ("Anna kündigte im Mai", "Anna kündigte im Mai ohne ein Wort."),
        ("Ana has Covid.", "Ana has Covid and works from home."),
        ("Karen sold the car", "Karen sold the car, and the printer is broken."),
        ("The car was sold by Karen", "In May the car was sold by Karen."),
        ("De ketel staat in de kelder.", KETEL),
        ("Der Server fällt aus.", "Der Server fällt aus, wenn es heiß ist."),
        ("La chaudière est réparée", "La chaudière est réparée par Luc."),
        ("ボイラーは地下室にある。", "ボイラーは地下室にあります。"),
        ("网关运行在服务器 thor 上", "网关运行在服务器 thor 上。"),
        ("보일러는 지하실에 있습니다.", "보일러는 지하실에 있습니다."),
        ("db1 listens on port 5432.", "| host | port |\n|---|---|\n| db1 | 5432 |"),
        ("Crime Rate: 8%", "{'City': 'Lyon', 'Crime Rate: 8%', as counted in May}"),
        ("Port: 8080", "- Host: thor\n- Port: 8080"),
        ("Do not reboot the NAS on Sunday.", "> [!warning] Do not reboot the NAS on Sunday."),
    ],
)
def test_statement_lacks_nothing(statement, source):
    assert find_lack(statement, source) is None


@pytest.mark.parametrize(
    ("statement", "source"),
    [
        ("TODO: write this section later.", "TODO: write this section later."),
        ("Write this section later.", "TODO: write this section later."),
        ("Te doen: de ketel ontluchten.", "Te doen: de ketel ontluchten."),
        ("De ketel ontluchten in mei.", "Te doen: de ketel ontluchten in mei."),
        ("ボイラーを点検する。", "やること：ボイラーを点検する。"),
        ("Buy new milk.", "- [x] Sell the boat.\n- [ ] Buy new milk."),
    ],
)
def test_what_is_still_to_do_is_a_task(statement, source):
    assert find_lack(statement, source) == "task"


def test_task_that_is_done_is_a_fact():
    assert find_lack("Sell the boat.", "- [x] Sell the boat.\n- [ ] Buy new milk.") is None


@pytest.mark.parametrize(
    ("name", "statement", "stands"),
    [
        ("Ana", "The bananas in the cart are cheap.", False),
        ("Car", "The bananas in the cart are cheap.", False),
        ("cart", "The bananas in the cart are cheap.", True),
        ("the", "The bananas in the cart are cheap.", False),
        ("Über", "Der Überbau ist neu.", False),
        ("frigg", "Frigg's port is 9090.", True),
        ("C++", "We use C++ here.", True),
        ("服务器", "网关运行在服务器 thor 上。", True),
        ("务器", "网关运行在服务器 thor 上。", False),
        ("李雷", "王伟被李雷开除了。", True),
        ("東京", "田中さんは東京に住んでいます。", True),
        ("서버", "새 서버는 지하실에 있다.", True),
        ("버", "새 서버는 지하실에 있다.", False),
        ("กรุงเทพ", "เขาอยู่กรุงเทพ", True),
    ],
)
def test_name_stands_as_whole_words(name, statement, stands):
    assert stands_in(name, statement) is stands


def test_name_within_a_longer_one_is_not_named_by_it():
    assert not stands_in("服务", "网关运行在服务器 thor 上。", beside=["服务器"])
    assert not stands_in("York", "She lives in New York.", beside=["New York"])
    assert stands_in("York", "York is older than New York.", beside=["New York"])
