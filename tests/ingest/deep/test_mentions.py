from __future__ import annotations

import pytest

from ingest.deep.mentions import all_named
from recalld.records import Entity


def named(
    statement: str, block: str, *given: str, sentence: str = "", title: str = ""
) -> list[tuple[str, str]]:
    found = all_named(
        [Entity(name=name, kind="name") for name in given],
        statement,
        sentence=sentence or statement,
        block=block,
        title=title,
    )
    return [(one.name, one.kind) for one in found]


@pytest.mark.parametrize(
    ("statement", "block", "target"),
    [
        ("The tool foobar is used by Bo.", "The tool [[foobar]] is used by Bo.", "foobar"),
        ("De ketel is van Sietske.", "De ketel is van [[sietske-b|Sietske]].", "sietske-b"),
        ("Der Server steht im Keller.", "Der Server steht im [[Haus#Keller|Keller]].", "Haus"),
        ("水泵在地下室。", "[[水泵]]在地下室。", "水泵"),
        ("ポンプは地下室にある。", "[[機器/ポンプ|ポンプ]]は地下室にある。", "機器/ポンプ"),
    ],
)
def test_a_link_of_the_block_is_named_where_the_statement_shows_it(statement, block, target):
    assert (target, "wikilink") in named(statement, block)
    assert (target, "wikilink") not in named("Nothing of it.", block)


def test_a_link_is_named_where_the_nearest_sentence_shows_it():
    block = "It is [[frigg|the box]] that runs the mail. Eve has [[a key]]."
    found = named("Mail runs.", block, sentence="It is the box that runs the mail.")
    assert found == [("frigg", "wikilink")]


def test_what_a_model_names_too_is_named_once_and_as_a_link():
    assert named("Bo uses foobar.", "Bo uses [[foobar]].", "foobar") == [
        ("foobar", "name"),
        ("foobar", "wikilink"),
    ]
    assert named("Bo uses GitHub.", "Bo uses GitHub.", "github") == [("github", "name")]


def test_code_tags_and_names_are_named_without_the_model():
    found = named("felix-2 runs Forgejo and GitHub.", "`felix-2` runs Forgejo and GitHub. #ops")
    assert sorted(found) == [("Forgejo", "name"), ("GitHub", "name"), ("felix-2", "code")]
    assert ("ops", "tag") in named("It runs.", "It runs. #ops", sentence="It runs. #ops")
    assert named("Vercel is down.", "Vercel is down.", title="Vercel") == [("Vercel", "name")]


def test_each_line_of_a_long_block_counts():
    block = "\n".join(f"- The lamp [[lamp {number}]] hangs here." for number in range(40))
    assert ("lamp 33", "wikilink") in named("The lamp lamp 33 hangs here.", block)
