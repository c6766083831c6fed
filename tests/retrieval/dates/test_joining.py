from __future__ import annotations

import pytest

from tests.retrieval.dates.shown import asked, cases, told

CROSSED = """
What happened in May last year? | 2025-05-01/2025-05-31
What happened in May of last year? | 2025-05-01/2025-05-31
What happened in May two years ago? | 2024-05-01/2024-05-31
What happened on May 3 last year? | 2025-05-03
What happened on 3 May last year? | 2025-05-03
What happened on the 3rd of May two years ago? | 2024-05-03
What happened May last year? | 2025-05-01/2025-05-31
What happened last year in May? | 2025-05-01/2025-05-31
What happened last year on 3 May? | 2025-05-03
What happened in 2024 in May? | 2024-05-01/2024-05-31
What happened in 2024, on 3 May? | 2024-05-03
What happened from 3 to 10 May last year? | 2025-05-03/2025-05-10
What happened from March to May last year? | 2025-03-01/2025-05-31
What happened between 28 April and 3 May last year? | 2025-04-28/2025-05-03
What happened in Q3 last year? | 2025-07-01/2025-09-30
Was geschah im Mai letzten Jahres? | 2025-05-01/2025-05-31
Was geschah am 3. Mai letzten Jahres? | 2025-05-03
Was geschah im Mai vor zwei Jahren? | 2024-05-01/2024-05-31
Wat gebeurde er in mei vorig jaar? | 2025-05-01/2025-05-31
Wat gebeurde er in mei van vorig jaar? | 2025-05-01/2025-05-31
Wat gebeurde er op 3 mei vorig jaar? | 2025-05-03
Wat gebeurde er twee jaar geleden in mei? | 2024-05-01/2024-05-31
Que s'est-il passé en mai l'an dernier ? | 2025-05-01/2025-05-31
Que s'est-il passé le 3 mai de l'année dernière ? | 2025-05-03
Que s'est-il passé en mai il y a deux ans ? | 2024-05-01/2024-05-31
去年三月开了什么会？ | 2025-03-01/2025-03-31
去年的5月3日开了什么会？ | 2025-05-03
两年前的三月开了什么会？ | 2024-03-01/2024-03-31
去年3月5日到10日开了什么会？ | 2025-03-05/2025-03-10
去年の3月に何をした？ | 2025-03-01/2025-03-31
2年前の3月に何をした？ | 2024-03-01/2024-03-31
令和7年（2025年）3月に何をした？ | 2025-03-01/2025-03-31
What happened a year ago today? | 2025-12-01
What happened a week ago today? | 2026-11-24
What happened today a year ago? | 2025-12-01
What happened two years ago yesterday? | 2024-11-30
Wat gebeurde er vandaag een jaar geleden? | 2025-12-01
Was geschah heute vor einem Jahr? | 2025-12-01
去年的今天做了什么？ | 2025-12-01
1年前の今日、何をした？ | 2025-12-01
"""
LISTS = """
What happened in March or May last year? | 2025-03-01/2025-03-31, 2025-05-01/2025-05-31
What happened on 3 March and 10 May 2024? | 2024-03-03, 2024-05-10
What happened in 2019 and 2021? | 2019-01-01/2019-12-31, 2021-01-01/2021-12-31
What happened in 2019 or in 2021? | 2019-01-01/2019-12-31, 2021-01-01/2021-12-31
What happened in 2019, 2020 and 2021? | 2019-01-01/2019-12-31, 2020-01-01/2020-12-31, 2021-01-01/2021-12-31
Sales 2019 or 2021 | 2019-01-01/2019-12-31, 2021-01-01/2021-12-31
Sales of 2019, 2020 and 2021 | 2019-01-01/2019-12-31, 2020-01-01/2020-12-31, 2021-01-01/2021-12-31
What happened in March 2025 and 2026? | 2025-03-01/2025-03-31, 2026-03-01/2026-03-31
What happened in Q1 2025 and 2026? | 2025-01-01/2025-03-31, 2026-01-01/2026-03-31
Wat gebeurde er in 2019 en 2021? | 2019-01-01/2019-12-31, 2021-01-01/2021-12-31
Was geschah im Jahr 2019 und 2021? | 2019-01-01/2019-12-31, 2021-01-01/2021-12-31
Que s'est-il passé en 2019 et 2021 ? | 2019-01-01/2019-12-31, 2021-01-01/2021-12-31
What happened in May this year and last year? | 2026-05-01/2026-05-31, 2025-01-01/2025-12-31
"""
APART = """
Did it run in 2019, 2000 requests at once? | 2019-01-01/2019-12-31
Did it run in 2019 and 2000 users came? | 2019-01-01/2019-12-31
In May, last year's budget was cut, was it not? | 2026-05-01/2026-05-31, 2025-01-01/2025-12-31
What did we spend in March or in December? | 2026-03-01/2026-03-31, 2026-12-01/2026-12-31
"""
# Their dates are read, and nothing else.
NOTES = """
In May last year we moved. | 2025-05-01/2025-05-31
We moved on May 3 last year. | 2025-05-03
Im Mai letzten Jahres begonnen. | 2025-05-01/2025-05-31
We moved a year ago today. | 2025-12-01
He was born in May 1980 and died on 3 June 2001. | 1980-05-01/1980-05-31
"""


@pytest.mark.parametrize(("text", "days"), cases(CROSSED))
def test_two_times_that_narrow_each_other_are_one(text, days):
    assert asked(text) == days


@pytest.mark.parametrize(("text", "days"), cases(LISTS))
def test_each_time_of_a_list_is_read_with_its_year(text, days):
    assert asked(text) == days


@pytest.mark.parametrize(("text", "days"), cases(APART))
def test_what_only_stands_close_stays_apart(text, days):
    assert asked(text) == days


@pytest.mark.parametrize(("text", "days"), cases(NOTES))
def test_a_note_is_read_the_same_way(text, days):
    assert told(text) == days
