from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.agreement.relation import Claim
from ingest.agreement.veto import merge_veto
from recalld.records import DateInterval
from tests.ingest.agreement.test_relation import PAIRS, TEXTS


def veto(one, other, **fields):
    return merge_veto(Claim(text=one), Claim(text=other, **fields))


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("Ana eats meat.", "Ana never eats meat.", "negation"),
        ("Het contract wordt verlengd.", "Het contract wordt niet verlengd.", "negation"),
        ("服务器在东京。", "服务器不在东京。", "negation"),
        ("The port is 5432.", "5433 is the port.", "number"),
        ("Python 3.1 is used.", "What is used is Python 3.10.", "number"),
        ("db1 is down.", "Down is db2.", "number"),
        ("The release is on 12 May 2027.", "On 13 May 2027 is the release.", "number"),
        ("Ana lives in Ghent.", "Ghent is where Bo lives.", "name"),
        ("The pump is old.", "Old is the fan.", "subject"),
        ("Ana pays Bo.", "Bo pays Ana.", "subject"),
        ("王芳教李雷。", "李雷教王芳。", "subject"),
        ("小红喜欢茶。", "小明喜欢咖啡。", "subject"),
        ("Ana may come.", "Ana comes.", "modality"),
    ],
)
def test_difference_forbids_the_merge(one, other, reason):
    assert veto(one, other) == reason
    assert veto(other, one) == reason


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana is the owner of the billing service.", "The owner of the billing service is Ana."),
        ("The trail is 1 km long.", "1000 m is how long the trail is."),
        ("Elke dinsdag is er overleg.", "Er is elke dinsdag overleg."),
        ("超时是30秒。", "超时时间为30秒。"),
    ],
)
def test_other_order_of_the_same_words_may_be_merged(one, other):
    assert veto(one, other) is None


def test_other_day_forbids_the_merge():
    day = DateInterval(first=date(2026, 1, 1), last=date(2026, 1, 1))
    assert veto("The pump failed.", "The pump failed.", happened=day) == "date"


@given(st.sampled_from(TEXTS), st.sampled_from(TEXTS))
def test_veto_does_not_depend_on_the_order(one, other):
    assert veto(one, other) == veto(other, one)


def test_every_labelled_contradiction_and_other_matter_is_vetoed():
    """What only adds something may be called the same; what changes something never."""
    kinds = ("contradicts", "independent")
    assert [pair for _, kind, *pair in PAIRS if kind in kinds and not veto(*pair)] == []
    same = [pair for _, kind, *pair in PAIRS if kind in ("duplicate", "paraphrase")]
    assert sum(veto(*pair) is None for pair in same) >= 0.9 * len(same)
