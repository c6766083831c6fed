"""Cues: numbers, times and questions in many languages, and the words that only look like them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.cues import asks_for_earlier, has_number, has_time_word, is_bare, is_question

NUMBERS = [
    "I have 3 cats.",
    "It costs $5.",
    "We bought a dozen eggs.",
    "Two sisters and a brother.",
    "Er zijn twaalf stoelen.",
    "Wir haben fünf Räder.",
    "Il y a trois chats.",
    "Tengo cuatro hermanas.",
    "У нас три кота.",
    "我有两个妹妹",
    "有3个文件",
    "会议持续了十二天",
    "猫が三匹います",
    "りんごをふたつ買った",
    "고양이 두 마리가 있다",
    "책이 다섯 권 있다",
    "มีแมวสองตัว",
    "ราคา ๕๐ บาท",
    "عندي خمسة إخوة",
    "یک ماه و دو روز",
    "יש לי שלושה חתולים",
    "मेरे पास तीन बिल्लियाँ हैं",
    "３個ある",
    "हज़ार लोग आए",
    "half of it",
]
NO_NUMBERS = [
    "",
    "The error is E1234.",
    "IPv6 is on.",
    "1. Buy milk",
    "One of them left.",
    "De fiets is van onze buurman.",
    "Ich bin hier.",
    "Go to the fire once more.",
    "万一下雨就不去",
    "这个十分好",
    "我们一起去",
    "하지만 시간이 없다",
    "여름 세일이 시작됐다",
    "ฉันสามารถว่ายน้ำได้",
    "ห้ามสูบบุหรี่",
    "الاجتماع يوم الثلاثاء",
    "אני אוהב קפה",
    "Der Zug fährt ab.",
]
TIMES = [
    "On 2026-05-08 it rained.",
    "Am 8.5.2026 war es kalt.",
    "since 2019",
    "at 14:30 sharp",
    "around 3 pm",
    "by 5 o'clock",
    "om 3 uur",
    "um 15 Uhr",
    "We met on Tuesday.",
    "Two weeks ago we moved.",
    "Last summer was hot.",
    "on May 5",
    "5th may",
    "We left in May.",
    "Gisteren was ik ziek.",
    "vorige week vertrokken",
    "Wir kamen letzten Monat an.",
    "vor drei Tagen",
    "La semaine dernière, il a plu.",
    "il y a deux jours",
    "hier soir",
    "hace tres días",
    "Ayer llovió.",
    "В январе было холодно.",
    "Это было 5 мая.",
    "Вчера шёл дождь.",
    "我昨天去了上海",
    "二〇二六年",
    "星期三开会",
    "三天前",
    "昨日は雨でした",
    "月曜日に会う",
    "어제 비가 왔다",
    "월요일에 만나요",
    "เมื่อวานฝนตก",
    "الاجتماع يوم الثلاثاء",
    "دیروز باران بارید",
    "נפגשנו ביום שלישי",
    "אתמול ירד גשם",
    "हम सोमवार को मिले",
    "फ़रवरी में ठंड थी",
    "上個月搬家了",
    "下周见",
    "来週行きます",
    "今天开会",
]
NO_TIMES = [
    "",
    "You may sit down.",
    "De fiets staat hier.",
    "Ich bin hier.",
    "The port is 5432.",
    "It costs 2000,50 or $2000.",
    "This is the last one.",
    "她有一点累",
    "目前天气很好",
    "猫が好きです",
    "고양이를 좋아한다",
    "ฉันชอบแมว",
    "أحب القهوة",
    "אני אוהב קפה",
    "Version 1.2.3.4 runs.",
]


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_are_seen_in_digits_and_words(text):
    assert has_number(text)


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_identifiers_articles_and_look_alikes_are_no_numbers(text):
    assert not has_number(text)


@pytest.mark.parametrize("text", TIMES)
def test_times_are_seen_in_many_languages(text):
    assert has_time_word(text)


@pytest.mark.parametrize("text", NO_TIMES)
def test_words_that_are_mostly_something_else_are_no_times(text):
    assert not has_time_word(text)


@pytest.mark.parametrize(
    "text",
    [
        "Why?",
        "Why? ",
        "**Why?**",
        "“Why?”",
        "为什么？",
        "どこですか。",
        "لماذا؟",
        "Τι\u037e",
        "ไปไหม",
        "你好吗",
    ],
)
def test_questions_are_seen_in_many_scripts(text):
    assert is_question(text)


@pytest.mark.parametrize(
    "text", ["", "Why? Because.", "int x = 5;", "The port is 5432.", "私は猫です。"]
)
def test_statements_are_no_questions(text):
    assert not is_question(text)


@pytest.mark.parametrize(
    "query",
    [
        "How many cats did I have before?",
        "What was the first price?",
        "How much did it use to… used to cost?",
        "Hoeveel kostte het vroeger?",
        "Wie viel war es früher?",
        "combien au début ?",
        "以前有几只猫",
        "最初はいくらでしたか",
        "처음에 몇 개였지",
        "ครั้งแรกเท่าไร",
        "كم كان قبل ذلك",
        "сколько было раньше",
    ],
)
def test_questions_about_the_past_are_told_apart(query):
    assert asks_for_earlier(query)


@pytest.mark.parametrize(
    "query", ["How many cats do I have?", "Hoeveel katten heb ik?", "我有几只猫", ""]
)
def test_questions_about_now_are_not_about_the_past(query):
    assert not asks_for_earlier(query)


@given(st.text())
def test_any_text_has_an_answer(text):
    for cue in (has_number, has_time_word, is_question, asks_for_earlier):
        assert cue(text) in (True, False)


@given(st.text(), st.integers(0, 10**9))
def test_a_number_set_apart_is_seen_in_any_text(text, number):
    assert has_number(f"{text} total: {number}")


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("![[Movies.base#Last seen]]", True),
        ("- ![[a.png]] ![[b.png]]", True),
        ("![a chart](img/chart.png)", True),
        ("## Van toepassing op", True),
        ("genre: []\ndirector:\nlast: {{date}}", True),
        ("步骤：", True),
        ("", True),
        ("[[Blade Runner]]", False),
        ("![[a.png]] shows the pump.", False),
        ("rating: 7", False),
        ("```sh\ngit rebase -i\n```", False),
        ("## Heading\nand a sentence", False),
        ("涨潮公告", False),
    ],
)
def test_what_only_points_or_names_is_bare(text, bare):
    assert is_bare(text) is bare


def test_a_long_line_of_openings_is_judged_at_once():
    assert not is_bare("![[" * 50_000)
    assert not is_bare("a " * 50_000)
