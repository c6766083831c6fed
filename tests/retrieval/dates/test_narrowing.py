from __future__ import annotations

import pytest

from tests.retrieval.dates.shown import asked, cases, told

HALVES = """
What happened in the first half of 2025? | 2025-01-01/2025-06-30
What happened in the second half of 2025? | 2025-07-01/2025-12-31
What happened in the first half of last year? | 2025-01-01/2025-06-30
What happened in the second half of last year? | 2025-07-01/2025-12-31
What happened in the first half of May 2025? | 2025-05-01/2025-05-15
What happened in H1 2025? | 2025-01-01/2025-06-30
What happened in H2 last year? | 2025-07-01/2025-12-31
What happened in the third quarter of last year? | 2025-07-01/2025-09-30
Wat gebeurde er in de eerste helft van 2025? | 2025-01-01/2025-06-30
Wat gebeurde er in de tweede helft van vorig jaar? | 2025-07-01/2025-12-31
Was geschah in der ersten Hälfte 2025? | 2025-01-01/2025-06-30
Was geschah in der zweiten Hälfte des letzten Jahres? | 2025-07-01/2025-12-31
Que s'est-il passé dans la première moitié de 2025 ? | 2025-01-01/2025-06-30
Que s'est-il passé au second semestre de l'année dernière ? | 2025-07-01/2025-12-31
2025年上半年做了什么？ | 2025-01-01/2025-06-30
去年下半年做了什么？ | 2025-07-01/2025-12-31
2025年前半に何をした？ | 2025-01-01/2025-06-30
去年の後半に何をした？ | 2025-07-01/2025-12-31
去年年底做了什么？ | 2025-07-01/2025-12-31
去年の年末に何をした？ | 2025-07-01/2025-12-31
"""
AWAY = """
What happened the day after 3 May 2025? | 2025-05-04
What happened the day before 3 May 2025? | 2025-05-02
What happened three days before yesterday? | 2026-11-27
What happened a week before 3 May 2025? | 2025-04-21/2025-04-27
What happened two weeks after 3 May 2025? | 2025-05-12/2025-05-18
What happened in the two weeks after 3 May 2025? | 2025-05-04/2025-05-17
What happened in the week before 3 May 2025? | 2025-04-26/2025-05-02
What happened a month after May 2025? | 2025-06-01/2025-06-30
What happened the year after 2019? | 2020-01-01/2020-12-31
Wat gebeurde er de dag na 3 mei 2025? | 2025-05-04
Wat gebeurde er twee dagen voor 3 mei 2025? | 2025-05-01
Was geschah am Tag nach dem 3. Mai 2025? | 2025-05-04
Was geschah drei Tage vor dem 3. Mai 2025? | 2025-04-30
Que s'est-il passé trois jours après le 3 mai 2025 ? | 2025-05-06
2025年5月3日的前一天做了什么？ | 2025-05-02
2025年5月3日の翌日に何をした？ | 2025-05-04
2025年5月3日の3日前に何をした？ | 2025-04-30
"""
WEEKS = """
What happened in the week of 3 May 2025? | 2025-04-28/2025-05-04
Wat gebeurde er in de week van 3 mei 2025? | 2025-04-28/2025-05-04
Was geschah in der Woche vom 3. Mai 2025? | 2025-04-28/2025-05-04
Que s'est-il passé la semaine du 3 mai 2025 ? | 2025-04-28/2025-05-04
2025年5月3日那周做了什么？ | 2025-04-28/2025-05-04
2025年5月3日の週に何をした？ | 2025-04-28/2025-05-04
What happened last week Friday? | 2026-11-27
What happened last week on Friday? | 2026-11-27
What happened on Friday of last week? | 2026-11-27
What happened on Friday two weeks ago? | 2026-11-20
Wat gebeurde er vorige week vrijdag? | 2026-11-27
Wat gebeurde er vrijdag twee weken geleden? | 2026-11-20
Was geschah letzte Woche Freitag? | 2026-11-27
Que s'est-il passé vendredi de la semaine dernière ? | 2026-11-27
What happened on the 3rd of last month? | 2026-11-03
Wat gebeurde er op de 3e van vorige maand? | 2026-11-03
Was geschah am 3. des letzten Monats? | 2026-11-03
Que s'est-il passé le 3 du mois dernier ? | 2026-11-03
"""
OPEN = """
What happened before 3 May 2025? | /2025-05-02
What happened in the days before 3 May 2025? | /2025-05-02
What happened up to and including May 2025? | /2025-05-31
It ran twice a year before 2020, did it not? | /2019-12-31
Was it open 5 days a week before 2020? | /2019-12-31
What did 8 hours a day after 2020 cost? | 2021-01-01/
"""
NOTES = """
It failed the day after 3 May 2025. | 2025-05-04
It failed three days before yesterday. | 2026-11-27
Sales fell in the first half of 2025. | 2025-01-01/2025-06-30
It failed last week Friday. | 2026-11-27
I asked last week. Friday it came. | 2026-11-23/2026-11-29
"""


@pytest.mark.parametrize(
    ("text", "days"), cases(HALVES + AWAY.lstrip() + WEEKS.lstrip() + OPEN.lstrip())
)
def test_what_stands_beside_a_date_makes_other_days_of_it(text, days):
    assert asked(text) == days


@pytest.mark.parametrize(("text", "days"), cases(NOTES))
def test_a_note_is_read_the_same_way(text, days):
    assert told(text) == days


@pytest.mark.parametrize(
    "text", ["In the second half it failed.", "The week of the fair was long."]
)
def test_a_part_of_nothing_is_no_time(text):
    assert told(text) is None
