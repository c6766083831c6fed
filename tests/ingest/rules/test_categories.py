from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.rules.categories import find_category
from recalld.records import Category


def told(text: str, *, has_date: bool = False) -> Category | None:
    return find_category(text, has_date=has_date)


@pytest.mark.parametrize(
    "text",
    [
        "The nightly backup failed because the disk was full.",
        "Root cause: the token had expired.",
        "Don't delete the cache folder again.",
        "Never run the migration on a Friday.",
        "Lesson learned: test the restore.",
        "Het inloggen mislukte na de update.".replace("mislukte", "is mislukt"),
        "De wasmachine is kapot.",
        "Der Import schlug gestern fehl.",
        "Le serveur est en panne.",
        "数据库崩溃了，因为内存不足。",
        "デプロイ中にエラーが出た。",
        "배포 중에 오류가 발생했다.",
    ],
)
def test_errors_are_told(text):
    assert told(text) is Category.ERROR


@pytest.mark.parametrize(
    "text",
    [
        "The build ran with no errors.",
        "The new parser is error-free.",
        "There were no more crashes.",
        "De test gaf geen fouten.",
        "Der Lauf hatte keine Fehler.",
        "Aucune erreur à signaler.",
        "部署没有错误。",
        "エラーはなかった。",
        "Terror is a film, and debugging is a word.",
        "The file is called `error.log`.",
        "The Express error handler is a function.",
    ],
)
def test_denied_errors_are_none(text):
    assert told(text) is not Category.ERROR


@pytest.mark.parametrize(
    "text",
    [
        "The page lists errors by date.",
        "Die Fehler stehen im Protokoll.",
        "错误对象有三个字段。",
        "エラーは三種類です。",
    ],
)
def test_what_speaks_of_errors_and_tells_none_is_knowledge(text):
    assert told(text) is Category.KNOWLEDGE


@pytest.mark.parametrize(
    "text",
    [
        "I prefer tea over coffee.",
        "My favourite editor is Helix.",
        "Always use tabs in this repository.",
        "I hate long meetings.",
        "Ik drink liever thee.",
        "Ich mag dunkle Schokolade.",
        "Je préfère le train.",
        "我喜欢喝茶。",
        "紅茶が好きです。",
    ],
)
def test_preferences_are_told(text):
    assert told(text) is Category.PREFERENCE


@pytest.mark.parametrize(
    "text",
    [
        "If I like it, I buy it.",
        "You may prefer tea.",
        "I want to replace the tyre.",
        "好きなように命名できます。",
    ],
)
def test_supposed_likings_are_none(text):
    assert told(text) is not Category.PREFERENCE


@pytest.mark.parametrize(
    "text",
    [
        "We moved to Ghent.",
        "In mei zijn we verhuisd.",
        "Wir sind umgezogen.",
        "我们搬到上海。",
        "京都に引っ越した。",
    ],
)
def test_an_event_needs_its_date(text):
    assert told(text, has_date=True) is Category.TIMELINE
    assert told(text) is not Category.TIMELINE


def test_a_deadline_needs_none():
    assert told("The deadline for the grant is near.") is Category.TIMELINE


@pytest.mark.parametrize(
    "text",
    [
        "Run `docker system prune` to free space.",
        "Use uv to install packages.",
        "First, press the reset button.",
        "Gebruik `rg` om te zoeken.",
        "Klicken Sie auf Speichern.",
        "Ouvrez le terminal.",
        "运行 `npm install` 安装依赖。",
        "`git push` を実行します。",
    ],
)
def test_instructions_are_told(text):
    assert told(text) is Category.TOOL


@pytest.mark.parametrize(
    "text",
    ["Water boils at 100 degrees.", "De maan is rond.", "地球是圆的。", "The user base grew.", ""],
)
def test_the_rest_is_left_open(text):
    assert told(text) is None


@given(st.text(max_size=80), st.booleans())
def test_any_text_is_survived(text, has_date):
    assert told(text, has_date=has_date) is told(text, has_date=has_date)
