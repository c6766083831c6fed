from __future__ import annotations

import textwrap

import pytest

from ingest.rules.lines import ended_lines
from tests.growth import assert_grows_with_size


@pytest.mark.parametrize(
    "text",
    [
        "The cat is black\nThe dog is white\nThe bird is blue",
        "The door sticks\nThe lamp flickers",
        "De kat is zwart\nDe hond is wit",
        "Die Katze ist schwarz\nDer Hund ist weiß",
        "Le chat est noir\nLe chien est blanc",
        "猫是黑色的\n狗是白色的\n鸟是蓝色的",
        "今天去医院检查了身体\n医生说一切都正常，下个月再去复查一次就可以了",
        "猫は黒いです\n犬は白いです",
        (
            "The dishwasher is leaking again since Monday night\nAnn called about the boat that we want to sell\n"
            "Bob has the key of the shed behind the house now"
        ),
        "**Ann** has the key\n[[Bob]] has the boat\n*The boat* is new",
        "I called [Ann](https://example.org/people/ann-of-the-long-address-that-nobody-wraps)\nBob was ill",
        "Bought bread\nThe shop was full\nThe bus was late",
        "09:00 started the long import of last week\n10:30 lunch",
        "rating:: 5\nauthor:: Bo",
    ],
)
def test_a_line_that_its_writer_ended_ends(text):
    lines = text.split("\n")
    assert ended_lines(lines) == [True] * (len(lines) - 1)


@pytest.mark.parametrize(
    "text",
    [
        "the cat is black and the dog\nis white",
        "bought milk\ncalled the plumber",
        "We have a cat that is of the\nDutch kind and is black",
        "Wir haben den Schrank in der\nKüche und die\nLampe ist neu",
        "The ports are these:\nThe database is on 5432\nThe web is on 80",
        "If the disk is full\nThe import is stopped",
        "The pump is broken\nIt is leaking",
        "The cat is black.\nThe dog is white.",
        "John Smith\nHigh Street\nLondon",
        "Milk\nBread\nEggs",
        "猫是黑色的，\n狗是白色的",
        "猫和\n狗都是黑色的",
        (
            "The committee of the house met on Monday. After that\nPeter Smith has told the members of the board that\n"
            "Ann Lee is ill"
        ),
    ],
)
def test_a_line_that_goes_on_does_not_end(text):
    assert not any(ended_lines(text.split("\n")))


@pytest.mark.parametrize(
    "text",
    [
        (
            "The committee of the village of Bergum met in the hall on Monday and decided that the roof of the church is "
            "to be mended by the firm Jansen before the winter, because rain has been coming in since May."
        ),
        (
            "Der Vorstand des Vereins hat am Montag in der Halle beschlossen, dass die Firma Maier das Dach der Kirche bis "
            "zum Winter ausbessern soll, weil seit Mai der Regen durch die Decke auf die Orgel tropft."
        ),
    ],
)
@pytest.mark.parametrize("width", [30, 40, 50, 60, 72, 80, 100])
def test_wrapped_prose_goes_on(text, width):
    assert not any(ended_lines(textwrap.wrap(text, width)))


@pytest.mark.parametrize("width", [16, 20, 30, 40])
def test_wrapped_prose_without_spaces_goes_on(width):
    text = "村委会星期一在礼堂开会决定教堂的屋顶必须在冬天以前由建筑公司修好因为从五月起雨水就一直漏进来"
    lines = [text[at : at + width] for at in range(0, len(text), width)]
    assert not any(ended_lines(lines))


@pytest.mark.slow
def test_lines_cost_no_more_than_their_number():
    assert_grows_with_size(
        ended_lines, lambda n: ["The cat [is black", "猫是黑色的"] * n, small=100
    )
