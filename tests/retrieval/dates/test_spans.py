from __future__ import annotations

import pytest

from retrieval.dates.readers import Day
from retrieval.dates.reading import read_dates
from tests.growth import assert_grows_with_size
from tests.retrieval.dates.shown import TODAY, asked, cases, rows, told

# In a question and in a note alike.
SPANS = """
What happened from 3 to 10 May? | 2026-05-03/2026-05-10
What happened from the 3rd to the 10th of May? | 2026-05-03/2026-05-10
What happened from 3 until 10 May 2025? | 2025-05-03/2025-05-10
What happened from 3 through 10 May 2025? | 2025-05-03/2025-05-10
What happened between 3 and 10 May 2025? | 2025-05-03/2025-05-10
What happened between the 3rd and the 10th of May? | 2026-05-03/2026-05-10
What happened between the 3rd and 10th May 2025? | 2025-05-03/2025-05-10
What happened 3 to 10 May 2025? | 2025-05-03/2025-05-10
What happened 3–10 May? | 2026-05-03/2026-05-10
What happened from Monday 4 to Friday 8 May? | 2026-05-04/2026-05-08
What happened between May 3 and 10? | 2026-05-03/2026-05-10
What happened between May 3 and May 10? | 2026-05-03/2026-05-10
What happened from May 3 to 10? | 2026-05-03/2026-05-10
What happened May 3rd to 10th, 2025? | 2025-05-03/2025-05-10
What happened March 3-10? | 2026-03-03/2026-03-10
The fair was between May 3 and the 10th, 2025. | 2025-05-03/2025-05-10
What happened from March 3 to March 10? | 2026-03-03/2026-03-10
What happened between 28 April and 3 May 2022? | 2022-04-28/2022-05-03
What happened from 28 December 2024 to 3 January? | 2024-12-28/2025-01-03
What happened between 28 December and 3 January 2022? | 2021-12-28/2022-01-03
What happened from November 2024 to February? | 2024-11-01/2025-02-28
Wat gebeurde er van 3 tot 10 mei? | 2026-05-03/2026-05-10
Wat gebeurde er van 3 tot en met 10 mei 2025? | 2025-05-03/2025-05-10
Wat gebeurde er van 3 t/m 10 mei 2025? | 2025-05-03/2025-05-10
Wat gebeurde er van de 3e tot de 10e mei? | 2026-05-03/2026-05-10
Wat gebeurde er tussen 3 en 10 mei? | 2026-05-03/2026-05-10
Wat gebeurde er van maandag 4 tot vrijdag 8 mei? | 2026-05-04/2026-05-08
Wat gebeurde er van 28 april tot en met 3 mei? | 2026-04-28/2026-05-03
Wat gebeurde er tussen maart en mei 2025? | 2025-03-01/2025-05-31
Wat gebeurde er van 2019 tot en met 2021? | 2019-01-01/2021-12-31
Was geschah vom 3. bis 10. Mai? | 2026-05-03/2026-05-10
Was geschah vom 3. bis zum 10. Mai 2025? | 2025-05-03/2025-05-10
Was geschah zwischen dem 3. und dem 10. Mai? | 2026-05-03/2026-05-10
Was geschah zwischen dem 3. und 10. Mai 2025? | 2025-05-03/2025-05-10
Was geschah zwischen dem 28. April und dem 3. Mai 2025? | 2025-04-28/2025-05-03
Was geschah vom 28. April bis zum 3. Mai 2025? | 2025-04-28/2025-05-03
Vom 1. bis 5. Mai ist zu. | 2026-05-01/2026-05-05
Was geschah vom 3.5. bis 10.5.2025? | 2025-05-03/2025-05-10
Was geschah vom 3. bis 10.5.2025? | 2025-05-03/2025-05-10
Was geschah von Freitag, den 3. Mai 2024 bis Sonntag, den 5. Mai 2024? | 2024-05-03/2024-05-05
What happened from Monday 4 May to Friday 8 May 2026? | 2026-05-04/2026-05-08
What happened between Monday 4 May and Friday 8 May? | 2026-05-04/2026-05-08
¿Qué pasó de marzo a mayo de 2025? | 2025-03-01/2025-05-31
Was geschah von März bis Mai 2025? | 2025-03-01/2025-05-31
Was geschah zwischen 2019 und 2021? | 2019-01-01/2021-12-31
Que s'est-il passé du 3 au 10 mai ? | 2026-05-03/2026-05-10
Que s'est-il passé du 1er au 10 mai 2025 ? | 2025-05-01/2025-05-10
Que s'est-il passé entre le 3 et le 10 mai ? | 2026-05-03/2026-05-10
Que s'est-il passé entre le 28 avril et le 3 mai 2025 ? | 2025-04-28/2025-05-03
Que s'est-il passé de mars à mai 2025 ? | 2025-03-01/2025-05-31
Que s'est-il passé entre 2019 et 2021 ? | 2019-01-01/2021-12-31
¿Qué pasó del 3 al 10 de mayo? | 2026-05-03/2026-05-10
¿Qué pasó del 3 al 10 de mayo de 2025? | 2025-05-03/2025-05-10
¿Qué pasó entre el 3 y el 10 de mayo? | 2026-05-03/2026-05-10
3月5日到10日做了什么？ | 2026-03-05/2026-03-10
3月5日至10日做了什么？ | 2026-03-05/2026-03-10
3月5号到10号做了什么？ | 2026-03-05/2026-03-10
三月五日到十日做了什么？ | 2026-03-05/2026-03-10
3月5日和10日之间做了什么？ | 2026-03-05/2026-03-10
3月5日〜10日は何をした？ | 2026-03-05/2026-03-10
3月5日（木）〜10日（火）は何をした？ | 2026-03-05/2026-03-10
3月5日から10日まで何をした？ | 2026-03-05/2026-03-10
3月5日から4月10日まで何をした？ | 2026-03-05/2026-04-10
3月から5月まで何をしましたか？ | 2026-03-01/2026-05-31
3月から5月の売上は？ | 2026-03-01/2026-05-31
3〜5月の売上は？ | 2026-03-01/2026-05-31
三到五月的销售额 | 2026-03-01/2026-05-31
2025年3月到5月的销售额 | 2025-03-01/2025-05-31
2025年11月から2月まで何をした？ | 2025-11-01/2026-02-28
展会是2025年5月3日到10日。 | 2025-05-03/2025-05-10
展示会は2025年5月3日から10日まで。 | 2025-05-03/2025-05-10
2025年3月5日到4月10日做了什么？ | 2025-03-05/2025-04-10
2019年から2021年まで何をした？ | 2019-01-01/2021-12-31
2019到2021年做了什么？ | 2019-01-01/2021-12-31
What happened between March and May 2025? | 2025-03-01/2025-05-31
What happened from March until May 2025? | 2025-03-01/2025-05-31
What happened from 2019 to 2021? | 2019-01-01/2021-12-31
What happened between 2019 and 2021? | 2019-01-01/2021-12-31
The war lasted from 1914 to 1918. | 1914-01-01/1918-12-31
What happened in 2019-2021? | 2019-01-01/2021-12-31
Sales from Q1 to Q3 2025 | 2025-01-01/2025-09-30
The sale was between 3 and 10 May 2025. | 2025-05-03/2025-05-10
La réunion est du 3 au 10 mai 2025. | 2025-05-03/2025-05-10
Die Messe ist vom 3. bis 10. Mai 2025. | 2025-05-03/2025-05-10
De beurs is van 3 t/m 10 mei 2025. | 2025-05-03/2025-05-10
"""
LISTS = """
What happened on 3 and 10 May 2025? | 2025-05-03, 2025-05-10
What happened on the 3rd, 5th and 10th of May? | 2026-05-03, 2026-05-05, 2026-05-10
What happened on May 3 and 10? | 2026-05-03, 2026-05-10
Was geschah am 3. und 10. Mai 2025? | 2025-05-03, 2025-05-10
What happened in March or May 2025? | 2025-03-01/2025-03-31, 2025-05-01/2025-05-31
What happened in January, March and May 2025? | 2025-01-01/2025-01-31, 2025-03-01/2025-03-31, 2025-05-01/2025-05-31
March and May 2025 | 2025-03-01/2025-03-31, 2025-05-01/2025-05-31
Q1 and Q2 2025 | 2025-01-01/2025-03-31, 2025-04-01/2025-06-30
Wat gebeurde er in maart of mei 2025? | 2025-03-01/2025-03-31, 2025-05-01/2025-05-31
3月5日和6日做了什么？ | 2026-03-05, 2026-03-06
2025年3月5日、6日に何をした？ | 2025-03-05, 2025-03-06
Was geschah im März und Mai 2025? | 2025-03-01/2025-03-31, 2025-05-01/2025-05-31
"""
OPEN = """
Wat gebeurde er tot 10 mei? | /2026-05-10
Was geschah bis 10. Mai? | /2026-05-10
5月まで何をしましたか？ | /2026-05-31
3月5日から何をした？ | 2026-03-05/
What changed until May 3? | /2026-05-03
What happened before 3 May 2025? | /2025-05-02
"""
NO_DATES = """
The disk holds between 3 and 10 GB.
It takes from 3 to 10 users.
Het kost van 3 tot 10 euro.
Er zijn tussen 3 en 10 stuks.
Es kostet zwischen 3 und 10 Euro.
Cela coûte entre 3 et 10 euros.
Raise it from 3 to 10.
Between 3 and 10 may fail.
Of the 3 to 10 may be wrong.
Versions 3 to 10 march on.
Scores from 2000 to 2050 points count.
It goes from 2000 to 2050 requests.
The price rose from 1950 to 2000.
Ports 1980-2020 are open.
Call 2019-2021-55.
id 2019-2021
Room 2019-2021
It cost 1950 to 2000 euros.
Between 2010 and 2020 items were sold.
Versions 3.5. bis 10.5.20251
每天3到10次
3到5个月
3〜5か月かかる。
10日から15日間かかる。
"""
# A day, and a number that is none.
ONE_DAY = """
On May 3 to 10 users it was shown. | 2026-05-03
Sent on May 3 and 10 people came. | 2026-05-03
"""


