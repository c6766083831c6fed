from __future__ import annotations

import pytest

from tests.retrieval.dates.shown import asked, cases, rows, told

READ = """
It moved half a year ago. | 2026-06-01/2026-06-30
Dat was een half jaar geleden. | 2026-06-01/2026-06-30
Dat was een halfjaar geleden. | 2026-06-01/2026-06-30
Das war vor einem halben Jahr. | 2026-06-01/2026-06-30
C'était il y a une demi-année. | 2026-06-01/2026-06-30
半年前搬家了。 | 2026-06-01/2026-06-30
半年前に引っ越した。 | 2026-06-01/2026-06-30
It moved half a month ago. | 2026-11-16/2026-11-22
半个月前搬家了。 | 2026-11-16/2026-11-22
It moved a year and a half ago. | 2025-06-01/2025-06-30
Dat was anderhalf jaar geleden. | 2025-06-01/2025-06-30
一年半前搬家了。 | 2025-06-01/2025-06-30
It failed in the last 24 hours. | 2026-11-30/2026-12-01
Er is de afgelopen 48 uur niets gebeurd. | 2026-11-29/2026-12-01
In den letzten 24 Stunden war es still. | 2026-11-30/2026-12-01
过去24小时没有故障。 | 2026-11-30/2026-12-01
It grew over the past year. | 2025-12-01/2026-12-01
It grew in the past month. | 2026-11-01/2026-12-01
It grew over the last year. | 2025-12-01/2026-12-01
Im vorigen Jahr war es still. | 2025-01-01/2025-12-31
Voriges Jahr war es still. | 2025-01-01/2025-12-31
"""
LEFT_ALONE = """
Use the past tense.
Half a year is long.
It takes half a month to ship.
Een half jaar duurt lang.
两年半的合同
后半年前面的部分
The last 3 of 24 hours count.
"""


@pytest.mark.parametrize(("text", "days"), cases(READ))
def test_a_length_up_to_today_is_read(text, days):
    assert told(text) == days
    assert asked(text) == days


@pytest.mark.parametrize("text", rows(LEFT_ALONE))
def test_a_length_alone_is_no_time(text):
    assert told(text) is None


def test_nothing_is_reckoned_without_a_day():
    assert told("It moved half a year ago.", None) is None
    assert told("It failed in the last 24 hours.", None) is None
