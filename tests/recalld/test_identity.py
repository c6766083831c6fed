"""One set of weights is one model, however it is spelled."""

import pytest

from recalld.models.chat import ModelHealth
from recalld.models.identity import mark_of, said_by, spellings


def mark(name, digest="0123456789abcdef"):
    return mark_of(ModelHealth(state="ok", hint=None, name=name, digest=digest), "facts@1")


def test_mark_has_the_name_for_people():
    assert mark("gemma3:4b") == "llm:gemma3:4b:0123456789ab@facts@1"


@pytest.mark.parametrize("name", ["gemma3:latest", "GEMMA3", "library/gemma3", "mine"])
def test_same_weights_are_one_model_under_any_name(name):
    assert said_by(mark(name)) == said_by(mark("gemma3"))


@pytest.mark.parametrize("name", ["gemma3:latest", " Gemma3"])
def test_without_weights_the_name_stands_for_them(name):
    assert said_by(mark(name, None)) == said_by(mark("gemma3", None))
    assert said_by(mark(name, None)) != said_by(mark("gemma3:4b", None))


def test_other_weights_prompts_and_rules_are_somebody_else():
    health = ModelHealth(state="ok", hint=None, name="gemma3", digest="0123456789abcdef")
    others = [mark("gemma3", "f" * 64), mark_of(health, "facts@2"), mark("gemma3", None), "rules@5"]
    assert len({said_by(one) for one in [mark("gemma3"), *others]}) == 5
    assert said_by("rules@5") == "rules@5"


def test_spellings_are_with_the_tag_and_without():
    assert set(spellings(mark("gemma3"))) == {mark("gemma3"), mark("gemma3:latest")}
    assert set(spellings(mark("gemma3:latest"))) == {mark("gemma3"), mark("gemma3:latest")}
    assert mark("gemma3:4b") in spellings(mark("gemma3:4b"))
