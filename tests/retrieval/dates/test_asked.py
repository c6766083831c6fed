from __future__ import annotations

import json
import os
import re
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.dates.asked import FIRST_DAY, LAST_DAY, read_asked, without
from tests.retrieval.dates.shown import cases

# A Tuesday.
TODAY = date(2026, 3, 10)
QUESTIONS = Path(__file__).parents[3] / "bench" / "questions"
SHARED = Path(os.environ.get("RECALLD_SHARED", Path(__file__).parents[4] / "shared"))


def asked(text: str, today: date = TODAY) -> str | None:
    """The days as `first/last`, one day as itself, an open side as nothing, several joined by a comma."""
    found = read_asked(text, today)
    if found is None:
        return None
    shown = []
    for days in found.intervals:
        first = "" if days.first == FIRST_DAY else days.first.isoformat()
        last = "" if days.last == LAST_DAY else days.last.isoformat()
        shown.append(first if first == last else f"{first}/{last}")
    return ", ".join(shown)


READ = """
What did I do yesterday? | 2026-03-09
what broke last week | 2026-03-02/2026-03-08
What did we decide on Friday? | 2026-03-06
What happened on Tuesday? | 2026-03-10
Who came three weeks ago? | 2026-02-16/2026-02-22
Who came a few days ago? | 2026-03-04/2026-03-08
What did I buy in the past two weeks? | 2026-02-24/2026-03-10
What changed since March 2025? | 2025-03-01/
What changed since last Monday? | 2026-03-09/
What changed since March? | 2026-03-01/
What did we use before 2024? | /2023-12-31
What did we use until May 2025? | /2025-05-31
What happened after 2 March 2026? | 2026-03-03/
Where were we between May and July? | 2025-05-01/2025-07-31
Sales between 2023 and 2025 | 2023-01-01/2025-12-31
Sales from March to June 2025 | 2025-03-01/2025-06-30
Sales between 1 May 2025 and 3 June 2025 | 2025-05-01/2025-06-03
What did I read last summer? | 2025-06-01/2025-08-31
What did I read in the winter? | 2025-12-01/2026-02-28
What did I read in summer 2024? | 2024-06-01/2024-08-31
the budget of 2024 | 2024-01-01/2024-12-31
the September invoice from Hetzner | 2025-09-01/2025-09-30
What did we spend in March or in December? | 2026-03-01/2026-03-31, 2025-12-01/2025-12-31
What was decided in 2025, before May 2025? | 2025-01-01/2025-04-30
What is planned for 12 December? | 2026-12-12
What will happen in May? | 2026-05-01/2026-05-31
Wat deden we vorige maand? | 2026-02-01/2026-02-28
Wat deden we afgelopen zomer? | 2025-06-01/2025-08-31
Wat is er sinds maart veranderd? | 2026-03-01/
Wat aten we tussen mei en juli? | 2025-05-01/2025-07-31
Wat zei Jan op vrijdag? Hij was er. | 2026-03-06
Wat gebeurde er een paar weken geleden? | 2026-01-26/2026-03-01
Wat gebruikten we voor 2024? | /2024-12-31
Wat gebeurde er in week 8, zei het rapport? | 2026-02-16/2026-02-22
Was haben wir letzten Sommer gekauft? | 2025-06-01/2025-08-31
Was war seit Januar neu? | 2026-01-01/
Was haben wir vor 2024 benutzt? | /2023-12-31
Was passierte am Freitag? Es war laut. | 2026-03-06
Was geschah zwischen Mai und Juli? | 2025-05-01/2025-07-31
Was haben wir vor ein paar Tagen gekauft? | 2026-03-04/2026-03-08
Qui est venu la semaine dernière ? | 2026-03-02/2026-03-08
Qu'avons-nous fait l'été dernier ? | 2025-06-01/2025-08-31
Qu'est-ce qui a changé depuis janvier ? | 2026-01-01/
Qui est venu il y a quelques jours ? | 2026-03-04/2026-03-08
上周五开了什么会？ | 2026-03-06
周五开了什么会？ | 2026-03-06
去年夏天去了哪里？ | 2025-06-01/2025-08-31
2024年以前用的是什么？ | /2023-12-31
三月以来有什么变化？ | 2026-03-01/
2023年到2025年的销售额 | 2023-01-01/2025-12-31
前几天买了什么？ | 2026-03-04/2026-03-08
先月の売上は？ | 2026-02-01/2026-02-28
昨年の夏にどこへ行った？ | 2025-06-01/2025-08-31
金曜日に何を決めた？ | 2026-03-06
3月から何が変わった？ | 2026-03-01/
2024年まで何を使っていた？ | /2024-12-31
수요일 말고 어제 뭐 했지? | 2026-03-09
"""
NONE = """
What does May use for imports?
Did May and April meet?
What did April say before May left?
Is August the owner of the boat?
What did Jan fix?
Where is the march on the playlist?
How do I march on?
Who is Mars?
Which rover is Mars 2020?
Which project is called Friday?
What does the Friday project deploy?
Who wrote Robinson Crusoe and his man Friday?
Which deals do they have on Black Friday?
What do we do every Friday?
What happens each March?
Wat doen we elke vrijdag?
每周五开什么会？
毎年3月に何をする？
What is in today's paper?
What do we use today for backups in production
Who sings "Yesterday"?
What is 'last week' short for?
Who sings Yesterday?
What does `last week` do in cron?
Who wrote “Last Summer”?
《昨天》是谁唱的？
「昨日」は誰の歌？
What is Last Week Tonight?
When did the second server fail?
Wait a second, what is it?
What does HTTP 404 mean?
Does Windows 2000 boot?
What runs on port 2024?
How long do 2024 requests take?
Can it take 2000 requests before 2000 requests fail?
Which version came after 2.3.2026.1?
What is at 10.0.3.12?
What is in ticket 2026-03-02-abc?
What is in https://example.org/2026/03/02/post ?
What is in /backup/2026-03-02/db.sql?
Which file is 2026-03-02.md?
How many days does shipping take?
How old is the car after two years of use
Who won the last game?
What is the next step?
What is the last week of the course about?
When is the meeting?
Wann ist Ostern?
Wer steht vor der Tür?
Wo ist hier der Schlüssel?
Waar staat de server hier?
Où est la mairie ?
什么时候发布？
前端用什么框架？
目前用什么数据库？
三个月的合同多少钱？
いつ引っ越した？
1/2 cup of what?
"""


