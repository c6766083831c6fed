from __future__ import annotations

import pytest

from tests.retrieval.dates.shown import asked, cases, rows, told

SMALL = """
what happened in march 2025? | 2025-03-01/2025-03-31
what happened in may 2025? | 2025-05-01/2025-05-31
what happened in march? | 2026-03-01/2026-03-31
what happened in march last year? | 2025-03-01/2025-03-31
what happened on 3 march? | 2026-03-03
what happened on march 3? | 2026-03-03
what happened on the 3rd of may? | 2026-05-03
what happened on may 3rd 2025? | 2025-05-03
what happened from 3 to 10 may 2025? | 2025-05-03/2025-05-10
what happened from march to may? | 2026-03-01/2026-05-31
what happened between march and may 2025? | 2025-03-01/2025-05-31
what did we buy in oct 2025? | 2025-10-01/2025-10-31
what did we buy on dec 3 2025? | 2025-12-03
"""
OPEN = """
what changed since march? | 2026-03-01/
what changed since may 2025? | 2025-05-01/
what did we use until march 2025? | /2025-03-31
what changed from May onwards? | 2026-05-01/
what changed from march onwards? | 2026-03-01/
"""
LEFT_ALONE = """
may I ask you
they march on
they march in march order
will may know
you may 2025 times retry
the 3 may fail
units from 3 may be dropped
rule 3 may be wrong
on the march they sang
we march on 12 roads
there are many, in may ways
the version of march is old
a jar of mayo 3
in mayo we trust
we put 3 mayo on it
the march of 2025 people
"""


@pytest.mark.parametrize(("text", "days"), cases(SMALL))
def test_a_small_month_is_read_where_it_is_no_noun_or_verb(text, days):
    assert asked(text) == days
    assert told(text) == days


@pytest.mark.parametrize(("text", "days"), cases(OPEN))
def test_a_small_month_opens_a_question_to_one_side(text, days):
    assert asked(text) == days


@pytest.mark.parametrize("text", rows(LEFT_ALONE))
def test_a_noun_a_verb_or_a_name_is_no_month(text):
    assert told(text) is None
    assert asked(text) is None
