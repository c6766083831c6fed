from __future__ import annotations

import pytest

from ingest.deep.triples import relations_said


def said(statement: str, *triple: str) -> list[tuple[str, str, str]]:
    found = relations_said([list(triple)], statement)
    return [(one.subject, one.predicate, one.object) for one in found]


@pytest.mark.parametrize(
    ("statement", "triple", "relation"),
    [
        (
            "The deploy pipeline runs on Vercel.",
            ("The deploy pipeline", "runs on", "the Vercel"),
            ("deploy pipeline", "runs_on", "Vercel"),
        ),
        ("The Hague lies in Holland.", ("The Hague", "lies in", "Holland"), None),
        ("小王管理小李。", ("小王", "管理", "小李"), None),
        ("据我所知，小赵住在上海。", ("小赵", "住在", "上海"), None),
        ("Léa travaille chez Airbus depuis mai.", ("Léa", "travaille chez", "Airbus"), None),
        ("Ana is naar Gent verhuisd.", ("Ana", "is verhuisd naar", "Gent"), None),
        ("Anna betreut den Server.", ("Anna", "betreut", "Server"), None),
        # A list of what it is said of, or of what is said.
        ("Ana manages Bo and Gina.", ("Ana", "manages", "Gina"), None),
        ("Ana leads Bo and manages Gina.", ("Ana", "manages", "Gina"), None),
        ("Ana, the boss, manages Gina.", ("Ana", "manages", "Gina"), None),
        ("Ana and Bo manage Gina.", ("Ana", "manage", "Gina"), None),
        ("Ana manages Bo and Eve manages Gina.", ("Eve", "manages", "Gina"), None),
        ("Ana leitet Bo und Eva leitet Gina.", ("Eva", "leitet", "Gina"), None),
        # The word before the object turns what is said.
        ("Jenkins was replaced by Forgejo.", ("Jenkins", "replaced", "Forgejo"), "replaced_by"),
        (
            "Jenkins is door Forgejo vervangen.",
            ("Jenkins", "vervangen", "Forgejo"),
            "vervangen_door",
        ),
        ("Jenkins wurde von Forgejo ersetzt.", ("Jenkins", "ersetzt", "Forgejo"), "ersetzt_von"),
        ("Jenkins被Forgejo取代。", ("Jenkins", "取代", "Forgejo"), "被取代"),
        ("Ana moved from Utrecht.", ("Ana", "moved", "Utrecht"), "moved_from"),
        # A plan that is taken as one.
        ("Ana will move to Utrecht.", ("Ana", "will move to", "Utrecht"), None),
    ],
)
def test_a_relation_is_what_the_statement_says(statement, triple, relation):
    if relation is None:
        relation = (triple[0], triple[1].replace(" ", "_").casefold(), triple[2])
    elif isinstance(relation, str):
        relation = (triple[0], relation, triple[2])
    assert said(statement, *triple) == [relation]


@pytest.mark.parametrize(
    ("statement", "triple"),
    [
        ("The pipeline runs on Vercel.", ("Vercel", "runs on", "pipeline")),
        ("The pipeline might run on Vercel.", ("pipeline", "runs on", "Vercel")),
        ("If the pipeline runs on Vercel, it fails.", ("pipeline", "runs on", "Vercel")),
        ("The pipeline no longer runs on Vercel.", ("pipeline", "runs on", "Vercel")),
        ("Bo denied that Ana manages Gina.", ("Ana", "manages", "Gina")),
        ("Ana manages Bo and Eve manages Gina.", ("Ana", "manages", "Gina")),
        ("Ana manages Bo, Eve manages Gina.", ("Ana", "manages", "Gina")),
        ("Ana beheert Bo en Eva beheert Gina.", ("Ana", "beheert", "Gina")),
        ("Ana leitet Bo und Eva leitet Gina.", ("Ana", "leitet", "Gina")),
        ("Ana gère Bo et Eva gère Gina.", ("Ana", "gère", "Gina")),
        ("小王管理小李，小张管理小赵。", ("小王", "管理", "小赵")),
        ("小王管理小李和小张管理小赵。", ("小王", "管理", "小赵")),
        ("JenkinsはForgejoに置き換えられた。", ("Jenkins", "置き換え", "Forgejo")),
        ("Den Server betreut Anna.", ("Server", "betreut", "Anna")),
        ("In Utrecht woont Ana.", ("Utrecht", "woont", "Ana")),
        ("The port of A1 is 5432.", ("A1", "is", "5432")),
        ("Falls Ana in Bonn wohnt, rufe sie an.", ("Ana", "wohnt in", "Bonn")),
        ("Ana woont misschien in Gent.", ("Ana", "woont in", "Gent")),
        ("小王可能住在上海。", ("小王", "住在", "上海")),
        ("Ana is Ana.", ("Ana", "is", "Ana")),
        ("Banana manages Bo.", ("Ana", "manages", "Bo")),
        ("Ana manages Bo. Vercel hosts it.", ("Ana", "hosts", "Bo")),
    ],
)
def test_what_the_statement_does_not_say_is_no_relation(statement, triple):
    assert said(statement, *triple) == []


@pytest.mark.parametrize(
    "value", [None, "Ana", 7, [["Ana", "manages"]], [[1, 2, 3]], [["", " ", "Bo"]]]
)
def test_anything_else_than_triples_gives_none(value):
    assert relations_said(value, "Ana manages Bo.") == []