@pytest.mark.parametrize(("text", "days"), cases(READ))
def test_a_time_in_a_question_is_read(text, days):
    assert asked(text) == days


@pytest.mark.parametrize("text", NONE.strip().splitlines())
def test_a_question_that_names_no_time_is_left_alone(text):
    assert asked(text) is None


def test_the_words_of_a_time_are_told_apart_from_the_rest():
    text = "What did the climber do since 28 April 2025, and last week?"
    found = read_asked(text, TODAY)
    assert found is not None
    assert found.words == ("since 28 April 2025", "last week")
    assert found.written == ("28 April 2025",)
    assert without(text, found).split() == "What did the climber do , and ?".split()  # noqa: SIM905 - a sentence
    assert len(without(text, found)) == len(text)


def test_what_is_over_is_past_and_what_goes_on_is_not():
    over, on = read_asked("in 2024", TODAY), read_asked("since 2024", TODAY)
    assert over is not None
    assert over.is_past
    assert on is not None
    assert not on.is_past
    assert on.hull.last == LAST_DAY


@given(
    st.text(alphabet="2024 before since last week May to and 上周五年以前から,?\"'`", max_size=40)
)
def test_any_question_is_survived(text):
    found = read_asked(text, TODAY)
    if found is not None:
        assert all(days.first <= days.last for days in found.intervals)
        assert len(without(text, found)) == len(text)


# Read by eye: these name a time, everything else in these files does not.
TIMED = {
    "From what time until what time did the API give errors that day in March?",
    "Why did the deploy of the forecasting job fail in July?",
    "In welke stad en staat was de conferentie van 2024?",
    "Wie won de Elfstedentocht van 1997?",
    "Welke gemeente had in 2023 het best beschreven algoritme in het Algoritmeregister?",
    (
        "Tot welk jaar heeft de overheid de tijd om hoog-risico-AI die in de zomer van 2026 al draaide"
        " aan de AI-verordening te laten voldoen?"
    ),
    "七月预测任务部署失败以后，港口显示屏上一直显示几点的水位？",
    "サーバコンポーネントかどうかをファイル拡張子で見分ける案は、2022 年にどういう方式へ変わった？",
    "2024 年の React Conf には何人くらい集まった？",
    "先月の電気代はいくらだった？",
    "去年房租一共付了多少钱？",
}


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(QUESTIONS.glob("*.jsonl")) if path.stem != "time"],
    ids=lambda path: path.stem,
)
def test_questions_without_a_time_stay_as_they_are(path):
    for line in path.read_text("utf-8").splitlines():
        question = json.loads(line)["question"]
        assert (asked(question) is not None) == (question in TIMED), question


def test_every_question_about_time_is_read_as_it_was_meant():
    lines = (QUESTIONS / "time.jsonl").read_text("utf-8").splitlines()
    for one in map(json.loads, lines):
        if "asked" in one:
            days = one["asked"]
            told = days and "/".join(day or "" for day in days)
            if days and days[0] == days[1]:
                told = days[0]
            assert asked(one["question"], date.fromisoformat(one["today"])) == told, one["question"]


def test_of_a_thousand_claims_few_name_a_time():
    path = SHARED / "data" / "scifact" / "queries.jsonl"
    if not path.exists():
        pytest.skip("set RECALLD_SHARED to where the data is")
    claims = [json.loads(line)["question"] for line in path.read_text("utf-8").splitlines()]
    named = [claim for claim in claims if asked(claim) is not None]
    # Each with its year: `in 2001`, `since 1979`, `between 2009-2014`.
    assert len(named) <= 7
    assert all(re.search(r"\b(?:19|20)\d\d\b", claim) for claim in named)
