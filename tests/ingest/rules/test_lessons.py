from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.rules.lessons import names_trouble, tells_lesson
from ingest.rules.phrases import plain_text


def told(text: str) -> bool:
    return tells_lesson(plain_text(text))


@pytest.mark.parametrize(
    "text",
    [
        "The login broke after the update of the proxy.",
        "In May the server crashed twice.",
        "The API hung for an hour.",
        "I got an error when I ran the migration as root.",
        "The bug was a missing index on the invoices table.",
        "We fixed the memory leak by closing the cursor: the leak was in the importer.",
        "When this first ran, I got an error back from the API.",
        "Cause. `certbot.timer` logged an error each night.",
        "The VPN doesn't work with IPv6.",
        "The dishwasher is broken.",
        "Some checks fail silently.",
        "Gotcha: the parser drops the last line.",
        "Lesson. An alarm fires two weeks before a certificate ends.",
        "De storing kwam door een kapotte switch.",
        "De import liep vast omdat de schijf vol was.",
        "Gisteren viel de server uit.",
        "De fout was een verkeerde sleutel.",
        "De oorzaak was een lege batterij.",
        "Die Datenbank stürzte gestern ab, weil der Speicher voll war.",
        "Der Fehler war ein falscher Schlüssel.",
        "Nach dem Update funktionierte der Drucker nicht.",
        "Der Ausfall lag an einem defekten Kabel.",
        "La sauvegarde a échoué parce que le disque était plein.",
        "La panne venait d'un câble défectueux.",
        "L'erreur était une clé manquante.",
        "部署失败了，因为磁盘已满。",
        "服务器昨天宕机了。",
        "故障的原因是网线坏了。",
        "バックアップは失敗した。",
        "障害の原因は期限切れの証明書だった。",
        "サーバーが落ちた。",
        "어제 서버가 다운됐다.",
        "백업이 실패했다.",
        "오류의 원인은 만료된 인증서였다.",
    ],
)
def test_what_went_wrong_is_a_lesson(text):
    assert told(text)


@pytest.mark.parametrize(
    "text",
    [
        "Never force-push to main.",
        "Never deploy on a Friday.",
        "Do not delete the cache folder again.",
        "Herstart de router nooit meer op vrijdag.",
        "Nie wieder an einem Freitag ausrollen.",
        "Ne jamais redémarrer le serveur le vendredi.",
        "千万不要在周五部署。",
        "二度と金曜日にデプロイしない。",
    ],
)
def test_what_must_not_be_done_is_a_lesson(text):
    assert told(text)


@pytest.mark.parametrize(
    "text",
    [
        "The function returns an error if the file is missing.",
        "Error handling is done in the middleware.",
        "You can catch the exception with a try block.",
        "If the build fails, run it again.",
        "When a request fails, it is retried three times.",
        "Errors are shown in red.",
        "The command lists all failed jobs.",
        "Error messages are written to standard error.",
        "This prevents race conditions and data loss.",
        "A failed check blocks the merge.",
        "The test asserts that an exception is raised.",
        "Robinson broke the color barrier in 1947.",
        "Common pitfalls include a lack of feedback.",
        "Be never late.",
        "De functie geeft een fout als het bestand ontbreekt.",
        "Fouten kunnen ontstaan als de invoer ontbreekt.",
        "Foutafhandeling gebeurt in de middleware.",
        "Die Fehlerbehandlung steht im Handbuch.",
        "Die Funktion gibt einen Fehler zurück, wenn die Datei fehlt.",
        "Bei einem Ausfall kann das System neu starten.",
        "La gestion des erreurs se fait dans le module.",
        "La fonction renvoie une erreur si le fichier manque.",
        "错误处理在中间件中完成。",
        "如果文件不存在，函数会返回错误。",
        "エラー処理はミドルウェアで行います。",
        "ファイルがない場合はエラーになります。",
        "バグを防ぐために型を使います。",
        "오류 처리는 미들웨어에서 한다.",
        "파일이 없으면 오류가 발생할 수 있다.",
    ],
)
def test_what_could_go_wrong_is_none(text):
    assert not told(text)


@pytest.mark.parametrize(
    "text",
    ["Errors are shown in red.", "Foutafhandeling: een fout is rood.", "错误处理", "エラー処理"],
)
def test_trouble_is_named_without_being_told(text):
    assert names_trouble(text)
    assert not told(text)


def test_what_speaks_of_no_trouble_names_none():
    assert not names_trouble("Terror is a film, and debugging is a word.")


def test_one_sentence_of_several_is_enough():
    assert told("The parser reads errors. It crashed on an empty file.")


def test_a_supposition_ends_with_its_sentence():
    assert told("You can use it. The import failed because the disk was full.")


@given(st.text(max_size=80))
def test_any_text_is_survived(text):
    assert told(text) in (True, False)
