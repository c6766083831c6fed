from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.dates.readers import Day
from retrieval.dates.reading import first_date, read_dates
from tests.growth import assert_grows_with_size
from tests.retrieval.dates.shown import cases, rows

# A Tuesday.
TODAY = date(2026, 3, 10)


def told(text: str, day: date | None = TODAY) -> str | None:
    interval = first_date(text, day=day)
    if interval is None:
        return None
    first, last = interval.first.isoformat(), interval.last.isoformat()
    return first if first == last else f"{first}/{last}"


READ = """
the day before yesterday it broke | 2026-03-08
We leave the day after tomorrow. | 2026-03-12
It broke last night. | 2026-03-09
We met this morning. | 2026-03-10
Gisteravond ging het mis. | 2026-03-09
Vanochtend viel hij uit. | 2026-03-10
Eergisteren was het stil. | 2026-03-08
Heute Morgen fiel er aus. | 2026-03-10
Vorgestern kam der Techniker. | 2026-03-08
Ce matin, le serveur est tombé. | 2026-03-10
昨晚服务器坏了。 | 2026-03-09
大前天坏了。 | 2026-03-07
今朝、故障した。 | 2026-03-10
昨夜、停電した。 | 2026-03-09
おととい届いた。 | 2026-03-08
그제 고장났다. | 2026-03-08
last Friday we met | 2026-03-06
We meet next Tuesday. | 2026-03-17
We meet next Monday. | 2026-03-16
This Friday the lease ends. | 2026-03-13
Tuesday last week it failed. | 2026-03-03
Komende vrijdag komt de monteur. | 2026-03-13
Afgelopen dinsdag was er storing. | 2026-03-03
Dinsdag vorige week ging het mis. | 2026-03-03
Letzten Freitag kam der Techniker. | 2026-03-06
Kommenden Freitag wird geliefert. | 2026-03-13
Vendredi dernier, on a déménagé. | 2026-03-06
Vendredi prochain, on déménage. | 2026-03-13
上周五开了会。 | 2026-03-06
上星期三换了电池。 | 2026-03-04
这周五交报告。 | 2026-03-13
本周一开会。 | 2026-03-09
下周二发布。 | 2026-03-17
先週の金曜日に会議があった。 | 2026-03-06
来週の火曜日に納品する。 | 2026-03-17
今週の金曜日に締め切り。 | 2026-03-13
지난주 금요일에 회의했다. | 2026-03-06
two weeks ago we moved | 2026-02-23/2026-03-01
3 days ago it failed | 2026-03-07
a month ago we moved | 2026-02-01/2026-02-28
ten years ago we moved | 2016-01-01/2016-12-31
Twee weken geleden verhuisd. | 2026-02-23/2026-03-01
Drie dagen geleden ging het mis. | 2026-03-07
Een maand geleden begonnen. | 2026-02-01/2026-02-28
Vor zwei Wochen umgezogen. | 2026-02-23/2026-03-01
Vor einem Monat begonnen. | 2026-02-01/2026-02-28
Il y a trois jours, panne. | 2026-03-07
Il y a deux semaines, on a déménagé. | 2026-02-23/2026-03-01
三天前坏了。 | 2026-03-07
两周前搬家了。 | 2026-02-23/2026-03-01
三个月前开始。 | 2025-12-01/2025-12-31
两年前买的。 | 2024-01-01/2024-12-31
3日前に壊れた。 | 2026-03-07
二週間前に引っ越した。 | 2026-02-23/2026-03-01
3か月前に始めた。 | 2025-12-01/2025-12-31
3일 전에 고장났다. | 2026-03-07
the week before last we moved | 2026-02-23/2026-03-01
This week we pack. | 2026-03-09/2026-03-15
Deze maand begint het. | 2026-03-01/2026-03-31
Vorige maand verhuisd. | 2026-02-01/2026-02-28
Letzte Woche umgezogen. | 2026-03-02/2026-03-08
Letztes Jahr begonnen. | 2025-01-01/2025-12-31
La semaine dernière, panne. | 2026-03-02/2026-03-08
Le mois dernier, panne. | 2026-02-01/2026-02-28
上个月换的。 | 2026-02-01/2026-02-28
上上周换的。 | 2026-02-23/2026-03-01
先月交換した。 | 2026-02-01/2026-02-28
Last weekend we painted. | 2026-03-07/2026-03-08
上周末去爬山。 | 2026-03-07/2026-03-08
last quarter sales fell | 2025-10-01/2025-12-31
In the past two weeks it failed. | 2026-02-24/2026-03-10
Over the last 3 days it failed. | 2026-03-07/2026-03-10
De afgelopen twee weken was het stil. | 2026-02-24/2026-03-10
In den letzten drei Tagen war es still. | 2026-03-07/2026-03-10
最近三天都在下雨。 | 2026-03-07/2026-03-10
In March it rained. | 2026-03-01/2026-03-31
In maart vorig jaar begonnen. | 2025-03-01/2025-03-31
Last December we moved. | 2025-12-01/2025-12-31
En mars dernier, on a déménagé. | 2025-03-01/2025-03-31
Im Mai letzten Jahres begonnen. | 2025-05-01/2025-05-31
去年三月开始。 | 2025-03-01/2025-03-31
今年一月开始。 | 2026-01-01/2026-01-31
去年3月15日开始。 | 2025-03-15
去年の3月に始めた。 | 2025-03-01/2025-03-31
上个月5号换的。 | 2026-02-05
本月5日換的。 | 2026-03-05
三月二日坏了。 | 2026-03-02
二〇二六年三月二日坏了。 | 2026-03-02
2026年3月2日，坏了。 | 2026-03-02
2025年十二月开始。 | 2025-12-01/2025-12-31
本月初换了电池。 | 2026-03-01/2026-03-15
上个月底换了。 | 2026-02-15/2026-02-28
今年初搬家。 | 2026-01-01/2026-06-30
early 2025 we started | 2025-01-01/2025-06-30
Mid-2025 we started. | 2025-04-01/2025-09-30
Late 2025 we started. | 2025-07-01/2025-12-31
Begin 2025 verhuisd. | 2025-01-01/2025-06-30
Eind vorig jaar verhuisd. | 2025-07-01/2025-12-31
Ende 2025 umgezogen. | 2025-07-01/2025-12-31
Q3 2025 was slow. | 2025-07-01/2025-09-30
2025-Q3 was slow | 2025-07-01/2025-09-30
the third quarter of 2025 | 2025-07-01/2025-09-30
Het derde kwartaal van 2025 viel tegen. | 2025-07-01/2025-09-30
Im dritten Quartal 2025 | 2025-07-01/2025-09-30
2025年第三季度 | 2025-07-01/2025-09-30
2025年第3四半期 | 2025-07-01/2025-09-30
In KW 12 wird geliefert. | 2025-03-17/2025-03-23
KW 8 war ruhig | 2026-02-16/2026-02-22
week 12 of 2025 | 2025-03-17/2025-03-23
2025-W12 was quiet | 2025-03-17/2025-03-23
In week 8 komt de monteur, zei het bedrijf. | 2026-02-16/2026-02-22
2026年第8周 | 2026-02-16/2026-02-22
From March to June 2025 it was closed. | 2025-03-01/2025-06-30
Van mei tot juli was het dicht. | 2025-05-01/2025-07-31
3月1日から3月5日まで休み | 2026-03-01/2026-03-05
11月到2月很冷 | 2025-11-01/2026-02-28
from 1 March until 5 March it rained | 2026-03-01/2026-03-05
"""
LEFT_ALONE = """
You may call me.
May is a colleague of ours.
They march on.
We march on Sunday mornings.
The march was long.
March on, said Bill.
The sun came out.
I sat on the mon amour record.
Version 2.3.2026.1 came out.
Upgrade from v1.2.3 to 12.03.1.
Call 020-555 2024.
Call +31 6 2026 0302.
The server is 10.0.3.12.
The id is 2026-03-02-abc.
ticket 12345-03-02
Add 1/2 cup of flour.
A 3/4 inch pipe, 5/8 wide.
It begins at 10:30 and ends at 12.15.
HTTP 404 and 2024 ms
Windows 2000 runs on port 2024.
In the second half it failed.
Wait a second.
She came second in Q1's quiz.
The day of reckoning.
We watched The Day After Tomorrow.
The band played Yesterday.
John Oliver hosts Last Week Tonight.
The last week of the sprint is hard.
the last month of the course
What matters today is speed.
Today's paper is here.
Yesterday's news is no news.
De server staat hier.
Hier ist der Schlüssel.
The Mars 2020 rover landed.
in mars
Week 12 of the course is about trees.
In week 12 of pregnancy rest.
See W3C and Q4_K_M.
next Friday
volgende vrijdag
Nächsten Freitag
Use the next version.
Last but not least.
the next day he left
2.5 years ago
years ago it was blue
Vor allem in Wochen mit Regen.
Vor der Tür.
三个月的合同
前端和后端
三年前后都有
目前天气很好
以前天天跑步
每年三月缴费
毎年3月に更新する
一天三次，每次两片
三日间的旅行
2个月间
3年間続けている人
The quarter is a coin.
Every march is long.
It takes two weeks.
In two weeks time flies.
The 90 days limit.
Port 8080, size 2026x1080
https://example.org/2026/03/02/post
/srv/backup/2026-03-02/db.sql
"""


