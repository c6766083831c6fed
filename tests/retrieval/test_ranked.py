from __future__ import annotations

from datetime import date

from recalld.records import DateInterval, FactId
from retrieval.ranked import fact_anchor, fact_view, own_days, passage_anchor
from tests.retrieval.test_choosing import fact

DAY = date(2026, 3, 4)


def test_anchors_are_kind_and_eight_digits():
    uid = "a3f1c0d2" + "0" * 24
    assert fact_anchor(uid) == "fact:a3f1c0d2"
    assert passage_anchor(uid) == "passage:a3f1c0d2"


def test_day_of_a_fact_is_when_it_happened_else_when_it_was_stated():
    happened = DateInterval(first=date(2025, 1, 1), last=date(2025, 2, 1))
    assert own_days(fact(1)._replace(happened=happened, stated=DAY)) == happened
    assert own_days(fact(1)._replace(stated=DAY)) == DateInterval(first=DAY, last=DAY)
    assert own_days(fact(1)) is None


def test_view_of_a_fact_keeps_what_ranking_asks_for():
    row = fact(7)._replace(superseded_by=FactId(9), stated=DAY, recall_count=3)
    view = fact_view(row)
    assert (view.fact_id, view.statement_id, view.superseded_by) == (7, 7, 9)
    assert (view.stated, view.recall_count, view.anchor) == (DAY, 3, "fact:00000000")
