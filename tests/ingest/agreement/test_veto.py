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
        ("The trail is 1 km long.", "The trail is 1000 m long."),
        ("Elke dinsdag is er overleg.", "Er is elke dinsdag overleg."),
        ("Op maandag is de winkel gesloten.", "De winkel is op maandag gesloten."),
        ("Iedereen werkt op woensdag thuis.", "Op woensdag werkt iedereen thuis."),
        ("Der Chef der Werft ist Otto.", "Otto ist der Chef der Werft."),
        ("The lamp is a gift of Ana.", "The lamp is the gift of Ana."),
        ("超时为30秒。", "超时是30秒。"),
        ("Ana owns the billing service.", "The billing service is owned by Ana."),
        ("Jan heeft Piet aangenomen.", "Piet is door Jan aangenomen."),
        ("赵敏负责订单系统。", "订单系统由赵敏负责。"),
        ("The backup runs every night at 03:00.", "Every night at 03:00 the backup runs."),
        ("De back-up draait elke nacht.", "Elke nacht draait de back-up."),
        ("Der Server steht im Keller.", "Im Keller steht der Server."),
        ("Marta prefers tea.", "Tea is what Marta prefers."),
        ("We deploy with Ansible.", "With Ansible we deploy."),
    ],
)
def test_other_order_of_the_same_words_may_be_merged(one, other):
    assert veto(one, other) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # Who does it, to whom, from where.
        ("Mail from Ana to Bo bounced.", "Mail to Ana from Bo bounced."),
        ("alpha depends on beta.", "beta depends on alpha."),
        ("The red team beat the blue team.", "The blue team beat the red team."),
        ("Der Hund beißt den Mann.", "Den Hund beißt der Mann."),
        ("El perro muerde al gato.", "Al perro muerde el gato."),
        ("Ana is taller than Bo.", "Bo is taller than Ana."),
        ("小王喜欢小李的狗。", "小李喜欢小王的狗。"),
        ("犬が猫を噛む。", "犬を猫が噛む。"),
        ("개가 고양이를 문다.", "개를 고양이가 문다."),
        ("Ana works on Monday and rests on Tuesday.", "Ana works on Tuesday and rests on Monday."),
        # Direction, side, order.
        ("The shop opens from Monday.", "The shop opens until Monday."),
        ("The flag is on.", "The flag is off."),
        ("The team is in the office.", "The team is out of the office."),
        ("De kat zit op de mat.", "De kat zit onder de mat."),
        ("Le chat est sur la table.", "Le chat est sous la table."),
        ("Der Laden öffnet ab Montag.", "Der Laden öffnet bis Montag."),
        ("猫在桌上。", "猫在桌下。"),
        ("Read left to right.", "Read right to left."),
        ("Ana hired Bo.", "Ana was hired by Bo."),
        ("狗咬人。", "狗被人咬。"),
        ("赵敏管理李雷。", "赵敏由李雷管理。"),
        ("Bo was hired by Ana.", "Ana was hired by Bo."),
        ("Jan heeft Piet aangenomen.", "Jan is door Piet aangenomen."),
        ("Der Mann wird von dem Hund gebissen.", "Der Hund wird von dem Mann gebissen."),
        ("The key of Ana fits the door of Bo.", "The key of Bo fits the door of Ana."),
        ("Tea is what Marta prefers.", "Marta is what tea prefers."),
        ("Op de kat zit de mat.", "De kat zit op de mat."),
        # Who else, how many, how often.
        ("Only admins can edit.", "Admins can edit."),
        ("Only Bo may come.", "Bo may only come."),
        ("All users can edit.", "Some users can edit."),
        ("Always mount the disk.", "Mount the disk."),
        ("There are few users.", "There are a few users."),
        ("Nobody but Ana has a key.", "Ana has a key but nobody."),
        # Denied in any language.
        ("L'équipe utilise Jira.", "L'équipe n'utilise plus Jira."),
        ("Sopimus on voimassa.", "Sopimus ei ole voimassa."),
        ("A szerződés érvényes.", "A szerződés nem érvényes."),
        ("Hợp đồng được gia hạn.", "Hợp đồng không được gia hạn."),
        ("Avtalet gäller.", "Avtalet gäller inte."),
        ("Sözleşme geçerli.", "Sözleşme geçerli değil."),
        ("สัญญามีผล", "สัญญาไม่มีผล"),
        # Signs that count.
        ("Delete it with rm -rf ./build now.", "Delete it with rm -rf /build now."),
    ],
)
def test_small_words_and_order_forbid_the_merge(one, other):
    assert veto(one, other)
    assert veto(other, one)


def test_other_day_forbids_the_merge():
    day = DateInterval(first=date(2026, 1, 1), last=date(2026, 1, 1))
    assert veto("The pump failed.", "The pump failed.", happened=day) == "date"


@given(st.sampled_from(TEXTS), st.sampled_from(TEXTS))
def test_veto_does_not_depend_on_the_order(one, other):
    assert veto(one, other) == veto(other, one)


def test_every_labelled_contradiction_and_other_matter_is_vetoed():
    """What adds or changes something may never be called the same; of what does not, some is left as two."""
    kinds = ("contradicts", "independent", "extends")
    assert [pair for _, kind, *pair in PAIRS if kind in kinds and not veto(*pair)] == []
    same = [pair for _, kind, *pair in PAIRS if kind in ("duplicate", "paraphrase")]
    assert sum(veto(*pair) is None for pair in same) >= 0.8 * len(same)
