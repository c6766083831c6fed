from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.disk.encoding import decode

GERMAN = "Der Schlüssel liegt in Köln.\nZweite Zeile: größer.\n"
SENTENCES = {
    "cp932": "東京オフィスは月曜日に休みです。サーバーはソウルにあります。\n",
    "euc_jp": "東京オフィスは月曜日に休みです。サーバーはソウルにあります。\n",
    "gb18030": "项目记忆系统使用向量数据库。服务器在北京，我们每个月都会更新一次。\n",
    "big5": "專案記憶系統使用向量資料庫。伺服器在台北，我們每個月都會更新一次。\n",
    "cp949": "서버는 서울에 있습니다. 우리는 매달 한 번 업데이트합니다.\n",
    "cp1251": "Сервер находится в Москве, и мы обновляем его каждый месяц.\n",
    "koi8-r": "Сервер находится в Москве, и мы обновляем его каждый месяц.\n",
    "cp1253": "Ο διακομιστής βρίσκεται στην Αθήνα και ενημερώνεται κάθε μήνα.\n",
    "cp1255": "השרת נמצא בתל אביב ומתעדכן בכל חודש.\n",
    "cp1256": "الخادم موجود في القاهرة ويتم تحديثه كل شهر.\n",
    "cp874": "เซิร์ฟเวอร์อยู่ในกรุงเทพและอัปเดตทุกเดือน\n",
}


@given(st.text())
def test_utf8_text_is_itself_without_problems(text: str) -> None:
    data = text.encode()
    decoded = decode(data)
    if "\0" in text or text.startswith("\ufeff"):
        return
    assert decoded is not None
    assert (decoded.text, decoded.problems) == (text, ())


@pytest.mark.parametrize(
    "encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-32-be"]
)
def test_a_byte_order_mark_names_the_encoding_and_is_not_text(encoding: str) -> None:
    mark = "" if encoding in {"utf-8-sig", "utf-16", "utf-32"} else "\ufeff"
    decoded = decode((mark + GERMAN).encode(encoding))
    assert decoded is not None
    assert (decoded.text, decoded.problems) == (GERMAN, ())


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_a_guess(encoding: str) -> None:
    decoded = decode(GERMAN.encode(encoding))
    assert decoded is not None
    assert decoded.text == GERMAN
    assert [p.kind for p in decoded.problems] == ["encoding.guessed"]


def test_one_bad_byte_in_utf8_is_replaced_with_its_line() -> None:
    decoded = decode(GERMAN.encode() + b"bad \xff byte\n")
    assert decoded is not None
    assert decoded.text == GERMAN + "bad \ufffd byte\n"
    assert [(p.line, p.kind) for p in decoded.problems] == [(3, "encoding.replaced")]


def test_one_impossible_byte_in_ascii_is_replaced() -> None:
    decoded = decode(b"good\nbad \xff byte\n")
    assert decoded is not None
    assert decoded.text == "good\nbad \ufffd byte\n"
    assert [(p.line, p.kind) for p in decoded.problems] == [(2, "encoding.replaced")]


@pytest.mark.parametrize(
    "text",
    [
        "café opens at nine",
        "Les élèves préfèrent le thé à Noël, où ça va.",
        "Größe: 5 € – „genau“",
        "El niño comió piña en España",
        "één kopje koffie, twee reünies",
    ],
)
def test_western_text_is_read_as_windows_1252_and_flagged(text: str) -> None:
    decoded = decode(text.encode("cp1252"))
    assert decoded is not None
    assert decoded.text == text
    assert [(p.line, p.kind) for p in decoded.problems] == [(1, "encoding.guessed")]


@pytest.mark.parametrize("encoding", SENTENCES)
def test_legacy_encodings_are_told_by_their_frequent_characters(encoding: str) -> None:
    decoded = decode(b"# Notes\n\n" + SENTENCES[encoding].encode(encoding))
    assert decoded is not None
    assert decoded.text == "# Notes\n\n" + SENTENCES[encoding]
    assert [p.kind for p in decoded.problems] == ["encoding.guessed"]
    assert encoding in decoded.problems[0].message


def test_a_few_nuls_and_control_characters_are_text() -> None:
    for text in ("before\0after", "\x1b[31mred\x1b[0m and a bell\x07\n"):
        decoded = decode(text.encode())
        assert decoded is not None
        assert decoded.text == text


@pytest.mark.parametrize(
    "data",
    [
        bytes(4096),
        b"ab" + bytes(4096),
        b"\xff\xfe" + bytes(400),
        b"\0GITCRYPT\0" + bytes(range(256)) * 4,
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(128, 256)) * 3,
    ],
)
def test_nuls_and_binary_are_damaged(data: bytes) -> None:
    assert decode(data) is None


@given(st.binary())
def test_any_bytes_decode_or_are_refused(data: bytes) -> None:
    decoded = decode(data)
    if decoded is not None:
        decoded.text.encode()


def test_bad_utf16_is_replaced_with_its_line() -> None:
    decoded = decode(
        b"\xff\xfe" + "a\nb".encode("utf-16-le") + b"\x00\xd8" + "c".encode("utf-16-le")
    )
    assert decoded is not None
    assert "\ufffd" in decoded.text
    assert [(p.line, p.kind) for p in decoded.problems] == [(2, "encoding.replaced")]
