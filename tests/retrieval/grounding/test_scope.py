"""What a source puts round a statement may not be left out: who says so, that it is not so, when, how far."""

from __future__ import annotations

import pytest

from retrieval.grounding.clauses import analyse
from retrieval.grounding.scope import find_scope, says_something
from retrieval.grounding.verdict import Grounded, ground


def is_borne_out(statement, source):
    return isinstance(ground(statement, source=source), Grounded)


@pytest.mark.parametrize(
    ("statement", "source"),
    [
        ("The pump leaks.", "The pump leaks, says Bo."),
        ("The pump leaks.", "According to the plumber the pump leaks."),
        ("Les tests passent.", "Selon Léa, les tests passent."),
        ("Die Pumpe leckt.", "Laut Otto leckt die Pumpe."),
        ("Сервер сломан.", "Анна говорит, что сервер сломан."),
        ("水泵漏水。", "听说水泵漏水。"),
        ("ポンプが漏れています。", "ポンプが漏れているそうです。"),
        ("The door is open.", "It is not true that the door is open."),
        ("Tom sold the car.", "Tom offered to sell the car."),
        ("Der Aufzug geht.", "Tom bezweifelt, dass der Aufzug geht."),
        ("L'ascenseur marche.", "Tom espère que l'ascenseur marche."),
        ("Лифт работает.", "Том надеется, что лифт работает."),
        ("Lena smokes.", "Lena rarely smokes."),
        ("Users can export.", "Some users can export."),
        ("Lena rookt.", "Lena rookt zelden."),
        ("小李抽烟。", "小李很少抽烟。"),
        ("Guests may swim.", "Guests may swim, but only in July."),
        ("The desk takes no calls.", "The desk takes no calls from abroad."),
        ("De balie neemt niet op.", "De balie neemt niet op voor vreemden."),
        ("The pool is open.", "The pool is open until 18:00."),
        ("Das Bad ist offen.", "Das Bad ist offen, außer montags."),
        ("会员可以游泳。", "会员可以游泳，但周一不行。"),
        ("The fan starts.", "Once the box is warm, the fan starts."),
        ("De ventilator start.", "De ventilator start, zodra het warm is."),
        ("6 people fit.", "At most 6 people fit."),
        ("6 mensen passen erin.", "Er passen bijna 6 mensen in."),
        ("定员6人。", "定员不足6人。"),
        ("At most 3 chairs fit.", "At least 3 chairs fit, and at most 9 tables."),
        ("Hoogstens 3 stoelen passen.", "Minstens 3 stoelen passen, hoogstens 9 tafels."),
        ("至多3人。", "至少3人，至多9人。"),
        ("Ana is not smart.", "Ana is not only smart but rich."),
        ("Ana is niet slim.", "Ana is niet alleen slim maar ook rijk."),
        ("The admin is Eve.", "The admin is hardly ever Eve."),
    ],
)
def test_what_turns_limits_or_bounds_may_not_be_left_out(statement, source):
    assert not is_borne_out(statement, source)
    assert is_borne_out(source, source)


@pytest.mark.parametrize(
    ("statement", "source"),
    [
        ("Most shops are closed.", "Most shops are closed on Mondays."),
        ("You can find rulers.", "You can find rulers at most craft stores."),
        ("They are similar.", "They are similar with some differences."),
        ("The pool is open.", "The pool is open and Bo says that the bar is closed."),
        ("The pool opened in May.", "The pool opened in May; only the bar is closed."),
        ("At least 6 people fit.", "At least 6 people fit in the lift."),
        ("Only Ana has a key.", "Only Ana has a key of the vault."),
        ("Lena houdt van thee.", "Lena houdt van thee, maar niet van koffie."),
        ("水泵在地下室。", "水泵在地下室，是去年买的。"),
    ],
)
def test_what_turns_something_else_may(statement, source):
    assert is_borne_out(statement, source)


def test_reason_says_what_was_left_out():
    source = analyse("The pump leaks, says Bo.")
    said = analyse("The pump leaks.")
    refused = find_scope(said.clauses[0], [source.clauses[0]], said, source)
    assert refused is not None
    assert refused.detail == "reported"


@pytest.mark.parametrize(
    "text", ["Yes.", "Ana.", "It is.", "北京。", "はい。", "네.", "👍", "db-2", ""]
)
def test_a_yes_or_a_bare_name_says_nothing(text):
    assert not says_something(text)


@pytest.mark.parametrize(
    "text",
    ["The shop is closed.", "商店关门了。", "猫が寝る。", "서버는 꺼졌다.", "Ana lives there."],
)
def test_a_sentence_says_something(text):
    assert says_something(text)
