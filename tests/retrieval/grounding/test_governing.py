"""What hangs on another word may not be told without it."""

from __future__ import annotations

import pytest

from retrieval.grounding.clauses import analyse
from retrieval.grounding.governing import find_governor


def pulled_out(statement, source):
    said, there = analyse(statement), analyse(source)
    (clause,) = said.clauses
    drawn = there.clauses[-1]
    taken = {key: key for key in clause.keys & there.keys}
    return find_governor(clause, drawn, there, taken)


@pytest.mark.parametrize(
    ("statement", "source"),
    [
        ("The harbour is closed.", "The north side of the harbour is closed."),
        ("The mayor swims.", "The claim that the mayor swims annoys Otto."),
        ("Pia paint the boat.", "Pia swore to paint the boat."),
        ("Pia paints the boat.", "Pia considered painting the boat."),
        ("The boat sinks.", "Pia dreads the boat sinks."),
        ("Pia verft de boot.", "Pia zwoer de boot te verft."),
        ("Die Brücke ist neu.", "Die Farbe der Brücke ist neu."),
        ("Le maire habite à Lille.", "Le frère du maire habite à Lille."),
        ("Éric range les outils.", "L'apprenti d'Éric range les outils."),
        ("El alcalde vive en Cádiz.", "El hermano del alcalde vive en Cádiz."),
        ("市长住在上海。", "市长的弟弟住在上海。"),
        ("市長は大阪にいる。", "市長の弟は大阪にいる。"),
        ("Pia sings.", "Pia's brother sings."),
    ],
)
def test_what_hangs_on_a_word_that_is_left_out_is_seen(statement, source):
    assert pulled_out(statement, source) is not None


@pytest.mark.parametrize(
    ("statement", "source"),
    [
        ("The north side of the harbour is closed.", "The north side of the harbour is closed."),
        ("The north side is closed.", "The north side of the harbour is closed."),
        ("Pia moved to Ghent.", "Pia quickly moved to Ghent."),
        ("The boat has 2 masts.", "The boat is a ketch with 2 masts."),
        ("The boat sank.", "Last night the boat sank."),
        ("The boat sank.", "In a heavy storm the boat sank."),
        ("De boot ligt in Gent.", "De oude boot van Pia ligt in Gent."),
        ("Le frère habite à Lille.", "Le frère du maire habite à Lille."),
        ("De gids noemt pagina's.", "De gids noemt pagina's voor meer uitleg."),
        ("弟弟住在上海。", "市长的弟弟住在上海。"),
        ("弟は大阪にいる。", "市長の弟は大阪にいる。"),
    ],
)
def test_what_only_drops_a_detail_is_not(statement, source):
    assert pulled_out(statement, source) is None
