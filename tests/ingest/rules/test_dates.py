from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.markdown.blocks import parse_note
from ingest.rules.dates import find_dates, section_day
from ingest.rules.extractor import extract_note

# A Tuesday.
TODAY = date(2026, 3, 10)


def told(text: str, note_date: date | None = TODAY) -> tuple[str, str] | None:
    interval = find_dates(text, note_date=note_date)
    return interval and (interval.first.isoformat(), interval.last.isoformat())


@pytest.mark.parametrize(
    "text",
    [
        "On 2026-03-02 the disk failed.",
        "At 2026-03-02T10:00 the disk failed.",
        "2026/03/02 it failed",
        "It failed on 2 March 2026.",
        "It failed on March 2nd, 2026, twice.",
        "It failed the 2nd of March 2026.",
        "Mar 2, 2026: it failed.",
        "Op 3 maart 2026".replace("3", "2", 1),
        "Am 2. März 2026 fiel sie aus.",
        "Am 2.3.2026 fiel sie aus.",
        "Le 2 mars 2026, il est tombé.",
        "2026年3月2日，磁盘坏了。",
        "2026年3月2日に壊れた。",
        "2026년 3월 2일에 고장났다.",
        "On 2 March it failed.",
        "Op 2 mrt ging het mis.",
        "3月2日に壊れた。",
        "8 days ago it failed.",
        "8 dagen geleden ging het mis.",
        "Vor 8 Tagen fiel sie aus.",
        "Il y a 8 jours.",
        "8天前坏了。",
        "先週の月曜日に壊れた。",
        "上周一坏了。",
    ],
)
def test_a_day_is_read(text):
    assert told(text) == ("2026-03-02", "2026-03-02")


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("In 2026-02 we moved.", "2026-02-01", "2026-02-28"),
        ("In February 2024 we moved.", "2024-02-01", "2024-02-29"),
        ("In May we moved.", "2025-05-01", "2025-05-31"),
        ("In 2019 we moved.", "2019-01-01", "2019-12-31"),
        ("2019年に引っ越した。", "2019-01-01", "2019-12-31"),
        ("From 2026-03-02 to 2026-03-05 it was down.", "2026-03-02", "2026-03-05"),
        ("2-5 March 2026 in Ghent", "2026-03-02", "2026-03-05"),
        ("Today I moved.", "2026-03-10", "2026-03-10"),
        ("I moved house today.", "2026-03-10", "2026-03-10"),
        ("yesterday", "2026-03-09", "2026-03-09"),
        ("gisteren viel hij uit", "2026-03-09", "2026-03-09"),
        ("Gestern fiel er aus.", "2026-03-09", "2026-03-09"),
        ("Hier, le serveur est tombé.", "2026-03-09", "2026-03-09"),
        ("昨天坏了", "2026-03-09", "2026-03-09"),
        ("昨日壊れた", "2026-03-09", "2026-03-09"),
        ("一昨日壊れた", "2026-03-08", "2026-03-08"),
        ("어제 고장났다", "2026-03-09", "2026-03-09"),
        ("last week we moved", "2026-03-02", "2026-03-08"),
        ("vorige week verhuisd", "2026-03-02", "2026-03-08"),
        ("Letzten Monat", "2026-02-01", "2026-02-28"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("last Tuesday", "2026-03-03", "2026-03-03"),
        ("afgelopen maandag", "2026-03-09", "2026-03-09"),
        ("mardi dernier", "2026-03-03", "2026-03-03"),
        ("2 weeks ago", "2026-02-23", "2026-03-01"),
        ("On 12 December the lease ends.", "2025-12-12", "2025-12-12"),
        ("25/12/2025 and 12/25/2025", "2025-12-25", "2025-12-25"),
        ("On 29 February it snowed.", "2024-02-29", "2024-02-29"),
    ],
)
def test_spans_and_relative_days_are_read(text, first, last):
    assert told(text) == (first, last)


@pytest.mark.parametrize(
    "text",
    [
        "May I ask you 3 things?",
        "You may 3 times retry.",
        "They march 5 miles a day.",
        "Version 2.3.2026.1 and v1.12.3",
        "The meeting is at 12:30.",
        "3.5 bar, 1.25 kg, 2026 items",
        "See https://example.org/2026-03-02/post",
        "ids 12345-03-02 and 2026-13-40",
        "02/03/2026 may be either",
        "Today's systems, a Dutch hier is here",
        "What is true today will be wrong.",
        "Hier staat de server.",
        "Der Server steht hier.",
        "30 February 2026",
        "3か月間と2个月",
        "",
    ],
)
def test_what_is_no_date_is_left_alone(text):
    assert told(text) is None


@pytest.mark.parametrize(
    "text", ["yesterday", "last week", "2 March", "3月2日", "last Tuesday", "3 days ago"]
)
def test_nothing_is_guessed_without_the_day_of_the_note(text):
    assert told(text, None) is None
    assert told(f"{text}, or 2024-05-06", None) == ("2024-05-06", "2024-05-06")


@given(st.dates(date(1900, 1, 1), date(2100, 12, 31)))
def test_every_written_day_comes_back(day):
    for text in (
        day.isoformat(),
        f"{day:%B} {day.day}, {day.year}",
        f"{day.year}年{day.month}月{day.day}日",
    ):
        assert told(text, None) == (day.isoformat(), day.isoformat())


@given(
    st.dates(date(1950, 1, 1), date(2090, 12, 31)), st.dates(date(1950, 1, 1), date(2090, 12, 31))
)
def test_a_day_without_year_is_not_after_the_note(day, note_date):
    interval = find_dates(f"on {day.day} {day:%B} it rained", note_date=note_date)
    assert interval is None or note_date - timedelta(days=8 * 366) <= interval.first <= note_date


@given(
    st.text(alphabet="0123456789-/.:年月日 MayMarch周上T前vor", max_size=40), st.none() | st.dates()
)
def test_any_text_is_survived(text, note_date):
    find_dates(text, note_date=note_date)


@pytest.mark.parametrize(
    ("headings", "day"),
    [
        (("Log", "2026-03-02"), date(2026, 3, 2)),
        (("Log", "Monday 2 March 2026"), date(2026, 3, 2)),
        (("Log", "2026-03-02 (ma)"), date(2026, 3, 2)),
        (("2026年3月2日 星期一",), date(2026, 3, 2)),
        (("3月2日（月曜日）",), date(2026, 3, 2)),
        (("2026-03-02", "Morning"), date(2026, 3, 2)),
        (("2026-03-01", "2026-03-02"), date(2026, 3, 2)),
        (("March 2026",), None),
        (("Moved on 2 March 2026",), None),
        (("From 2026-03-02 to 2026-03-05",), None),
        (("Yesterday",), None),
        ((), None),
    ],
)
def test_a_section_is_about_the_day_that_its_heading_is(headings, day):
    assert section_day(headings, note_date=TODAY) == day


def test_below_a_heading_that_is_a_date_things_happened_then():
    note = parse_note(
        "# Log\n\n## 2026-03-02\n\nThe pump failed yesterday.\n\nMaria replaced the pump.\n"
    )
    facts = [
        fact
        for block in extract_note(note, note_date=date(2026, 6, 1))
        for passage in block.passages
        for statement in passage.statements
        for fact in statement.facts
    ]
    assert [(fact.happened.first, fact.happened.last) for fact in facts] == [
        (date(2026, 3, 1), date(2026, 3, 1)),
        (date(2026, 3, 2), date(2026, 3, 2)),
    ]