@pytest.mark.parametrize(("text", "days"), cases(READ))
def test_a_date_is_read(text, days):
    assert told(text) == days


@pytest.mark.parametrize("text", rows(LEFT_ALONE))
def test_what_is_no_date_is_left_alone(text):
    assert told(text) is None


def test_the_tables_are_as_large_as_they_are_said_to_be():
    assert len(rows(READ)) >= 80
    assert len(rows(LEFT_ALONE)) >= 40


def test_every_date_comes_with_its_place():
    text = "Moved on 2 March 2026, sold it last week."
    dates = read_dates(text, Day(day=TODAY))
    assert [(text[one.start : one.end], one.is_written) for one in dates] == [
        ("2 March 2026", True),
        ("last week", False),
    ]


def test_a_question_that_looks_ahead_means_the_next_such_day():
    ahead = read_dates("on 12 December", Day(day=TODAY, is_ahead=True))
    assert ahead[0].interval.first == date(2026, 12, 12)


@pytest.mark.parametrize(
    "text",
    [
        "yesterday",
        "last week",
        "2 March",
        "in March",
        "三天前",
        "上周五",
        "KW 12",
        "in Q3",
        "twee weken geleden",
    ],
)
def test_nothing_is_reckoned_without_a_day(text):
    assert told(text, None) is None
    assert told(text, date(1850, 1, 1)) is None


@given(st.dates(date(1900, 1, 1), date(2100, 12, 31)), st.integers(1, 60))
def test_days_ago_lie_that_many_days_back(day, back):
    text = f"{back} days ago"
    interval = first_date(text, day=day)
    assert interval is not None
    assert interval.first == interval.last == day - timedelta(days=back)


@given(
    st.text(
        alphabet="0123456789-/.:年月日周週前上去今先の三十一天 MayMarchlastweekvoreindKWQ~から到",
        max_size=40,
    ),
    st.none() | st.dates(),
)
def test_any_text_is_survived(text, day):
    ends = [(one.start, one.end) for one in read_dates(text, Day(day=day))]
    assert all(0 <= start < end <= len(text) for start, end in ends)
    assert ends == sorted(ends)


@pytest.mark.parametrize(
    "piece",
    [
        "last week ",
        "in March ",
        "2026-03-02 ",
        "上周五",
        "三天前",
        "Yesterday ",
        "vor ",
        "1 ",
        "hier ",
        "in week 8 ",
        "today ",
        "from May to ",
    ],
)
def test_time_grows_with_the_text(piece):
    at = Day(day=TODAY)
    assert_grows_with_size(lambda text: read_dates(text, at), lambda size: piece * size, small=100)
