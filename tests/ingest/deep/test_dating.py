"""A model's day is a choice between dates that the note tells, and never more exact than these."""

from __future__ import annotations

from datetime import date

import pytest

from ingest.deep.dating import believed, tells_date
from recalld.records import DateInterval


def days(value, statement, *above, dated=None):
    found = believed(value, statement, above=above, dated=dated)
    return None if found is None else (found.first.isoformat(), found.last.isoformat())


THIRD = ("2026-03-03", "2026-03-03")


@pytest.mark.parametrize(
    ("value", "statement", "told"),
    [
        ("2019-05-03", "The rack has 3 servers.", None),
        ("1999-01-12", "Version 12 is out.", None),
        ("2026-03-03", "The boiler failed on 3 March 2026.", THIRD),
        ("2026-07-03", "The boiler failed on 3 March 2026.", THIRD),
        ("", "The boiler failed on 3 March 2026.", THIRD),
        ("2026-11-30", "The boiler failed in 2026.", ("2026-01-01", "2026-12-31")),
        ("2024-05-01", "De plotter is in mei 2024 verkocht.", ("2024-05-01", "2024-05-31")),
        ("2026-03-03", "Der Kessel fiel am 3. März 2026 aus.", THIRD),
        ("2011-03-03", "La chaudière est tombée en panne le 3 mars 2026.", THIRD),
        ("2026-03-03", "锅炉于2026年3月3日坏了。", THIRD),
        ("2026-03-09", "ボイラーは2026年3月3日に故障した。", THIRD),
        (["2026"], "The boiler is in the cellar.", None),
        ("2026-03-03", "The boiler is in the cellar.", None),
    ],
)
def test_days_are_those_of_the_statement(value, statement, told):
    assert days(value, statement) == told


def test_of_two_dates_the_model_chooses():
    text = "Sold on 1 May 2024, and paid on 3 May 2024."
    assert days("2024-05-03", text) == ("2024-05-03", "2024-05-03")
    assert days("2024-06-03", text) == ("2024-05-01", "2024-05-01")


def test_relative_day_counts_from_the_notes_day_and_from_no_other():
    noted = date(2026, 3, 4)
    assert days("2026-03-03", "The boiler failed yesterday.", dated=noted) == THIRD
    assert days("2026-03-03", "The boiler failed yesterday.") is None


def test_heading_dates_what_has_no_date_where_the_model_says_so():
    assert days("2026-03-03", "The boiler failed.", "3 March 2026") == THIRD
    assert days("", "The boiler failed.", "3 March 2026") is None
    assert days("2026-03-05", "The boiler failed.", "3 March 2026") is None


def test_date_is_told_also_where_its_day_is_not_known():
    assert tells_date("The boiler failed yesterday.")
    assert not tells_date("The boiler failed.")
    assert believed("x", "", above=(), dated=None) is None
    assert DateInterval(first=date(2026, 1, 1), last=date(2026, 1, 1)) == believed(
        None, "On 2026-01-01.", above=(), dated=None
    )
