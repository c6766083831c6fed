"""A model of no use is told from texts of no use: it can't read a plain sentence either."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ingest.deep.trial import SENTENCE, Trial
from recalld.errors import TransientModelError
from tests.copying import answer, copied, of_notes, say, scripted
from tests.fake_ollama import Step
from tests.ingest.deep.test_extraction import EXTRACTOR, MIRROR, PORT, Deep, ScriptedChat

USELESS = {
    "cut": Step(text='{"facts": [{"stat', reason="length"),
    "prose": Step(text="Voilà, je n'ai rien trouvé."),
    "thoughts": Step(text="[THINK]这里没有事实"),
    "inventions": say("De gebruiker drinkt graag melk.", "The user likes milk."),
    "no list": Step(text='{"answer": "ja"}'),
}


@pytest.fixture
def deep(tmp_path) -> Iterator[Deep]:
    with Deep(tmp_path) as made:
        yield made


def states(deep: Deep) -> list[tuple[str, int]]:
    return deep.rows("SELECT DISTINCT extraction, max(attempts) FROM block GROUP BY extraction")


@pytest.mark.parametrize("step", USELESS.values(), ids=USELESS.keys())
def test_model_of_no_use_is_away_and_no_text_is_given_up_for_it(deep, step):
    for number in range(12):
        deep.put(f"The boiler number {number} is in cellar {number}.\n", f"{number}.md")
    deep.model.answer = lambda _: step
    with pytest.raises(TransientModelError, match="no use") as raised:
        deep.run()
    assert raised.value.state == "down"
    assert "llm.model" in raised.value.hint
    assert states(deep) == [("pending", 1)]
    # Four blocks and the fifth, then the plain sentence.
    assert len(deep.model.requests) == 6
    assert deep.model.asked[-1] == [SENTENCE]
    # Asked again it says so again, and once it is mended all is read.
    with pytest.raises(TransientModelError):
        deep.stage.step(EXTRACTOR)
    assert states(deep) == [("pending", 1)]
    deep.model.answer = copied
    deep.run()
    assert set(deep.by().values()) == {"llm"}


@pytest.mark.parametrize("step", USELESS.values(), ids=USELESS.keys())
def test_one_text_is_not_given_up_for_a_model_of_no_use(deep, step):
    deep.put(f"{PORT}\n")
    deep.model.answer = lambda _: step
    with pytest.raises(TransientModelError, match="no use"):
        deep.run()
    assert deep.rows("SELECT extraction FROM block") == [("pending",)]
    deep.model.answer = of_notes(lambda _: step)
    deep.run()
    assert deep.rows("SELECT extraction FROM block") == [("parked",)]


def test_difficult_texts_are_given_up_one_by_one_by_a_model_that_is_of_use(deep):
    for number in range(8):
        deep.put(f"Das Rätsel {number} liegt im Keller {number}.\n", f"{number}.md")
    deep.put(f"{PORT}\n\n{MIRROR}\n", "good.md")
    deep.model.answer = scripted({"Rätsel": Step(text="Das verstehe ich nicht.")})
    deep.run()
    assert deep.rows("SELECT count(*) FROM block WHERE extraction = 'parked'") == [(8,)]
    assert [text for text, who in deep.by().items() if who == "llm"] == [PORT, MIRROR]


def test_empty_answers_are_neither_of_use_nor_of_none(deep):
    deep.model.answer = lambda _: answer([])
    for number in range(12):
        deep.put(f"The boiler number {number} is in cellar {number}.\n", f"{number}.md")
    deep.run()
    assert len(deep.model.requests) == 12


def test_an_answer_of_use_between_them_begins_the_count_anew():
    model = ScriptedChat()
    trial = Trial(model)
    for _ in range(5):
        trial.useless("prose")
        trial.useless("prose")
        trial.useful()
    assert model.requests == []
    assert not trial.is_in_doubt


def test_text_that_failed_while_others_did_not_is_given_up_without_a_question():
    model = ScriptedChat()
    trial = Trial(model)
    trial.useful()
    trial.useless("prose")
    trial.before_giving_up(3)
    assert model.requests == []
    trial.useless("prose")
    trial.useless("prose")
    trial.before_giving_up(3)
    assert model.asked == [[SENTENCE]]
