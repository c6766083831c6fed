import pytest

from ingest.agreement.subjects import (
    is_object_telling,
    is_told_of_once,
    subject_of,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Ana lives in Ghent.", "ana"),
        ("Jan de Wit lives in Gent.", "jan de wit"),
        ("db1 has 16 cores.", "db1"),
        ("The deadline of Apollo is 3 May 2026.", "deadline of apollo"),
        ("De oplevering van Gemini is op 10 mei.", "oplevering van gemini"),
        ("I live in Ghent.", "i"),
        ("王芳住在北京。", "王芳"),
        ("小明喜欢喝茶。", "小明"),
        ("田中さんは東京に住んでいる。", "田中さん"),
    ],
)
def test_names_name_their_thing_anywhere(text, words):
    subject = subject_of(text)
    assert (" ".join(subject.words), subject.is_naming, subject.is_name) == (words, True, True)


@pytest.mark.parametrize(
    "text",
    [
        "The production database runs on db1.",
        "De productiedatabase draait op db1.",
        "Die Produktionsdatenbank läuft auf db1.",
        "生产数据库运行在db1上。",
        "本番データベースはdb1で動いている。",
        "The price of the night train ticket is 5 euro.",
    ],
)
def test_description_says_which_one_without_a_name(text):
    subject = subject_of(text)
    assert (subject.is_naming, subject.is_name) == (True, False)


@pytest.mark.parametrize(
    "text",
    [
        "The deadline is 3 May.",
        "The author lives in Oregon.",
        "Der Autor wohnt in Weimar.",
        "Het kantoor is in Utrecht.",
        "Le bureau est à Paris.",
        "作者住在俄勒冈。",
        "データベースはdb1で動いている。",
        "It runs on db1.",
        "We use Slack.",
        "Lunch is at noon.",
        "Backups are stored on alpha.",
        "The main branch is called trunk.",
        "The price of the ticket is 5 euro.",
        "The API listens on port 5432.",
        "The only constant in the world is change.",
    ],
)
def test_most_subjects_are_definite_only_inside_their_note(text):
    subject = subject_of(text)
    assert subject is not None
    assert not subject.is_naming


@pytest.mark.parametrize(
    "text",
    [
        "Preheat the oven to 230 °C.",
        "Verwarm de oven voor op 230 graden.",
        "Den Ofen auf 230 Grad vorheizen.",
        "オーブンを230度に予熱する。",
        "Start with doubt.",
        "The code is old. › It is red.",
        "Plan: Week 10 is hard.",
        "",
    ],
)
def test_orders_and_pieces_have_no_subject(text):
    assert subject_of(text) is None


def test_names_that_are_known_count_where_form_does_not_tell():
    assert not subject_of("Northwind has 4 people.").is_naming
    assert subject_of("Northwind has 4 people.", ("Northwind",)).is_naming


def test_word_of_the_present_is_no_part_of_it():
    assert subject_of("Karin werkt nu bij ASML.") == subject_of("Karin werkt bij Philips.")


@pytest.mark.parametrize(
    ("text", "is_once"),
    [
        ("I ran 5 km.", True),
        ("Dinner was 35 euro.", True),
        ("Walked 8,000 steps.", True),
        ("Ik heb 5 km gelopen.", True),
        ("今天跑了5公里。", True),
        ("今日は8キロ走った。", True),
        ("The rent is 900 euro.", False),
        ("Die Miete ist 900 Euro.", False),
        ("房租是3000元。", False),
    ],
)
def test_what_was_done_is_told_from_how_things_are(text, is_once):
    assert is_told_of_once(text) is is_once


def test_what_somebody_leads_may_say_which_one_it_is():
    assert is_object_telling("Bo leads the platform team.")
    assert not is_object_telling("Bo leads the team.")
