from __future__ import annotations

import pytest

from tests.retrieval.dates.shown import asked, cases, rows

READ = """
What happened in week 12? | 2026-03-16/2026-03-22
What happened on Monday morning? | 2026-11-30
What happened on Monday 4 May? | 2026-05-04
What happened in the year 2019? | 2019-01-01/2019-12-31
What happened since the beginning of the 1990s? | 1990-01-01/
上半年做了什么？ | 2026-01-01/2026-06-30
What happened Monday? | 2026-11-30
What happened on Monday and Tuesday? | 2026-11-30, 2026-12-01
What did we eat on Friday or on Saturday? | 2026-11-27, 2026-11-28
What happened from Friday to Sunday? | 2026-11-27/2026-11-29
What changed since Friday? | 2026-11-27/
Where were we Monday? | 2026-11-30
What will we do on Friday? | 2026-12-04
What is planned for Friday? | 2026-12-04
Who planned the trip on Friday? | 2026-11-27
What's planned for next Friday? | 2026-12-04/2026-12-11
What happened over the weekend? | 2026-11-28/2026-11-29
What happened in spring? | 2026-03-01/2026-05-31
What happened in winter? | 2026-12-01/2027-02-28
What happened in spring last year? | 2025-03-01/2025-05-31
What happened in the summer two years ago? | 2024-06-01/2024-08-31
What happened in the second quarter? | 2026-04-01/2026-06-30
What happened in the 1990s? | 1990-01-01/1999-12-31
Sales 2019-2021 | 2019-01-01/2021-12-31
Sales 2019 to 2021 | 2019-01-01/2021-12-31
Was ist am Freitag passiert? | 2026-11-27
Was geschah in der 12. Kalenderwoche 2025? | 2025-03-17/2025-03-23
Was geschah in Kalenderwoche 12? | 2026-03-16/2026-03-22
Was geschah in KW 12/2025? | 2025-03-17/2025-03-23
Was geschah im zweiten Quartal? | 2026-04-01/2026-06-30
Was geschah in den 1990er Jahren? | 1990-01-01/1999-12-31
Wat gebeurde er op vrijdag? | 2026-11-27
Wat gebeurde er vrijdag? | 2026-11-27
Wat gebeurde er vrijdagmiddag? | 2026-11-27
Wat gebeurde er in het tweede kwartaal? | 2026-04-01/2026-06-30
Wat gebeurde er in de jaren 1990? | 1990-01-01/1999-12-31
Qu'est-il arrivé vendredi ? | 2026-11-27
Que s'est-il passé au deuxième trimestre ? | 2026-04-01/2026-06-30
第一季度发生了什么？ | 2026-01-01/2026-03-31
第2四半期の売上は？ | 2026-04-01/2026-06-30
1990年代に何をした？ | 1990-01-01/1999-12-31
令和7年に何をした？ | 2025-01-01/2025-12-31
令和7年3月に何をした？ | 2025-03-01/2025-03-31
平成31年に何をした？ | 2019-01-01/2019-12-31
昭和64年に何をした？ | 1989-01-01/1989-12-31
令和元年に何をした？ | 2019-01-01/2019-12-31
What changed from 2019 onwards? | 2019-01-01/
"""
NONE = """
What happens in week 12 of the course?
Which project is called Friday?
Who was Friday?
Who was injured in Week 5?
Is this film set in 1920s Paris?
What did the Friday project deploy?
What ran on Friday Harbor?
Is it open on Monday?
Which beans are in spring boot?
What is in Spring?
When did the second quarter-final end?
Who won the second quarter of the game?
What is a 2000s timeout?
What did port range 1980-2020 do?
De vrijdag was toch een vrije dag?
Que fait-on le vendredi, c'était fermé ?
每个周末做了什么？
令和の時代に何をした？
"""


@pytest.mark.parametrize(("text", "days"), cases(READ))
def test_what_a_question_makes_plain_is_read(text, days):
    assert asked(text) == days


@pytest.mark.parametrize("text", rows(NONE))
def test_a_name_or_a_habit_is_no_time(text):
    assert asked(text) is None
