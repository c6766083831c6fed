from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.rules.sentences import count_cjk, split_sentences, trim, weight
from tests.growth import assert_grows_with_size


def told(text: str) -> list[str]:
    return [text[a:b] for a, b in split_sentences(text)]


@pytest.mark.parametrize(
    "sentences",
    [
        ["I like e.g. cats.", "Dr. Smith lives in St. Louis.", "Version 1.2.3 is out."],
        [
            "Dit is o.a. goed.",
            "Op 3 jan. 2024 ging het mis, bijv. met de fiets.",
            "Het kost 3.5 euro.",
        ],
        ["M. Dupont est là.", "Il part à 8 h."],
        ["Das ist z.B. gut.", "Am 3. März kam er.", "Er ging."],
        ["今天很好。", "我们走吧！", "真的吗？"],
        ["それは「嘘だ。」と言った。", "はい。"],
        ["안녕하세요.", "저는 존입니다."],
        ["यह अच्छा है।", "वह घर गया।"],
        ["مرحبا.", "كيف حالك؟", "أنا بخير."],
        ["Use `a. b. C d` now.", "Then stop."],
        ["John F. Kennedy spoke.", "We listened."],
        ["Wait... what?", "Really."],
        ["He said no.", "Then he left in No. 5."],
        ["Delete it with rm -rf ./build now.", "Open ../secrets/key in the editor."],
        ["Run docker build . in the folder.", "Then git add . && git commit."],
        ["Put it in .env or .gitignore.", ".NET is fine."],
        ["Set color: red !important in it.", "Ask ?page=2 for more."],
        ["Kopieer ../config/x naar ./y en herstart.", "Klaar."],
        ["Ruf ./start.sh auf.", "Danach ../stop.sh."],
        ["Voir ../réglages pour ça.", "C'est fini !", "Vraiment ?", "Oui."],
        ["打开 ../key 文件。", "然后使用 ./build 目录。"],
        ["ファイルは ../設定 にある。", "次は .env を見る。"],
        ["Die Wahl ist am 8. Feb. 2026 in Bonn.", "Am 3. Okt. kam er zurück.", "Er ging."],
        ["Der 1. FC Köln spielt.", "Sie wohnt im 3. Stock.", "Der Port ist 80.", "Gut."],
        [
            "Das Haus in der Hauptstr. 5 ist rot.",
            "Die Fa. Bosch liefert.",
            "Laut Hrn. Meier hält es.",
        ],
        ["Dhr. Jansen woont op de Kerkstr. 5.", "Prof. dr. ir. Bos komt a.s. maandag.", "Mooi."],
        ["Quiero ir.", "Lo hizo un año fa.", "Дал им.", "Потом ушёл."],
        ["La Dra. Gil trabaja aquí.", "Vive en la Avda. Sol.", "Bien."],
        ["Г-н Иванов живёт в г. Москва, ул. Ленина, д. 5.", "Он пришёл в 2020 г.", "Всё."],
        ["सर्वर दिल्ली में है।", "पोर्ट 5432 है।"],
        [
            "See https://example.org/a.",
            "The retry limit is 5.",
            "The docs are at www.example.org/b?c.",
            "Good.",
        ],
        [
            "The file config.yaml is in /etc/foo.d.",
            "Node.js runs the API.",
            "It is in D:\\.",
            "The key is here.",
        ],
        ["Read example.com/a.html today.", "Use version 1.2.3.", "Then go."],
        ["![[Map.base]] shows it.", "It works .", "Then it stops ."],
    ],
)
def test_sentences_end_where_a_reader_says(sentences):
    joint = "" if count_cjk(sentences[0]) and "." not in sentences[0] else " "
    assert told(joint.join(sentences)) == sentences


def test_a_line_end_counts_as_a_space():
    assert told("One line\nand more. Two\nlines.") == ["One line\nand more.", "Two\nlines."]


def test_a_very_long_paragraph_is_split_as_a_short_one():
    sentence = "The server of Mr. Smith was down for an hour. "
    assert told(sentence * 1000) == [sentence.strip()] * 1000
    assert told("a" * 20_000) != []


def test_long_thai_is_parted_at_its_spaces():
    text = "สวัสดีครับ ผมชื่อจอห์น " * 20
    parts = told(text)
    assert len(parts) > 2
    assert " ".join(parts) == text.strip()


def test_cjk_weighs_more():
    assert weight("abcde") == 5
    assert weight("今天很好") == 10


@given(st.text(max_size=200) | st.text(alphabet="aB.。!?「」 \n`1e.g", max_size=200))
def test_every_visible_character_is_in_one_sentence(text):
    spans = split_sentences(text)
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())
    assert all(span == trim(text, span) for span in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))


@pytest.mark.parametrize("run", ["1", "数据库", "_a", "QUJD", "a."])
def test_a_run_without_spaces_takes_time_by_its_length(run):
    assert_grows_with_size(split_sentences, lambda length: run * (length // len(run)), small=25_000)


@pytest.mark.parametrize(
    "text",
    [
        "修饰符是用 `.` 指明的特殊后缀。",
        "拡張子は `.` で始まります。",
        "A dotfile begins with `.` and is hidden.",
    ],
)
def test_a_full_stop_that_is_code_ends_nothing(text):
    assert split_sentences(text) == ((0, len(text)),)


def test_a_sentence_may_end_with_code():
    assert len(split_sentences("We run `a.` Then we wait.")) == 2
