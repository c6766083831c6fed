"""The pieces of all pages: nothing steers a terminal, nothing is lost."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from daemon.render.lines import json_text, printable
from tests.daemon.render.shown import anything, steers


@given(anything)
def test_json_for_people_reads_back_as_the_same_and_steers_nothing(value):
    shown = json_text(value)
    assert json.loads(shown) == value
    assert not steers(shown)


@pytest.mark.parametrize("value", ["caf\udce9", "\x9b31m", "\u2028", "مرحبا 日本語 ไทย 👩‍👩‍👧"])
def test_odd_text_survives_json(value):
    assert json.loads(json_text([value]).encode()) == [value]


def test_words_of_every_script_are_left_alone():
    words = "naïve Straße 部署失败 デプロイ 배포 การปรับใช้ مرحبا שלום 👩‍👩‍👧 می‌روم"
    assert printable(words) == words
