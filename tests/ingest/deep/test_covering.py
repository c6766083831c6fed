"""What a model leaves unsaid stays; what it says in other words, splits or joins, gives way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.deep.covering import bare, say_the_same, unsaid

OFFICE = (
    "The printer is broken.",
    "The scanner works.",
    "Toner is in room 12.",
    "The plotter was sold in May 2024.",
)
KETEL = ("De ketel heeft code F28 gegeven op 2 maart 2026.", "De monteur komt op dinsdag.")


@pytest.mark.parametrize(
    ("rules", "said", "left"),
    [
        (OFFICE, (), OFFICE),
        (OFFICE, OFFICE, ()),
        (OFFICE, (OFFICE[0],), OFFICE[1:]),
        (OFFICE, ("In room 12 is toner.", "The plotter was sold."), (*OFFICE[:2], OFFICE[3])),
        (OFFICE[3:], ("The plotter was sold in March 2024.",), OFFICE[3:]),
        (OFFICE[3:], ("The plotter was sold on 4 May 2024.",), ()),
        (KETEL, ("De ketel gaf code F28 op 2 maart 2026.",), KETEL[1:]),
        (KETEL, ("De ketel gaf code F28.",), KETEL),
        (("Der Server wurde von Anna im Mai verkauft.",), ("Anna hat den Server im Mai verkauft.",), ()),
        (("La chaudière a été réparée par Luc.",), ("Luc a réparé la chaudière.",), ()),
        (
            ("生产数据库运行在db2上。", "备份每天凌晨三点运行。"),
            ("生产数据库在db2上运行。",),
            ("备份每天凌晨三点运行。",),
        ),
        (
            ("田中さんは東京に住んでいます。", "佐藤さんは東京に住んでいます。"),
            ("田中さんは東京に住んでいる。",),
            ("佐藤さんは東京に住んでいます。",),
        ),
        (
            ("보일러는 지하실에 있습니다.", "라우터는 현관에 있습니다."),
            ("보일러는 지하실에 있습니다.",),
            ("라우터는 현관에 있습니다.",),
        ),
    ],
)  # fmt: skip
def test_what_is_left_unsaid_stays(rules, said, left):
    assert tuple(rules[place] for place in unsaid(rules, said)) == left


def test_parts_of_a_fact_say_it_together():
    whole = ("The plotter was sold to Karen in May 2024.",)
    assert unsaid(whole, ["The plotter was sold to Karen."]) == (0,)
    both = ["The plotter was sold to Karen.", "The plotter was sold in May 2024."]
    assert unsaid(whole, both) == ()


def test_one_fact_may_say_two():
    rules = ("db1 – port: 5432", "db1 – host: thor", "db2 – port: 5433")
    assert unsaid(rules, ["db1 listens on port 5432 on host thor."]) == (2,)
    assert unsaid(rules, ["db1 listens on port 5432."]) == (1, 2)


def test_words_of_another_fact_make_up_for_nothing():
    rules = ("Room 1 has the pump.", "Room 2 has the pump.")
    assert unsaid(rules, ["Room 1 has the pump.", "Room 7 has 2 windows."]) == (1,)


@pytest.mark.parametrize("said", [0, 1])
def test_a_denial_and_what_it_denies_are_two(said):
    rules = ("The gate is open in May.", "The gate is not open in May.")
    assert unsaid(rules, [rules[said]]) == (1 - said,)


def test_a_parent_that_the_model_leaves_out_is_missed():
    assert unsaid(("Network › The port is 8080.",), ["The port is 8080."]) == (0,)
    assert unsaid(("Network › The port is 8080.",), ["The port of the Network is 8080."]) == ()


@pytest.mark.parametrize(
    ("said", "rule", "is_bare"),
    [
        ("The port is 8080.", "Network › The port is 8080.", True),
        ("The port is 8080.", "Here are the numbers: The port is 8080.", True),
        ("钥匙在柜子里。", "办公室 › 钥匙在柜子里。", True),
        ("The port of the Network is 8080.", "Network › The port is 8080.", False),
        ("The port is 8081.", "Network › The port is 8080.", False),
        ("The port is 8080.", "Network › The port is not 8080.", False),
        ("The port is 8080.", "The port is 8080 in May.", False),
    ],
)
def test_fact_without_what_stands_above_it_is_bare(said, rule, is_bare):
    assert bare([said], [rule]) == ({said} if is_bare else frozenset())


_FACTS = st.lists(st.sampled_from((*OFFICE, *KETEL, "田中さんは東京に住んでいます。")), max_size=5)


@given(_FACTS, _FACTS)
def test_copies_say_themselves_and_more_facts_never_leave_more_unsaid(rules, said):
    left = unsaid(rules, said)
    assert not {rules[place] for place in left} & set(said)
    assert set(unsaid(rules, [*said, *OFFICE])) <= set(left)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("The boiler shows code F28 in winter.", "In winter the boiler shows code F28.", True),
        ("Bought milk.", "Milk was bought.", True),
        ("De ketel gaf code F28.", "Code F28 gaf de ketel.", True),
        ("Ana likes Bob.", "Bob likes Ana.", False),
        ("The mirror moved from Utrecht to Lyon.", "The mirror moved from Lyon to Utrecht.", False),
        ("The printer is broken.", "The printer in room 12 is broken.", False),
        ("The old gate opens at night in May 2026.", "The old gate opens at noon in May 2026.", False),
        ("The gate is open in May.", "The gate is not open in May.", False),
        ("Room 1 has the pump.", "Room 2 has the pump.", False),
    ],
)  # fmt: skip
def test_wordings_of_one_fact_are_one(one, other, same):
    assert say_the_same(one, other) is same
    assert say_the_same(other, one) is same