@pytest.mark.parametrize(("text", "days"), cases(SPANS))
def test_a_span_is_one_interval_in_a_question_and_in_a_note(text, days):
    assert asked(text) == days
    assert told(text) == days


@pytest.mark.parametrize(("text", "days"), cases(LISTS))
def test_each_of_a_list_is_an_interval_with_the_month_or_year_of_the_last(text, days):
    assert asked(text) == days


@pytest.mark.parametrize(("text", "days"), cases(OPEN))
def test_one_end_alone_leaves_the_other_side_open(text, days):
    assert asked(text) == days


@pytest.mark.parametrize("text", rows(NO_DATES))
def test_numbers_that_count_something_are_no_days(text):
    assert told(text) is None
    assert asked(text) is None


@pytest.mark.parametrize(("text", "days"), cases(ONE_DAY))
def test_what_a_number_counts_ends_no_span(text, days):
    assert told(text) == days
    assert asked(text) == days


def test_two_names_in_a_note_are_no_months():
    assert told("The talk between April and June was long.") is None


def test_a_span_keeps_its_words_together():
    (one,) = read_dates("It was open from 3 to 10 May 2025 only.", Day(day=TODAY))
    assert (one.start, one.end) == (12, 33)
    assert one.is_written


@pytest.mark.parametrize(
    "piece",
    [
        "3 to 10 May ",
        "between 3 and ",
        "3, ",
        "3 and 10 ",
        "May, ",
        "March to May and ",
        "2019, 2020 and ",
        "in 2019, ",
        "3月5日到",
        "3月到5",
        "from 2019 to ",
        "Q1, Q2 and ",
        "May 3 to ",
        "last year in May ",
        "the 3 days before last week ",
    ],
)
def test_time_grows_with_the_text(piece):
    at = Day(day=TODAY)
    assert_grows_with_size(
        lambda text: read_dates(text, at), lambda size: piece * size + "May 2025", small=100
    )
